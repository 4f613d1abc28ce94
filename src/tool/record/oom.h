/* SPDX-License-Identifier: Apache-2.0
 *
 * Was a process killed because the host's memory ran out? The kernel sends SIGKILL then, as anybody may, and counts it in the
 * memory cgroup of its victim: a kill that comes with a new count is one of these.
 */
#ifndef NM_TOOL_RECORD_OOM_H
#define NM_TOOL_RECORD_OOM_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "drain/cgroup.h"

#define RECORD_OOM_UNLIMITED NM_CGROUP_UNLIMITED
#define RECORD_OOM_MARK      "host out of memory: process " /* what a mark in the trace begins with, before the number */

typedef struct record_oom {
    char events[PATH_MAX]; /* the file that counts; empty: there is none */
    uint64_t kill_count;   /* when it was looked at last */
    uint64_t limit_bytes;  /* the least of the cgroup and those around it, or RECORD_OOM_UNLIMITED */
} record_oom;

/* Finds this process's own memory cgroup, of version 1 or 2; what it starts is in it, too, unless that moves. */
void record_oom_begin(record_oom *out);

/* Has the kernel killed for want of memory since the last look? */
bool record_oom_has_killed(record_oom *oom);

#endif
