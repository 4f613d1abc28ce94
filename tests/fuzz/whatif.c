/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests of a trace against simulated allocators, whatever their sizes and their order: each setting ends, and takes no less than what it
 * serves.
 */
#include <unistd.h>

#include "analysis/passes.h"
#include "fuzz/load.h"
#include "fuzz/target.h"
#include "fuzz/trace_change.h"
#include "replay/replay.h"
#include "whatif/advise.h"
#include "whatif/search.h"

#define CLASSES_MAX 8

static const char *const settings[] = {"", "expandable_segments:True",
                                       "max_split_size_mb:64,garbage_collection_threshold:0.8",
                                       "roundup_power2_divisions:4"};

static void simulate(const nm_workload *workload, const nm_setting *setting, uint64_t capacity_bytes)
{
    nm_sim_options options = {.capacity_bytes = capacity_bytes};
    nm_sim_result result;
    nm_smallest smallest;
    nm_error err = {0};
    nm_status status = nm_simulate(workload, setting, &options, &result, &err);

    fuzz_check_status(status, &err);
    FUZZ_REQUIRE(status != NM_OK || !result.is_fit || result.peak_reserved_bytes >= result.peak_live_bytes);
    FUZZ_REQUIRE(status != NM_OK || !result.is_fit || result.peak_total_bytes <= capacity_bytes);
    fuzz_check_status(nm_search_smallest(workload, setting, 0, &smallest, &err), &err);
}

static void try_all(const nm_workload *workload)
{
    nm_setting setting = {.is_bucket = true, .bucket = nm_bucket_settings_default()};
    nm_advice advice = {0};
    nm_error err = {0};

    simulate(workload, &setting, NM_WHATIF_UNLIMITED);
    setting.is_bucket = false;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        setting.caching = nm_caching_settings_default(workload->is_npu);
        if (nm_caching_settings_parse(settings[i], &setting.caching, &err) == NM_OK)
            simulate(workload, &setting, i % 2 == 0 ? NM_WHATIF_UNLIMITED : UINT64_C(1) << 34);
    }
    fuzz_check_status(nm_advise(workload, CLASSES_MAX, &advice, &err), &err);
    nm_advice_free(&advice);
}

static nm_status gather_all(nm_source *source, nm_gather *gather, nm_error *err)
{
    nm_replay *replay = NULL;
    nm_record record;
    nm_status status = nm_replay_new(nm_gather_sink(gather), nm_passes, &replay, err);

    while (status == NM_OK && (status = nm_source_next(source, &record, err)) == NM_OK)
        status = nm_replay_record(replay, &record, err);
    if (status == NM_END)
        status = nm_replay_finish(replay, err);
    nm_replay_free(replay);
    return status;
}

static void ask_what_if(nm_bytes input)
{
    nm_source *source = NULL;
    nm_gather *gather = NULL;
    nm_workload *workload = NULL;
    nm_error err = {0};
    nm_status status = nm_source_open(fuzz_file_of(input, 0), &source, &err);

    if (status == NM_OK)
        status = nm_gather_new(&gather, &err);
    if (status == NM_OK)
        status = gather_all(source, gather, &err);
    size_t heap = status == NM_OK ? nm_gather_largest_pool(gather) : SIZE_MAX;
    if (heap != SIZE_MAX)
        status = nm_workload_new(gather, heap, &(nm_workload_options){0}, &workload, &err);
    fuzz_check_status(status, &err);
    if (workload != NULL)
        try_all(workload);
    nm_workload_free(workload);
    nm_gather_free(gather);
    nm_source_close(source);
}

FUZZ_TARGET(whatif, .run = ask_what_if, .from_text = fuzz_trace_of_text, .mutate = fuzz_change_trace)
