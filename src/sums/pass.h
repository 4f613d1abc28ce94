/* SPDX-License-Identifier: Apache-2.0
 *
 * A pass over rows that is no sum, and so has functions of its own: it is told rows of one kind as they come and gives rows
 * in the end. It changes no row, and knows of no other pass. What is a sum is declared: table.h.
 */
#ifndef NM_SUMS_PASS_H
#define NM_SUMS_PASS_H

#include "rows/sink.h"

typedef struct nm_row_pass {
    nm_row_kind wants;
    size_t room_bytes; /* its memory, zeroed before the first row */
    nm_status (*row)(void *room, const void *row, nm_error *err);
    nm_status (*finish)(const void *room, const nm_sink *sink, nm_error *err);
    void (*release)(void *room); /* what the room owns */
} nm_row_pass;

#define ROW_PASS(name) extern const nm_row_pass nm_##name;
#include "rows/rows.def"

#endif
