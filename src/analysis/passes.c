/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of passes: what passes.def lists, in its order. It is the one place that knows them all, and it does nothing.
 */
#include "analysis/passes.h"

#include <stddef.h>

const nm_pass *const nm_passes[] = {
#define PASS(name) &nm_##name##_pass,
#include "analysis/passes.def"
#undef PASS
    NULL,
};
