/* SPDX-License-Identifier: Apache-2.0
 *
 * The answers that follow a replay, one file each (replay/pass.h says what a pass is). To add one: its file with its
 * nm_pass, and a line in passes.def.
 */
#ifndef NM_ANALYSIS_PASSES_H
#define NM_ANALYSIS_PASSES_H

#include "replay/replay.h"

/* All of them in the order in which they are told, then NULL: for nm_replay_new. */
extern const nm_pass *const nm_passes[];

#define PASS(name) extern const nm_pass nm_##name##_pass;
#include "analysis/passes.def"
#undef PASS

#endif
