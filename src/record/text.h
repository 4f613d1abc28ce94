/* SPDX-License-Identifier: Apache-2.0
 *
 * Small text work without stdio, which may allocate and lock.
 */
#ifndef NM_RECORD_TEXT_H
#define NM_RECORD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "npumem.h"

/* "FOLDER/p.NUMBER" and the like into `out`; false when it does not fit. */
bool nm_text_path(char *out, size_t out_bytes, const char *folder, const char *prefix, uint64_t number);

/* "FOLDER/NAME" into `out`; false when it does not fit. */
bool nm_text_join(char *out, size_t out_bytes, const char *folder, const char *name);

/* A decimal number at the start of `text`, INT64_MIN when there is none; *end (may be NULL) is the first byte behind it. */
int64_t nm_text_number(const char *text, const char **end);

/* A hexadecimal number without 0x; *end is the first byte behind it, `text` itself when there is none. */
uint64_t nm_text_hexadecimal(const char *text, const char **end);

/* The first of these environment variables that holds a number; INT64_MIN when none does. */
int64_t nm_text_environment_number(const char *const *names, size_t name_count);

/* Element `index` of a list of numbers such as "4,5,6"; INT64_MIN when there is none. */
int64_t nm_text_list_number(const char *list, int64_t index);

/* What of a name or mark is kept, *bytes long: the text itself, or, if it has more than NPUMEM_TEXT_BYTES_MAX bytes, the copy
 * in `room` that is cut and marked (base/text.h). NULL is an empty text. */
static inline const char *nm_text_take(const char *text, char room[NPUMEM_TEXT_BYTES_MAX], uint64_t *bytes)
{
    size_t len = text != NULL ? strnlen(text, NPUMEM_TEXT_BYTES_MAX + 1) : 0;

    *bytes = len;
    if (len <= NPUMEM_TEXT_BYTES_MAX)
        return text;
    *bytes = nm_text_cut(text, len, NPUMEM_TEXT_BYTES_MAX, room);
    return room;
}

#endif
