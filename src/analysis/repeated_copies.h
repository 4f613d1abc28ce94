/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of what was copied before: for the pass of copies.
 */
#ifndef NM_ANALYSIS_REPEATED_COPIES_H
#define NM_ANALYSIS_REPEATED_COPIES_H

#include "replay/pass.h"

/* A copy, each once: sets row->repeat_count, and forgets what it overwrites. */
nm_status nm_repeated_copies_count(nm_run *run, const nm_context *context, nm_copy_row *row, nm_error *err);

#endif
