/* SPDX-License-Identifier: Apache-2.0
 *
 * From rows to the order of events. What the pool gave back to the driver is either what the program wanted (it emptied
 * the cache: replayed, for it does so with any allocator) or what the pool itself did to go on (not replayed: the simulated
 * pool does that by itself). A run of releases ends where the program allocates or gives up a block; that a block given up
 * before becomes free does not end it, since a pool that empties its cache waits for those on the way. It is the program's
 * when the stack says so; else it is the pool's own if an allocation has just failed, if it left empty segments behind (a
 * collection, or a search for one large block), or if the pool grew right behind it by more than it had ever held.
 */
#include "whatif/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/spoken.h"
#include "whatif/workload_build.h"

/* What happens at a place in the order. At equal places: in this order. Those of blocks come from the gather's journal. */
typedef enum raw_kind {
    RAW_STEP = 1,
    RAW_BLOCK_FREED,
    RAW_RANGE_GIVEN,
    RAW_RANGE_TAKEN,
    RAW_FREE_REQUESTED,
    RAW_BLOCK_ALLOCATED,
    RAW_FAILED,
} raw_kind;

typedef struct raw_op {
    uint64_t place; /* seq, from the first one on */
    uint32_t kind;
    uint32_t index;
} raw_op;

typedef struct raw_ops {
    raw_op *items;
    size_t count, capacity;
} raw_ops;

/* ---- Lanes ------------------------------------------------------------------------------------------------------- */

uint64_t nm_build_range_bytes(const nm_gather_row *range, bool is_other)
{
    uint64_t first = is_other ? range->block_bytes : range->requested_bytes;

    return first != 0 ? first : range->block_bytes + range->requested_bytes;
}

nm_status nm_build_lane(nm_build *build, const nm_gather_row *row, uint32_t *lane, nm_error *err)
{
    nm_key key = {row->pool, build->options.is_one_stream ? 0 : row->stream};
    const uint64_t *found = nm_map_get(&build->lane_of, key);
    nm_status status;

    if (found != NULL) {
        *lane = (uint32_t)*found;
        return NM_OK;
    }
    *lane = (uint32_t)build->workload->lanes.count;
    status = nm_workload_add_lane(build->workload, (nm_lane){key.high, key.low}, err);
    return status == NM_OK ? nm_map_put(&build->lane_of, key, *lane, err) : status;
}

/* ---- Whose driver memory ----------------------------------------------------------------------------------------- */

/* Driver memory of the heap's device and process. */
static nm_status find_ranges(nm_build *build, nm_error *err)
{
    const nm_gather *gather = build->gather;
    nm_status status = NM_OK;

    for (size_t i = 0; i < gather->ranges.count && status == NM_OK; i++) {
        const nm_gather_row *row = &gather->ranges.items[i];
        const nm_gather_heap *heap = &gather->heaps.items[row->heap];

        if (heap->process_id != build->heap->process_id || heap->device_id != build->heap->device_id)
            continue;
        build->ranges[i].owner = row->is_segment ? NM_RANGE_UNCLAIMED : NM_RANGE_OTHER;
        status = nm_map_put(&build->range_of, (nm_key){0, row->allocation_id}, i, err);
    }
    return status;
}

static nm_range_info *range_of(const nm_build *build, uint64_t allocation_id)
{
    const uint64_t *found = allocation_id == 0 ? NULL : nm_map_get(&build->range_of, (nm_key){0, allocation_id});

    return found == NULL ? NULL : &build->ranges[*found];
}

/* What blocks with that in common are to the pool at hand. */
static nm_status find_like(nm_build *build, uint32_t number, nm_error *err)
{
    nm_gather_like like = nm_gather_like_of(build->gather, number);
    nm_like_info *info = &build->likes[number];
    uint64_t bytes = like.requested_bytes != 0 ? like.requested_bytes : like.block_bytes;

    *info = (nm_like_info){
        .state = like.heap != build->heap_index             ? NM_LIKE_FOREIGN
                 : bytes == 0 || bytes > NM_WHATIF_SIZE_MAX ? NM_LIKE_UNSIZED
                                                            : NM_LIKE_SIZED,
        .is_block_sized = like.requested_bytes == 0,
        .is_streamless = like.stream == 0,
        .is_exported = like.is_exported != 0,
        .bytes = bytes,
    };
    if (info->state == NM_LIKE_FOREIGN)
        return NM_OK;
    info->is_small = nm_caching_block_bytes(&build->settings, bytes, like.requested_bytes == 0) <= NM_SMALL_BYTES_MAX;
    return nm_build_lane(build, &(nm_gather_row){.pool = like.pool, .stream = like.stream}, &info->lane, err);
}

/* A block claims the driver memory that it lies in for its pool; of several lanes the last one has it. */
static void claim(nm_build *build, const nm_like_info *info, uint64_t segment_id, uint32_t row)
{
    nm_range_info *range = range_of(build, segment_id);

    if (range == NULL)
        return;
    if (info->state == NM_LIKE_FOREIGN) {
        range->owner = range->owner == NM_RANGE_OURS ? range->owner : NM_RANGE_OTHER;
        return;
    }
    if (info->is_small)
        range->is_small = true;
    else
        range->is_large = true;
    if (range->owner != NM_RANGE_OURS || row >= range->claimed_by) {
        range->lane = info->lane;
        range->claimed_by = row;
    }
    range->owner = NM_RANGE_OURS;
}

/* A segment in which nothing ever lay belongs to the pool as well: it is cached. */
static nm_status claim_rest(nm_build *build, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < build->gather->ranges.count && status == NM_OK; i++)
        if (build->ranges[i].owner == NM_RANGE_UNCLAIMED) {
            build->ranges[i].owner = NM_RANGE_OURS;
            status = nm_build_lane(build, &build->gather->ranges.items[i], &build->ranges[i].lane, err);
        }
    return status;
}

static void count_block(nm_recorded *recorded, const nm_like_info *info, bool is_baseline)
{
    recorded->request_count += !is_baseline;
    recorded->block_sized_count += info->is_block_sized;
    recorded->streamless_count += info->is_streamless;
    recorded->exported_count += info->is_exported;
    if (is_baseline) {
        recorded->baseline_block_count++;
        recorded->baseline_block_bytes += info->bytes;
    }
}

/* A block that lives, of ours: counted, and its request is one. */
static nm_status note_block(nm_build *build, nm_like_info *info, bool is_baseline, nm_error *err)
{
    nm_request request = {info->bytes, info->lane, info->is_block_sized};
    nm_status status = NM_OK;

    if (info->state == NM_LIKE_UNSIZED)
        build->workload->recorded.unsized_count++;
    if (info->state != NM_LIKE_SIZED)
        return NM_OK;
    count_block(&build->workload->recorded, info, is_baseline);
    if (info->request == 0) {
        status = nm_workload_number(build->workload, request, &info->request, err);
        info->request++;
    }
    return status;
}

/* A replay never gives such a row; a database that was meddled with may. */
static nm_status fail_contrary(nm_error *err)
{
    return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "an allocation ends before it begins");
}

/* What begins in the journal claims what it lies in, and is noted unless it ended where it began: then it never mattered. */
static nm_status note_begun(void *context, const nm_journal_entry *entry, nm_error *err)
{
    nm_build *build = context;
    nm_like_info *info = &build->likes[entry->value];
    nm_status status = info->state == NM_LIKE_UNSEEN ? find_like(build, entry->value, err) : NM_OK;

    if (status != NM_OK)
        return status;
    claim(build, info, entry->segment_id, entry->row);
    if (entry->kind == NM_JOURNAL_CONTRARY && info->state == NM_LIKE_SIZED)
        return fail_contrary(err);
    return entry->kind == NM_JOURNAL_MOMENTARY ? NM_OK : note_block(build, info, false, err);
}

static nm_status note_baseline(nm_build *build, nm_error *err)
{
    const nm_gather_rows *rows = &build->gather->baseline;
    nm_status status = NM_OK;

    for (size_t i = 0; i < rows->count && status == NM_OK; i++) {
        const nm_gather_row *row = &rows->items[i];
        nm_like_info *info = &build->likes[row->like];

        if (info->state == NM_LIKE_UNSEEN)
            status = find_like(build, row->like, err);
        if (status != NM_OK)
            return status;
        claim(build, info, row->segment_id, row->row);
        status = note_block(build, info, true, err);
    }
    return status;
}

static nm_status note_blocks(nm_build *build, nm_error *err)
{
    nm_status status = find_ranges(build, err);

    if (status == NM_OK)
        status = note_baseline(build, err);
    if (status == NM_OK)
        status = nm_journal_each_begun(&build->gather->journal, note_begun, build, err);
    return status == NM_OK ? claim_rest(build, err) : status;
}

/* ---- Driver memory ----------------------------------------------------------------------------------------------- */

static bool is_momentary(const nm_gather_row *row)
{
    return row->alloc_seq != NM_NO_SEQ && row->free_seq == row->alloc_seq;
}

static bool is_contrary(const nm_gather_row *row)
{
    return row->alloc_seq != NM_NO_SEQ && row->free_seq != NM_NO_SEQ && row->free_seq < row->alloc_seq;
}

static nm_status add_range(nm_build *build, size_t at, nm_error *err)
{
    const nm_gather_row *row = &build->gather->ranges.items[at];
    nm_range_info *range = &build->ranges[at];
    nm_recorded *recorded = &build->workload->recorded;
    uint64_t bytes = nm_build_range_bytes(row, range->owner == NM_RANGE_OTHER);

    if (range->owner != NM_RANGE_FOREIGN && is_contrary(row))
        return fail_contrary(err);
    if (is_momentary(row))
        range->owner = NM_RANGE_FOREIGN;
    if (range->owner != NM_RANGE_OURS)
        return NM_OK;
    recorded->has_reserved = true;
    recorded->exported_count += row->is_exported;
    recorded->is_expandable = recorded->is_expandable || row->is_mapped;
    if (row->alloc_seq == NM_NO_SEQ) {
        recorded->baseline_segment_count++;
        recorded->baseline_segment_bytes += bytes;
    }
    return NM_OK;
}

static nm_status add_ranges(nm_build *build, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < build->gather->ranges.count && status == NM_OK; i++)
        status = add_range(build, i, err);
    return status;
}

/* ---- The order --------------------------------------------------------------------------------------------------- */

static nm_status add_raw(raw_ops *ops, int64_t seq, raw_kind kind, size_t index, nm_error *err)
{
    nm_status status;

    if (seq == NM_NO_SEQ)
        return NM_OK;
    status = nm_array_grow(&ops->items, &ops->capacity, ops->count + 1, sizeof *ops->items, err);
    if (status == NM_OK)
        ops->items[ops->count++] = (raw_op){(uint64_t)seq ^ UINT64_C(1) << 63, kind, (uint32_t)index};
    return status;
}

static nm_status add_raw_ranges(const nm_build *build, raw_ops *ops, raw_kind kind, nm_error *err)
{
    const nm_gather_rows *ranges = &build->gather->ranges;
    nm_status status = NM_OK;

    for (size_t i = 0; i < ranges->count && status == NM_OK; i++)
        if (build->ranges[i].owner != NM_RANGE_FOREIGN)
            status = add_raw(ops, kind == RAW_RANGE_GIVEN ? ranges->items[i].free_seq : ranges->items[i].alloc_seq,
                             kind, i, err);
    return status;
}

/* Failures of the pool, and of the driver of its device; steps of its process. */
static nm_status add_raw_others(const nm_build *build, raw_ops *ops, raw_kind kind, nm_error *err)
{
    const nm_gather *gather = build->gather;
    nm_status status = NM_OK;

    for (size_t i = 0; i < gather->steps.count && status == NM_OK && kind == RAW_STEP; i++)
        if (gather->steps.items[i].process_id == build->heap->process_id)
            status = add_raw(ops, gather->steps.items[i].begin_seq, kind, i, err);
    for (size_t i = 0; i < gather->failures.count && status == NM_OK && kind == RAW_FAILED; i++) {
        const nm_gather_heap *heap = &gather->heaps.items[gather->failures.items[i].heap];

        if (heap->process_id == build->heap->process_id && heap->device_id == build->heap->device_id)
            status = add_raw(ops, gather->failures.items[i].seq, kind, i, err);
    }
    return status;
}

/* Sorts by place; what is equal keeps its order. Two bytes of the place in each pass, which is as many as it needs. */
static nm_status sort_raw(raw_ops *ops, nm_error *err)
{
    enum { DIGITS = 1 << 16 };
    raw_op *other = calloc(ops->count + 1, sizeof *other);
    size_t *starts = calloc(DIGITS + 1, sizeof *starts);
    uint64_t differing = 0;

    if (other == NULL || starts == NULL) {
        free(other);
        free(starts);
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    }
    for (size_t i = 1; i < ops->count; i++)
        differing |= ops->items[i].place ^ ops->items[0].place;
    for (int shift = 0; shift < 64; shift += 16) {
        if ((differing >> shift & (DIGITS - 1)) == 0)
            continue;
        memset(starts, 0, (DIGITS + 1) * sizeof *starts);
        for (size_t i = 0; i < ops->count; i++)
            starts[(ops->items[i].place >> shift & (DIGITS - 1)) + 1]++;
        for (size_t i = 0; i < DIGITS; i++)
            starts[i + 1] += starts[i];
        for (size_t i = 0; i < ops->count; i++)
            other[starts[ops->items[i].place >> shift & (DIGITS - 1)]++] = ops->items[i];
        raw_op *sorted = other;
        other = ops->items;
        ops->items = sorted;
        ops->capacity = ops->count + 1;
    }
    free(other);
    free(starts);
    return NM_OK;
}

/* All but those of blocks. */
static nm_status make_raw(const nm_build *build, raw_ops *ops, nm_error *err)
{
    nm_status status = add_raw_others(build, ops, RAW_STEP, err);

    if (status == NM_OK)
        status = add_raw_ranges(build, ops, RAW_RANGE_GIVEN, err);
    if (status == NM_OK)
        status = add_raw_ranges(build, ops, RAW_RANGE_TAKEN, err);
    if (status == NM_OK)
        status = add_raw_others(build, ops, RAW_FAILED, err);
    return status == NM_OK && ops->count > 1 ? sort_raw(ops, err) : status;
}

/* ---- The walk ---------------------------------------------------------------------------------------------------- */

typedef struct held { /* of a slot */
    uint32_t like;
    uint32_t range; /* from 1; 0: of none that is known */
} held;

typedef struct walk {
    nm_build *build;
    struct {
        held *items;
        size_t count, capacity;
    } held;
    uint64_t reserved_bytes, other_bytes, live_bytes;
    uint64_t empty_count; /* whole segments of ours that hold nothing */
    bool has_failed;      /* since the last allocation */
    /* The largest that the driver has refused since then, and no request of the pool tells of; NULL: none. */
    const nm_gather_failure *refused;
    size_t refused_at; /* its place among the operations */
    bool is_releasing; /* a run of releases goes on: */
    size_t flush_at;   /* its place among the operations */
    uint64_t reserved_before;
    bool is_emptied;     /* a stack says that the program wanted it */
    uint64_t emptied_by; /* the stack asked about last, and what it says */
    bool is_emptied_by;
    nm_map let_go; /* private pools that gave memory back */
} walk;

static nm_status emit(walk *state, nm_op_kind kind, uint32_t index, nm_error *err)
{
    return nm_workload_add_op(state->build->workload, kind, index, err);
}

static nm_status number_other(walk *state, size_t range, uint32_t *request, nm_error *err)
{
    uint64_t bytes = nm_build_range_bytes(&state->build->gather->ranges.items[range], true);

    return nm_workload_number(state->build->workload, (nm_request){.bytes = bytes}, request, err);
}

/* A segment that emptying the cache would give back if it held nothing: no private pool's, no expandable one. */
static bool is_plain(const walk *state, size_t range)
{
    const nm_range_info *info = &state->build->ranges[range];

    return !state->build->gather->ranges.items[range].is_mapped &&
           state->build->workload->lanes.items[info->lane].private_pool == 0;
}

/* The run of releases is over; the pool grows by `growth_bytes` now, or it does not. */
static void end_releases(walk *state, uint64_t growth_bytes)
{
    nm_workload *workload = state->build->workload;
    nm_recorded *recorded = &workload->recorded;
    bool is_own;

    if (!state->is_releasing)
        return;
    state->is_releasing = false;
    is_own = state->has_failed || state->empty_count > 0 ||
             (growth_bytes > 0 && state->reserved_before + growth_bytes > recorded->peak_reserved_bytes);
    is_own = is_own && !state->is_emptied;
    recorded->own_flush_count += is_own;
    recorded->flush_count += !is_own;
    if (is_own || state->build->options.is_flush_ignored)
        workload->ops.items[state->flush_at] = (uint32_t)NM_OP_NOTHING << NM_OP_INDEX_BITS;
}

/* A private pool gives memory back only when its graph is gone, and before the flush that finds it so. */
static nm_status let_go(walk *state, uint32_t lane, nm_error *err)
{
    nm_workload *workload = state->build->workload;
    nm_key pool = {0, workload->lanes.items[lane].private_pool};
    nm_status status;

    if (pool.low == 0 || nm_map_get(&state->let_go, pool) != NULL)
        return NM_OK;
    workload->ops.items[state->flush_at] = (uint32_t)NM_OP_NOTHING << NM_OP_INDEX_BITS;
    status = nm_map_put(&state->let_go, pool, 1, err);
    if (status == NM_OK)
        status = emit(state, NM_OP_LET_GO, lane, err);
    state->flush_at = workload->ops.count;
    return status == NM_OK ? emit(state, NM_OP_FLUSH, 0, err) : status;
}

/* Ranges given back in one go have one stack. */
static bool is_emptied(walk *state, uint64_t stack_id)
{
    if (stack_id != state->emptied_by) {
        state->emptied_by = stack_id;
        state->is_emptied_by = nm_gather_is_emptying(state->build->gather, stack_id);
    }
    return state->is_emptied_by;
}

static nm_status give_range(walk *state, size_t at, nm_error *err)
{
    const nm_gather_row *row = &state->build->gather->ranges.items[at];
    nm_range_info *range = &state->build->ranges[at];
    nm_status status = NM_OK;

    if (range->owner == NM_RANGE_OTHER) {
        uint32_t request = 0;

        state->other_bytes -= nm_build_range_bytes(row, true);
        status = number_other(state, at, &request, err);
        return status == NM_OK ? emit(state, NM_OP_GIVE_OTHER, request, err) : status;
    }
    if (!state->is_releasing) {
        state->is_releasing = true;
        state->is_emptied = false;
        state->reserved_before = state->reserved_bytes;
        state->flush_at = state->build->workload->ops.count;
        status = emit(state, NM_OP_FLUSH, 0, err);
    }
    if (status == NM_OK)
        status = let_go(state, range->lane, err);
    state->is_emptied = state->is_emptied || is_emptied(state, row->free_stack_id);
    state->reserved_bytes -= nm_build_range_bytes(row, false);
    state->empty_count -= range->is_alive && range->live_count == 0 && is_plain(state, at);
    range->is_alive = false;
    return status;
}

/* Adds to a sum of bytes. One that no device can hold is refused, so that no sum overflows. */
static nm_status add_bytes(uint64_t *sum, uint64_t bytes, uint64_t *peak, nm_error *err)
{
    if (bytes > NM_WHATIF_UNLIMITED || *sum > NM_WHATIF_UNLIMITED - bytes)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "more than 1 EiB of memory at once");
    *sum += bytes;
    *peak = *sum > *peak ? *sum : *peak;
    return NM_OK;
}

static nm_status take_range(walk *state, size_t at, nm_error *err)
{
    const nm_gather_row *row = &state->build->gather->ranges.items[at];
    nm_range_info *range = &state->build->ranges[at];
    nm_recorded *recorded = &state->build->workload->recorded;
    uint64_t bytes = nm_build_range_bytes(row, range->owner == NM_RANGE_OTHER);

    if (range->owner == NM_RANGE_OTHER) {
        uint32_t request = 0, slot;
        nm_status status = add_bytes(&state->other_bytes, bytes, &recorded->peak_other_bytes, err);

        if (status == NM_OK)
            status = number_other(state, at, &request, err);
        return status == NM_OK
                   ? nm_workload_add_ask(state->build->workload, NM_OP_TAKE_OTHER, request, row->alloc_seq, &slot, err)
                   : status;
    }
    if (!row->is_remainder && row->alloc_seq != NM_NO_SEQ) {
        end_releases(state, bytes);
        recorded->segment_count++;
    }
    range->is_alive = true;
    state->empty_count += is_plain(state, at);
    return add_bytes(&state->reserved_bytes, bytes, &recorded->peak_reserved_bytes, err);
}

/* A block of ours begins (+1) or ends (-1) to hold its segment. */
static void hold(walk *state, uint32_t number, int change)
{
    nm_range_info *range = number == 0 ? NULL : &state->build->ranges[number - 1];

    if (range == NULL || !range->is_alive || range->owner != NM_RANGE_OURS || (change < 0 && range->live_count == 0))
        return;
    state->empty_count -= range->live_count == 0 && is_plain(state, number - 1);
    range->live_count += (uint32_t)change;
    state->empty_count += range->live_count == 0 && is_plain(state, number - 1);
}

/* The block in that slot lives. */
static nm_status begin_life(walk *state, uint32_t slot, uint32_t row, uint32_t like, uint64_t segment_id, nm_error *err)
{
    nm_build *build = state->build;
    const nm_range_info *range = range_of(build, segment_id);
    nm_status status =
        nm_array_grow(&state->held.items, &state->held.capacity, (size_t)slot + 1, sizeof *state->held.items, err);

    if (status != NM_OK)
        return status;
    state->held.items[slot] = (held){like, range == NULL ? 0 : (uint32_t)(range - build->ranges) + 1};
    build->slot_of[row] = slot + 1;
    hold(state, state->held.items[slot].range, 1);
    return add_bytes(&state->live_bytes, build->likes[like].bytes, &build->workload->peak_live_bytes, err);
}

static nm_status begin_block(walk *state, const nm_journal_entry *entry, nm_error *err)
{
    nm_build *build = state->build;
    const nm_like_info *info = &build->likes[entry->value];
    uint32_t slot;
    nm_status status;

    if (info->state != NM_LIKE_SIZED || entry->kind != NM_JOURNAL_ALLOCATED)
        return NM_OK;
    end_releases(state, 0);
    state->has_failed = false;
    state->refused = NULL;
    status = nm_workload_add_ask(build->workload, NM_OP_ALLOC, info->request - 1,
                                 (int64_t)(entry->place ^ UINT64_C(1) << 63), &slot, err);
    return status == NM_OK ? begin_life(state, slot, entry->row, entry->value, entry->segment_id, err) : status;
}

/* What is asked for before it lives, or when it no longer does, changes nothing for a pool. */
static nm_status give_up_block(walk *state, const nm_journal_entry *entry, nm_error *err)
{
    const nm_build *build = state->build;
    uint32_t slot = build->slot_of[entry->row];

    if (slot != 0 || (entry->value != 0 && build->likes[entry->value - 1].state == NM_LIKE_SIZED))
        end_releases(state, 0);
    return slot == 0 ? NM_OK : emit(state, NM_OP_FREE_REQUESTED, slot - 1, err);
}

static nm_status end_block(walk *state, const nm_journal_entry *entry, nm_error *err)
{
    nm_build *build = state->build;
    nm_workload *workload = build->workload;
    uint32_t slot = build->slot_of[entry->row] - 1;
    uint32_t last = workload->ops.count == 0 ? 0 : workload->ops.items[workload->ops.count - 1];

    if (build->slot_of[entry->row] == 0)
        return NM_OK;
    if (entry->value == 0)
        end_releases(state, 0);
    build->slot_of[entry->row] = 0;
    hold(state, state->held.items[slot].range, -1);
    state->live_bytes -= build->likes[state->held.items[slot].like].bytes;
    if (nm_op_kind_of(last) == NM_OP_FREE_REQUESTED && nm_op_index_of(last) == slot)
        workload->ops.count--; /* at once: no other stream was in the way */
    return emit(state, NM_OP_FREE, slot, err);
}

/* A request that failed. */
static nm_status number_failed(walk *state, const nm_gather_failure *failure, uint32_t *request, nm_error *err)
{
    nm_request asked = {.bytes = failure->requested_bytes};
    nm_status status = nm_build_lane(state->build, &(nm_gather_row){.stream = failure->stream}, &asked.lane, err);

    return status == NM_OK ? nm_workload_number(state->build->workload, asked, request, err) : status;
}

/* Whether one of the driver's was the pool's is seen at the end: its place is kept. */
static nm_status fail_request(walk *state, size_t at, nm_error *err)
{
    const nm_gather_failure *failure = &state->build->gather->failures.items[at];
    bool is_ours = failure->heap == state->build->heap_index;
    uint32_t request = 0, slot;
    nm_status status;

    state->has_failed = true;
    if (failure->requested_bytes == 0 || (is_ours && failure->requested_bytes > NM_WHATIF_SIZE_MAX) ||
        (!is_ours && state->refused != NULL && state->refused->requested_bytes >= failure->requested_bytes))
        return NM_OK;
    if (!is_ours) {
        state->refused = failure;
        state->refused_at = state->build->workload->ops.count;
        return emit(state, NM_OP_NOTHING, 0, err);
    }
    end_releases(state, 0);
    state->refused = NULL;
    state->build->workload->recorded.failed_count++;
    status = number_failed(state, failure, &request, err);
    return status == NM_OK
               ? nm_workload_add_ask(state->build->workload, NM_OP_FAILED, request, failure->seq, &slot, err)
               : status;
}

static nm_status walk_op(walk *state, const raw_op *op, nm_error *err)
{
    switch ((raw_kind)op->kind) {
    case RAW_STEP:
        return emit(state, NM_OP_STEP, 0, err);
    case RAW_RANGE_GIVEN:
        return give_range(state, op->index, err);
    case RAW_RANGE_TAKEN:
        return take_range(state, op->index, err);
    case RAW_FAILED:
        return fail_request(state, op->index, err);
    default:
        return NM_OK;
    }
}

static raw_kind raw_kind_of(const nm_journal_entry *entry)
{
    return entry->kind == NM_JOURNAL_FREED            ? RAW_BLOCK_FREED
           : entry->kind == NM_JOURNAL_FREE_REQUESTED ? RAW_FREE_REQUESTED
                                                      : RAW_BLOCK_ALLOCATED;
}

static nm_status walk_entry(walk *state, const nm_journal_entry *entry, nm_error *err)
{
    return entry->kind == NM_JOURNAL_FREED            ? end_block(state, entry, err)
           : entry->kind == NM_JOURNAL_FREE_REQUESTED ? give_up_block(state, entry, err)
                                                      : begin_block(state, entry, err);
}

static bool is_before(const raw_op *op, const nm_journal_entry *entry)
{
    return op->place != entry->place ? op->place < entry->place : op->kind < (uint32_t)raw_kind_of(entry);
}

/* Both in one order. */
static nm_status walk_all(walk *state, const raw_ops *ops, nm_error *err)
{
    nm_journal_entry entry;
    size_t at = 0;
    nm_status status = nm_journal_begin(&state->build->gather->journal, err);

    while (status == NM_OK && nm_journal_next(&state->build->gather->journal, &entry)) {
        for (; at < ops->count && status == NM_OK && is_before(&ops->items[at], &entry); at++)
            status = walk_op(state, &ops->items[at], err);
        if (status == NM_OK)
            status = walk_entry(state, &entry, err);
    }
    for (; at < ops->count && status == NM_OK; at++)
        status = walk_op(state, &ops->items[at], err);
    return status;
}

/* The driver was asked where it had been asked for segments of the pool and for no other memory, or by the same caller: as in
 * store/verdicts/out_of_memory_pools.sql. What the request itself had got before is nobody's yet. */
static bool is_asked_by_pool(const walk *state, const nm_gather_failure *failure)
{
    const nm_gather *gather = state->build->gather;
    uint64_t frame_id = nm_gather_frame(gather, failure->stack_id);
    uint64_t caller_id = nm_gather_caller(gather, failure->stack_id);
    bool has_asked = false, has_other = false;

    for (size_t i = 0; i < gather->ranges.count && frame_id != 0; i++) {
        nm_range_owner owner = state->build->ranges[i].owner;
        uint64_t stack_id = gather->ranges.items[i].stack_id;

        if (owner == NM_RANGE_FOREIGN || nm_gather_frame(gather, stack_id) != frame_id)
            continue;
        if (owner == NM_RANGE_OURS && caller_id != 0 && nm_gather_caller(gather, stack_id) == caller_id)
            return true;
        has_asked |= owner == NM_RANGE_OURS;
        has_other |= owner != NM_RANGE_OURS && stack_id != failure->stack_id;
    }
    return has_asked && !has_other;
}

/* The largest request for which a caching pool asks the driver for so much, padding and rounding left room: what fits with it fits. */
static uint64_t largest_request(uint64_t segment_bytes)
{
    uint64_t block_bytes = segment_bytes <= 2 << 20 ? 1 << 20 : segment_bytes == 20 << 20 ? 10 << 20 : segment_bytes;

    return block_bytes > 1024 ? block_bytes - 1024 : block_bytes;
}

/* What the run died of. */
static nm_status end_refused(walk *state, nm_error *err)
{
    nm_recorded *recorded = &state->build->workload->recorded;
    nm_gather_failure failure;
    nm_workload *workload = state->build->workload;
    uint32_t request = 0, slot = 0;
    nm_status status;

    if (state->refused == NULL)
        return NM_OK;
    recorded->refused_bytes = state->refused->requested_bytes;
    if (recorded->is_expandable || recorded->refused_bytes > NM_WHATIF_SIZE_MAX ||
        !is_asked_by_pool(state, state->refused))
        return NM_OK; /* a page of a segment that grows says nothing of the request */
    recorded->is_refusal_replayed = true;
    failure = *state->refused;
    failure.requested_bytes = largest_request(recorded->refused_bytes);
    status = number_failed(state, &failure, &request, err);
    if (status == NM_OK)
        status = nm_workload_note_ask(workload, request, failure.seq, err); /* none was noted since */
    if (status == NM_OK)
        status = nm_workload_take_slot(workload, &slot, err);
    if (status == NM_OK)
        workload->ops.items[state->refused_at] = (uint32_t)NM_OP_FAILED << NM_OP_INDEX_BITS | slot;
    return status;
}

/* What was there at the beginning. */
static nm_status walk_baseline(walk *state, nm_error *err)
{
    const nm_gather *gather = state->build->gather;
    nm_status status = NM_OK;

    for (size_t i = 0; i < gather->ranges.count && status == NM_OK; i++)
        if (gather->ranges.items[i].alloc_seq == NM_NO_SEQ && state->build->ranges[i].owner != NM_RANGE_FOREIGN)
            status = take_range(state, i, err);
    for (size_t i = 0; i < gather->baseline.count && status == NM_OK; i++) {
        const nm_gather_row *row = &gather->baseline.items[i];
        uint32_t slot = 0;

        if (state->build->likes[row->like].state != NM_LIKE_SIZED)
            continue;
        status = nm_workload_take_slot(state->build->workload, &slot, err);
        if (status == NM_OK)
            status = begin_life(state, slot, row->row, row->like, row->segment_id, err);
    }
    return status;
}

/* The most that was ever reserved, which the walk compares with; the walk itself finds it anew. */
static void find_peak(nm_build *build, const raw_ops *ops)
{
    uint64_t reserved = build->workload->recorded.baseline_segment_bytes;
    uint64_t peak = reserved;

    for (size_t i = 0; i < ops->count; i++) {
        const raw_op *op = &ops->items[i];
        bool is_taken = op->kind == RAW_RANGE_TAKEN;

        if ((!is_taken && op->kind != RAW_RANGE_GIVEN) || build->ranges[op->index].owner != NM_RANGE_OURS)
            continue;
        reserved += is_taken ? nm_build_range_bytes(&build->gather->ranges.items[op->index], false)
                             : 0 - nm_build_range_bytes(&build->gather->ranges.items[op->index], false);
        peak = reserved > peak ? reserved : peak;
    }
    build->workload->recorded.peak_reserved_bytes = peak;
}

/* About as many as there will be; what empties the cache is more. */
static nm_status reserve(const nm_build *build, const raw_ops *ops, nm_error *err)
{
    const nm_journal *journal = &build->gather->journal;

    return nm_workload_reserve(build->workload, journal->entry_count + ops->count,
                               journal->begun_count + build->gather->ranges.count + build->gather->failures.count, err);
}

static nm_status order_requests(nm_build *build, nm_error *err)
{
    walk state = {.build = build};
    raw_ops ops = {0};
    nm_status status = make_raw(build, &ops, err);

    find_peak(build, &ops);
    if (status == NM_OK)
        status = reserve(build, &ops, err);
    if (status == NM_OK)
        status = walk_baseline(&state, err);
    if (status == NM_OK)
        status = nm_workload_lay_out(build, err);
    if (status == NM_OK)
        status = walk_all(&state, &ops, err);
    if (status == NM_OK)
        status = end_refused(&state, err);
    end_releases(&state, 0);
    build->workload->recorded.reserved_bytes = state.reserved_bytes;
    free(ops.items);
    free(state.held.items);
    nm_map_free(&state.let_go);
    return status;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

/* Each reads its own variable, else that of all accelerators; where it is not known which it was, any of the three. */
static const char *conf_of(const nm_gather_process *process, const nm_gather_device *device)
{
    bool may_be_npu = device == NULL || !device->is_gpu;
    bool may_be_gpu = device == NULL || !device->is_npu;

    if (may_be_npu && process->npu_conf[0] != 0)
        return process->npu_conf;
    return may_be_gpu && process->cuda_conf[0] != 0 ? process->cuda_conf : process->any_conf;
}

/* What the process, its device and the pool's sums tell. */
static void copy_place(nm_build *build)
{
    const nm_gather *gather = build->gather;
    nm_workload *workload = build->workload;
    const uint64_t *process = nm_map_get(&gather->process_of, (nm_key){0, build->heap->process_id});
    const uint64_t *device = nm_map_get(&gather->device_of, (nm_key){0, build->heap->device_id});
    nm_error err;

    workload->is_npu =
        device == NULL || !gather->devices.items[*device].is_named || gather->devices.items[*device].is_npu;
    workload->capacity_bytes = device == NULL ? 0 : gather->devices.items[*device].capacity_bytes;
    workload->recorded.served_count = build->heap->served_count;
    workload->recorded.miss_count = build->heap->miss_count;
    workload->is_one_stream = build->options.is_one_stream;
    build->settings = nm_caching_settings_default(workload->is_npu);
    workload->page_bytes = build->settings.page_bytes;
    if (process == NULL)
        return;
    if (gather->processes.items[*process].is_hit_estimated && build->heap->miss_count == 0)
        workload->recorded.served_count = 0;
    memcpy(workload->conf,
           conf_of(&gather->processes.items[*process], device == NULL ? NULL : &gather->devices.items[*device]),
           sizeof workload->conf);
    workload->recorded.is_baseline_unknown = gather->has_unknown_baseline && gather->processes.items[*process].is_late;
    workload->recorded.has_pause = gather->processes.items[*process].has_pause;
    if (nm_caching_settings_parse(workload->conf, &build->settings, &err) != NM_OK) { /* of a version we do not know */
        build->settings = nm_caching_settings_default(workload->is_npu);
        snprintf(workload->conf_refusal, sizeof workload->conf_refusal,
                 nm_spoken("the recorded settings are not simulated: %s"), err.text);
    }
    workload->page_bytes = build->settings.page_bytes;
}

static nm_status new_build(nm_build *build, nm_error *err)
{
    build->workload = calloc(1, sizeof *build->workload);
    build->ranges = calloc(build->gather->ranges.count + 1, sizeof *build->ranges);
    build->likes = calloc(build->gather->likes.count + 1, sizeof *build->likes);
    build->slot_of = calloc((size_t)build->gather->block_count + 1, sizeof *build->slot_of);
    if (build->workload == NULL || build->ranges == NULL || build->likes == NULL || build->slot_of == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (build->gather->ranges.count >= UINT32_MAX)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "more than 4 billion allocations");
    return NM_OK;
}

nm_status nm_workload_new(nm_gather *gather, size_t heap, const nm_workload_options *options, nm_workload **out,
                          nm_error *err)
{
    nm_build build = {
        .gather = gather,
        .heap = &gather->heaps.items[heap],
        .heap_index = (uint32_t)heap,
        .options = *options,
    };
    nm_status status = new_build(&build, err);

    if (status == NM_OK) {
        copy_place(&build);
        status = note_blocks(&build, err);
    }
    if (status == NM_OK)
        status = add_ranges(&build, err);
    if (status == NM_OK)
        status = order_requests(&build, err);
    nm_journal_free(&gather->journal);
    free(build.ranges);
    free(build.likes);
    free(build.slot_of);
    nm_map_free(&build.lane_of);
    nm_map_free(&build.range_of);
    if (status != NM_OK) {
        nm_workload_free(build.workload);
        build.workload = NULL;
    }
    if (build.workload != NULL)
        nm_workload_settle(build.workload);
    *out = build.workload;
    return status;
}
