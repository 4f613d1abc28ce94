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

/* What happens at a place in the order. At equal places: in this order. */
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

/* ---- Parts of a workload ----------------------------------------------------------------------------------------- */

nm_status nm_workload_add_lane(nm_workload *workload, nm_lane lane, nm_error *err)
{
    nm_status status = nm_array_grow(&workload->lanes.items, &workload->lanes.capacity, workload->lanes.count + 1,
                                     sizeof *workload->lanes.items, err);

    if (status == NM_OK)
        workload->lanes.items[workload->lanes.count++] = lane;
    return status;
}

nm_status nm_workload_add_request(nm_workload *workload, nm_request request, uint32_t *index, nm_error *err)
{
    nm_status status;

    if (workload->requests.count >> NM_OP_INDEX_BITS != 0)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "more than %u requests of one pool", 1u << NM_OP_INDEX_BITS);
    status = nm_array_grow(&workload->requests.items, &workload->requests.capacity, workload->requests.count + 1,
                           sizeof *workload->requests.items, err);
    *index = (uint32_t)workload->requests.count;
    if (status == NM_OK)
        workload->requests.items[workload->requests.count++] = request;
    return status;
}

nm_status nm_workload_add_op(nm_workload *workload, nm_op_kind kind, uint32_t index, nm_error *err)
{
    nm_status status = nm_array_grow(&workload->ops.items, &workload->ops.capacity, workload->ops.count + 1,
                                     sizeof *workload->ops.items, err);

    if (status == NM_OK)
        workload->ops.items[workload->ops.count++] = (uint32_t)kind << NM_OP_INDEX_BITS | index;
    workload->step_count += kind == NM_OP_STEP;
    return status;
}

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

/* A block claims the driver memory that it lies in for its pool. */
static nm_status claim(nm_build *build, const nm_gather_row *block, nm_error *err)
{
    nm_range_info *range = range_of(build, block->segment_id);
    uint64_t bytes = block->requested_bytes != 0 ? block->requested_bytes : block->block_bytes;

    if (range == NULL)
        return NM_OK;
    if (block->heap != build->heap_index) {
        range->owner = range->owner == NM_RANGE_OURS ? range->owner : NM_RANGE_OTHER;
        return NM_OK;
    }
    if (nm_caching_block_bytes(&build->settings, bytes, block->requested_bytes == 0) <= NM_SMALL_BYTES_MAX)
        range->is_small = true;
    else
        range->is_large = true;
    range->owner = NM_RANGE_OURS;
    return nm_build_lane(build, block, &range->lane, err);
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

static nm_status claim_ranges(nm_build *build, nm_error *err)
{
    const nm_gather_rows *blocks = &build->gather->blocks;
    nm_status status = find_ranges(build, err);

    for (size_t i = 0; i < blocks->count && status == NM_OK; i++)
        status = claim(build, &blocks->items[i], err);
    return status == NM_OK ? claim_rest(build, err) : status;
}

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

static void count_block(nm_recorded *recorded, const nm_gather_row *row)
{
    recorded->request_count += row->alloc_seq != NM_NO_SEQ;
    recorded->block_sized_count += row->requested_bytes == 0;
    recorded->streamless_count += row->stream == 0;
    recorded->exported_count += row->is_exported;
    if (row->alloc_seq == NM_NO_SEQ) {
        recorded->baseline_block_count++;
        recorded->baseline_block_bytes += row->requested_bytes != 0 ? row->requested_bytes : row->block_bytes;
    }
}

/* Did it end where it began? Then it never mattered. */
static bool is_momentary(const nm_gather_row *row)
{
    return row->alloc_seq != NM_NO_SEQ && row->free_seq == row->alloc_seq;
}

/* A replay never gives such a row; a database that was meddled with may. */
static nm_status check_row(const nm_gather_row *row, nm_error *err)
{
    if (row->alloc_seq != NM_NO_SEQ && row->free_seq != NM_NO_SEQ && row->free_seq < row->alloc_seq)
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "an allocation ends before it begins");
    return NM_OK;
}

static nm_status add_block(nm_build *build, size_t at, nm_error *err)
{
    const nm_gather_row *row = &build->gather->blocks.items[at];
    nm_request request = {
        .bytes = row->requested_bytes != 0 ? row->requested_bytes : row->block_bytes,
        .seq = row->alloc_seq,
        .is_block_bytes = row->requested_bytes == 0,
    };
    nm_status status;

    build->request_of[at] = NM_NO_REQUEST;
    if (row->heap != build->heap_index || is_momentary(row))
        return NM_OK;
    if (request.bytes == 0 || request.bytes > NM_WHATIF_SIZE_MAX) {
        build->workload->recorded.unsized_count++;
        return NM_OK;
    }
    count_block(&build->workload->recorded, row);
    status = check_row(row, err);
    if (status == NM_OK)
        status = nm_build_lane(build, row, &request.lane, err);
    return status == NM_OK ? nm_workload_add_request(build->workload, request, &build->request_of[at], err) : status;
}

static nm_status add_range(nm_build *build, size_t at, nm_error *err)
{
    const nm_gather_row *row = &build->gather->ranges.items[at];
    nm_range_info *range = &build->ranges[at];
    nm_recorded *recorded = &build->workload->recorded;
    uint64_t bytes = nm_build_range_bytes(row, range->owner == NM_RANGE_OTHER);
    nm_status status = range->owner == NM_RANGE_FOREIGN ? NM_OK : check_row(row, err);

    if (is_momentary(row))
        range->owner = NM_RANGE_FOREIGN;
    if (status != NM_OK)
        return status;
    if (range->owner == NM_RANGE_OTHER)
        return nm_workload_add_request(build->workload, (nm_request){.bytes = bytes, .seq = row->alloc_seq},
                                       &range->request, err);
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

static nm_status add_requests(nm_build *build, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < build->gather->blocks.count && status == NM_OK; i++)
        status = add_block(build, i, err);
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

static nm_status add_raw_blocks(const nm_build *build, raw_ops *ops, raw_kind kind, nm_error *err)
{
    const nm_gather_rows *blocks = &build->gather->blocks;
    nm_status status = NM_OK;

    for (size_t i = 0; i < blocks->count && status == NM_OK; i++) {
        const nm_gather_row *row = &blocks->items[i];
        int64_t seq = kind == RAW_BLOCK_FREED      ? row->free_seq
                      : kind == RAW_FREE_REQUESTED ? row->free_requested_seq
                                                   : row->alloc_seq;

        if (build->request_of[i] != NM_NO_REQUEST)
            status = add_raw(ops, seq, kind, i, err);
    }
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

static nm_status make_raw(const nm_build *build, raw_ops *ops, nm_error *err)
{
    nm_status status = add_raw_others(build, ops, RAW_STEP, err);

    if (status == NM_OK)
        status = add_raw_blocks(build, ops, RAW_BLOCK_FREED, err);
    if (status == NM_OK)
        status = add_raw_ranges(build, ops, RAW_RANGE_GIVEN, err);
    if (status == NM_OK)
        status = add_raw_ranges(build, ops, RAW_RANGE_TAKEN, err);
    if (status == NM_OK)
        status = add_raw_blocks(build, ops, RAW_FREE_REQUESTED, err);
    if (status == NM_OK)
        status = add_raw_blocks(build, ops, RAW_BLOCK_ALLOCATED, err);
    if (status == NM_OK)
        status = add_raw_others(build, ops, RAW_FAILED, err);
    return status == NM_OK && ops->count > 1 ? sort_raw(ops, err) : status;
}

/* ---- The walk ---------------------------------------------------------------------------------------------------- */

typedef struct walk {
    nm_build *build;
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

static nm_status emit(walk *state, nm_op_kind kind, uint32_t request, nm_error *err)
{
    return nm_workload_add_op(state->build->workload, kind, request, err);
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
        state->other_bytes -= nm_build_range_bytes(row, true);
        return emit(state, NM_OP_GIVE_OTHER, range->request, err);
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
        nm_status status = add_bytes(&state->other_bytes, bytes, &recorded->peak_other_bytes, err);

        return status == NM_OK ? emit(state, NM_OP_TAKE_OTHER, range->request, err) : status;
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
static void hold(walk *state, const nm_gather_row *block, int change)
{
    const uint64_t *found = nm_map_get(&state->build->range_of, (nm_key){0, block->segment_id});
    nm_range_info *range = found == NULL ? NULL : &state->build->ranges[*found];

    if (range == NULL || !range->is_alive || range->owner != NM_RANGE_OURS || (change < 0 && range->live_count == 0))
        return;
    state->empty_count -= range->live_count == 0 && is_plain(state, (size_t)*found);
    range->live_count += (uint32_t)change;
    state->empty_count += range->live_count == 0 && is_plain(state, (size_t)*found);
}

static nm_status begin_life(walk *state, size_t block, nm_error *err)
{
    nm_workload *workload = state->build->workload;

    hold(state, &state->build->gather->blocks.items[block], 1);
    return add_bytes(&state->live_bytes, workload->requests.items[state->build->request_of[block]].bytes,
                     &workload->peak_live_bytes, err);
}

static nm_status begin_block(walk *state, size_t at, nm_error *err)
{
    nm_status status;

    end_releases(state, 0);
    state->has_failed = false;
    state->refused = NULL;
    status = begin_life(state, at, err);
    return status == NM_OK ? emit(state, NM_OP_ALLOC, state->build->request_of[at], err) : status;
}

static nm_status give_up_block(walk *state, size_t at, nm_error *err)
{
    end_releases(state, 0);
    return emit(state, NM_OP_FREE_REQUESTED, state->build->request_of[at], err);
}

static nm_status end_block(walk *state, size_t at, nm_error *err)
{
    const nm_gather_row *block = &state->build->gather->blocks.items[at];
    nm_workload *workload = state->build->workload;
    uint32_t request = state->build->request_of[at];
    uint32_t last = workload->ops.count == 0 ? 0 : workload->ops.items[workload->ops.count - 1];

    if (block->free_requested_seq == NM_NO_SEQ)
        end_releases(state, 0);
    hold(state, block, -1);
    state->live_bytes -= workload->requests.items[request].bytes;
    if (nm_op_kind_of(last) == NM_OP_FREE_REQUESTED && nm_op_index_of(last) == request)
        workload->ops.count--; /* at once: no other stream was in the way */
    return emit(state, NM_OP_FREE, request, err);
}

/* A request that failed. */
static nm_status add_failed(walk *state, const nm_gather_failure *failure, uint32_t *index, nm_error *err)
{
    nm_request request = {.bytes = failure->requested_bytes, .seq = failure->seq};
    nm_status status = nm_build_lane(state->build, &(nm_gather_row){.stream = failure->stream}, &request.lane, err);

    return status == NM_OK ? nm_workload_add_request(state->build->workload, request, index, err) : status;
}

/* Whether one of the driver's was the pool's is seen at the end: its place is kept. */
static nm_status fail_request(walk *state, size_t at, nm_error *err)
{
    const nm_gather_failure *failure = &state->build->gather->failures.items[at];
    bool is_ours = failure->heap == state->build->heap_index;
    uint32_t index = 0;
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
    status = add_failed(state, failure, &index, err);
    return status == NM_OK ? emit(state, NM_OP_FAILED, index, err) : status;
}

static nm_status walk_op(walk *state, const raw_op *op, nm_error *err)
{
    switch ((raw_kind)op->kind) {
    case RAW_STEP:
        return emit(state, NM_OP_STEP, 0, err);
    case RAW_BLOCK_FREED:
        return end_block(state, op->index, err);
    case RAW_RANGE_GIVEN:
        return give_range(state, op->index, err);
    case RAW_RANGE_TAKEN:
        return take_range(state, op->index, err);
    case RAW_FREE_REQUESTED:
        return give_up_block(state, op->index, err);
    case RAW_BLOCK_ALLOCATED:
        return begin_block(state, op->index, err);
    case RAW_FAILED:
        return fail_request(state, op->index, err);
    }
    return NM_OK;
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
    uint32_t index = 0;
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
    status = add_failed(state, &failure, &index, err);
    if (status == NM_OK)
        state->build->workload->ops.items[state->refused_at] = (uint32_t)NM_OP_FAILED << NM_OP_INDEX_BITS | index;
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
    for (size_t i = 0; i < gather->blocks.count && status == NM_OK; i++)
        if (gather->blocks.items[i].alloc_seq == NM_NO_SEQ && state->build->request_of[i] != NM_NO_REQUEST)
            status = begin_life(state, i, err);
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

static nm_status order_requests(nm_build *build, nm_error *err)
{
    walk state = {.build = build};
    raw_ops ops = {0};
    nm_status status = make_raw(build, &ops, err);

    find_peak(build, &ops);
    if (status == NM_OK)
        status = walk_baseline(&state, err);
    for (size_t i = 0; i < ops.count && status == NM_OK; i++)
        status = walk_op(&state, &ops.items[i], err);
    if (status == NM_OK)
        status = end_refused(&state, err);
    end_releases(&state, 0);
    build->workload->recorded.reserved_bytes = state.reserved_bytes;
    free(ops.items);
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
    build->request_of = calloc(build->gather->blocks.count + 1, sizeof *build->request_of);
    if (build->workload == NULL || build->ranges == NULL || build->request_of == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (build->gather->ranges.count >= UINT32_MAX || build->gather->blocks.count >= UINT32_MAX)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "more than 4 billion allocations");
    return NM_OK;
}

nm_status nm_workload_new(const nm_gather *gather, size_t heap, const nm_workload_options *options, nm_workload **out,
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
        status = claim_ranges(&build, err);
    }
    if (status == NM_OK)
        status = add_requests(&build, err);
    if (status == NM_OK)
        status = order_requests(&build, err);
    if (status == NM_OK)
        status = nm_workload_lay_out(&build, err);
    free(build.ranges);
    free(build.request_of);
    nm_map_free(&build.lane_of);
    nm_map_free(&build.range_of);
    if (status != NM_OK) {
        nm_workload_free(build.workload);
        build.workload = NULL;
    }
    *out = build.workload;
    return status;
}

void nm_workload_free(nm_workload *workload)
{
    if (workload == NULL)
        return;
    free(workload->requests.items);
    free(workload->ops.items);
    free(workload->lanes.items);
    free(workload->spaces.items);
    free(workload->seeds.items);
    free(workload->baseline.items);
    free(workload);
}
