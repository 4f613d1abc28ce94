/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread's ring and what the recorder keeps privately beside it: the data alone, for all who work on it. Its life is
 * thread.h's.
 */
#ifndef NM_RECORD_THREAD_STATE_H
#define NM_RECORD_THREAD_STATE_H

#include "record/intern.h"
#include "record/memo.h"
#include "record/python_walk.h"
#include "record/state.h"

#define NM_OPEN_CALLS_MAX 8 /* handlers that interrupt each other in the middle of a record */

typedef struct nm_open_frame {
    volatile uintptr_t frame;          /* 0: none */
    volatile uintptr_t return_address; /* written behind `frame`; 0: not yet */
} nm_open_frame;

/* Of one thread. The calls are noted in the order in which they interrupted each other. */
typedef struct nm_open_calls {
    nm_open_frame calls[NM_OPEN_CALLS_MAX];
    volatile uint64_t from; /* nothing below this position was claimed by calls[0] or by those above it */
    volatile uint64_t
        seen_head; /* where the ring ended when calls[0] was first found neither dead nor alone; 0: never */
    volatile uint32_t is_nested; /* 1: calls[0] was interrupted by another */
    volatile uint32_t is_over;   /* 1: there were more than can be noted: nothing is concluded any more */
} nm_open_calls;

/* `frame` is a function's own, by __builtin_frame_address. */
static inline void nm_open_frame_note(nm_open_frame *noted, uintptr_t frame)
{
    noted->frame = frame;
    noted->return_address = ((const uintptr_t *)frame)[1];
}

static inline void nm_open_frame_forget(nm_open_frame *noted)
{
    noted->return_address = 0;
    noted->frame = 0;
}

#define NM_THREAD_MODULES_MAX 8192
#define NM_THREAD_LAST_CALLS  256
#define NM_THREAD_STACKS      4
#define NM_THREAD_HEAD_BYTES  1024

typedef struct nm_stack_range {
    uintptr_t begin, end;
} nm_stack_range;

typedef struct nm_module_table nm_module_table;

struct nm_recorded_thread {
    nm_ring *ring;
    uint64_t slot_count;
    /* Positions below it may be claimed: the tail as last seen, plus slot_count; slot_backed before all slots have memory. */
    volatile uint64_t room_end;
    volatile uint32_t has_loss; /* 1: dropped events are not yet stated by a LOSS record */
    nm_open_calls opened;

    /* Stacks. */
    uint32_t stack_mode, stack_depth;
    uintptr_t stack_begin, stack_end; /* what may be read as frames; 0, 0: unknown */
    bool is_own_stack;    /* it is the one that the thread was made with, not one that the program goes to */
    bool is_stack_open;   /* it goes on below its begin, nobody has looked how far */
    uint32_t is_by_rules; /* 1: walked by .eh_frame (unwind.h), else by frame pointers */
    uint32_t look_count;  /* at the text, for other stacks */
    int64_t next_look_ns;
    nm_stack_range other_stacks[NM_THREAD_STACKS]; /* that it was on: see nm_own_stack_other */
    nm_memo memo;
    uint8_t file_head[NM_THREAD_HEAD_BYTES]; /* for nm_modules_open */
    nm_intern intern;
    nm_open_frame interning; /* whose the tables and `addresses` are: a handler that interrupts it keeps off them */
    _Atomic uint64_t last_stack_id;
    uint64_t addresses[NM_RING_STACK_DEPTH_MAX];

    /* Python frames. */
    uint32_t has_sound_python; /* 1: its frames were found to be what they should be */
    uint32_t unsound_count;    /* times that they were not */
    nm_intern python_intern;   /* fingerprint of a place -> the thread's number of its PYTHON record */
    _Atomic uint64_t last_python_id;
    uintptr_t last_calls[NM_THREAD_LAST_CALLS]; /* return addresses beyond which frame pointers lead nowhere */
    nm_python_place places[NM_RING_STACK_DEPTH_MAX];
    nm_python_text python_text;

    /* Modules that stand in the ring, by their place in the table of that generation. Those past the last bit are put
     * again for every new stack. */
    uint64_t module_generation; /* 0: none */
    uint64_t sent_modules[NM_THREAD_MODULES_MAX / 64];

    /* Hazard pointer: the table of modules this thread is reading; see modules.c. */
    _Atomic(nm_module_table *) modules_in_use;

    /* Waiting for room. */
    int64_t wait_second_begin_ns;
    int64_t waited_ns;          /* since then */
    uint64_t stalled_heartbeat; /* the heartbeat at the last timeout; meaningful with is_stalled */
    uint32_t is_stalled;

    uint32_t is_announced; /* 1: the ring's owner stands in the ring */
    uint64_t number;       /* of the thread; 0: none owns it */
    int tid;
    _Atomic uint64_t last_range;

    /* Objects of the runtime: see objects.c. */
    int64_t told_objects[NM_RING_OBJECT_KINDS]; /* that live, as the process's sum has it */
    uint32_t made_left, gone_left;              /* until the next sample, or look; 0: not begun */
    uint32_t sample_state;

    uint64_t slot_backed; /* slots of the ring that have memory, from the first on (ring_file.h) */
    size_t map_bytes;     /* of the ring */

    nm_recorded_thread *next; /* in the process's list; never changes */
    size_t owned_bytes;       /* of this struct and its table */
};

#endif
