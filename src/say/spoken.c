/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts are few and looked up for people alone: a walk over them is quick enough.
 */
#include "say/spoken.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/spoken.h"

static const char *const pairs[][2] = {
#define NM_SPOKEN(english, chinese) {english, chinese},
#include "say/spoken.def"
#undef NM_SPOKEN
};

static bool is_chinese;

static const char *find_chinese(const char *english)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(pairs[i][0], english) == 0)
            return pairs[i][1];
    return NULL;
}

/* The part of the text for which the English has its one %s, or NULL: it is another text. */
static const char *find_part(const char *english, const char *text, int *part_len)
{
    const char *hole = strstr(english, "%s");
    size_t before = hole == NULL ? 0 : (size_t)(hole - english), behind = hole == NULL ? 0 : strlen(hole + 2),
           len = strlen(text);

    if (hole == NULL || before + behind < 4 || strchr(hole + 2, '%') != NULL || len < before + behind ||
        strncmp(english, text, before) != 0 || strcmp(text + len - behind, hole + 2) != 0)
        return NULL;
    *part_len = (int)(len - before - behind);
    return text + before;
}

/* What snprintf cut within a character ends before it. */
static void cut_whole(char *out, size_t size, int wanted)
{
    size_t len = strlen(out), begin = len;

    if (wanted < (int)size)
        return;
    while (begin > 0 && ((unsigned char)out[begin - 1] & 0xc0) == 0x80)
        begin--;
    size_t needed = begin == 0                              ? 0
                    : (unsigned char)out[begin - 1] >= 0xe0 ? 3
                    : (unsigned char)out[begin - 1] >= 0xc0 ? 2
                                                            : 1;
    if (begin > 0 && len - begin + 1 < needed)
        out[begin - 1] = 0;
}

const char *nm_spoken_said(const char *text, char *out, size_t size)
{
    const char *known = nm_spoken(text), *part;
    char inner[256];
    int part_len = 0;

    cut_whole(out, size, snprintf(out, size, "%s", known));
    if (known != text || !is_chinese)
        return out;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if ((part = find_part(pairs[i][0], text, &part_len)) != NULL && strstr(pairs[i][1], "%s") != NULL) {
            const char *hole = strstr(pairs[i][1], "%s");

            snprintf(inner, sizeof inner, "%.*s", part_len, part);
            cut_whole(
                out, size,
                snprintf(out, size, "%.*s%s%s", (int)(hole - pairs[i][1]), pairs[i][1], nm_spoken(inner), hole + 2));
            break;
        }
    return out;
}

nm_language nm_spoken_language(void)
{
    return is_chinese ? NM_CHINESE : NM_ENGLISH;
}

void nm_spoken_in(nm_language language)
{
    is_chinese = language == NM_CHINESE;
    nm_spoken_by(language == NM_CHINESE ? find_chinese : NULL);
}
