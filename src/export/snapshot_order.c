/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of allocations mostly lie in the order in which allocations begin. Then what a row tells has come to its place when
 * a row is reached that begins behind it, and until then waits among what is live: one pass over the rows of each device.
 * That they do lie so is looked at first. Where they do not, where there are many devices, and from where too much waits on,
 * SQLite sorts (snapshot_entries.sql), in as little memory and in several passes.
 */
#include "export/snapshot_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "export/snapshot_entries.sql.h"
#include "export/snapshot_others.sql.h"
#include "store/allocation_rows.h"

#define DEVICES_IN_ORDER_MAX 4 /* each is a pass; SQLite's are seven in all */
#define WAITING_MAX          ((size_t)1 << 19)
#define END_REPLACED         4 /* a code of table end_kind */

typedef struct waiting {
    int64_t seq;
    uint64_t number; /* of equal ones the least comes first */
    nm_snapshot_entry entry;
} waiting;

typedef struct stream {
    sqlite3 *db;
    const nm_snapshot_tables *tables;
    nm_snapshot_take *take;
    void *context;
    int64_t device;
    struct {
        waiting *items; /* a heap */
        size_t count, capacity;
    } waiting;
    uint64_t row_count;
    sqlite3_stmt *others;
    waiting other; /* the next one of those */
    bool has_other;
    int64_t from_device, from_seq; /* what SQLite is to go on with */
} stream;

static nm_snapshot_entry read_entry(const nm_snapshot_entries_row *row)
{
    return (nm_snapshot_entry){
        .seq = row->seq,
        .action = (nm_snapshot_action)row->action_code,
        .address = (uint64_t)NM_NUMBER_OF(row, address),
        .size_bytes = row->size_bytes,
        .stream = row->stream,
        .stack_id = NM_NUMBER_OF(row, stack_id),
        .pool = row->pool_id,
        .ns = NM_NUMBER_OF(row, ns),
    };
}

/* ---- What waits -------------------------------------------------------------------------------------------------- */

static bool is_less(const waiting *a, const waiting *b)
{
    if (a->seq != b->seq)
        return a->seq < b->seq;
    if (a->entry.action != b->entry.action)
        return a->entry.action < b->entry.action;
    if (a->entry.address != b->entry.address)
        return (int64_t)a->entry.address < (int64_t)b->entry.address;
    return a->number < b->number;
}

/* `part` of snapshot_entries.sql, from 0. */
static nm_status add(stream *s, unsigned part, const nm_snapshot_entry *entry, nm_error *err)
{
    nm_status status =
        nm_array_grow(&s->waiting.items, &s->waiting.capacity, s->waiting.count + 1, sizeof *s->waiting.items, err);
    waiting added = {entry->seq, (uint64_t)part << 56 | s->row_count, *entry};
    size_t at = s->waiting.count;

    if (status != NM_OK)
        return status;
    s->waiting.count++;
    for (; at > 0 && is_less(&added, &s->waiting.items[(at - 1) / 2]); at = (at - 1) / 2)
        s->waiting.items[at] = s->waiting.items[(at - 1) / 2];
    s->waiting.items[at] = added;
    return NM_OK;
}

static void drop_first(stream *s)
{
    waiting *items = s->waiting.items;
    size_t count = --s->waiting.count, at = 0;

    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && is_less(&items[child + 1], &items[child]);
        if (!is_less(&items[child], &items[count]))
            break;
        items[at] = items[child];
    }
    items[at] = items[count];
}

static void step_other(stream *s)
{
    nm_snapshot_entries_row row;

    s->has_other = nm_snapshot_entries_next(s->others, &row);
    if (s->has_other)
        s->other = (waiting){NM_NUMBER_OF(&row, seq), UINT64_MAX, read_entry(&row)};
}

/* Gives all that comes before the seq; INT64_MAX: all. */
static nm_status give_until(stream *s, int64_t seq, nm_error *err)
{
    nm_status status = NM_OK;

    while (status == NM_OK) {
        const waiting *first = s->waiting.count > 0 ? &s->waiting.items[0] : NULL;
        bool is_other = s->has_other && (first == NULL || is_less(&s->other, first));

        first = is_other ? &s->other : first;
        if (first == NULL || (first->seq >= seq && seq != INT64_MAX))
            break;
        status = s->take(s->context, s->device, &first->entry, err);
        if (is_other)
            step_other(s);
        else
            drop_first(s);
    }
    return status;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* A row, and what the tables say of it. */
typedef struct known_row {
    const nm_allocation_values *at;
    const nm_snapshot_heap *heap;
    bool is_driver, is_own_block; /* driver memory; that carries no blocks, but is one */
    bool is_at_once;              /* its end was requested and completed by two events that follow each other */
    int64_t stream, asked_bytes, free_seq;
} known_row;

/* What replaced it is no end that its program asked for. */
static int64_t free_seq_of(const nm_allocation_values *at)
{
    return at->end_kind == END_REPLACED ? NM_NULL : at->free_seq;
}

static known_row know_row(const stream *s, const nm_allocation_values *at, const nm_snapshot_heap *heap)
{
    bool is_driver = heap->level == 1;
    int64_t segment_id = is_driver ? at->allocation_id : at->segment_id, free_seq = free_seq_of(at);

    return (known_row){
        .at = at,
        .heap = heap,
        .is_driver = is_driver,
        .is_own_block = is_driver && at->is_segment == 0 &&
                        nm_map_get(&s->tables->used, (nm_key){0, (uint64_t)at->allocation_id}) == NULL,
        .is_at_once = !is_driver && free_seq != NM_NULL && at->free_requested_seq != NM_NULL &&
                      at->free_requested_seq != INT64_MAX && free_seq == at->free_requested_seq + 1,
        .stream = at->stream != NM_NULL ? at->stream
                  : at->is_mapped == 0  ? nm_snapshot_stream_of(s->tables, segment_id)
                                        : 0,
        .asked_bytes = at->requested_bytes == NM_NULL ? at->size_bytes : at->requested_bytes,
        .free_seq = free_seq,
    };
}

/* Nanoseconds since 1970; NM_NULL: not known. */
static int64_t time_of(const known_row *one, int64_t ns)
{
    int64_t sum;

    if (ns == NM_NULL)
        return NM_NULL;
    return __builtin_add_overflow(one->heap->start_ns, ns, &sum) ? INT64_MAX : sum;
}

static nm_status add_begin(stream *s, const known_row *one, nm_error *err)
{
    const nm_allocation_values *at = one->at;
    nm_snapshot_entry entry = {
        .action = !one->is_driver      ? NM_SNAPSHOT_ALLOC
                  : at->is_mapped == 1 ? NM_SNAPSHOT_SEGMENT_MAP
                                       : NM_SNAPSHOT_SEGMENT_ALLOC,
        .seq = at->alloc_seq,
        .address = (uint64_t)at->address,
        .size_bytes = one->is_driver ? at->size_bytes : one->asked_bytes,
        .stream = one->stream,
        .stack_id = at->stack_id,
        .pool = at->private_pool == NM_NULL ? 0 : at->private_pool,
        .ns = time_of(one, at->alloc_ns),
    };
    nm_status status = at->split_from_id != NM_NULL ? NM_OK : add(s, 0, &entry, err);

    entry.action = NM_SNAPSHOT_ALLOC;
    entry.size_bytes = one->asked_bytes;
    return status == NM_OK && one->is_own_block ? add(s, 1, &entry, err) : status;
}

static nm_snapshot_action end_action(const known_row *one)
{
    if (!one->is_driver)
        return one->is_at_once ? NM_SNAPSHOT_FREE_BOTH : NM_SNAPSHOT_FREE_COMPLETED;
    return one->at->is_mapped == 1 ? NM_SNAPSHOT_SEGMENT_UNMAP : NM_SNAPSHOT_SEGMENT_FREE;
}

static nm_status add_end(stream *s, const known_row *one, nm_error *err)
{
    const nm_allocation_values *at = one->at;
    const nm_snapshot_cut *cut = nm_snapshot_cut_of(s->tables, at->allocation_id);
    nm_snapshot_entry entry = {
        .action = NM_SNAPSHOT_FREE_REQUESTED,
        .seq = at->free_requested_seq,
        .address = (uint64_t)at->address,
        .size_bytes = one->asked_bytes,
        .stream = one->stream,
        .stack_id = at->free_stack_id,
        .ns = NM_NULL,
    };
    nm_status status = at->free_requested_seq != NM_NULL && !one->is_at_once ? add(s, 2, &entry, err) : NM_OK;

    if (status != NM_OK || one->free_seq == NM_NULL)
        return status;
    entry.ns = time_of(one, at->free_ns);
    if (one->is_own_block) {
        entry.action = NM_SNAPSHOT_FREE_COMPLETED;
        entry.seq = one->free_seq;
        status = add(s, 4, &entry, err);
    }
    entry.action = end_action(one);
    entry.seq = one->is_at_once ? at->free_requested_seq : one->free_seq;
    entry.address += cut == NULL ? 0 : (uint64_t)cut->left_bytes;
    if (one->is_driver)
        entry.size_bytes = at->size_bytes - (cut == NULL ? 0 : cut->size_bytes);
    return status == NM_OK ? add(s, 3, &entry, err) : status;
}

/* NM_END: too much waits. */
static nm_status take_row(void *context, const nm_allocation_values *at, nm_error *err)
{
    stream *s = context;
    const nm_snapshot_heap *heap = nm_snapshot_heap_of(s->tables, at->heap_id);
    nm_status status = NM_OK;

    if (s->waiting.count >= WAITING_MAX)
        return NM_END;
    if (heap == NULL || heap->device != s->device)
        return NM_OK;
    known_row one = know_row(s, at, heap);
    s->row_count++;
    if (at->alloc_seq != NM_NULL) {
        status = give_until(s, at->alloc_seq, err);
        s->from_seq = at->alloc_seq;
    }
    if (status == NM_OK && at->alloc_seq != NM_NULL)
        status = add_begin(s, &one, err);
    return status == NM_OK ? add_end(s, &one, err) : status;
}

/* The entries of a device. *is_full: too much waits, and what is not given begins at s->from_seq. */
static nm_status give_device(stream *s, bool has_rows, bool *is_full, nm_error *err)
{
    static const nm_allocation_request all = {
        NM_ALLOCATIONS_ALL,
        "allocation_id heap_id alloc_seq alloc_ns address size_bytes requested_bytes stream segment_id stack_id "
        "private_pool "
        "is_segment is_mapped split_from_id free_requested_seq end_kind free_seq free_stack_id free_ns "};
    nm_status status = nm_snapshot_others_ask(s->db, s->device, &s->others, err);

    s->from_seq = INT64_MIN;
    if (status == NM_OK) {
        step_other(s);
        status = has_rows ? nm_allocation_rows_each(s->db, &all, take_row, s, err) : NM_OK;
    }
    *is_full = s->waiting.count >= WAITING_MAX;
    if (status == NM_OK && !*is_full)
        status = give_until(s, INT64_MAX, err);
    s->waiting.count = 0;
    status = nm_question_end(s->others, status, err);
    s->others = NULL;
    return status;
}

/* ---- Whether they lie in order ------------------------------------------------------------------------------------- */

typedef struct seen { /* of a device */
    int64_t last_seq;
    bool has_rows, has_begun;
} seen;

typedef struct look { /* at all rows */
    const stream *s;
    seen *devices;
    int64_t device_count;
    int count; /* of devices with rows */
    bool is_ordered;
} look;

static bool is_before(int64_t seq, int64_t alloc_seq)
{
    return seq != NM_NULL && alloc_seq != NM_NULL && seq < alloc_seq;
}

/* Does it begin behind those before it, and end behind its beginning? */
static bool is_next(seen *device, const nm_allocation_values *row)
{
    bool has_seq = row->alloc_seq != NM_NULL;
    bool is_behind = device->has_begun && (!has_seq || row->alloc_seq < device->last_seq);

    device->has_rows = true;
    device->has_begun = device->has_begun || has_seq;
    device->last_seq = has_seq ? row->alloc_seq : 0;
    return !is_behind && !is_before(row->free_seq, row->alloc_seq) &&
           !is_before(row->free_requested_seq, row->alloc_seq);
}

/* NM_END: they are in no order. */
static nm_status look_at_row(void *context, const nm_allocation_values *row, nm_error *err)
{
    look *at = context;
    const nm_snapshot_heap *heap = nm_snapshot_heap_of(at->s->tables, row->heap_id);

    (void)err;
    if (heap == NULL)
        return NM_OK;
    at->is_ordered = heap->device >= 0 && heap->device < at->device_count;
    if (!at->is_ordered)
        return NM_END;
    at->count += !at->devices[heap->device].has_rows;
    at->is_ordered = is_next(&at->devices[heap->device], row) && at->count <= DEVICES_IN_ORDER_MAX;
    return at->is_ordered ? NM_OK : NM_END;
}

/* *is_ordered: the rows of each device lie in order, and few devices have any. */
static nm_status look_at_order(const stream *s, seen *devices, int64_t device_count, bool *is_ordered, nm_error *err)
{
    static const nm_allocation_request all = {NM_ALLOCATIONS_ALL, "heap_id alloc_seq free_seq free_requested_seq "};
    look at = {.s = s, .devices = devices, .device_count = device_count, .is_ordered = true};
    nm_status status = nm_allocation_rows_each(s->db, &all, look_at_row, &at, err);

    *is_ordered = at.is_ordered;
    return status;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static nm_status give_sorted(stream *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_snapshot_entries_row row;
    nm_status status = nm_snapshot_entries_ask(s->db, s->from_device, s->from_seq, &rows, err);

    while (status == NM_OK && nm_snapshot_entries_next(rows, &row)) {
        nm_snapshot_entry entry = read_entry(&row);

        status = s->take(s->context, row.device, &entry, err);
    }
    return nm_question_end(rows, status, err);
}

nm_status nm_snapshot_each_entry(sqlite3 *db, const nm_snapshot_tables *tables, int64_t device_count,
                                 nm_snapshot_take *take, void *context, nm_error *err)
{
    stream s = {.db = db, .tables = tables, .take = take, .context = context, .from_device = -1, .from_seq = INT64_MIN};
    seen *devices = calloc((size_t)device_count + 1, sizeof *devices);
    bool is_ordered = false, is_full = false;
    nm_status status = devices == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                                       : look_at_order(&s, devices, device_count, &is_ordered, err);

    for (; status == NM_OK && is_ordered && !is_full && s.device < device_count; s.device++) {
        status = give_device(&s, devices[s.device].has_rows, &is_full, err);
        s.from_device = s.device;
    }
    if (status == NM_OK && (!is_ordered || is_full))
        status = give_sorted(&s, err);
    free(s.waiting.items);
    free(devices);
    return status == NM_END ? NM_OK : status;
}
