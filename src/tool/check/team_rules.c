/* SPDX-License-Identifier: Apache-2.0
 *
 * The file is read whole, since rules borrow their paths from it, and cut into lines in place.
 */
#include "tool/check/team_rules.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX (1 << 20) /* of rules; one more is another file given by mistake */

static nm_status read_text(FILE *file, char **text, nm_error *err)
{
    char *bytes = malloc(FILE_BYTES_MAX + 1);

    if (bytes == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    size_t len = fread(bytes, 1, FILE_BYTES_MAX, file);
    bytes[len] = 0;
    *text = bytes;
    if (ferror(file))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "cannot read: %s", strerror(errno));
    if (len == FILE_BYTES_MAX || strlen(bytes) != len)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "holds no rules: one a line, as max-peak=60GiB or no-leak");
    return NM_OK;
}

/* Without what is blank at both ends. */
static char *trimmed(char *text)
{
    size_t len = strlen(text);

    while (len > 0 && isspace((unsigned char)text[len - 1]))
        len--;
    text[len] = 0;
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

/* A path may hold a '#': only one that a blank stands before begins a comment. */
static void cut_comment(char *line)
{
    for (char *at = strchr(line, '#'); at != NULL; at = strchr(at + 1, '#'))
        if (at == line || isspace((unsigned char)at[-1])) {
            *at = 0;
            return;
        }
}

static nm_status take_line(char *line, check_take_rule *take, void *context, nm_error *err)
{
    cut_comment(line);
    char *name = trimmed(line), *equals = strchr(name, '=');

    if (equals != NULL)
        *equals = 0;
    if (name[0] == 0 && equals == NULL)
        return NM_OK;
    return take(trimmed(name), equals == NULL ? name + strlen(name) : trimmed(equals + 1), context, err);
}

static nm_status take_lines(char *text, check_take_rule *take, void *context, nm_error *err)
{
    nm_status status = NM_OK;

    for (unsigned number = 1; status == NM_OK && text != NULL; number++) {
        nm_error why = {.offset = NM_NO_OFFSET};
        char *line = strsep(&text, "\n");

        status = take_line(line, take, context, &why);
        if (status != NM_OK)
            nm_fail(err, status, NM_NO_OFFSET, "line %u: %.160s", number, why.text);
    }
    return status;
}

nm_status check_team_rules_read(const char *path, check_take_rule *take, void *context, char **text, nm_error *err)
{
    FILE *file = fopen(path, "re");
    nm_status status;

    *text = NULL;
    if (file == NULL)
        return errno == ENOENT ? NM_END : nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "cannot open: %s", strerror(errno));
    status = read_text(file, text, err);
    fclose(file);
    return status == NM_OK ? take_lines(*text, take, context, err) : status;
}
