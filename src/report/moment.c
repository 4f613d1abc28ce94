/* SPDX-License-Identifier: Apache-2.0
 *
 * A moment means what it means to queries/live_by_site.sql. At peaks the sums that the load has kept say it; rows of single
 * allocations, where they are there, know streams and categories too. Nothing here holds an allocation: SQLite sums them up.
 */
#include "report/moment.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/quantity.h"
#include "report/moment_faults.sql.h"
#include "report/moment_names.sql.h"

#define SHOWN_COLUMNS 30
#define SHOWN_BYTES   (4 * 60 + 4)

static bool is_digits(const char *text)
{
    size_t length = strspn(text, "0123456789");

    return length > 0 && length <= 18 && text[length] == 0;
}

/* Sets the word. A mark goes before what else its text could mean. */
static nm_status find_word(sqlite3 *db, const char *asked, nm_named_moment *out, nm_error *err)
{
    char marks[SHOWN_BYTES], shown[SHOWN_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_moment_names_row row = {.mark_names = ""};
    uint64_t ns = 0;
    nm_status status = nm_moment_names_ask(db, asked, &rows, err);

    if (status == NM_OK)
        nm_moment_names_next(rows, &row);
    nm_human_text(marks, sizeof marks, row.has.mark_names ? row.mark_names : "none", 60);
    status = nm_question_end(rows, status, err);
    out->word = asked;
    out->is_peak = strcmp(asked, "peak") == 0;
    if (status != NM_OK || row.is_named || out->is_peak || strcmp(asked, "end") == 0 || strcmp(asked, "begin") == 0)
        return status; /* of a database without heaps nothing is named */
    if (strncmp(asked, "seq:", 4) == 0 && is_digits(asked + 4))
        ns = strtoull(asked + 4, NULL, 10);
    else if (nm_quantity_time(asked, 1, &ns, NULL) != NM_OK)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                       "has no moment %s: peak, reserve, end, seq:N, a time as 10s, or a mark: %.60s",
                       nm_human_text(shown, sizeof shown, asked, SHOWN_COLUMNS), marks);
    snprintf(out->own_word, sizeof out->own_word, "%s%" PRIu64, asked[0] == 's' ? "seq:" : "", ns);
    out->word = out->own_word;
    return NM_OK;
}

nm_status nm_moment_find(sqlite3 *db, const char *asked, nm_named_moment *out, nm_error *err)
{
    static const char *const faults[] = {
        "has no rows of allocations (--detail none): it tells of --at peak alone",
        "has rows of peaks, marks and the end alone (--detail live): it does not tell of --at",
        "does not tell of --at: that lies before the part of the recording that was kept",
        "does not know the times of its events: --at seq:N",
        "has rows of peaks, marks, the end and its window alone (--window): it does not tell of --at",
    };
    nm_moment_faults_row row = {0};
    nm_status status;

    *out = (nm_named_moment){0};
    status = find_word(db, asked, out, err);
    if (status == NM_OK)
        status = nm_moment_faults_get(db, out->word, &row, err);
    if (status == NM_OK && row.has.fault_number && !out->is_peak)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "%s", faults[row.fault_number]);
    out->has_rows = !row.has.fault_number;
    return status;
}
