/* SPDX-License-Identifier: Apache-2.0
 *
 * One line a figure: the change first, as in the tables of sites below it; of shares it is in percentage points (pp).
 */
#include "tool/diff/figures.h"

#include <stdio.h>
#include <string.h>

#include "base/spoken.h"
#include "store/question.h"

#define UNKNOWN "-"

const char *diff_value_text(char out[NM_HUMAN_BYTES], sqlite3_stmt *row, const char *column)
{
    const char *unit = nm_named_text(row, "unit");

    if (!nm_named_has(row, column))
        return UNKNOWN;
    if (strcmp(unit, "ratio") == 0)
        return nm_human_percent(out, nm_named_real(row, column));
    if (strcmp(unit, "ns") == 0)
        return nm_human_time(out, nm_named_integer(row, column));
    return nm_human_bytes(out, nm_named_integer(row, column));
}

/* "-0.0 ms" becomes "+0.0 ms": what was rounded away is no less. */
static const char *without_sign_of_zero(char *text)
{
    if (text[0] == '-' && strpbrk(text, "123456789") == NULL)
        text[0] = '+';
    return text;
}

const char *diff_change_text(char out[NM_HUMAN_BYTES + 1], sqlite3_stmt *row)
{
    const char *unit = nm_named_text(row, "unit");
    int64_t change = nm_named_integer(row, "change_value");

    if (!nm_named_has(row, "change_value"))
        return UNKNOWN;
    if (strcmp(unit, "bytes") == 0)
        return diff_signed_bytes(out, change);
    if (strcmp(unit, "ratio") == 0) {
        snprintf(out, NM_HUMAN_BYTES + 1, nm_spoken("%+.1f pp"), 100 * nm_named_real(row, "change_value"));
        return without_sign_of_zero(out);
    }
    out[0] = change < 0 ? '-' : '+';
    nm_human_time(out + 1, change < 0 && change != INT64_MIN ? -change : change);
    return without_sign_of_zero(out);
}

void diff_write_figures(diff_run *run, sqlite3_stmt *rows)
{
    static const char *const titles[] = {"change", "A", "B", NULL};
    char room[NM_HUMAN_BYTES + 1], base[NM_HUMAN_BYTES], value[NM_HUMAN_BYTES];
    int64_t row_count = 0;

    (void)run;
    while (sqlite3_step(rows) == SQLITE_ROW) {
        const char *change = diff_change_text(room, rows), *figure = nm_named_text(rows, "figure");

        if (row_count++ == 0) {
            printf("%s", nm_spoken("\nfigures\n"));
            diff_write_titles(titles);
        }
        printf("  %*s %10s %10s  %-10s %s\n", nm_spoken_width(11, change), change,
               diff_value_text(base, rows, "base_value"), diff_value_text(value, rows, "run_value"),
               nm_named_text(rows, "level"), nm_spoken(figure));
    }
}
