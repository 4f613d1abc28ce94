/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts are few and looked up for people alone: a walk over them is quick enough.
 */
#include "say/spoken.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/spoken.h"

static const char *const pairs[][2] = {
#define NM_SPOKEN(english, chinese) {english, chinese},
#include "say/spoken.def"
#undef NM_SPOKEN
};

static const char *find_chinese(const char *english)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(pairs[i][0], english) == 0)
            return pairs[i][1];
    return NULL;
}

void nm_spoken_in(nm_language language)
{
    nm_spoken_by(language == NM_CHINESE ? find_chinese : NULL);
}
