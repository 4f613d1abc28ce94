/* SPDX-License-Identifier: Apache-2.0
 *
 * In a folder lie the logs of all ranks, of several runs, and texts of anything. Failures of one run come within an hour of each
 * other: what has a date and is older than that is of an earlier one. Links are not followed into folders.
 */
#include "tool/common/logs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/door.h"
#include "base/io.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "source/source.h"

#define DEPTH_MAX  8
#define LOGS_MAX   65536
#define RUN_NS     (INT64_C(3600) * 1000000000)
#define DATE_BYTES 64

/* What stands in an open file, if it is a text. False: it is none. */
static bool look(int fd, tool_log *log)
{
    uint8_t begin[NM_SOURCE_HEAD_BYTES];
    nm_bytes head = {begin, 0};
    nm_source *source = NULL;
    nm_source_summary_data summary;

    if (nm_io_read(fd, begin, sizeof begin, &head.len, NULL) != NM_OK || !nm_source_is_log(head) ||
        lseek(fd, 0, SEEK_SET) != 0)
        return false;
    log->is_silent = nm_source_open(fd, &source, NULL) != NM_OK;
    log->start_ns = NM_NO_TIME;
    if (!log->is_silent) {
        nm_source_summary(source, &summary);
        log->start_ns = summary.start_realtime_ns;
    }
    nm_source_close(source);
    return true;
}

bool tool_log_is_silent(const char *path)
{
    tool_log log = {0};
    struct stat info;
    int fd = -1;
    bool is_text =
        nm_door_leads_to(path, S_IFREG) && nm_door_open_file(path, &fd, &info, NULL) == NM_OK && look(fd, &log);

    nm_io_close(fd);
    return is_text && log.is_silent;
}

static nm_status add_log(tool_logs *logs, const tool_log *next, const char *path, nm_error *err)
{
    char *copy = strdup(path);
    nm_status status = copy == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                                    : nm_array_grow(&logs->items, &logs->capacity, logs->count + 1, sizeof *next, err);

    if (status != NM_OK) {
        free(copy);
        return status;
    }
    logs->items[logs->count] = *next;
    logs->items[logs->count++].path = copy;
    return NM_OK;
}

static nm_status add_file(int folder, const char *name, const char *path, tool_logs *logs, nm_error *err)
{
    tool_log next = {0};
    int fd = -1;

    if (logs->count >= LOGS_MAX || nm_io_open_at(folder, name, O_RDONLY | O_NONBLOCK, 0, &fd, NULL) != NM_OK)
        return NM_OK;
    bool is_text = look(fd, &next);
    nm_io_close(fd);
    if (!is_text)
        return NM_OK;
    return add_log(logs, &next, path, err);
}

nm_status tool_logs_add_silent(tool_logs *logs, const char *path, nm_error *err)
{
    const tool_log next = {.start_ns = NM_NO_TIME, .is_silent = true, .is_operand = true};

    return add_log(logs, &next, path, err);
}

static nm_status add_folder(int folder, const char *path, unsigned depth, tool_logs *logs, nm_error *err)
{
    DIR *stream = nm_door_list_at(folder);
    const struct dirent *entry;
    nm_status status = NM_OK;

    while (stream != NULL && status == NM_OK && (entry = readdir(stream)) != NULL) {
        char *below = NULL;

        if (entry->d_name[0] == '.')
            continue;
        if (asprintf(&below, "%s/%s", path, entry->d_name) < 0)
            status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
        else if (nm_door_leads_to_at(folder, entry->d_name, S_IFREG))
            status = add_file(folder, entry->d_name, below, logs, err);
        int inner = status == NM_OK && depth < DEPTH_MAX ? nm_door_folder_at(folder, entry->d_name) : -1;
        if (inner >= 0)
            status = add_folder(inner, below, depth + 1, logs, err);
        nm_io_close(inner);
        free(below);
    }
    if (stream != NULL)
        closedir(stream);
    return status;
}

static int by_path(const void *left, const void *right)
{
    return strcmp(((const tool_log *)left)->path, ((const tool_log *)right)->path);
}

nm_status tool_logs_find(const char *folder, tool_logs *out, nm_error *err)
{
    int64_t last_ns = NM_NO_TIME;
    size_t len = strlen(folder), before = out->count;
    char *path = NULL;
    int fd = nm_door_folder(folder);

    if (fd < 0)
        return nm_fail_errno(err, errno, "cannot read the folder");
    while (len > 1 && folder[len - 1] == '/')
        len--;
    path = strndup(folder, len);
    nm_status status =
        path == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : add_folder(fd, path, 1, out, err);
    free(path);
    nm_io_close(fd);
    if (out->count - before > 1)
        qsort(out->items + before, out->count - before, sizeof *out->items, by_path);
    for (size_t i = before; i < out->count; i++)
        if (out->items[i].start_ns > last_ns)
            last_ns = out->items[i].start_ns;
    for (size_t i = before; i < out->count; i++)
        out->items[i].is_old = out->items[i].start_ns != NM_NO_TIME && last_ns - out->items[i].start_ns > RUN_NS;
    return status;
}

static const char *date_of(int64_t ns, char out[DATE_BYTES])
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm parts;

    out[0] = 0;
    if (gmtime_r(&seconds, &parts) != NULL)
        strftime(out, DATE_BYTES, "%Y-%m-%d %H:%M:%S", &parts);
    return out;
}

void tool_logs_say_left_out(const tool_logs *logs, const char *program, FILE *out)
{
    char name[PATH_MAX], date[DATE_BYTES];
    size_t silent_count = 0, last = 0;

    for (size_t i = 0; i < logs->count; i++) {
        if (logs->items[i].is_old)
            fprintf(out, nm_spoken("%s: %s: its out-of-memory line is of %s, of an earlier run; left out\n"), program,
                    nm_shown_text(name, sizeof name, logs->items[i].path), date_of(logs->items[i].start_ns, date));
        if (logs->items[i].is_silent) {
            silent_count++;
            last = i;
        }
    }
    if (silent_count == 1)
        fprintf(out, nm_spoken("%s: %s: no out-of-memory line; left out\n"), program,
                nm_shown_text(name, sizeof name, logs->items[last].path));
    else if (silent_count > 1)
        fprintf(out, nm_spoken("%s: %s and %zu more: no out-of-memory line; left out\n"), program,
                nm_shown_text(name, sizeof name, logs->items[last].path), silent_count - 1);
}

void tool_logs_free(tool_logs *logs)
{
    for (size_t i = 0; i < logs->count; i++)
        free(logs->items[i].path);
    free(logs->items);
    *logs = (tool_logs){0};
}
