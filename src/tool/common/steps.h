/* SPDX-License-Identifier: Apache-2.0
 *
 * The first pass of npumem-ingest and npumem-whatif over an input whose steps may not be marked: it finds where they begin
 * (steps/anchor.h).
 */
#ifndef NM_TOOL_COMMON_STEPS_H
#define NM_TOOL_COMMON_STEPS_H

#include "base/error.h"
#include "source/source.h"
#include "steps/anchor.h"

#define TOOL_NO_STEPS "none" /* --step-at none: do not look */

/* Is it an input that can be read but once, and is to be read twice? `step_at`: what --step-at says, or NULL. */
bool tool_steps_needs_copy(const char *step_at, int fd);

/* *source becomes one of what comes through `fd`; where that cannot go back by itself, *fd becomes a copy of all that could be read,
 * without a name. */
nm_status tool_steps_open_pipe(int *fd, nm_source **source, nm_error *err);

/* Reads the source, as far as is needed, and decides. *out is NULL when nobody wants steps to be found. */
nm_status tool_steps_find(const char *step_at, nm_source *source, nm_anchor **out, nm_error *err);

#endif
