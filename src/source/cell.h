/* SPDX-License-Identifier: Apache-2.0
 *
 * One cell of a row of somebody else's table: of a CSV file always a text, of a database what lies in it. What it says as a number
 * is asked alike of both.
 */
#ifndef NM_SOURCE_CELL_H
#define NM_SOURCE_CELL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

typedef enum nm_cell_kind {
    NM_CELL_NONE = 0, /* NULL, bytes, or the table has no such column, the row no such cell */
    NM_CELL_INT,
    NM_CELL_REAL,
    NM_CELL_TEXT,
} nm_cell_kind;

typedef struct nm_cell {
    nm_cell_kind kind;
    int64_t integer;
    double real;
    nm_bytes text; /* borrowed until the next row */
} nm_cell;

/* Without the blanks around it; empty where it is no text. */
nm_bytes nm_cell_text(const nm_cell *cell);
bool nm_cell_is(const nm_cell *cell, const char *text); /* that text */

/*
 * The number times `scale`, rounded to a whole one: nm_cell_get(cell, 1000, &ns) of microseconds. Decimal digits are exact, with a
 * fraction and an exponent. False: it is none, or does not fit.
 */
bool nm_cell_get(const nm_cell *cell, uint64_t scale, int64_t *value);

/* Decimal, or hexadecimal after 0x. False: it is none. */
bool nm_cell_get_address(const nm_cell *cell, uint64_t *address);

/* A spreadsheet has written it with an exponent (1.73641E+15): the digits behind are gone. */
bool nm_cell_is_rounded(const nm_cell *cell);

#endif
