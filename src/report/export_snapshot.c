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
#include "report/export.h"

#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "report/pickle_writer.h"
#include "report/stacks.h"
#include "store/database.h"

#define DEVICES_MAX       4096
#define SMALL_BYTES       (2 << 20) /* segments up to it are of the pool of small blocks */
#define ROUND_BYTES       512       /* what blocks are a multiple of, where their size is not known */
#define NPU_PADDING_BYTES 32        /* torch_npu asks for so much more */
#define SPLIT_BYTES       (1 << 20) /* large segments have no free piece up to this: it is left with the block before it */

typedef struct snapshot {
    const nm_export *export;
    nm_stacks *stacks;
    nm_pickle_writer pickle;
    nm_map stack_names; /* stack_id -> its number in the pickle */
    nm_map frame_names; /* index of the frame -> the same */
    uint32_t frames[NM_STACKS_FRAMES_MAX];
    int64_t device_count;
    bool is_npu, is_gpu;
} snapshot;

/* "dev": device_id, number in the snapshot; "own": heap_id, number, level, start_ns (of the recording, since 1970). */
#define DEVICES                                                                                                        \
    "WITH used (device_id, process_id, ordinal) AS (SELECT device_id, process_id, ordinal FROM device WHERE EXISTS ("  \
    "SELECT 1 FROM heap WHERE heap.device_id = device.device_id AND heap.level IN (1, 2, 3))),"                        \
    " dev (device_id, process_id, number) AS (SELECT device_id, process_id, CASE WHEN (SELECT count(DISTINCT "         \
    "process_id)"                                                                                                      \
    " = 1 AND count(*) = count(DISTINCT ordinal) AND min(ordinal) >= 0 AND max(ordinal) < 4096 FROM used)"             \
    " THEN ordinal ELSE row_number() OVER (ORDER BY device_id) - 1 END FROM used),"                                    \
    " own (heap_id, number, level, start_ns) AS (SELECT h.heap_id, dev.number, h.level, coalesce("                     \
    "i.start_realtime_ns, 0) FROM heap AS h JOIN dev ON dev.device_id = h.device_id JOIN process AS p"                 \
    " ON p.process_id = h.process_id JOIN input AS i ON i.input_id = p.input_id WHERE h.level IN (1, 2, 3)) "

/* Driver memory without blocks: it is its own block. */
#define IS_BARE                                                                                                        \
    "own.level = 1 AND a.is_segment = 0 AND a.allocation_id NOT IN (SELECT w.segment_id FROM allocation AS w"          \
    " JOIN own AS o ON o.heap_id = w.heap_id WHERE o.level = 3 AND w.segment_id IS NOT NULL)"

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
    sqlite3_stmt *row; /* owned */
    bool is_there;
    item at;
} cursor;

static const char segment_sql[] =
    DEVICES "SELECT own.number, a.address, a.size_bytes, 0, 0, coalesce(a.stream, 0), coalesce(a.private_pool, 0),"
            " a.stack_id, a.is_mapped, 0 FROM allocation AS a JOIN own ON own.heap_id = a.heap_id WHERE own.level = 1"
            " AND a.end_kind = 0 AND a.size_bytes > 0 AND ?1 + ?2 > 0 ORDER BY 1, a.address < 0, 2, a.allocation_id";

static const char block_sql[] = DEVICES
    "SELECT own.number, a.address, coalesce(a.block_bytes, (coalesce(a.requested_bytes, a.size_bytes) + ?1 + ?2 - 1)"
    " / ?2 * ?2), coalesce(a.requested_bytes, a.size_bytes), a.free_requested_seq IS NOT NULL, coalesce(a.stream, 0),"
    " coalesce(a.private_pool, 0), a.stack_id, 0, a.block_bytes IS NULL FROM allocation AS a JOIN own ON own.heap_id = "
    "a.heap_id WHERE"
    " a.end_kind = 0 AND a.size_bytes > 0 AND (own.level IN (2, 3) OR (" IS_BARE ")) ORDER BY 1, a.address < 0, 2,"
    " a.allocation_id";

static nm_status step(snapshot *s, cursor *c, nm_error *err)
{
    int code = sqlite3_step(c->row);
    uint64_t size;

    c->is_there = code == SQLITE_ROW;
    if (!c->is_there)
        return code == SQLITE_DONE ? NM_OK : nm_db_fail(s->export->db, err);
    c->at = (item){
        .device = sqlite3_column_int64(c->row, 0),
        .address = (uint64_t)sqlite3_column_int64(c->row, 1),
        .requested_bytes = sqlite3_column_int64(c->row, 3),
        .is_pending = sqlite3_column_int(c->row, 4) != 0,
        .stream = sqlite3_column_int64(c->row, 5),
        .pool = sqlite3_column_int64(c->row, 6),
        .stack_id = nm_db_is_null(c->row, 7) ? NM_NULL : sqlite3_column_int64(c->row, 7),
        .is_mapped = sqlite3_column_int(c->row, 8) != 0,
        .is_rounded = sqlite3_column_int(c->row, 9) != 0,
    };
    size = (uint64_t)sqlite3_column_int64(c->row, 2);
    c->at.end = size > UINT64_MAX - c->at.address ? UINT64_MAX : c->at.address + size;
    return NM_OK;
}

static nm_status open_cursor(snapshot *s, const char *sql, cursor *c, nm_error *err)
{
    nm_status status = nm_db_prepare(s->export->db, sql, &c->row, err);

    if (status != NM_OK)
        return status;
    sqlite3_bind_int64(c->row, 1, s->is_npu ? NPU_PADDING_BYTES : 0);
    sqlite3_bind_int64(c->row, 2, ROUND_BYTES);
    return step(s, c, err);
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
static nm_status take_segment(snapshot *s, cursor *segments, item *out, nm_error *err)
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

/* Of a block that lies in nothing that is known, a segment is made. */
static nm_status put_segments(snapshot *s, nm_error *err)
{
    cursor segments = {0}, blocks = {0};
    nm_pickle_list_state list;
    nm_status status = open_cursor(s, segment_sql, &segments, err);

    if (status == NM_OK)
        status = open_cursor(s, block_sql, &blocks, err);
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
    sqlite3_finalize(segments.row);
    sqlite3_finalize(blocks.row);
    return status;
}

/* ---- What happened ------------------------------------------------------------------------------------------------- */

enum {
    ENTRY_DEVICE,
    ENTRY_SEQ,
    ENTRY_ACTION,
    ENTRY_ADDRESS,
    ENTRY_SIZE,
    ENTRY_STREAM,
    ENTRY_STACK,
    ENTRY_POOL,
    ENTRY_NS
};

/* In the order in which they go where they are of one event: what ends, then what begins, segments around their blocks. */
typedef enum action {
    FREE_REQUESTED,
    FREE_COMPLETED,
    SEGMENT_FREE,
    SEGMENT_UNMAP,
    SEGMENT_ALLOC,
    SEGMENT_MAP,
    ALLOC,
    OOM,
    MARK,
    ACTION_COUNT
} action;
static const char *const action_words[ACTION_COUNT] = {
    "free_requested", "free_completed", "segment_free", "segment_unmap", "segment_alloc",
    "segment_map",    "alloc",          "oom",          "snapshot"};

/*
 * Remainders of what was unmapped in part are no events: the part is what they leave. What was replaced, or went with a reset,
 * has no event of its own; after a reset it is freed all the same, or viewers would show it for ever.
 */
static const char entry_sql[] = DEVICES
    ", part (id, size_bytes, left_bytes) AS (SELECT r.split_from_id, sum(r.size_bytes), max(CASE WHEN r.address ="
    " a.address THEN r.size_bytes END) FROM allocation AS r JOIN allocation AS a ON a.allocation_id = r.split_from_id"
    " GROUP BY r.split_from_id), row (heap_id, seq, ns, action, address, size_bytes, stream, stack_id, pool, id) AS ("
    "SELECT a.heap_id, a.alloc_seq, a.alloc_ns, CASE WHEN own.level <> 1 THEN 6 WHEN a.is_mapped = 1 THEN 5 ELSE 4 END,"
    " a.address, CASE WHEN own.level = 1 THEN a.size_bytes ELSE coalesce(a.requested_bytes, a.size_bytes) END,"
    " a.stream, a.stack_id, a.private_pool, a.allocation_id FROM allocation AS a JOIN own ON own.heap_id = a.heap_id"
    " WHERE a.alloc_seq IS NOT NULL AND a.split_from_id IS NULL UNION ALL "
    "SELECT a.heap_id, a.alloc_seq, a.alloc_ns, 6, a.address, coalesce(a.requested_bytes, a.size_bytes), a.stream,"
    " a.stack_id, a.private_pool, a.allocation_id FROM allocation AS a JOIN own ON own.heap_id = a.heap_id"
    " WHERE a.alloc_seq IS NOT NULL AND " IS_BARE " UNION ALL "
    "SELECT a.heap_id, a.free_requested_seq, NULL, 0, a.address, coalesce(a.requested_bytes, a.size_bytes), a.stream,"
    " a.free_stack_id, NULL, a.allocation_id FROM allocation AS a JOIN own ON own.heap_id = a.heap_id"
    " WHERE a.free_requested_seq IS NOT NULL UNION ALL "
    "SELECT a.heap_id, a.free_seq, a.free_ns, CASE WHEN own.level <> 1 THEN 1 WHEN a.is_mapped = 1 THEN 3 ELSE 2 END,"
    " a.address + coalesce(part.left_bytes, 0), CASE WHEN own.level <> 1 THEN coalesce(a.requested_bytes, a.size_bytes)"
    " ELSE a.size_bytes - coalesce(part.size_bytes, 0) END,"
    " a.stream, a.free_stack_id, NULL, a.allocation_id FROM allocation AS a JOIN own ON own.heap_id = a.heap_id"
    " LEFT JOIN part ON part.id = a.allocation_id WHERE a.free_seq IS NOT NULL AND a.end_kind <> 4 UNION ALL "
    "SELECT a.heap_id, a.free_seq, a.free_ns, 1, a.address, coalesce(a.requested_bytes, a.size_bytes), a.stream,"
    " a.free_stack_id, NULL, a.allocation_id FROM allocation AS a JOIN own ON own.heap_id = a.heap_id"
    " WHERE a.free_seq IS NOT NULL AND a.end_kind <> 4 AND " IS_BARE " UNION ALL "
    "SELECT f.heap_id, f.seq, f.ns, 7, f.device_free_bytes, f.requested_bytes, f.stream, f.stack_id, NULL, f.failure_id"
    " FROM failure AS f UNION ALL "
    "SELECT (SELECT min(own.heap_id) FROM own JOIN heap ON heap.heap_id = own.heap_id WHERE m.process_id IS NULL OR"
    " heap.process_id = m.process_id), m.seq, m.ns, 8, 0, 0, NULL, NULL, NULL, m.moment_id FROM moment AS m"
    " WHERE m.kind = 3 AND m.name = 'snapshot') "
    "SELECT own.number, row.seq, row.action, row.address, row.size_bytes, coalesce(row.stream, 0), row.stack_id,"
    " coalesce(row.pool, 0), own.start_ns + row.ns FROM row JOIN own ON own.heap_id = row.heap_id"
    " WHERE own.number = ?1 ORDER BY row.seq, row.action, row.address < 0, row.address, row.id";

typedef struct entry {
    action action;
    int64_t seq, size_bytes, stream, stack_id, pool, ns; /* ns: NM_NULL: not known */
    uint64_t address;                                    /* of OOM what the device had left; NM_NULL: not known */
} entry;

static entry read_entry(sqlite3_stmt *row)
{
    return (entry){
        .seq = sqlite3_column_int64(row, ENTRY_SEQ),
        .action = (action)sqlite3_column_int(row, ENTRY_ACTION),
        .address =
            nm_db_is_null(row, ENTRY_ADDRESS) ? (uint64_t)NM_NULL : (uint64_t)sqlite3_column_int64(row, ENTRY_ADDRESS),
        .size_bytes = sqlite3_column_int64(row, ENTRY_SIZE),
        .stream = sqlite3_column_int64(row, ENTRY_STREAM),
        .stack_id = nm_db_is_null(row, ENTRY_STACK) ? NM_NULL : sqlite3_column_int64(row, ENTRY_STACK),
        .pool = sqlite3_column_int64(row, ENTRY_POOL),
        .ns = nm_db_is_null(row, ENTRY_NS) ? NM_NULL : sqlite3_column_int64(row, ENTRY_NS),
    };
}

static nm_status put_entry(snapshot *s, const entry *at, nm_error *err)
{
    nm_pickle_dict(&s->pickle);
    put_word(s, "action", action_words[at->action]);
    if (at->action != OOM)
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
static bool goes_on(const entry *first, const entry *next)
{
    return first->action == SEGMENT_UNMAP && next->action == SEGMENT_UNMAP && first->seq == next->seq &&
           first->address + (uint64_t)first->size_bytes == next->address;
}

/* The trace of one device. */
static nm_status put_trace(snapshot *s, int64_t device, nm_error *err)
{
    nm_pickle_list_state list;
    entry waiting = {.action = ACTION_COUNT}, next;
    sqlite3_stmt *row = NULL;
    int64_t last_ns = NM_NULL; /* what was requested to be freed has no time of its own */
    int code = SQLITE_DONE;
    nm_status status = nm_db_prepare(s->export->db, entry_sql, &row, err);

    if (status == NM_OK)
        sqlite3_bind_int64(row, 1, device);
    nm_pickle_list(&s->pickle, &list);
    while (status == NM_OK && (code = sqlite3_step(row)) == SQLITE_ROW && !ferror(s->export->out)) {
        next = read_entry(row);
        next.ns = next.ns == NM_NULL ? last_ns : next.ns;
        last_ns = next.ns;
        if (goes_on(&waiting, &next)) {
            waiting.size_bytes += next.size_bytes;
            continue;
        }
        if (waiting.action != ACTION_COUNT) {
            nm_pickle_item(&s->pickle, &list);
            status = put_entry(s, &waiting, err);
        }
        waiting = next;
    }
    if (status == NM_OK && code != SQLITE_DONE && code != SQLITE_ROW)
        status = nm_db_fail(s->export->db, err);
    if (status == NM_OK && waiting.action != ACTION_COUNT) {
        nm_pickle_item(&s->pickle, &list);
        status = put_entry(s, &waiting, err);
    }
    nm_pickle_list_end(&s->pickle, &list);
    sqlite3_finalize(row);
    return status;
}

static nm_status put_traces(snapshot *s, nm_error *err)
{
    nm_pickle_list_state list;
    nm_status status = NM_OK;

    nm_pickle_word(&s->pickle, "device_traces");
    nm_pickle_list(&s->pickle, &list);
    for (int64_t device = 0; status == NM_OK && device < s->device_count; device++) {
        nm_pickle_item(&s->pickle, &list);
        status = put_trace(s, device, err);
    }
    nm_pickle_list_end(&s->pickle, &list);
    return status;
}

/* ---- Ranges -------------------------------------------------------------------------------------------------------- */

/*
 * Operations, steps that the program marked, and marks, as ranges on the first device of their process. A reader takes an end
 * for that of the latest range of its name: of equal times, ends come first, but for those of what has no length.
 */
static const char range_sql[] = DEVICES
    ", first (process_id, number) AS (SELECT process_id, min(number) FROM dev GROUP BY process_id),"
    " range (process_id, name, begin_ns, end_ns, id) AS ("
    "SELECT process_id, coalesce(name, '?' || '?'), begin_ns, end_ns, operation_id FROM operation UNION ALL "
    "SELECT process_id, 'ProfilerStep#' || number, begin_ns, end_ns, -step_id FROM step WHERE source = 'marked' UNION "
    "ALL SELECT coalesce(process_id, (SELECT min(process_id) FROM first)), name, ns, ns, moment_id FROM moment"
    " WHERE kind = 3 AND name <> 'snapshot'),"
    " half (number, name, ns, is_end, length, id) AS ("
    "SELECT f.number, r.name, coalesce(i.start_realtime_ns, 0) + r.begin_ns, 0, r.end_ns - r.begin_ns, r.id FROM range"
    " AS r JOIN first AS f ON f.process_id = r.process_id JOIN process AS p ON p.process_id = r.process_id JOIN input"
    " AS i ON i.input_id = p.input_id WHERE r.begin_ns IS NOT NULL AND r.name IS NOT NULL UNION ALL "
    "SELECT f.number, r.name, coalesce(i.start_realtime_ns, 0) + r.end_ns, 1, r.end_ns - r.begin_ns, r.id FROM range"
    " AS r JOIN first AS f ON f.process_id = r.process_id JOIN process AS p ON p.process_id = r.process_id JOIN input"
    " AS i ON i.input_id = p.input_id WHERE r.begin_ns <= r.end_ns AND r.name IS NOT NULL) "
    "SELECT number, name, ns / 1000, is_end FROM half ORDER BY ns / 1000, CASE WHEN length = 0 THEN 2 ELSE 1 - is_end"
    " END, id, is_end";

static nm_status put_ranges(snapshot *s, nm_error *err)
{
    nm_pickle_list_state list;
    sqlite3_stmt *row = NULL;
    int code = SQLITE_DONE;
    nm_status status = nm_db_prepare(s->export->db, range_sql, &row, err);

    nm_pickle_word(&s->pickle, "external_annotations");
    nm_pickle_list(&s->pickle, &list);
    while (status == NM_OK && (code = sqlite3_step(row)) == SQLITE_ROW && !ferror(s->export->out)) {
        char shown[4096];

        nm_pickle_item(&s->pickle, &list);
        nm_pickle_dict(&s->pickle);
        put_word(s, "stage", sqlite3_column_int(row, 3) != 0 ? "END" : "START");
        nm_pickle_word(&s->pickle, "name");
        nm_pickle_text(&s->pickle, nm_shown_text(shown, sizeof shown, nm_db_text(row, 1)));
        put_number(s, "device", sqlite3_column_int64(row, 0));
        put_number(s, "time_us", sqlite3_column_int64(row, 2));
        nm_pickle_dict_end(&s->pickle);
    }
    if (status == NM_OK && code != SQLITE_DONE && code != SQLITE_ROW)
        status = nm_db_fail(s->export->db, err);
    nm_pickle_list_end(&s->pickle, &list);
    sqlite3_finalize(row);
    return status;
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

static nm_status find_devices(snapshot *s, nm_error *err)
{
    int64_t npus = 0, gpus = 0;
    nm_status status = nm_db_get_int(s->export->db, DEVICES "SELECT max(number) + 1 FROM dev", &s->device_count, err);

    if (status == NM_OK)
        status = nm_db_get_int(s->export->db, "SELECT count(*) FROM device WHERE kind = 'npu'", &npus, err);
    if (status == NM_OK)
        status = nm_db_get_int(s->export->db, "SELECT count(*) FROM device WHERE kind = 'gpu'", &gpus, err);
    if (status == NM_OK && s->device_count > DEVICES_MAX)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "has more than %d devices", DEVICES_MAX);
    s->is_npu = npus > 0;
    s->is_gpu = gpus > 0 && npus == 0;
    return status;
}

/* Only what is asked for: rows of all allocations. */
static nm_status check_rows(const snapshot *s, nm_error *err)
{
    int64_t few = NM_NULL;
    nm_status status = nm_db_get_int(s->export->db, "SELECT 1 FROM input WHERE detail <> 'all' LIMIT 1", &few, err);

    return status == NM_OK && few == 1 ? nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                                                 "does not have the rows of all allocations (--detail): no snapshot")
                                       : status;
}

nm_status nm_export_snapshot(const nm_export *export, nm_error *err)
{
    snapshot *s = calloc(1, sizeof *s);
    nm_status status;

    if (s == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    s->export = export;
    nm_pickle_begin(&s->pickle, export->out);
    status = check_rows(s, err);
    if (status == NM_OK)
        status = find_devices(s, err);
    if (status == NM_OK)
        status = nm_stacks_open(export->db, &s->stacks, err);
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
    nm_map_free(&s->stack_names);
    nm_map_free(&s->frame_names);
    free(s);
    return status;
}
