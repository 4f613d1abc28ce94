/* SPDX-License-Identifier: Apache-2.0
 *
 * Each stack is judged by itself, the most telling word first: a line of the program, a graph, a node, a backward pass. Who
 * used it is not asked.
 */
#include "sites/attribution.h"

#include <string.h>

#include "sites/autograd.h"
#include "sites/cut.h"

static nm_attribution constant_attribution(const char *name, bool is_cut)
{
    return (nm_attribution){{(const uint8_t *)name, strlen(name)}, is_cut};
}

static nm_attribution node_attribution(const nm_definitions *definitions, const nm_stack_frames *frames)
{
    const char *name = nm_site_function(definitions, &definitions->frames.items[frames->node - 1]);
    size_t length;

    nm_autograd_of(name, &length);
    return (nm_attribution){{(const uint8_t *)name, length}, false};
}

nm_attribution nm_attribution_of(const nm_definitions *definitions, const nm_sites *sites, size_t stack)
{
    const nm_stack_frames *frames = &sites->stacks[stack];
    const nm_stack_node *node = &definitions->stacks.items[stack];

    if (frames->line != 0)
        return (nm_attribution){0};
    if (frames->is_compiled)
        return constant_attribution(NM_COMPILED_NAME, false);
    /* Before all other frames: what is called in a node is the framework. */
    if (frames->python == 0 && frames->node != 0)
        return node_attribution(definitions, frames);
    if (frames->python == 0 && frames->has_engine && frames->located == 0)
        return constant_attribution(NM_AUTOGRAD_NAME, false);
    if (node->walk == NM_WALK_CUT && (node->site == 0 || sites->frames[node->site - 1].is_plumbing))
        return constant_attribution(NM_CUT_NAME, true);
    return (nm_attribution){0};
}
