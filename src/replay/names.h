/* SPDX-License-Identifier: Apache-2.0
 *
 * What operations do in a step.
 */
#ifndef NM_REPLAY_NAMES_H
#define NM_REPLAY_NAMES_H

#include "replay/state.h"

/* The block has come to an operation: it is new, or its first operator runs in it. */
nm_status nm_names_allocated(const nm_live *live, nm_error *err);
nm_status nm_names_freed(const nm_live *live, uint64_t bytes, bool is_whole, nm_error *err);
nm_status nm_names_unfree(const nm_live *live, nm_error *err); /* that was refused */
nm_status nm_names_rise(nm_heap *heap, const nm_operation_rise_row *rise, nm_error *err);
nm_status nm_names_workspace(nm_process *process, nm_heap *heap, const nm_workspace_row *workspace, nm_error *err);
nm_status nm_names_end_step(const nm_replay *replay, nm_process *process, bool is_last, nm_error *err);
void nm_names_free(nm_step_names *names);

#endif
