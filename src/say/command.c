/* SPDX-License-Identifier: Apache-2.0
 *
 * A name stands in a command as a word between blanks, whose other words have no blanks of their own that matter.
 */
#include "say/command.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"
#include "base/shown.h"

#define WORD_BYTES (4 * PATH_MAX) /* of a quote there are four letters */

static bool is_word(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && memcmp(text, word, length) == 0;
}

char *nm_command_make(const char *command, const char *database, const char *input)
{
    char quoted[WORD_BYTES];
    nm_buffer text = {0};
    nm_error err;
    nm_status status = NM_OK;

    for (size_t length; *command != 0 && status == NM_OK; command += length) {
        const char *name = NULL;

        length = *command == ' ' ? 1 : strcspn(command, " ");
        if (is_word(command, length, NM_COMMAND_DATABASE))
            name = database;
        else if (is_word(command, length, NM_COMMAND_INPUT))
            name = input;
        if (name != NULL)
            nm_shown_word(quoted, sizeof quoted, name);
        status = nm_buffer_append(&text, name == NULL ? command : quoted, name == NULL ? length : strlen(quoted), &err);
    }
    if (status == NM_OK)
        status = nm_buffer_append(&text, "", 1, &err);
    if (status != NM_OK)
        nm_buffer_free(&text);
    return (char *)text.data;
}
