/* SPDX-License-Identifier: Apache-2.0
 *
 * Heaps summed up by device. `run` is that of pass samples; other passes that need it ask for a device's share alone.
 */
#ifndef NM_ANALYSIS_SAMPLE_TALLY_H
#define NM_ANALYSIS_SAMPLE_TALLY_H

#include "analysis/sample_state.h"

/* What the process's heaps take of the device; and of it, what CANN's modules do. */
typedef struct nm_device_share {
    int64_t recorded_bytes;
    uint64_t module_bytes;
} nm_device_share;

nm_device_share nm_sample_share(const nm_run *run, const nm_device *device);

/* Heaps of devices are added; then each device's sum is there to be taken, once: false when it has been, or has none. */
uint64_t nm_tally_begin(const nm_run *run);
void nm_tally_add(const nm_run *run, const nm_heap_state *state, uint64_t number); /* the tally's */
bool nm_tally_take(const nm_run *run, const nm_device *device, uint64_t number, int64_t *recorded_bytes);
int64_t nm_tally_all(const nm_run *run, const nm_sample_scope *scope); /* of all devices */

#endif
