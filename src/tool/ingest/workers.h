/* SPDX-License-Identifier: Apache-2.0
 *
 * Several inputs at once. Each that is no database is read by a process of its own into a part (store.h), and stays there until
 * that has been merged, in the order of the inputs: so the result is the same however many work. A worker that is ended takes
 * its part with it, and so does the end of the program.
 */
#ifndef NM_TOOL_INGEST_WORKERS_H
#define NM_TOOL_INGEST_WORKERS_H

#include "tool/ingest/load.h"

typedef struct ingest_workers ingest_workers;

/* Reads run->input and leaves it in run->part, which is finished then; in the worker's process. */
typedef nm_status ingest_work(ingest *run, size_t index, nm_error *err);

/* So many work at a time; 0: as many as there are processors for this process, up to INGEST_WORKERS_MAX. */
#define INGEST_WORKERS_MAX 8
nm_status ingest_workers_new(ingest *run, size_t count, ingest_work *work, ingest_workers **out, nm_error *err);

/* Adds the input to run->store. Inputs come in order. After a failure run->subject is as if it had been read here. */
nm_status ingest_workers_merge(ingest_workers *workers, size_t index, const nm_merge_origin *origin, nm_error *err);

/* All of an input is left out, whether it has been added or is being added: what it lost and named is nothing to anybody. */
void ingest_workers_leave_out(ingest_workers *workers, size_t index);

/* After the last one: what was lost and named is run's. */
void ingest_workers_end(ingest_workers *workers);

void ingest_workers_free(ingest_workers *workers); /* whoever still works is ended; NULL is fine */

#endif
