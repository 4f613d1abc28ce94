/* SPDX-License-Identifier: Apache-2.0
 *
 * The line of the summary about graphs that the program has captured.
 */
#ifndef NM_REPORT_SUMMARY_GRAPHS_H
#define NM_REPORT_SUMMARY_GRAPHS_H

#include <sqlite3.h>
#include <stdio.h>

#include "base/error.h"

/* How many there are, and what those hold that were not destroyed. Nothing where no graph was captured. */
nm_status nm_summary_write_graphs(sqlite3 *db, FILE *out, nm_error *err);

#endif
