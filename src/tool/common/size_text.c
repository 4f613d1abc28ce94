/* SPDX-License-Identifier: Apache-2.0
 *
 * One table of units for every program, so that a size means the same wherever it is written.
 */
#include "tool/common/size_text.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    double factor;
} units[] = {
    {"", 1}, {"B", 1}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"k", 1e3}, {"M", 1e6},
};

bool size_text_unit(const char *unit, double *factor)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].name) == 0) {
            *factor = units[i].factor;
            return true;
        }
    return false;
}

bool size_text_read(const char *text, uint64_t *bytes)
{
    char *end;
    double number = strtod(text, &end);
    double factor;

    if (!isdigit((unsigned char)text[0]) || !(number >= 0 && number < 0x1p62))
        return false;
    while (*end == ' ')
        end++;
    if (!size_text_unit(end, &factor) || number * factor > (double)SIZE_TEXT_BYTES_MAX)
        return false;
    *bytes = (uint64_t)(number * factor);
    return true;
}
