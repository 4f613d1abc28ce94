/* SPDX-License-Identifier: Apache-2.0
 *
 * The sum of what is not freed by the end (rows: outstanding.def). Who has its table tells it rows of which nm_allocation_is_kept:
 * most are not, so that no other row costs more than that.
 */
#ifndef NM_SUMS_OUTSTANDING_H
#define NM_SUMS_OUTSTANDING_H

#include "sums/table.h"

extern const nm_sum nm_sum_of_outstanding;

#endif
