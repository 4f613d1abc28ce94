/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows into tables. The large tables of integers go through store/bulk/, the others through a prepared statement each. A
 * reference to what the input never defined becomes NULL and is counted; one to a row that was never written is a defect
 * of the replay and fails the load.
 */
#ifndef NM_STORE_LOADER_H
#define NM_STORE_LOADER_H

#include "store/loader_state.h"

/* The tables must be there. `out` stays where it is, and out->sink takes the rows; of NM_RETENTION_WINDOW the caller sets
 * out->retained.window first. On failure *out can be closed. */
nm_status nm_loader_open(sqlite3 *db, nm_retention retention, const nm_bulk_options *options, nm_loader *out,
                         nm_error *err);

/* Inside a transaction, which nm_bulks_finish ends and begins again. Flushes the rows and writes input, processes, threads, devices, heaps, frames and stacks with their sites. */
nm_status nm_loader_finish(nm_loader *loader, const nm_input_row *input, nm_error *err);

void nm_loader_close(nm_loader *loader);

#endif
