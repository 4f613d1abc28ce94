/* SPDX-License-Identifier: Apache-2.0
 *
 * What could not be seen is found out while libraries are loaded, when a process may not have touched a device yet and
 * should get no ring for it. So notes wait until the process calls CANN.
 */
#ifndef NM_HOOK_NOTES_H
#define NM_HOOK_NOTES_H

#include "trace/event.h"

/* Once for each kind and text. `text` is copied. Any thread, no lock. */
void nm_notes_add(nm_note note, const char *text);

/* Tells what waits. Called by the hooks that a process begins with; costs a load when nothing does. */
void nm_notes_tell(void);

#endif
