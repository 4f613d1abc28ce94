/* SPDX-License-Identifier: Apache-2.0
 *
 * The answers that follow a replay (replay/pass.h says what a pass is). To add one: NAME.c with nm_NAME_pass, and beside it
 * NAME.def with PASS(NAME) and its rows (rows/rows.def).
 */
#ifndef NM_ANALYSIS_PASSES_H
#define NM_ANALYSIS_PASSES_H

#include "replay/replay.h"

/* All of them, in no order, then NULL: for nm_replay_new. */
extern const nm_pass *const nm_passes[];

#define PASS(name) extern const nm_pass nm_##name##_pass;
#include "rows/rows.def"

#endif
