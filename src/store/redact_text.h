/* SPDX-License-Identifier: Apache-2.0
 *
 * The replacements of redact.h, text by text. What was met once is known from then on: walk all texts twice and take the
 * second answers.
 */
#ifndef NM_STORE_REDACT_TEXT_H
#define NM_STORE_REDACT_TEXT_H

#include "base/buffer.h"
#include "base/map.h"
#include "base/strings.h"

typedef enum nm_redact_role {
    NM_REDACT_HOST,     /* a host's name, as a whole */
    NM_REDACT_PATH,     /* a path, as a whole */
    NM_REDACT_COMMAND,  /* a program and its arguments, joined by spaces */
    NM_REDACT_TEXT,     /* what a program calls something: what is met of the above in it */
    NM_REDACT_FUNCTION, /* the same, but no arguments: their words are those of functions */
    NM_REDACT_ROLE_COUNT
} nm_redact_role;

typedef enum nm_redact_kind {
    NM_REDACTED_HOST,
    NM_REDACTED_USER,
    NM_REDACTED_FOLDER,
    NM_REDACTED_FILE,
    NM_REDACTED_ARGUMENT,
    NM_REDACTED_PART, /* a folder of a path, as a word */
    NM_REDACTED_KIND_COUNT
} nm_redact_kind;

typedef struct nm_redact_word { /* what a word that was met stands for */
    nm_redact_kind kind;
    uint32_t number;
} nm_redact_word;

typedef struct nm_redact {
    nm_strings names[NM_REDACTED_KIND_COUNT]; /* their numbers are those of the replacements */
    nm_strings words;
    nm_redact_word *meanings; /* owned; of words, by number - 1 */
    size_t meaning_capacity;
    nm_buffer text; /* the one at hand, without its secrets */
} nm_redact;

/* Into *out, which is emptied first. `text` has a zero byte behind it. Begin with a zeroed nm_redact. */
nm_status nm_redact_text(nm_redact *redact, nm_redact_role role, nm_bytes text, nm_buffer *out, nm_error *err);
void nm_redact_free(nm_redact *redact);

#endif
