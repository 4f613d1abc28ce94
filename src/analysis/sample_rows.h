/* SPDX-License-Identifier: Apache-2.0
 *
 * What a device says of itself, and the rows of moments.
 */
#ifndef NM_ANALYSIS_SAMPLE_ROWS_H
#define NM_ANALYSIS_SAMPLE_ROWS_H

#include "analysis/sample_state.h"

void nm_sample_fill(nm_heap_sample_row *row, const nm_heap *heap, int64_t since_seq); /* all of it, by the heap now */

void nm_sample_open_peak(nm_sample_hardware *hardware, nm_peak_states *peak);
void nm_sample_close_peak(nm_sample_hardware *hardware, nm_peak_states *peak, int64_t until_seq);
bool nm_sample_is_stale(const nm_sample_hardware *hardware); /* what the device said last */

/* Memory of the hardware came or went: what it says from now on does not belong to earlier moments. */
nm_status nm_sample_close_all(const nm_run *run, nm_sample_hardware *hardware, int64_t until_seq, nm_error *err);

/* A device says how much of it is free: in a sample, or a driver that fails to give memory. */
void nm_sample_reading(const nm_run *run, const nm_context *context);
void nm_sample_failure(const nm_run *run, const nm_context *context);

/* The states of the scope's heaps that have changed since they were given last. */
nm_status nm_sample_write_dirty(const nm_run *run, nm_sample_scope *scope, nm_error *err);

/* The mark or the failure that was told last, of a process (NULL: of all); rows of devices are given when their memory
 * changes, or at the end. And the end, with the peaks. */
nm_status nm_sample_now(const nm_run *run, const nm_process *process, nm_error *err);
nm_status nm_sample_end(const nm_run *run, nm_error *err);

#endif
