/* SPDX-License-Identifier: Apache-2.0
 *
 * A file of Parquet (the format of parquet.apache.org), written row by row: one flat table, each of whose columns may be NULL. It is
 * our own since no library for it is in stable Debian, and Apache Arrow's, in C++, is more than a host that trains should carry for
 * that. What it knows of the format is what npumem export needs; tests hold it to other readers (tests/tool/export/).
 *
 *     static const nm_parquet_column columns[] = {{"rank", NM_PARQUET_INTEGER}, {"site", NM_PARQUET_TEXT}};
 *     nm_parquet_open(file, columns, 2, false, &parquet, err);
 *     nm_parquet_integer(parquet, 3);
 *     nm_parquet_text(parquet, site);
 *     nm_parquet_row_end(parquet, err);
 *     nm_parquet_finish(parquet, facts, fact_count, err);
 *     nm_parquet_free(parquet);
 *
 * INTEGER is INT64, REAL DOUBLE, TEXT a BYTE_ARRAY of UTF-8, where a byte that is none becomes U+FFFD. Row groups have 2^20 rows,
 * their last one fewer, and say of each column how many are NULL, and its least and greatest value; of texts where they are short.
 * Pages are compressed by zstd. What is held in memory is what a row group takes in the file, and a page. The same rows give the same bytes.
 */
#ifndef NM_EXPORT_PARQUET_H
#define NM_EXPORT_PARQUET_H

#include <stdbool.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/error.h"

#define NM_PARQUET_GROUP_ROWS (1 << 20)

typedef enum nm_parquet_type {
    NM_PARQUET_INTEGER,
    NM_PARQUET_REAL,
    NM_PARQUET_TEXT,
} nm_parquet_type;

typedef struct nm_parquet_column {
    const char *name;
    nm_parquet_type type;
} nm_parquet_column;

typedef struct nm_parquet_fact { /* what the file says of itself: a key and a value */
    const char *key, *value;
} nm_parquet_fact;

typedef struct nm_parquet nm_parquet;

/* All are borrowed until the end. `is_long`: integers are written as differences (DELTA_BINARY_PACKED), which long tables gain by. */
nm_status nm_parquet_open(FILE *out, const nm_parquet_column *columns, size_t column_count, bool is_long,
                          nm_parquet **parquet, nm_error *err);

/* The values of a row, in the order of the columns. */
void nm_parquet_null(nm_parquet *parquet);
void nm_parquet_integer(nm_parquet *parquet, int64_t value);
void nm_parquet_real(nm_parquet *parquet, double value);
void nm_parquet_text(nm_parquet *parquet, nm_bytes value);
nm_status nm_parquet_row_end(nm_parquet *parquet, nm_error *err);

/* Writes what is left. The file is the caller's to flush. */
nm_status nm_parquet_finish(nm_parquet *parquet, const nm_parquet_fact *facts, size_t fact_count, nm_error *err);
void nm_parquet_free(nm_parquet *parquet); /* NULL is fine */

#endif
