/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-whatif: what it prints.
 */
#ifndef NM_TOOL_WHATIF_RESULTS_H
#define NM_TOOL_WHATIF_RESULTS_H

#include <stdio.h>

#include "whatif/advise.h"
#include "whatif/gather.h"
#include "whatif/packing.h"
#include "whatif/search.h"

#define WHATIF_NAME_BYTES (NM_SETTINGS_BYTES + 16)
#define WHATIF_WORSE_PART 50 /* what is worse by more than such a part of it is said: 2 % */

typedef struct whatif_row { /* one setting and what came of it */
    char name[WHATIF_NAME_BYTES];
    nm_setting setting;
    nm_sim_result result; /* on the device that was asked about */
    nm_smallest smallest;
} whatif_row;

typedef struct whatif_rows {
    whatif_row *items; /* owned */
    size_t count, capacity;
} whatif_rows;

typedef struct whatif_place {
    const char *path, *kind;
    bool is_complete, is_kept;
    const nm_gather_heap *heap;
    const nm_gather_process *process; /* of the heap; NULL: not known */
    bool has_more_pools;              /* the input has others: the process is said */
    int64_t device_number;
    uint64_t capacity_bytes; /* of the device; NM_WHATIF_UNLIMITED */
    uint64_t other_bytes;
    bool is_end_unknown; /* what the run died of is not replayed: what would fit is not known */
} whatif_place;

/* The pools of the input, one a line. */
void whatif_print_heaps(const nm_gather *gather, FILE *out);

/* What was recorded, how well the simulation of it agrees (`same`: the recorded setting on an unlimited device), and the
 * bounds. */
void whatif_print_head(const whatif_place *place, const nm_workload *workload, const nm_sim_result *same,
                       const nm_packing *packing, FILE *out);

/* One table of what was recorded and the rows, then a sentence for each that does not fit. */
void whatif_print_rows(const whatif_place *place, const nm_recorded *recorded, const whatif_rows *rows, FILE *out);

/* The best row against the one that holds now (the first). */
void whatif_print_suggestion(const nm_workload *workload, const whatif_row *now, const whatif_row *best, FILE *out);

void whatif_print_advice(const nm_advice *advice, FILE *out);

const char *whatif_cause_text(nm_failure_cause cause); /* "": none */

/* One line a row; RFC 4180. */
nm_status whatif_write_csv(const whatif_place *place, const whatif_rows *rows, const nm_packing *packing, FILE *out,
                           nm_error *err);

#endif
