/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a graph is being captured. Meanwhile CANN refuses questions (107030), and a refusal may end the capture: no hook
 * asks the runtime anything while one is open.
 */
#ifndef NM_HOOK_CAPTURE_H
#define NM_HOOK_CAPTURE_H

#include <stdbool.h>

bool nm_capture_is_open(void);

/* Before the call that begins one: from its beginning on nothing may be asked. And after the one that ended it, or after
 * the first where it was refused. */
void nm_capture_begin(void);
void nm_capture_end(void);

/* The runtime has ended all captures: its device was reset. */
void nm_capture_end_all(void);

#endif
