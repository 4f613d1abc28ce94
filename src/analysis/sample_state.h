/* SPDX-License-Identifier: Apache-2.0
 *
 * What pass samples knows of heaps, devices and processes: its rooms. samples.c follows the states of heaps and is the pass,
 * sample_rows.c keeps what a device says of itself and gives the rows of moments, sample_tally.c sums heaps up by device.
 */
#ifndef NM_ANALYSIS_SAMPLE_STATE_H
#define NM_ANALYSIS_SAMPLE_STATE_H

#include "replay/lookup.h"
#include "replay/pass.h"

/* What a heap held right after an event. */
typedef struct nm_heap_state {
    const nm_heap *heap;
    nm_heap_sample_row row;
} nm_heap_state;

/* Heaps whose states belong together: of one piece of hardware, or of one process without a device. */
typedef struct nm_sample_scope {
    nm_heap_state *states; /* owned; of heaps that ever held something, until their process ends */
    size_t count, capacity;
    const nm_heap *first_dirty; /* whose states have not been written */
} nm_sample_scope;

/* What a device said of itself. */
typedef struct nm_device_figures {
    bool is_known;
    uint64_t kind; /* nm_memory_kind */
    uint64_t free_bytes, total_bytes;
    int64_t seq, ns;
    int64_t recorded_bytes; /* what was recorded of it then, of all processes */
} nm_device_figures;

/* All heaps of a scope, at a peak of one of them or of the device. It is open while no memory of the hardware came or went
 * since then: what the device says of itself then still counts. */
typedef struct nm_peak_states {
    nm_heap_state *states; /* owned */
    size_t count, capacity;
    bool is_whole; /* all heaps are in it; else the peaking one alone */
    bool is_open;  /* is in the hardware's list */
    nm_device_figures figures;
    bool is_stale;
    int64_t at_seq, until_seq;
    struct nm_peak_states *previous_open, *next_open;
} nm_peak_states;

typedef struct nm_event_time {
    bool is_known; /* it has happened */
    int64_t seq;
} nm_event_time;

/* The rooms. */

typedef struct nm_sample_hardware {
    nm_sample_scope scope;
    uint64_t kept_epoch; /* peak_epoch that at_peak is of */
    nm_peak_states at_peak;
    nm_peak_states *first_open;
    bool has_changed; /* by this event: is in the replay's list */
    const nm_device_group *next_changed;
    uint64_t moment_id; /* the last one that it has rows of */
    nm_device_figures figures;
    nm_event_time changed, gone; /* memory last came or went; or went with a process */
    struct {                     /* rows of marks and failures that are open */
        nm_device_sample_row *items;
        size_t count, capacity;
    } open;
} nm_sample_hardware;

typedef struct nm_sample_process {
    nm_sample_scope scope; /* of its heaps without a device */
    bool has_ended;
    int64_t end_seq;
} nm_sample_process;

/* Of a device: what its process's heaps take of it. */
typedef struct nm_device_tally {
    uint64_t number; /* whose sums these are */
    bool is_taken;
    uint64_t pool_bytes, stated_bytes, program_bytes, module_bytes, physical_bytes, mapped_bytes;
    int64_t rounding_bytes;
} nm_device_tally;

typedef struct nm_sample_heap {
    size_t slot;       /* its state in the scope, plus 1; 0: none */
    bool has_state;    /* held something, ever */
    bool is_unsettled; /* changed by this event: is in the replay's list */
    bool is_dirty;     /* is in the scope's list */
    const nm_heap *next_unsettled, *next_dirty;
    uint64_t kept_epoch; /* of the heap: until then they are kept */
    nm_peak_states at_peak, at_reserve;
} nm_sample_heap;

typedef struct nm_sample_all {
    uint64_t tally_count; /* number of the last tally */
    const nm_heap *first_unsettled;
    const nm_device_group *first_changed;
} nm_sample_all;

static inline nm_sample_heap *nm_sample_heap_of(const nm_run *run, const nm_heap *heap)
{
    return nm_heap_room(run, heap);
}

static inline nm_sample_hardware *nm_sample_hardware_of(const nm_run *run, const nm_device_group *hardware)
{
    return nm_hardware_room(run, hardware);
}

static inline nm_sample_scope *nm_sample_scope_of_process(const nm_run *run, const nm_process *process)
{
    return &((nm_sample_process *)nm_process_room(run, process))->scope;
}

/* The place in the order of events that has been reached; -1: before the first. */
static inline int64_t nm_sample_position(const nm_run *run)
{
    return run->replay->has_events ? run->replay->last_seq : -1;
}

static inline nm_sample_scope *nm_sample_scope_of(const nm_run *run, const nm_heap *heap)
{
    return heap->device == NULL ? nm_sample_scope_of_process(run, heap->process)
                                : &nm_sample_hardware_of(run, heap->device->group)->scope;
}

static inline uint64_t nm_sample_limit(uint64_t bytes)
{
    return bytes < NM_SIZE_BYTES_MAX ? bytes : NM_SIZE_BYTES_MAX; /* so that no sum of rows overflows soon */
}

#endif
