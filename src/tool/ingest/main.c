/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-ingest: input files -> database, CSV files and the screen. One input goes into the database directly, each of
 * several into one of its own first, a part, which is then merged. What this file knows itself is the exit status and the
 * one line of an error; the command line is in ingest/options.c, and how an input is read in ingest/load.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/door.h"
#include "base/human.h"
#include "base/io.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "base/text.h"
#include "report/findings_json.h"
#include "say/spoken.h"
#include "screen/screen.h"
#include "sites/patterns.h"
#include "store/cleanup.h"
#include "store/database.h"
#include "store/publish.h"
#include "tool/common/color.h"
#include "tool/ingest/again.h"
#include "tool/ingest/load.h"
#include "tool/ingest/size.h"
#include "tool/ingest/workers.h"

/* "runs/a.zst" -> "runs/a.db" */
static char *default_output(const char *input_name, bool is_foreign)
{
    const char *name = nm_path_name(input_name);
    const char *dot = nm_door_leads_to(input_name, S_IFDIR) ? NULL : strrchr(name, '.');
    size_t kept = dot == NULL || dot == name ? strlen(input_name) : (size_t)(dot - input_name);
    char *path = NULL;

    if (is_foreign && dot != NULL && strcmp(dot, ".db") == 0) /* not over it */
        return asprintf(&path, "%.*s.npumem.db", (int)kept, input_name) < 0 ? NULL : path;
    return asprintf(&path, "%.*s.db", (int)kept, input_name) < 0 ? NULL : path;
}

/* ---- Opening ---- */

static nm_status read_rules_file(ingest *run, nm_error *err)
{
    int fd = -1;
    nm_status status;

    run->subject = run->options->rules_path;
    status = nm_io_open(run->options->rules_path, O_RDONLY, 0, &fd, err);
    if (status == NM_OK)
        status = nm_io_read_all(fd, NM_SITE_RULES_BYTES_MAX, &run->site_rules, err);
    nm_io_close(fd);
    return status == NM_OK ? nm_buffer_append(&run->site_rules, "\n", 1, err) : status;
}

static nm_status read_site_rules(ingest *run, nm_error *err)
{
    const nm_buffer *own = &run->options->own_rules;
    nm_status status = run->options->rules_path == NULL ? NM_OK : read_rules_file(run, err);

    return status == NM_OK ? nm_buffer_append(&run->site_rules, own->data, own->len, err) : status;
}

static bool is_many(const ingest *run)
{
    return run->inputs.count > 1 || run->inputs.items[0].is_database;
}

/* One alone has its answers printed again; with -o another is made of it. */
static bool is_database(const ingest *run)
{
    return run->inputs.count == 1 && run->inputs.items[0].is_database;
}

/* What the operands name, and what the output is called then. */
static nm_status find_inputs(ingest *run, nm_error *err)
{
    const ingest_options *options = run->options;
    nm_status status = tool_inputs_find(options->operands, options->operand_count, &run->inputs, &run->subject, err);

    if (status != NM_OK)
        return status;
    run->subject = NULL;
    tool_inputs_say_repeats(&run->inputs, "npumem-ingest", run->repeats_file);
    if (options->output_path == NULL && run->inputs.count > 1)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "%zu inputs (%s, %s, ...) need -o FILE.db", run->inputs.count,
                       run->inputs.items[0].name, run->inputs.items[1].name);
    run->output_path = options->output_path != NULL ? strdup(options->output_path)
                       : is_database(run)
                           ? strdup(run->inputs.items[0].paths[0])
                           : default_output(run->inputs.items[0].name, run->inputs.items[0].is_run_database);
    return run->output_path == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : NM_OK;
}

/* Steps and places are of one recording, of which all events come. */
static nm_status check_window(ingest *run, nm_error *err)
{
    if (!run->options->has_window || !is_many(run))
        return NM_OK;
    run->subject = is_database(run) ? run->inputs.items[0].paths[0] : NULL;
    return is_database(run)
               ? nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "is a database already: --window is for loading its trace")
               : nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "--window is of one recording, not of %zu inputs",
                         run->inputs.count);
}

/* Before the long work. */
static void say_size(const ingest *run)
{
    ingest_size size = {0};

    if (run->options->is_quiet)
        return;
    size = ingest_size_of(&run->inputs);
    ingest_size_say(&size, run->options->detail, run->output_path, stderr);
}

/* An error of a file in the folders is said and no failure. */
static nm_status open_symbols(ingest *run, nm_error *err)
{
    if (run->options->symbol_folders.count == 0)
        return NM_OK;
    run->subject = run->options->symbol_folders.items[0];
    return ingest_symbols_new(run->options->symbol_folders.items, run->options->symbol_folders.count, &run->symbols,
                              err);
}

static nm_status open_store(ingest *run, nm_store_role role, const char *path, nm_store **out, nm_error *err)
{
    nm_store_options store_options = {
        .role = role,
        .retention = run->options->detail,
        .window = &run->options->window,
        .server_minutes = run->options->server_minutes,
        .thresholds = &run->options->thresholds,
        .adopts_thresholds = is_database(run) && !nm_thresholds_are_set(&run->options->thresholds),
        .is_plain = run->options->is_safe_load,
        .is_forced = run->options->is_forced,
        .is_redacted = run->options->is_redacted,
        .input_fd = run->input_fd,
        .site_rules = {run->site_rules.data, run->site_rules.len},
        .namer = ingest_symbols_namer(run->symbols),
    };
    nm_status status;

    run->subject = run->output_path;
    status = nm_store_open(path, &store_options, out, err);
    if (status == NM_ERR_FORMAT)
        run->subject = run->options->rules_path;
    return status;
}

/* Refuses outputs before the long work, then builds the tables. */
static nm_status open_outputs(ingest *run, nm_store_role role, nm_error *err)
{
    const ingest_options *options = run->options;
    nm_csv_options csv_options = {.is_forced = options->is_forced,
                                  .has_all = options->has_csv_all,
                                  .has_internal = options->has_csv_internal,
                                  .has_bom = options->has_csv_bom};
    nm_status status = NM_OK;

    if (options->csv_folder != NULL) {
        run->subject = options->csv_folder;
        status = nm_csv_open(options->csv_folder, &csv_options, &run->csv, err);
    }
    if (status == NM_OK) {
        run->subject = options->report_path;
        status = ingest_page_open(&run->page, options->report_path, options->is_forced, err);
    }
    return status == NM_OK ? open_store(run, role, run->output_path, &run->store, err) : status;
}

/* ---- Loading ---- */

static nm_status load_one(ingest *run, nm_error *err)
{
    nm_status status = ingest_begin_input(run, &run->inputs.items[0], err);

    if (status == NM_OK)
        status = open_outputs(run, NM_STORE_WHOLE, err);
    run->part = run->store;
    return status == NM_OK ? ingest_load_input(run, err) : status;
}

/* One of several: into a database of its own. */
static nm_status load_part(ingest *run, size_t index, nm_error *err)
{
    char *path = ingest_part_path(run, index);
    nm_status status = path == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : NM_OK;

    if (status == NM_OK)
        status = ingest_begin_input(run, &run->inputs.items[index], err);
    if (status == NM_OK)
        status = open_store(run, NM_STORE_PART, path, &run->part, err);
    if (status == NM_OK)
        status = ingest_load_input(run, err);
    free(path);
    return nm_name_written(status, run->output_path, err);
}

static nm_status merge_database(ingest *run, const tool_input *input, const nm_merge_origin *origin, nm_error *err)
{
    nm_progress_say(&run->progress, "checking and copying a database");
    run->subject = input->paths[0];
    return nm_store_merge_file(run->store, input->paths[0], origin, err);
}

/* A trace or snapshot holds one recording. */
static void note_repeat(void *context, const nm_repeat *repeat)
{
    ingest *run = context;
    const tool_input *inputs = run->inputs.items;

    tool_say_repeat("npumem-ingest", ingest_input_name(&inputs[repeat->number]),
                    ingest_input_name(&inputs[repeat->kept_number]), repeat->recording_count, repeat->of_count,
                    run->repeats_file);
    if (repeat->of_count == 1)
        ingest_workers_leave_out(run->workers, (size_t)repeat->number);
}

/* No input may be the output. */
static nm_status check_inputs(ingest *run, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < run->inputs.count && status == NM_OK; i++) {
        nm_store_options options = {.is_forced = run->options->is_forced};

        run->input = &run->inputs.items[i];
        status = ingest_open_input(run, err);
        options.input_fd = run->input_fd;
        if (status == NM_OK) {
            run->subject = run->output_path;
            status = nm_store_check_output(run->output_path, &options, err);
        }
        ingest_end_input(run);
    }
    return status;
}

/* Of what workers read. */
static uint64_t bytes_to_read(const ingest *run)
{
    struct stat info;
    uint64_t bytes = 0;

    for (size_t i = 0; i < run->inputs.count; i++)
        for (size_t j = 0; !run->inputs.items[i].is_database && j < run->inputs.items[i].path_count; j++)
            if (nm_door_look(run->inputs.items[i].paths[j], &info) && S_ISREG(info.st_mode))
                bytes += (uint64_t)info.st_size;
    return bytes;
}

static nm_status load_many(ingest *run, nm_error *err)
{
    nm_status status = check_inputs(run, err);

    if (status == NM_OK)
        status = open_outputs(run, NM_STORE_MERGED, err);
    if (status == NM_OK)
        status = ingest_workers_new(run, (size_t)run->options->job_count, load_part, &run->workers, err);
    nm_progress_begin(&run->progress, run->options->progress, bytes_to_read(run));
    for (size_t i = 0; i < run->inputs.count && status == NM_OK; i++) {
        const tool_input *input = &run->inputs.items[i];
        const nm_merge_origin origin = {(int64_t)i, ingest_input_name(input), note_repeat, run};

        status = input->is_database ? merge_database(run, input, &origin, err)
                                    : ingest_workers_merge(run->workers, i, &origin, err);
        nm_progress_end(&run->progress);
    }
    if (status == NM_OK) {
        ingest_workers_end(run->workers);
        run->subject = run->output_path;
        nm_progress_say(&run->progress, "making indexes and views");
        status = nm_store_finish_merged(run->store, err);
    }
    return status;
}

/* ---- Finishing ---- */

/* Snapshots name neither host nor process. */
static nm_status check_apart(ingest *run, nm_error *err)
{
    int64_t count = 0;
    nm_status status =
        nm_db_get_int(run->db,
                      "SELECT coalesce(sum(n), 0) FROM (SELECT count(DISTINCT input_id) AS n FROM process"
                      " GROUP BY host, rank, pid HAVING count(DISTINCT input_id) > 1)",
                      &count, err);

    if (status == NM_OK && count > 0 && !run->options->is_quiet)
        fprintf(stderr,
                nm_spoken("npumem-ingest: %s: %" PRId64 " inputs have processes of the same host, rank and number: only"
                          " their inputs tell them apart (name files so: x_rank3.pickle)\n"),
                run->output_path, count);
    return status;
}

/* Databases say of their inputs themselves what is missing. */
static nm_status check_whole(ingest *run, nm_error *err)
{
    int64_t count = 0;
    nm_status status = nm_db_get_int(
        run->db, "SELECT count(*) FROM input WHERE is_complete = 0 OR unknown_reference_count > 0", &count, err);

    run->is_whole = count == 0;
    if (status == NM_OK && count > 0 && ftell(run->losses_file) == 0)
        fprintf(run->losses_file,
                nm_spoken("npumem-ingest: %s: %" PRId64 " of its inputs not complete: see view completeness\n"),
                run->output_path, count);
    return status;
}

static nm_status count_events(ingest *run, nm_error *err)
{
    return run->store == NULL
               ? NM_OK
               : nm_db_get_int(run->db, "SELECT coalesce(sum(events_ingested), 0) FROM input WHERE detail = 'all'",
                               &run->row_event_count, err);
}

static void write_name_counts(const nm_frame_name_counts *counts, FILE *out)
{
    char number[NM_HUMAN_BYTES];
    bool is_one = counts->unnamed_modules == 1;

    fprintf(out, "\nsymbols           %s frame%s named", nm_human_count(number, (int64_t)counts->named_frames),
            counts->named_frames == 1 ? "" : "s");
    if (counts->unnamed_modules > 0)
        fprintf(out, ", %s %s symbols (queries/missing_symbols.sql)",
                nm_human_count(number, (int64_t)counts->unnamed_modules),
                is_one ? "module still lacks" : "modules still lack");
    fputc('\n', out);
}

static void write_csv_note(const ingest *run, FILE *out)
{
    if (run->csv != NULL && run->options->detail == NM_RETENTION_NONE)
        fputs(
            nm_spoken(
                "CSV               a header alone in outstanding, leak and others of single allocations: --detail none "
                "keeps "
                "none\n"),
            out);
}

static nm_language language_of(const ingest_options *options)
{
    if (options->language == TOOL_LANGUAGE_AUTO)
        return nm_language_of_environment();
    return options->language == TOOL_LANGUAGE_CHINESE ? NM_CHINESE : NM_ENGLISH;
}

/* Of what may be sent the place of the database is not told either. */
static nm_status find_redacted(const ingest *run, bool *is_redacted, nm_error *err)
{
    int64_t count = 0;
    nm_status status = nm_db_get_int(run->db, "SELECT count(*) FROM meta WHERE key = 'redacted'", &count, err);

    *is_redacted = count > 0;
    return status;
}

static nm_status write_page(ingest *run, nm_error *err)
{
    nm_page_options page = {.database_path = run->output_path, .language = language_of(run->options)};
    nm_buffer summaries[2] = {{0}, {0}};
    bool is_redacted = false;
    nm_status status;

    if (run->page.path == NULL)
        return NM_OK;
    status = find_redacted(run, &is_redacted, err);
    if (is_redacted)
        page.database_path = "FILE.db";
    if (status == NM_OK)
        status = nm_screen_texts(run->db, page.database_path, summaries, err);
    page.summaries[NM_ENGLISH] = (const char *)summaries[NM_ENGLISH].data;
    page.summaries[NM_CHINESE] = (const char *)summaries[NM_CHINESE].data;
    run->subject = run->page.path;
    if (status == NM_OK)
        status = ingest_page_write(&run->page, run->db, &page, err);
    nm_buffer_free(&summaries[NM_ENGLISH]);
    nm_buffer_free(&summaries[NM_CHINESE]);
    return status;
}

/* In place of the screen. */
static nm_status write_json(ingest *run, const char *database, nm_error *err)
{
    const nm_findings_json_options options = {.language = language_of(run->options), .database = database};
    nm_buffer text = {0};
    nm_status status = nm_findings_json_append(run->db, "ingest", &options, &text, err);

    run->screen = (char *)text.data;
    run->screen_bytes = status == NM_OK ? text.len : 0;
    return status;
}

static nm_status write_screen(ingest *run, nm_error *err)
{
    nm_screen_options look = {language_of(run->options), tool_wants_color(run->options->color)};
    nm_screen_names names = {run->output_path, run->options->csv_folder};
    bool is_redacted = false;
    FILE *file = NULL;
    nm_status status;

    if (run->options->is_quiet)
        return NM_OK;
    status = find_redacted(run, &is_redacted, err);
    if (status != NM_OK)
        return status;
    if (is_redacted) /* so that what is printed may be sent too */
        names = (nm_screen_names){"FILE.db", run->options->csv_folder == NULL ? NULL : "DIR"};
    if (run->options->is_json)
        return write_json(run, names.database_path, err);
    file = open_memstream(&run->screen, &run->screen_bytes);
    if (file == NULL)
        return nm_fail_errno(err, errno, "cannot write the screen");
    status = nm_screen_write(run->db, &names, &look, file, err);
    if (status == NM_OK && run->symbols != NULL)
        write_name_counts(&run->name_counts, file);
    if (status == NM_OK)
        write_csv_note(run, file);
    if (fclose(file) != 0 && status == NM_OK)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    return status;
}

/* The CSV files and the page go first: after them only a rename can fail. */
static nm_status publish(ingest *run, nm_error *err)
{
    nm_status status = NM_OK;

    if (run->page.path != NULL)
        status = write_page(run, err);
    if (status == NM_OK && run->csv != NULL) {
        run->subject = run->options->csv_folder;
        status = nm_csv_write_views(run->csv, run->db, err);
        if (status == NM_OK)
            status = nm_csv_publish(run->csv, err);
    }
    if (status == NM_OK && run->page.path != NULL) {
        run->subject = run->page.path;
        status = ingest_page_publish(&run->page, err);
    }
    if (status == NM_OK && run->store != NULL) {
        run->subject = run->output_path;
        status = nm_store_publish(run->store, err);
    }
    return status;
}

/* ---- What is said ---- */

/* All is in its place: what fails from here on is said, and takes nothing back. */
static void settle(ingest *run)
{
    nm_error err;

    run->is_settled = run->store == NULL || nm_output_settle(run->output_path, &err) == NM_OK;
    if (!run->is_settled)
        nm_shown_print(stderr, "npumem-ingest: %s: %s\n", run->output_path, err.text);
    if (run->csv != NULL && nm_csv_settle(run->csv, &err) != NM_OK) {
        run->is_settled = false;
        nm_shown_print(stderr, "npumem-ingest: %s: %s\n", run->options->csv_folder, err.text);
    }
    if (ingest_page_settle(&run->page, &err) != NM_OK) {
        run->is_settled = false;
        nm_shown_print(stderr, "npumem-ingest: %s: %s\n", run->page.path, err.text);
    }
}

static bool write_answers(const ingest *run)
{
    int cause = 0;

    if (run->screen != NULL && fwrite(run->screen, 1, run->screen_bytes, stdout) != run->screen_bytes)
        cause = errno;
    if (fflush(stdout) != 0 && cause == 0)
        cause = errno;
    if (cause != 0 && run->store == NULL)
        fprintf(stderr, nm_spoken("npumem-ingest: standard output: cannot write: %s\n"), nm_spoken(strerror(cause)));
    else if (cause != 0)
        nm_shown_print(stderr, nm_spoken("npumem-ingest: standard output: cannot write: %s; %s is in its place\n"),
                       nm_spoken(strerror(cause)), run->output_path);
    return cause == 0;
}

static int report_error(const ingest *run, const nm_error *err)
{
    char shown[PATH_MAX], named[PATH_MAX];
    const char *subject = nm_error_subject(err, run->subject);

    fprintf(stderr, "npumem-ingest: ");
    if (subject != NULL)
        fprintf(stderr, "%s: ", nm_shown_text(shown, sizeof shown, nm_door_name(subject, named)));
    if (err->offset != NM_NO_OFFSET)
        fprintf(stderr, nm_spoken("byte %" PRIu64 ": "), err->offset);
    fprintf(stderr, "%s\n", err->text);
    return err->status == NM_ERR_USAGE ? EXIT_USAGE : EXIT_NO;
}

static int report_success(ingest *run)
{
    settle(run);
    bool is_told = write_answers(run);

    if (!run->options->is_quiet)
        fputs(run->repeats, stderr);
    if (!run->is_whole && !run->options->is_quiet)
        fputs(run->losses, stderr);
    if (!run->options->is_quiet)
        ingest_size_say_many(run->row_event_count, run->output_path, stderr);
    if (run->store == NULL)
        ingest_say_newer(run);
    return run->is_whole && run->is_settled && is_told ? EXIT_DONE : EXIT_PARTIAL;
}

static void free_run(ingest *run)
{
    ingest_end_input(run);
    ingest_workers_free(run->workers);
    nm_csv_close(run->csv);
    ingest_page_close(&run->page);
    nm_store_close(run->store);
    nm_foreign_close(run->database);
    ingest_symbols_free(run->symbols);
    tool_inputs_free(&run->inputs);
    nm_buffer_free(&run->site_rules);
    free(run->output_path);
    free(run->screen);
    free(run->losses);
    free(run->repeats);
}

static nm_status open_losses(ingest *run, nm_error *err)
{
    run->losses_file = open_memstream(&run->losses, &run->losses_bytes);
    if (run->losses_file != NULL)
        run->repeats_file = open_memstream(&run->repeats, &run->repeats_bytes);
    return run->repeats_file == NULL ? nm_fail_errno(err, errno, "cannot keep what is to be said") : NM_OK;
}

/* Up to a database that can be asked: run->db. */
static nm_status load(ingest *run, nm_error *err)
{
    nm_status status = read_site_rules(run, err);

    if (status == NM_OK)
        status = find_inputs(run, err);
    if (status == NM_OK)
        status = check_window(run, err);
    if (status == NM_OK && is_database(run) && run->options->output_path == NULL)
        return ingest_again(run, err);
    if (status == NM_OK)
        status = open_symbols(run, err);
    if (status == NM_OK)
        say_size(run);
    if (status == NM_OK)
        status = is_many(run) ? load_many(run, err) : load_one(run, err);
    if (status == NM_OK)
        run->db = nm_store_db(run->store);
    return status;
}

static int run_ingest(const ingest_options *options)
{
    ingest run = {.options = options, .input_fd = -1};
    nm_error err = {.offset = NM_NO_OFFSET};
    nm_status status = open_losses(&run, &err);

    if (status == NM_OK)
        status = load(&run, &err);
    if (status == NM_OK)
        status = check_apart(&run, &err);
    if (status == NM_OK)
        status = check_whole(&run, &err);
    if (status == NM_OK)
        status = count_events(&run, &err);
    if (status == NM_OK)
        status = write_screen(&run, &err);
    if (status == NM_OK)
        status = publish(&run, &err);
    nm_progress_end(&run.progress);
    if (run.losses_file != NULL)
        fclose(run.losses_file);
    if (run.repeats_file != NULL)
        fclose(run.repeats_file);

    int exit_status = status == NM_OK ? report_success(&run) : report_error(&run, &err);
    free_run(&run);
    return exit_status;
}

int main(int argc, char **argv)
{
    ingest_options options = {0};
    options_outcome outcome = ingest_options_read(argc, argv, &options);

    nm_io_hold_standard_streams();
    nm_cleanup_install();
    nm_db_use_one_thread();
    nm_spoken_in(language_of(&options));
    int result = outcome == OPTIONS_READ ? run_ingest(&options) : options_end(outcome, EXIT_NO);
    ingest_options_free(&options);
    return result;
}
