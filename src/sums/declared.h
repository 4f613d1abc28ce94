/* SPDX-License-Identifier: Apache-2.0
 *
 * The sums that are declared, each in a file of this folder, with a line SUM(NAME) in the file.def beside it.
 */
#ifndef NM_SUMS_DECLARED_H
#define NM_SUMS_DECLARED_H

#include "sums/measures.h"

#define SUM(name) extern const nm_sum nm_sum_of_##name;
#include "rows/rows.def"

#endif
