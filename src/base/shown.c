/* SPDX-License-Identifier: Apache-2.0
 *
 * UTF-8 as RFC 3629 has it: what is longer than it must be, a surrogate and what is past the last character are no
 * characters.
 */
#include "base/shown.h"

#include <string.h>

#include "base/text.h"

size_t nm_shown_next(const char *text, size_t len, uint32_t *character)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *bytes = (const unsigned char *)text;
    size_t count = bytes[0] < 0x80 ? 1 : bytes[0] < 0xc0 ? 0 : bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;
    uint32_t value = count == 1 ? bytes[0] : bytes[0] & (0x7fu >> count);

    *character = NM_SHOWN_BAD;
    if (count == 0 || bytes[0] > 0xf4 || count > len)
        return 1;
    for (size_t i = 1; i < count; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 1;
        value = value << 6 | (bytes[i] & 0x3f);
    }
    if (value < smallest[count] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return 1;
    *character = value;
    return count;
}

bool nm_shown_is_safe(uint32_t character)
{
    static const struct {
        uint32_t first, last;
    } unsafe[] = {
        {0x00, 0x1f},       {0x7f, 0x9f},             /* control characters */
        {0x61c, 0x61c},     {0x200b, 0x200f},         /* marks of direction, without width */
        {0x2028, 0x202e},                             /* separators, embeddings and overrides */
        {0x2060, 0x206f},                             /* isolates, and what is not seen */
        {0xfeff, 0xfeff},   {0xfff9, 0xfffb},         /* byte order mark, annotations */
        {0xe0000, 0xe007f}, {0x110000, NM_SHOWN_BAD}, /* tags; no characters */
    };

    for (size_t i = 0; i < sizeof unsafe / sizeof unsafe[0]; i++)
        if (character >= unsafe[i].first && character <= unsafe[i].last)
            return false;
    return true;
}

size_t nm_shown_make(char *text, size_t len, const char *kept)
{
    size_t to = 0, bytes;

    for (size_t at = 0; at < len; at += bytes) {
        uint32_t character;

        bytes = nm_shown_next(text + at, len - at, &character);
        bool is_kept = character != 0 && character < 0x80 && strchr(kept, (int)character) != NULL;
        if (nm_shown_is_safe(character) || is_kept) {
            memmove(text + to, text + at, bytes);
            to += bytes;
        } else {
            text[to++] = '?';
        }
    }
    return to;
}

const char *nm_shown_text(char *out, size_t size, const char *text)
{
    size_t len = text == NULL ? 0 : nm_text_cut(text, strnlen(text, size), size - 1, out);

    out[nm_shown_make(out, len, "")] = 0;
    return out;
}
