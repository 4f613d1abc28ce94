/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of passes. Its order is the order of calls: a pass stands behind those that it needs.
 */
#include "analysis/passes.h"

#include <stddef.h>

const nm_pass *const nm_passes[] = {
    &nm_growth_pass, &nm_floors_pass, &nm_lifetimes_pass, &nm_segment_cost_pass, &nm_workspace_idle_pass, NULL,
};
