/* SPDX-License-Identifier: Apache-2.0
 *
 * Table finding: what there is to say of a run. Each kind is a file of SQL in this folder, which reads views and adds rows; they
 * run in the order of their names, and one reads rows of those before it. A line "-- Only if: SELECT ..." says whether one has
 * anything to do. A sentence is put together there by functions that only they have (say/said.h: what it becomes):
 *
 *     say(code, name, value, ...)      a sentence and its words; '=name': the value is said itself. NULL: the code is NULL
 *     said(part, ...)                  what is said, or lines; parts that are NULL are left out. NULL: all are
 *     said_line(label, part, ...)      a line; label NULL: it has none
 *     command(code)                    the text of a command, for run.db and run.zst
 */
#ifndef NM_STORE_FINDINGS_H
#define NM_STORE_FINDINGS_H

#include <sqlite3.h>

#include "base/embedded.h"
#include "base/error.h"

extern const nm_embedded_text nm_finding_files[]; /* in the order of their names */

/* Fills the table of a database that has its views, in place of what stands there. Within a transaction of the caller's. */
nm_status nm_findings_write(sqlite3 *db, nm_error *err);

#endif
