/* SPDX-License-Identifier: Apache-2.0
 *
 * What the anchor*.c files share, and nobody else: anchor.c takes events, anchor_names.c knows what names mean, and
 * anchor_judge.c chooses.
 */
#ifndef NM_REPLAY_ANCHOR_STATE_H
#define NM_REPLAY_ANCHOR_STATE_H

#include "base/buffer.h"
#include "base/map.h"
#include "replay/anchor.h"

#define NM_ANCHOR_PLACES_MAX 65536 /* of one process; later ones only count in what lies between others */
#define NM_ANCHOR_GAPS_MAX   64    /* kept of one place: then every second one, every fourth, ... */
#define NM_ANCHOR_STEPS_MAX  50000 /* what recurs more often is not taken for an iteration */

#define NM_ANCHOR_ANY_DEVICE 0 /* a device's number */

typedef enum nm_lane { /* allocations that are counted together */
                       NM_LANE_POOL = 0,
                       NM_LANE_DRIVER = 1, /* counts where there is no pool: else it is warm-up and chance */
                       NM_LANE_BOTH = 2,
                       NM_LANE_COUNT = 3,
} nm_lane;

enum { /* what a name says, as bits */
       NM_WORD_GIVEN = 1,
       NM_WORD_BACKWARD = 2,
       NM_WORD_OPTIMIZER = 4,
       NM_WORD_STEP = 8, /* a range that is a step by its name */
};

typedef struct nm_lane_sums {
    uint64_t allocations, frees, bytes;
    uint64_t operators; /* that ran; NM_LANE_BOTH alone */
    uint64_t sites;     /* sum of a hash of the stacks and operators: alike for the same ones in any order */
} nm_lane_sums;

typedef struct nm_anchor_place {
    size_t process; /* index */
    bool is_range;
    uint64_t id; /* stack; or the string that stands for all names of a range that differ in a number at their end */
    uint64_t device; /* number, as of nm_anchor_heap: a loop over devices visits a stack once for each */
    unsigned words;
    nm_lane lane;
    uint64_t count;               /* how often it was met */
    uint64_t order;               /* of its first occurrence among those of all places */
    nm_lane_sums first, last;     /* of the lane, when it was met first and last */
    double live_sum;              /* allocations less frees of the main lane, over all occurrences, */
    double first_live, last_live; /* at the first one and at the last */
    nm_lane_sums first_gap;       /* between the first occurrence and the second: warm-up */
    nm_lane_sums *gaps;           /* owned: between others, every `stride`th */
    size_t gap_count, gap_capacity;
    uint64_t stride;
} nm_anchor_place;

typedef struct nm_anchor_process {
    uint64_t id;
    uint64_t marked_count;
    size_t place_count;
    nm_lane_sums lanes[NM_LANE_COUNT];
    uint64_t last_stack[NM_LANE_COUNT];  /* of the last allocation, */
    uint64_t last_device[NM_LANE_COUNT]; /* and its device's number */
    uint64_t first_device;
    bool has_other_device;

    /* Optimizers that follow a backward pass. */
    bool has_backward;    /* since the last one */
    bool is_in_optimizer; /* the last allocation of the lane was an optimizer's, after a backward pass */
    uint64_t pair_count;
    uint64_t optimizer_stack;

    uint64_t allocation_count, after_count; /* in the second pass: all, and since the last step began */
    nm_step_anchor_row choice;
    bool is_chosen; /* it has an anchor */
    bool is_decided;
    nm_lane choice_lane;
    uint64_t choice_device; /* number; NM_ANCHOR_ANY_DEVICE: of a range, or named by the user */
    char reason[320];
} nm_anchor_process;

typedef struct nm_anchor_frame {
    uint64_t function, file, line, inlined_in;
} nm_anchor_frame;

typedef struct nm_anchor_stack {
    uint64_t parent, frame;
} nm_anchor_stack;

typedef struct nm_anchor_heap {
    size_t process;
    nm_lane lane; /* NM_LANE_COUNT: not looked at */
    uint64_t device;
    uint64_t device_number; /* from 1, over all processes */
} nm_anchor_heap;

typedef struct nm_anchor_names {
    char *given;             /* owned; NULL: nothing */
    size_t given_file_bytes; /* of `given`, when it is FILE:LINE; else 0 */
    uint64_t given_line;
    nm_map words;     /* string -> bits of functions (low 8), of files (next 8), of ranges (next 8); 0 is left out */
    nm_map range_ids; /* string that ends in a number -> the string that stands for its like */
    nm_map range_of;  /* hash of a name without that number -> the first such string */
    nm_map frames, stacks; /* number -> index */
    struct {
        nm_anchor_frame *items;
        size_t count, capacity;
    } frame_list;
    struct {
        nm_anchor_stack *items;
        size_t count, capacity;
    } stack_list;
} nm_anchor_names;

struct nm_anchor {
    nm_anchor_options options;
    nm_anchor_names names;
    nm_map process_of, thread_of, heap_of; /* number -> index of process, index of process, index of heap */
    nm_map device_of;                      /* number -> one less than that of nm_anchor_heap */
    nm_map place_of;                       /* (process, lane and device, id) -> index */
    struct {
        nm_anchor_process *items;
        size_t count, capacity;
    } processes;
    struct {
        nm_anchor_heap *items;
        size_t count, capacity;
    } heaps;
    struct {
        nm_anchor_place *items;
        size_t count, capacity;
    } places;
    uint64_t recent_heap_id; /* the last one that was looked up, and its index */
    size_t recent_heap;
    uint64_t event_count, next_look;
    uint64_t order;
    bool is_whole; /* all records were looked at */
    bool is_any_chosen;
};

/* ---- anchor_names.c ---- */

nm_status nm_anchor_names_open(nm_anchor_names *names, const char *given, nm_error *err);
nm_status nm_anchor_names_add(nm_anchor_names *names, const nm_definition *definition, nm_error *err);
unsigned nm_anchor_names_of_stack(const nm_anchor_names *names, uint64_t stack_id); /* words of all its frames */
unsigned nm_anchor_names_of_range(const nm_anchor_names *names, uint64_t name_id);
uint64_t nm_anchor_names_range_id(const nm_anchor_names *names, uint64_t name_id); /* what stands for its like */
void nm_anchor_names_close(nm_anchor_names *names);

/* ---- anchor_judge.c ---- */

nm_lane nm_anchor_main_lane(const nm_anchor_process *process); /* that of the pool, if there is one */

/* Fills process->choice, choice_lane, is_chosen and reason. */
nm_status nm_anchor_judge(nm_anchor *anchor, size_t process, nm_error *err);

#endif
