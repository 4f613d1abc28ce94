/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/sampler.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "drain/clock.h"

#define STATUS_BYTES_MAX 8192

typedef nm_status post_function(void *context, const nm_event *event, nm_error *err);

static const struct {
    const char *line; /* of /proc/PID/status; in kB */
    uint64_t kind;
} figures[] = {
    {"\nVmRSS:", NM_MEMORY_HOST_RESIDENT},
    {"\nRssAnon:", NM_MEMORY_HOST_ANONYMOUS},
    {"\nRssShmem:", NM_MEMORY_HOST_SHARED},
    {"\nVmStk:", NM_MEMORY_HOST_STACK},
};

/* The file's text; false when the process has gone. */
static bool read_text(const char *path, char text[STATUS_BYTES_MAX])
{
    size_t got = 0;
    int fd;

    if (nm_io_open(path, O_RDONLY, 0, &fd, NULL) != NM_OK)
        return false;
    if (nm_io_read(fd, text, STATUS_BYTES_MAX - 1, &got, NULL) != NM_OK)
        got = 0;
    nm_io_close(fd);
    text[got] = 0;
    return got > 0;
}

static bool find_kib(const char *text, const char *line, uint64_t *bytes)
{
    const char *at = strstr(text, line);

    if (at == NULL)
        return false;
    *bytes = strtoull(at + strlen(line), NULL, 10) << 10;
    return true;
}

void nm_sampler_init(nm_sampler *sampler, int64_t interval_ns)
{
    char text[STATUS_BYTES_MAX];

    *sampler = (nm_sampler){.interval_ns = interval_ns};
    if (interval_ns > 0 && read_text("/proc/meminfo", text))
        find_kib(text, "MemTotal:", &sampler->machine_bytes);
}

void nm_sampler_fini(nm_sampler *sampler)
{
    nm_map_free(&sampler->told);
}

/* True when the value is new or has moved, and so is to be told. */
static bool has_moved(nm_sampler *sampler, uint64_t process, uint64_t kind, uint64_t bytes)
{
    nm_key key = {process, kind};
    const uint64_t *told = nm_map_get(&sampler->told, key);

    if (told != NULL && (bytes > *told ? bytes - *told : *told - bytes) < NM_SAMPLER_STEP_BYTES)
        return false;
    return nm_map_put(&sampler->told, key, bytes, NULL) == NM_OK;
}

static nm_status sample_process(nm_sampler *sampler, const nm_tracked *tracked, post_function *post, void *context,
                                nm_error *err)
{
    char path[64], text[STATUS_BYTES_MAX];
    nm_status status = NM_OK;

    snprintf(path, sizeof path, "/proc/%lld/status", (long long)tracked->pid);
    if (!read_text(path, text) || !nm_process_is_alive(tracked->pid, tracked->start_time))
        return NM_OK;
    for (size_t i = 0; i < sizeof figures / sizeof *figures && status == NM_OK; i++) {
        nm_event event = {.kind = NM_EVENT_MEMORY_SAMPLE,
                          .number = (int64_t)tracked->number,
                          .detail = figures[i].kind,
                          .total_bytes = sampler->machine_bytes};

        if (find_kib(text, figures[i].line, &event.size_bytes) &&
            has_moved(sampler, tracked->number, figures[i].kind, event.size_bytes))
            status = post(context, &event, err);
    }
    return status;
}

nm_status nm_sampler_pass(nm_sampler *sampler, const nm_processes *processes, post_function *post, void *context,
                          nm_error *err)
{
    int64_t now_ns = sampler->interval_ns > 0 ? nm_clock_monotonic_ns() : 0;
    bool is_due = now_ns >= sampler->due_ns || sampler->is_wanted;
    nm_status status = NM_OK;

    if (sampler->interval_ns <= 0)
        return NM_OK;
    if (is_due)
        sampler->due_ns = now_ns + sampler->interval_ns;
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
