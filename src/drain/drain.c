/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/drain.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "drain/clock.h"
#include "drain/gather.h"
#include "drain/output.h"
#include "drain/process.h"
#include "drain/sampler.h"

#define BLOCK_EVENTS     65536
#define BLOCK_AGE_NS     500000000 /* the oldest record in a block waits so long for the block to be written */
#define CHECK_NS         100000000 /* between two looks at which processes live */
#define CHECK_SAID_NS    5000000   /* npumem_stop waits for it */
#define PAUSE_NS_MIN     1000000
#define PAUSE_NS_SHORT   300000 /* while somebody waits for an answer */
#define PAUSE_NS_PRESSED 200000 /* when rings fill faster than that is enough for */
#define PAUSE_NS_MAX     16000000
#define PRESSURE_HASTE   32  /* of 256: so much of a ring holds its slots though it has been read */
#define PRESSURE_SEAL    64  /* then its thread gets room while it still has some */
#define PRESSURE_SHORT   192 /* then one slow thread is not waited for at the cost of the others */
#define PATIENCE_NS      1000000000
#define PATIENCE_SHORT_NS                                                                                              \
    60000000               /* less than an event waits for room (folder.c), more than a busy machine's time slices */
#define CLOSING_PASSES   4 /* after the session is closed: threads between claim and publish need some time */
#define CLOSING_PAUSE_NS 5000000
#define FLUSH_PASSES     2 /* one that looks, one that is sure to be past the watermark of what was posted */

typedef struct posted { /* an event of the recorder's own, waiting for older ones */
    uint64_t ticks;
    nm_event event;
} posted;

struct nm_drain {
    nm_folder *folder;
    void (*warn)(void *context, const char *line);
    void *warn_context;
    const nm_namer *namer;
    int64_t naming_ns_max;
    int64_t block_age_ns;
    nm_clock clock;
    nm_trace_writer *writer;
    nm_gather gather;
    nm_processes processes;
    nm_output output;
    nm_sampler sampler;
    posted *posts; /* owned; by time */
    size_t post_count, post_capacity;
    uint32_t stuck_events; /* in the block that could not be written */

    bool has_content;         /* the block under construction holds something */
    int64_t content_since_ns; /* then: since when */
    int64_t check_at_ns;
    int64_t pause_ns;
    size_t names_missing;
    uint64_t watermark;    /* of the last pass: what is older has been written */
    unsigned flush_passes; /* until a block is sealed for nm_drain_flush; 0: none is */
};

/* ---- Beginning ----------------------------------------------------------------------------------------------------- */

static void read_boot_id(char boot_id[40])
{
    size_t got = 0;
    int fd;

    if (nm_io_open("/proc/sys/kernel/random/boot_id", O_RDONLY, 0, &fd, NULL) != NM_OK)
        return;
    nm_io_read(fd, boot_id, 39, &got, NULL);
    nm_io_close(fd);
    boot_id[strcspn(boot_id, "\n")] = 0;
}

static nm_session describe_session(const nm_drain_options *options)
{
    const nm_ring_session *shared = options->folder->session;
    nm_session session = {.start_realtime_ns = shared->start_realtime_ns, .stacks = shared->stack_mode};

    memcpy(session.trace_id, shared->trace_id, sizeof session.trace_id);
    if (options->is_recoverable)
        snprintf(session.ring_folder, sizeof session.ring_folder, "%s", options->folder->path);
    gethostname(session.host, sizeof session.host - 1);
    read_boot_id(session.boot_id);
    snprintf(session.tool_version, sizeof session.tool_version, "%s", NPUMEM_PROJECT_VERSION);
    return session;
}

/* An empty block: from the first moment on the file says where its rings are. */
static nm_status write_first_block(nm_drain *drain, nm_error *err)
{
    nm_bytes block;
    nm_status status = nm_trace_writer_seal(drain->writer, 0, &block, err);

    return status == NM_OK ? nm_output_append(&drain->output, block, err) : status;
}

nm_status nm_drain_new(const nm_drain_options *options, nm_drain **out, nm_error *err)
{
    nm_drain *drain = calloc(1, sizeof *drain);

    *out = NULL;
    if (drain == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory at the drain");
    drain->folder = options->folder;
    drain->warn = options->warn;
    drain->warn_context = options->warn_context;
    drain->namer = options->namer;
    drain->naming_ns_max = options->naming_ns_max;
    drain->block_age_ns = options->block_age_ns != 0 ? options->block_age_ns : BLOCK_AGE_NS;
    drain->pause_ns = PAUSE_NS_MIN;

    options->folder->session->clock_kind = nm_clock_choose();
    nm_clock_start(&drain->clock, options->folder->session);
    nm_session session = describe_session(options);
    nm_status status = nm_trace_writer_new(&session, &drain->writer, err);
    if (status != NM_OK) {
        free(drain);
        return status;
    }
    nm_trace_writer_observe(drain->writer, options->observer, options->observer_context);
    nm_gather_init(&drain->gather, options->folder, drain->writer, options->namer);
    nm_processes_init(&drain->processes, &drain->gather);
    drain->processes.ends_when_said = options->ends_when_said;
    nm_sampler_init(&drain->sampler, options->sample_ns);
    nm_output_init(&drain->output, options->fd);
    status = write_first_block(drain, err);
    if (status == NM_OK)
        *out = drain;
    else
        nm_drain_free(drain);
    return status;
}

void nm_drain_free(nm_drain *drain)
{
    if (drain == NULL)
        return;
    nm_sampler_fini(&drain->sampler);
    free(drain->posts);
    nm_processes_fini(&drain->processes);
    nm_gather_fini(&drain->gather);
    nm_output_fini(&drain->output);
    nm_trace_writer_free(drain->writer);
    free(drain);
}

/* ---- Blocks -------------------------------------------------------------------------------------------------------- */

static void warn_of_output(nm_drain *drain, const nm_error *failure)
{
    char line[NM_ERROR_TEXT_BYTES + 80];

    snprintf(line, sizeof line, "%s; the program runs on, its events are dropped and counted", failure->text);
    if (drain->warn != NULL)
        drain->warn(drain->warn_context, line);
}

/* The program must not notice a full disk, so its rings are emptied all the same; the block itself is kept for later. */
static nm_status append(nm_drain *drain, nm_bytes block, uint32_t event_count, nm_error *err)
{
    nm_error failure = {0};
    nm_status status = nm_output_append(&drain->output, block, &failure);

    if (status == NM_ERR_MEMORY)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory at a block that cannot be written");
    if (status != NM_OK) {
        warn_of_output(drain, &failure);
        drain->gather.is_discarding = true;
        drain->stuck_events = event_count;
    }
    return NM_OK;
}

static nm_status seal(nm_drain *drain, uint32_t flags, nm_error *err)
{
    nm_bytes block;
    uint32_t event_count = nm_trace_writer_event_count(drain->writer);
    nm_status status = nm_gather_state_positions(&drain->gather, err);

    if (status == NM_OK)
        status = nm_trace_writer_seal(drain->writer, flags, &block, err);
    if (status == NM_OK)
        status = append(drain, block, event_count, err);
    if (status != NM_OK)
        return status;
    drain->has_content = false;
    nm_gather_written(&drain->gather);
    nm_processes_written(&drain->processes);
    return NM_OK;
}

/* While the output is stuck nothing is sealed: what the block under construction holds stays there, and what comes is
 * counted and let go. */
static nm_status let_go(nm_drain *drain, bool is_last_try, nm_error *err)
{
    if (nm_output_retry(&drain->output, is_last_try))
        return nm_gather_say_discards(&drain->gather, err);
    nm_gather_written(&drain->gather);
    return NM_OK;
}

/* ---- Events of our own ---- */

nm_status nm_drain_post(nm_drain *drain, const nm_event *event, nm_error *err)
{
    nm_status status =
        nm_array_grow(&drain->posts, &drain->post_capacity, drain->post_count + 1, sizeof *drain->posts, err);

    if (status == NM_OK)
        drain->posts[drain->post_count++] = (posted){nm_clock_ticks(drain->folder->session->clock_kind), *event};
    return status;
}

nm_status nm_drain_text(nm_drain *drain, nm_bytes text, uint64_t *id, nm_error *err)
{
    return nm_unify_text(&drain->gather.unify, text, id, err);
}

nm_status nm_drain_attribute(nm_drain *drain, uint64_t process_id, uint64_t source, const char *name, const char *value,
                             nm_error *err)
{
    return nm_unify_attribute(&drain->gather.unify, process_id, source, (nm_bytes){(const uint8_t *)name, strlen(name)},
                              (nm_bytes){(const uint8_t *)value, strlen(value)}, err);
}

/* After everything older than the watermark has been written. While the disk is full they are let go: nobody's event is
 * lost by that. */
static nm_status write_posts(nm_drain *drain, uint64_t watermark, nm_error *err)
{
    nm_status status = NM_OK;
    size_t done = 0;

    while (done < drain->post_count && drain->posts[done].ticks <= watermark && status == NM_OK) {
        posted *post = &drain->posts[done++];

        if (drain->gather.is_discarding)
            continue;
        post->event.time_ns = nm_clock_to_ns(drain->folder->session, post->ticks);
        status = nm_trace_writer_event(drain->writer, &post->event, err);
        drain->gather.event_count += status == NM_OK;
    }
    if (done > 0) {
        drain->post_count -= done;
        memmove(drain->posts, drain->posts + done, drain->post_count * sizeof *drain->posts);
    }
    return status;
}

nm_status nm_drain_flush(nm_drain *drain, nm_error *err)
{
    (void)err;
    drain->flush_passes = FLUSH_PASSES;
    return NM_OK;
}

static nm_status post_sample(void *context, const nm_event *event, nm_error *err)
{
    return nm_drain_post(context, event, err);
}

/* Gives the writer what is older than the watermark, in as many blocks as it takes. */
static nm_status release(nm_drain *drain, uint64_t watermark, nm_error *err)
{
    nm_status status;
    bool is_full;

    do {
        /* Nothing is written while the output is stuck, so no block is ever too full for what is only counted. */
        uint32_t event_max = drain->gather.is_discarding ? UINT32_MAX : BLOCK_EVENTS;

        status = nm_gather_release(&drain->gather, watermark, event_max, &is_full, err);
        if (status == NM_OK && is_full)
            status = seal(drain, 0, err);
    } while (status == NM_OK && is_full);
    return status == NM_OK ? write_posts(drain, watermark, err) : status;
}

/* ---- Passes -------------------------------------------------------------------------------------------------------- */

static nm_status check_processes(nm_drain *drain, bool is_forced, nm_error *err)
{
    int64_t now_ns = nm_clock_monotonic_ns();
    nm_status status = nm_processes_find(&drain->processes, err);

    if (status == NM_OK && (is_forced || now_ns >= drain->check_at_ns)) {
        drain->check_at_ns = now_ns + (drain->processes.ends_when_said ? CHECK_SAID_NS : CHECK_NS);
        status = nm_processes_check(&drain->processes, err);
    }
    return status;
}

/* How long one thread is waited for: less when the others' rings fill up meanwhile. */
static void set_patience(nm_drain *drain)
{
    bool is_pressed = nm_gather_pressure(&drain->gather) >= PRESSURE_SHORT;

    drain->gather.patience_ticks =
        nm_clock_span_ticks(drain->folder->session, is_pressed ? PATIENCE_SHORT_NS : PATIENCE_NS);
}

static nm_status look_and_release(nm_drain *drain, bool is_forced, bool *is_busy, nm_error *err)
{
    uint64_t watermark = 0;
    nm_status status = check_processes(drain, is_forced, err);

    if (status == NM_OK)
        status = nm_gather_find_rings(&drain->gather, NULL, NULL, err);
    nm_processes_mark_rings(&drain->processes);
    set_patience(drain);
    if (status == NM_OK)
        status = nm_gather_look(&drain->gather, &watermark, is_busy, err);
    if (status == NM_OK)
        status = release(drain, watermark, err);
    drain->watermark = watermark;
    return status;
}

static nm_status seal_if_due(nm_drain *drain, nm_error *err)
{
    if (drain->output.is_stuck)
        return let_go(drain, false, err);
    if (!drain->gather.has_released && nm_trace_writer_event_count(drain->writer) == 0)
        return NM_OK;
    if (!drain->has_content)
        drain->content_since_ns = nm_clock_monotonic_ns();
    drain->has_content = true;
    if (nm_gather_pressure(&drain->gather) >= PRESSURE_SEAL)
        return seal(drain, 0, err);
    if (drain->flush_passes > 0 && --drain->flush_passes == 0)
        return seal(drain, 0, err);
    if (nm_clock_monotonic_ns() - drain->content_since_ns >= drain->block_age_ns)
        return seal(drain, 0, err);
    return NM_OK;
}

nm_status nm_drain_pass(nm_drain *drain, int64_t *pause_ns, nm_error *err)
{
    bool is_busy = false;

    /* relaxed: a sign of life, nothing is read by it */
    atomic_fetch_add_explicit(&drain->folder->session->heartbeat, 1, memory_order_relaxed);
    nm_clock_refine(&drain->clock, drain->folder->session);
    nm_status status = look_and_release(drain, false, &is_busy, err);
    if (status == NM_OK)
        status = nm_unify_take_names(&drain->gather.unify, err);
    drain->sampler.is_wanted |= drain->gather.has_failure;
    drain->gather.has_failure = false;
    if (status == NM_OK)
        status = nm_sampler_pass(&drain->sampler, &drain->processes, post_sample, drain, err);
    if (status == NM_OK)
        status = nm_processes_end(&drain->processes, err);
    if (status == NM_OK)
        status = seal_if_due(drain, err);

    drain->pause_ns = is_busy || nm_gather_is_pending(&drain->gather) ? PAUSE_NS_MIN : drain->pause_ns * 2;
    if (drain->pause_ns > PAUSE_NS_MAX)
        drain->pause_ns = PAUSE_NS_MAX;
    if (nm_gather_pressure(&drain->gather) >= PRESSURE_HASTE)
        drain->pause_ns = PAUSE_NS_PRESSED;
    *pause_ns = drain->pause_ns;
    return status;
}

static void pause_for(int64_t ns)
{
    nanosleep(&(struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000}, NULL);
}

nm_status nm_drain_catch_up(nm_drain *drain, int64_t wait_ns_max, nm_error *err)
{
    uint64_t asked_at = nm_clock_ticks(drain->folder->session->clock_kind);
    int64_t until_ns = nm_clock_monotonic_ns() + wait_ns_max, pause_ns;
    nm_status status = nm_drain_pass(drain, &pause_ns, err);

    while (status == NM_OK && drain->watermark < asked_at && nm_clock_monotonic_ns() < until_ns) {
        pause_for(PAUSE_NS_SHORT);
        status = nm_drain_pass(drain, &pause_ns, err);
    }
    return status;
}

void nm_drain_reaped(nm_drain *drain, int64_t pid, int wait_status)
{
    nm_processes_reaped(&drain->processes, pid, wait_status);
    drain->check_at_ns = 0;
}

void nm_drain_linger(nm_drain *drain)
{
    drain->processes.is_lingering = true;
    drain->check_at_ns = 0;
}

size_t nm_drain_live_count(const nm_drain *drain)
{
    return drain->processes.live_count + drain->processes.dying_count;
}

/* ---- Ending -------------------------------------------------------------------------------------------------------- */

void nm_drain_close(nm_drain *drain)
{
    /* relaxed: a flag that threads look at now and then */
    atomic_store_explicit(&drain->folder->session->is_closed, 1, memory_order_relaxed);
}

bool nm_drain_close_idle(nm_drain *drain)
{
    nm_ring_session *session = drain->folder->session;

    if (nm_drain_live_count(drain) > 0)
        return false;
    /* seq_cst, both: pairs with a process that joins, which takes its number first and looks at the flag then. Whoever is
     * turned away although the session goes on tries again. */
    atomic_store_explicit(&session->is_closed, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&session->process_count, memory_order_seq_cst) == drain->processes.numbers_seen)
        return true;
    atomic_store_explicit(&session->is_closed, 0, memory_order_seq_cst);
    return false;
}

/* Threads that were between claim and publish when the session was closed get some milliseconds. */
static nm_status take_the_rest(nm_drain *drain, nm_error *err)
{
    nm_status status = NM_OK;
    bool is_busy = false;

    for (int i = 0; i < CLOSING_PASSES && status == NM_OK; i++) {
        atomic_fetch_add_explicit(&drain->folder->session->heartbeat, 1, memory_order_relaxed); /* a sign of life */
        status = look_and_release(drain, true, &is_busy, err);
        if (i + 1 < CLOSING_PASSES && drain->processes.live_count > 0)
            pause_for(CLOSING_PAUSE_NS);
    }
    return status == NM_OK ? release(drain, UINT64_MAX, err) : status;
}

static nm_status wait_for_names(nm_drain *drain, nm_error *err)
{
    int64_t until_ns = nm_clock_monotonic_ns() + drain->naming_ns_max;
    nm_status status = nm_unify_take_names(&drain->gather.unify, err);

    if (drain->namer == NULL)
        return status;
    while (status == NM_OK && drain->namer->waiting(drain->namer->context) > 0 && nm_clock_monotonic_ns() < until_ns) {
        pause_for(PAUSE_NS_MIN);
        status = nm_unify_take_names(&drain->gather.unify, err);
    }
    if (status == NM_OK)
        status = nm_unify_take_names(&drain->gather.unify, err);
    drain->names_missing = drain->namer->waiting(drain->namer->context);
    return status;
}

nm_status nm_drain_finish(nm_drain *drain, nm_error *err)
{
    nm_drain_close(drain);
    nm_status status = take_the_rest(drain, err);
    if (status == NM_OK)
        status = wait_for_names(drain, err);
    if (status == NM_OK && drain->output.is_stuck)
        status = let_go(drain, true, err);
    if (status == NM_OK)
        status = nm_processes_leave(&drain->processes, err);
    if (status == NM_OK && !drain->output.is_stuck)
        status = seal(drain, NM_BLOCK_FINAL, err);
    return status;
}

void nm_drain_tell(const nm_drain *drain, nm_drain_report *report)
{
    uint64_t stuck_events = drain->output.is_stuck ? drain->stuck_events : 0;
    /* An end of a process that nobody will read; nothing else gets into a block behind one that is stuck. */
    uint64_t unsealed_events = drain->output.is_stuck ? nm_trace_writer_event_count(drain->writer) : 0;

    *report = (nm_drain_report){
        .event_count = drain->gather.event_count - stuck_events - unsealed_events,
        .dropped_count = drain->gather.dropped_count,
        .unwritten_count = drain->gather.discarded_events + stuck_events,
        .late_count = drain->gather.late_count,
        .unreadable_count = drain->gather.unreadable_count,
        .process_count = drain->processes.count,
        .left_count = drain->processes.left_count,
        .file_bytes = drain->output.good_bytes,
        .names_missing = drain->names_missing,
    };
}
