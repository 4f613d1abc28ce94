/* SPDX-License-Identifier: Apache-2.0
 *
 * Bisection over the device's size, each step a whole run. That a workload fits on one size does not mean that it fits
 * on every larger one: what is flushed on the way falls differently. So sizes above the one that was found are tried
 * too, most of them near it, and where one does not fit the search begins anew above that. Candidates are settings with
 * one thing changed.
 */
#include "whatif/search.h"

#include <string.h>

#include "base/spoken.h"

#define MIB        (UINT64_C(1) << 20)
#define STEP_BYTES (2 * MIB)
#define NEAR_COUNT 8 /* sizes above the one found on which it must fit, too: the next ones, */
#define FAR_COUNT  3 /* and some up to the largest */
#define ROUNDS_MAX 16

/* ---- The smallest device ----------------------------------------------------------------------------------------- */

typedef struct search {
    const nm_workload *workload;
    const nm_setting *setting;
    uint64_t other_bytes;
    nm_smallest *smallest;
} search;

/* Runs on a device of that size; if it fits, this is the smallest one so far. */
static nm_status try_size(search *state, uint64_t device_bytes, bool *is_fit, nm_error *err)
{
    nm_sim_result result;
    nm_status status =
        nm_simulate(state->workload, state->setting, &(nm_sim_options){device_bytes, state->other_bytes}, &result, err);

    *is_fit = status == NM_OK && result.is_fit;
    state->smallest->run_count++;
    if (*is_fit) {
        state->smallest->is_found = true;
        state->smallest->device_bytes = device_bytes;
        state->smallest->result = result;
    }
    return status;
}

static uint64_t least_bytes(const search *state)
{
    return state->workload->peak_live_bytes + state->other_bytes;
}

static uint64_t step_for(uint64_t device_bytes)
{
    uint64_t step = device_bytes / 1024 / MIB * MIB;

    return step > STEP_BYTES ? step : STEP_BYTES;
}

/* From one that fits down to the least that could. */
static nm_status narrow(search *state, uint64_t low, nm_error *err)
{
    nm_smallest *smallest = state->smallest;
    nm_status status = NM_OK;

    smallest->step_bytes = step_for(smallest->device_bytes);
    while (status == NM_OK && smallest->device_bytes > low + smallest->step_bytes) {
        uint64_t middle = (low + smallest->device_bytes) / 2;
        bool is_fit;

        status = try_size(state, middle, &is_fit, err);
        if (!is_fit)
            low = middle;
    }
    smallest->step_bytes = smallest->device_bytes - (low < smallest->device_bytes ? low : smallest->device_bytes);
    return status;
}

/* The largest of some sizes below `top` on which it does not fit, though it does on the one found; 0: there is none. Most
 * are right above that one: where what is flushed on the way falls differently, the sizes differ by few segments. */
static nm_status find_hole(const search *state, uint64_t top, uint64_t *hole, nm_error *err)
{
    uint64_t found = state->smallest->device_bytes;
    uint64_t step = step_for(found);
    nm_status status = NM_OK;

    *hole = 0;
    for (uint64_t i = 1; i <= NEAR_COUNT + FAR_COUNT && status == NM_OK; i++) {
        uint64_t size = i <= NEAR_COUNT ? found + i * step : found + (top - found) / (FAR_COUNT + 1) * (i - NEAR_COUNT);
        nm_sim_result result;

        if (size <= found || size >= top)
            continue;
        status =
            nm_simulate(state->workload, state->setting, &(nm_sim_options){size, state->other_bytes}, &result, err);
        state->smallest->run_count++;
        if (status == NM_OK && !result.is_fit && size > *hole)
            *hole = size;
    }
    return status;
}

/* The same, and on larger ones it fits as well, as far as was tried: else it goes on above those. */
static nm_status narrow_safely(search *state, uint64_t low, nm_error *err)
{
    nm_smallest top = *state->smallest;
    nm_status status = NM_OK;
    int round = 0;

    do {
        top.run_count = state->smallest->run_count;
        *state->smallest = top;
        if (round++ < ROUNDS_MAX)
            status = narrow(state, low, err);
        else
            state->smallest->step_bytes = top.device_bytes - low;
        if (status == NM_OK)
            status = find_hole(state, top.device_bytes, &low, err);
    } while (low != 0 && status == NM_OK);
    return status;
}

/* Any size at which it fits: what an unlimited device was filled with, or more where the pool takes only a part of it. */
static nm_status find_any(search *state, nm_error *err)
{
    bool is_fit;
    nm_status status = try_size(state, NM_WHATIF_UNLIMITED, &is_fit, err);
    uint64_t device_bytes = state->smallest->result.peak_total_bytes;

    if (status != NM_OK || !is_fit)
        return status;
    do {
        status = try_size(state, device_bytes, &is_fit, err);
        device_bytes += device_bytes / 8 + MIB;
    } while (status == NM_OK && !is_fit && device_bytes < NM_WHATIF_UNLIMITED);
    return status;
}

nm_status nm_search_smallest(const nm_workload *workload, const nm_setting *setting, uint64_t other_bytes,
                             nm_smallest *smallest, nm_error *err)
{
    search state = {workload, setting, other_bytes, smallest};
    nm_status status;

    *smallest = (nm_smallest){0};
    status = find_any(&state, err);
    return status == NM_OK && smallest->is_found ? narrow_safely(&state, least_bytes(&state), err) : status;
}

nm_status nm_search_smaller(const nm_workload *workload, const nm_setting *setting, uint64_t other_bytes,
                            nm_smallest *best, bool *is_smaller, nm_error *err)
{
    nm_smallest found = {0};
    search state = {workload, setting, other_bytes, &found};
    uint64_t step_bytes = step_for(best->device_bytes);
    nm_status status = NM_OK;

    *is_smaller = false;
    if (best->device_bytes < least_bytes(&state) + step_bytes)
        return NM_OK;
    status = try_size(&state, best->device_bytes - step_bytes, is_smaller, err);
    if (status != NM_OK || !*is_smaller)
        return status;
    status = narrow_safely(&state, least_bytes(&state), err);
    found.run_count += best->run_count;
    *best = found;
    return status;
}

/* ---- Settings ---------------------------------------------------------------------------------------------------- */

nm_setting nm_search_recorded_setting(const nm_workload *workload)
{
    nm_setting setting = {.caching = nm_caching_settings_default(workload->is_npu)};
    nm_error err;

    if (nm_caching_settings_parse(workload->conf, &setting.caching, &err) != NM_OK)
        setting.caching = nm_caching_settings_default(workload->is_npu); /* of a version that is not known here */
    if (workload->recorded.has_reserved)
        setting.caching.is_expandable = workload->recorded.is_expandable;
    return setting;
}

static void add(nm_candidates *out, const nm_setting *base, uint64_t largest, const char *conf)
{
    nm_setting setting = {.caching = nm_caching_settings_default(base->caching.is_npu)};
    char text[NM_SETTINGS_BYTES], base_text[NM_SETTINGS_BYTES];
    nm_error err;

    if (out->count == NM_CANDIDATES_MAX || nm_caching_settings_parse(conf, &setting.caching, &err) != NM_OK)
        return;
    if (setting.caching.max_split_bytes != NM_NO_SPLIT_LIMIT && setting.caching.max_split_bytes > largest)
        return; /* nothing is as large: the same as without */
    setting.caching.pad_bytes = base->caching.pad_bytes;
    nm_caching_settings_write(&setting.caching, text);
    nm_caching_settings_write(&base->caching, base_text);
    if (strcmp(text, base_text) != 0)
        out->items[out->count++] = setting;
}

static uint64_t largest_segment(const nm_workload *workload, const nm_caching_settings *settings)
{
    uint64_t largest = 0;

    for (size_t i = 0; i < workload->requests.count; i++) {
        const nm_request *asked = &workload->requests.items[i];
        uint64_t block = nm_caching_block_bytes(settings, asked->bytes, asked->is_block_bytes);
        uint64_t segment = nm_caching_segment_bytes(settings, block);

        largest = segment > largest ? segment : largest;
    }
    return largest;
}

void nm_search_candidates(const nm_workload *workload, const nm_setting *base, nm_candidates *out)
{
    static const char *const plain[] = {"",
                                        "max_split_size_mb:32",
                                        "max_split_size_mb:64",
                                        "max_split_size_mb:128",
                                        "max_split_size_mb:256",
                                        "max_split_size_mb:512",
                                        "max_split_size_mb:1024"};
    static const char *const rounded[] = {"roundup_power2_divisions:4", "roundup_power2_divisions:8",
                                          "roundup_power2_divisions:16",
                                          "max_split_size_mb:128,roundup_power2_divisions:8"};
    bool may_expand = workload->recorded.exported_count == 0;
    uint64_t largest = largest_segment(workload, &base->caching);

    out->count = 0;
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        add(out, base, largest, plain[i]);
    if (may_expand)
        add(out, base, largest, "expandable_segments:True");
    if (workload->recorded.block_sized_count > 0)
        return; /* how a request would have been rounded is not known */
    for (size_t i = 0; i < sizeof rounded / sizeof rounded[0]; i++)
        add(out, base, largest, rounded[i]);
    if (may_expand)
        add(out, base, largest, "expandable_segments:True,roundup_power2_divisions:8");
}

/* What the candidate reserves on the device, or UINT64_MAX where it needs too large a one. */
static nm_status reserved_by(const nm_workload *workload, const nm_setting *candidate, const nm_smallest *now_smallest,
                             const nm_sim_options *options, uint64_t *reserved_bytes, nm_error *err)
{
    bool is_bounded = options->capacity_bytes < NM_WHATIF_UNLIMITED;
    nm_sim_options tight = {now_smallest->device_bytes + now_smallest->device_bytes / 10, options->other_bytes};
    nm_sim_result result;
    nm_status status = nm_simulate(workload, candidate, is_bounded ? options : &tight, &result, err);
    bool is_fit = status == NM_OK && result.is_fit;

    *reserved_bytes = UINT64_MAX;
    if (is_fit && !is_bounded)
        status = nm_simulate(workload, candidate, options, &result, err);
    if (is_fit && status == NM_OK)
        *reserved_bytes = result.peak_reserved_bytes;
    return status;
}

nm_status nm_search_best(const nm_workload *workload, const nm_setting *now, const nm_smallest *now_smallest,
                         const nm_sim_options *options, const nm_candidates *candidates, size_t *best, nm_error *err)
{
    nm_smallest smallest = *now_smallest;
    nm_sim_result result;
    uint64_t least_bytes;
    nm_status status = nm_simulate(workload, now, options, &result, err);

    *best = SIZE_MAX;
    for (size_t i = 0; i < candidates->count && status == NM_OK && smallest.is_found; i++) {
        bool is_smaller;

        status = nm_search_smaller(workload, &candidates->items[i], options->other_bytes, &smallest, &is_smaller, err);
        *best = is_smaller ? i : *best;
    }
    least_bytes = result.peak_reserved_bytes - result.peak_reserved_bytes / 10;
    if (*best != SIZE_MAX || status != NM_OK || !result.is_fit)
        return status;
    for (size_t i = 0; i < candidates->count && status == NM_OK; i++) {
        uint64_t reserved_bytes;

        status = reserved_by(workload, &candidates->items[i], now_smallest, options, &reserved_bytes, err);
        if (status == NM_OK && reserved_bytes < least_bytes) {
            least_bytes = reserved_bytes;
            *best = i;
        }
    }
    return status;
}

const char *nm_search_refusal(const nm_workload *workload, bool is_complete)
{
    const nm_recorded *recorded = &workload->recorded;

    if (recorded->unsized_count > 0)
        return nm_spoken("the size of some allocations is not known");
    if (!is_complete)
        return nm_spoken("part of the input was lost");
    if (recorded->has_pause)
        return nm_spoken("a part of the run was not recorded");
    if (recorded->is_baseline_unknown)
        return nm_spoken("what was live before the recording began is not known");
    if (workload->conf_refusal[0] != 0)
        return workload->conf_refusal;
    if (recorded->request_count == 0)
        return nm_spoken("the pool served no request");
    return NULL;
}
