/* SPDX-License-Identifier: Apache-2.0
 *
 * Processes and not threads: an input is foreign data, and SQLite needs no locks. A worker says at its end what came of it, in
 * one message, and waits until what holds it is closed: then its part goes, whoever closed that.
 */
#include "tool/ingest/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "store/cleanup.h"
#include "store/publish.h"

#define AHEAD       2   /* for each that works, so many may stand between what is merged and what has begun */
#define PROGRESS_MS 200 /* how long nobody is looked after */

/* What a worker says; then texts, in this order. */
typedef struct worker_message {
    nm_status status;
    nm_error err;
    nm_frame_name_counts name_counts;
    size_t path_bytes, subject_bytes, losses_bytes; /* without a zero byte */
} worker_message;

typedef struct worker {
    pid_t pid;      /* 0: not begun, or gone */
    int line;       /* what it says is read here */
    int hold;       /* it stays until this is closed */
    nm_buffer told; /* of its message, so far */
    bool is_done;   /* the message is whole, or nothing more comes */
    /* Of what has been added: */
    nm_frame_name_counts name_counts;
    char *losses; /* owned */
    bool is_left_out;
} worker;

/* What a worker has of its lines. */
typedef struct worker_ends {
    int line, hold;
} worker_ends;

struct ingest_workers {
    ingest *run; /* borrowed */
    ingest_work *work;
    worker *items; /* one an input; owned */
    size_t count, next, working, working_max;
    nm_progress_slot *slots; /* one an input, shared with the workers; or NULL */
    char *subject;           /* owned: what run->subject may point to */
};

/* ---- A worker ------------------------------------------------------------------------------------------------------ */

static void close_lines(const worker *one)
{
    nm_io_close(one->line);
    nm_io_close(one->hold);
}

/* Nothing is heard of the others. */
static void leave_others(const ingest_workers *workers)
{
    for (size_t i = 0; i < workers->count; i++)
        if (workers->items[i].pid != 0)
            close_lines(&workers->items[i]);
}

static nm_status say(int line, const worker_message *message, const char *path, const char *subject, const char *losses)
{
    nm_status status = nm_io_write(line, message, sizeof *message, NULL);

    if (status == NM_OK)
        status = nm_io_write(line, path, message->path_bytes, NULL);
    if (status == NM_OK)
        status = nm_io_write(line, subject, message->subject_bytes, NULL);
    return status == NM_OK ? nm_io_write(line, losses, message->losses_bytes, NULL) : status;
}

static void do_work(const ingest_workers *workers, ingest *run, size_t index, worker_ends ends)
{
    worker_message message = {.err = {.offset = NM_NO_OFFSET}};
    const char *path = "", *subject = "";
    char last;

    run->losses_file = open_memstream(&run->losses, &run->losses_bytes);
    if (run->losses_file == NULL)
        message.status = nm_fail(&message.err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (message.status == NM_OK)
        message.status = workers->work(run, index, &message.err);
    if (message.status == NM_OK)
        message.status = nm_store_seal(run->part, &path, &message.err);
    if (run->losses_file != NULL)
        fclose(run->losses_file);
    subject = run->subject == NULL ? "" : run->subject;
    message.name_counts = run->name_counts;
    message.path_bytes = strlen(path);
    message.subject_bytes = strlen(subject);
    message.losses_bytes = run->losses_bytes;
    if (say(ends.line, &message, path, subject, run->losses) == NM_OK)
        while (read(ends.hold, &last, 1) < 0 && errno == EINTR)
            ;
    ingest_end_input(run);
}

/* In the new process. What it has of its parent's it neither closes nor removes. */
static void begin_work(const ingest_workers *workers, size_t index, worker_ends ends, pid_t parent)
{
    ingest run = *workers->run;

    nm_cleanup_disown();
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    leave_others(workers);
    run.losses_file = NULL;
    run.losses = NULL;
    run.losses_bytes = 0;
    run.name_counts = (nm_frame_name_counts){0};
    run.slot = workers->slots == NULL ? NULL : &workers->slots[index];
    if (getppid() == parent)
        do_work(workers, &run, index, ends);
    _exit(0);
}

/* Both lines: 0 is read and 1 is written. */
static bool open_lines(int said[2], int held[2])
{
    if (pipe2(said, O_CLOEXEC) != 0)
        return false;
    if (pipe2(held, O_CLOEXEC) == 0)
        return true;
    int cause = errno;
    nm_io_close(said[0]);
    nm_io_close(said[1]);
    errno = cause;
    return false;
}

static nm_status begin(ingest_workers *workers, size_t index, nm_error *err)
{
    pid_t parent = getpid();
    worker *one = &workers->items[index];
    int said[2], held[2];

    if (!open_lines(said, held))
        return nm_fail_errno(err, errno, "cannot start a process");
    one->line = said[0];
    one->hold = held[1];
    pid_t pid = fork();
    if (pid == 0) {
        close_lines(one);
        begin_work(workers, index, (worker_ends){.line = said[1], .hold = held[0]}, parent);
    }
    int cause = errno;
    nm_io_close(said[1]);
    nm_io_close(held[0]);
    if (pid < 0) {
        close_lines(one);
        return nm_fail_errno(err, cause, "cannot start a process");
    }
    one->pid = pid;
    workers->working++;
    return NM_OK;
}

/* ---- All of them --------------------------------------------------------------------------------------------------- */

static size_t processor_count(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;

    return count < 1 ? 1 : count > INGEST_WORKERS_MAX ? INGEST_WORKERS_MAX : (size_t)count;
}

static void *share(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

nm_status ingest_workers_new(ingest *run, size_t count, ingest_work *work, ingest_workers **out, nm_error *err)
{
    ingest_workers *workers = calloc(1, sizeof *workers);

    *out = workers;
    if (workers != NULL)
        workers->items = calloc(run->inputs.count, sizeof *workers->items);
    if (workers == NULL || workers->items == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    workers->run = run;
    workers->work = work;
    workers->count = run->inputs.count;
    workers->working_max = count > 0 ? count : processor_count();
    workers->slots = share(workers->count * sizeof *workers->slots);
    return NM_OK;
}

/* As many as may. Databases are nobody's work. */
static nm_status begin_more(ingest_workers *workers, size_t merged, nm_error *err)
{
    size_t end = merged + AHEAD * workers->working_max;
    nm_status status = NM_OK;

    while (status == NM_OK && workers->next < workers->count && workers->next < end &&
           workers->working < workers->working_max) {
        if (!workers->run->inputs.items[workers->next].is_database)
            status = begin(workers, workers->next, err);
        if (status == NM_OK)
            workers->next++;
    }
    return status;
}

static bool is_whole(const nm_buffer *told)
{
    worker_message head;

    if (told->len < sizeof head)
        return false;
    memcpy(&head, told->data, sizeof head);
    return told->len == sizeof head + head.path_bytes + head.subject_bytes + head.losses_bytes;
}

static nm_status hear(ingest_workers *workers, worker *one, nm_error *err)
{
    uint8_t bytes[4096];
    ssize_t got = read(one->line, bytes, sizeof bytes);
    nm_status status = NM_OK;

    if (got < 0 && errno == EINTR)
        return NM_OK;
    if (got > 0)
        status = nm_buffer_append(&one->told, bytes, (size_t)got, err);
    one->is_done = got <= 0 || is_whole(&one->told);
    workers->working -= one->is_done;
    return status;
}

static void show_progress(const ingest_workers *workers)
{
    uint64_t done_bytes = 0, event_count = 0;

    for (size_t i = 0; workers->slots != NULL && i < workers->count; i++) {
        done_bytes += atomic_load_explicit(&workers->slots[i].done_bytes, memory_order_relaxed);
        event_count += atomic_load_explicit(&workers->slots[i].event_count, memory_order_relaxed);
    }
    nm_progress_update(&workers->run->progress, done_bytes, event_count);
}

/* Looks after all who work, until there is something new of one. */
static nm_status look_after(ingest_workers *workers, nm_error *err)
{
    struct pollfd *lines = calloc(workers->working, sizeof *lines);
    size_t count = 0;
    nm_status status = NM_OK;

    if (lines == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    for (size_t i = 0; i < workers->next; i++)
        if (workers->items[i].pid != 0 && !workers->items[i].is_done)
            lines[count++] = (struct pollfd){.fd = workers->items[i].line, .events = POLLIN};
    int ready = poll(lines, (nfds_t)count, PROGRESS_MS);
    for (size_t i = 0, at = 0; ready > 0 && i < workers->next && status == NM_OK; i++)
        if (workers->items[i].pid != 0 && !workers->items[i].is_done && lines[at++].revents != 0)
            status = hear(workers, &workers->items[i], err);
    free(lines);
    show_progress(workers);
    return status;
}

/* ---- One of them --------------------------------------------------------------------------------------------------- */

/* Whoever was ended by a signal may have had no time to remove its part. */
static void sweep(const ingest_workers *workers, size_t index)
{
    char *part = ingest_part_path(workers->run, index);

    if (part != NULL)
        nm_output_sweep(part);
    free(part);
}

/* What waitpid says of it. */
static int end(ingest_workers *workers, size_t index)
{
    worker *one = &workers->items[index];
    int how = 0;

    if (one->pid == 0)
        return 0;
    close_lines(one);
    while (waitpid(one->pid, &how, 0) < 0 && errno == EINTR)
        ;
    nm_buffer_free(&one->told);
    one->pid = 0;
    if (WIFSIGNALED(how))
        sweep(workers, index);
    return how;
}

static nm_status tell_end(ingest_workers *workers, size_t index, nm_error *err)
{
    int how = end(workers, index);

    if (WIFSIGNALED(how))
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "the process that read it was ended by signal %d", WTERMSIG(how));
    return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "the process that read it said nothing");
}

static char *text_at(const nm_buffer *told, size_t at, size_t len)
{
    return strndup((const char *)told->data + at, len);
}

static nm_status take(ingest_workers *workers, size_t index, const nm_merge_origin *origin, nm_error *err)
{
    worker *one = &workers->items[index];
    ingest *run = workers->run;
    worker_message head;
    size_t at = sizeof head;
    nm_status status;

    if (!is_whole(&one->told))
        return tell_end(workers, index, err);
    memcpy(&head, one->told.data, sizeof head);
    char *path = text_at(&one->told, at, head.path_bytes);
    free(workers->subject);
    workers->subject = text_at(&one->told, at + head.path_bytes, head.subject_bytes);
    run->subject = workers->subject;
    if (path == NULL || workers->subject == NULL)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    else if (head.status != NM_OK) {
        *err = head.err;
        status = head.status;
    } else {
        one->name_counts = head.name_counts;
        one->losses = text_at(&one->told, at + head.path_bytes + head.subject_bytes, head.losses_bytes);
        status = nm_store_merge_part(run->store, path, origin, err);
    }
    free(path);
    return status;
}

nm_status ingest_workers_merge(ingest_workers *workers, size_t index, const nm_merge_origin *origin, nm_error *err)
{
    worker *one = &workers->items[index];

    workers->run->subject = workers->run->inputs.items[index].name;
    nm_status status = begin_more(workers, index, err);

    while (status == NM_OK && !one->is_done) {
        status = look_after(workers, err);
        if (status == NM_OK)
            status = begin_more(workers, index, err);
    }
    if (status == NM_OK)
        status = take(workers, index, origin, err);
    end(workers, index);
    return status;
}

void ingest_workers_leave_out(ingest_workers *workers, size_t index)
{
    workers->items[index].is_left_out = true;
}

void ingest_workers_end(ingest_workers *workers)
{
    ingest *run = workers->run;

    for (size_t i = 0; i < workers->count; i++) {
        const worker *one = &workers->items[i];

        if (one->is_left_out)
            continue;
        run->name_counts.named_frames += one->name_counts.named_frames;
        run->name_counts.unnamed_modules += one->name_counts.unnamed_modules;
        if (one->losses != NULL)
            fputs(one->losses, run->losses_file);
    }
}

void ingest_workers_free(ingest_workers *workers)
{
    if (workers == NULL)
        return;
    for (size_t i = 0; workers->items != NULL && i < workers->count; i++)
        if (workers->items[i].pid != 0)
            kill(workers->items[i].pid, SIGTERM);
    for (size_t i = 0; workers->items != NULL && i < workers->count; i++)
        end(workers, i);
    for (size_t i = 0; workers->items != NULL && i < workers->count; i++)
        free(workers->items[i].losses);
    if (workers->slots != NULL)
        munmap(workers->slots, workers->count * sizeof *workers->slots);
    free(workers->subject);
    free(workers->items);
    free(workers);
}
