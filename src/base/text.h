/* SPDX-License-Identifier: Apache-2.0
 *
 * How long a text may be, wherever one comes from: what is longer is cut where a UTF-8 character ends and marked with
 * "...". And a file's name without its folders. libc's string functions alone are needed, so that the recorded program can use
 * it too.
 */
#ifndef NM_BASE_TEXT_H
#define NM_BASE_TEXT_H

#include <stddef.h>
#include <string.h>

/* The longest text that a trace holds or a source delivers: names, paths, commands, values. Rings hold less (ring.h). */
#define NM_TEXT_BYTES_MAX      4096
#define NM_TEXT_CUT_MARK       "..."
#define NM_TEXT_CUT_MARK_BYTES (sizeof NM_TEXT_CUT_MARK - 1)

/* How many of the text's `len` bytes stay where `max_bytes` are allowed: all, or those before the mark. */
static inline size_t nm_text_kept(const void *text, size_t len, size_t max_bytes)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t kept = max_bytes - NM_TEXT_CUT_MARK_BYTES;
    size_t begin;

    if (len <= max_bytes)
        return len;
    for (begin = kept; begin > 0 && kept - begin < 3 && (bytes[begin] & 0xc0) == 0x80;)
        begin--;
    return (bytes[begin] & 0xc0) == 0x80 ? kept : begin; /* three in a row are of a character; more are no UTF-8 */
}

/* Copies the text to `out`, which has room for `max_bytes`, cut and marked if it is longer. The bytes that stand there. */
static inline size_t nm_text_cut(const void *text, size_t len, size_t max_bytes, void *out)
{
    size_t kept = nm_text_kept(text, len, max_bytes);

    if (kept > 0)
        memcpy(out, text, kept);
    if (kept == len)
        return kept;
    memcpy((char *)out + kept, NM_TEXT_CUT_MARK, NM_TEXT_CUT_MARK_BYTES);
    return kept + NM_TEXT_CUT_MARK_BYTES;
}

/* The last part of a path; borrowed from it. NULL has none. */
static inline const char *nm_path_name(const char *path)
{
    const char *slash = path == NULL ? NULL : strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

#endif
