/* SPDX-License-Identifier: Apache-2.0
 *
 * What is outstanding, from what was summed up while rows came (sums/outstanding.h): what a reset ended is outstanding if nothing was
 * allocated on its device after it, and a graph holds what was born in it until it is destroyed. Both are known when all rows are there.
 */
#ifndef NM_VERDICTS_OUTSTANDING_H
#define NM_VERDICTS_OUTSTANDING_H

#include <sqlite3.h>

#include "base/error.h"
#include "store/verdicts/verdicts.h"

/* Fills outstanding_sum, outstanding_birth and temp.reset_sum; and sets allocation.generation and heap_sum right. Of several inputs
 * (`settings` are NULL) each has brought its own, and the temporary table is filled. */
nm_status nm_outstanding_write(sqlite3 *db, const nm_verdict_settings *settings, nm_error *err);

#endif
