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

/*
 * Readers look for a block in segments of its own stream. What the driver does not say of a segment, its first block does that has a
 * stream; a block without one is of that of its segment. In mapped memory a block may lie in several pieces, so that this says nothing.
 */
#define CARRIED                                                                                                        \
    ", carried (id, stream, seq) AS (SELECT segment_id, stream, min(alloc_seq) FROM allocation WHERE segment_id IS"    \
    " NOT NULL AND stream IS NOT NULL GROUP BY segment_id) "
#define STREAM                                                                                                         \
    "coalesce(a.stream, CASE WHEN a.is_mapped = 0 THEN (SELECT c.stream FROM carried AS c WHERE c.id ="                \
    " CASE WHEN own.level = 1 THEN a.allocation_id ELSE a.segment_id END) END, 0)"

/* Driver memory without blocks: it is its own block. */
#define IS_BARE                                                                                                        \
    "own.level = 1 AND a.is_segment = 0 AND a.allocation_id NOT IN (SELECT w.segment_id FROM allocation AS w WHERE"    \
    " w.segment_id IS NOT NULL AND w.heap_id IN (SELECT heap_id FROM own WHERE level = 3))"

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

static const char segment_sql[] = DEVICES CARRIED
    "SELECT own.number, a.address, a.size_bytes, 0, 0, " STREAM ", coalesce(a.private_pool, 0),"
    " a.stack_id, a.is_mapped, 0 FROM allocation AS a CROSS JOIN own ON own.heap_id = a.heap_id WHERE own.level = 1"
    " AND a.end_kind = 0 AND a.size_bytes > 0 AND ?1 + ?2 > 0 ORDER BY 1, a.address < 0, 2, a.allocation_id";

static const char block_sql[] = DEVICES CARRIED
    "SELECT own.number, a.address, coalesce(a.block_bytes, (coalesce(a.requested_bytes, a.size_bytes) + ?1 + ?2 - 1)"
    " / ?2 * ?2), coalesce(a.requested_bytes, a.size_bytes), a.free_requested_seq IS NOT NULL, " STREAM ","
    " coalesce(a.private_pool, 0), a.stack_id, 0, a.block_bytes IS NULL FROM allocation AS a CROSS JOIN own ON "
    "own.heap_id = "
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
    FREE_BOTH, /* requested and completed by two events that follow each other, as they mostly are */
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
    "",    "free_requested", "free_completed", "segment_free", "segment_unmap", "segment_alloc", "segment_map", "alloc",
    "oom", "snapshot"};

/*
 * Remainders of what was unmapped in part are no events: the part is what they leave. What was replaced, or went with a reset,
 * has no event of its own; after a reset it is freed all the same, or viewers would show it for ever.
 */
/* CROSS keeps SQLite from an index of its own over all allocations: one pass over them is enough. */
#define FROM_OWN " FROM allocation AS a CROSS JOIN own ON own.heap_id = a.heap_id"
#define IS_BOTH  "coalesce(own.level <> 1 AND a.end_kind <> 4 AND a.free_seq = a.free_requested_seq + 1, 0)"
#define ASKED    "coalesce(a.requested_bytes, a.size_bytes)"
static const char entry_sql[] = DEVICES CARRIED
    ", part (id, size_bytes, left_bytes) AS (SELECT r.split_from_id, sum(r.size_bytes), max(CASE WHEN r.address ="
    " a.address THEN r.size_bytes END) FROM allocation AS r JOIN allocation AS a ON a.allocation_id = r.split_from_id"
    " WHERE r.split_from_id IS NOT NULL GROUP BY r.split_from_id) "
    "SELECT own.number, a.alloc_seq, CASE WHEN own.level <> 1 THEN 7 WHEN a.is_mapped = 1 THEN 6 ELSE 5 END, a.address,"
    " CASE WHEN own.level = 1 THEN a.size_bytes ELSE " ASKED " END, " STREAM ", a.stack_id,"
    " coalesce(a.private_pool, 0), own.start_ns + a.alloc_ns" FROM_OWN
    " WHERE a.alloc_seq IS NOT NULL AND a.split_from_id IS NULL UNION ALL "
    "SELECT own.number, a.alloc_seq, 7, a.address, " ASKED ", " STREAM ", a.stack_id,"
    " coalesce(a.private_pool, 0), own.start_ns + a.alloc_ns" FROM_OWN " WHERE a.alloc_seq IS NOT NULL AND " IS_BARE
    " UNION ALL "
    "SELECT own.number, a.free_requested_seq, 1, a.address, " ASKED ", " STREAM ", a.free_stack_id, 0, NULL" FROM_OWN
    " WHERE a.free_requested_seq IS NOT NULL AND NOT " IS_BOTH " UNION ALL "
    "SELECT own.number, CASE WHEN " IS_BOTH " THEN a.free_requested_seq ELSE a.free_seq END, CASE WHEN " IS_BOTH
    " THEN 0 WHEN own.level <> 1 THEN 2 WHEN a.is_mapped = 1 THEN 4 ELSE 3 END,"
    " a.address + coalesce(part.left_bytes, 0), CASE WHEN own.level <> 1 THEN " ASKED
    " ELSE a.size_bytes - coalesce(part.size_bytes, 0) END, " STREAM ", a.free_stack_id, 0,"
    " own.start_ns + a.free_ns" FROM_OWN " LEFT JOIN part ON part.id = a.allocation_id"
    " WHERE a.free_seq IS NOT NULL AND a.end_kind <> 4 UNION ALL "
    "SELECT own.number, a.free_seq, 2, a.address, " ASKED ", " STREAM ", a.free_stack_id, 0,"
    " own.start_ns + a.free_ns" FROM_OWN " WHERE a.free_seq IS NOT NULL AND a.end_kind <> 4 AND " IS_BARE " UNION ALL "
    "SELECT own.number, f.seq, 8, f.device_free_bytes, f.requested_bytes, coalesce(f.stream, 0), f.stack_id, 0,"
    " own.start_ns + f.ns FROM failure AS f JOIN own ON own.heap_id = f.heap_id UNION ALL "
    "SELECT own.number, m.seq, 9, 0, 0, 0, NULL, 0, own.start_ns + m.ns FROM moment AS m JOIN own ON own.heap_id ="
    " (SELECT min(o.heap_id) FROM own AS o JOIN heap ON heap.heap_id = o.heap_id WHERE m.process_id IS NULL OR"
    " heap.process_id = m.process_id) WHERE m.kind = 3 AND m.name = 'snapshot' ORDER BY 1, 2, 3, 4";

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

/* What is written of the traces so far. */
typedef struct traces {
    nm_pickle_list_state devices, entries;
    int64_t device; /* whose trace is under way */
    entry waiting;  /* ACTION_COUNT: none */
} traces;

static nm_status put_waiting(snapshot *s, traces *all, nm_error *err)
{
    entry *at = &all->waiting;
    nm_status status = NM_OK;

    if (at->action == FREE_BOTH) {
        at->action = FREE_REQUESTED;
        nm_pickle_item(&s->pickle, &all->entries);
        status = put_entry(s, at, err);
        at->action = FREE_COMPLETED;
    }
    if (status == NM_OK && at->action != ACTION_COUNT) {
        nm_pickle_item(&s->pickle, &all->entries);
        status = put_entry(s, at, err);
    }
    at->action = ACTION_COUNT;
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

/* What was requested to be freed has no time of its own: it has that of the entry before. */
static nm_status take_entry(snapshot *s, traces *all, sqlite3_stmt *row, nm_error *err)
{
    entry next = read_entry(row);
    nm_status status = NM_OK;

    if (sqlite3_column_int64(row, ENTRY_DEVICE) != all->device)
        status = go_to_device(s, all, sqlite3_column_int64(row, ENTRY_DEVICE), err);
    if (next.ns == NM_NULL)
        next.ns = all->waiting.ns;
    if (goes_on(&all->waiting, &next)) {
        all->waiting.size_bytes += next.size_bytes;
        return status;
    }
    if (status == NM_OK)
        status = put_waiting(s, all, err);
    all->waiting = next;
    return status;
}

static nm_status put_traces(snapshot *s, nm_error *err)
{
    traces all = {.device = -1, .waiting = {.action = ACTION_COUNT, .ns = NM_NULL}};
    sqlite3_stmt *row = NULL;
    int code = SQLITE_DONE;
    nm_status status = nm_db_prepare(s->export->db, entry_sql, &row, err);

    nm_pickle_word(&s->pickle, "device_traces");
    nm_pickle_list(&s->pickle, &all.devices);
    while (status == NM_OK && (code = sqlite3_step(row)) == SQLITE_ROW && !ferror(s->export->out))
        status = take_entry(s, &all, row, err);
    if (status == NM_OK && code != SQLITE_DONE && code != SQLITE_ROW)
        status = nm_db_fail(s->export->db, err);
    if (status == NM_OK) /* devices behind the last of which there is anything have a trace too */
        status = go_to_device(s, &all, s->device_count - 1, err);
    if (all.device >= 0)
        nm_pickle_list_end(&s->pickle, &all.entries);
    nm_pickle_list_end(&s->pickle, &all.devices);
    sqlite3_finalize(row);
    return status;
}

/* ---- Ranges -------------------------------------------------------------------------------------------------------- */

/*
 * Operations, steps that the program marked, and marks, as ranges on the first device of their process. A reader takes an end
 * for that of the latest range of its name: of equal microseconds, ends come first, but for those of what has no length in them.
 */
static const char range_sql[] = DEVICES
    ", first (process_id, number) AS (SELECT process_id, min(number) FROM dev GROUP BY process_id),"
    " range (process_id, name, begin_ns, end_ns, id) AS ("
    "SELECT process_id, coalesce(name, '?' || '?'), begin_ns, end_ns, operation_id FROM operation UNION ALL "
    "SELECT process_id, 'ProfilerStep#' || number, begin_ns, end_ns, -step_id FROM step WHERE source = 'marked' UNION "
    "ALL SELECT coalesce(process_id, (SELECT min(process_id) FROM first)), name, ns, ns, moment_id FROM moment"
    " WHERE kind = 3 AND name <> 'snapshot'),"
    " half (number, name, ns, is_end, begin_ns, end_ns, id) AS ("
    "SELECT f.number, r.name, coalesce(i.start_realtime_ns, 0) + r.begin_ns, 0, coalesce(i.start_realtime_ns, 0) +"
    " r.begin_ns, coalesce(i.start_realtime_ns, 0) + r.end_ns, r.id FROM range AS r JOIN first AS f ON f.process_id = "
    "r.process_id JOIN process AS p ON p.process_id = r.process_id JOIN input"
    " AS i ON i.input_id = p.input_id WHERE r.begin_ns IS NOT NULL AND r.name IS NOT NULL UNION ALL "
    "SELECT f.number, r.name, coalesce(i.start_realtime_ns, 0) + r.end_ns, 1, coalesce(i.start_realtime_ns, 0) +"
    " r.begin_ns, coalesce(i.start_realtime_ns, 0) + r.end_ns, r.id FROM range AS r JOIN first AS f ON f.process_id = "
    "r.process_id JOIN process AS p ON p.process_id = r.process_id JOIN input"
    " AS i ON i.input_id = p.input_id WHERE r.begin_ns <= r.end_ns AND r.name IS NOT NULL) "
    "SELECT number, name, ns / 1000, is_end FROM half ORDER BY ns / 1000, CASE WHEN begin_ns / 1000 = end_ns / 1000"
    " THEN 2 ELSE 1 - is_end END, begin_ns, id, is_end";

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
    nm_status status =
        nm_db_get_int(s->export->db, DEVICES "SELECT coalesce(max(number) + 1, 0) FROM dev", &s->device_count, err);

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
