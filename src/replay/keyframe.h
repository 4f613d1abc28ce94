/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of a replay as events, and back.
 */
#ifndef NM_REPLAY_KEYFRAME_H
#define NM_REPLAY_KEYFRAME_H

#include "base/number.h"
#include "replay/pass.h"

/* Where the events of a keyframe go. */
struct nm_keyframe_out {
    nm_keyframe_put *put;
    void *context; /* of `put` */
};

static inline nm_status nm_keyframe_write(const nm_keyframe_out *out, const nm_event *event, nm_error *err)
{
    return out->put(out->context, event, err);
}

/* An event that says something of a heap; `figure` is a nm_heap_figure. */
static inline nm_event nm_keyframe_figure(const nm_heap *heap, uint64_t figure)
{
    return (nm_event){.kind = NM_EVENT_HEAP_TOTAL, .heap_id = heap->id, .detail = figure, .time_ns = NM_NO_TIME};
}

/* A sum as an event brings it: anybody may have written that. */
static inline uint64_t nm_keyframe_sum(uint64_t sum)
{
    return sum < NM_SUM_MAX ? sum : NM_SUM_MAX;
}

nm_status nm_keyframe_take(nm_replay *replay, const nm_context *context, nm_error *err); /* events that repeat */

#endif
