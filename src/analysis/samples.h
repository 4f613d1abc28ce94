/* SPDX-License-Identifier: Apache-2.0
 *
 * What heaps and devices held at moments. For passes that need this one: what a process takes of a device now.
 */
#ifndef NM_ANALYSIS_SAMPLES_H
#define NM_ANALYSIS_SAMPLES_H

#include "replay/pass.h"

/* What the process's heaps take of the device; and of it, what CANN's modules do. */
typedef struct nm_device_share {
    int64_t recorded_bytes;
    uint64_t module_bytes;
} nm_device_share;

nm_device_share nm_samples_share(const nm_run *run, const nm_device *device);

#endif
