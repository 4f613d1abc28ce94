/* SPDX-License-Identifier: Apache-2.0
 *
 * Who takes rows, and how they are given: one function for all kinds, and the kinds that it wants. Of a kind that nobody
 * wants no row is made.
 *
 *     if (sink->wants[NM_ROW_USAGE])
 *         status = nm_give_usage(sink, &row, err);
 */
#ifndef NM_ROWS_SINK_H
#define NM_ROWS_SINK_H

#include <string.h>

#include "rows/rows.h"

/* Takes a row: `row` points to the struct of its kind, and is gone after the call. A failure ends the replay. */
typedef nm_status nm_take_row(void *context, nm_row_kind kind, const void *row, nm_error *err);

typedef struct nm_sink {
    void *context; /* of `row` */
    nm_take_row *row;
    bool wants[NM_ROW_KINDS];
} nm_sink;

/* A sink that wants every kind. */
static inline nm_sink nm_sink_of_all(void *context, nm_take_row *row)
{
    nm_sink sink = {.context = context, .row = row};

    memset(sink.wants, true, sizeof sink.wants);
    return sink;
}

/* Gives a row to a sink that may not want it. */
static inline nm_status nm_give(const nm_sink *sink, nm_row_kind kind, const void *row, nm_error *err)
{
    return sink->wants[kind] ? sink->row(sink->context, kind, row, err) : NM_OK;
}

/* The same by kind, so that the compiler looks at what is given: nm_give_allocation(sink, &row, err). */
#define GIVE(name, NAME)                                                                                               \
    static inline nm_status nm_give_##name(const nm_sink *sink, const nm_##name##_row *row, nm_error *err)             \
    {                                                                                                                  \
        return nm_give(sink, NM_ROW_##NAME, row, err);                                                                 \
    }
#define ROW(name, NAME, table, writer) GIVE(name, NAME)
#define RECORD(name, NAME)             GIVE(name, NAME)
#include "rows/rows.def"
#undef GIVE

#endif
