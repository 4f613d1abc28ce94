/* SPDX-License-Identifier: Apache-2.0
 *
 * A single database as input, without -o: its answers once more. It may come from anybody, is opened as such and only read.
 */
#ifndef NM_TOOL_INGEST_AGAIN_H
#define NM_TOOL_INGEST_AGAIN_H

#include "tool/ingest/load.h"

/* Opens run->database, for run->db and the CSV files that are asked for. NM_ERR_USAGE: an option is about loading. */
nm_status ingest_again(ingest *run, nm_error *err);

/* One line on standard error for a trace that was written after the database that was made of it. */
void ingest_say_newer(const ingest *run);

#endif
