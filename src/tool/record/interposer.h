/* SPDX-License-Identifier: Apache-2.0
 *
 * Does a library stand in front of what the recorder has to be asked for first?
 */
#ifndef NM_TOOL_RECORD_INTERPOSER_H
#define NM_TOOL_RECORD_INTERPOSER_H

#include <stdbool.h>

/* True where the library at `path` has a dlsym of its own, by which lookups of a program would go past us, or an
 * InitInjectionMstx, of which mstx asks the first alone. What cannot be read has neither. */
bool record_is_asked_first(const char *path);

#endif
