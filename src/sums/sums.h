/* SPDX-License-Identifier: Apache-2.0
 *
 * All passes over rows (pass.h): told each row, they give theirs when all have come.
 *
 *     nm_sums_new(&definitions, &sums, err);
 *     nm_sums_row(sums, kind, row, err); ...       each row, before anybody changes what it stands for
 *     nm_sums_finish(sums, &sink, err);            NM_ROW_COPY_SUM, ...
 *     nm_sums_free(sums);
 */
#ifndef NM_SUMS_SUMS_H
#define NM_SUMS_SUMS_H

#include "rows/sink.h"
#include "sites/definitions.h"

typedef struct nm_sums nm_sums;

/* `definitions` are borrowed, and grow with each row of a definition before the next row is told. */
nm_status nm_sums_new(const nm_definitions *definitions, nm_sums **out, nm_error *err);

nm_status nm_sums_row(nm_sums *sums, nm_row_kind kind, const void *row, nm_error *err);

/* Gives the rows of each pass, in the order in which their keys first came. */
nm_status nm_sums_finish(const nm_sums *sums, const nm_sink *sink, nm_error *err);

void nm_sums_free(nm_sums *sums); /* NULL is fine */

#endif
