/* SPDX-License-Identifier: Apache-2.0
 *
 * A line at a time; what is too long for a line fails the test.
 */
#include "support/foreign.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *read_text(const char *from, char *out, size_t *len)
{
    *len = 0;
    from += strspn(from, " ");
    if (*from != '"') {
        *len = strcspn(from, " \n");
        memcpy(out, from, *len);
        out[*len] = 0;
        return from + *len;
    }
    for (from++; *from != '"' && *from != 0;) {
        unsigned code = (unsigned char)*from++;

        if (code == '\\' && *from == 'x') {
            ck_assert_int_eq(sscanf(from + 1, "%2x", &code), 1);
            from += 3;
        } else if (code == '\\') {
            code = *from == 'n' ? '\n' : (unsigned char)*from;
            from++;
        }
        out[(*len)++] = (char)code;
    }
    out[*len] = 0;
    return from + (*from == '"');
}

size_t foreign_each(const char *path, const char *kind, void (*visit)(const foreign_line *line))
{
    FILE *file = fopen(path, "r");
    size_t count = 0, kind_len = strlen(kind);
    char text[1024];

    ck_assert_msg(file != NULL, "%s cannot be read", path);
    while (fgets(text, sizeof text, file) != NULL) {
        foreign_line line;

        ck_assert_msg(strchr(text, '\n') != NULL, "a line is too long: %s", text);
        if (strncmp(text, kind, kind_len) != 0 || text[kind_len] != ' ')
            continue;
        read_text(read_text(text + kind_len, line.texts[0], &line.lens[0]), line.texts[1], &line.lens[1]);
        visit(&line);
        count++;
    }
    fclose(file);
    return count;
}
