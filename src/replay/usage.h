/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of a heap, its peak and its timeline.
 */
#ifndef NM_REPLAY_USAGE_H
#define NM_REPLAY_USAGE_H

#include "replay/state.h"

nm_status nm_usage_site(nm_replay *replay, nm_live *live, uint64_t stack_id, nm_error *err); /* finds live->site */

/* Adds it to the sums, which may be a new peak, or takes it out of them. They change whatever those who are told make of it. */
nm_status nm_usage_add(nm_live *live, int64_t seq, int64_t ns, nm_error *err);
nm_status nm_usage_subtract(nm_live *live, nm_error *err);
void nm_usage_release(nm_live *live);                    /* it was freed, and that stands */
void nm_usage_peak_reserved(nm_heap *pool, int64_t seq); /* after reserved_bytes has grown */

/* The heap's share of a stack, made where it is missing; 0: no stack. */
nm_status nm_usage_site_of(nm_replay *replay, nm_heap *heap, uint64_t stack_id, nm_site **out, nm_error *err);

/* The event changes the heap, or figures of it that its timeline does not show. When all of it is done, the timelines of all
 * changed heaps take their state over, and who wants that is told: at last, or by nm_usage_done alone. */
void nm_usage_touch(nm_heap *heap);
void nm_usage_touch_figures(nm_heap *heap);
nm_status nm_usage_done(nm_replay *replay, const nm_context *context, nm_error *err); /* NULL: of a definition */
nm_status nm_usage_flush(nm_replay *replay, const nm_context *context, nm_error *err);
nm_status nm_usage_finish(nm_replay *replay, nm_error *err); /* totals, peaks by stack, timeline, devices */
void nm_usage_free(nm_heap *heap);

#endif
