/* SPDX-License-Identifier: Apache-2.0
 *
 * How large a database will be, before the work begins: the headers of a trace's blocks say how many events are in it.
 */
#ifndef NM_TOOL_INGEST_SIZE_H
#define NM_TOOL_INGEST_SIZE_H

#include <stdio.h>

#include "store/retention.h"
#include "tool/common/inputs.h"

#define INGEST_SIZE_NOTE_BYTES (UINT64_C(10) << 30) /* from here on it is said */

typedef struct ingest_size {
    uint64_t event_count;    /* of traces that are files; what is in pipes and snapshots is not known before */
    uint64_t database_bytes; /* that are copied */
} ingest_size;

/* What can be known of the inputs; a file that cannot be read counts nothing. */
ingest_size ingest_size_of(const tool_inputs *inputs);

/* Of a database with them. */
uint64_t ingest_size_expected(const ingest_size *size, nm_retention detail);

/* A line, if so much is expected. The variable NPUMEM_INGEST_NOTE_BYTES of the environment is another limit, for tests. */
void ingest_size_say(const ingest_size *size, nm_retention detail, const char *database_path, FILE *out);

#define INGEST_SIZE_MANY_EVENTS 5000000 /* above so many with all rows it is said that they need not be there */

/* A line when all is done, if so many events have all their rows in the database. */
void ingest_size_say_many(int64_t event_count, const char *database_path, FILE *out);

#endif
