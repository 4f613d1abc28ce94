/* SPDX-License-Identifier: Apache-2.0
 *
 * Which frame of a stack is the one that a person wants to see: a function of one stack and the patterns of table `plumbing`,
 * so that a line gives one site in every run. A frame is plumbing when a pattern matches; the site of a stack is its innermost
 * Python frame that is not, else its innermost frame that is not. When all are: what its thread runs, the outermost one that
 * not every thread begins with, if the stack is known to be whole (cut.h), else the innermost one. In a program that runs Python, a line of Python is what its author can change: where there is none but plumbing, that still goes before a native
 * frame of which nothing but a name is known, so that a snapshot with native frames gives the sites that it gives without them.
 *
 * A line of a library gives way to the nearest caller that is a function of the program's own. Its own is what lies in no
 * library, what `own` patterns name, and the package that it runs: that of the outermost frame of Python that is neither
 * plumbing nor a script in a folder of programs (python -m vllm, /usr/bin/vllm, a worker's thread).
 */
#ifndef NM_SITES_SITE_H
#define NM_SITES_SITE_H

#include "base/buffer.h"
#include "sites/definitions.h"
#include "sites/patterns.h"

#define NM_SITE_RULES_VERSION 3 /* of what is said here, in table `meta`: patterns have a table of their own */

typedef struct nm_stack_frames { /* of a stack with its callers: indexes of frames plus one, 0 where there is none */
    uint32_t innermost;
    uint32_t line;    /* innermost frame of Python that is not plumbing */
    uint32_t own;     /* innermost of these that is a function of the program's own */
    uint32_t python;  /* innermost frame of Python */
    uint32_t native;  /* innermost native frame that is not plumbing */
    uint32_t located; /* and the innermost of which the module is known */
    uint32_t node;    /* innermost node of a backward pass */
    uint32_t begin;   /* outermost native frame that not every thread begins with */
    uint32_t program; /* package that it runs, as in nm_site_frame; 0: not known yet */
    bool has_engine;  /* of backward passes */
    bool is_compiled; /* one was written by a compiler of graphs */
    bool is_own_line; /* `line` is the program's own */
} nm_stack_frames;

#define NM_PACKAGE_OWN 1 /* the program's: in no library */

typedef struct nm_site_frame {
    size_t same;      /* index of the first frame with the same place */
    uint32_t package; /* NM_PACKAGE_OWN, or a number of a library */
    uint8_t autograd; /* nm_autograd */
    bool is_plumbing;
    bool is_python; /* of an interpreter */
    bool is_compiled;
    bool is_top_level; /* of a file, not of a function */
    bool is_script;    /* that, of a file in a folder of programs */
    bool is_entry;     /* what every thread begins with */
} nm_site_frame;

typedef struct nm_sites {
    nm_site_frame *frames;   /* owned; by index of the frame */
    nm_stack_frames *stacks; /* owned; by index of the stack */
    size_t frame_count;
} nm_sites;

/* Judges every frame by the patterns, which are no longer needed then. `definitions` must be sorted. */
nm_status nm_sites_open(const nm_patterns *plumbing, const nm_definitions *definitions, nm_sites *out, nm_error *err);

/* A frame's function as patterns see it: without its return type. NULL: it has none. */
const char *nm_site_function(const nm_definitions *definitions, const nm_frame *frame);

bool nm_site_is_python(const nm_definitions *definitions, const nm_frame *frame);

/* Can the frame of this stack (by its index) be a site? Not a native one while there is Python to be named, nor one of a library
 * that the program's own code calls. */
bool nm_sites_is_candidate(const nm_sites *sites, size_t stack);

/* Fills `site` of every stack: the index of its site's frame plus one; 0 when it has no known frame. */
void nm_sites_resolve(const nm_sites *sites, nm_definitions *definitions);

/* How views show a frame: "file:line function" or "module+0xoffset function", without folders. Empties *out first. */
nm_status nm_site_label(const nm_definitions *definitions, const nm_frame *frame, nm_buffer *out, nm_error *err);

void nm_sites_close(nm_sites *sites);

#endif
