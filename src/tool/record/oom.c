/* SPDX-License-Identifier: Apache-2.0
 *
 * A container may see its own cgroup as the root, or under a path that it cannot open: then what is mounted is asked.
 */
#include "tool/record/oom.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"

#define TEXT_BYTES_MAX 8192
#define LIMIT_NONE     (UINT64_C(1) << 62) /* version 1 says so, with a number of that size */

typedef struct cgroup_files {
    const char *line; /* of /proc/self/cgroup: what stands before the path */
    const char *root;
    const char *events, *limit;
} cgroup_files;

/* A host may have both; then memory belongs to the older. */
static const cgroup_files versions[] = {
    {":memory:", "/sys/fs/cgroup/memory", "memory.oom_control", "memory.limit_in_bytes"},
    {"0::", "/sys/fs/cgroup", "memory.events", "memory.max"},
};

static bool read_text(const char *path, char text[TEXT_BYTES_MAX])
{
    size_t got = 0;
    int fd;

    text[0] = 0;
    if (nm_io_open(path, O_RDONLY, 0, &fd, NULL) != NM_OK)
        return false;
    if (nm_io_read(fd, text, TEXT_BYTES_MAX - 1, &got, NULL) != NM_OK)
        got = 0;
    nm_io_close(fd);
    text[got] = 0;
    return got > 0;
}

/* "oom_kill N" on a line of its own; older kernels have none. */
static bool read_kill_count(const char *path, uint64_t *count)
{
    static const char word[] = "oom_kill ";
    char text[TEXT_BYTES_MAX];

    if (!read_text(path, text))
        return false;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        if (at == text || at[-1] == '\n') {
            *count = strtoull(at + strlen(word), NULL, 10);
            return true;
        }
    return false;
}

static uint64_t read_limit(const char *folder, const char *name)
{
    char path[PATH_MAX], text[TEXT_BYTES_MAX];

    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path || !read_text(path, text) ||
        text[0] < '0' || text[0] > '9')
        return RECORD_OOM_UNLIMITED;
    uint64_t bytes = strtoull(text, NULL, 10);
    return bytes < LIMIT_NONE ? bytes : RECORD_OOM_UNLIMITED;
}

/* `folder` is cut on the way up to the root. */
static uint64_t find_limit(char *folder, const cgroup_files *files)
{
    uint64_t least = RECORD_OOM_UNLIMITED;

    for (;;) {
        uint64_t bytes = read_limit(folder, files->limit);
        char *slash = strrchr(folder, '/');

        least = bytes < least ? bytes : least;
        if (strlen(folder) <= strlen(files->root) || slash == NULL)
            return least;
        *slash = 0;
    }
}

static bool use_folder(record_oom *oom, const cgroup_files *files, const char *below)
{
    char folder[PATH_MAX / 2];

    if (snprintf(folder, sizeof folder, "%s%s", files->root, strcmp(below, "/") == 0 ? "" : below) >=
        (int)sizeof folder)
        return false;
    snprintf(oom->events, sizeof oom->events, "%s/%s", folder, files->events);
    if (!read_kill_count(oom->events, &oom->kill_count)) {
        oom->events[0] = 0;
        return false;
    }
    oom->limit_bytes = find_limit(folder, files);
    return true;
}

/* The path behind `line`, cut out of `text`; NULL: there is no such line. */
static char *find_path(char *text, const char *line)
{
    char *at = strstr(text, line);

    if (at == NULL)
        return NULL;
    at += strlen(line);
    at[strcspn(at, "\n")] = 0;
    return at;
}

void record_oom_begin(record_oom *out)
{
    char text[TEXT_BYTES_MAX];

    *out = (record_oom){.limit_bytes = RECORD_OOM_UNLIMITED};
    for (size_t i = 0; i < sizeof versions / sizeof *versions && out->events[0] == 0; i++) {
        char *path = read_text("/proc/self/cgroup", text) ? find_path(text, versions[i].line) : NULL;

        if (path != NULL && !use_folder(out, &versions[i], path))
            use_folder(out, &versions[i], "/");
    }
}

bool record_oom_has_killed(record_oom *oom)
{
    uint64_t count = 0, before = oom->kill_count;

    if (oom->events[0] == 0 || !read_kill_count(oom->events, &count))
        return false;
    oom->kill_count = count;
    return count > before;
}
