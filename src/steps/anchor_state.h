/* SPDX-License-Identifier: Apache-2.0
 *
 * What the anchor*.c files share, and nobody else: anchor.c takes events, anchor_names.c knows what names mean,
 * anchor_optimizer.c counts what optimizers do, anchor_backward.c knows who calls backward passes, anchor_around.c looks at
 * what is called around a loop, anchor_graph.c at graphs, and anchor_judge.c chooses.
 */
#ifndef NM_STEPS_ANCHOR_STATE_H
#define NM_STEPS_ANCHOR_STATE_H

#include "base/buffer.h"
#include "base/id_map.h"
#include "steps/anchor.h"

#define NM_ANCHOR_PLACES_MAX       65536 /* of one process; later ones only count in what lies between others */
#define NM_ANCHOR_GAPS_MAX         64    /* kept of one place: then every second one, every fourth, ... */
#define NM_ANCHOR_STEPS_MAX        50000 /* what recurs more often is not taken for an iteration */

#define NM_ANCHOR_ANY_DEVICE       0 /* a device's number */

#define NM_ANCHOR_OPTIMIZERS_MAX   16 /* of one process: later ones are not looked at */
#define NM_ANCHOR_CHOICES_MAX      64 /* places at which the steps of a process begin; not below the next */
#define NM_ANCHOR_BACKWARDS_MAX    16 /* the same of lines that call a backward pass */

#define NM_ANCHOR_SAME_COUNT_RATIO 0.9 /* places of one loop are met about as often: one may be left out now and then */

#define NM_ANCHOR_UNEVEN           4 /* blocks more or less live than at the place's last occurrence, */
#define NM_ANCHOR_UNEVEN_LITTLE    2 /* or of a line that calls a backward pass */

typedef enum nm_anchor_lane { /* allocations that are counted together */
                              NM_ANCHOR_LANE_POOL = 0,
                              NM_ANCHOR_LANE_DRIVER =
                                  1, /* counts where there is no pool: else it is warm-up and chance */
                              NM_ANCHOR_LANE_BOTH = 2,
                              NM_ANCHOR_LANE_COUNT = 3,
} nm_anchor_lane;

enum { /* what a name says, as bits */
       NM_WORD_GIVEN = 1,
       NM_WORD_BACKWARD = 2,
       NM_WORD_OPTIMIZER = 4,
       NM_WORD_STEP = 8,     /* a range that is a step by its name */
       NM_WORD_PYTHON = 16,  /* a stack with a line of Python */
       NM_WORD_FORWARD = 32, /* a call of a module, or one that generates an answer: what loops in it is no iteration */
       NM_WORD_TORCH = 64,   /* a file of torch's own */
};

typedef struct nm_lane_sums {
    uint64_t allocations, frees, bytes;
    uint64_t operators; /* that ran; NM_ANCHOR_LANE_BOTH alone */
    uint64_t sites;     /* sum of a hash of the stacks and operators: alike for the same ones in any order */
    uint64_t work;      /* visits of places in a forward or a backward pass */
} nm_lane_sums;

typedef struct nm_anchor_place {
    size_t process; /* index */
    bool is_range;
    uint64_t id; /* stack; or the string that stands for all names of a range that differ in a number at their end */
    uint64_t device; /* number, as of nm_anchor_heap: a loop over devices visits a stack once for each */
    unsigned words;
    uint64_t caller; /* of the optimizer that it is a part of; else 0 */
    nm_anchor_lane lane;
    uint64_t count;                             /* how often it was met */
    uint64_t order;                             /* of its first occurrence among those of all places */
    nm_lane_sums first, last;                   /* of the lane, when it was met first and last */
    double live_sum;                            /* allocations less frees of the main lane, over all occurrences, */
    double first_live, last_live;               /* at the first one and at the last */
    uint64_t more_counts[NM_ANCHOR_UNEVEN + 1]; /* gaps that leave so many blocks or more beyond what was there, */
    uint64_t less_counts[NM_ANCHOR_UNEVEN + 1]; /* or below it */
    uint64_t fall_count;                        /* gaps of less_counts[NM_ANCHOR_UNEVEN_LITTLE] */
    uint64_t since_fall, before_fall;           /* gaps since the last of them, and between it and the one before */
    uint64_t fall_gaps, fall_alike; /* gaps behind the second; and of them in runs as long as the one before */
    uint64_t idle_count;            /* gaps without work */
    nm_lane_sums first_gap;         /* between the first occurrence and the second: warm-up */
    nm_lane_sums *gaps;             /* owned: between others, every `stride`th */
    size_t gap_count, gap_capacity;
    uint64_t stride;
} nm_anchor_place;

/* Steps of an optimizer that are called from one line. A run of its allocations counts once after a backward pass, or
 * where no such pass is ever seen, after enough of others. */
typedef struct nm_anchor_optimizer {
    uint64_t caller;          /* the line that calls it, as nm_anchor_names_caller; 0: a range says so */
    uint64_t stack;           /* of an allocation in it */
    uint64_t pair_count;      /* runs after a backward pass */
    uint64_t run_count;       /* runs after other allocations */
    uint64_t first, last;     /* where the runs began: allocations of the process until then */
    uint64_t last_allocation; /* in it, counted so */
    double run_live;          /* allocations less frees of the main lane where that began */
    double run_sum, live_sum; /* what was allocated in runs behind the first, and what more was live at the next ones */
    bool has_backward;        /* since its last run */
    uint64_t calls, last_calls; /* of backward passes by the program: since its last run, and before that */
    uint64_t call_count,
        alike_count; /* of them, behind the second run; and as many before a run as before the last one */
    bool is_chosen;
} nm_anchor_optimizer;

#define NM_ANCHOR_CAPTURES_MAX 8 /* of one process at once: later ones are not looked at */
#define NM_ANCHOR_PIECES_MAX                                                                                           \
    32 /* executed between two waits: of later ones it is not seen whether they are executed twice */
#define NM_ANCHOR_GROUPS_MIN 4 /* the first is not looked at */

typedef struct nm_anchor_capture { /* that goes on */
    uint64_t thread_id, stream;
    uint64_t stack_id; /* where it began */
} nm_anchor_capture;

/* Executions of graphs, in groups: those between two waits of the thread. */
typedef struct nm_anchor_graphs {
    nm_anchor_capture captures[NM_ANCHOR_CAPTURES_MAX];
    size_t capture_count;
    unsigned words;     /* of what was allocated in captures */
    uint64_t thread_id; /* that executes */
    bool has_threads;   /* others, too */
    bool has_waited;    /* since the last execution */
    uint64_t group_count;
    uint64_t group[NM_ANCHOR_PIECES_MAX]; /* graphs of the last group */
    uint64_t group_size, typical_size;
    bool is_unlike;                      /* the last group */
    uint64_t unlike_count;               /* groups before it */
    bool has_repeat, has_change;         /* groups begin with the graph of the one before; with another */
    uint64_t stack_id;                   /* of the first execution */
    uint64_t family;                     /* where the graphs were captured with which groups begin; 0: not known */
    uint64_t seen[NM_ANCHOR_LANE_COUNT]; /* allocations before the first execution */
} nm_anchor_graphs;

typedef struct nm_anchor_process {
    uint64_t id;
    uint64_t marked_count;
    size_t place_count;
    nm_lane_sums lanes[NM_ANCHOR_LANE_COUNT];
    uint64_t last_stack[NM_ANCHOR_LANE_COUNT];  /* of the last allocation, */
    uint64_t last_device[NM_ANCHOR_LANE_COUNT]; /* and its device's number */

    nm_anchor_optimizer optimizers[NM_ANCHOR_OPTIMIZERS_MAX];
    size_t optimizer_count;
    nm_anchor_graphs graphs;
    size_t in_optimizer;                       /* index + 1: a run of it is going on */
    bool has_any_backward;                     /* a backward pass was seen */
    uint64_t seen_count;                       /* allocations so far, in either pass */
    uint64_t optimizer_runs;                   /* of the chosen ones */
    size_t backwards[NM_ANCHOR_BACKWARDS_MAX]; /* indices of places: lines of the program that call a backward pass */
    size_t backward_count;
    bool has_python; /* some stack has a line of Python */

    uint64_t allocation_count, after_count; /* in the second pass: all, and since the last step began */
    nm_step_anchor_row choice;
    bool is_chosen; /* it has an anchor */
    bool is_decided;
    nm_anchor_lane choice_lane;
    uint64_t choice_stacks[NM_ANCHOR_CHOICES_MAX]; /* at any of which a step begins */
    size_t choice_stack_count;
    bool is_choice_after_fall; /* only where so much less is live than at the last occurrence; */
    int64_t net_count;         /* what more is live: second pass */
    uint64_t choice_device;    /* number; NM_ANCHOR_ANY_DEVICE: of a range, or named by the user */
    char reason[NM_LINE_BYTES];
} nm_anchor_process;

typedef struct nm_anchor_frame {
    uint64_t function, file, line, inlined_in;
} nm_anchor_frame;

typedef struct nm_anchor_stack {
    uint64_t parent, frame;
} nm_anchor_stack;

typedef struct nm_anchor_heap {
    size_t process;
    nm_anchor_lane lane; /* NM_ANCHOR_LANE_COUNT: not looked at */
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
    nm_id_map frames, stacks; /* number -> index */
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
    nm_map captured_at;                    /* (process, graph) -> stack */
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
    bool has_falls; /* of some process frees count in the second pass */
    bool is_frugal; /* the second pass needs neither names nor places */
};

/* ---- anchor_names.c ---- */

nm_status nm_anchor_names_open(nm_anchor_names *names, const char *given, nm_error *err);
nm_status nm_anchor_names_add(nm_anchor_names *names, const nm_definition *definition, nm_error *err);
unsigned nm_anchor_names_of_stack(const nm_anchor_names *names, uint64_t stack_id); /* words of all its frames */

/* Lines of the stack, outermost first: those of Python where it has any, else all. At most `max`; returns how many. Each
 * has its words. */
typedef struct nm_anchor_line {
    nm_anchor_frame frame;
    unsigned words;
} nm_anchor_line;
size_t nm_anchor_names_lines(const nm_anchor_names *names, uint64_t stack_id, nm_anchor_line *out, size_t max);

/* Have both stacks the same frames from what the user named (NM_WORD_GIVEN) inwards? */
bool nm_anchor_names_is_same_call(const nm_anchor_names *names, uint64_t stack_id, uint64_t other_id);

/* Stands for the line that calls the optimizer of which the stack is a part; 0: none does. */
uint64_t nm_anchor_names_caller(const nm_anchor_names *names, uint64_t stack_id);
unsigned nm_anchor_names_of_range(const nm_anchor_names *names, uint64_t name_id);
uint64_t nm_anchor_names_range_id(const nm_anchor_names *names, uint64_t name_id); /* what stands for its like */
void nm_anchor_names_forget(nm_anchor_names *names);                               /* all but what was given */
void nm_anchor_names_close(nm_anchor_names *names);

/* ---- anchor_optimizer.c ---- */

/* An allocation or a range with these words; is a step of an optimizer begun? */
void nm_anchor_optimizer_note(nm_anchor_process *process, unsigned words, uint64_t caller, uint64_t stack_id);
void nm_anchor_optimizer_choose(nm_anchor_process *process); /* fills optimizer_runs */
/* Are there mostly as many backward passes before each run? Not of an optimizer that allocates in some of its runs. */
bool nm_anchor_optimizer_is_regular(const nm_anchor_process *process);
void nm_anchor_optimizer_restart(nm_anchor_process *process);

/* ---- anchor_backward.c ---- */

/* Fills backwards with the lines of the program that call one, unless gradients are summed up over several calls. */
void nm_anchor_backward_collect(const nm_anchor *anchor, size_t process);

/* Does a loop that is met so often fit to these lines? To any of them where something else, too, says how many iterations
 * there are; else to all. Of lines one after the other (training, then fine-tuning) all calls count. */
bool nm_anchor_backward_agrees(const nm_anchor *anchor, const nm_anchor_process *process, uint64_t count, bool is_any);

/* The lines at which iterations begin, as indices of places; how many. 0: there are none, they are called too seldom, make
 * up too little of the process, or it is not clear which of several it is. */
size_t nm_anchor_backward_choose(const nm_anchor *anchor, const nm_anchor_process *process,
                                 size_t out[NM_ANCHOR_BACKWARDS_MAX]);

/* The line that calls a backward pass several times in each iteration, the first of them after gradients were given back, as
 * an index of a place; SIZE_MAX: none is seen to. */
size_t nm_anchor_backward_summed(const nm_anchor *anchor, size_t process);

double nm_anchor_drift(const nm_anchor_place *place); /* blocks that are live more at each occurrence */

/* The first micro-batch of an iteration leaves gradients behind, the last one has them given back: between two places of
 * one loop over iterations nothing comes and goes like that. `least`: blocks. */
bool nm_anchor_is_uneven(const nm_anchor_place *place, int least);

/* Is what was met `count` times of a loop that something runs in `runs` times, and is left out in now and then? */
bool nm_anchor_is_as_often(uint64_t count, uint64_t runs);

/* ---- anchor_graph.c ---- */

/* A call about streams, or a copy, of the process. *begins: it is the first execution of a group. */
nm_status nm_anchor_graph_note(nm_anchor *anchor, nm_anchor_process *process, const nm_event *event, bool *begins,
                               nm_error *err);
bool nm_anchor_graph_holds(const nm_anchor_process *process, const nm_event *event); /* is it of a capture? */
bool nm_anchor_graph_is_sound(const nm_anchor_process *process); /* does each group begin an iteration? */

/* ---- anchor_around.c ---- */

/* Does all that recurs together with the place lie within one call of a module, of an optimizer or of a backward pass? */
bool nm_anchor_is_inside(const nm_anchor *anchor, const nm_anchor_place *place, uint64_t typical);

/* ---- anchor_judge.c ---- */

nm_anchor_lane nm_anchor_main_lane(const nm_anchor_process *process); /* that of the pool, if there is one */
double nm_anchor_live_of(const nm_anchor_process *process);           /* its allocations less its frees */

/* Fills process->choice, choice_lane, is_chosen and reason. */
nm_status nm_anchor_judge(nm_anchor *anchor, size_t process, nm_error *err);

#endif
