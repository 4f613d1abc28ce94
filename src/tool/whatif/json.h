/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-whatif --json: what was recorded and what was simulated, each row with its basis, so that neither passes for the other.
 */
#ifndef NM_TOOL_WHATIF_JSON_H
#define NM_TOOL_WHATIF_JSON_H

#include "base/json.h"
#include "tool/whatif/results.h"

typedef struct whatif_answer { /* all borrowed */
    const whatif_place *place;
    const nm_workload *workload;
    const nm_packing *packing;
    const whatif_rows *rows;
    const whatif_row *best;  /* NULL: no suggestion was asked for */
    const nm_advice *advice; /* NULL: was not asked for */
} whatif_answer;

/* The whole answer. */
nm_status whatif_write_json(const whatif_answer *answer, nm_json *json);

/* The pools of the input: with --list. */
nm_status whatif_write_heaps(const char *path, const nm_gather *gather, nm_json *json);

#endif
