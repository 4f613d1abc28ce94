/* SPDX-License-Identifier: Apache-2.0
 *
 * Points in time whose state is told: marks, failures, peaks and the end. For passes that need this one and say more of
 * them; it is told before they are.
 */
#ifndef NM_ANALYSIS_MOMENTS_H
#define NM_ANALYSIS_MOMENTS_H

#include "replay/pass.h"

uint64_t nm_moments_last(const nm_run *run); /* once a mark or a failure is told, its own */

/* Has the last one, a mark or a failure, figures of the process's pools? And may it look at all that is in this one? */
bool nm_moments_has_figures(const nm_run *run, const nm_process *process);
bool nm_moments_has_detail(const nm_run *run, const nm_heap *pool);

/* Once the end is told: that of the heap's, or of the hardware's, peak (0: it has none), and the end. */
uint64_t nm_moments_peak_of(const nm_run *run, const nm_heap *heap);
uint64_t nm_moments_hardware_peak_of(const nm_run *run, const nm_device_group *hardware);
uint64_t nm_moments_reserve_of(const nm_run *run, const nm_heap *heap); /* 0: at its peak it held as much */
uint64_t nm_moments_end(const nm_run *run);

#endif
