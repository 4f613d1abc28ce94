/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel counts in a file of the cgroup; one that has none, or no such line as older kernels, tells nothing.
 */
#include "tool/record/oom.h"

#include <stdlib.h>
#include <string.h>

#include "drain/host_memory.h"

/* "oom_kill N" on a line of its own. */
static bool read_kill_count(const char *path, uint64_t *count)
{
    static const char word[] = "oom_kill ";
    char text[NM_HOST_TEXT_BYTES];

    if (!nm_host_text_read(path, text))
        return false;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        if (at == text || at[-1] == '\n') {
            *count = strtoull(at + strlen(word), NULL, 10);
            return true;
        }
    return false;
}

void record_oom_begin(record_oom *out)
{
    nm_cgroup cgroup;

    *out = (record_oom){.limit_bytes = RECORD_OOM_UNLIMITED};
    if (!nm_cgroup_find("self", &cgroup))
        return;
    if (!nm_cgroup_events(&cgroup, out->events, sizeof out->events) || !read_kill_count(out->events, &out->kill_count))
        out->events[0] = 0;
    else
        out->limit_bytes = nm_cgroup_limit(&cgroup);
}

bool record_oom_has_killed(record_oom *oom)
{
    uint64_t count = 0, before = oom->kill_count;

    if (oom->events[0] == 0 || !read_kill_count(oom->events, &count))
        return false;
    oom->kill_count = count;
    return count > before;
}
