/* SPDX-License-Identifier: Apache-2.0
 *
 * A file that was built into a program (cmake/EmbedText.cmake).
 */
#ifndef NM_BASE_EMBEDDED_H
#define NM_BASE_EMBEDDED_H

#include <stddef.h>

typedef struct nm_embedded_text {
    const char *name; /* of the file, without its folder; NULL ends a list of them */
    const char *text; /* zero-terminated */
    size_t len;       /* without that zero; of a file that is no text, which may hold others */
} nm_embedded_text;

#endif
