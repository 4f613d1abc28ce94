/* SPDX-License-Identifier: Apache-2.0
 *
 * The answers that follow a replay, one file each (replay/pass.h says what a pass is). To add one: its file with its
 * nm_pass, a line here and a line in passes.c.
 */
#ifndef NM_ANALYSIS_PASSES_H
#define NM_ANALYSIS_PASSES_H

#include "replay/replay.h"

/* All of them in the order in which they are told, then NULL: for nm_replay_new. */
extern const nm_pass *const nm_passes[];

extern const nm_pass nm_floors_pass;         /* the least that each stack held, minute by minute */
extern const nm_pass nm_growth_pass;         /* what of each stack lives on from step to step */
extern const nm_pass nm_lifetimes_pass;      /* how long what was freed had lived */
extern const nm_pass nm_segment_cost_pass;   /* what segments cost, and misses after the peak */
extern const nm_pass nm_workspace_idle_pass; /* how long blocks of workspaces lie idle */

#endif
