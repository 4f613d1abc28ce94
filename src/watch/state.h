/* SPDX-License-Identifier: Apache-2.0
 *
 * What a watch keeps, shared by the files of this folder.
 */
#ifndef NM_WATCH_STATE_H
#define NM_WATCH_STATE_H

#include "base/buffer.h"
#include "base/map.h"
#include "watch/step_totals.h"
#include "watch/watch.h"

typedef struct watched_definition {
    nm_definition definition; /* a string's text is in `texts` */
    size_t text_at;
} watched_definition;

/* What has to be said again where a part begins. */
typedef struct nm_watch_past {
    uint64_t event_count, dropped_count, unreadable_count;
    int64_t last_ns;
    nm_event *repeats; /* owned: ends of processes, and notes */
    size_t repeat_count, repeat_capacity;
    nm_event *losses; /* owned: one of each thread and kind, with all that it lost */
    size_t loss_count, loss_capacity;
    nm_map loss_index; /* (thread, kind) -> index in losses */
    nm_step_totals steps;
} nm_watch_past;

struct nm_watch {
    nm_replay *replay;
    bool has_failed;
    nm_map index; /* (kind, number) -> index in definitions */
    watched_definition *definitions;
    size_t definition_count, definition_capacity;
    nm_buffer texts;
    nm_watch_device *devices; /* one for each device and kind of memory */
    size_t device_count, device_capacity;
    nm_watch_step *steps; /* one for each process that has begun one */
    size_t step_total, step_capacity;
    uint64_t most_steps;
    nm_watch_past past;
};

nm_status nm_watch_remember(nm_watch *watch, const nm_event *event);
void nm_watch_forget(nm_watch_past *past);

#endif
