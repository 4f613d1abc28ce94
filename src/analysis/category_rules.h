/* SPDX-License-Identifier: Apache-2.0
 *
 * What an allocation is, inferred from its birth and its death against forward, backward and optimizer. Knows no replay: it
 * is told in which part of an iteration things happen, one process at a time, and asked when an allocation ends. Unknown
 * rather than guessed: each rule wants that both ends fit.
 *
 *     weight            made by what loads weights; or by __init__ in a file that also has a forward; or there before the
 *                       first backward pass, and no more of its size than gradients of its size: and kept over a forward
 *     gradient          made in a backward pass, and there when it was over
 *     optimizer state   made in an optimizer's step, and there in a later one, or at the end
 *     activation        made in a forward, gone in the backward pass after it, or between that and the next
 *     temporary         made and gone in one forward, one backward pass or one optimizer's step
 *     workspace         by the names in the stack: of a library; or there before, and of the size of as many of these
 *     KV cache, communication: by the names in the stack
 */
#ifndef NM_ANALYSIS_CATEGORY_RULES_H
#define NM_ANALYSIS_CATEGORY_RULES_H

#include "analysis/category_names.h"

/* How often each part of an iteration has begun. */
typedef struct nm_category_place {
    uint32_t forwards, backwards, optimizers;
} nm_category_place;

/* Where a process is; zeroed at its begin. */
typedef struct nm_category_clock {
    nm_category_place place;
    nm_phase last;               /* part that began last */
    bool has_left;               /* something else happened since it did */
    bool has_python;             /* a stack had a line of Python */
    uint32_t forward_sites;      /* stacks that allocated in a forward, */
    uint32_t forward_live_sites; /* and those of which something is live */
} nm_category_clock;

/* What is known of a stack's allocations in a heap; zeroed before the first. */
typedef struct nm_category_site {
    uint32_t activations, others; /* of those that ended */
    uint32_t live;
    bool is_forward; /* they are made in one */
} nm_category_site;

typedef struct nm_category_birth {
    nm_category_place place;
    nm_phase phase;
    bool is_early;      /* before the first backward pass, and in no part of an iteration */
    bool is_baseline;   /* `place` is not known, and all zero */
    bool makes_weights; /* by its stack */
    bool makes_cache, communicates, makes_workspace;
} nm_category_birth;

typedef struct nm_category_end {
    nm_category_place place;
    nm_phase phase;
    bool is_live;        /* it did not end */
    uint64_t like_it;    /* early ones of its size that live, it included */
    uint64_t gradients;  /* most gradients of its size that one backward pass left */
    uint64_t workspaces; /* of libraries, of its size, that live */
} nm_category_end;

/* The part of an iteration that an event belongs to: by its stack, by the ranges around it, by its thread. A stack without
 * Python in a program of Python is autograd's while a backward pass goes on. */
nm_phase nm_category_phase(const nm_category_clock *clock, const nm_category_stack *stack, nm_phase of_ranges,
                           bool is_autograd);

/* Moves the clock on. Forward within a backward pass is a part of that. */
void nm_category_tick(nm_category_clock *clock, const nm_category_stack *stack, nm_phase phase);

nm_category nm_category_judge(const nm_category_clock *clock, const nm_category_site *site,
                              const nm_category_birth *birth, const nm_category_end *end);

#endif
