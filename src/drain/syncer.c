/* SPDX-License-Identifier: Apache-2.0
 *
 * One thread and a list of files with something new in them, under one lock that is never held while the disk works:
 * the thread syncs copies of what stands in the list. The first failure is kept for whoever finishes it. The thread
 * takes no signals: they are the program's that started it.
 */
#include "drain/syncer.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/io.h"
#include "drain/clock.h"

typedef struct synced_file {
    int fd;          /* owned: a copy */
    char *path;      /* owned; of a new file whose name is not on the disk yet; NULL: it is */
    bool is_dirty;   /* written since the last sync */
    bool is_current; /* will be written again */
    uint64_t round;  /* in which it was synced last; 0: none */
} synced_file;

struct nm_syncer {
    int64_t interval_ns;
    pthread_t thread;
    pthread_cond_t wake;  /* there is work, or the end has come: by no file, which could fail to be written */
    pthread_mutex_t lock; /* over all that follows */
    synced_file *files;   /* owned; those of before that are not synced, and the current one */
    size_t file_count, file_capacity;
    bool is_dirty;  /* one of them is */
    uint64_t round; /* of syncs */
    bool is_ending;
    int failure; /* errno of the first sync that failed */
};

/* ---- The thread ---------------------------------------------------------------------------------------------------- */

/* Without the lock: the disk may take its time. Returns errno or 0. */
static int sync_file(const synced_file *file)
{
    struct stat info;

    if (fstat(file->fd, &info) == 0 && info.st_nlink == 0) /* an old part that has gone */
        return 0;
    while (nm_io.fdatasync(file->fd) != 0)
        if (errno != EINTR)
            return errno;
    if (file->path != NULL)
        nm_io_sync_folder(file->path, NULL); /* one that may not be read or synced is none of ours */
    return 0;
}

/* The next file to sync in this round, each once however fast it is written to, as a copy that only the thread (or who joined
 * it) touches; false: there is none. */
static bool take_dirty(nm_syncer *syncer, synced_file *out)
{
    assert(pthread_mutex_trylock(&syncer->lock) == EBUSY); /* the caller has it */
    for (size_t i = 0; i < syncer->file_count; i++) {
        synced_file *file = &syncer->files[i];

        if (!file->is_dirty || file->round == syncer->round)
            continue;
        file->round = syncer->round;
        *out = *file;
        file->is_dirty = false;
        file->path = NULL; /* the copy's */
        if (!file->is_current) {
            memmove(file, file + 1, (--syncer->file_count - i) * sizeof *file);
        }
        return true;
    }
    return false;
}

static void sync_all(nm_syncer *syncer)
{
    synced_file file;

    syncer->is_dirty = false;
    syncer->round++;
    while (take_dirty(syncer, &file)) {
        pthread_mutex_unlock(&syncer->lock);
        int failure = sync_file(&file);
        free(file.path);
        if (!file.is_current)
            nm_io_close(file.fd);
        pthread_mutex_lock(&syncer->lock);
        if (syncer->failure == 0)
            syncer->failure = failure;
    }
}

static void *serve(void *context)
{
    nm_syncer *syncer = context;
    int64_t due_ns = nm_clock_monotonic_ns() + syncer->interval_ns;

    pthread_mutex_lock(&syncer->lock);
    while (!syncer->is_ending) {
        if (!syncer->is_dirty) {
            pthread_cond_wait(&syncer->wake, &syncer->lock);
        } else if (nm_clock_monotonic_ns() < due_ns) {
            const struct timespec due = {.tv_sec = due_ns / 1000000000, .tv_nsec = due_ns % 1000000000};

            pthread_cond_timedwait(&syncer->wake, &syncer->lock, &due);
        } else {
            sync_all(syncer);
            due_ns = nm_clock_monotonic_ns() + syncer->interval_ns;
        }
    }
    pthread_mutex_unlock(&syncer->lock);
    return NULL;
}

/* ---- The drain's side ---------------------------------------------------------------------------------------------- */

static void init_wake(pthread_cond_t *wake)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC); /* nm_clock_monotonic_ns */
    pthread_cond_init(wake, &attributes);
    pthread_condattr_destroy(&attributes);
}

nm_status nm_syncer_new(int64_t interval_ns, nm_syncer **out, nm_error *err)
{
    nm_syncer *syncer = calloc(1, sizeof *syncer);
    sigset_t all, before;

    *out = NULL;
    if (syncer == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory at the thread that syncs");
    syncer->interval_ns = interval_ns;
    init_wake(&syncer->wake);
    pthread_mutex_init(&syncer->lock, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int failure = pthread_create(&syncer->thread, NULL, serve, syncer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure != 0) {
        pthread_cond_destroy(&syncer->wake);
        pthread_mutex_destroy(&syncer->lock);
        free(syncer);
        return nm_fail_errno(err, failure, "cannot start a thread");
    }
    *out = syncer;
    return NM_OK;
}

/* There is work; who waits without any hears of it. */
static void mark_dirty(nm_syncer *syncer)
{
    if (!syncer->is_dirty)
        pthread_cond_signal(&syncer->wake);
    syncer->is_dirty = true;
}

/* A file of before that is on the disk is let go. */
static void end_current(nm_syncer *syncer)
{
    synced_file *last = syncer->file_count > 0 ? &syncer->files[syncer->file_count - 1] : NULL;

    if (last == NULL)
        return;
    last->is_current = false;
    last->is_dirty = true; /* also where the thread is at it: it then closes its own copy */
    mark_dirty(syncer);
}

nm_status nm_syncer_file(nm_syncer *syncer, int fd, const char *path, nm_error *err)
{
    synced_file file = {.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3), .is_current = true};
    nm_status status = NM_OK;

    if (file.fd < 0)
        return nm_fail_errno(err, errno, "cannot sync the trace");
    file.path = path == NULL ? NULL : strdup(path);
    pthread_mutex_lock(&syncer->lock);
    status = nm_array_grow(&syncer->files, &syncer->file_capacity, syncer->file_count + 1, sizeof *syncer->files, err);
    if (status == NM_OK) {
        end_current(syncer);
        syncer->files[syncer->file_count++] = file;
    }
    pthread_mutex_unlock(&syncer->lock);
    if (status != NM_OK) {
        nm_io_close(file.fd);
        free(file.path);
    }
    return status;
}

void nm_syncer_written(nm_syncer *syncer)
{
    if (syncer == NULL)
        return;
    pthread_mutex_lock(&syncer->lock);
    if (syncer->file_count > 0)
        syncer->files[syncer->file_count - 1].is_dirty = true;
    mark_dirty(syncer);
    pthread_mutex_unlock(&syncer->lock);
}

int nm_syncer_finish(nm_syncer *syncer)
{
    int failure;

    if (syncer == NULL)
        return 0;
    pthread_mutex_lock(&syncer->lock);
    syncer->is_ending = true;
    pthread_cond_signal(&syncer->wake);
    pthread_mutex_unlock(&syncer->lock);
    pthread_join(syncer->thread, NULL);

    pthread_mutex_lock(&syncer->lock);
    sync_all(syncer);
    pthread_mutex_unlock(&syncer->lock);
    for (size_t i = 0; i < syncer->file_count; i++) {
        nm_io_close(syncer->files[i].fd);
        free(syncer->files[i].path);
    }
    failure = syncer->failure;
    free(syncer->files);
    pthread_cond_destroy(&syncer->wake);
    pthread_mutex_destroy(&syncer->lock);
    free(syncer);
    return failure;
}
