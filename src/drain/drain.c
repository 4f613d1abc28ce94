/* SPDX-License-Identifier: Apache-2.0
 *
 * The order that the promise needs: look at the rings, release what is older than the watermark into the block that is
 * being built, write it, and only then let the rings go on. What a full disk, a reader that does not read, a part that
 * is full and a pause change in that order is decided here. The program must not notice any of them: what cannot be
 * written is counted instead.
 */
#include "drain/drain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/spoken.h"
#include "drain/clock.h"
#include "drain/descendants.h"
#include "drain/objects.h"
#include "drain/output.h"
#include "drain/parts.h"
#include "drain/process.h"
#include "drain/ring_merge.h"
#include "drain/sampler.h"
#include "drain/share.h"
#include "drain/state.h"
#include "drain/syncer.h"

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
    60000000                /* less than an event waits for room (folder.c), more than a busy machine's time slices */
#define CLOSING_PASSES    4 /* after the session is closed: threads between claim and publish need some time */
#define CLOSING_PAUSE_NS  5000000
#define WARN_AGAIN_NS     60000000000
#define KEPT_BLOCKS       32 /* a part that is kept has so many at least, so that it is not much larger than it should be */
#define KEPT_BLOCK_MIN    1024
#define EVENT_BYTES       4    /* of a compressed event, about */
#define SLICE_EVENTS      4096 /* of all rings; between them the drain looks which ring fills up */
#define SLICE_RING_EVENTS 16   /* and of each, since that look takes its time too */
#define FLUSH_PASSES      2    /* one that looks, one that is sure to be past the watermark of what was posted */

typedef struct posted { /* an event of the recorder's own, waiting for older ones */
    uint64_t ticks;
    nm_event event;
} posted;

typedef struct counts {
    uint64_t events, dropped, unreadable; /* as in nm_ring_merge */
} counts;

struct nm_drain {
    nm_folder *folder;
    void (*warn)(void *context, const char *line);
    void *warn_context;
    const nm_namer *namer;
    int64_t naming_ns_max;
    int64_t block_age_ns;
    nm_clock clock;
    nm_trace_writer *writer;
    nm_ring_merge merge;
    nm_processes processes;
    nm_descendants descendants;
    nm_output output;
    nm_sampler sampler;
    nm_objects objects;
    posted *posts; /* owned; by time */
    size_t post_count, post_capacity;
    counts sealed; /* of the merge, when the last block was sealed */
    counts held;   /* in the blocks that could not be written, or that a reader has not taken yet */
    nm_trace_writer *note_writer;
    uint64_t noted_events; /* what the note says that is missing */
    int64_t warned_at_ns;  /* of the output; 0: never */
    nm_syncer *syncer;     /* NULL: none */
    nm_share share;
    int64_t reader_ns_max;
    int64_t (*patience_ns)(void *context);
    void *patience_context;
    bool is_finishing; /* a reader is waited for */
    uint32_t block_events;
    nm_drain_keep keep;
    nm_parts parts;
    nm_buffer keyframe; /* whole blocks that the next part begins with */
    int part_fd;        /* owned; -1: the output is the caller's */
    bool has_part_warning;
    nm_trace_observer *observer;
    void *observer_context;

    bool has_content;         /* the block under construction holds something */
    int64_t content_since_ns; /* then: since when */
    int64_t check_at_ns;
    int64_t pause_ns;
    size_t names_missing;
    uint64_t watermark; /* of the last pass that was not put off: what is older has been written */
    bool is_asked;      /* somebody waits for what was recorded so far: nothing is put off */
    bool is_put_off;    /* in the last pass rings filled up so fast that they were copied, and nothing else was done */
    unsigned flush_passes; /* until a block is sealed for a snapshot of a program; 0: none is */
};

/* ---- Beginning ----------------------------------------------------------------------------------------------------- */

static nm_session describe_session(const nm_drain_options *options)
{
    const nm_ring_session *shared = options->folder->session;
    nm_session session = {.start_realtime_ns = shared->start_realtime_ns,
                          .stacks = shared->stack_mode,
                          .stack_depth = shared->stack_depth};

    memcpy(session.trace_id, shared->trace_id, sizeof session.trace_id);
    if (options->is_recoverable)
        snprintf(session.ring_folder, sizeof session.ring_folder, "%s", options->folder->path);
    gethostname(session.host, sizeof session.host - 1);
    nm_state_read_boot_id(session.boot_id);
    snprintf(session.tool_version, sizeof session.tool_version, "%s", NPUMEM_PROJECT_VERSION);
    return session;
}

/* Small parts are made of small blocks. */
static nm_status begin_parts(nm_drain *drain, nm_error *err)
{
    const nm_drain_keep *keep = &drain->keep;

    if (keep->name == NULL)
        return NM_OK;
    nm_status status =
        nm_parts_init(&drain->parts, keep->name, drain->output.fd, keep->bytes_max, keep->steps_max, err);
    uint64_t events = status == NM_OK ? nm_parts_size(&drain->parts) / KEPT_BLOCKS / EVENT_BYTES : 0;
    if (events < BLOCK_EVENTS)
        drain->block_events = events < KEPT_BLOCK_MIN ? KEPT_BLOCK_MIN : (uint32_t)events;
    return status;
}

/* An empty block: from the first moment on the file says where its rings are. */
static nm_status write_first_block(nm_drain *drain, nm_error *err)
{
    nm_bytes block;
    nm_status status = nm_trace_writer_seal(drain->writer, 0, &block, err);

    if (status == NM_OK)
        status = nm_output_append(&drain->output, block, err);
    nm_parts_written(&drain->parts, status == NM_OK ? block.len : 0);
    nm_syncer_written(drain->syncer);
    return status;
}

static nm_status begin_syncs(nm_drain *drain, const nm_drain_options *options, nm_error *err)
{
    if (options->sync_ns <= 0 || !drain->output.can_cut)
        return NM_OK;
    nm_status status = nm_syncer_new(options->sync_ns, &drain->syncer, err);
    return status == NM_OK ? nm_syncer_file(drain->syncer, options->fd, options->path, err) : status;
}

static nm_status bring_up_to_date(void *context, uint64_t process, nm_error *err);

/* While a block is made: what is in it holds its slots until it is written. */
static void look_after_rings(void *context)
{
    nm_drain *drain = context;

    nm_ring_merge_spill(&drain->merge, true);
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
    drain->part_fd = -1;
    drain->keep = options->keep;
    drain->block_events = BLOCK_EVENTS;
    drain->observer = options->observer;
    drain->observer_context = options->observer_context;
    drain->reader_ns_max = options->reader_ns_max;
    drain->patience_ns = options->patience_ns;
    drain->patience_context = options->patience_context;

    options->folder->session->clock_kind = nm_clock_choose();
    nm_clock_start(&drain->clock, options->folder->session);
    nm_session session = describe_session(options);
    nm_status status = nm_trace_writer_new(&session, &drain->writer, err);
    if (status == NM_OK)
        status = nm_trace_writer_new(&session, &drain->note_writer, err);
    if (status != NM_OK) {
        nm_trace_writer_free(drain->writer);
        free(drain);
        return status;
    }
    nm_trace_writer_observe(drain->writer, options->observer, options->observer_context);
    nm_ring_merge_init(&drain->merge, options->folder, drain->writer, options->namer);
    nm_trace_writer_breathe(drain->writer, look_after_rings, drain);
    drain->merge.pause.pauser = options->pauser;
    nm_processes_init(&drain->processes, &drain->merge);
    nm_descendants_init(&drain->descendants, &drain->processes);
    drain->processes.before_end = bring_up_to_date;
    drain->processes.before_end_context = drain;
    drain->processes.ends_when_said = options->ends_when_said;
    nm_sampler_init(&drain->sampler, options->sample_ns);
    nm_output_init(&drain->output, options->fd);
    drain->output.awaits_reader = options->awaits_reader;
    status = begin_parts(drain, err);
    if (status == NM_OK)
        status = begin_syncs(drain, options, err);
    if (status == NM_OK)
        status = write_first_block(drain, err);
    if (status != NM_OK) {
        nm_drain_free(drain);
        return status;
    }
    /* release: pairs with the acquire of npumem_start; from now on the file says where its rings are */
    atomic_fetch_add_explicit(&options->folder->session->heartbeat, 1, memory_order_release);
    *out = drain;
    return NM_OK;
}

void nm_drain_free(nm_drain *drain)
{
    if (drain == NULL)
        return;
    nm_share_set(&drain->share, false);
    nm_sampler_fini(&drain->sampler);
    nm_objects_fini(&drain->objects);
    free(drain->posts);
    nm_descendants_fini(&drain->descendants);
    nm_processes_fini(&drain->processes);
    nm_ring_merge_fini(&drain->merge);
    nm_output_fini(&drain->output);
    nm_syncer_finish(drain->syncer);
    nm_io_close(drain->part_fd);
    nm_parts_fini(&drain->parts);
    nm_buffer_free(&drain->keyframe);
    nm_trace_writer_free(drain->note_writer);
    nm_trace_writer_free(drain->writer);
    free(drain);
}

/* ---- Blocks -------------------------------------------------------------------------------------------------------- */

static void say(nm_drain *drain, const char *what, const char *then)
{
    char line[NM_ERROR_TEXT_BYTES + 80];

    snprintf(line, sizeof line, "%s%s%s", nm_spoken(what), nm_spoken("; "), nm_spoken(then));
    if (drain->warn != NULL)
        drain->warn(drain->warn_context, line);
}

/* A disk that is full again and again is said once a minute. */
static void warn_of_output(nm_drain *drain, const char *why)
{
    int64_t now_ns = nm_clock_monotonic_ns();

    if (drain->warned_at_ns == 0 || now_ns - drain->warned_at_ns >= WARN_AGAIN_NS) {
        drain->warned_at_ns = now_ns;
        say(drain, why, "the program runs on, its events are dropped and counted");
    }
}

static uint64_t step_count(const nm_drain *drain)
{
    return drain->keep.step_count == NULL ? 0 : drain->keep.step_count(drain->keep.context);
}

/* ---- What could not be written ---- */

static counts count_all(const nm_drain *drain)
{
    const nm_ring_merge *merge = &drain->merge;

    return (counts){merge->event_count, merge->dropped_count, merge->unreadable_count};
}

/* Since the output is stuck, and in what it is stuck with. */
static uint64_t count_missing(const nm_drain *drain)
{
    return drain->held.events + drain->held.dropped + drain->held.unreadable + drain->merge.discarded_events;
}

/* From when to when that was. */
static void span_of_missing(const nm_drain *drain, const nm_block_header *held, nm_event *loss)
{
    const nm_ring_merge *merge = &drain->merge;

    loss->time_ns = held->first_ns;
    loss->until_ns = held->last_ns;
    for (size_t i = 0; i < merge->discard_count; i++) {
        int64_t first_ns = nm_clock_to_ns(drain->folder->session, merge->discards[i].first_ticks);
        int64_t last_ns = nm_clock_to_ns(drain->folder->session, merge->discards[i].last_ticks);

        if (loss->time_ns == NM_NO_TIME || first_ns < loss->time_ns)
            loss->time_ns = first_ns;
        if (last_ns > loss->until_ns)
            loss->until_ns = last_ns;
    }
}

/* A block in the place of the one that is missing: how many events of all threads are, it and all that came since. It is
 * in the file before the tails move on, so that no kill of the recorder makes the count wrong. */
static void write_note(nm_drain *drain, uint32_t flags)
{
    nm_event loss = {.kind = NM_EVENT_LOSS, .detail = NM_LOSS_UNWRITTEN};
    uint64_t count = count_missing(drain);
    nm_block_header held;
    nm_bytes note;

    if (!drain->output.can_cut || (flags == 0 && (count == 0 || count == drain->noted_events)) ||
        nm_block_read_header((nm_bytes){drain->output.held.data, drain->output.held.len}, &held, NULL) != NM_OK)
        return;
    nm_trace_writer_resume(drain->note_writer, held.block_index, held.first_seq);
    span_of_missing(drain, &held, &loss);
    loss.number = (int64_t)count;
    nm_status status = count == 0 ? NM_OK : nm_trace_writer_event(drain->note_writer, &loss, NULL);
    if (status == NM_OK)
        status = nm_trace_writer_seal(drain->note_writer, flags, &note, NULL);
    drain->noted_events = status == NM_OK && nm_output_note(&drain->output, note) ? count : 0;
}

static void become_stuck(nm_drain *drain)
{
    drain->merge.is_discarding = true;
    drain->noted_events = 0;
    write_note(drain, 0);
}

/* The program must not notice a full disk, so its rings are emptied all the same; the block itself is kept for later. */
static nm_status append(nm_drain *drain, nm_bytes block, counts content, nm_error *err)
{
    nm_error failure = {0};
    nm_status status;

    nm_parts_trim(&drain->parts, block.len, step_count(drain));
    status = nm_output_append(&drain->output, block, &failure);
    if (status == NM_ERR_MEMORY)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory at a block that cannot be written");
    while (status != NM_OK && nm_parts_drop_oldest(&drain->parts)) /* that makes room */
        if (nm_output_retry(&drain->output, true))
            status = NM_OK;
    if (status == NM_OK) {
        nm_parts_written(&drain->parts, block.len);
        nm_syncer_written(drain->syncer);
    }
    if (status != NM_OK || drain->output.is_waiting) {
        drain->held.events += content.events;
        drain->held.dropped += content.dropped;
        drain->held.unreadable += content.unreadable;
    }
    if (status != NM_OK) {
        warn_of_output(drain, failure.text);
        become_stuck(drain);
    }
    return NM_OK;
}

/* A reader has taken all, or will never: the slots may be used again. */
static void end_wait(nm_drain *drain)
{
    if (!drain->output.is_stuck)
        drain->held = (counts){0};
    nm_ring_merge_written(&drain->merge);
    nm_processes_written(&drain->processes);
}

static void push_on(nm_drain *drain)
{
    nm_error failure = {0};

    if (nm_output_push(&drain->output, &failure) != NM_OK) {
        warn_of_output(drain, failure.text);
        become_stuck(drain);
    }
    if (!drain->output.is_waiting)
        end_wait(drain);
}

/* Until the reader has taken all, or nobody wants to wait for it any more. */
static void wait_for_reader(nm_drain *drain)
{
    int64_t since_ns = nm_clock_monotonic_ns(), patience_ns;
    size_t before;

    while (drain->output.is_waiting) {
        before = drain->output.held_at;
        nm_clock_pause(PAUSE_NS_MIN);
        push_on(drain);
        if (drain->output.held_at != before)
            since_ns = nm_clock_monotonic_ns();
        patience_ns = drain->patience_ns == NULL ? INT64_MAX : drain->patience_ns(drain->patience_context);
        if (drain->output.awaits_reader && patience_ns > drain->reader_ns_max)
            patience_ns = drain->reader_ns_max;
        if (drain->output.is_waiting && nm_clock_monotonic_ns() - since_ns >= patience_ns) {
            nm_output_give_up(&drain->output);
            say(drain, "nobody reads the trace", "what is left of it is lost, and counted");
            become_stuck(drain);
            end_wait(drain);
        }
    }
}

/* While all is paused nothing comes that is to be written: the rings go on, and the file does not grow. */
static void let_rings_go_on(nm_drain *drain)
{
    nm_ring_merge_forget_positions(&drain->merge);
    drain->has_content = false;
    nm_ring_merge_written(&drain->merge);
}

/* ---- Parts ---- */

static nm_status seal_keyframe(nm_drain *drain, nm_error *err)
{
    nm_bytes block;
    uint32_t flags = NM_BLOCK_KEYFRAME | (drain->keyframe.len == 0 ? NM_BLOCK_PART : 0);
    nm_status status = nm_trace_writer_seal(drain->writer, flags, &block, err);

    return status == NM_OK ? nm_buffer_append(&drain->keyframe, block.data, block.len, err) : status;
}

nm_status nm_drain_repeat(nm_drain *drain, const nm_event *event, nm_error *err)
{
    nm_status status = NM_OK;

    if (nm_trace_writer_event_count(drain->writer) >= BLOCK_EVENTS)
        status = seal_keyframe(drain, err);
    if (status == NM_OK)
        status = nm_trace_writer_event(drain->writer, event, err);
    if (status != NM_ERR_LIMIT)
        return status;
    status = seal_keyframe(drain, err);
    return status == NM_OK ? nm_trace_writer_event(drain->writer, event, err) : status;
}

void nm_drain_step(nm_drain *drain)
{
    if (nm_parts_is_step_due(&drain->parts, step_count(drain)))
        drain->merge.wants_border = true;
}

/* A part begins where a group does: up to there come empty blocks. */
static nm_status pad(nm_drain *drain, nm_error *err)
{
    nm_bytes block;
    nm_status status = NM_OK;

    while (status == NM_OK && !drain->output.is_stuck &&
           nm_trace_writer_block_index(drain->writer) % NM_BLOCK_WINDOW != 0) {
        status = nm_trace_writer_seal(drain->writer, 0, &block, err);
        if (status == NM_OK)
            status = append(drain, block, (counts){0}, err);
    }
    return status;
}

/* Nobody who looks on is to hear it all again. */
static nm_status build_keyframe(nm_drain *drain, nm_error *err)
{
    nm_status status;

    drain->keyframe.len = 0;
    nm_trace_writer_observe(drain->writer, NULL, NULL);
    status = nm_ring_merge_repeat(&drain->merge, err);
    if (status == NM_OK)
        status = drain->keep.keyframe(drain->keep.context, drain, err);
    if (status == NM_OK)
        status = seal_keyframe(drain, err);
    nm_trace_writer_observe(drain->writer, drain->observer, drain->observer_context);
    return status;
}

static void warn_of_part(nm_drain *drain, const char *text)
{
    char line[NM_ERROR_TEXT_BYTES + 80];

    snprintf(line, sizeof line, nm_spoken("the next part cannot be begun: %s; the last one goes on"), nm_spoken(text));
    if (drain->warn != NULL && !drain->has_part_warning)
        drain->warn(drain->warn_context, line);
    drain->has_part_warning = true;
}

static void switch_output(nm_drain *drain, int fd)
{
    nm_error failure = {0};

    nm_output_fini(&drain->output);
    nm_io_close(drain->part_fd);
    nm_output_init(&drain->output, fd);
    drain->part_fd = fd;
    if (drain->syncer != NULL && nm_syncer_file(drain->syncer, fd, drain->parts.name, &failure) != NM_OK)
        say(drain, failure.text, "what a machine that dies loses has no bound");
}

/*
 * The rings have moved on only over what stands in the parts so far, and those are removed only when what the new one
 * begins with is in its file: at every moment what is there can be read, and the rings hold the rest.
 */
static nm_status begin_part(nm_drain *drain, nm_error *err)
{
    nm_error failure = {0};
    int fd = -1;
    nm_status status = pad(drain, err);

    if (status != NM_OK || drain->output.is_stuck)
        return status;
    if (nm_parts_begin(&drain->parts, step_count(drain), &fd, &failure) != NM_OK) {
        warn_of_part(drain, failure.text);
        return NM_OK;
    }
    status = build_keyframe(drain, err);
    if (status != NM_OK) {
        nm_parts_give_up(&drain->parts);
        nm_io_close(fd);
        if (status == NM_END)
            warn_of_part(drain, "what is live is not known");
        return status == NM_END ? NM_OK : status;
    }
    switch_output(drain, fd);
    drain->parts.keyframe_bytes = drain->keyframe.len;
    return append(drain, (nm_bytes){drain->keyframe.data, drain->keyframe.len}, (counts){0}, err);
}

static nm_status seal(nm_drain *drain, uint32_t flags, nm_error *err)
{
    nm_bytes block;
    counts before = drain->sealed, now = count_all(drain);
    counts content = {now.events - before.events, now.dropped - before.dropped, now.unreadable - before.unreadable};
    nm_status status;

    if (flags == 0 && drain->merge.pause.is_used && !nm_trace_writer_has_content(drain->writer)) {
        let_rings_go_on(drain);
        return NM_OK;
    }
    status = nm_ring_merge_state_positions(&drain->merge, err);

    if (status == NM_OK)
        status = nm_trace_writer_seal(drain->writer, flags, &block, err);
    if (status == NM_OK)
        status = append(drain, block, content, err);
    if (status != NM_OK)
        return status;
    drain->sealed = now;
    drain->has_content = false;
    drain->merge.wants_border = false;
    if (drain->output.is_waiting)
        return NM_OK;
    nm_ring_merge_written(&drain->merge);
    nm_processes_written(&drain->processes);
    bool is_pressed = nm_ring_merge_pressure(&drain->merge) >= PRESSURE_SEAL;
    if ((flags & NM_BLOCK_FINAL) != 0 || drain->output.is_stuck ||
        !nm_parts_is_due(&drain->parts, step_count(drain), is_pressed))
        return NM_OK;
    return begin_part(drain, err);
}

/* While the output is stuck nothing is sealed: what the block under construction holds stays there, and what comes is
 * counted and let go. */
static nm_status let_go(nm_drain *drain, bool is_last_try, nm_error *err)
{
    uint64_t before_bytes = drain->output.good_bytes;

    if (nm_output_retry(&drain->output, is_last_try)) {
        drain->held = (counts){0};
        drain->sealed.unreadable = drain->merge.unreadable_count; /* those since then are among the discards */
        nm_parts_written(&drain->parts, drain->output.good_bytes - before_bytes);
        nm_syncer_written(drain->syncer);
        return nm_ring_merge_say_discards(&drain->merge, err);
    }
    write_note(drain, 0);
    nm_ring_merge_written(&drain->merge);
    return NM_OK;
}

/* ---- Pauses ---- */

/* As nm_trace_writer_event, for any number of events. */
static nm_status put_known(void *context, nm_event *event, nm_error *err)
{
    nm_drain *drain = context;
    nm_ring_merge *merge = &drain->merge;
    nm_status status = NM_OK;

    if (!merge->is_discarding && nm_trace_writer_event_count(drain->writer) >= BLOCK_EVENTS)
        status = seal(drain, 0, err);
    if (status != NM_OK)
        return status;
    if (merge->is_discarding)
        return nm_ring_merge_say_loss(merge, 0, merge->last_ticks, merge->last_ticks, 1, NM_LOSS_UNWRITTEN, err);
    event->time_ns = nm_clock_to_ns(drain->folder->session, merge->last_ticks);
    status = nm_trace_writer_event(drain->writer, event, err);
    merge->event_count += status == NM_OK;
    return status;
}

static nm_status catch_up(nm_drain *drain, uint64_t process, nm_error *err)
{
    nm_ring_merge *merge = &drain->merge;
    const nm_pauser *pauser = merge->pause.pauser;

    merge->pause.due = 0;
    merge->pause.caught_up = process;
    if (merge->last_ticks == 0)
        merge->last_ticks = nm_clock_ticks(drain->folder->session->clock_kind);
    nm_status status = pauser->catch_up(pauser->context, process, put_known, drain, err);
    merge->pause.is_known = status == NM_OK;
    return status == NM_END ? NM_OK : status;
}

/* Of a process that is paused, the trace learns what lives and what does not. One that has recorded nothing has nothing. */
static nm_status bring_up_to_date(void *context, uint64_t process, nm_error *err)
{
    nm_drain *drain = context;

    if (drain->merge.pause.pauser == NULL || drain->merge.is_discarding ||
        nm_pause_reasons(&drain->merge.pause, process) == 0)
        return NM_OK;
    return catch_up(drain, process, err);
}

static nm_status bring_all_up_to_date(nm_drain *drain, nm_error *err)
{
    nm_processes *processes = &drain->processes;
    nm_status status = NM_OK;

    for (size_t i = processes->first_open; i < processes->count && status == NM_OK; i++)
        if (!processes->items[i].is_ended)
            status = bring_up_to_date(drain, processes->items[i].number, err);
    drain->merge.pause.caught_up = 0;
    return status;
}

/* What has recorded nothing yet begins as the session is then. */
static bool has_recorded(const nm_tracked *tracked)
{
    /* relaxed: what it has recorded before is behind the watermark. */
    return !tracked->is_ended && tracked->shared != NULL &&
           atomic_load_explicit(&tracked->shared->is_device_user, memory_order_relaxed) != 0;
}

/* A pause of all processes begins or ends at this place in the order. */
static nm_status take_pause(nm_drain *drain, bool is_paused, nm_error *err)
{
    nm_pause *pause = &drain->merge.pause;
    nm_processes *processes = &drain->processes;
    uint32_t added = is_paused ? NM_PAUSED_BY_SESSION : 0;
    nm_status status = NM_OK;

    for (size_t i = processes->first_open; i < processes->count && status == NM_OK; i++) {
        uint64_t number = processes->items[i].number;
        uint32_t reasons = (nm_pause_reasons(pause, number) & ~(uint32_t)NM_PAUSED_ALL) | added;

        if (!has_recorded(&processes->items[i]))
            continue;
        if (reasons == 0)
            status = bring_up_to_date(drain, number, err);
        if (status == NM_OK)
            status = nm_ring_merge_set_pause(&drain->merge, number, reasons, err);
        pause->caught_up = 0;
    }
    pause->session_reasons = added;
    pause->is_used = true;
    return status;
}

nm_status nm_drain_pause(nm_drain *drain, bool is_paused, nm_error *err)
{
    nm_ring_session *session = drain->folder->session;
    nm_event event = {.kind = NM_EVENT_PAUSE, .detail = is_paused ? NM_PAUSE_BEGIN : NM_PAUSE_END};
    nm_status status;

    /* relaxed, both: a flag. The line is drawn behind the begin of full recording, and before its end. */
    if (!is_paused)
        atomic_store_explicit(&session->is_paused, 0, memory_order_relaxed);
    status = nm_drain_post(drain, &event, err);
    if (is_paused)
        atomic_store_explicit(&session->is_paused, NM_PAUSED_BY_SESSION, memory_order_relaxed);
    return status;
}

size_t nm_drain_paused_count(const nm_drain *drain)
{
    const nm_processes *processes = &drain->processes;
    size_t count = 0;

    for (size_t i = processes->first_open; i < processes->count; i++)
        count +=
            !processes->items[i].is_ended && nm_pause_reasons(&drain->merge.pause, processes->items[i].number) != 0;
    return count;
}

bool nm_drain_is_recording_in_full(const nm_drain *drain)
{
    return nm_drain_paused_count(drain) < drain->processes.live_count;
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
    return nm_unify_text(&drain->merge.unify, text, id, err);
}

nm_status nm_drain_attribute(nm_drain *drain, uint64_t process_id, uint64_t source, const char *name, const char *value,
                             nm_error *err)
{
    return nm_unify_attribute(&drain->merge.unify, process_id, source, (nm_bytes){(const uint8_t *)name, strlen(name)},
                              (nm_bytes){(const uint8_t *)value, strlen(value)}, err);
}

/* A sample that was taken just before the process ended, and comes after its end has been written: too late. */
static bool is_of_ended(const nm_drain *drain, const nm_event *event)
{
    bool is_sample = event->kind == NM_EVENT_MEMORY_SAMPLE && event->detail >= NM_MEMORY_HOST_RESIDENT;

    return (is_sample || event->kind == NM_EVENT_OBJECTS) &&
           nm_processes_has_ended(&drain->processes, (uint64_t)event->number);
}

/* After everything older than the watermark has been written. While the disk is full they are let go: nobody's event is
 * lost by that. */
static nm_status write_posts(nm_drain *drain, uint64_t watermark, nm_error *err)
{
    nm_status status = NM_OK;
    size_t done = 0;

    while (done < drain->post_count && drain->posts[done].ticks <= watermark && status == NM_OK) {
        posted *post = &drain->posts[done++];

        if (post->event.kind == NM_EVENT_PAUSE) {
            /* It begins or ends then, or behind the last event if that is younger. */
            if (post->ticks > drain->merge.last_ticks)
                drain->merge.last_ticks = post->ticks;
            status = take_pause(drain, post->event.detail == NM_PAUSE_BEGIN, err);
            continue;
        }
        if (drain->merge.is_discarding || is_of_ended(drain, &post->event))
            continue;
        if (post->event.kind == NM_EVENT_MARK)
            status = bring_all_up_to_date(drain, err);
        if (status != NM_OK)
            return status;
        post->event.time_ns = nm_clock_to_ns(drain->folder->session, post->ticks);
        status = nm_trace_writer_event(drain->writer, &post->event, err);
        drain->merge.event_count += status == NM_OK;
    }
    if (done > 0) {
        drain->post_count -= done;
        memmove(drain->posts, drain->posts + done, drain->post_count * sizeof *drain->posts);
    }
    return status;
}

static nm_status post_sample(void *context, const nm_event *event, nm_error *err)
{
    return nm_drain_post(context, event, err);
}

/* How many events the block may have when the rings are to be looked after again. Nothing is written while the output is stuck,
 * so no block is ever too full for what is only counted. */
static uint32_t slice_end(const nm_drain *drain)
{
    uint64_t slice = SLICE_EVENTS + (uint64_t)SLICE_RING_EVENTS * drain->merge.ring_count;
    uint32_t count = nm_trace_writer_event_count(drain->writer);

    if (drain->merge.is_discarding)
        return UINT32_MAX;
    return count + slice < drain->block_events ? (uint32_t)(count + slice) : drain->block_events;
}

static bool may_put_off(const nm_drain *drain)
{
    return !drain->is_finishing && !drain->is_asked;
}

/* Gives the writer what is older than the watermark, in as many blocks as it takes; or a part of it, and the pass is put off. */
static nm_status release(nm_drain *drain, uint64_t watermark, nm_error *err)
{
    nm_status status;
    uint64_t due;
    bool is_full;

    do {
        if (drain->output.is_waiting && drain->is_finishing)
            wait_for_reader(drain);
        if (drain->output.is_waiting)
            return NM_OK;
        uint32_t event_max = slice_end(drain);

        status = nm_ring_merge_release(&drain->merge, watermark, event_max, &is_full, err);
        due = drain->merge.pause.due;
        if (status == NM_OK && is_full && (drain->merge.wants_border || event_max >= drain->block_events))
            status = seal(drain, 0, err);
        if (status == NM_OK && due != 0)
            status = catch_up(drain, due, err);
        drain->is_put_off = nm_ring_merge_spill(&drain->merge, is_full) && is_full && may_put_off(drain);
    } while (status == NM_OK && (is_full || due != 0) && !drain->is_put_off);
    return status == NM_OK && !drain->is_put_off ? write_posts(drain, watermark, err) : status;
}

/* ---- Passes -------------------------------------------------------------------------------------------------------- */

/* What npumem_start records is one process, not what that starts. */
static nm_status look_at_descendants(nm_drain *drain, bool is_forced, nm_error *err)
{
    return drain->processes.ends_when_said ? NM_OK : nm_descendants_look(&drain->descendants, is_forced, err);
}

static nm_status write_descendants(nm_drain *drain, nm_error *err)
{
    bool is_held = drain->output.is_stuck || drain->output.is_waiting || drain->merge.is_discarding;

    return is_held ? NM_OK : nm_descendants_write(&drain->descendants, err);
}

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

/* More of the processors from when rings fill up until they are empty again. */
static void set_share(nm_drain *drain, unsigned pressure, bool is_behind)
{
    if (is_behind || pressure >= PRESSURE_SEAL)
        nm_share_set(&drain->share, true);
    else if (pressure < PRESSURE_HASTE)
        nm_share_set(&drain->share, false);
}

/* How long one thread is waited for: less when the others' rings fill up meanwhile. */
static void set_patience(nm_drain *drain)
{
    bool is_pressed = nm_ring_merge_pressure(&drain->merge) >= PRESSURE_SHORT;

    drain->merge.patience_ticks =
        nm_clock_span_ticks(drain->folder->session, is_pressed ? PATIENCE_SHORT_NS : PATIENCE_NS);
}

static nm_status look_and_release(nm_drain *drain, bool is_forced, bool *is_busy, nm_error *err)
{
    uint64_t watermark = 0;
    nm_status status;

    nm_ring_merge_count_rings(&drain->merge);
    status = check_processes(drain, is_forced, err);
    if (status == NM_OK)
        status = nm_ring_merge_find_rings(&drain->merge, NULL, NULL, err);
    nm_processes_mark_rings(&drain->processes);
    set_patience(drain);
    drain->is_put_off =
        nm_ring_merge_is_behind(&drain->merge) && nm_ring_merge_spill(&drain->merge, true) && may_put_off(drain);
    if (status != NM_OK || drain->is_put_off)
        return status;
    status = nm_ring_merge_look(&drain->merge, &watermark, is_busy, err);
    if (status == NM_OK)
        status = release(drain, watermark, err);
    if (!drain->is_put_off)
        drain->watermark = watermark;
    return status;
}

static nm_status seal_if_due(nm_drain *drain, nm_error *err)
{
    if (drain->output.is_stuck)
        return let_go(drain, false, err);
    if (drain->output.is_waiting)
        return NM_OK;
    if (!drain->merge.has_released && nm_trace_writer_event_count(drain->writer) == 0)
        return NM_OK;
    if (!drain->has_content)
        drain->content_since_ns = nm_clock_monotonic_ns();
    drain->has_content = true;
    if (nm_ring_merge_pressure(&drain->merge) >= PRESSURE_SEAL)
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

    if (drain->output.is_waiting) {
        push_on(drain);
        *pause_ns = PAUSE_NS_SHORT;
    }
    if (drain->output.is_waiting) /* and no sign of life: a thread whose ring is full waits for us once, not always */
        return NM_OK;
    /* relaxed: a sign of life, nothing is read by it */
    atomic_fetch_add_explicit(&drain->folder->session->heartbeat, 1, memory_order_relaxed);
    if (!nm_ring_merge_is_behind(
            &drain->merge)) /* what waits is older than what the lines of the clock reach back to */
        nm_clock_refine(&drain->clock, drain->folder->session);
    nm_status status = look_and_release(drain, false, &is_busy, err);
    if (status == NM_OK)
        status = nm_unify_take_names(&drain->merge.unify, err);
    if (drain->merge.is_flush_wanted)
        drain->flush_passes = FLUSH_PASSES;
    drain->merge.is_flush_wanted = false;
    drain->sampler.is_wanted |= drain->merge.has_failure;
    drain->merge.has_failure = false;
    if (status == NM_OK)
        status = nm_sampler_pass(&drain->sampler, &drain->processes, post_sample, drain, err);
    if (status == NM_OK)
        status = nm_objects_look(&drain->objects, &drain->merge, post_sample, drain, err);
    if (status == NM_OK && !drain->output.is_waiting && !drain->is_put_off) /* else rings were not read since a death */
        status = nm_processes_end(&drain->processes, err);
    if (status == NM_OK)
        status = look_at_descendants(drain, false, err);
    if (status == NM_OK)
        status = write_descendants(drain, err);
    if (status == NM_OK)
        status = seal_if_due(drain, err);

    drain->pause_ns = is_busy || nm_ring_merge_is_pending(&drain->merge) ? PAUSE_NS_MIN : drain->pause_ns * 2;
    if (drain->pause_ns > PAUSE_NS_MAX)
        drain->pause_ns = PAUSE_NS_MAX;
    unsigned pressure = nm_ring_merge_pressure(&drain->merge);
    bool is_behind = nm_ring_merge_is_behind(&drain->merge);
    if (pressure >= PRESSURE_HASTE)
        drain->pause_ns = PAUSE_NS_PRESSED;
    *pause_ns = drain->pause_ns;
    set_share(drain, pressure, is_behind);
    if (is_behind) /* who sleeps while a machine is busy is woken in time */
        *pause_ns = drain->is_put_off ? PAUSE_NS_PRESSED : 0;
    return status;
}

nm_status nm_drain_catch_up(nm_drain *drain, int64_t wait_ns_max, nm_error *err)
{
    uint64_t asked_at = nm_clock_ticks(drain->folder->session->clock_kind);
    int64_t until_ns = nm_clock_monotonic_ns() + wait_ns_max, pause_ns;

    drain->is_asked = true;
    nm_status status = nm_drain_pass(drain, &pause_ns, err);

    while (status == NM_OK && drain->watermark < asked_at && nm_clock_monotonic_ns() < until_ns) {
        nm_clock_pause(PAUSE_NS_SHORT);
        status = nm_drain_pass(drain, &pause_ns, err);
    }
    drain->is_asked = false;
    return status;
}

nm_status nm_drain_flush(nm_drain *drain, int64_t wait_ns_max, nm_error *err)
{
    nm_status status = nm_drain_catch_up(drain, wait_ns_max, err);
    bool is_held = drain->output.is_stuck || drain->output.is_waiting;

    return status == NM_OK && drain->has_content && !is_held ? seal(drain, 0, err) : status;
}

void nm_drain_reaped(nm_drain *drain, int64_t pid, int wait_status, uint64_t peak_bytes)
{
    nm_processes_reaped(&drain->processes, pid, wait_status, peak_bytes);
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

bool nm_drain_is_waiting(const nm_drain *drain)
{
    return drain->output.is_waiting;
}

/* ---- Ending -------------------------------------------------------------------------------------------------------- */

void nm_drain_close(nm_drain *drain)
{
    /* relaxed, both: flags. The first is looked at now and then, the second at every event. */
    atomic_store_explicit(&drain->folder->session->is_closed, 1, memory_order_relaxed);
    atomic_store_explicit(&drain->folder->session->is_paused, NM_PAUSED_FOR_GOOD, memory_order_relaxed);
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
            nm_clock_pause(CLOSING_PAUSE_NS);
    }
    while (status == NM_OK && nm_ring_merge_is_behind(&drain->merge))
        status = look_and_release(drain, true, &is_busy, err);
    return status == NM_OK ? release(drain, UINT64_MAX, err) : status;
}

static nm_status wait_for_names(nm_drain *drain, nm_error *err)
{
    int64_t until_ns = nm_clock_monotonic_ns() + drain->naming_ns_max;
    nm_status status = nm_unify_take_names(&drain->merge.unify, err);

    if (drain->namer == NULL)
        return status;
    while (status == NM_OK && drain->namer->waiting(drain->namer->context) > 0 && nm_clock_monotonic_ns() < until_ns) {
        nm_clock_pause(PAUSE_NS_MIN);
        status = nm_unify_take_names(&drain->merge.unify, err);
    }
    if (status == NM_OK)
        status = nm_unify_take_names(&drain->merge.unify, err);
    drain->names_missing = drain->namer->waiting(drain->namer->context);
    return status;
}

/* The file is as it will be: what was kept behind its end goes back, and what it holds to the disk. */
static void end_output(nm_drain *drain)
{
    if (drain->output.is_stuck) {
        write_note(drain, NM_BLOCK_FINAL);
        nm_output_keep_note(&drain->output);
    }
    int failure = nm_syncer_finish(drain->syncer);
    drain->syncer = NULL;
    if (failure != 0)
        say(drain, strerror(failure), "what was written may not be on the disk");
}

nm_status nm_drain_finish(nm_drain *drain, nm_error *err)
{
    nm_drain_close(drain);
    nm_share_set(&drain->share, false); /* nobody fills rings any more */
    drain->is_finishing = true;
    nm_status status = look_at_descendants(drain, true, err);
    if (status == NM_OK)
        status = take_the_rest(drain, err);
    if (status == NM_OK)
        status = wait_for_names(drain, err);
    if (status == NM_OK && drain->output.is_stuck)
        status = let_go(drain, true, err);
    if (status == NM_OK)
        status = write_descendants(drain, err);
    if (status == NM_OK)
        status = nm_processes_leave(&drain->processes, err);
    if (status == NM_OK && !drain->output.is_stuck)
        status = seal(drain, NM_BLOCK_FINAL, err);
    wait_for_reader(drain);
    end_output(drain);
    return status;
}

void nm_drain_tell(const nm_drain *drain, nm_drain_report *report)
{
    counts held = drain->output.is_stuck ? drain->held : (counts){0};
    /* An end of a process that nobody will read; nothing else gets into a block behind one that is stuck. */
    uint64_t unsealed_events = drain->output.is_stuck ? nm_trace_writer_event_count(drain->writer) : 0;

    *report = (nm_drain_report){
        .event_count = drain->merge.event_count - held.events - unsealed_events,
        .dropped_count = drain->merge.dropped_count - held.dropped,
        .unwritten_count = drain->output.is_stuck ? count_missing(drain) : drain->merge.discarded_events,
        .late_count = drain->merge.late_count,
        .unreadable_count = drain->merge.unreadable_count,
        .process_count = drain->processes.count,
        .left_count = drain->processes.left_count,
        .unjoined_count = drain->processes.missing_count + drain->processes.refused_count,
        .unseen_count = drain->descendants.found_count,
        .is_folder_gone = drain->processes.is_folder_gone,
        .file_bytes = drain->parts.count > 0 ? nm_parts_bytes(&drain->parts) : drain->output.good_bytes,
        .part_count = drain->parts.count,
        .names_missing = drain->names_missing,
    };
}

const char *nm_drain_unseen(const nm_drain *drain, uint64_t index)
{
    return drain->descendants.found[index];
}
