/* SPDX-License-Identifier: Apache-2.0
 *
 * Definitions of processes, threads, devices, heaps and stacks.
 */
#ifndef NM_REPLAY_DEFINE_H
#define NM_REPLAY_DEFINE_H

#include "replay/state.h"

nm_status nm_replay_define(nm_replay *replay, const nm_definition *definition, nm_error *err);
void nm_define_free(nm_replay *replay); /* processes, threads, devices, heaps and what they hold */

#endif
