/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-whatif: what would another allocator, or the same one with other settings, have made of the recorded requests?
 * Connects an input, the simulations of whatif/ and a report; what it knows itself is the exit status. Its
 * command line is in whatif/options.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/human.h"
#include "base/io.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "store/database.h"
#include "store/publish.h"
#include "tool/common/answer.h"
#include "tool/whatif/json.h"
#include "tool/whatif/load.h"
#include "tool/whatif/options.h"
#include "tool/whatif/results.h"

#define CLASS_MAX 16 /* block sizes that --advise looks for */

typedef struct whatif {
    const whatif_options *options;
    const char *subject; /* that an error is about */
    whatif_input input;
    nm_workload *workload;
    nm_sim_memo memo; /* of its runs */
    whatif_place place;
    nm_setting recorded;
    nm_sim_result same; /* the recorded setting on an unlimited device */
    nm_packing packing;
    whatif_rows rows;
    size_t best; /* of the rows: what is suggested */
    bool is_fit;
    nm_progress progress;
    const void *tried;                     /* the setting that is being tried */
    size_t tried_count, to_try, run_count; /* settings; simulations */
} whatif;

/* ---- Reading ---- */

static nm_status choose_heap(whatif *run, size_t *index, nm_error *err)
{
    const nm_gather *gather = run->input.gather;
    const uint64_t *found;

    *index = nm_gather_largest_pool(gather);
    if (run->options->heap_id != 0) {
        found = nm_map_get(&gather->heap_of, (nm_key){0, run->options->heap_id});
        if (found == NULL || gather->heaps.items[*found].level != NM_LEVEL_POOL)
            return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "has no pool with the number %" PRIu64 " (--list)",
                           run->options->heap_id);
        *index = (size_t)*found;
    }
    if (*index == SIZE_MAX)
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "tells of no pool: there are no requests to replay");
    return NM_OK;
}

static size_t count_pools(const nm_gather *gather)
{
    size_t count = 0;

    for (size_t i = 0; i < gather->heaps.count; i++)
        count += gather->heaps.items[i].level == NM_LEVEL_POOL;
    return count;
}

static nm_status make_workload(whatif *run, nm_error *err)
{
    size_t index = 0;
    nm_status status = choose_heap(run, &index, err);

    if (status == NM_OK)
        status = nm_workload_new(run->input.gather, index, &run->options->workload, &run->workload, err);
    if (status != NM_OK)
        return status;
    const nm_gather_heap *heap = &run->input.gather->heaps.items[index];
    const uint64_t *device = nm_map_get(&run->input.gather->device_of, (nm_key){0, heap->device_id});
    const nm_gather_process *process = nm_gather_process_of(run->input.gather, heap);
    uint64_t capacity = run->options->capacity_bytes;

    if (process != NULL && process->is_peak_untold)
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET,
                       nm_spoken("does not tell of single requests: there is nothing to replay"));
    capacity = capacity != 0 ? capacity : run->workload->capacity_bytes;
    run->place = (whatif_place){
        .path = run->options->paths[0],
        .kind = run->input.kind,
        .is_complete = run->input.is_complete && (process == NULL || !process->is_partial),
        .is_kept = run->input.is_kept || (process != NULL && process->is_kept),
        .heap = heap,
        .process = process,
        .has_more_pools = count_pools(run->input.gather) > 1,
        .device_number = device == NULL ? NM_UNKNOWN_NUMBER : run->input.gather->devices.items[*device].number,
        .capacity_bytes = capacity == 0 || capacity > NM_WHATIF_UNLIMITED ? NM_WHATIF_UNLIMITED : capacity,
        .other_bytes = run->options->other_bytes,
        .is_end_unknown = run->workload->recorded.refused_bytes > 0 && !run->workload->recorded.is_refusal_replayed,
    };
    return NM_OK;
}

/* ---- How far it is ---- */

/* Of the workload, for each of its runs. */
static void show_run(void *told, const void *setting)
{
    whatif *run = told;
    const whatif_options *options = run->options;
    const char *option = options->is_suggest ? "--suggest" : options->is_compare ? "--compare" : NULL;
    char count[NM_HUMAN_BYTES], what[80];

    run->tried_count += setting != run->tried;
    run->tried = setting;
    nm_human_count(count, (int64_t)++run->run_count);
    if (option == NULL)
        snprintf(what, sizeof what, nm_spoken("run %s of the requests"), count);
    else
        snprintf(what, sizeof what, nm_spoken("run %s of the requests; %s can be left out"), count, option);
    nm_progress_part(&run->progress, run->tried_count, run->to_try, what);
}

/* As many settings as may be tried: a suggestion looks at each for a smaller device, and then for less that is reserved. */
static void watch_runs(whatif *run)
{
    const whatif_options *options = run->options;
    nm_candidates candidates;

    nm_search_candidates(run->workload, &run->recorded, &candidates);
    run->to_try = 2 + options->settings.count + (options->is_compare ? candidates.count : 0) +
                  (options->is_suggest ? 2 * candidates.count : 0);
    run->workload->tell = show_run;
    run->workload->told = run;
    run->workload->memo = &run->memo;
}

/* ---- Rows ---- */

static const char *shown_name(const char *name)
{
    return name[0] == 0 ? "default" : name;
}

static nm_status add_row(whatif *run, const char *name, const nm_setting *setting, nm_error *err)
{
    whatif_rows *rows = &run->rows;
    whatif_row *row;
    nm_status status = nm_array_grow(&rows->items, &rows->capacity, rows->count + 1, sizeof *rows->items, err);

    if (status != NM_OK)
        return status;
    row = &rows->items[rows->count++];
    snprintf(row->name, sizeof row->name, "%s", shown_name(name));
    row->setting = *setting;
    status = nm_simulate(run->workload, setting, &(nm_sim_options){run->place.capacity_bytes, run->place.other_bytes},
                         &row->result, err);
    if (status == NM_OK)
        status = nm_search_smallest(run->workload, setting, run->place.other_bytes, &row->smallest, err);
    return status;
}

static nm_status add_given(whatif *run, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < run->options->settings.count && status == NM_OK; i++) {
        const char *text = run->options->settings.items[i].text;
        nm_setting setting = {.is_bucket = run->options->settings.items[i].is_bucket,
                              .caching = nm_caching_settings_default(run->workload->is_npu),
                              .bucket = nm_bucket_settings_default()};
        char name[WHATIF_NAME_BYTES];

        setting.caching.pad_bytes = run->recorded.caching.pad_bytes;
        run->subject = text;
        status = setting.is_bucket ? nm_bucket_settings_parse(text, &setting.bucket, err)
                                   : nm_caching_settings_parse(text, &setting.caching, err);
        snprintf(name, sizeof name, "%s%.*s", setting.is_bucket ? "bucket " : "", NM_SETTINGS_BYTES, text);
        if (status == NM_OK)
            status = add_row(run, name, &setting, err);
    }
    return status;
}

static nm_status add_recorded(whatif *run, nm_error *err)
{
    char name[WHATIF_NAME_BYTES] = "as recorded: ";

    nm_caching_settings_write(&run->recorded.caching, name + strlen(name));
    if (name[strlen("as recorded: ")] == 0)
        strcat(name, "default");
    return add_row(run, name, &run->recorded, err);
}

static bool has_row(const whatif_rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->count; i++)
        if (strcmp(rows->items[i].name, shown_name(name)) == 0)
            return true;
    return false;
}

/* Those that do not stand in the table already: given, or suggested. */
static nm_status add_candidates(whatif *run, nm_error *err)
{
    nm_candidates candidates;
    nm_status status = NM_OK;

    nm_search_candidates(run->workload, &run->recorded, &candidates);
    for (size_t i = 0; i < candidates.count && status == NM_OK; i++) {
        char name[NM_SETTINGS_BYTES];

        nm_caching_settings_write(&candidates.items[i].caching, name);
        if (!has_row(&run->rows, name))
            status = add_row(run, name, &candidates.items[i], err);
    }
    return status;
}

/* By the figures of the table: a smaller device is enough, or less is reserved. */
static bool is_better(const whatif_row *now, const whatif_row *row)
{
    bool is_smaller =
        now->smallest.is_found && row->smallest.is_found && row->smallest.device_bytes < now->smallest.device_bytes;

    return is_smaller || (now->result.is_fit && row->result.is_fit &&
                          row->result.peak_reserved_bytes < now->result.peak_reserved_bytes);
}

/* Adds the candidate that is best, if one is better than the recorded setting. The search narrows sizes down and may be wrong by a
 * step: what the table does not bear out is no candidate. */
static nm_status suggest(whatif *run, nm_error *err)
{
    const char *refusal = nm_search_refusal(run->workload, run->place.is_complete);
    nm_sim_options options = {run->place.capacity_bytes, run->place.other_bytes};
    nm_candidates candidates;
    nm_status status = NM_OK;

    if (refusal != NULL)
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "no suggestion: %s", refusal);
    nm_search_candidates(run->workload, &run->recorded, &candidates);
    while (status == NM_OK && run->best == 0) {
        char name[NM_SETTINGS_BYTES];
        size_t found = SIZE_MAX;

        status = nm_search_best(run->workload, &run->recorded, &run->rows.items[0].smallest, &options, &candidates,
                                &found, err);
        if (status != NM_OK || found == SIZE_MAX)
            break;
        nm_caching_settings_write(&candidates.items[found].caching, name);
        status = add_row(run, name, &candidates.items[found], err);
        if (status != NM_OK)
            break;
        if (is_better(&run->rows.items[0], &run->rows.items[run->rows.count - 1])) {
            run->best = run->rows.count - 1;
        } else {
            run->rows.count--;
            candidates.items[found] = candidates.items[--candidates.count];
        }
    }
    return status;
}

static nm_status fill_rows(whatif *run, nm_error *err)
{
    const whatif_options *options = run->options;
    bool has_given = options->settings.count > 0;
    nm_status status = NM_OK;

    run->recorded = nm_search_recorded_setting(run->workload);
    if (options->has_pad)
        run->recorded.caching.pad_bytes = options->pad_bytes;
    watch_runs(run);
    status = nm_simulate(run->workload, &run->recorded, &(nm_sim_options){NM_WHATIF_UNLIMITED, 0}, &run->same, err);
    if (status == NM_OK)
        status = nm_packing_find(run->workload, &run->packing, err);
    if (status == NM_OK && (!has_given || options->is_suggest))
        status = add_recorded(run, err);
    if (status == NM_OK && options->is_suggest)
        status = suggest(run, err);
    if (status == NM_OK && has_given)
        status = add_given(run, err);
    if (status == NM_OK)
        run->subject = options->paths[0];
    if (status == NM_OK && options->is_compare && has_given && !options->is_suggest)
        status = add_recorded(run, err);
    if (status == NM_OK && options->is_compare)
        status = add_candidates(run, err);
    return status;
}

/* ---- Writing ---- */

/* Before anything is simulated: may the table be written there? Not over what it is made of. */
static nm_status check_csv(whatif *run, nm_error *err)
{
    const whatif_options *options = run->options;
    nm_status status = NM_OK;

    if (options->csv_path == NULL)
        return NM_OK;
    run->subject = options->csv_path;
    for (size_t i = 0; i < options->path_count && status == NM_OK; i++) {
        int input = -1;

        nm_io_open(options->paths[i], O_RDONLY | O_NONBLOCK, 0, &input, NULL);
        status = nm_output_check(options->csv_path, options->is_forced, input, err);
        nm_io_close(input);
    }
    if (status == NM_OK)
        run->subject = options->paths[0];
    return status;
}

/* Beside, and then in its place: there is the whole table or none. */
static nm_status publish_csv(const whatif_options *options, const char *text, size_t text_bytes, nm_error *err)
{
    nm_draft draft;
    nm_status status = nm_draft_begin(options->csv_path, &draft, err);

    if (status == NM_OK)
        status = nm_io_write(draft.fd, text, text_bytes, err);
    if (status == NM_OK)
        status = nm_draft_publish(&draft, options->is_forced, err);
    nm_draft_end(&draft);
    return status == NM_OK ? nm_output_settle(options->csv_path, err) : status;
}

static nm_status write_csv(whatif *run, nm_error *err)
{
    char *text = NULL;
    size_t text_bytes = 0;
    FILE *memory;
    nm_status status;

    if (run->options->csv_path == NULL)
        return NM_OK;
    run->subject = run->options->csv_path;
    memory = open_memstream(&text, &text_bytes);
    if (memory == NULL)
        return nm_fail_write(err, errno);
    status = whatif_write_csv(&run->place, &run->rows, &run->packing, memory, err);
    if (fclose(memory) != 0 && status == NM_OK)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK)
        status = publish_csv(run->options, text, text_bytes, err);
    free(text);
    return status;
}

static nm_status print_advice(const whatif *run, nm_error *err)
{
    nm_advice advice;
    nm_status status = nm_advise(run->workload, CLASS_MAX, &advice, err);

    if (status == NM_OK)
        whatif_print_advice(&advice, stdout);
    nm_advice_free(&advice);
    return status;
}

static nm_status end_output(nm_error *err)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return nm_name_written(nm_fail_write(err, errno), answer_name(), err);
    return NM_OK;
}

static nm_status print_text(const nm_buffer *text, nm_error *err)
{
    fwrite(text->data, 1, text->len, stdout);
    return end_output(err);
}

static nm_status print_json(const whatif *run, nm_error *err)
{
    const whatif_rows *rows = &run->rows;
    whatif_answer answer = {.place = &run->place, .workload = run->workload, .packing = &run->packing, .rows = rows};
    nm_advice advice = {0};
    nm_buffer text = {0};
    nm_json json = {.out = &text, .err = err};
    nm_status status = run->options->is_advise ? nm_advise(run->workload, CLASS_MAX, &advice, err) : NM_OK;

    answer.best = run->options->is_suggest ? &rows->items[run->best] : NULL;
    answer.advice = run->options->is_advise ? &advice : NULL;
    if (status == NM_OK)
        status = whatif_write_json(&answer, &json);
    if (status == NM_OK)
        status = print_text(&text, err);
    nm_buffer_free(&text);
    nm_advice_free(&advice);
    return status;
}

static nm_status print_heaps(const whatif *run, nm_error *err)
{
    nm_buffer text = {0};
    nm_json json = {.out = &text, .err = err};
    nm_status status;

    if (!run->options->is_json) {
        whatif_print_heaps(run->input.gather, stdout);
        return end_output(err);
    }
    status = whatif_write_heaps(run->options->paths[0], run->input.gather, &json);
    if (status == NM_OK)
        status = print_text(&text, err);
    nm_buffer_free(&text);
    return status;
}

static nm_status print_answers(whatif *run, nm_error *err)
{
    const whatif_rows *rows = &run->rows;
    nm_status status = NM_OK;

    run->is_fit = rows->items[run->options->is_suggest ? run->best : 0].result.is_fit;
    if (run->options->is_json)
        return print_json(run, err);
    whatif_print_head(&run->place, run->workload, &run->same, &run->packing, stdout);
    whatif_print_rows(&run->place, &run->workload->recorded, rows, stdout);
    if (run->options->is_suggest)
        whatif_print_suggestion(run->workload, &rows->items[0], &rows->items[run->best], stdout);
    if (run->options->is_advise)
        status = print_advice(run, err);
    return status == NM_OK ? end_output(err) : status;
}

/* ---- A run ---- */

static int report_error(const whatif *run, const nm_error *err)
{
    char subject[PATH_MAX];

    fprintf(stderr, "npumem-whatif: %s: ", nm_shown_text(subject, sizeof subject, nm_error_subject(err, run->subject)));
    if (err->offset != NM_NO_OFFSET)
        fprintf(stderr, nm_spoken("byte %" PRIu64 ": "), err->offset);
    fprintf(stderr, "%s\n", err->text);
    return err->status == NM_ERR_USAGE ? EXIT_USAGE : EXIT_UNUSABLE;
}

static nm_status answer(whatif *run, nm_error *err)
{
    nm_status status = check_csv(run, err);

    if (status == NM_OK)
        status = make_workload(run, err);
    if (status == NM_OK)
        status = fill_rows(run, err);
    nm_progress_end(&run->progress);
    if (status == NM_OK)
        status = write_csv(run, err);
    if (status != NM_OK)
        return status;
    run->subject = run->options->paths[0];
    return print_answers(run, err);
}

static int run_whatif(const void *context)
{
    const whatif_options *options = context;
    whatif run = {.options = options, .subject = options->paths[0], .is_fit = true};
    nm_error err = {.offset = NM_NO_OFFSET};
    int exit_status = EXIT_DONE;

    nm_progress_begin(&run.progress, options->progress, 0);
    nm_status status = whatif_load(options->paths, options->path_count, &run.progress, &run.input, &run.subject, &err);
    nm_progress_end(&run.progress);
    if (status == NM_OK && options->is_list) {
        status = print_heaps(&run, &err);
    } else if (status == NM_OK) {
        status = answer(&run, &err);
    }
    if (status != NM_OK)
        exit_status = report_error(&run, &err);
    else if (!run.is_fit)
        exit_status = EXIT_NO;
    else if (!run.input.is_complete || (!options->is_list && !run.place.is_complete) || run.place.is_end_unknown)
        exit_status = EXIT_PARTIAL;
    nm_workload_free(run.workload);
    whatif_input_free(&run.input);
    free(run.rows.items);
    return exit_status;
}

int main(int argc, char **argv)
{
    whatif_options options = {0};
    options_outcome outcome = whatif_options_read(argc, argv, &options);

    nm_io_hold_standard_streams();
    nm_db_use_one_thread();
    const answer_request request = {"npumem-whatif", options.output_path, options.is_forced, options.is_quiet,
                                    options.paths,   options.path_count,  EXIT_UNUSABLE};
    int result =
        outcome == OPTIONS_READ ? answer_run(&request, run_whatif, &options) : options_end(outcome, EXIT_UNUSABLE);
    whatif_options_free(&options);
    return result;
}
