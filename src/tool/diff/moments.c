/* SPDX-License-Identifier: Apache-2.0
 *
 * What a user calls a moment is made one of the words of queries/between_moments.sql, with a prefix that says what it is; a
 * mark of the name goes before what else it could mean. A moment at which the rows of the database do not tell what was live
 * is refused.
 */
#include "tool/diff/moments.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "base/shown.h"
#include "store/database.h"

#define SITE_COLUMNS 80
#define SHOWN_BYTES  120

typedef struct asked_moment {
    const char *given;
    char *word; /* owned: as the query has it */
} asked_moment;

/* The first column of the first row of `sql`, whose ?1 is the text; false: there is none. */
static nm_status has_row(sqlite3 *db, const char *sql, const char *text, bool *is_there, char out[DIFF_TEXT_BYTES],
                         nm_error *err)
{
    sqlite3_stmt *row = NULL;
    nm_status status = nm_db_prepare(db, sql, &row, err);

    *is_there = false;
    if (status != NM_OK)
        return status;
    sqlite3_bind_text(row, 1, text, -1, SQLITE_STATIC);
    int code = sqlite3_step(row);
    *is_there = code == SQLITE_ROW && !nm_db_is_null(row, 0);
    if (code == SQLITE_ROW && out != NULL)
        nm_human_text(out, DIFF_TEXT_BYTES, nm_db_text(row, 0), SHOWN_BYTES);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(row);
    return status;
}

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
    static const char has_step[] =
        "SELECT 1 FROM step WHERE number = CAST(?1 AS INTEGER) AND begin_seq IS NOT NULL LIMIT 1";
    static const char steps[] = "SELECT min(number) || ' to ' || max(number) FROM step WHERE ?1 IS NOT NULL";
    const char *number = moment->given + 5;
    char text[DIFF_TEXT_BYTES] = "";
    bool is_there = false, has_some = false;
    nm_status status = NM_OK;

    if (is_number(number + (number[0] == '-')))
        status = has_row(db, has_step, number, &is_there, NULL, err);
    if (status == NM_OK && is_there)
        return set_word(moment, "", moment->given, err);
    if (status == NM_OK)
        status = has_row(db, steps, number, &has_some, text, err);
    return status != NM_OK ? status
                           : nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "has no step %.30s; its steps: %.40s", number,
                                     has_some ? text : "none");
}

static nm_status refuse(sqlite3 *db, const asked_moment *moment, nm_error *err)
{
    static const char marks[] = "SELECT group_concat(name, ', ') FROM (SELECT DISTINCT name FROM moment"
                                " WHERE kind = 3 AND ?1 IS NOT NULL LIMIT 8)";
    char text[DIFF_TEXT_BYTES] = "", shown[64];
    bool is_there = false;
    nm_status status = has_row(db, marks, moment->given, &is_there, text, err);

    if (status != NM_OK)
        return status;
    nm_human_text(shown, sizeof shown, moment->given, 30);
    return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                   "has no moment %s: peak, end, step:N, seq:N, a time as 10s, or one of its marks: %.60s", shown,
                   is_there ? text : "none");
}

static nm_status take_time(sqlite3 *db, asked_moment *moment, uint64_t ns, nm_error *err)
{
    static const char unknown[] =
        "SELECT 1 FROM allocation WHERE ?1 IS NOT NULL AND ((alloc_seq IS NOT NULL AND alloc_ns"
        " IS NULL) OR (free_seq IS NOT NULL AND free_ns IS NULL)) LIMIT 1";
    char digits[32];
    bool is_unknown = false;
    nm_status status = has_row(db, unknown, moment->given, &is_unknown, NULL, err);

    if (status == NM_OK && is_unknown)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "does not know the times of its events: seq:N");
    snprintf(digits, sizeof digits, "%" PRIu64, ns);
    return status == NM_OK ? set_word(moment, "ns:", digits, err) : status;
}

static nm_status resolve(sqlite3 *db, asked_moment *moment, nm_error *err)
{
    static const char has_mark[] = "SELECT 1 FROM moment WHERE kind = 3 AND name = ?1 LIMIT 1";
    const char *given = moment->given, *name = begins(given, "mark:") ? given + 5 : given;
    bool is_mark = false;
    uint64_t ns = 0;
    nm_status status = has_row(db, has_mark, name, &is_mark, NULL, err);

    if (status != NM_OK)
        return status;
    if (is_mark)
        return set_word(moment, "mark:", name, err);
    if (strcmp(given, "peak") == 0 || strcmp(given, "end") == 0)
        return set_word(moment, "", given, err);
    if (begins(given, "step:"))
        return take_step(db, moment, err);
    if (begins(given, "seq:") && is_number(given + 4))
        return set_word(moment, "", given, err);
    if (begins(given, "ns:") && is_number(given + 3))
        return take_time(db, moment, strtoull(given + 3, NULL, 10), err);
    if (!is_number(given) && nm_quantity_time(given, 0, &ns, NULL) == NM_OK)
        return take_time(db, moment, ns, err);
    return refuse(db, moment, err);
}

/* Do the rows tell what was live then? */
static nm_status check_rows(sqlite3 *db, const asked_moment *moment, nm_error *err)
{
    static const char no_rows[] = "SELECT 1 FROM input WHERE detail = 'none' AND ?1 IS NOT NULL LIMIT 1";
    static const char few_rows[] = "SELECT 1 FROM input WHERE detail <> 'all' AND ?1 IS NOT NULL LIMIT 1";
    static const char begins_late[] =
        "SELECT 1 FROM input WHERE CASE WHEN ?1 GLOB 'seq:*' THEN CAST(substr(?1, 5) AS INTEGER) < detail_begin_seq"
        " WHEN ?1 GLOB 'ns:*' THEN CAST(substr(?1, 4) AS INTEGER) < detail_begin_ns"
        " WHEN ?1 = 'peak' THEN EXISTS (SELECT 1 FROM _heap_sum WHERE coalesce(peak_seq, -1) < input.detail_begin_seq"
        " AND peak_bytes > 0) END LIMIT 1";
    bool is_kept =
        begins(moment->word, "mark:") || strcmp(moment->word, "peak") == 0 || strcmp(moment->word, "end") == 0;
    bool is_missing = false;
    nm_status status = has_row(db, no_rows, moment->word, &is_missing, NULL, err);

    if (status == NM_OK && is_missing)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "has no rows of allocations (--detail none)");
    if (status == NM_OK && !is_kept)
        status = has_row(db, few_rows, moment->word, &is_missing, NULL, err);
    if (status == NM_OK && is_missing)
        return nm_fail(
            err, NM_ERR_USAGE, NM_NO_OFFSET,
            "has rows of peaks, marks and the end alone (--detail live): what was live at %.40s is not known",
            moment->word);
    if (status == NM_OK)
        status = has_row(db, begins_late, moment->word, &is_missing, NULL, err);
    if (status == NM_OK && is_missing)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "%.40s lies before the part of the recording that was kept",
                       moment->word);
    return status;
}

/* ---- Text ---------------------------------------------------------------------------------------------------------- */

static void write_row(sqlite3_stmt *row)
{
    char change[NM_HUMAN_BYTES + 1], from[NM_HUMAN_BYTES], to[NM_HUMAN_BYTES], came[NM_HUMAN_BYTES + 1];
    char went[NM_HUMAN_BYTES + 1], stayed[NM_HUMAN_BYTES], site[DIFF_TEXT_BYTES], level[32];
    bool is_sum = strcmp(nm_db_text(row, 2), "(all)") == 0;

    printf("  %11s %10s %10s %11s %11s %10s  ", diff_signed_bytes(change, sqlite3_column_int64(row, 11)),
           nm_human_bytes(from, sqlite3_column_int64(row, 3)), nm_human_bytes(to, sqlite3_column_int64(row, 4)),
           diff_signed_bytes(came, sqlite3_column_int64(row, 6)),
           sqlite3_column_int64(row, 8) == 0 ? "0 B" : diff_signed_bytes(went, -sqlite3_column_int64(row, 8)),
           nm_human_bytes(stayed, sqlite3_column_int64(row, 10)));
    if (!nm_db_is_null(row, 0))
        printf("rank %-3lld ", (long long)sqlite3_column_int64(row, 0));
    nm_human_text(site, sizeof site, is_sum ? "all sites" : nm_db_text(row, 2), SITE_COLUMNS);
    printf("%-10s %s\n", nm_shown_text(level, sizeof level, nm_db_text(row, 1)), site);
}

static void write_sites(diff_run *run, sqlite3_stmt *rows)
{
    int64_t row_counts[2] = {0}, left_count = 0; /* of sums over all sites, and of sites */

    printf("\n  %11s %10s %10s %11s %11s %10s\n", "change", "from", "to", "came", "went", "stayed");
    while (sqlite3_step(rows) == SQLITE_ROW) {
        bool is_site = strcmp(nm_db_text(rows, 2), "(all)") != 0;

        run->difference_count += sqlite3_column_int64(rows, 5) + sqlite3_column_int64(rows, 7);
        if (row_counts[is_site]++ >= run->options->top)
            left_count++;
        else
            write_row(rows);
    }
    diff_write_more(left_count);
    if (row_counts[0] == 0)
        printf("  nothing was live at either moment\n");
}

/* "run.db  from mark:warm to end: 63 of 64 processes" */
static nm_status write_head(diff_run *run, const asked_moment *from, const asked_moment *to, nm_error *err)
{
#define HAS(parameter)                                                                                                 \
    "CASE WHEN " parameter " GLOB 'mark:*' THEN EXISTS (SELECT 1 FROM moment WHERE moment.process_id = p.process_id"   \
    " AND moment.kind = 3 AND moment.name = substr(" parameter ", 6)) WHEN " parameter                                 \
    " GLOB 'step:*' THEN EXISTS (SELECT 1 FROM step WHERE step.process_id = p.process_id AND step.begin_seq IS NOT"    \
    " NULL AND step.number = CAST(substr(" parameter ", 6) AS INTEGER)) ELSE 1 END"
    static const char sql[] = "SELECT sum(" HAS("?1") " AND " HAS(
        "?2") "), count(*) FROM (SELECT DISTINCT heap.process_id FROM heap JOIN process ON process.process_id ="
              " heap.process_id WHERE ?3 IS NULL OR process.rank = ?3) AS p";
#undef HAS
    char name[DIFF_TEXT_BYTES], first[DIFF_TEXT_BYTES], second[DIFF_TEXT_BYTES];
    sqlite3_stmt *row = NULL;
    nm_status status = nm_db_prepare(run->db, sql, &row, err);

    if (status != NM_OK)
        return status;
    sqlite3_bind_text(row, 1, from->word, -1, SQLITE_STATIC);
    sqlite3_bind_text(row, 2, to->word, -1, SQLITE_STATIC);
    if (run->options->choice.has_rank)
        sqlite3_bind_int64(row, 3, run->options->choice.rank);
    if (sqlite3_step(row) != SQLITE_ROW)
        status = nm_db_fail(run->db, err);
    int64_t both = status == NM_OK ? sqlite3_column_int64(row, 0) : 0;
    int64_t all = status == NM_OK ? sqlite3_column_int64(row, 1) : 0;
    sqlite3_finalize(row);
    if (status == NM_OK && both == 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "no process%s has both moments",
                       run->options->choice.has_rank ? " of that rank" : "");
    if (status != NM_OK)
        return status;
    printf("%s  from %s to %s: ", nm_human_text(name, sizeof name, run->options->run_path, 200),
           nm_human_text(first, sizeof first, from->given, 60), nm_human_text(second, sizeof second, to->given, 60));
    if (both < all)
        printf("%lld of ", (long long)both);
    printf("%lld process%s\n", (long long)all, all == 1 ? "" : "es");
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
