/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams and events that a program has: for passes that need it.
 */
#ifndef NM_ANALYSIS_STREAM_LEAKS_H
#define NM_ANALYSIS_STREAM_LEAKS_H

#include "replay/pass.h"

/* Of the device (NULL: 0): created, and not destroyed. */
uint64_t nm_stream_leaks_stream_count(const nm_run *run, const nm_device *device);
uint64_t nm_stream_leaks_event_count(const nm_run *run, const nm_device *device);

#endif
