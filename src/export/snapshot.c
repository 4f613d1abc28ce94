/* SPDX-License-Identifier: Apache-2.0
 *
 * A memory snapshot as PyTorch's and torch_npu's are. Its parts: the state at the end (segments and their blocks), what
 * happened on each device, and ranges. Driver memory is a segment, blocks of pools and workspaces are its blocks. Driver
 * memory that carries no blocks is a segment and the one block of it, since viewers draw blocks alone. Host memory has no
 * place in a snapshot.
 *
 * The devices of several processes are numbered one after the other, for a snapshot is of one process. Rows come from SQLite
 * in order and are written as they come; a stack is written where it is met first, and named from then on.
 */
#include "export/export.h"

#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "export/pickle_writer.h"
#include "export/snapshot_blocks.sql.h"
#include "export/snapshot_facts.sql.h"
#include "export/snapshot_order.h"
#include "export/snapshot_ranges.sql.h"
#include "report/stacks.h"

#define DEVICES_MAX       4096
#define SMALL_BYTES       (2 << 20) /* segments up to it are of the pool of small blocks */
#define ROUND_BYTES       512       /* what blocks are a multiple of, where their size is not known */
#define NPU_PADDING_BYTES 32        /* torch_npu asks for so much more */
#define SPLIT_BYTES       (1 << 20) /* large segments have no free piece up to this: it is left with the block before it */

typedef struct snapshot {
    const nm_export *export;
    nm_stacks *stacks;
    nm_snapshot_tables tables;
    nm_pickle_writer pickle;
    nm_map stack_names; /* stack_id -> its number in the pickle */
    nm_map frame_names; /* index of the frame -> the same */
    uint32_t frames[NM_STACKS_FRAMES_MAX];
    int64_t device_count;
    bool is_npu, is_gpu;
} snapshot;

/* ---- Stacks -------------------------------------------------------------------------------------------------------- */

static const char *text_of(const snapshot *s, uint32_t number, const char *otherwise)
{
    const uint8_t *text = nm_strings_get(nm_stacks_strings(s->stacks), number).data;

    return text == NULL ? otherwise : (const char *)text;
}

static nm_status put_frame(snapshot *s, uint32_t index, nm_error *err)
{
    const uint64_t *known = nm_map_get(&s->frame_names, (nm_key){0, index});
    size_t frame_count;
    const nm_stacks_frame *frame = &nm_stacks_frames(s->stacks, &frame_count)[index];
    nm_pickle_writer *w = &s->pickle;

    if (known != NULL) {
        nm_pickle_name(w, (uint32_t)*known);
        return NM_OK;
    }
    nm_pickle_dict(w);
    nm_pickle_word(w, "filename");
    nm_pickle_text(w, text_of(s, frame->file, text_of(s, frame->module, "??")));
    nm_pickle_word(w, "line");
    nm_pickle_int(w, frame->line);
    nm_pickle_word(w, "name");
    nm_pickle_text(w, text_of(s, frame->function, text_of(s, frame->label, "??")));
    nm_pickle_dict_end(w);
    return nm_map_put(&s->frame_names, (nm_key){0, index}, nm_pickle_keep(w), err);
}

/* "frames" and a stack; an empty list where it is NM_NULL. */
static nm_status put_frames(snapshot *s, int64_t stack_id, nm_error *err)
{
    nm_pickle_writer *w = &s->pickle;
    const uint64_t *known = nm_map_get(&s->stack_names, (nm_key){0, (uint64_t)stack_id});
    nm_pickle_list_state list;
    nm_status status = NM_OK;
    bool is_cut;

    nm_pickle_word(w, "frames");
    if (known != NULL) {
        nm_pickle_name(w, (uint32_t)*known);
        return NM_OK;
    }
    size_t count = stack_id == NM_NULL ? 0 : nm_stacks_walk(s->stacks, stack_id, true, s->frames, &is_cut);
    nm_pickle_list(w, &list);
    for (size_t i = 0; status == NM_OK && i < count; i++) {
        nm_pickle_item(w, &list);
        status = put_frame(s, s->frames[i], err);
    }
    nm_pickle_list_end(w, &list);
    return status == NM_OK ? nm_map_put(&s->stack_names, (nm_key){0, (uint64_t)stack_id}, nm_pickle_keep(w), err)
                           : status;
}

static void put_number(snapshot *s, const char *key, int64_t value)
{
    nm_pickle_word(&s->pickle, key);
    nm_pickle_int(&s->pickle, value);
}

static void put_address(snapshot *s, const char *key, uint64_t value)
{
    nm_pickle_word(&s->pickle, key);
    nm_pickle_address(&s->pickle, value);
}

static void put_word(snapshot *s, const char *key, const char *value)
{
    nm_pickle_word(&s->pickle, key);
    nm_pickle_word(&s->pickle, value);
}

/* A private pool of a framework: two numbers in one. */
static void put_pool(snapshot *s, const char *key, int64_t pool)
{
    nm_pickle_word(&s->pickle, key);
    nm_pickle_pair(&s->pickle, (int32_t)(pool >> 32), (int32_t)pool);
}

/* ---- The state at the end ------------------------------------------------------------------------------------------ */

/* A block, or a segment without its blocks. */
typedef struct item {
    int64_t device, requested_bytes, stream, pool, stack_id;
    uint64_t address, end;
    bool is_pending, is_mapped;
    bool is_rounded; /* of a block: its size is not known, and is what it must be at least */
} item;

typedef struct cursor {
    sqlite3_stmt *rows; /* owned */
    bool is_there;
    item at;
} cursor;

static nm_status step(const snapshot *s, cursor *c, nm_error *err)
{
    nm_snapshot_blocks_row row;

    c->is_there = nm_snapshot_blocks_next(c->rows, &row);
    if (!c->is_there)
        return nm_question_pause(c->rows, NM_OK, err);
    c->at = (item){
        .device = row.device,
        .address = (uint64_t)row.address,
        .requested_bytes = row.requested_bytes,
        .is_pending = row.is_pending,
        .stream = row.has.stream ? row.stream : nm_snapshot_stream_of(&s->tables, NM_NUMBER_OF(&row, carrier_id)),
        .pool = row.pool_id,
        .stack_id = NM_NUMBER_OF(&row, stack_id),
        .is_mapped = row.is_mapped,
        .is_rounded = row.is_rounded,
    };
    c->at.end =
        (uint64_t)row.size_bytes > UINT64_MAX - c->at.address ? UINT64_MAX : c->at.address + (uint64_t)row.size_bytes;
    return NM_OK;
}

static nm_status open_cursor(snapshot *s, bool is_block, cursor *c, nm_error *err)
{
    nm_status status =
        nm_snapshot_blocks_ask(s->export->db, is_block, s->is_npu ? NPU_PADDING_BYTES : 0, ROUND_BYTES, &c->rows, err);

    return status == NM_OK ? step(s, c, err) : status;
}

static bool is_before(const cursor *c, int64_t device, uint64_t address)
{
    return c->is_there && (c->at.device < device || (c->at.device == device && c->at.address < address));
}

static void put_gap(snapshot *s, nm_pickle_list_state *list, uint64_t from, uint64_t to)
{
    nm_pickle_list_state frames;

    if (from >= to)
        return;
    nm_pickle_item(&s->pickle, list);
    nm_pickle_dict(&s->pickle);
    put_address(s, "address", from);
    put_address(s, "size", to - from);
    put_number(s, "requested_size", 0);
    put_word(s, "state", "inactive");
    nm_pickle_word(&s->pickle, "frames");
    nm_pickle_list(&s->pickle, &frames);
    nm_pickle_list_end(&s->pickle, &frames);
    nm_pickle_dict_end(&s->pickle);
}

typedef struct segment_sums {
    uint64_t allocated_bytes, active_bytes, requested_bytes;
} segment_sums;

static nm_status put_block(snapshot *s, const item *block, segment_sums *sums, nm_error *err)
{
    uint64_t size = block->end - block->address;

    sums->active_bytes += size;
    sums->allocated_bytes += block->is_pending ? 0 : size;
    sums->requested_bytes += (uint64_t)block->requested_bytes;
    nm_pickle_dict(&s->pickle);
    put_address(s, "address", block->address);
    put_address(s, "size", size);
    put_number(s, "requested_size", block->requested_bytes);
    put_word(s, "state", block->is_pending ? "active_pending_free" : "active_allocated");
    nm_status status = put_frames(s, block->stack_id, err);
    nm_pickle_dict_end(&s->pickle);
    return status;
}

/*
 * Where the block that was taken last ends: the next one begins there at the latest. A piece of a large segment that is too
 * small to be split off is part of the block before it.
 */
static uint64_t end_of(const item *block, const item *segment, const cursor *next)
{
    bool is_large = !segment->is_mapped && segment->end - segment->address > SMALL_BYTES;
    bool has_next = is_before(next, segment->device, segment->end);
    uint64_t limit = has_next ? next->at.address : segment->end;
    uint64_t end = block->end < limit ? block->end : limit;

    return block->is_rounded && is_large && limit - end <= SPLIT_BYTES ? limit : end;
}

/* The blocks of a segment, and the gaps between them. */
static nm_status put_blocks(snapshot *s, cursor *blocks, const item *segment, segment_sums *sums, nm_error *err)
{
    nm_pickle_list_state list;
    uint64_t from = segment->address;
    nm_status status = NM_OK;

    nm_pickle_word(&s->pickle, "blocks");
    nm_pickle_list(&s->pickle, &list);
    while (status == NM_OK && is_before(blocks, segment->device, segment->end)) {
        item block = blocks->at;

        status = step(s, blocks, err);
        block.end = end_of(&block, segment, blocks);
        if (status != NM_OK || block.end <= block.address) /* two at one place: the later one counts */
            continue;
        put_gap(s, &list, from, block.address);
        nm_pickle_item(&s->pickle, &list);
        status = put_block(s, &block, sums, err);
        from = block.end;
    }
    put_gap(s, &list, from, segment->end);
    nm_pickle_list_end(&s->pickle, &list);
    return status;
}

static nm_status put_segment(snapshot *s, const item *segment, cursor *blocks, nm_error *err)
{
    segment_sums sums = {0};
    uint64_t total = segment->end - segment->address;
    bool has_block = is_before(blocks, segment->device, segment->end);

    nm_pickle_dict(&s->pickle);
    put_number(s, "device", segment->device);
    put_address(s, "address", segment->address);
    put_address(s, "total_size", total);
    put_number(s, "stream", segment->stream);
    put_word(s, "segment_type", total > SMALL_BYTES ? "large" : "small");
    put_pool(s, "segment_pool_id",
             has_block ? blocks->at.pool : segment->pool); /* driver memory is of none by itself */
    nm_pickle_word(&s->pickle, "is_expandable");
    nm_pickle_truth(&s->pickle, segment->is_mapped);
    nm_status status = put_frames(s, segment->stack_id, err);
    if (status == NM_OK)
        status = put_blocks(s, blocks, segment, &sums, err);
    put_address(s, "allocated_size", sums.allocated_bytes);
    put_address(s, "active_size", sums.active_bytes);
    put_address(s, "requested_size", sums.requested_bytes);
    nm_pickle_dict_end(&s->pickle);
    return status;
}

/* The next segment: of mapped memory all that is mapped in one piece. */
static nm_status take_segment(const snapshot *s, cursor *segments, item *out, nm_error *err)
{
    nm_status status;

    *out = segments->at;
    status = step(s, segments, err);
    while (status == NM_OK && out->is_mapped && segments->is_there && segments->at.is_mapped &&
           segments->at.device == out->device && segments->at.address == out->end &&
           segments->at.stream == out->stream) {
        out->end = segments->at.end;
        status = step(s, segments, err);
    }
    return status;
}

/* Of a block that lies in nothing that is known, a segment is made; of a device of which no driver memory is known, snapshot_blocks.sql
 * makes them. */
static nm_status put_segments(snapshot *s, nm_error *err)
{
    cursor segments = {0}, blocks = {0};
    nm_pickle_list_state list;
    nm_status status = open_cursor(s, false, &segments, err);

    if (status == NM_OK)
        status = open_cursor(s, true, &blocks, err);
    nm_pickle_word(&s->pickle, "segments");
    nm_pickle_list(&s->pickle, &list);
    while (status == NM_OK && (segments.is_there || blocks.is_there) && !ferror(s->export->out)) {
        item segment = blocks.at;

        if (segments.is_there && !is_before(&blocks, segments.at.device, segments.at.address))
            status = take_segment(s, &segments, &segment, err);
        nm_pickle_item(&s->pickle, &list);
        if (status == NM_OK)
            status = put_segment(s, &segment, &blocks, err);
    }
    nm_pickle_list_end(&s->pickle, &list);
    sqlite3_finalize(segments.rows);
    sqlite3_finalize(blocks.rows);
    return status;
}

/* ---- What happened ------------------------------------------------------------------------------------------------- */

static const char *const action_words[NM_SNAPSHOT_ACTIONS] = {
    "",    "free_requested", "free_completed", "segment_free", "segment_unmap", "segment_alloc", "segment_map", "alloc",
    "oom", "snapshot"};

static nm_status put_entry(snapshot *s, const nm_snapshot_entry *at, nm_error *err)
{
    nm_pickle_dict(&s->pickle);
    put_word(s, "action", action_words[at->action]);
    if (at->action != NM_SNAPSHOT_OOM)
        put_address(s, "addr", at->address);
    else if (at->address != (uint64_t)NM_NULL)
        put_address(s, "device_free", at->address);
    put_number(s, "size", at->size_bytes);
    put_number(s, "stream", at->stream);
    if (at->ns != NM_NULL)
        put_number(s, "time_us", at->ns / 1000);
    if (at->pool != 0)
        put_pool(s, "pool_id", at->pool);
    nm_status status = put_frames(s, at->stack_id, err);
    nm_pickle_dict_end(&s->pickle);
    return status;
}

/* Does the one go on where the other ends, by the same call? */
static bool goes_on(const nm_snapshot_entry *first, const nm_snapshot_entry *next)
{
    return first->action == NM_SNAPSHOT_SEGMENT_UNMAP && next->action == NM_SNAPSHOT_SEGMENT_UNMAP &&
           first->seq == next->seq && first->address + (uint64_t)first->size_bytes == next->address;
}

/* What is written of the traces so far. */
typedef struct traces {
    nm_pickle_list_state devices, entries;
    int64_t device;            /* whose trace is under way */
    nm_snapshot_entry waiting; /* NM_SNAPSHOT_ACTIONS: none */
} traces;

static nm_status put_waiting(snapshot *s, traces *all, nm_error *err)
{
    nm_snapshot_entry *at = &all->waiting;
    nm_status status = NM_OK;

    if (at->action == NM_SNAPSHOT_FREE_BOTH) {
        at->action = NM_SNAPSHOT_FREE_REQUESTED;
        nm_pickle_item(&s->pickle, &all->entries);
        status = put_entry(s, at, err);
        at->action = NM_SNAPSHOT_FREE_COMPLETED;
    }
    if (status == NM_OK && at->action != NM_SNAPSHOT_ACTIONS) {
        nm_pickle_item(&s->pickle, &all->entries);
        status = put_entry(s, at, err);
    }
    at->action = NM_SNAPSHOT_ACTIONS;
    return status;
}

/* Ends the trace under way, and begins those of the devices up to this one. */
static nm_status go_to_device(snapshot *s, traces *all, int64_t device, nm_error *err)
{
    nm_status status = put_waiting(s, all, err);

    while (all->device < device) {
        if (all->device++ >= 0)
            nm_pickle_list_end(&s->pickle, &all->entries);
        nm_pickle_item(&s->pickle, &all->devices);
        nm_pickle_list(&s->pickle, &all->entries);
        all->waiting.ns = NM_NULL;
    }
    return status;
}

typedef struct telling {
    snapshot *s;
    traces *all;
} telling;

/* What was requested to be freed has no time of its own: it has that of the entry before. */
static nm_status take_entry(void *context, int64_t device, const nm_snapshot_entry *entry, nm_error *err)
{
    snapshot *s = ((telling *)context)->s;
    traces *all = ((telling *)context)->all;
    nm_snapshot_entry next = *entry;
    nm_status status = NM_OK;

    if (device != all->device)
        status = go_to_device(s, all, device, err);
    if (next.ns == NM_NULL)
        next.ns = all->waiting.ns;
    if (goes_on(&all->waiting, &next)) {
        all->waiting.size_bytes += next.size_bytes;
        return status;
    }
    if (status == NM_OK)
        status = put_waiting(s, all, err);
    all->waiting = next;
    return status == NM_OK && ferror(s->export->out) ? NM_END : status;
}

static nm_status put_traces(snapshot *s, nm_error *err)
{
    traces all = {.device = -1, .waiting = {.action = NM_SNAPSHOT_ACTIONS, .ns = NM_NULL}};

    nm_pickle_word(&s->pickle, "device_traces");
    nm_pickle_list(&s->pickle, &all.devices);
    nm_status status =
        nm_snapshot_each_entry(s->export->db, &s->tables, s->device_count, take_entry, &(telling){s, &all}, err);
    if (status == NM_OK) /* devices behind the last of which there is anything have a trace too */
        status = go_to_device(s, &all, s->device_count - 1, err);
    if (all.device >= 0)
        nm_pickle_list_end(&s->pickle, &all.entries);
    nm_pickle_list_end(&s->pickle, &all.devices);
    return status;
}

/* ---- Ranges -------------------------------------------------------------------------------------------------------- */

static nm_status put_ranges(snapshot *s, nm_error *err)
{
    nm_pickle_list_state list;
    sqlite3_stmt *rows = NULL;
    nm_snapshot_ranges_row row;
    nm_status status = nm_snapshot_ranges_ask(s->export->db, &rows, err);

    nm_pickle_word(&s->pickle, "external_annotations");
    nm_pickle_list(&s->pickle, &list);
    while (status == NM_OK && !ferror(s->export->out) && nm_snapshot_ranges_next(rows, &row)) {
        char shown[4096];

        nm_pickle_item(&s->pickle, &list);
        nm_pickle_dict(&s->pickle);
        put_word(s, "stage", row.is_end ? "END" : "START");
        nm_pickle_word(&s->pickle, "name");
        nm_pickle_text(&s->pickle, nm_shown_text(shown, sizeof shown, row.name));
        put_number(s, "device", row.device);
        put_number(s, "time_us", row.time_us);
        nm_pickle_dict_end(&s->pickle);
    }
    nm_pickle_list_end(&s->pickle, &list);
    return nm_question_end(rows, status, err);
}

/* ---- All of it ----------------------------------------------------------------------------------------------------- */

/* Whose devices they are is said by the name of a setting, where the frames do not say it. */
static void put_settings(snapshot *s)
{
    if (!s->is_npu && !s->is_gpu)
        return;
    nm_pickle_word(&s->pickle, "allocator_settings");
    nm_pickle_dict(&s->pickle);
    put_word(s, s->is_npu ? "PYTORCH_NPU_ALLOC_CONF" : "PYTORCH_CUDA_ALLOC_CONF", "");
    nm_pickle_dict_end(&s->pickle);
}

/* Which devices there are. Only what is asked for: rows of all allocations. */
static nm_status check(snapshot *s, nm_error *err)
{
    nm_snapshot_facts_row row;
    nm_status status = nm_snapshot_facts_get(s->export->db, &row, err);

    if (row.partial_count > 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                       "does not have the rows of all allocations (--detail): no snapshot");
    if (row.inexact_count > 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                       "holds an input whose peak is not exact (peak_basis): no snapshot");
    if (row.device_count > DEVICES_MAX)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "has more than %d devices", DEVICES_MAX);
    s->device_count = row.device_count;
    s->is_npu = row.npu_count > 0;
    s->is_gpu = row.gpu_count > 0 && row.npu_count == 0;
    return status;
}

nm_status nm_export_snapshot(const nm_export *export, nm_error *err)
{
    snapshot *s = calloc(1, sizeof *s);
    nm_status status;

    if (s == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    s->export = export;
    nm_pickle_begin(&s->pickle, export->out);
    status = check(s, err);
    if (status == NM_OK)
        status = nm_stacks_open(export->db, &s->stacks, err);
    if (status == NM_OK)
        status = nm_snapshot_tables_read(export->db, &s->tables, err);
    nm_pickle_dict(&s->pickle);
    if (status == NM_OK)
        status = put_segments(s, err);
    if (status == NM_OK)
        status = put_traces(s, err);
    if (status == NM_OK)
        status = put_ranges(s, err);
    put_settings(s);
    nm_pickle_dict_end(&s->pickle);
    if (status == NM_OK)
        status = nm_pickle_end(&s->pickle, err);
    nm_pickle_writer_fini(&s->pickle);
    nm_stacks_close(s->stacks);
    nm_snapshot_tables_free(&s->tables);
    nm_map_free(&s->stack_names);
    nm_map_free(&s->frame_names);
    free(s);
    return status;
}
