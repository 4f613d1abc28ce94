/* SPDX-License-Identifier: Apache-2.0
 *
 * Sites for what is allocated where no Python runs: autograd's threads, a task queue. Their native stacks end in a
 * framework; what a person wants to see is the node of a backward pass, or that it is one. In a program that runs Python
 * it is then the operator, and where there is none and all frames are plumbing, the thread's name; a stack gets one of
 * these two if all allocations with it agree. Any program's stack that is cut (cut.h) and has no frame but plumbing says
 * that it is, and the thread's name.
 */
#ifndef NM_SITES_ATTRIBUTION_H
#define NM_SITES_ATTRIBUTION_H

#include "sites/site.h"

typedef struct nm_stack_use { /* of a stack by a heap; 0: none, NM_ATTRIBUTION_MIXED: several */
    uint64_t operator_name;   /* number in nm_definitions.strings */
    uint64_t thread_id;
} nm_stack_use;

#define NM_ATTRIBUTION_MIXED UINT64_MAX

typedef struct nm_stack_uses {
    nm_map by_stack; /* (heap_id, stack_id) -> index into items */
    nm_stack_use *items;
    size_t count, capacity;
} nm_stack_uses;

nm_status nm_stack_uses_add(nm_stack_uses *uses, nm_key heap_and_stack, const nm_stack_use *use, nm_error *err);
void nm_stack_uses_free(nm_stack_uses *uses);

#define NM_COMPILED_NAME                                                                                               \
    "compiled graph" /* the site of code whose file is named by a hash, where no line of the program called it */

typedef enum nm_attribution_kind {
    NM_ATTRIBUTION_NONE = 0,
    NM_ATTRIBUTION_BACKWARD, /* a node of a backward pass, or NM_AUTOGRAD_NAME */
    NM_ATTRIBUTION_COMPILED, /* NM_COMPILED_NAME */
    NM_ATTRIBUTION_OPERATOR,
    NM_ATTRIBUTION_THREAD,
    NM_ATTRIBUTION_CUT, /* where it was nobody can say: neither judged nor compared. `name` is the thread's, or empty */
} nm_attribution_kind;

typedef struct nm_attribution { /* of a stack */
    nm_attribution_kind kind;
    nm_bytes name; /* points into `definitions`, or is constant */
} nm_attribution;

/* What each stack is attributed to, by its index; the sites must be resolved. The caller frees *out. */
nm_status nm_attributions_find(const nm_stack_uses *uses, const nm_definitions *definitions, const nm_sites *sites,
                               nm_attribution **out, nm_error *err);

#endif
