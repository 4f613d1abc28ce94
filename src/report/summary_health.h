/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of the summary: what is not in good health, and what would better it.
 */
#ifndef NM_REPORT_SUMMARY_HEALTH_H
#define NM_REPORT_SUMMARY_HEALTH_H

#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

#define NM_SUMMARY_HEALTH_LINES_MAX 4 /* of verdicts: the worst, and one that counts the others */

/* How many lines nm_summary_write_health will take. */
nm_status nm_summary_health_lines(sqlite3 *db, int64_t *line_count, nm_error *err);

/* Writes the verdicts of view health that are not good, worst first; or that all are; or nothing where there are none. */
nm_status nm_summary_write_health(sqlite3 *db, FILE *out, nm_error *err);

#endif
