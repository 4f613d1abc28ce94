/* SPDX-License-Identifier: Apache-2.0
 *
 * The lines of the summary about steps that the program did not mark.
 */
#ifndef NM_REPORT_SUMMARY_STEPS_H
#define NM_REPORT_SUMMARY_STEPS_H

#include <sqlite3.h>
#include <stdio.h>

#include "base/error.h"

/* Where steps were found to begin, and why they were not: at most one line each, of all processes that agree. None where all
 * processes mark their steps, or nobody looked. */
nm_status nm_summary_write_steps(sqlite3 *db, FILE *out, nm_error *err);

#endif
