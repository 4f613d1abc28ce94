/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a recorded trace, whole or damaged, from a file or a pipe through a window that holds one block at a time. What
 * cannot be read is skipped and counted: bytes by where the next whole block begins, events by its first number in
 * order. Every number in a record that leaves here names a definition that left before it: what a lost block defined is
 * set to 0, and an event that thereby lost its stack is flagged.
 */
#include "source/source.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/io.h"
#include "base/map.h"
#include "trace/block.h"
#include "trace/codec.h"
#include "trace/ring.h"

#define DEPTH_BEFORE_1_4 64 /* of stacks: where it is not said, the default of then */
#define READ_BYTES       (256u << 10)
#define PREFIX_BYTES     16 /* magic, size and signature: a search needs them in one piece */
#define RECENT_IDS       256

typedef struct trace_source {
    nm_source base;
    int fd;        /* borrowed */
    int *next_fds; /* owned array of borrowed ones: the parts behind it */
    size_t next_fd_count, next_fd_at;

    nm_buffer window;       /* the part of the input being looked at */
    size_t at;              /* in it */
    uint64_t window_offset; /* of its first byte in the input */
    bool is_file_read;      /* all of the file is in the window, or behind it; of one that grows: all there is now */
    bool is_growing;        /* what is not there yet may come: nothing is skipped or counted for want of it */
    bool is_tail;           /* the window holds the tail, not the file */
    bool is_over;           /* NM_END was given */
    bool has_events;        /* one of the program's has been delivered */
    bool has_keyframe;      /* the whole one that the first part began with */
    uint64_t file_bytes;    /* read so far, for the progress */

    nm_block_reader *reader;
    bool has_block;
    bool has_trace; /* the session is known */
    nm_session session;
    uint64_t next_index, next_seq;   /* expected of the next block */
    uint64_t known_index, known_seq; /* behind the last block of which at least the header could be read */
    uint64_t recognised_end;         /* input offset behind the last block that was understood */
    uint64_t damaged_end;            /* behind the last block with a good header and bad data */
    uint64_t vain_bytes;             /* read for headers and blocks that were none */
    bool has_header;                 /* one that could be read */
    uint64_t pending_count;          /* events that rings held when the last block that is there was made */

    nm_map known[NM_DEFINE_KIND_MAX + 1]; /* by kind: number -> checksum of what was delivered */
    uint64_t recently_known[NM_DEFINE_KIND_MAX + 1]
                           [RECENT_IDS]; /* of each kind: numbers found to be known, by their end */

    nm_buffer tail;
    bool has_tail;
    nm_source_summary_data summary;
} trace_source;

static void add(uint64_t *sum, uint64_t more)
{
    *sum = more > UINT64_MAX - *sum ? UINT64_MAX : *sum + more;
}

/* ---- The window ---- */

static size_t left(const trace_source *source)
{
    return source->window.len - source->at;
}

static nm_bytes view(const trace_source *source)
{
    return (nm_bytes){source->window.data + source->at, left(source)};
}

/* The next part, if there is one. */
static bool take_next_part(trace_source *source)
{
    if (source->next_fd_at == source->next_fd_count)
        return false;
    source->fd = source->next_fds[source->next_fd_at++];
    return true;
}

/* Reads on until `need` bytes are in the window from `at`, or the input ends. */
static nm_status fill(trace_source *source, uint64_t need, nm_error *err)
{
    size_t rest = left(source);

    if (rest >= need || source->is_file_read)
        return NM_OK;
    if (source->at > 0)
        memmove(source->window.data, source->window.data + source->at, rest);
    source->window_offset += source->at;
    source->window.len = rest;
    source->at = 0;

    while (source->window.len < need && !source->is_file_read) {
        size_t got = 0;
        nm_status status = nm_buffer_reserve(&source->window, READ_BYTES, err);

        if (status == NM_OK)
            status = nm_io_read(source->fd, source->window.data + source->window.len, READ_BYTES, &got, err);
        if (status != NM_OK)
            return status;
        source->window.len += got;
        source->file_bytes += got;
        source->is_file_read = got < READ_BYTES && !take_next_part(source);
    }
    return NM_OK;
}

/* ---- Blocks ---- */

/* Passes over a hole of a sparse file that the search has come to: it holds nothing to be found. */
static void skip_hole(trace_source *source)
{
    uint64_t bytes = source->is_file_read ? 0 : nm_io_skip_hole(source->fd);

    if (bytes < READ_BYTES) {
        if (bytes > 0)
            lseek(source->fd, -(off_t)bytes, SEEK_CUR);
        return;
    }
    source->window_offset += source->window.len + bytes;
    source->window.len = source->at = 0;
    source->file_bytes += bytes;
}

/* A file that is not at all what it claims is refused soon: see block.h. */
static nm_status check_search(const trace_source *source, nm_error *err)
{
    uint64_t offset = source->window_offset + source->at;

    if (!source->has_header && offset > NM_TRACE_SEARCH_BYTES)
        return nm_fail(err, NM_ERR_FORMAT, 0, "begins like a trace, but holds no block of one in its first %llu MiB",
                       (unsigned long long)(NM_TRACE_SEARCH_BYTES >> 20));
    if (source->vain_bytes / NM_TRACE_VAIN_A_BYTE > offset &&
        source->vain_bytes > NM_TRACE_VAIN_FREE + NM_TRACE_VAIN_A_BYTE * offset)
        return nm_fail(err, NM_ERR_LIMIT, offset,
                       "blocks that lie within each other: neither a recording nor damage to one");
    return NM_OK;
}

/* Moves on to the next place that looks like a block, at least `step` bytes further. NM_END: a file that grows has none yet. */
static nm_status search_on(trace_source *source, size_t step, nm_error *err)
{
    for (;;) {
        size_t found = nm_block_search(view(source), step);

        if (found < left(source)) {
            source->at += found;
            return NM_OK;
        }
        if (source->is_file_read && !source->is_growing) {
            source->at = source->window.len;
            return NM_OK;
        }
        size_t kept = left(source) < PREFIX_BYTES ? left(source) : PREFIX_BYTES - 1;
        if (kept > left(source) - step)
            kept = left(source) - step;
        source->at = source->window.len - kept;
        if (source->is_file_read)
            return NM_END;
        step = 0;
        skip_hole(source);
        nm_status status = check_search(source, err);
        if (status == NM_OK)
            status = fill(source, left(source) + READ_BYTES, err);
        if (status != NM_OK)
            return status;
    }
}

/* The header at the window's place, with as much of the input as it needs. NM_ERR_FORMAT also when it is cut; in a file that
 * grows that is NM_END. */
static nm_status read_header(trace_source *source, nm_block_header *header, nm_error *err)
{
    uint64_t need = PREFIX_BYTES;
    nm_status status;

    do {
        status = fill(source, need, err);
        if (status == NM_OK)
            status = nm_block_read_header(view(source), header, err);
        need = left(source) + READ_BYTES;
    } while (status == NM_END && !source->is_file_read);
    if (status == NM_END && source->is_growing)
        return NM_END;
    if (status == NM_OK)
        source->has_header = true;
    else
        add(&source->vain_bytes, header->read_bytes);
    if (status == NM_END)
        return nm_fail(err, NM_ERR_FORMAT, source->window_offset + source->at, "the block header is cut");
    if (status == NM_ERR_VERSION)
        err->offset += source->window_offset + source->at;
    header->offset = source->window_offset + source->at;
    return status;
}

/* The block ends here in the input: what lay before it and behind the last one was damaged. */
static void recognise(trace_source *source, const nm_block_header *header)
{
    if (!source->is_tail) {
        add(&source->summary.bytes_damaged, header->offset - source->recognised_end);
        source->recognised_end = header->offset + header->block_bytes;
    }
    source->at += (size_t)header->block_bytes;
}

/* The block's header is good: it tells how many events there are to lose. */
static void note_header(trace_source *source, const nm_block_header *header)
{
    uint64_t end_seq = header->first_seq + header->event_count;

    if ((header->flags & NM_BLOCK_KEYFRAME) != 0) /* of what was before; nothing is lost with it */
        return;

    if (header->block_index >= source->known_index)
        source->known_index = header->block_index + 1;
    if (end_seq > source->known_seq)
        source->known_seq = end_seq;
}

static void count_gap(trace_source *source, uint64_t index, uint64_t seq)
{
    if (index > source->next_index)
        add(&source->summary.blocks_damaged, index - source->next_index);
    if (seq > source->next_seq)
        add(&source->summary.events_damaged, seq - source->next_seq);
}

/* The first part that is there: what was before it stands in its keyframe. */
static bool is_late_begin(const trace_source *source, const nm_block_header *header)
{
    return !source->has_trace && source->next_index == 0 && header->block_index > 0 &&
           (header->flags & NM_BLOCK_PART) != 0;
}

static void note_pending(trace_source *source)
{
    nm_block_pending pending;

    source->pending_count = 0;
    while (nm_block_reader_next_pending(source->reader, &pending) == NM_OK) {
        add(&source->pending_count, pending.event_count);
        add(&source->pending_count, pending.dropped_count);
    }
}

static uint64_t native_depth_of(const nm_session *session)
{
    bool is_native = session->stacks == NM_STACKS_NATIVE || session->stacks == NM_STACKS_BOTH;

    if (!is_native || session->stack_depth == 1)
        return 0;
    if (session->stack_depth == 0)
        return DEPTH_BEFORE_1_4;
    return session->stack_depth < NM_RING_STACK_DEPTH_MAX ? session->stack_depth : NM_RING_STACK_DEPTH_MAX;
}

static void name_recording(trace_source *source, const nm_block_header *header)
{
    for (size_t i = 0; i < sizeof header->trace_id; i++)
        snprintf(source->summary.recording_id + 2 * i, 3, "%02x", header->trace_id[i]);
}

static void accept_block(trace_source *source, const nm_block_header *header)
{
    note_pending(source);
    if (is_late_begin(source, header))
        source->summary.is_late_begin = true;
    else
        count_gap(source, header->block_index, header->first_seq);
    source->next_index = header->block_index + 1;
    source->next_seq = header->first_seq + header->event_count;
    if ((header->flags & NM_BLOCK_FINAL) != 0) {
        source->summary.is_finished = true;
        source->summary.is_recovered = (header->flags & NM_BLOCK_RECOVERED) != 0;
    }
    if (!source->has_trace) {
        source->has_trace = true;
        source->session = *nm_block_reader_session(source->reader);
        source->summary.start_realtime_ns = source->session.start_realtime_ns;
        source->summary.native_depth = native_depth_of(&source->session);
    }
    source->has_block = true;
    recognise(source, header);
}

/* A whole block, decoded: is it the next one, or one to leave out? */
static void take_whole_block(trace_source *source, const nm_block_header *header, bool is_foreign)
{
    if (is_foreign) {
        source->summary.blocks_foreign++;
        add(&source->summary.bytes_damaged, source->is_tail ? 0 : header->block_bytes);
        recognise(source, header);
    } else if (header->block_index < source->next_index || header->first_seq < source->next_seq) {
        source->summary.blocks_repeated++;
        recognise(source, header);
    } else {
        note_header(source, header);
        accept_block(source, header);
    }
}

/* Takes the block whose header is at the window's place, or searches on behind that header: what its length says is not
 * worth anything when its data is torn, and whole blocks may follow the break. NM_END: in a file that grows it is not all
 * there. */
static nm_status take_block(trace_source *source, const nm_block_header *header, nm_error *err)
{
    size_t header_bytes = (size_t)(header->block_bytes - header->frame_bytes);
    bool is_foreign =
        source->has_trace && memcmp(header->trace_id, source->session.trace_id, sizeof header->trace_id) != 0;
    nm_status status = fill(source, header->block_bytes, err);

    if (status != NM_OK)
        return status;
    if (!source->has_trace) /* it is known of a trace whose only block is cut, too */
        name_recording(source, header);
    if (left(source) < header->block_bytes && source->is_growing)
        return NM_END;
    if (left(source) >= header->block_bytes) {
        status = nm_block_reader_open(source->reader, view(source), header, err);
        if (status == NM_OK)
            take_whole_block(source, header, is_foreign);
        if (status != NM_ERR_FORMAT)
            return status;
        add(&source->vain_bytes, header->block_bytes);
        status = check_search(source, err);
        if (status != NM_OK)
            return status;
        if (!source->is_tail)
            source->damaged_end = header->offset + header->block_bytes;
    }
    if (!is_foreign)
        note_header(source, header);
    return search_on(source, header_bytes, err);
}

/* The file has ended: what is left of it belongs to no whole block. */
static void end_file(trace_source *source)
{
    uint64_t end = source->window_offset + source->window.len;

    if (source->damaged_end > source->recognised_end) {
        add(&source->summary.bytes_damaged, source->damaged_end - source->recognised_end);
        source->recognised_end = source->damaged_end;
    }
    source->summary.bytes_cut = end - source->recognised_end;
    source->is_tail = true;
    source->window.len = source->at = 0;
}

/* The next whole block of the file, then of the tail. */
static nm_status next_block(trace_source *source, nm_error *err)
{
    nm_block_header header;
    nm_status status = fill(source, PREFIX_BYTES, err);

    while (status == NM_OK && !source->has_block) {
        if (left(source) == 0 && source->is_tail)
            return NM_END;
        if (left(source) == 0 && source->is_file_read && source->is_growing)
            return NM_END;
        if (left(source) == 0 && source->is_file_read) {
            end_file(source);
            status = nm_buffer_append(&source->window, source->tail.data, source->tail.len, err);
            continue;
        }
        status = read_header(source, &header, err);
        if (status == NM_OK)
            status = take_block(source, &header, err);
        else if (status == NM_ERR_FORMAT && (status = check_search(source, err)) == NM_OK)
            status = search_on(source, 1, err);
        if (status == NM_OK && !source->has_block)
            status = fill(source, PREFIX_BYTES, err);
    }
    return status;
}

/* ---- Records ---- */

static bool look_up(trace_source *source, nm_definition_kind kind, uint64_t id)
{
    if (nm_map_get(&source->known[kind], (nm_key){0, id}) == NULL)
        return false;
    source->recently_known[kind][id % RECENT_IDS] = id;
    return true;
}

static inline bool is_known(trace_source *source, nm_definition_kind kind, uint64_t id)
{
    return id == 0 || id == source->recently_known[kind][id % RECENT_IDS] || look_up(source, kind, id);
}

/* Sets to 0 what the definition names and a lost block defined. True when all is there. */
static bool close_definition(trace_source *source, nm_definition *definition)
{
    nm_definition_kind kind;
    bool is_whole = true;
    uint64_t *id;

    for (size_t i = 0; (id = nm_definition_reference(definition, i, &kind)) != NULL; i++) {
        if (is_known(source, kind, *id))
            continue;
        *id = 0;
        is_whole = false;
    }
    return is_whole;
}

static uint64_t checksum_of(const nm_definition *definition)
{
    if (definition->kind == NM_DEFINE_STRING)
        return nm_checksum(definition->string.data, definition->string.len);
    return nm_checksum(definition, sizeof *definition);
}

/*
 * Should the definition be delivered? Blocks repeat definitions for readers that begin there: what is known unchanged is
 * left out. A stack never changes (so that stacks cannot be made to run in a circle), and without its frames it is none.
 */
static nm_status take_definition(trace_source *source, nm_definition *definition, bool *is_wanted, nm_error *err)
{
    nm_map *known = &source->known[definition->kind];
    nm_key key = {0, definition->id};
    const uint64_t *before = nm_map_get(known, key);
    bool is_whole = close_definition(source, definition);
    bool is_stack = definition->kind == NM_DEFINE_STACK;

    *is_wanted = false;
    if (definition->kind == NM_DEFINE_ALIAS || (!is_whole && (is_stack || before != NULL)))
        return NM_OK;
    if (before != NULL && is_stack)
        return NM_OK;

    uint64_t checksum = definition->kind == NM_DEFINE_MODULE ? 0 : checksum_of(definition);
    if (before != NULL && *before == checksum && definition->kind != NM_DEFINE_MODULE)
        return NM_OK;
    *is_wanted = true;
    return nm_map_put(known, key, checksum, err);
}

/* Besides the numbers of lost events: what is lost without a number. */
static void take_unknown(trace_source *source, const nm_event *event)
{
    if (event->kind == NM_EVENT_LOSS && (event->flags & NM_FLAG_AT_LEAST) != 0)
        source->summary.is_loss_exact = false;
    if (event->kind != NM_EVENT_NOTE || event->detail != NM_NOTE_UNSEEN_PROCESS)
        return;
    source->summary.has_unseen = true;
    add(&source->summary.processes_unjoined, event->number > 0 ? (uint64_t)event->number : 0);
}

/* What the first part says of what was before it; of later ones that has been read. */
static void take_repeat(trace_source *source, const nm_event *event)
{
    if (!source->summary.is_late_begin || source->has_events)
        return;
    take_unknown(source, event);
    if (event->kind != NM_EVENT_KEYFRAME)
        return;
    if (event->detail == NM_KEYFRAME_END)
        source->has_keyframe = true;
    if (event->detail != NM_KEYFRAME_BEGIN || source->summary.detail_begin_ns != NM_NO_TIME)
        return;
    source->summary.detail_begin_ns = event->time_ns;
    source->summary.events_unkept = event->count;
    add(&source->summary.events_dropped, event->ended_count);
    add(&source->summary.events_unrecovered, event->miss_count);
}

/* The same of a number in an event; false: it is set to 0. */
static inline bool close_number(trace_source *source, nm_definition_kind kind, uint64_t *id)
{
    if (is_known(source, kind, *id))
        return true;
    *id = 0;
    return false;
}

/* Straight code for each of nm_event_references: every event comes here. */
static void close_event(trace_source *source, nm_event *event)
{
    nm_definition_kind number_kind = event->number == 0 ? 0 : nm_event_number_kind(event);

    static_assert(NM_EVENT_REFERENCES == 7, "one line each");
    close_number(source, NM_DEFINE_THREAD, &event->thread_id);
    close_number(source, NM_DEFINE_HEAP, &event->heap_id);
    close_number(source, NM_DEFINE_STRING, &event->name_id);
    close_number(source, NM_DEFINE_DEVICE, &event->device_id);
    close_number(source, NM_DEFINE_HEAP, &event->pool_id);
    close_number(source, NM_DEFINE_PROCESS, &event->process_id);
    if (!close_number(source, NM_DEFINE_STACK, &event->stack_id)) {
        event->flags |= NM_FLAG_NO_STACK;
        source->summary.events_without_stack++;
    }
    if (number_kind != 0 && !is_known(source, number_kind, (uint64_t)event->number))
        event->number = 0;
}

static void take_event(trace_source *source, nm_event *event)
{
    close_event(source, event);
    if (nm_event_is_repeat(event)) {
        take_repeat(source, event);
        return;
    }
    source->has_events = true;
    take_unknown(source, event);
    if (event->kind == NM_EVENT_LOSS)
        add(event->detail == NM_LOSS_UNREADABLE ? &source->summary.events_unrecovered : &source->summary.events_dropped,
            event->number > 0 ? (uint64_t)event->number : 0);
    else if ((event->flags & NM_FLAG_BASELINE) == 0 && event->kind != NM_EVENT_STATE_SEGMENT &&
             event->kind != NM_EVENT_STATE_BLOCK)
        source->summary.events_ingested++;
    source->summary.events_late += (event->flags & NM_FLAG_LATE) != 0;
}

static void finish(trace_source *source)
{
    if (source->is_over)
        return;
    source->is_over = true;
    /* What was in rings then is in none of the blocks behind it, for there are none; and nobody has found it. */
    if (!source->has_tail && !source->summary.is_finished && source->pending_count > 0 &&
        source->known_seq <= source->next_seq) {
        add(&source->summary.events_unrecovered, source->pending_count);
        source->summary.is_loss_exact = false;
    }
    count_gap(source, source->known_index, source->known_seq);
    if (source->has_tail)
        source->summary.bytes_cut = 0;
}

static nm_status trace_next(nm_source *base, nm_record *out, nm_error *err)
{
    trace_source *source = (trace_source *)base;
    nm_status status = NM_OK;
    bool is_wanted;

    if (source->is_growing)
        source->is_file_read = false;
    while (status == NM_OK) {
        if (!source->has_block) {
            status = next_block(source, err);
            continue;
        }
        status = nm_block_reader_next(source->reader, out, err);
        if (status == NM_END) {
            source->has_block = false;
            status = NM_OK;
            continue;
        }
        if (status != NM_OK)
            break;
        if (out->kind == NM_RECORD_EVENT) {
            take_event(source, &out->event);
            return NM_OK;
        }
        status = take_definition(source, &out->definition, &is_wanted, err);
        if (status == NM_OK && is_wanted)
            return NM_OK;
    }
    if (status == NM_END && !source->is_growing)
        finish(source);
    return status;
}

/* ---- The source ---- */

/* One damaged byte at the start must not hide a trace: the magic alone, the signature alone, or a later block will do. */
static bool trace_matches(nm_bytes head)
{
    if (head.len >= 4 && nm_get_u32(head.data) == NM_BLOCK_MAGIC)
        return true;
    if (head.len >= PREFIX_BYTES && memcmp(head.data + NM_HEADER_FRAME_BYTES, NM_BLOCK_SIGNATURE, 8) == 0)
        return true;
    return nm_block_search(head, 0) < head.len;
}

static void trace_close(nm_source *base)
{
    trace_source *source = (trace_source *)base;

    nm_buffer_free(&source->window);
    nm_block_reader_free(source->reader);
    for (int kind = 0; kind <= NM_DEFINE_KIND_MAX; kind++)
        nm_map_free(&source->known[kind]);
    nm_buffer_free(&source->tail);
    free(source->next_fds);
    free(source);
}

static nm_status make_source(const int *fds, size_t fd_count, trace_source **out, nm_error *err)
{
    trace_source *source = calloc(1, sizeof *source);
    int *next_fds = calloc(fd_count, sizeof *next_fds);

    *out = NULL;
    if (source == NULL || next_fds == NULL) {
        free(source);
        free(next_fds);
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory at a trace");
    }
    source->base.type = &nm_trace_source_type;
    source->fd = fds[0];
    memcpy(next_fds, fds + 1, (fd_count - 1) * sizeof *fds);
    source->next_fds = next_fds;
    source->next_fd_count = fd_count - 1;
    *out = source;
    return NM_OK;
}

static nm_status open_files(const int *fds, size_t fd_count, nm_bytes head, bool is_growing, nm_source **out,
                            nm_error *err)
{
    trace_source *source = NULL;
    nm_status status = make_source(fds, fd_count, &source, err);

    *out = NULL;
    if (status != NM_OK)
        return status;
    source->file_bytes = head.len;
    source->is_growing = is_growing;
    source->is_file_read = head.len < NM_SOURCE_HEAD_BYTES && !take_next_part(source);
    source->summary.detail_begin_ns = NM_NO_TIME;
    source->summary.is_loss_exact = true;
    source->summary.kind = "trace";
    source->summary.order_kind = NM_ORDER_CLOCK;
    source->summary.start_realtime_ns = NM_NO_TIME;

    status = nm_block_reader_new(&source->reader, err);
    if (status == NM_OK)
        status = nm_buffer_append(&source->window, head.data, head.len, err);
    if (status == NM_OK)
        status = next_block(source, err); /* so that a version that is too new is refused here */
    if (status != NM_OK && status != NM_END) {
        trace_close(&source->base);
        return status;
    }
    *out = &source->base;
    return NM_OK;
}

nm_status nm_trace_source_open_parts(const int *fds, size_t fd_count, nm_bytes head, nm_source **out, nm_error *err)
{
    return open_files(fds, fd_count, head, false, out, err);
}

nm_status nm_trace_source_open_growing(int fd, nm_bytes head, nm_source **out, nm_error *err)
{
    return open_files(&fd, 1, head, true, out, err);
}

nm_status nm_trace_source_grow(nm_source *base, int fd, nm_error *err)
{
    trace_source *source = (trace_source *)base;
    int *fds = source->is_growing ? realloc(source->next_fds, (source->next_fd_count + 1) * sizeof fd) : NULL;

    assert(source->is_growing);
    if (fds == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory at a trace");
    source->next_fds = fds;
    fds[source->next_fd_count++] = fd;
    return NM_OK;
}

void nm_trace_source_settle(nm_source *base)
{
    ((trace_source *)base)->is_growing = false;
}

static nm_status trace_open(int fd, nm_bytes head, nm_source **out, nm_error *err)
{
    return nm_trace_source_open_parts(&fd, 1, head, out, err);
}

static void trace_summary(const nm_source *base, nm_source_summary_data *out)
{
    const trace_source *source = (const trace_source *)base;
    const nm_source_summary_data *summary = &source->summary;
    uint64_t lost = summary->events_dropped;

    add(&lost, summary->events_damaged);
    add(&lost, summary->events_unrecovered);
    *out = *summary;
    out->carries = NM_CARRIES_ALL;
    out->events_seen = summary->events_ingested;
    add(&out->events_seen, lost);
    add(&out->events_seen, summary->events_unkept);
    out->is_complete = (!summary->is_late_begin || source->has_keyframe) && source->is_over && summary->is_finished &&
                       lost == 0 && summary->is_loss_exact && !summary->has_unseen && summary->bytes_cut == 0 &&
                       summary->bytes_damaged == 0;
}

static uint64_t trace_position(const nm_source *base)
{
    const trace_source *source = (const trace_source *)base;

    return source->is_tail ? source->file_bytes : source->window_offset + source->at;
}

const nm_source_type nm_trace_source_type = {
    .name = "trace",
    .matches = trace_matches,
    .open = trace_open,
    .next = trace_next,
    .summary = trace_summary,
    .position = trace_position,
    .close = trace_close,
};

const nm_session *nm_trace_source_session(const nm_source *base)
{
    const trace_source *source = (const trace_source *)base;

    return base->type == &nm_trace_source_type && source->has_trace ? &source->session : NULL;
}

nm_status nm_trace_source_add_tail(nm_source *base, nm_bytes tail, uint64_t events_unrecovered, nm_error *err)
{
    trace_source *source = (trace_source *)base;

    if (base->type != &nm_trace_source_type || source->is_over)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "only a trace that is still being read can be given a tail");
    nm_status status = nm_buffer_append(source->is_tail ? &source->window : &source->tail, tail.data, tail.len, err);
    if (status == NM_OK) {
        source->has_tail = true;
        add(&source->summary.events_unrecovered, events_unrecovered);
    }
    return status;
}
