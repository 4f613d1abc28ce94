/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of view allocation as a page has them: blocks, by column, with the names that go with them. They are read in the order in which
 * they lie in the file, without joins and without sorting, for there are millions of them; what is joined to them is small, and is
 * looked up here.
 *
 *     nm_page_rows_open(&rows, db, &strings, err);
 *     nm_page_rows_each(&rows, NM_PAGE_ROWS_WHOLE, take, context, err);     take(context, row, err) of each, NM_END: enough
 *     ... nm_page_rows_keep(&columns, row, err);
 *     nm_page_rows_sort(&columns, err);
 *     nm_page_rows_close(&rows);
 */
#ifndef NM_PAGE_ROWS_H
#define NM_PAGE_ROWS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "page/columns.h"
#include "page/ranges.h"

/* The columns of table "block". The last three are texts. */
enum {
    NM_PAGE_ROW_HEAP,
    NM_PAGE_ROW_BORN, /* -1: before the first event */
    NM_PAGE_ROW_LIFE, /* events; NM_NULL: to the end */
    NM_PAGE_ROW_ADDRESS,
    NM_PAGE_ROW_SIZE,
    NM_PAGE_ROW_STACK,
    NM_PAGE_ROW_ID,
    NM_PAGE_ROW_STREAM,
    NM_PAGE_ROW_CATEGORY,
    NM_PAGE_ROW_PRIVATE_POOL,
    NM_PAGE_ROW_ROUNDING, /* bytes beyond what was asked for; NM_NULL: not known */
    NM_PAGE_ROW_GIVEN_UP, /* events from the birth to where the program gave it up while another stream used it */
    NM_PAGE_ROW_OWN_CATEGORY,
    NM_PAGE_ROW_OPERATION,
    NM_PAGE_ROW_MODULE,
    NM_PAGE_ROW_COLUMNS
};

typedef struct nm_page_row {
    int64_t values[NM_PAGE_ROW_COLUMNS];
    int64_t segment_id; /* NM_NULL: it lies in none */
    int64_t end_kind;
    bool is_segment; /* and so no block */
} nm_page_row;

typedef enum nm_page_rows_part {
    NM_PAGE_ROWS_WHOLE,  /* all columns */
    NM_PAGE_ROWS_PLACES, /* of the values those up to NM_PAGE_ROW_ID: the rest is not set */
} nm_page_rows_part;

typedef struct nm_page_operation {
    int64_t operation_id;
    uint32_t name; /* among the names of operations; 0: none */
} nm_page_operation;

typedef struct nm_page_rows {
    sqlite3 *db;                   /* borrowed */
    nm_strings *strings;           /* borrowed */
    nm_page_ranges ranges;         /* what ranges say around operations */
    nm_page_operation *operations; /* owned; by number */
    size_t operation_count, operation_capacity;
    nm_strings names;      /* of all of them, most of which the page does without */
    uint32_t *shown;       /* owned: the number that a name has among the strings; 0: none yet */
    nm_map own_categories; /* categories that are the program's own words */
    nm_map sites;          /* number of a stack -> its site */
    int64_t thread_source; /* an operation that was open at the birth */
    size_t last_operation; /* the one that was found last */
} nm_page_rows;

/* Zeroed before; to be closed on failure too. */
nm_status nm_page_rows_open(nm_page_rows *rows, sqlite3 *db, nm_strings *strings, nm_error *err);
void nm_page_rows_close(nm_page_rows *rows);

typedef nm_status nm_page_rows_take(void *context, const nm_page_row *row, nm_error *err);

/* Of the rows with the numbers from `first_id`, which is not NM_NULL, to `last_id`, in their order. */
nm_status nm_page_rows_each(nm_page_rows *rows, nm_page_rows_part part, int64_t first_id, int64_t last_id,
                            nm_page_rows_take *take, void *context, nm_error *err);

/* The frame of the site of a stack; 0: there is none. */
uint32_t nm_page_rows_site(const nm_page_rows *rows, int64_t stack_id);

/* The event that frees a block; NM_NULL: none. */
int64_t nm_page_rows_freed(int64_t born, int64_t life);

/* `columns` are to be named by nm_page_rows_name. */
void nm_page_rows_name(nm_page_columns *columns);
void nm_page_rows_get(const nm_page_columns *columns, size_t index, nm_page_row *row); /* but its segment */

/* By heap, birth and number. What lies in the order of births is only put together by heap. */
nm_status nm_page_rows_sort(nm_page_columns *columns, nm_error *err);

#endif
