/* SPDX-License-Identifier: Apache-2.0
 *
 * What names say of the category of an allocation: the part of an iteration that a stack or a range belongs to, who makes
 * weights, caches and buffers of communication, and which words a program may use for categories.
 */
#ifndef NM_ANALYSIS_CATEGORY_NAMES_H
#define NM_ANALYSIS_CATEGORY_NAMES_H

#include "base/map.h"
#include "rows/rows.h"
#include "trace/event.h"

/* A part of an iteration. */
typedef enum nm_phase {
    NM_PHASE_NONE = 0,
    NM_PHASE_FORWARD,   /* of a module */
    NM_PHASE_BACKWARD,  /* autograd */
    NM_PHASE_OPTIMIZER, /* its step */
    NM_PHASE_ZERO_GRAD, /* gradients are given back */
} nm_phase;

/* What a stack says. */
typedef struct nm_category_stack {
    nm_phase phase;          /* of the innermost frame that says one */
    bool is_within_backward; /* a frame further out is autograd's: forward is run again */
    bool has_python;
    bool makes_weights;
    bool makes_cache; /* of keys and values */
    bool communicates;
    bool makes_workspace; /* of a library, as cuBLAS: below all Python */
    uint64_t init_file;   /* string: the program's innermost line of Python is in an __init__ of this file; or 0 */
} nm_category_stack;

typedef struct nm_category_names nm_category_names;

nm_status nm_category_names_new(nm_category_names **out, nm_error *err);
void nm_category_names_free(nm_category_names *names); /* NULL is fine */
nm_status nm_category_names_add(nm_category_names *names, const nm_definition *definition, nm_error *err);

/* Zeroed for a stack that is not known. Valid until the next call. */
nm_status nm_category_names_stack(nm_category_names *names, uint64_t stack_id, const nm_category_stack **out,
                                  nm_error *err);

/* Has a forward of the program been seen in the file? */
bool nm_category_names_has_forward(const nm_category_names *names, uint64_t file);

/* Which phase a range of that name is. NULL (nothing is defined yet): none. */
nm_phase nm_category_names_range(const nm_category_names *names, uint64_t name);
bool nm_category_names_is_autograd(const nm_category_names *names,
                                   uint64_t thread_name); /* is the thread autograd's? */

/* What a program or torch's profiler means by the name: NM_CATEGORY_UNKNOWN is "unknown", NM_CATEGORY_OWN a word that is none
 * of ours, or not known: names may be NULL. */
nm_category nm_category_names_word(const nm_category_names *names, uint64_t name);

#endif
