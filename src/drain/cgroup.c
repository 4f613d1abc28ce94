/* SPDX-License-Identifier: Apache-2.0
 *
 * A container may see its own cgroup as the root, or under a path that it cannot open: then what is mounted is asked. Limits of cgroups
 * around one hold for it too, so all are looked at, up to the root.
 */
#include "drain/cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "drain/host_memory.h"

#define LIMIT_NONE (UINT64_C(1) << 62) /* version 1 says so, with a number of that size */

typedef struct cgroup_files {
    unsigned version;
    const char *line; /* of /proc/PID/cgroup: what stands before the path */
    const char *root;
    const char *events, *limit, *used, *idle_files; /* the last: a line of memory.stat */
} cgroup_files;

/* A host may have both; then memory belongs to the older. */
static const cgroup_files versions[] = {
    {1, ":memory:", "/sys/fs/cgroup/memory", "memory.oom_control", "memory.limit_in_bytes", "memory.usage_in_bytes",
     "\ntotal_inactive_file "},
    {2, "0::", "/sys/fs/cgroup", "memory.events", "memory.max", "memory.current", "\ninactive_file "},
};

static const cgroup_files *files_of(const nm_cgroup *cgroup)
{
    return &versions[cgroup->version == 1 ? 0 : 1];
}

static bool read_file(const char *folder, const char *name, char text[NM_HOST_TEXT_BYTES])
{
    char path[PATH_MAX];

    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path && nm_host_text_read(path, text);
}

/* "max" and what version 1 has in its place are NM_CGROUP_UNLIMITED, and so is what cannot be read. */
static uint64_t read_bytes(const char *folder, const char *name)
{
    char text[NM_HOST_TEXT_BYTES];

    if (!read_file(folder, name, text) || text[0] < '0' || text[0] > '9')
        return NM_CGROUP_UNLIMITED;
    uint64_t bytes = strtoull(text, NULL, 10);
    return bytes < LIMIT_NONE ? bytes : NM_CGROUP_UNLIMITED;
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

static bool use_folder(nm_cgroup *cgroup, const cgroup_files *files, const char *below)
{
    char text[NM_HOST_TEXT_BYTES];

    cgroup->version = files->version;
    cgroup->root_bytes = strlen(files->root);
    return snprintf(cgroup->folder, sizeof cgroup->folder, "%s%s", files->root, strcmp(below, "/") == 0 ? "" : below) <
               (int)sizeof cgroup->folder &&
           read_file(cgroup->folder, files->events, text);
}

bool nm_cgroup_find(const char *name, nm_cgroup *out)
{
    char own[64], text[NM_HOST_TEXT_BYTES];

    snprintf(own, sizeof own, "/proc/%s/cgroup", name);
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        char *path = nm_host_text_read(own, text) ? find_path(text, versions[i].line) : NULL;

        if (path != NULL && (use_folder(out, &versions[i], path) || use_folder(out, &versions[i], "/")))
            return true;
    }
    *out = (nm_cgroup){0};
    return false;
}

/* Cuts `folder` to that of the cgroup around it. False: it is the root. */
static bool go_up(const nm_cgroup *cgroup, char *folder)
{
    char *slash = strrchr(folder, '/');

    if (slash == NULL || (size_t)(slash - folder) < cgroup->root_bytes)
        return false;
    *slash = 0;
    return true;
}

uint64_t nm_cgroup_limit(const nm_cgroup *cgroup)
{
    char folder[sizeof cgroup->folder];
    uint64_t least = NM_CGROUP_UNLIMITED;

    memcpy(folder, cgroup->folder, sizeof folder);
    do {
        uint64_t bytes = read_bytes(folder, files_of(cgroup)->limit);

        least = bytes < least ? bytes : least;
    } while (go_up(cgroup, folder));
    return least;
}

/* What the kernel lets go of first. */
static uint64_t idle_files(const nm_cgroup *cgroup, const char *folder)
{
    char text[NM_HOST_TEXT_BYTES];
    const char *line = files_of(cgroup)->idle_files, *at = NULL;

    if (read_file(folder, "memory.stat", text))
        at = strstr(text, line);
    return at == NULL ? 0 : strtoull(at + strlen(line), NULL, 10);
}

bool nm_cgroup_memory(const nm_cgroup *cgroup, uint64_t *used_bytes, uint64_t *limit_bytes)
{
    char folder[sizeof cgroup->folder];
    bool is_found = false;

    memcpy(folder, cgroup->folder, sizeof folder);
    do {
        uint64_t limit = read_bytes(folder, files_of(cgroup)->limit);
        uint64_t used = limit == NM_CGROUP_UNLIMITED ? NM_CGROUP_UNLIMITED : read_bytes(folder, files_of(cgroup)->used);

        if (used == NM_CGROUP_UNLIMITED)
            continue;
        used = nm_subtract_saturated(used, idle_files(cgroup, folder));
        if (!is_found || nm_subtract_saturated(limit, used) < nm_subtract_saturated(*limit_bytes, *used_bytes)) {
            *used_bytes = used;
            *limit_bytes = limit;
        }
        is_found = true;
    } while (go_up(cgroup, folder));
    return is_found;
}

bool nm_cgroup_events(const nm_cgroup *cgroup, char *out, size_t size)
{
    return snprintf(out, size, "%s/%s", cgroup->folder, files_of(cgroup)->events) < (int)size;
}
