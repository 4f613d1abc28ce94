/* SPDX-License-Identifier: Apache-2.0
 *
 * What the environment and standard output have to say on colour.
 */
#include "tool/common/color.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const tool_color_words[] = {
    [TOOL_COLOR_AUTO] = "auto", [TOOL_COLOR_ALWAYS] = "always", [TOOL_COLOR_NEVER] = "never", NULL};

const char *const tool_language_words[] = {
    [TOOL_LANGUAGE_AUTO] = "auto", [TOOL_LANGUAGE_ENGLISH] = "en", [TOOL_LANGUAGE_CHINESE] = "zh", NULL};

bool tool_wants_color(uint32_t color)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");

    if (color != TOOL_COLOR_AUTO)
        return color == TOOL_COLOR_ALWAYS;
    return isatty(STDOUT_FILENO) && (none == NULL || none[0] == 0) && terminal != NULL && strcmp(terminal, "dumb") != 0;
}
