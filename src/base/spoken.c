/* SPDX-License-Identifier: Apache-2.0
 *
 * One pointer, so that base/ needs no text of those above it.
 */
#include "base/spoken.h"

#include <stddef.h>

static nm_spoken_find *find_spoken;

void nm_spoken_by(nm_spoken_find *find)
{
    find_spoken = find;
}

const char *nm_spoken(const char *english)
{
    const char *found = find_spoken == NULL ? NULL : find_spoken(english);

    return found == NULL ? english : found;
}

int nm_spoken_width(int columns, const char *text)
{
    int extra = 0; /* of three bytes two columns */

    for (; *text != 0; text++)
        extra += ((unsigned char)*text & 0xf0) == 0xe0;
    return columns < 0 ? columns - extra : columns + extra;
}
