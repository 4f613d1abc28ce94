/* SPDX-License-Identifier: Apache-2.0
 *
 * Which frame of a stack is the one that a person wants to see. A frame is plumbing when a pattern of table `plumbing`
 * matches; the site of a stack is its innermost Python frame that is not, else its innermost frame that is not, or its
 * innermost one when all are. In a program that runs Python, a line of Python is what its author can change: where there
 * is none but plumbing, that still goes before a native frame of which nothing but a name is known, so that a snapshot with
 * native frames gives the sites that it gives without them.
 */
#ifndef NM_SITES_SITE_H
#define NM_SITES_SITE_H

#include "base/buffer.h"
#include "sites/definitions.h"
#include "sites/patterns.h"

typedef struct nm_stack_frames { /* of a stack with its callers: indexes of frames plus one, 0 where there is none */
    uint32_t line;               /* innermost frame of Python that is not plumbing */
    uint32_t python;             /* innermost frame of Python */
    uint32_t native;             /* innermost native frame that is not plumbing */
    uint32_t located;            /* and the innermost of which the module is known */
    uint32_t node;               /* innermost node of a backward pass */
    bool has_engine;             /* of backward passes */
} nm_stack_frames;

typedef struct nm_sites {
    uint8_t *is_plumbing;    /* by index of the frame */
    uint8_t *is_python;      /* by index of the frame: of an interpreter */
    uint8_t *autograd;       /* by index of the frame: nm_autograd */
    nm_stack_frames *stacks; /* by index of the stack */
    size_t *same_frame;      /* by index of the frame: the index of the first frame with the same place */
    size_t frame_count;
} nm_sites;

/* Judges every frame by the patterns, which are no longer needed then. `definitions` must be sorted. */
nm_status nm_sites_open(const nm_patterns *plumbing, const nm_definitions *definitions, nm_sites *out, nm_error *err);

/* A frame's function as patterns see it: without its return type. NULL: it has none. */
const char *nm_site_function(const nm_definitions *definitions, const nm_definition *frame);

bool nm_site_is_python(const nm_definitions *definitions, const nm_definition *frame);

/* Can the frame of this stack (by its index) be a site? Not a native one while there is Python to be named. */
bool nm_sites_is_candidate(const nm_sites *sites, const nm_definitions *definitions, size_t stack);

/* Fills `site` of every stack: the index of its site's frame plus one; 0 when it has no known frame. */
void nm_sites_resolve(const nm_sites *sites, nm_definitions *definitions);

/* How views show a frame: "file:line function" or "module+0xoffset function", without folders. Empties *out first. */
nm_status nm_site_label(const nm_definitions *definitions, const nm_definition *frame, nm_buffer *out, nm_error *err);

void nm_sites_close(nm_sites *sites);

#endif
