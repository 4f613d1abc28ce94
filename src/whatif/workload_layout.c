/* SPDX-License-Identifier: Apache-2.0
 *
 * How what was there at the beginning lay in its segments, from addresses and sizes. All that was live then is known (it is
 * freed in the recording, or live at its end), so what lies between is free. Of a block whose rounded size is not known
 * the allocator's own rules tell it: rest of more than 1 MiB are split off in the large pool, so less than that behind a
 * block belongs to it. Where ranges and blocks contradict each other nothing is laid out, and a simulation puts the blocks
 * where it finds room.
 */
#include "whatif/workload_build.h"

#include <stdlib.h>

typedef struct layout {
    nm_build *build;
    struct {
        uint32_t *items; /* of gather->baseline, by address */
        size_t count, capacity;
    } blocks;
    struct {
        uint32_t *items; /* ranges of the gather, by lane, pool and address */
        size_t count, capacity;
    } ranges;
    size_t placed_count;
    bool is_misfit;
} layout;

/* ---- What was there ---------------------------------------------------------------------------------------------- */

static const nm_gather_row *block_at(const layout *state, size_t at)
{
    return &state->build->gather->baseline.items[state->blocks.items[at]];
}

static const nm_gather_row *range_at(const layout *state, size_t at)
{
    return &state->build->gather->ranges.items[state->ranges.items[at]];
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_address(const void *left, const void *right, void *context)
{
    const nm_gather_row *rows = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = compare_numbers(rows[a].address, rows[b].address);

    return order != 0 ? order : compare_numbers(a, b);
}

static uint64_t page_of(const nm_build *build, bool is_small)
{
    return is_small ? NM_SMALL_SEGMENT_BYTES : build->settings.page_bytes;
}

/* Is it of a small pool? By what lay in it; where nothing did, by its size. */
static bool is_small_range(const nm_build *build, uint32_t range)
{
    const nm_range_info *info = &build->ranges[range];
    uint64_t bytes = nm_build_range_bytes(&build->gather->ranges.items[range], false);

    if (info->is_small || info->is_large)
        return info->is_small;
    return build->workload->recorded.is_expandable ? bytes % page_of(build, false) != 0
                                                   : bytes == NM_SMALL_SEGMENT_BYTES;
}

static int by_bin(const void *left, const void *right, void *context)
{
    const nm_build *build = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = compare_numbers(build->ranges[a].lane, build->ranges[b].lane);

    if (order == 0 && build->workload->recorded.is_expandable)
        order = is_small_range(build, a) - is_small_range(build, b);
    return order != 0 ? order : by_address(left, right, build->gather->ranges.items);
}

static nm_status add_index(void *items, size_t *count, size_t *capacity, size_t index, nm_error *err)
{
    nm_status status = nm_array_grow(items, capacity, *count + 1, sizeof(uint32_t), err);

    if (status == NM_OK)
        (*(uint32_t **)items)[(*count)++] = (uint32_t)index;
    return status;
}

static nm_status add_baseline(nm_build *build, const nm_gather_row *block, nm_error *err)
{
    nm_workload *workload = build->workload;
    nm_status status = nm_array_grow(&workload->baseline.items, &workload->baseline.capacity,
                                     workload->baseline.count + 1, sizeof *workload->baseline.items, err);

    if (status == NM_OK)
        workload->baseline.items[workload->baseline.count++] =
            (nm_baseline_block){build->slot_of[block->row] - 1, build->likes[block->like].request - 1};
    return status;
}

static nm_status collect(layout *state, nm_error *err)
{
    nm_build *build = state->build;
    const nm_gather *gather = build->gather;
    nm_status status = NM_OK;

    for (size_t i = 0; i < gather->baseline.count && status == NM_OK; i++)
        if (build->slot_of[gather->baseline.items[i].row] != 0)
            status = add_index(&state->blocks.items, &state->blocks.count, &state->blocks.capacity, i, err);
    for (size_t i = 0; i < gather->ranges.count && status == NM_OK; i++)
        if (gather->ranges.items[i].alloc_seq == NM_NO_SEQ && build->ranges[i].owner == NM_RANGE_OURS)
            status = add_index(&state->ranges.items, &state->ranges.count, &state->ranges.capacity, i, err);
    if (state->blocks.count > 1)
        qsort_r(state->blocks.items, state->blocks.count, sizeof(uint32_t), by_address, gather->baseline.items);
    if (state->ranges.count > 1)
        qsort_r(state->ranges.items, state->ranges.count, sizeof(uint32_t), by_bin, build);
    for (size_t i = 0; i < state->blocks.count && status == NM_OK; i++)
        status = add_baseline(build, block_at(state, i), err);
    return status;
}

/* ---- Laying out -------------------------------------------------------------------------------------------------- */

static nm_status add_seed(layout *state, nm_seed seed, nm_error *err)
{
    nm_workload *workload = state->build->workload;
    nm_status status;

    if (seed.bytes == 0)
        return NM_OK;
    status = nm_array_grow(&workload->seeds.items, &workload->seeds.capacity, workload->seeds.count + 1,
                           sizeof *workload->seeds.items, err);
    if (status != NM_OK)
        return status;
    workload->seeds.items[workload->seeds.count++] = seed;
    workload->spaces.items[workload->spaces.count - 1].seed_count++;
    return NM_OK;
}

static nm_status add_space(layout *state, uint32_t range, nm_error *err)
{
    nm_workload *workload = state->build->workload;
    const nm_range_info *info = &state->build->ranges[range];
    nm_status status = nm_array_grow(&workload->spaces.items, &workload->spaces.capacity, workload->spaces.count + 1,
                                     sizeof *workload->spaces.items, err);

    state->is_misfit = state->is_misfit || (info->is_small && info->is_large);
    if (status == NM_OK)
        workload->spaces.items[workload->spaces.count++] = (nm_seed_space){
            .lane = info->lane,
            .is_small = is_small_range(state->build, range),
            .is_expandable = workload->recorded.is_expandable,
        };
    return status;
}

/* The index of the first block at or behind the address. */
static size_t first_block_from(const layout *state, uint64_t address)
{
    size_t low = 0, high = state->blocks.count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (block_at(state, middle)->address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How much of [block, limit) the block takes; 0: more than there is. */
static uint64_t bytes_of(const layout *state, const nm_gather_row *block, uint64_t limit)
{
    const nm_seed_space *space = &state->build->workload->spaces.items[state->build->workload->spaces.count - 1];
    uint64_t room = limit - block->address;
    uint64_t bytes = block->block_bytes;

    if (bytes == 0) {
        bytes = nm_caching_block_bytes(&state->build->settings, block->requested_bytes, false);
        if (!space->is_small && !space->is_expandable && bytes < room && room - bytes <= NM_SMALL_BYTES_MAX)
            bytes = room;
    }
    return bytes <= room && bytes % NM_BLOCK_UNIT_BYTES == 0 ? bytes : 0;
}

/* The blocks and gaps of [begin, end), which has memory. */
static nm_status add_run(layout *state, uint64_t begin, uint64_t end, nm_error *err)
{
    uint64_t address = begin;
    nm_status status = NM_OK;

    for (size_t i = first_block_from(state, begin); i < state->blocks.count && status == NM_OK; i++) {
        const nm_gather_row *block = block_at(state, i);
        bool has_next = i + 1 < state->blocks.count && block_at(state, i + 1)->address < end;
        uint64_t bytes;

        if (block->address >= end)
            break;
        bytes = bytes_of(state, block, has_next ? block_at(state, i + 1)->address : end);
        if (bytes == 0 || block->address < address) {
            state->is_misfit = true;
            return NM_OK;
        }
        status = add_seed(state, (nm_seed){NM_SEED_FREE, block->address - address, 0}, err);
        if (status == NM_OK)
            status = add_seed(state, (nm_seed){NM_SEED_USED, bytes, state->build->slot_of[block->row] - 1}, err);
        address = block->address + bytes;
        state->placed_count++;
    }
    return status == NM_OK ? add_seed(state, (nm_seed){NM_SEED_FREE, end - address, 0}, err) : status;
}

static uint64_t end_of(const nm_gather_row *range)
{
    uint64_t bytes = nm_build_range_bytes(range, false);

    return bytes > UINT64_MAX - range->address ? UINT64_MAX : range->address + bytes;
}

static nm_status lay_out_segments(layout *state, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < state->ranges.count && status == NM_OK && !state->is_misfit; i++) {
        const nm_gather_row *range = range_at(state, i);

        status = add_space(state, state->ranges.items[i], err);
        if (status == NM_OK)
            status = add_run(state, range->address, end_of(range), err);
    }
    return status;
}

static bool is_same_bin(const nm_build *build, uint32_t a, uint32_t b)
{
    return build->ranges[a].lane == build->ranges[b].lane && is_small_range(build, a) == is_small_range(build, b);
}

/* Where the expandable segment begins: the lowest address that ever had memory. */
static uint64_t begin_of_space(const nm_build *build, uint32_t like)
{
    uint64_t begin = UINT64_MAX;

    for (size_t i = 0; i < build->gather->ranges.count; i++)
        if (build->ranges[i].owner == NM_RANGE_OURS && is_same_bin(build, (uint32_t)i, like) &&
            build->gather->ranges.items[i].address < begin)
            begin = build->gather->ranges.items[i].address;
    return begin;
}

/* One expandable segment from the ranges [from, to) of one bin, in whole pages. */
static nm_status lay_out_space(layout *state, size_t from, size_t to, nm_error *err)
{
    uint32_t first = state->ranges.items[from];
    uint64_t page = page_of(state->build, is_small_range(state->build, first));
    uint64_t begin = begin_of_space(state->build, first);
    uint64_t address = begin;
    nm_status status = add_space(state, first, err);

    for (size_t i = from; i < to && status == NM_OK && !state->is_misfit;) {
        uint64_t run_begin = range_at(state, i)->address;
        uint64_t run_end = end_of(range_at(state, i));

        for (i++; i < to && range_at(state, i)->address == run_end; i++)
            run_end = end_of(range_at(state, i));
        if (run_begin < address || (run_begin - begin) % page != 0 || (run_end - begin) % page != 0 ||
            run_end - begin > NM_WHATIF_SIZE_MAX) {
            state->is_misfit = true;
            break;
        }
        status = add_seed(state, (nm_seed){NM_SEED_UNMAPPED, run_begin - address, 0}, err);
        if (status == NM_OK)
            status = add_run(state, run_begin, run_end, err);
        address = run_end;
    }
    return status;
}

static nm_status lay_out_spaces(layout *state, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t from = 0, to; from < state->ranges.count && status == NM_OK && !state->is_misfit; from = to) {
        for (to = from + 1; to < state->ranges.count; to++)
            if (!is_same_bin(state->build, state->ranges.items[from], state->ranges.items[to]))
                break;
        status = lay_out_space(state, from, to, err);
    }
    return status;
}

nm_status nm_workload_lay_out(nm_build *build, nm_error *err)
{
    layout state = {.build = build};
    nm_workload *workload = build->workload;
    nm_status status = collect(&state, err);
    size_t at = 0;

    if (status == NM_OK)
        status = workload->recorded.is_expandable ? lay_out_spaces(&state, err) : lay_out_segments(&state, err);
    if (state.is_misfit || state.placed_count != state.blocks.count)
        workload->spaces.count = workload->seeds.count = 0;
    for (size_t i = 0; i < workload->spaces.count; i++) { /* the seeds hold still now */
        workload->spaces.items[i].seeds = &workload->seeds.items[at];
        at += workload->spaces.items[i].seed_count;
    }
    free(state.blocks.items);
    free(state.ranges.items);
    return status;
}
