/* SPDX-License-Identifier: Apache-2.0
 *
 * A text file that was built into a program (cmake/EmbedText.cmake).
 */
#ifndef NM_BASE_EMBEDDED_H
#define NM_BASE_EMBEDDED_H

typedef struct nm_embedded_text {
    const char *name; /* of the file, without its folder; NULL ends a list of them */
    const char *text; /* zero-terminated */
} nm_embedded_text;

#endif
