/* SPDX-License-Identifier: Apache-2.0
 *
 * Sites that are no frame, of stacks without a line of Python that could be one: the node of a backward pass, or that it is
 * one (its threads run no Python, and their native stacks end in a framework); a graph that was compiled; and a stack that
 * is cut (cut.h) and has no frame but plumbing. Like the sites that are frames, a function of one stack: who used it, for
 * which operator and on which thread, differs from run to run.
 */
#ifndef NM_SITES_ATTRIBUTION_H
#define NM_SITES_ATTRIBUTION_H

#include "sites/site.h"

#define NM_CUT_NAME "(stack cut)"
#define NM_COMPILED_NAME                                                                                               \
    "compiled graph" /* the site of code whose file is named by a hash, where no line of the program called it */

typedef struct nm_attribution { /* of a stack */
    nm_bytes name;              /* points into `definitions`, or is constant; empty: its site is a frame */
    bool is_cut;                /* where it was nobody can say: judged by sizes alone, and not compared */
} nm_attribution;

/* `stack` is an index; the sites must be resolved. */
nm_attribution nm_attribution_of(const nm_definitions *definitions, const nm_sites *sites, size_t stack);

#endif
