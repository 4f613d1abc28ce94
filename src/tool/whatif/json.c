/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures have the names that they have in the CSV.
 */
#include "tool/whatif/json.h"

#include <string.h>

#include "base/spoken.h"
#include "say/answer.h"
#include "say/spoken.h"

static int64_t whole(uint64_t value)
{
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static void write_bytes(nm_json *json, const char *stem, uint64_t bytes)
{
    nm_bytes_json(json, stem, whole(bytes));
}

static void write_count(nm_json *json, const char *name, bool is_known, uint64_t count)
{
    nm_json_known(json, name, is_known, whole(count));
}

static void write_number(nm_json *json, const char *name, int64_t number)
{
    write_count(json, name, number != NM_UNKNOWN_NUMBER, (uint64_t)number);
}

static void write_process(nm_json *json, const nm_gather_process *process)
{
    write_number(json, "rank", process == NULL ? NM_UNKNOWN_NUMBER : process->rank);
    write_number(json, "pid", process == NULL ? NM_UNKNOWN_NUMBER : process->pid);
}

static double hit_rate_of(const nm_recorded *recorded)
{
    return 1 - (double)recorded->miss_count / (double)recorded->served_count;
}

static void write_place(nm_json *json, const whatif_answer *answer)
{
    const whatif_place *place = answer->place;

    nm_json_begin(json, "subject", '{');
    nm_json_text(json, "kind", place->kind);
    nm_json_bool(json, "is_complete", place->is_complete);
    nm_json_bool(json, "is_end_known", !place->is_end_unknown);
    write_process(json, place->process);
    write_number(json, "device", place->device_number);
    nm_json_text(json, "heap", place->heap->name);
    nm_json_int(json, "heap_id", whole(place->heap->heap_id));
    write_count(json, "step_count", true, answer->workload->step_count);
    write_count(json, "capacity_bytes", place->capacity_bytes != NM_WHATIF_UNLIMITED, place->capacity_bytes);
    write_bytes(json, "other", place->other_bytes);
    nm_json_end(json, '}');
}

static void write_figure(nm_json *json, const whatif_place *place, nm_figure figure)
{
    const char *host = place->process == NULL ? "" : place->process->host;

    nm_figure_json_begin(json, &figure);
    nm_json_text(json, "host", host[0] == 0 ? NULL : host);
    write_process(json, place->process);
    write_number(json, "device", place->device_number);
    nm_json_text(json, "heap", place->heap->name[0] == 0 ? NULL : place->heap->name);
    nm_json_text(json, "level", "pool");
    nm_figure_json_end(json);
}

/* Those that views of the database have too. */
static void write_figures(nm_json *json, const whatif_place *place, const nm_recorded *recorded)
{
    nm_json_begin(json, "figures", '[');
    if (!place->is_kept) /* else only those of what was kept are simulated */
        write_figure(json, place,
                     (nm_figure){"allocation_count", "count", "heap_total", .count = whole(recorded->request_count)});
    if (recorded->has_reserved)
        write_figure(
            json, place,
            (nm_figure){"peak_reserved_bytes", "bytes", "peak", .count = whole(recorded->peak_reserved_bytes)});
    if (recorded->served_count > 0)
        write_figure(json, place,
                     (nm_figure){"hit_rate", "ratio", "pool_summary", .is_real = true, .value = hit_rate_of(recorded)});
    nm_json_end(json, ']');
}

static void write_recorded(nm_json *json, const whatif_place *place, const nm_recorded *recorded)
{
    nm_json_begin(json, "recorded", '{');
    nm_json_text(json, "basis", "recorded");
    write_count(json, "request_count", true, recorded->request_count);
    if (recorded->has_reserved)
        write_bytes(json, "peak_reserved", recorded->peak_reserved_bytes);
    if (recorded->served_count > 0)
        nm_json_real(json, "hit_rate", hit_rate_of(recorded));
    write_count(json, "failed_count", true, recorded->failed_count);
    write_count(json, "flush_count", true, recorded->flush_count);
    if (strcmp(place->kind, "database") == 0)
        write_figures(json, place, recorded);
    nm_json_end(json, '}');
}

static void write_failure(nm_json *json, const nm_sim_result *result)
{
    const nm_sim_failure *failure = &result->failure;

    if (result->is_fit) {
        nm_json_null(json, "failure");
        return;
    }
    nm_json_begin(json, "failure", '{');
    nm_json_text(json, "cause", whatif_cause_text(failure->cause));
    nm_json_text(json, "cause_text", nm_spoken(whatif_cause_text(failure->cause)));
    write_count(json, "seq", failure->seq != NM_NO_SEQ, (uint64_t)failure->seq);
    write_bytes(json, "requested", failure->bytes);
    write_bytes(json, "reserved", failure->reserved_bytes);
    write_bytes(json, "active", failure->active_bytes);
    write_bytes(json, "free", failure->free_bytes);
    write_bytes(json, "stuck", failure->stuck_bytes);
    write_bytes(json, "largest_free", failure->largest_free_bytes);
    nm_json_end(json, '}');
}

static void write_row(nm_json *json, const whatif_answer *answer, const whatif_row *row)
{
    const nm_sim_result *result = &row->result;
    char name[2 * sizeof row->name];

    nm_json_begin(json, NULL, '{');
    nm_json_text(json, "setting", row->name);
    nm_json_text(json, "setting_text", nm_spoken_said(row->name, name, sizeof name));
    nm_json_text(json, "basis", "simulated");
    nm_json_bool(json, "is_fit", result->is_fit);
    write_bytes(json, "peak_reserved", result->peak_reserved_bytes);
    write_bytes(json, "peak_live", result->peak_live_bytes);
    nm_json_real(json, "peak_fragmentation_ratio", nm_sim_fragmentation_ratio(result));
    write_bytes(json, "peak_stuck", result->peak_stuck_bytes);
    write_count(json, "request_count", true, result->request_count);
    write_count(json, "miss_count", true, result->miss_count);
    nm_json_real(json, "hit_rate", nm_sim_hit_rate(result));
    write_count(json, "driver_call_count", true, result->take_count + result->give_count);
    write_count(json, "later_step_count", true, result->step_count);
    write_count(json, "driver_calls_in_later_steps", result->step_count > 0, result->calls_in_steps);
    write_count(json, "misses_in_later_steps", result->step_count > 0, result->misses_in_steps);
    if (row->smallest.is_found && !answer->place->is_end_unknown)
        write_bytes(json, "smallest_device", row->smallest.device_bytes);
    write_failure(json, result);
    nm_json_end(json, '}');
}

/* As the environment variable is set. */
static void write_suggestion(nm_json *json, const whatif_answer *answer)
{
    char conf[NM_SETTINGS_BYTES];

    if (answer->best == NULL || answer->best == &answer->rows->items[0]) {
        nm_json_null(json, "suggestion");
        return;
    }
    nm_caching_settings_write(&answer->best->setting.caching, conf);
    nm_json_begin(json, "suggestion", '{');
    nm_json_text(json, "setting", answer->best->name);
    nm_json_text(json, "variable", answer->workload->is_npu ? "PYTORCH_NPU_ALLOC_CONF" : "PYTORCH_CUDA_ALLOC_CONF");
    nm_json_text(json, "value", conf[0] == 0 ? "expandable_segments:False" : conf); /* that is the default */
    nm_json_end(json, '}');
}

static void write_advice(nm_json *json, const nm_advice *advice)
{
    nm_json_begin(json, "advice", '{');
    nm_json_text(json, "basis", "simulated");
    write_bytes(json, "pool", advice->pool_bytes);
    write_bytes(json, "peak_live", advice->peak_live_bytes);
    write_count(json, "request_count", true, advice->request_count);
    write_count(json, "again_count", true, advice->again_count);
    nm_json_begin(json, "classes", '[');
    for (size_t i = 0; i < advice->class_count; i++) {
        nm_json_begin(json, NULL, '{');
        write_bytes(json, "block", advice->classes[i].bytes);
        write_count(json, "block_count", true, advice->classes[i].block_count);
        nm_json_end(json, '}');
    }
    nm_json_end(json, ']');
    nm_json_end(json, '}');
}

nm_status whatif_write_json(const whatif_answer *answer, nm_json *json)
{
    nm_answer_json_begin(json, "whatif", answer->place->path, nm_spoken_language());
    nm_json_begin(json, "whatif", '{');
    write_place(json, answer);
    write_recorded(json, answer->place, &answer->workload->recorded);
    write_bytes(json, "lower_bound", answer->packing->peak_live_bytes);
    write_bytes(json, "offline_packing", answer->packing->packed_bytes);
    nm_json_begin(json, "rows", '[');
    for (size_t i = 0; i < answer->rows->count; i++)
        write_row(json, answer, &answer->rows->items[i]);
    nm_json_end(json, ']');
    write_suggestion(json, answer);
    if (answer->advice != NULL)
        write_advice(json, answer->advice);
    nm_json_end(json, '}');
    return nm_answer_json_end(json);
}

nm_status whatif_write_heaps(const char *path, const nm_gather *gather, nm_json *json)
{
    nm_answer_json_begin(json, "whatif", path, nm_spoken_language());
    nm_json_begin(json, "heaps", '[');
    for (size_t i = 0; i < gather->heaps.count; i++) {
        const nm_gather_heap *heap = &gather->heaps.items[i];

        if (heap->level != NM_LEVEL_POOL)
            continue;
        nm_json_begin(json, NULL, '{');
        nm_json_int(json, "heap_id", whole(heap->heap_id));
        nm_json_text(json, "heap", heap->name);
        write_process(json, nm_gather_process_of(gather, heap));
        write_count(json, "allocation_count", true, heap->block_count);
        write_bytes(json, "peak", heap->peak_bytes);
        nm_json_end(json, '}');
    }
    nm_json_end(json, ']');
    return nm_answer_json_end(json);
}
