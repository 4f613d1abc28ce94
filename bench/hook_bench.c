/* SPDX-License-Identifier: Apache-2.0
 *
 * What one recorded event costs the program: the median over bursts that fit into a ring, with pauses in which the drain
 * empties it, for calls at several stack depths. It uses the SDK and ACL as any program does, so how it is recorded is
 * said outside:
 *
 *     hook_bench                                               nothing records
 *     npumem-record --stacks none   -o x.zst -- hook_bench     no stacks
 *     npumem-record --stacks caller -o x.zst -- hook_bench
 *     npumem-record --stacks native -o x.zst -- hook_bench --threads 4
 *     heaptrack hook_bench --only "malloc, free"               another recorder: bench/peers.sh asks several of them
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "acl/acl.h"
#include "driver/ascend_hal.h"
#include "mstx/ms_tools_ext.h"
#include "npumem.h"

#define BURST_EVENTS 4000 /* a quarter of the default ring */
#define BURSTS       61
#define PAUSE_US     20000
#define THREADS_MAX  256

typedef struct bench_measure {
    const char *name;
    void (*burst)(void);
    int event_count; /* of one burst */
} bench_measure;

typedef int second_stage(void *workspace, uint64_t workspace_bytes, void *executor, aclrtStream stream);

static npumem_heap heap;
static second_stage *second; /* of an operator; NULL: there is none here */
static void *volatile device_block;
static aclrtEvent idle_event; /* never recorded, so that nobody waits for it */

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- What is measured ---------------------------------------------------------------------------------------------- */

static void burst_of_steps(void)
{
    for (int i = 0; i < BURST_EVENTS; i++)
        npumem_step(i);
}

static void burst_of_pool_blocks(void)
{
    for (int i = 0; i < BURST_EVENTS / 2; i++) {
        npumem_alloc(heap, (void *)(uintptr_t)(0x1000 + i * 64), 64, NULL);
        npumem_free(heap, (void *)(uintptr_t)(0x1000 + i * 64), NULL);
    }
}

/* What recorders of host memory see by themselves, and ours is told. */
static void burst_of_host_blocks(void)
{
    for (int i = 0; i < BURST_EVENTS / 2; i++) {
        void *volatile block = malloc(64);

        npumem_alloc(heap, block, 64, NULL);
        npumem_free(heap, block, NULL);
        free(block);
    }
}

/* Does nothing but be called and, when recorded, recorded. */
static void burst_of_sets(void)
{
    for (int i = 0; i < BURST_EVENTS / 2; i++)
        aclrtMemset(device_block, 64, 0, 0);
}

static void burst_of_device_blocks(void)
{
    void *block = NULL;

    for (int i = 0; i < BURST_EVENTS / 8; i++) {
        if (aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS)
            aclrtFree(block);
    }
}

/* As a library takes memory for itself. The driver's own part is the same with and without a recorder. */
static void burst_of_driver_blocks(void)
{
    const unsigned long long flag = 1ull << HAL_FLAG_SPACE_SHIFT | 3ull << HAL_FLAG_MODULE_SHIFT;
    void *block = NULL;

    for (int i = 0; i < BURST_EVENTS / 8; i++) {
        if (halMemAlloc(&block, 4096, flag) == DRV_ERROR_NONE)
            halMemFree(block);
    }
}

/* Three calls of mstx for each event of the pool, as torch_npu makes them; the pool itself does nothing. */
static void burst_of_torch_blocks(void)
{
    for (int i = 0; i < BURST_EVENTS / 4; i++) {
        mstxMemVirtualRangeDesc_t reserved = {0, (void *)0x1000, 1 << 21},
                                  block = {0, (void *)(uintptr_t)(0x1000 + i * 64), 64};
        mstxMemHeapDesc_t pool = {.typeSpecificDesc = &reserved};
        mstxMemRegionsRegisterBatch_t begin = {.regionCount = 1, .regionDescArray = &block};
        mstxMemRegionRef_t reference = {.pointer = block.ptr};
        mstxMemRegionsUnregisterBatch_t end = {1, &reference};
        mstxDomainHandle_t domain = mstxDomainCreateA("ptaCaching");

        mstxMemHeapRegister(domain, &pool);
        mstxMemRegionsRegister(domain, &begin);
        domain = mstxDomainCreateA("ptaCaching");
        mstxMemHeapRegister(domain, &pool);
        mstxMemRegionsUnregister(domain, &end);
    }
}

static void burst_of_ranges(void)
{
    for (int i = 0; i < BURST_EVENTS / 8; i++)
        mstxRangeEnd(mstxRangeStartA("forward", NULL));
}

/* A second stage without an executor returns at once. Each call is two events. */
static void burst_of_operators(void)
{
    for (int i = 0; i < BURST_EVENTS / 4 && second != NULL; i++)
        second(NULL, 0, NULL, NULL);
}

/* Stands for all calls of streams and events: the hooks differ in the real call alone. */
static void burst_of_event_calls(void)
{
    for (int i = 0; i < BURST_EVENTS / 2; i++)
        aclrtSynchronizeEvent(idle_event);
}

static const bench_measure measures[] = {
    {"npumem_step", burst_of_steps, BURST_EVENTS},
    {"npumem_alloc, npumem_free", burst_of_pool_blocks, BURST_EVENTS},
    {"malloc, free", burst_of_host_blocks, BURST_EVENTS},
    {"aclrtMemset of nothing", burst_of_sets, BURST_EVENTS / 2},
    {"aclrtSynchronizeEvent", burst_of_event_calls, BURST_EVENTS / 2},
    {"aclrtMalloc, aclrtFree", burst_of_device_blocks, BURST_EVENTS / 4},
    {"aclnnAdd of nothing, a call", burst_of_operators, BURST_EVENTS / 4},
    {"halMemAlloc, halMemFree", burst_of_driver_blocks, BURST_EVENTS / 4},
    {"pool's block through mstx", burst_of_torch_blocks, BURST_EVENTS / 2},
    {"mstxRangeStartA, RangeEnd", burst_of_ranges, BURST_EVENTS / 4},
};

#define MEASURE_COUNT (sizeof measures / sizeof *measures)

/* ---- Measuring ----------------------------------------------------------------------------------------------------- */

/* Calls at a depth of that many frames, all of them with frame pointers. */
__attribute__((noinline)) static void call_deep(int depth, void (*function)(void))
{
    if (depth > 0)
        call_deep(depth - 1, function);
    else
        function();
    __asm__ volatile(""); /* no sibling call */
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

/* Median nanoseconds of one event. */
static double measure_one(const bench_measure *measure, int depth)
{
    double ns[BURSTS];

    for (int i = 0; i < BURSTS; i++) {
        int64_t begin_ns = now_ns();

        call_deep(depth, measure->burst);
        ns[i] = (double)(now_ns() - begin_ns) / measure->event_count;
        usleep(PAUSE_US);
    }
    qsort(ns, BURSTS, sizeof *ns, compare);
    return ns[BURSTS / 2];
}

static const int depths[] = {1, 10, 30, 60};

#define DEPTH_COUNT (sizeof depths / sizeof *depths)

typedef struct bench_worker {
    pthread_t thread;
    double ns[MEASURE_COUNT][DEPTH_COUNT];
} bench_worker;

static pthread_barrier_t barrier;
static const char *only; /* measure this alone; NULL: all */

static bool is_wanted(size_t measure)
{
    return only == NULL || strcmp(only, measures[measure].name) == 0;
}

static void *run_worker(void *context)
{
    bench_worker *worker = context;

    aclrtSetDevice(0);
    for (size_t i = 0; i < MEASURE_COUNT; i++) {
        for (size_t k = 0; k < DEPTH_COUNT && is_wanted(i); k++) {
            pthread_barrier_wait(&barrier);
            worker->ns[i][k] = measure_one(&measures[i], depths[k]);
        }
    }
    return NULL;
}

static void print_table(const bench_worker *workers, int thread_count)
{
    printf("%-28s", "ns per event at depth");
    for (size_t k = 0; k < DEPTH_COUNT; k++)
        printf("%10d", depths[k]);
    for (size_t i = 0; i < MEASURE_COUNT; i++) {
        if (!is_wanted(i))
            continue;
        printf("\n%-28s", measures[i].name);
        for (size_t k = 0; k < DEPTH_COUNT; k++) {
            double slowest = 0;

            for (int t = 0; t < thread_count; t++)
                slowest = workers[t].ns[i][k] > slowest ? workers[t].ns[i][k] : slowest;
            printf("%10.1f", slowest);
        }
    }
    printf("\n%d thread%s (the slowest), %s\n", thread_count, thread_count == 1 ? "" : "s",
           npumem_is_recording() ? "recording" : "nothing records");
}

/* As frameworks do: by handle. */
static void find_operator(void)
{
    void *library = dlopen("libopapi.so", RTLD_LAZY);
    void *found = library != NULL ? dlsym(library, "aclnnAdd") : NULL;

    memcpy(&second, &found, sizeof found);
}

static bool read_options(int argc, char **argv, int *thread_count)
{
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc)
            return false;
        if (strcmp(argv[i], "--threads") == 0)
            *thread_count = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--only") == 0)
            only = argv[i + 1];
        else
            return false;
    }
    return *thread_count >= 1 && *thread_count <= THREADS_MAX;
}

int main(int argc, char **argv)
{
    static bench_worker workers[THREADS_MAX];
    int thread_count = 1;
    void *block = NULL;

    if (!read_options(argc, argv, &thread_count)) {
        fprintf(stderr, "usage: hook_bench [--threads 1 to %d] [--only MEASURE]\n", THREADS_MAX);
        return 2;
    }
    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS ||
        aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS ||
        aclrtCreateEvent(&idle_event) != ACL_SUCCESS)
        return 1;
    device_block = block;
    find_operator();
    heap = npumem_heap_define(NULL);
    pthread_barrier_init(&barrier, NULL, (unsigned)thread_count);
    for (int t = 0; t < thread_count; t++)
        pthread_create(&workers[t].thread, NULL, run_worker, &workers[t]);
    for (int t = 0; t < thread_count; t++)
        pthread_join(workers[t].thread, NULL);
    print_table(workers, thread_count);
    return 0;
}
