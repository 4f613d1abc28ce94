/* SPDX-License-Identifier: Apache-2.0
 *
 * A file is claimed by a lock before it is trusted to be ours, and what is replaced is replaced by whoever holds the claim
 * of the old file: two recordings that are started at once never write one file. A FIFO is opened without waiting for its
 * reader.
 */
#include "tool/record/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/door.h"
#include "base/io.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "drain/output.h"
#include "drain/parts.h"
#include "drain/state.h"
#include "trace/files.h"

#define SUFFIXES_MAX   100000
#define REPLACES_TRIED 100 /* others replace the same file */
#define CLAIMS_TRIED   40
#define CLAIM_PAUSE_NS 50000000

/* ---- What is no file ----------------------------------------------------------------------------------------------- */

static bool is_special(mode_t mode)
{
    return !S_ISREG(mode) && !S_ISDIR(mode);
}

static bool is_special_file(const char *name, bool *is_fifo)
{
    struct stat info;

    if (!nm_door_look(name, &info))
        return false;
    *is_fifo = S_ISFIFO(info.st_mode);
    return is_special(info.st_mode);
}

/* At once: a FIFO can be opened for writing while somebody reads it, and for a moment that is us. A file that has come there
 * meanwhile is not written to. */
static nm_status open_special(const char *name, bool is_fifo, int *fd, nm_error *err)
{
    struct stat info;
    const char *base;
    bool is_link;
    int reader = -1, folder = nm_door_folder_of(name, &base);

    if (is_fifo)
        nm_door_open_named(folder, base, O_RDONLY | O_NONBLOCK, 0, &is_link, &reader, NULL);
    nm_status status = nm_door_open_named(folder, base, O_WRONLY | O_NONBLOCK | O_NOCTTY, 0, &is_link, fd, err);
    nm_io_close(reader);
    nm_io_close(folder);
    if (status == NM_OK && (fstat(*fd, &info) != 0 || !is_special(info.st_mode))) {
        nm_io_close(*fd);
        *fd = -1;
        status = nm_fail(err, NM_ERR_EXISTS, NM_NO_OFFSET, "has become another file");
    }
    return status;
}

/* ---- --force ------------------------------------------------------------------------------------------------------- */

/* A recording whose program has just ended needs a moment to write the rest, and the disk one to take it. */
static nm_status claim_patiently(int fd, nm_error *err)
{
    nm_status status = nm_output_claim(fd, err);

    for (int i = 0; i < CLAIMS_TRIED && status == NM_ERR_BUSY; i++) {
        nanosleep(&(struct timespec){.tv_nsec = CLAIM_PAUSE_NS}, NULL);
        status = nm_output_claim(fd, err);
    }
    return status;
}

/* What a killed recorder left in its rings is found by its trace alone: without that they would lie there until the machine is
 * started again. Not those of one that lives, of whose trace this is a copy. */
static void remove_rings_of(int fd)
{
    nm_session session;
    struct stat info;

    if (fd < 0 || fstat(fd, &info) != 0 || info.st_uid != geteuid() || info.st_nlink != 1)
        return; /* whoever can read our trace can give a copy of it this name */
    if (nm_state_find_session(fd, &session) && nm_state_look(&session, fd) == NM_STATE_KILLED)
        nm_folder_remove(session.ring_folder);
}

/* Claims the file that is to go. *fd is -1 for a link, which is not followed. NM_END: another one is there by now. */
static nm_status claim_old(int folder, const char *name, int *fd, nm_error *err)
{
    struct stat info;
    nm_status status;

    *fd = -1;
    if (!nm_door_look_at(folder, name, &info))
        return errno == ENOENT ? NM_END : nm_fail_errno(err, errno, "cannot open");
    if (S_ISLNK(info.st_mode))
        return NM_OK;
    if (S_ISDIR(info.st_mode))
        return nm_fail_errno(err, EISDIR, "cannot open");
    status = nm_door_open_at(folder, name, O_RDWR | O_NONBLOCK, 0, fd, err);
    if (status != NM_OK)
        return status;
    status = claim_patiently(*fd, err);
    return status == NM_OK && !nm_door_is_at(folder, name, *fd) ? NM_END : status;
}

/* It cannot be removed: the folder is another's, or it is mounted. It is written to if it is nobody else's. */
static nm_status take_over(int failure, int *old, int *fd, nm_error *err)
{
    struct stat info;
    bool is_known = *old >= 0 && fstat(*old, &info) == 0;

    if (!is_known || !(failure == EBUSY || (info.st_uid == geteuid() && info.st_nlink == 1)))
        return nm_fail_errno(err, failure, "cannot replace");
    if (ftruncate(*old, 0) != 0)
        return nm_fail_errno(err, errno, "cannot replace");
    *fd = *old;
    *old = -1;
    return NM_OK;
}

/* Whoever holds the old file's claim, and he alone, puts a new file there. */
static nm_status replace_at(int folder, const char *name, int *fd, nm_error *err)
{
    nm_status status = NM_ERR_EXISTS;
    int old = -1;

    for (int i = 0; i < REPLACES_TRIED && (status == NM_ERR_EXISTS || status == NM_END); i++) {
        status = nm_output_create_at(folder, name, fd, err);
        if (status != NM_ERR_EXISTS)
            break;
        status = claim_old(folder, name, &old, err);
        if (status == NM_OK)
            remove_rings_of(old);
        if (status == NM_OK && nm_door_remove_at(folder, name) != 0 && errno != ENOENT)
            status = take_over(errno, &old, fd, err);
        else if (status == NM_OK)
            status = nm_output_create_at(folder, name, fd, err);
        nm_io_close(old);
    }
    return status == NM_END ? nm_fail(err, NM_ERR_EXISTS, NM_NO_OFFSET, "is replaced again and again") : status;
}

static nm_status replace_file(const char *path, int *fd, nm_error *err)
{
    const char *name;
    int folder = nm_door_folder_of(path, &name);
    nm_status status = folder < 0 ? nm_fail_errno(err, errno, "cannot open") : replace_at(folder, name, fd, err);

    nm_io_close(folder);
    return status;
}

/* ---- Names --------------------------------------------------------------------------------------------------------- */

/* run.zst -> run-N.zst */
static nm_status append_suffixed(const char *name, unsigned number, nm_buffer *out, nm_error *err)
{
    const char *base = strrchr(name, '/'), *dot = strrchr(name, '.');
    char suffix[32];

    if (dot == NULL || dot == name || (base != NULL && dot <= base + 1))
        dot = name + strlen(name);
    snprintf(suffix, sizeof suffix, "-%u", number);
    out->len = 0;
    nm_status status = nm_buffer_append(out, name, (size_t)(dot - name), err);
    if (status == NM_OK)
        status = nm_buffer_append(out, suffix, strlen(suffix), err);
    return status == NM_OK ? nm_buffer_append(out, dot, strlen(dot) + 1, err) : status;
}

/* The first name, of NAME, NAME-1, ..., that `create` can make a file of. */
static nm_status create_first(nm_buffer *name, nm_status (*create)(const char *name, int *fd, nm_error *err), int *fd,
                              nm_error *err)
{
    const char *wanted = (const char *)name->data;
    nm_buffer tried = {0};
    nm_status status = create(wanted, fd, err);

    for (unsigned number = 1; status == NM_ERR_EXISTS && number < SUFFIXES_MAX; number++) {
        status = append_suffixed(wanted, number, &tried, err);
        if (status == NM_OK)
            status = create((const char *)tried.data, fd, err);
    }
    if (status == NM_OK && tried.len > 0) {
        nm_shown_print(stderr, nm_spoken("npumem-record: %s exists; writing %s\n"), wanted, (const char *)tried.data);
        nm_buffer_free(name);
        *name = tried;
    } else {
        nm_buffer_free(&tried);
    }
    return status;
}

nm_status record_open_output(nm_buffer *name, bool is_forced, int *fd, nm_error *err)
{
    const char *wanted = (const char *)name->data;
    bool is_fifo;

    if (is_special_file(wanted, &is_fifo))
        return open_special(wanted, is_fifo, fd, err);
    return is_forced ? replace_file(wanted, fd, err) : create_first(name, nm_output_create, fd, err);
}

/* ---- Parts --------------------------------------------------------------------------------------------------------- */

typedef struct claims {
    nm_status status;
    nm_error *err;
} claims;

/* Is it being recorded? */
static void check_part(void *context, int folder, const char *part)
{
    claims *found = context;
    int fd = -1;

    if (found->status == NM_OK && nm_door_open_at(folder, part, O_RDWR | O_NONBLOCK, 0, &fd, NULL) == NM_OK)
        found->status = nm_output_claim(fd, found->err);
    nm_io_close(fd);
}

static void remove_part(void *context, int folder, const char *part)
{
    int fd = -1;

    (void)context;
    if (nm_door_open_at(folder, part, O_RDONLY | O_NONBLOCK, 0, &fd, NULL) == NM_OK)
        remove_rings_of(fd);
    nm_io_close(fd);
    nm_door_remove_at(folder, part);
}

/* All that stands there, as the file of a trace that is not in parts would. */
static void visit_all(const char *path, void (*visit)(void *context, int folder, const char *part), void *context)
{
    const char *name;
    int folder = nm_trace_files_is_single(path) ? nm_door_folder_of(path, &name) : -1;

    if (folder >= 0)
        visit(context, folder, name);
    nm_io_close(folder);
    nm_trace_files_visit(path, visit, context);
}

/* A part that is written is there until the next one is: if none is claimed, nobody records. */
static nm_status remove_all(const char *name, nm_error *err)
{
    claims found = {.err = err};

    visit_all(name, check_part, &found);
    if (found.status == NM_OK)
        visit_all(name, remove_part, NULL);
    return found.status;
}

static nm_status open_part(const char *name, nm_status (*open_file)(const char *path, int *fd, nm_error *err), int *fd,
                           nm_error *err)
{
    char *path = nm_part_path(name, 0);
    nm_status status =
        path == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : open_file(path, fd, err);

    free(path);
    return status;
}

static nm_status create_part(const char *name, int *fd, nm_error *err)
{
    if (nm_trace_files_is_single(name) || nm_trace_files_visit(name, NULL, NULL) > 0)
        return nm_fail(err, NM_ERR_EXISTS, NM_NO_OFFSET, "is already there");
    return open_part(name, nm_output_create, fd, err);
}

nm_status record_open_first_part(nm_buffer *name, bool is_forced, int *fd, nm_error *err)
{
    const char *wanted = (const char *)name->data;
    nm_status status;
    bool is_fifo;

    if (is_special_file(wanted, &is_fifo))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "--keep needs the name of a file");
    if (!is_forced)
        return create_first(name, create_part, fd, err);
    status = remove_all(wanted, err);
    return status == NM_OK ? open_part(wanted, replace_file, fd, err) : status;
}
