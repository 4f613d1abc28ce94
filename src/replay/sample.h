/* SPDX-License-Identifier: Apache-2.0
 *
 * What heaps and devices held at moments.
 */
#ifndef NM_REPLAY_SAMPLE_H
#define NM_REPLAY_SAMPLE_H

#include "replay/state.h"

/* The event changes what the heap holds. When all of it is done, nm_sample_settle takes the states over. */
void nm_sample_touch(nm_heap *heap);
nm_status nm_sample_settle(nm_replay *replay, nm_error *err);

/* The first event in order comes: what the baseline made is one moment, however many peaks it passed through. */
nm_status nm_sample_begin(nm_replay *replay, nm_error *err);

/* The hardware says how much of it is free. */
void nm_sample_device(nm_replay *replay, nm_device_group *group, const nm_device_figures *figures);

/* What the process's heaps take of the device now. */
int64_t nm_sample_recorded(const nm_replay *replay, const nm_device *device);
uint64_t nm_sample_modules(const nm_replay *replay,
                           const nm_device *device); /* and, right after that, what CANN's do */

/* Rows for a moment: the present one of a process (NULL: of all), a peak, the end. Rows of the present are given when the
 * memory of the device changes, or at the end. */
nm_status nm_sample_now(nm_replay *replay, uint64_t moment_id, nm_process *process, nm_error *err);
nm_status nm_sample_close(nm_replay *replay, nm_error *err); /* no more events: before the two below */
nm_status nm_sample_peak(nm_replay *replay, uint64_t moment_id, const nm_peak_states *peak, nm_error *err);
nm_status nm_sample_end(nm_replay *replay, uint64_t moment_id, nm_error *err);

/* A process ended: its memory is gone. */
nm_status nm_sample_process_end(nm_replay *replay, nm_process *process, nm_error *err);

/* The device turns out to belong to other hardware than device->group, or (NULL) to some hardware at all. */
nm_status nm_sample_regroup(nm_replay *replay, nm_device *device, nm_device_group *group, nm_error *err);

#endif
