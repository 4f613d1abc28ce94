/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows are put in order where they lie, by pointers to them.
 */
#include "store/bulk/sql_rows.h"

#include <stdlib.h>
#include <string.h>

#include "store/offered_rows.h"

#define PLACES_A_ROW 4 /* that numbers of a batch may be apart on average to be put in order without comparing */

struct nm_sql_rows {
    nm_offered_rows offered;
    int64_t *values;         /* NM_SQL_BATCH_ROWS rows of integers */
    const int64_t **ordered; /* the rows of this batch, by their first column */
    const int64_t **places;  /* room for NM_SQL_BATCH_ROWS * PLACES_A_ROW rows */
};

static void give_value(const void *owner, size_t row, size_t column, sqlite3_context *out)
{
    int64_t value = ((const nm_sql_rows *)owner)->ordered[row][column];

    if (value != NM_NULL)
        sqlite3_result_int64(out, value);
}

nm_status nm_sql_rows_open(sqlite3 *db, const nm_columns *columns, nm_sql_rows **out, nm_error *err)
{
    int column_count = 0;
    nm_status status = nm_columns_check(db, columns, &column_count, err);
    nm_sql_rows *rows = status == NM_OK ? calloc(1, sizeof *rows) : NULL;

    if (status != NM_OK)
        return status;
    if (rows == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    rows->offered = (nm_offered_rows){.give = give_value, .owner = rows, .column_count = (size_t)column_count};
    rows->values = calloc(NM_SQL_BATCH_ROWS, rows->offered.column_count * sizeof *rows->values);
    rows->ordered = calloc(NM_SQL_BATCH_ROWS, sizeof *rows->ordered);
    rows->places = calloc((size_t)NM_SQL_BATCH_ROWS * PLACES_A_ROW, sizeof *rows->places);
    if (rows->values == NULL || rows->ordered == NULL || rows->places == NULL)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK)
        status = nm_offered_rows_open(&rows->offered, db, columns->table, err);
    if (status == NM_OK)
        *out = rows;
    else
        nm_sql_rows_close(rows);
    return status;
}

nm_status nm_sql_rows_next(nm_sql_rows *rows, int64_t **values, nm_error *err)
{
    if (rows->offered.row_count == NM_SQL_BATCH_ROWS) {
        nm_status status = nm_sql_rows_flush(rows, err);

        if (status != NM_OK)
            return status;
    }
    *values = rows->values + rows->offered.row_count * rows->offered.column_count;
    rows->ordered[rows->offered.row_count++] = *values;
    return NM_OK;
}

static int compare_first_column(const void *a, const void *b)
{
    int64_t x = **(const int64_t *const *)a;
    int64_t y = **(const int64_t *const *)b;

    return (x > y) - (x < y);
}

/* Numbers of a batch are mostly near each other, and no two the same: each row has a place of its own. False: it is not so,
 * and the order is as it was. */
static bool order_by_place(nm_sql_rows *rows)
{
    int64_t first = rows->ordered[0][0], last = first;
    size_t count = 0;

    for (size_t i = 1; i < rows->offered.row_count; i++) {
        first = rows->ordered[i][0] < first ? rows->ordered[i][0] : first;
        last = rows->ordered[i][0] > last ? rows->ordered[i][0] : last;
    }
    uint64_t place_count = (uint64_t)last - (uint64_t)first + 1;
    if (place_count - 1 >= rows->offered.row_count * PLACES_A_ROW)
        return false;
    memset(rows->places, 0, place_count * sizeof *rows->places);
    for (size_t i = 0; i < rows->offered.row_count; i++) {
        const int64_t **place = &rows->places[(uint64_t)rows->ordered[i][0] - (uint64_t)first];

        if (*place != NULL)
            return false;
        *place = rows->ordered[i];
    }
    for (size_t place = 0; place < place_count; place++)
        if (rows->places[place] != NULL)
            rows->ordered[count++] = rows->places[place];
    return true;
}

nm_status nm_sql_rows_flush(nm_sql_rows *rows, nm_error *err)
{
    if (rows->offered.row_count > 0 && !order_by_place(rows))
        qsort(rows->ordered, rows->offered.row_count, sizeof *rows->ordered, compare_first_column);
    return nm_offered_rows_insert(&rows->offered, err);
}

void nm_sql_rows_close(nm_sql_rows *rows)
{
    if (rows == NULL)
        return;
    nm_offered_rows_close(&rows->offered);
    free(rows->values);
    free(rows->ordered);
    free(rows->places);
    free(rows);
}
