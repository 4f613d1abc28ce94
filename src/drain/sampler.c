/* SPDX-License-Identifier: Apache-2.0
 *
 * What was told last is kept for each process and figure, and a sample is told only when it moved by a step that
 * somebody would see, so that a quiet process costs nothing in the trace. Processes that use a device are looked at
 * once as soon as they do. A process that is gone in the middle of the look is passed over.
 */
#include "drain/sampler.h"

#include <stdio.h>
#include <string.h>

#include "drain/clock.h"
#include "drain/host_memory.h"

typedef nm_status post_function(void *context, const nm_event *event, nm_error *err);

void nm_sampler_init(nm_sampler *sampler, int64_t interval_ns)
{
    *sampler = (nm_sampler){.interval_ns = interval_ns};
    if (interval_ns > 0)
        sampler->machine_bytes = nm_host_memory_machine(&sampler->around.machine_used_bytes);
}

void nm_sampler_fini(nm_sampler *sampler)
{
    nm_map_free(&sampler->told);
}

/* True when the value is new or has moved by `step_bytes`, and so is to be told. */
static bool has_moved(nm_sampler *sampler, const nm_event *event, uint64_t step_bytes)
{
    nm_key key = {(uint64_t)event->number, event->detail};
    const uint64_t *told = nm_map_get(&sampler->told, key);
    uint64_t bytes = event->size_bytes;

    if (told != NULL && (bytes > *told ? bytes - *told : *told - bytes) < step_bytes)
        return false;
    return nm_map_put(&sampler->told, key, bytes, NULL) == NM_OK;
}

/* What the cgroup of the process leaves it: once a pass for those of the same one. */
static void look_around(nm_sampler *sampler, const nm_tracked *tracked)
{
    nm_cgroup cgroup;
    char name[32];

    snprintf(name, sizeof name, "%lld", (long long)tracked->pid);
    nm_cgroup_find(name, &cgroup);
    if (strcmp(cgroup.folder, sampler->around.cgroup.folder) == 0)
        return;
    sampler->around.cgroup = cgroup;
    sampler->around.cgroup_limit_bytes = 0;
    nm_cgroup_memory(&cgroup, &sampler->around.cgroup_used_bytes, &sampler->around.cgroup_limit_bytes);
}

static nm_status sample_around(nm_sampler *sampler, const nm_tracked *tracked, post_function *post, void *context,
                               nm_error *err)
{
    nm_event event = {.kind = NM_EVENT_MEMORY_SAMPLE, .number = (int64_t)tracked->number};
    nm_status status = NM_OK;

    look_around(sampler, tracked);
    for (uint64_t kind = NM_MEMORY_HOST_CGROUP; kind <= NM_MEMORY_HOST_MACHINE && status == NM_OK; kind++) {
        bool is_machine = kind == NM_MEMORY_HOST_MACHINE;

        event.detail = kind;
        event.size_bytes = is_machine ? sampler->around.machine_used_bytes : sampler->around.cgroup_used_bytes;
        event.total_bytes = is_machine ? sampler->machine_bytes : sampler->around.cgroup_limit_bytes;
        uint64_t step_bytes = event.total_bytes / NM_SAMPLER_STEP_PART;
        if (event.total_bytes != 0 && event.size_bytes != NM_HOST_BYTES_UNKNOWN &&
            has_moved(sampler, &event, step_bytes > NM_SAMPLER_STEP_BYTES ? step_bytes : NM_SAMPLER_STEP_BYTES))
            status = post(context, &event, err);
    }
    return status;
}

static nm_status sample_process(nm_sampler *sampler, const nm_tracked *tracked, post_function *post, void *context,
                                nm_error *err)
{
    nm_host_memory memory;
    nm_status status = NM_OK;

    if (!nm_host_memory_read(tracked->pid, &memory) || !nm_process_is_alive(tracked->pid, tracked->start_time))
        return NM_OK;
    for (uint64_t i = 0; i < NM_HOST_FIGURES && status == NM_OK; i++) {
        nm_event event = {.kind = NM_EVENT_MEMORY_SAMPLE,
                          .number = (int64_t)tracked->number,
                          .detail = NM_MEMORY_HOST_RESIDENT + i,
                          .size_bytes = memory.bytes[i],
                          .total_bytes = sampler->machine_bytes};

        if (memory.bytes[i] != NM_HOST_BYTES_UNKNOWN && has_moved(sampler, &event, NM_SAMPLER_STEP_BYTES))
            status = post(context, &event, err);
    }
    return status == NM_OK ? sample_around(sampler, tracked, post, context, err) : status;
}

nm_status nm_sampler_pass(nm_sampler *sampler, const nm_processes *processes, post_function *post, void *context,
                          nm_error *err)
{
    int64_t now_ns = sampler->interval_ns > 0 ? nm_clock_monotonic_ns() : 0;
    bool is_due = now_ns >= sampler->due_ns || sampler->is_wanted;
    nm_status status = NM_OK;

    if (sampler->interval_ns <= 0)
        return NM_OK;
    if (is_due) {
        sampler->due_ns = now_ns + sampler->interval_ns;
        nm_host_memory_machine(&sampler->around.machine_used_bytes);
    }
    sampler->around.cgroup.folder[0] = 0;
    sampler->around.cgroup_limit_bytes = 0;
    sampler->is_wanted = false;
    for (size_t i = processes->first_open; i < processes->count && status == NM_OK; i++) {
        const nm_tracked *tracked = &processes->items[i];
        bool is_known = nm_map_get(&sampler->told, (nm_key){tracked->number, NM_MEMORY_HOST_RESIDENT}) != NULL;

        if (tracked->shared == NULL || !tracked->was_alive || tracked->is_dead)
            continue;
        /* relaxed: a flag. A launcher's shells come and go between two looks. */
        if (is_due || (!is_known && atomic_load_explicit(&tracked->shared->is_device_user, memory_order_relaxed) != 0))
            status = sample_process(sampler, tracked, post, context, err);
    }
    return status;
}
