/* SPDX-License-Identifier: Apache-2.0
 *
 * How far heaps rise in an operation: for passes that need it.
 */
#ifndef NM_ANALYSIS_PEAK_DELTA_H
#define NM_ANALYSIS_PEAK_DELTA_H

#include "replay/pass.h"

/* The rows of the operation that ended last; borrowed until another one does. */
const nm_operation_rise_row *nm_peak_delta_rows(const nm_run *run, size_t *count);

#endif
