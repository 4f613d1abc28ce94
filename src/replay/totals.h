/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of steps.
 */
#ifndef NM_REPLAY_TOTALS_H
#define NM_REPLAY_TOTALS_H

#include "replay/state.h"

/* The step that the process is in ends: what its heaps did in it. */
nm_status nm_totals_end_step(nm_replay *replay, nm_process *process, int64_t end_seq, int64_t end_ns, bool is_last,
                             nm_error *err);
nm_status nm_totals_write_site(nm_replay *replay, const nm_heap *heap, const nm_site *site, nm_error *err);

/* The sums of the heap's step so far, as a row without its step. */
nm_step_total_row nm_totals_since(const nm_heap *heap);

#endif
