/* SPDX-License-Identifier: Apache-2.0
 *
 * What a user calls a moment is made one of the words of queries/between_moments.sql, with a prefix that says what it is; a
 * mark of the name goes before what else it could mean. A moment at which the rows of the database do not tell what was live
 * is refused.
 */
#include "tool/diff/moments.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "report/moment_names.sql.h"
#include "tool/diff/diff_faults.sql.h"
#include "tool/diff/diff_steps.sql.h"
#include "tool/diff/diff_timeless.sql.h"
#include "tool/diff/moment_processes.sql.h"

#define SITE_COLUMNS 80
#define SHOWN_BYTES  120

typedef struct asked_moment {
    const char *given;
    char *word; /* owned: as the query has it */
} asked_moment;

static bool is_number(const char *text)
{
    return isdigit((unsigned char)text[0]) && strspn(text, "0123456789") == strlen(text) && strlen(text) <= 18;
}

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static nm_status set_word(asked_moment *moment, const char *prefix, const char *rest, nm_error *err)
{
    size_t size = strlen(prefix) + strlen(rest) + 1;

    moment->word = malloc(size);
    if (moment->word == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    snprintf(moment->word, size, "%s%s", prefix, rest);
    return NM_OK;
}

/* ---- What is there ------------------------------------------------------------------------------------------------- */

static nm_status take_step(sqlite3 *db, asked_moment *moment, nm_error *err)
{
    const char *number = moment->given + 5;
    char numbers[DIFF_TEXT_BYTES];
    bool is_one = is_number(number + (number[0] == '-'));
    sqlite3_stmt *rows = NULL;
    nm_diff_steps_row row = {.numbers = ""};
    nm_status status = nm_diff_steps_ask(db, is_one ? strtoll(number, NULL, 10) : NM_NULL, &rows, err);

    if (status == NM_OK)
        nm_diff_steps_next(rows, &row);
    nm_human_text(numbers, sizeof numbers, row.has.numbers ? row.numbers : nm_spoken("none"), SHOWN_BYTES);
    status = nm_question_end(rows, status, err);
    if (status == NM_OK && row.has_step)
        return set_word(moment, "", moment->given, err);
    return status != NM_OK
               ? status
               : nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "has no step %.30s; its steps: %.40s", number, numbers);
}

static nm_status take_time(sqlite3 *db, asked_moment *moment, uint64_t ns, nm_error *err)
{
    char digits[32];
    nm_diff_timeless_row row;
    nm_status status = nm_diff_timeless_get(db, &row, err);

    if (row.is_timeless)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "does not know the times of its events: seq:N");
    snprintf(digits, sizeof digits, "%" PRIu64, ns);
    return status == NM_OK ? set_word(moment, "ns:", digits, err) : status;
}

/* `marks` are those that there are. */
static nm_status take_other(sqlite3 *db, asked_moment *moment, const char *marks, nm_error *err)
{
    const char *given = moment->given;
    char shown[64];
    uint64_t ns = 0;

    if (strcmp(given, "peak") == 0 || strcmp(given, "reserve") == 0 || strcmp(given, "end") == 0)
        return set_word(moment, "", given, err);
    if (begins(given, "step:"))
        return take_step(db, moment, err);
    if (begins(given, "seq:") && is_number(given + 4))
        return set_word(moment, "", given, err);
    if (begins(given, "ns:") && is_number(given + 3))
        return take_time(db, moment, strtoull(given + 3, NULL, 10), err);
    if (!is_number(given) && nm_quantity_time(given, 0, &ns, NULL) == NM_OK)
        return take_time(db, moment, ns, err);
    return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                   "has no moment %s: peak, reserve, end, step:N, seq:N, a time as 10s, or one of its marks: %.60s",
                   nm_human_text(shown, sizeof shown, given, 30), marks);
}

static nm_status resolve(sqlite3 *db, asked_moment *moment, nm_error *err)
{
    const char *given = moment->given, *name = begins(given, "mark:") ? given + 5 : given;
    char marks[DIFF_TEXT_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_moment_names_row row = {.mark_names = ""};
    nm_status status = nm_moment_names_ask(db, name, &rows, err);

    if (status == NM_OK)
        nm_moment_names_next(rows, &row);
    nm_human_text(marks, sizeof marks, row.has.mark_names ? row.mark_names : nm_spoken("none"), SHOWN_BYTES);
    status = nm_question_end(rows, status, err);
    if (status != NM_OK)
        return status;
    return row.is_mark ? set_word(moment, "mark:", name, err) : take_other(db, moment, marks, err);
}

/* Do the rows tell what was live then? */
static nm_status check_rows(sqlite3 *db, const asked_moment *moment, nm_error *err)
{
    bool is_kept = begins(moment->word, "mark:") || strcmp(moment->word, "peak") == 0 ||
                   strcmp(moment->word, "reserve") == 0 || strcmp(moment->word, "end") == 0;
    nm_diff_faults_row row;
    nm_status status = nm_diff_faults_get(db, is_kept, moment->word, &row, err);

    if (status != NM_OK || !row.has.fault_number)
        return status;
    if (row.fault_number == 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "has no rows of allocations (--detail none)");
    if (row.fault_number == 1)
        return nm_fail(
            err, NM_ERR_USAGE, NM_NO_OFFSET,
            "has rows of peaks, marks and the end alone (--detail live): what was live at %.40s is not known",
            moment->word);
    if (row.fault_number == 3)
        return nm_fail(
            err, NM_ERR_USAGE, NM_NO_OFFSET,
            "has rows of peaks, marks, the end and its window alone (--window): what was live at %.40s is not "
            "known",
            moment->word);
    return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "%.40s lies before the part of the recording that was kept",
                   moment->word);
}

/* ---- Text ---------------------------------------------------------------------------------------------------------- */

static void write_row(sqlite3_stmt *row)
{
    char change[NM_HUMAN_BYTES + 1], from[NM_HUMAN_BYTES], to[NM_HUMAN_BYTES], came[NM_HUMAN_BYTES + 1];
    char went[NM_HUMAN_BYTES + 1], stayed[NM_HUMAN_BYTES], site[DIFF_TEXT_BYTES], level[32];
    const char *name = nm_named_text(row, "site");
    int64_t went_bytes = nm_named_integer(row, "went_bytes");

    printf("  %11s %10s %10s %11s %11s %10s  ", diff_signed_bytes(change, nm_named_integer(row, "change_bytes")),
           nm_human_bytes(from, nm_named_integer(row, "from_bytes")),
           nm_human_bytes(to, nm_named_integer(row, "to_bytes")),
           diff_signed_bytes(came, nm_named_integer(row, "came_bytes")),
           went_bytes == 0 ? "0 B" : diff_signed_bytes(went, -went_bytes),
           nm_human_bytes(stayed, nm_named_integer(row, "stayed_bytes")));
    if (nm_named_has(row, "rank"))
        printf("rank %-3lld ", (long long)nm_named_integer(row, "rank"));
    nm_human_text(site, sizeof site, strcmp(name, "(all)") == 0 ? nm_spoken("all sites") : nm_spoken(name),
                  SITE_COLUMNS);
    printf("%-10s %s\n", nm_shown_text(level, sizeof level, nm_named_text(row, "level")), site);
}

static void write_sites(diff_run *run, sqlite3_stmt *rows)
{
    static const char *const titles[] = {"change", "from", "to", "came", "went", "stayed", NULL};
    int64_t row_counts[2] = {0}, left_count = 0, small_count = 0; /* of sums over all sites, and of sites */

    printf("\n");
    diff_write_titles(titles);
    while (sqlite3_step(rows) == SQLITE_ROW) {
        bool is_site = strcmp(nm_named_text(rows, "site"), "(all)") != 0;

        if (diff_is_small(run, fmax(nm_named_real(rows, "came_bytes"), nm_named_real(rows, "went_bytes")))) {
            small_count++;
            continue;
        }
        run->difference_count += nm_named_integer(rows, "came_count") + nm_named_integer(rows, "went_count");
        if (row_counts[is_site]++ >= run->options->top)
            left_count++;
        else
            write_row(rows);
    }
    diff_write_more(left_count);
    diff_write_small(run, small_count, row_counts[0] + row_counts[1] > 0);
    if (row_counts[0] == 0 && small_count == 0)
        printf("%s", nm_spoken("  nothing was live at either moment\n"));
}

/* "run.db  from mark:warm to end: 63 of 64 processes" */
static nm_status write_head(diff_run *run, const asked_moment *from, const asked_moment *to, nm_error *err)
{
    const nm_compare_choice *choice = &run->options->choice;
    char name[DIFF_TEXT_BYTES], first[DIFF_TEXT_BYTES], second[DIFF_TEXT_BYTES];
    nm_moment_processes_row row;
    nm_status status =
        nm_moment_processes_get(run->db, from->word, to->word, choice->has_rank ? choice->rank : NM_NULL, &row, err);

    if (status == NM_OK && row.both_count == 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "no process%s has both moments",
                       choice->has_rank ? nm_spoken(" of that rank") : "");
    if (status != NM_OK)
        return status;
    if (run->json != NULL) {
        nm_json_int(run->json, "process_count", row.both_count);
        nm_json_int(run->json, "all_process_count", row.all_count);
        return NM_OK;
    }
    printf(nm_spoken("%s  from %s to %s: "), nm_human_text(name, sizeof name, run->options->run_path, 200),
           nm_human_text(first, sizeof first, from->given, 60), nm_human_text(second, sizeof second, to->given, 60));
    const char *plural = nm_spoken(row.all_count == 1 ? "" : "es");
    if (row.both_count < row.all_count)
        printf(nm_spoken("%lld of %lld process%s\n"), (long long)row.both_count, (long long)row.all_count, plural);
    else
        printf(nm_spoken("%lld process%s\n"), (long long)row.all_count, plural);
    return NM_OK;
}

/* ---- All of it ----------------------------------------------------------------------------------------------------- */

static nm_status open_csv(diff_run *run, nm_error *err)
{
    static const char *const names[] = {"between_moments"};
    nm_csv_options options = {.is_forced = run->options->is_forced};
    nm_status status;

    if (run->options->csv_folder == NULL)
        return NM_OK;
    run->subject = run->options->csv_folder;
    status = nm_csv_open_named(run->options->csv_folder, names, 1, &options, &run->csv, err);
    run->subject = status == NM_OK ? run->options->run_path : run->subject;
    return status;
}

static nm_status compare(diff_run *run, asked_moment *from, asked_moment *to, nm_error *err)
{
    nm_status status = resolve(run->db, from, err);

    if (status == NM_OK)
        status = resolve(run->db, to, err);
    if (status == NM_OK)
        status = check_rows(run->db, from, err);
    if (status == NM_OK)
        status = check_rows(run->db, to, err);
    if (status == NM_OK)
        status = open_csv(run, err);
    if (status == NM_OK)
        status = write_head(run, from, to, err);
    if (status == NM_OK) {
        diff_options words = *run->options;
        const diff_options *asked = run->options;

        words.choice.from = from->word;
        words.choice.to = to->word;
        run->options = &words;
        status = diff_ask(run, NM_COMPARE_MOMENTS, write_sites, err);
        run->options = asked;
    }
    return status == NM_OK ? diff_publish(run, err) : status;
}

nm_status diff_moments(diff_run *run, nm_error *err)
{
    asked_moment from = {.given = run->options->choice.from}, to = {.given = run->options->choice.to};
    nm_status status;

    run->subject = run->options->run_path;
    status = nm_foreign_open(run->options->run_path, true, &run->run, err);
    run->db = status == NM_OK ? nm_foreign_db(run->run) : NULL;
    if (status == NM_OK)
        status = compare(run, &from, &to, err);
    free(from.word);
    free(to.word);
    return status;
}
