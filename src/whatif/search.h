/* SPDX-License-Identifier: Apache-2.0
 *
 * Searches that are many runs: the smallest device on which a workload runs to its end, and the settings that need the
 * smallest one.
 */
#ifndef NM_WHATIF_SEARCH_H
#define NM_WHATIF_SEARCH_H

#include "whatif/simulate.h"

typedef struct nm_smallest {
    bool is_found;         /* no device is large enough for a pool with a limit of its own that is too small */
    uint64_t device_bytes; /* it fits here, */
    uint64_t step_bytes;   /* and did not on one that is smaller by this (0: it is what is live at once) */
    nm_sim_result result;  /* on it */
    uint64_t run_count;
} nm_smallest;

/* Halves the distance until it is a thousandth of the device, or 2 MiB. Whether a run fits is not certain to be monotone
 * in the size of the device (what is flushed on the way differs); what is found is a size at which it was seen to fit, and
 * so it was at the next larger ones and at some up to a device without bounds. other_bytes: taken by others. */
nm_status nm_search_smallest(const nm_workload *workload, const nm_setting *setting, uint64_t other_bytes,
                             nm_smallest *smallest, nm_error *err);

/* The same, but only whether it is smaller than *best, which is replaced then. */
nm_status nm_search_smaller(const nm_workload *workload, const nm_setting *setting, uint64_t other_bytes,
                            nm_smallest *best, bool *is_smaller, nm_error *err);

/* ---- Settings of the caching allocator --------------------------------------------------------------------------- */

#define NM_CANDIDATES_MAX 32

typedef struct nm_candidates {
    nm_setting items[NM_CANDIDATES_MAX];
    size_t count;
} nm_candidates;

/* What the recorded run was set to, as far as that is known: its PYTORCH_NPU_ALLOC_CONF, else the defaults, with
 * expandable segments where its own grew in place. */
nm_setting nm_search_recorded_setting(const nm_workload *workload);

/* Legal settings that are worth a try, `base` not among them. Those that this workload rules out are left out. */
void nm_search_candidates(const nm_workload *workload, const nm_setting *base, nm_candidates *out);

/*
 * The candidate that is best in place of `now`, whose smallest device is *now_smallest: the one that needs the smallest
 * device; where none needs a smaller one, the one that reserves least on the device of `options`, if that is a tenth less
 * and neither the device nor the smallest one must be larger (by more than a tenth, on a device without bounds).
 * SIZE_MAX in *best: none is better.
 */
nm_status nm_search_best(const nm_workload *workload, const nm_setting *now, const nm_smallest *now_smallest,
                         const nm_sim_options *options, const nm_candidates *candidates, size_t *best, nm_error *err);

/* One line on why nothing can be suggested for the workload (may point into it); NULL: it can. */
const char *nm_search_refusal(const nm_workload *workload, bool is_complete);

#endif
