/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of memory that the installed CANN exports, against the list of those that npumem knows of
 * (docs/cann-functions.txt, built in): what a newer CANN has besides may take memory that nobody sees.
 */
#ifndef NM_TOOL_SELFCHECK_EXPORTS_H
#define NM_TOOL_SELFCHECK_EXPORTS_H

#include <stddef.h>

#include "base/buffer.h"
#include "base/embedded.h"

extern const nm_embedded_text selfcheck_list[];

/* Appends the section. `output`: of a program, whose lines `npumem-selfcheck library PATH` name what it had loaded of CANN.
 * Returns how many functions of memory the list lacks. */
size_t selfcheck_say_exports(const char *output, nm_buffer *out);

#endif
