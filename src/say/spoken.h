/* SPDX-License-Identifier: Apache-2.0
 *
 * The Chinese of what programs print by nm_spoken (base/spoken.h): help, errors, and the lines of check, stack, diff, whatif, top,
 * record and report. It stands in spoken.def, by the English:
 *
 *     NM_SPOKEN("cannot open", "无法打开")
 *
 * Both have the same conversions of printf; in another order they are numbered (%2$s).
 */
#ifndef NM_SAY_SPOKEN_H
#define NM_SAY_SPOKEN_H

#include "say/sentence.h"

/* From here on nm_spoken speaks the language; and which that is. */
void nm_spoken_in(nm_language language);
nm_language nm_spoken_language(void);

/* What SQL says, in the language of nm_spoken: the text, or one that a row is like whose English has %s in place of a part, which is
 * spoken itself. Into `out`, of `size` bytes, which is given back. */
const char *nm_spoken_said(const char *text, char *out, size_t size);

#endif
