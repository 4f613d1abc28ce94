/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-diff: what changed between two databases of npumem-ingest. The questions are files of queries/, run as they are
 * with their parameters; this program knows what cannot be compared and how rows look as text. Its command line is in
 * diff/options.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/io.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "say/spoken.h"
#include "store/question.h"
#include "tool/common/answer.h"
#include "tool/common/busy.h"
#include "tool/diff/ask.h"
#include "tool/diff/diff_choices.sql.h"
#include "tool/diff/diff_heads.sql.h"
#include "tool/diff/figures.h"
#include "tool/diff/json.h"
#include "tool/diff/moments.h"
#include "tool/diff/options.h"

#define SITE_COLUMNS  80
#define VALUE_COLUMNS 60

/* ---- Text ---- */

/* "rank 3  pool      torch/optim/adamw.py:61 step" */
static void write_site(sqlite3_stmt *row)
{
    char raw[DIFF_TEXT_BYTES], site[DIFF_TEXT_BYTES], line[32] = "";
    const char *path = nm_named_text(row, "path"), *function = nm_named_text(row, "function");

    if (nm_named_has(row, "line"))
        snprintf(line, sizeof line, ":%lld", (long long)nm_named_integer(row, "line"));
    snprintf(raw, sizeof raw, "%s%s%s%s", path, line, path[0] == 0 || function[0] == 0 ? "" : " ", function);
    if (nm_named_has(row, "rank"))
        printf("rank %-3lld ", (long long)nm_named_integer(row, "rank"));
    nm_human_text(site, sizeof site, strcmp(path, "(all)") == 0 ? nm_spoken("all sites") : nm_spoken(raw),
                  SITE_COLUMNS);
    printf("%-10s %s\n", nm_shown_text(line, sizeof line, nm_named_text(row, "level")), site);
}

/* Where to begin with two values, so that their difference is on the screen: after the words that both begin with. */
static size_t shown_from(const char *base, const char *value)
{
    size_t same = 0;
    size_t from = 0;

    if (strlen(base) <= VALUE_COLUMNS && strlen(value) <= VALUE_COLUMNS)
        return 0;
    for (; base[same] != 0 && base[same] == value[same]; same++)
        if (strchr(" ,:;=/", base[same]) != NULL && base[same + 1] != 0 && value[same + 1] != 0)
            from = same + 1;
    return same + VALUE_COLUMNS / 4 > VALUE_COLUMNS ? from : 0;
}

static void describe_value(const char *text, size_t from, char out[DIFF_TEXT_BYTES])
{
    char cut[DIFF_TEXT_BYTES];

    snprintf(cut, sizeof cut, "%s%s", from == 0 ? "" : "...", text + from);
    nm_human_text(out, DIFF_TEXT_BYTES, cut, VALUE_COLUMNS);
}

static void write_fact(const char *source, const char *name, const char *base, const char *value)
{
    printf("  %*s %*s %s -> %s\n", nm_spoken_width(-11, source), source, nm_spoken_width(-28, name), name, base, value);
}

static void write_environment(diff_run *run, sqlite3_stmt *rows)
{
    char name[DIFF_TEXT_BYTES], base[DIFF_TEXT_BYTES], value[DIFF_TEXT_BYTES];
    int64_t row_count = 0;

    (void)run;
    printf("%s", nm_spoken("\nversions and settings\n"));
    for (; sqlite3_step(rows) == SQLITE_ROW; row_count++) {
        const char *source = nm_named_text(rows, "source");
        bool is_foreign = strcmp(source, "environment") == 0 || strcmp(source, "version") == 0;
        bool is_recording = strcmp(source, "recording") == 0;

        nm_human_text(name, sizeof name, nm_named_text(rows, "name"), VALUE_COLUMNS);
        const char *base_text =
            nm_named_has(rows, "base_value") ? nm_named_text(rows, "base_value") : nm_spoken("(none)");
        const char *value_text =
            nm_named_has(rows, "run_value") ? nm_named_text(rows, "run_value") : nm_spoken("(none)");
        size_t from = shown_from(base_text, value_text);

        describe_value(base_text, from, base);
        describe_value(value_text, from, value);
        /* "recording" alone is that something is being recorded. */
        write_fact(nm_spoken(is_recording ? "recording  " : source), is_foreign ? name : nm_spoken(name),
                   is_recording ? nm_spoken(base) : base, is_recording ? nm_spoken(value) : value);
    }
    if (row_count == 0)
        printf("%s", nm_spoken("  no difference\n"));
}

static void write_moment_title(const diff_run *run, const char *moment)
{
    static const char *const titles[] = {"change", "A", "B", NULL};
    char at[DIFF_TEXT_BYTES];

    if (strcmp(moment, "peak") == 0)
        printf("%s", nm_spoken("\nlive at the peaks of the heaps\n"));
    else if (strcmp(moment, "end") == 0)
        printf("%s", nm_spoken("\nlive at the end\n"));
    else if (strcmp(moment, "step") == 0)
        printf("%s", nm_spoken("\nallocated per step\n"));
    else if (strcmp(moment, "failure") == 0)
        printf("%s", nm_spoken("\nheld when memory ran out\n"));
    else
        printf(nm_spoken("\nlive at mark %s\n"), nm_human_text(at, sizeof at, run->options->choice.at, VALUE_COLUMNS));
    diff_write_titles(titles);
}

static void write_sites(diff_run *run, sqlite3_stmt *rows)
{
    char moment[16] = "", change[NM_HUMAN_BYTES + 1], base[NM_HUMAN_BYTES], value[NM_HUMAN_BYTES];
    int64_t row_counts[2] = {0}, left_count = 0; /* of sums over all sites, and of sites: no rank's sum hides them */
    int64_t small_count = 0;

    while (sqlite3_step(rows) == SQLITE_ROW) {
        bool is_compared = nm_named_has(rows, "change_bytes"); /* what has no site is not */

        if (diff_is_small(run, is_compared
                                   ? nm_named_real(rows, "change_bytes")
                                   : fmax(nm_named_real(rows, "base_bytes"), nm_named_real(rows, "run_bytes")))) {
            small_count++;
            continue;
        }
        if (strcmp(moment, nm_named_text(rows, "moment")) != 0) {
            diff_write_more(left_count);
            row_counts[0] = row_counts[1] = left_count = 0;
            snprintf(moment, sizeof moment, "%s", nm_named_text(rows, "moment"));
            write_moment_title(run, moment);
        }
        run->difference_count += is_compared;
        if (is_compared && row_counts[strcmp(nm_named_text(rows, "path"), "(all)") != 0]++ >= run->options->top) {
            left_count++;
            continue;
        }
        printf("  %11s %10s %10s  ",
               is_compared ? diff_signed_bytes(change, nm_named_integer(rows, "change_bytes")) : "-",
               nm_human_bytes(base, nm_named_integer(rows, "base_bytes")),
               nm_human_bytes(value, nm_named_integer(rows, "run_bytes")));
        write_site(rows);
    }
    diff_write_more(left_count);
    if (moment[0] == 0)
        printf("%s%s", nm_spoken("\nsites\n"), small_count == 0 ? nm_spoken("  no difference\n") : "");
    diff_write_small(run, small_count, moment[0] != 0);
}

/* A new leak is told however small it is. */
static void write_leaks(diff_run *run, sqlite3_stmt *rows)
{
    char change[NM_HUMAN_BYTES + 1], shown[2][32];
    int64_t row_count = 0, small_count = 0;

    printf("%s", nm_spoken("\nleaks\n"));
    while (sqlite3_step(rows) == SQLITE_ROW) {
        if (nm_named_integer(rows, "base_bytes") > 0 && diff_is_small(run, nm_named_real(rows, "change_bytes"))) {
            small_count++;
            continue;
        }
        run->difference_count++;
        if (row_count++ >= run->options->top)
            continue;
        const char *kind = nm_shown_text(shown[0], sizeof shown[0], nm_named_text(rows, "change"));
        const char *verdict = nm_shown_text(shown[1], sizeof shown[1], nm_named_text(rows, "verdict"));
        printf("  %*s %11s  %*s  ", nm_spoken_width(-8, nm_spoken(kind)), nm_spoken(kind),
               diff_signed_bytes(change, nm_named_integer(rows, "change_bytes")),
               nm_spoken_width(-10, nm_spoken(verdict)), nm_spoken(verdict));
        write_site(rows);
    }
    diff_write_more(row_count - run->options->top);
    diff_write_small(run, small_count, row_count > 0);
    if (row_count == 0 && small_count == 0)
        printf("%s", nm_spoken("  no difference\n"));
}

/* "A  old.db  from run.zst: 64 processes, 64 ranks, 300 steps, complete" */
static nm_status write_head(diff_run *run, sqlite3 *db, const char *letter, const char *path, int64_t *rank_count,
                            nm_error *err)
{
    char name[DIFF_TEXT_BYTES], from[DIFF_TEXT_BYTES], inputs[DIFF_TEXT_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_diff_heads_row row;
    nm_status status = nm_diff_heads_ask(db, &rows, err);

    run->subject = path;
    if (status == NM_OK && nm_diff_heads_next(rows, &row)) {
        *rank_count = row.rank_count;
        if (run->json != NULL) {
            diff_json_head(run->json, letter[0] == 'A' ? "a" : "b", path, &row);
            return nm_question_end(rows, status, err);
        }
        printf(nm_spoken("%s  %s  from %s: "), letter, nm_human_text(name, sizeof name, path, 200),
               nm_human_text(from, sizeof from, nm_spoken_said(row.name, inputs, sizeof inputs), 200));
        printf(nm_spoken("%lld process%s, "), (long long)row.process_count,
               nm_spoken(row.process_count == 1 ? "" : "es"));
        printf(nm_spoken("%lld rank%s, "), (long long)row.rank_count, nm_spoken(row.rank_count == 1 ? "" : "s"));
        printf(nm_spoken("%lld step%s, %s\n"), (long long)row.step_count, nm_spoken(row.step_count == 1 ? "" : "s"),
               nm_spoken(row.partial_count > 0  ? "NOT COMPLETE: changes may be of what is missing"
                         : row.midway_count > 0 ? "whole, but it begins in the middle"
                                                : "complete"));
    }
    return nm_question_end(rows, status, err);
}

/* ---- What cannot be compared ---- */

/* Is there what the options choose? */
static nm_status check_choice(diff_run *run, sqlite3 *db, const char *path, nm_error *err)
{
    const nm_compare_choice *choice = &run->options->choice;
    char marks[DIFF_TEXT_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_diff_choices_row row = {.mark_names = ""};
    nm_status status =
        nm_diff_choices_ask(db, choice->has_rank ? choice->rank : NM_NULL, choice->level, choice->at, &rows, err);

    run->subject = path;
    if (status == NM_OK)
        nm_diff_choices_next(rows, &row);
    nm_human_text(marks, sizeof marks, row.has.mark_names ? row.mark_names : nm_spoken("none"), 120);
    status = nm_question_end(rows, status, err);
    if (status != NM_OK)
        return status;
    if (!row.has_rank && choice->has_rank)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "has no rank %" PRId64, choice->rank);
    if (!row.has_level)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "there is no level %.60s", choice->level);
    if (!row.has_rows)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "has no rows of allocations (--detail none): --at needs them");
    if (!row.has_mark && choice->at != NULL)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "has no mark %.40s; its marks: %.90s", choice->at, marks);
    return NM_OK;
}

/* Needs the run open; then the base is attached to it. */
static nm_status check_pair(diff_run *run, nm_error *err)
{
    const nm_compare_choice *choice = &run->options->choice;
    nm_status status;

    run->subject = choice->base_path;
    status = nm_foreign_attach(run->run, choice->base_path, "base", choice->at != NULL, err);
    if (status == NM_OK) {
        run->subject = NULL;
        status = nm_compare_check(run->db, choice, &run->rules, err);
    }
    return status;
}

/* ---- All of it ---- */

static bool has_sites(const diff_run *run)
{
    return run->rules.base_version == run->rules.run_version;
}

/* What was chosen hides the rest. */
static void write_choice(const nm_compare_choice *choice)
{
    char level[DIFF_TEXT_BYTES];

    if (choice->has_rank && choice->level != NULL)
        printf(nm_spoken("Only rank %" PRId64 " and level %s are compared (--rank, --level).\n"), choice->rank,
               nm_human_text(level, sizeof level, choice->level, VALUE_COLUMNS));
    else if (choice->has_rank)
        printf(nm_spoken("Only rank %" PRId64 " is compared (--rank).\n"), choice->rank);
    else if (choice->level != NULL)
        printf(nm_spoken("Only level %s is compared (--level).\n"),
               nm_human_text(level, sizeof level, choice->level, VALUE_COLUMNS));
}

static nm_status open_all(diff_run *run, nm_error *err)
{
    const diff_options *options = run->options;
    static const char *const names[] = {"diff_environment", "diff_figures", "diff", "diff_leaks"};
    nm_csv_options csv_options = {.is_forced = options->is_forced};
    nm_foreign *base = NULL;
    int64_t base_ranks = 0, run_ranks = 0;
    nm_status status;

    run->subject = options->choice.base_path;
    status = nm_foreign_open(options->choice.base_path, false, &base, err);
    if (status == NM_OK)
        status = check_choice(run, nm_foreign_db(base), options->choice.base_path, err);
    run->subject = status == NM_OK ? options->run_path : run->subject;
    if (status == NM_OK)
        status = nm_foreign_open(options->run_path, options->choice.at != NULL, &run->run, err);
    run->db = status == NM_OK ? nm_foreign_db(run->run) : NULL;
    if (status == NM_OK)
        status = check_choice(run, run->db, options->run_path, err);
    if (status == NM_OK)
        status = check_pair(run, err);
    if (status == NM_OK && options->csv_folder != NULL) {
        run->subject = options->csv_folder;
        status = nm_csv_open_named(options->csv_folder, names, has_sites(run) ? 4 : 2, &csv_options, &run->csv, err);
    }
    if (status == NM_OK)
        status = write_head(run, nm_foreign_db(base), "A", options->choice.base_path, &base_ranks, err);
    if (status == NM_OK)
        status = write_head(run, run->db, "B", options->run_path, &run_ranks, err);
    if (status == NM_OK && run->json == NULL && base_ranks != run_ranks && !options->choice.has_rank &&
        !options->choice.is_by_rank)
        printf("%s", nm_spoken("Bytes are sums over all ranks, of which there are not the same number: --rank N "
                               "compares one.\n"));
    if (status == NM_OK)
        write_choice(&options->choice);
    nm_foreign_close(base);
    return status;
}

static nm_status compare(diff_run *run, nm_error *err)
{
    nm_status status = open_all(run, err);

    if (status != NM_OK)
        return status;
    run->subject = nm_spoken("one of the two");
    status = diff_ask(run, NM_COMPARE_FIGURES, diff_write_figures, err);
    if (status == NM_OK)
        status = diff_ask(run, NM_COMPARE_ENVIRONMENT, write_environment, err);
    if (status == NM_OK && run->json != NULL)
        nm_json_bool(run->json, "has_sites", has_sites(run));
    else if (status == NM_OK && !has_sites(run))
        printf(
            nm_spoken("\nsites and leaks\n  not compared: A and B have sites by rules of different versions (%" PRId64
                      " and %" PRId64 "): load both with this one\n"),
            run->rules.base_version, run->rules.run_version);
    if (status == NM_OK && has_sites(run))
        status = diff_ask(run, NM_COMPARE_SITES, write_sites, err);
    if (status == NM_OK && has_sites(run))
        status = diff_ask(run, NM_COMPARE_LEAKS, write_leaks, err);
    return status == NM_OK ? diff_publish(run, err) : status;
}

static int run_diff(const void *context)
{
    const diff_options *options = context;
    nm_error err = {.offset = NM_NO_OFFSET};
    nm_buffer text = {0};
    nm_json json = {.out = &text, .err = &err};
    diff_run run = {.options = options, .json = options->is_json ? &json : NULL};
    nm_busy busy;
    nm_status status;

    nm_busy_begin_answer(&busy, nm_spoken("comparing"));
    if (options->is_json)
        diff_json_begin(&run);
    status = options->choice.from != NULL ? diff_moments(&run, &err) : compare(&run, &err);
    if (status == NM_OK && options->is_json)
        status = diff_json_end(&run, &err);
    nm_busy_end(&busy);
    nm_buffer_free(&text);
    nm_csv_close(run.csv);
    nm_foreign_close(run.run);
    char shown[PATH_MAX];
    const char *subject = nm_error_subject(&err, run.subject);
    if (status != NM_OK)
        fflush(stdout); /* what was found before */
    if (status != NM_OK)
        fprintf(stderr, "npumem-diff: %s%s%s\n", nm_shown_text(shown, sizeof shown, subject),
                subject == NULL ? "" : ": ", err.text);
    if (status == NM_OK && fflush(stdout) != 0) {
        nm_shown_print(stderr, "npumem-diff: %s: %s: %s\n", answer_name(), nm_spoken("cannot write"),
                       nm_spoken(strerror(errno)));
        return EXIT_UNUSABLE;
    }
    return status == NM_ERR_USAGE     ? EXIT_USAGE
           : status != NM_OK          ? EXIT_UNUSABLE
           : run.difference_count > 0 ? EXIT_NO
                                      : EXIT_DONE;
}

int main(int argc, char **argv)
{
    diff_options options = {0};
    options_outcome outcome = diff_options_read(argc, argv, &options);

    nm_io_hold_standard_streams();
    const char *const inputs[] = {options.choice.base_path, options.run_path};
    const answer_request request = {"npumem-diff", options.output_path, options.is_forced, options.is_quiet, inputs, 2,
                                    EXIT_UNUSABLE};
    if (outcome == OPTIONS_READ)
        return answer_run(&request, run_diff, &options);
    return options_end(outcome, EXIT_UNUSABLE);
}
