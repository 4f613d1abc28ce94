/* SPDX-License-Identifier: Apache-2.0
 *
 * A name stands in a command as a word between blanks, whose other words have no blanks of their own that matter.
 */
#include "say/command.h"

#include <stdbool.h>
#include <string.h>

#include "base/shown.h"

#define WORD_BYTES 4096

static bool is_word(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && memcmp(text, word, length) == 0;
}

static void append(char *out, size_t size, size_t *at, const char *text, size_t length)
{
    if (length > size - 1 - *at)
        length = size - 1 - *at;
    memcpy(out + *at, text, length);
    *at += length;
}

void nm_command_put(const char *command, const char *database, const char *input, char *out, size_t size)
{
    char quoted[WORD_BYTES];
    size_t at = 0, length;

    for (; *command != 0; command += length) {
        const char *name = NULL;

        length = *command == ' ' ? 1 : strcspn(command, " ");
        if (is_word(command, length, NM_COMMAND_DATABASE))
            name = database;
        else if (is_word(command, length, NM_COMMAND_INPUT))
            name = input;
        if (name == NULL) {
            append(out, size, &at, command, length);
        } else {
            nm_shown_word(quoted, sizeof quoted, name);
            append(out, size, &at, quoted, strlen(quoted));
        }
    }
    out[at] = 0;
}
