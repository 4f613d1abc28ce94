/* SPDX-License-Identifier: Apache-2.0
 *
 * The file is read whole, since rules borrow their paths from it, and cut into lines in place. What lies in the working folder
 * is obeyed without having been named: so it is judged by its descriptor before a byte is read, and nothing that stands in it
 * is ever printed, for it may not be what it seems.
 */
#include "tool/check/team_rules.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/door.h"
#include "base/io.h"

#define FILE_BYTES_MAX ((size_t)64 << 10) /* of rules; one more is another file given by mistake */
#define RULES_MAX      1000

/* ---- Whose it is ---------------------------------------------------------------------------------------------------- */

/* May what nobody has named be obeyed? */
static nm_status judge(int folder, int fd, nm_error *err)
{
    struct stat info, around;

    if (fstat(fd, &info) != 0 || fstat(folder, &around) != 0)
        return nm_fail_errno(err, errno, "cannot look at it");
    if (!S_ISREG(info.st_mode))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "is not a regular file");
    if (info.st_uid != geteuid() && info.st_uid != 0 && info.st_uid != around.st_uid)
        return nm_fail(
            err, NM_ERR_USAGE, NM_NO_OFFSET,
            "belongs neither to this user, nor to root, nor to the owner of the folder: --rules FILE reads it");
    if ((info.st_mode & S_IWOTH) != 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "may be written to by everybody: --rules FILE reads it");
    return NM_OK;
}

static nm_status open_in_folder(const char *name, int *fd, nm_error *err)
{
    int folder = nm_door_folder(".");
    nm_status status = NM_OK;

    if (folder < 0 || nm_door_open_at(folder, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, fd, NULL) != NM_OK)
        status = errno == ENOENT ? NM_END
                 : errno == ELOOP
                     ? nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "is a symbolic link: --rules FILE follows one")
                     : nm_fail_errno(err, errno, "cannot open");
    if (status == NM_OK)
        status = judge(folder, *fd, err);
    nm_io_close(folder);
    return status;
}

static nm_status open_named(const char *path, int *fd, nm_error *err)
{
    struct stat info;

    if (!nm_door_look(path, &info) && errno == ENOENT)
        return NM_END;
    return nm_door_open_file(path, fd, &info, err);
}

/* ---- What stands in it ---------------------------------------------------------------------------------------------- */

static nm_status read_text(int fd, char **text, nm_error *err)
{
    nm_buffer bytes = {0};
    nm_status status = nm_io_read_all(fd, FILE_BYTES_MAX, &bytes, err);

    if (status == NM_ERR_LIMIT)
        status = nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "is larger than 64 KiB: rules are not");
    if (status == NM_OK)
        status = nm_buffer_append(&bytes, "", 1, err);
    if (status == NM_OK && strlen((const char *)bytes.data) + 1 != bytes.len)
        status = nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "holds no rules: one a line, as max-peak=60GiB or no-leak");
    if (status == NM_OK)
        *text = (char *)bytes.data;
    else
        nm_buffer_free(&bytes);
    return status;
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

/* "no-leak not-judged=pass": what stands behind the last of a rule; NULL: nothing does. */
static char *cut_not_judged(char *line)
{
    static const char name[] = "not-judged=";
    char *last = NULL;

    for (char *at = strstr(line, name); at != NULL; at = strstr(at + 1, name))
        last = at;
    if (last == NULL || last == line || !isspace((unsigned char)last[-1]))
        return NULL;
    last[-1] = 0;
    return last + sizeof name - 1;
}

/* *is_rule: it is none where nothing stands in it. */
static nm_status take_line(char *line, check_take_rule *take, void *context, bool *is_rule, nm_error *err)
{
    cut_comment(line);
    line = trimmed(line);
    char *not_judged = cut_not_judged(line), *name = trimmed(line), *equals = strchr(name, '=');

    if (equals != NULL)
        *equals = 0;
    *is_rule = name[0] != 0 || equals != NULL;
    return *is_rule ? take(trimmed(name), equals == NULL ? name + strlen(name) : trimmed(equals + 1), not_judged,
                           context, err)
                    : NM_OK;
}

static nm_status take_lines(char *text, check_take_rule *take, void *context, nm_error *err)
{
    unsigned rule_count = 0;
    nm_status status = NM_OK;

    for (unsigned number = 1; status == NM_OK && text != NULL; number++) {
        nm_error why = {.offset = NM_NO_OFFSET};
        char *line = strsep(&text, "\n");
        bool is_rule = false;

        status = take_line(line, take, context, &is_rule, &why);
        rule_count += is_rule;
        if (status == NM_OK && rule_count > RULES_MAX)
            status = nm_fail(&why, NM_ERR_USAGE, NM_NO_OFFSET, "more than %d rules", RULES_MAX);
        if (status != NM_OK)
            nm_fail(err, status, NM_NO_OFFSET, "line %u: %.120s", number, why.text);
    }
    return status;
}

nm_status check_team_rules_read(const char *path, check_take_rule *take, void *context, char **text, nm_error *err)
{
    int fd = -1;
    nm_status status = path == NULL ? open_in_folder(CHECK_TEAM_FILE, &fd, err) : open_named(path, &fd, err);

    *text = NULL;
    if (status == NM_OK)
        status = read_text(fd, text, err);
    nm_io_close(fd);
    return status == NM_OK ? take_lines(*text, take, context, err) : status;
}
