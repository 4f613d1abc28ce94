/* SPDX-License-Identifier: Apache-2.0
 *
 * The host memory of the recorded processes, seen from outside: read from /proc now and then, told where it has moved.
 */
#ifndef NM_DRAIN_SAMPLER_H
#define NM_DRAIN_SAMPLER_H

#include "drain/cgroup.h"
#include "drain/process.h"

#define NM_SAMPLER_STEP_BYTES (UINT64_C(1) << 20) /* a value that moved by less is not told again */
#define NM_SAMPLER_STEP_PART  256 /* of the limit: the same for what is around a process, which others move too */

typedef struct nm_sampler {
    int64_t interval_ns; /* 0: off */
    int64_t due_ns;      /* CLOCK_MONOTONIC */
    bool is_wanted;      /* something happened that the next pass must look at: a failed allocation */
    uint64_t machine_bytes;
    struct { /* as the pass found it */
        uint64_t machine_used_bytes;
        nm_cgroup cgroup;                               /* of the process that was looked at last; no folder: of none */
        uint64_t cgroup_used_bytes, cgroup_limit_bytes; /* 0: nothing is limited */
    } around;
    nm_map told; /* (process, kind) -> the value that was told last */
} nm_sampler;

void nm_sampler_init(nm_sampler *sampler, int64_t interval_ns);
void nm_sampler_fini(nm_sampler *sampler);

/* MEMORY_SAMPLE events, given to `post`: of all processes that live when it is time to, or wanted, and of those that have just recorded their first event. */
nm_status nm_sampler_pass(nm_sampler *sampler, const nm_processes *processes,
                          nm_status (*post)(void *context, const nm_event *event, nm_error *err), void *context,
                          nm_error *err);

#endif
