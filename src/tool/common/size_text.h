/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes as people write them on a command line: 60GiB, 1.5 MiB, 4096, 512k.
 */
#ifndef NM_TOOL_COMMON_SIZE_TEXT_H
#define NM_TOOL_COMMON_SIZE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#define SIZE_TEXT_BYTES_MAX (UINT64_C(1) << 62)

/* What a unit stands for: "" and B are 1; KiB, MiB, GiB, TiB; k and M are powers of ten. False: no such unit. */
bool size_text_unit(const char *unit, double *factor);

/* The whole text, a number with or without a unit; not more than SIZE_TEXT_BYTES_MAX. False: it is not one. */
bool size_text_read(const char *text, uint64_t *bytes);

#endif
