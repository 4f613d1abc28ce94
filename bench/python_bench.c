/* SPDX-License-Identifier: Apache-2.0
 *
 * What python_bench.py calls: bursts of events, timed.
 */
#include <stdint.h>
#include <time.h>

#include "npumem.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT double python_bench_burst(int event_count);

static npumem_heap heap;

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Nanoseconds of one event. */
double python_bench_burst(int event_count)
{
    int64_t begin_ns;

    if (heap == 0)
        heap = npumem_heap_define(NULL);
    begin_ns = now_ns();
    for (int i = 0; i < event_count / 2; i++) {
        npumem_alloc(heap, (void *)(uintptr_t)(0x1000 + i * 64), 64, NULL);
        npumem_free(heap, (void *)(uintptr_t)(0x1000 + i * 64), NULL);
    }
    return (double)(now_ns() - begin_ns) / event_count;
}
