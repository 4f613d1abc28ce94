/* SPDX-License-Identifier: Apache-2.0
 *
 * What a recording is at while it runs: a replay that looks on as the drain writes. npumem-record asks it for the live
 * set (a keyframe), for sums (alarms, a program's own question) and for names. Costs what a replay costs: half a
 * microsecond of the drain's time for an event, and memory in proportion to what is live. Made only where somebody asks.
 *
 *     nm_watch_new(&watch, err);
 *     options.observer = nm_watch_take, options.observer_context = watch;      of the drain
 *     nm_watch_heaps(watch, visit, context);                                   between two passes
 */
#ifndef NM_WATCH_WATCH_H
#define NM_WATCH_WATCH_H

#include "replay/replay.h"

typedef struct nm_watch nm_watch;

typedef struct nm_watch_heap {
    nm_heap_gauge now;
    nm_bytes name; /* borrowed */
    int64_t pid;
    int64_t device_number;   /* nm_shown_device; NM_UNKNOWN_NUMBER: host memory */
    uint64_t capacity_bytes; /* of the device; 0: unknown */
} nm_watch_heap;

typedef struct nm_watch_device { /* the device's own word, the last one */
    uint64_t device_id, process_id;
    int64_t pid, ordinal;
    uint64_t memory_kind; /* nm_memory_kind */
    uint64_t free_bytes, total_bytes;
    int64_t time_ns;
} nm_watch_device;

typedef struct nm_watch_step { /* the step that a process is in */
    uint64_t process_id;
    int64_t pid, number;
    uint64_t count; /* steps that it has begun */
} nm_watch_step;

nm_status nm_watch_new(nm_watch **out, nm_error *err);
void nm_watch_free(nm_watch *watch); /* NULL is fine */

/* A nm_trace_observer. Out of memory: the watch stops, and says so by nm_watch_has_failed. */
void nm_watch_take(void *watch, const nm_record *record);
bool nm_watch_has_failed(const nm_watch *watch);

/* What is asked. Each gives a reference that is valid until the next record. */
const nm_replay *nm_watch_replay(const nm_watch *watch);
void nm_watch_heaps(const nm_watch *watch, void (*visit)(void *context, const nm_watch_heap *heap), void *context);
void nm_watch_devices(const nm_watch *watch, void (*visit)(void *context, const nm_watch_device *device),
                      void *context);
void nm_watch_steps(const nm_watch *watch, void (*visit)(void *context, const nm_watch_step *step), void *context);
nm_bytes nm_watch_string(const nm_watch *watch, uint64_t id); /* empty: unknown */

/* Every definition of a process, thread, device, heap or string that was made, the last word on each. */
void nm_watch_definitions(const nm_watch *watch, void (*visit)(void *context, const nm_definition *definition),
                          void *context);

/* Steps that the process with the most has begun. */
uint64_t nm_watch_most_steps(const nm_watch *watch);

/*
 * What a part of the recording begins with, as events: NM_KEYFRAME_BEGIN, ends of processes, losses and notes again, the
 * replay's state, sums of all steps, NM_KEYFRAME_END. `step_rows_max` bounds the rows of steps, from now on.
 */
void nm_watch_limit_steps(nm_watch *watch, size_t step_rows_max);
nm_status nm_watch_keyframe(nm_watch *watch, nm_keyframe_put *put, void *context, nm_error *err);

#endif
