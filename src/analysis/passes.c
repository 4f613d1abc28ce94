/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of passes, of the files NAME.def beside them. It is the one place that knows them all, and it does nothing.
 */
#include "analysis/passes.h"

#include <stddef.h>

const nm_pass *const nm_passes[] = {
#define PASS(name) &nm_##name##_pass,
#include "rows/rows.def"
    NULL,
};
