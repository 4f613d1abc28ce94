/* SPDX-License-Identifier: Apache-2.0
 *
 * The Chinese of what programs print by nm_spoken (base/spoken.h): help, errors, and the lines of check, stack, diff, whatif, top and
 * report. It stands in spoken.def, by the English:
 *
 *     NM_SPOKEN("cannot open", "无法打开")
 *
 * Both have the same conversions of printf; in another order they are numbered (%2$s).
 */
#ifndef NM_SAY_SPOKEN_H
#define NM_SAY_SPOKEN_H

#include "say/sentence.h"

/* From here on nm_spoken speaks the language. */
void nm_spoken_in(nm_language language);

#endif
