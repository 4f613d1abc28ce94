/* SPDX-License-Identifier: Apache-2.0
 *
 * --color and --lang, as every program of the family that has them reads them.
 */
#ifndef NM_TOOL_COMMON_COLOR_H
#define NM_TOOL_COMMON_COLOR_H

#include <stdbool.h>

#include "tool/common/option_table.h"

typedef enum tool_color { TOOL_COLOR_AUTO, TOOL_COLOR_ALWAYS, TOOL_COLOR_NEVER } tool_color;

extern const char *const tool_color_words[]; /* of a row of OPTION_CHOICE, by tool_color */

/* Whether standard output gets colour: by itself on a terminal alone, unless NO_COLOR is set and not empty or TERM is "dumb". */
bool tool_wants_color(uint32_t color);

typedef enum tool_language { TOOL_LANGUAGE_AUTO, TOOL_LANGUAGE_ENGLISH, TOOL_LANGUAGE_CHINESE } tool_language;

extern const char *const tool_language_words[]; /* of a row of OPTION_CHOICE, by tool_language */

#endif
