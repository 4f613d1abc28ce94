/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers and text for people: short, with units, safe to print on a terminal.
 */
#ifndef NM_BASE_HUMAN_H
#define NM_BASE_HUMAN_H

#include <stddef.h>
#include <stdint.h>

#define NM_HUMAN_BYTES 48 /* room that every number needs */

/* All give `out` back, so that they can stand inside a printf. */
const char *nm_human_bytes(char out[NM_HUMAN_BYTES], int64_t bytes);  /* 512 B, 6.1 MiB, 412 MiB */
const char *nm_human_count(char out[NM_HUMAN_BYTES], int64_t count);  /* 412,880 */
const char *nm_human_percent(char out[NM_HUMAN_BYTES], double ratio); /* 5.8 %, 44 %, 100 % */
const char *nm_human_time(char out[NM_HUMAN_BYTES], int64_t ns);      /* 12.0 ms, 81.3 s, 2.5 h */
const char *nm_human_cost(char out[NM_HUMAN_BYTES], int64_t ns);      /* the same, and 25.0 us */

/* At most `column_count` characters of a text, the last three of them dots if there is more; what is not safe to show
 * (base/shown.h) becomes a question mark. `out` has room for `size` bytes. NULL is an empty text. */
const char *nm_human_text(char *out, size_t size, const char *text, size_t column_count);

#endif
