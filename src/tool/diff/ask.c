/* SPDX-License-Identifier: Apache-2.0
 *
 * The text leaves rows out and says how many, the CSV does not: so both are written from one statement that gives all of them.
 */
#include "tool/diff/ask.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/spoken.h"
#include "store/database.h"
#include "tool/diff/json.h"

typedef struct asked {
    diff_run *run;
    nm_compare_question question;
    diff_write *write;
} asked;

static nm_status write_csv(diff_run *run, nm_compare_question question, sqlite3_stmt *rows, nm_error *err)
{
    const char *file = nm_compare_name(question), *subject = run->subject;
    char name[64];
    nm_status status;

    snprintf(name, sizeof name, "%.*s", (int)strcspn(file, "."), file);
    run->subject = run->options->csv_folder;
    status = nm_csv_write_named(run->csv, name, rows, err);
    if (status == NM_OK) {
        run->subject = subject;
        sqlite3_reset(rows);
    }
    return status;
}

/* The statement that answers: to its CSV file, if one is wanted, and as text. */
static nm_status answer(void *context, sqlite3_stmt *rows, nm_error *err)
{
    const asked *what = context;
    diff_run *run = what->run;
    nm_status status = run->csv == NULL ? NM_OK : write_csv(run, what->question, rows, err);

    if (status == NM_OK && run->json != NULL)
        return diff_json_rows(run, what->question, rows, err);
    if (status != NM_OK)
        return status;
    what->write(run, rows);
    return sqlite3_errcode(run->db) == SQLITE_DONE || sqlite3_errcode(run->db) == SQLITE_OK ? NM_OK
                                                                                            : nm_db_fail(run->db, err);
}

nm_status diff_ask(diff_run *run, nm_compare_question question, diff_write *write, nm_error *err)
{
    asked what = {run, question, write};
    nm_compare_choice choice = run->options->choice;

    choice.threshold_bytes = 0;
    return nm_compare_ask(run->db, question, &choice, answer, &what, err);
}

const char *diff_signed_bytes(char out[NM_HUMAN_BYTES + 1], int64_t bytes)
{
    out[0] = bytes < 0 ? '-' : '+';
    nm_human_bytes(out + 1, bytes < 0 && bytes != INT64_MIN ? -bytes : bytes);
    return out;
}

void diff_write_titles(const char *const *titles)
{
    static const int columns[] = {11, 10, 10, 11, 11, 10};

    printf(" ");
    for (size_t i = 0; titles[i] != NULL; i++)
        printf(" %*s", nm_spoken_width(columns[i], nm_spoken(titles[i])), nm_spoken(titles[i]));
    printf("\n");
}

void diff_write_more(int64_t left_count)
{
    if (left_count > 0)
        printf(nm_spoken("  and %lld more (--top, --csv)\n"), (long long)left_count);
}

bool diff_is_small(const diff_run *run, double bytes)
{
    uint64_t threshold = run->options->choice.threshold_bytes;

    return threshold > 0 && fabs(bytes) <= (double)threshold;
}

void diff_write_small(const diff_run *run, int64_t small_count, bool has_others)
{
    uint64_t threshold = run->options->choice.threshold_bytes;
    char size[NM_HUMAN_BYTES];

    nm_human_bytes(size, threshold > INT64_MAX ? INT64_MAX : (int64_t)threshold);
    if (small_count > 0 && has_others)
        printf(nm_spoken("  and %lld of at most %s (--threshold)\n"), (long long)small_count, size);
    else if (small_count > 0)
        printf(nm_spoken("  none above %s; %lld smaller (--threshold)\n"), size, (long long)small_count);
}

nm_status diff_publish(diff_run *run, nm_error *err)
{
    nm_status status;

    if (run->csv == NULL)
        return NM_OK;
    run->subject = run->options->csv_folder;
    status = nm_csv_publish(run->csv, err);
    return status == NM_OK ? nm_csv_settle(run->csv, err) : status;
}
