/* SPDX-License-Identifier: Apache-2.0
 *
 * What was live at a heap's peak, summed by what only the end of an allocation tells. Nothing is copied at a peak: an
 * allocation that was live at the last peak before its end is added when it ends, and a later peak begins anew.
 */
#ifndef NM_ANALYSIS_PEAK_SUMS_H
#define NM_ANALYSIS_PEAK_SUMS_H

#include "base/map.h"
#include "replay/state.h"

typedef struct nm_peak_sum {
    nm_key key;
    uint64_t live_count, live_bytes;
} nm_peak_sum;

/* Of one heap; zeroed, it is empty. */
typedef struct nm_peak_sums {
    bool has_peak;
    int64_t peak_seq; /* that they are of */
    nm_map index_of;
    nm_peak_sum *items; /* owned */
    size_t count, capacity;
} nm_peak_sums;

/* An allocation ends, or is live at the end; `peak_seq` is the heap's last peak by then, NM_NO_SEQ where that was before the
 * first event. */
nm_status nm_peak_sums_add(nm_peak_sums *sums, const nm_live_row *row, int64_t peak_seq, nm_key key, nm_error *err);

/* Those of an earlier peak than `peak_seq` are gone: call it before they are read at the end. */
void nm_peak_sums_settle(nm_peak_sums *sums, int64_t peak_seq);
void nm_peak_sums_free(nm_peak_sums *sums);

#endif
