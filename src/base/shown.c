/* SPDX-License-Identifier: Apache-2.0
 *
 * UTF-8 as RFC 3629 has it: what is longer than it must be, a surrogate and what is past the last character are no
 * characters.
 */
#include "base/shown.h"

#include <stdarg.h>
#include <string.h>

#include "base/text.h"

#define WORD_BYTES_MAX 4096  /* of nm_shown_word: a path */
#define LINE_BYTES_MAX 16384 /* of nm_shown_print: several paths */

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

/* ---- Cells --------------------------------------------------------------------------------------------------------- */

/* A spreadsheet takes the wide forms of = + - @ for the same. */
static bool begins_formula(uint32_t character)
{
    return character == '=' || character == '+' || character == '-' || character == '@' || character == 0xff1d ||
           character == 0xff0b || character == 0xff0d || character == 0xff20;
}

/* It passes over these in front of a formula. */
static bool is_blank(uint32_t character)
{
    return character == ' ' || character == 0xa0 || character == 0x3000 ||
           (character >= 0x2000 && character <= 0x200a) || !nm_shown_is_safe(character);
}

/* Begins a cell of its own, or a row, where a spreadsheet is set so. */
static bool is_cut(char c)
{
    return c == '\t' || c == '\r' || c == '\n' || c == ';';
}

static bool is_formula(const char *text, size_t len)
{
    uint32_t character = ' ';

    for (size_t at = 0; at < len && !is_cut(text[at]) && is_blank(character);)
        at += nm_shown_next(text + at, len - at, &character);
    return begins_formula(character);
}

nm_status nm_shown_cell(nm_buffer *out, const char *text, size_t len, nm_error *err)
{
    nm_status status = NM_OK;

    out->len = 0;
    if (len > 0 && text[0] != ';' && is_cut(text[0]))
        status = nm_buffer_append(out, "'", 1, err);
    for (size_t at = 0, bytes; at < len && status == NM_OK; at += bytes) {
        for (bytes = 0; at + bytes < len && !is_cut(text[at + bytes]);)
            bytes++;
        bytes += at + bytes < len;
        if (is_formula(text + at, bytes))
            status = nm_buffer_append(out, "'", 1, err);
        if (status == NM_OK)
            status = nm_buffer_append(out, text + at, bytes, err);
    }
    if (status == NM_OK && len > 0)
        out->len = nm_shown_make((char *)out->data, out->len, "\t\r\n");
    return status;
}

/* ---- JSON, and lines ----------------------------------------------------------------------------------------------- */

size_t nm_shown_escape(char out[NM_SHOWN_ESCAPE_BYTES], uint32_t character, const char *text, size_t bytes)
{
    if (character == NM_SHOWN_BAD)
        return (size_t)snprintf(out, NM_SHOWN_ESCAPE_BYTES, "\\ufffd");
    if (character == '"' || character == '\\')
        return (size_t)snprintf(out, NM_SHOWN_ESCAPE_BYTES, "\\%c", (char)character);
    if (nm_shown_is_safe(character)) {
        memcpy(out, text, bytes);
        return bytes;
    }
    if (character < 0x10000)
        return (size_t)snprintf(out, NM_SHOWN_ESCAPE_BYTES, "\\u%04x", (unsigned)character);
    character -= 0x10000;
    return (size_t)snprintf(out, NM_SHOWN_ESCAPE_BYTES, "\\u%04x\\u%04x", 0xd800 + (unsigned)(character >> 10),
                            0xdc00 + (unsigned)(character & 0x3ff));
}

static size_t put(char *out, size_t size, size_t at, const char *text, size_t len)
{
    size_t kept = len < size - 1 - at ? len : size - 1 - at;

    memcpy(out + at, text, kept);
    out[at + kept] = 0;
    return at + kept;
}

const char *nm_shown_word(char *out, size_t size, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:=@%^";
    char safe[WORD_BYTES_MAX];
    const char *from = nm_shown_text(safe, sizeof safe, text);
    size_t at = 0;

    if (from[0] != 0 && from[0] != '-' && from[strspn(from, plain)] == 0)
        return nm_shown_text(out, size, from);
    at = from[0] == '-' ? put(out, size, at, "./'", 3) : put(out, size, at, "'", 1);
    for (; *from != 0; from++)
        at = *from == '\'' ? put(out, size, at, "'\\''", 4) : put(out, size, at, from, 1);
    put(out, size, at, "'", 1);
    return out;
}

void nm_shown_print(FILE *file, const char *format, ...)
{
    char text[LINE_BYTES_MAX]; /* on the stack: it may have to say that memory is out */
    va_list values;

    va_start(values, format);
    int len = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    size_t kept = len < 0 ? 0 : (size_t)len < sizeof text ? (size_t)len : sizeof text - 1;
    bool is_ended = kept > 0 && (text[kept - 1] == '\n' || (size_t)len > kept);
    fwrite(text, 1, nm_shown_make(text, kept - is_ended, ""), file);
    if (is_ended)
        putc('\n', file);
}
