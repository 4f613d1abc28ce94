/* SPDX-License-Identifier: Apache-2.0
 *
 * Folders are gone through by their descriptors, so that nobody who exchanges one for a link leads out of it. What cannot be opened is
 * passed over: it may be anybody's.
 */
#include "tool/common/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/door.h"
#include "base/io.h"
#include "base/spoken.h"
#include "base/text.h"

static nm_status walk(tool_folder *out, int folder, const char *path, unsigned depth, nm_error *err);

/* Takes over `path`, and `fd`, which is open or -1. */
static nm_status add_file(tool_folder *out, int fd, char *path, nm_error *err)
{
    nm_source_seen seen = {0};
    nm_status status = nm_source_look(fd, &seen, err);

    nm_io_close(fd);
    if (status != NM_ERR_MEMORY && (status != NM_OK || seen.type == NULL)) {
        free(path);
        return NM_OK;
    }
    if (status == NM_OK)
        status = nm_array_grow(&out->items, &out->capacity, out->count + 1, sizeof *out->items, err);
    if (status == NM_OK)
        out->items[out->count++] = (tool_folder_file){path, seen};
    else
        free(path);
    return status;
}

static nm_status visit(tool_folder *out, int folder, const char *name, const char *path, unsigned depth, nm_error *err)
{
    struct stat info;
    char *inside = NULL;
    int fd = -1;
    nm_status status = NM_OK;

    if (!nm_door_look_at(folder, name, &info) || (!S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode)))
        return NM_OK;
    if (asprintf(&inside, "%s/%s", strcmp(path, "/") == 0 ? "" : path, name) < 0)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (S_ISREG(info.st_mode)) {
        if (nm_door_open_at(folder, name, O_RDONLY | O_NONBLOCK, 0, &fd, NULL) == NM_OK)
            return add_file(out, fd, inside, err);
    } else if (depth < TOOL_FOLDER_DEPTH_MAX && (fd = nm_door_folder_at(folder, name)) >= 0) {
        status = walk(out, fd, inside, depth + 1, err);
        nm_io_close(fd);
    }
    free(inside);
    return status;
}

/* As those tools call their folders. */
static bool is_of_run(const char *path)
{
    static const char suffix[] = "_ascend_pt";
    const char *name = nm_path_name(path);
    size_t len = strlen(name);

    return strcmp(name, "ASCEND_PROFILER_OUTPUT") == 0 || strncmp(name, "PROF_", 5) == 0 ||
           (len >= sizeof suffix - 1 && strcmp(name + len - (sizeof suffix - 1), suffix) == 0);
}

static nm_status walk(tool_folder *out, int folder, const char *path, unsigned depth, nm_error *err)
{
    DIR *stream = nm_door_list_at(folder);
    const struct dirent *entry;
    nm_status status = NM_OK;

    out->has_run |= is_of_run(path);
    while (stream != NULL && status == NM_OK && (entry = readdir(stream)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        if (++out->entry_count > TOOL_FOLDER_ENTRIES_MAX)
            status = nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET,
                             nm_spoken("more than %d files are in this folder: name those that are to be read"),
                             TOOL_FOLDER_ENTRIES_MAX);
        else
            status = visit(out, folder, entry->d_name, path, depth, err);
    }
    if (stream != NULL)
        closedir(stream);
    return status;
}

static int by_path(const void *left, const void *right)
{
    return strcmp(((const tool_folder_file *)left)->path, ((const tool_folder_file *)right)->path);
}

nm_status tool_folder_find(const char *path, tool_folder *out, nm_error *err)
{
    int folder = nm_door_folder(path);
    size_t len = strlen(path);
    char *trimmed;
    nm_status status;

    *out = (tool_folder){0};
    if (folder < 0)
        return nm_fail_errno(err, errno, "cannot read the folder");
    while (len > 1 && path[len - 1] == '/')
        len--;
    trimmed = strndup(path, len);
    status = trimmed == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                             : walk(out, folder, trimmed, 1, err);
    free(trimmed);
    nm_io_close(folder);
    if (status == NM_OK && out->count > 0)
        qsort(out->items, out->count, sizeof *out->items, by_path);
    return status;
}

void tool_folder_free(tool_folder *folder)
{
    for (size_t i = 0; i < folder->count; i++)
        free(folder->items[i].path);
    free(folder->items);
    *folder = (tool_folder){0};
}
