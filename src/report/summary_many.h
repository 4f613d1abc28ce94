/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of the summary for jobs of many processes: minimum, median and maximum over the processes, and who is far off.
 */
#ifndef NM_REPORT_SUMMARY_MANY_H
#define NM_REPORT_SUMMARY_MANY_H

#include <sqlite3.h>
#include <stdio.h>

#include "base/error.h"

nm_status nm_summary_write_many(sqlite3 *db, FILE *out, nm_error *err);

#endif
