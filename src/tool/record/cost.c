/* SPDX-License-Identifier: Apache-2.0
 *
 * An event that is told through npumem.h is what can be measured without a device. One that a hook tells costs two more
 * looks at the clock (how long was the call?), so that much is added for all: rather too much than too little.
 */
#include "tool/record/cost.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/buffer.h"
#include "base/map.h"
#include "npumem.h"
#include "tool/record/child.h"

#define STACK_DEPTH    12  /* of the calls that are measured */
#define ROUND_COUNT    7   /* the first is not counted: its stacks are new. All of them fit the smallest ring */
#define PAIR_COUNT     30  /* of a round */
#define CLOCK_COUNT    200 /* looks at the clock */
#define EVENT_NS_MAX   1e6 /* more is nonsense */
#define SHARE_NS_LEAST 1e9

typedef struct thread_time {
    int64_t first_ns, last_ns;
} thread_time;

struct record_cost {
    double event_ns; /* 0: not known */
    uint64_t event_count;
    nm_map index; /* thread -> index in threads */
    thread_time *threads;
    size_t thread_count, thread_capacity;
    uint64_t last_thread, last_number; /* of the last event; thread 0: there was none */
    bool has_failed;                   /* a thread is not counted */
};

/* ---- The program that is measured ---------------------------------------------------------------------------------- */

typedef struct measured {
    __typeof__(&npumem_alloc) alloc;
    __typeof__(&npumem_free) free;
    npumem_heap heap;
    double round_ns[ROUND_COUNT]; /* of an event */
} measured;

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void run_rounds(measured *work)
{
    for (int round = 0; round < ROUND_COUNT; round++) {
        double begin_ns = now_ns();

        for (uintptr_t i = 1; i <= PAIR_COUNT; i++) {
            const void *address = (const void *)(i << 12); /* a name: nothing is there */

            work->alloc(work->heap, address, 512, NULL);
            work->free(work->heap, address, NULL);
        }
        work->round_ns[round] = (now_ns() - begin_ns) / (2 * PAIR_COUNT);
    }
}

/* As far below its caller as a program's calls are. */
__attribute__((noinline)) static void run_below(measured *work, unsigned depth)
{
    if (depth == 0)
        run_rounds(work);
    else
        run_below(work, depth - 1);
    __asm__ volatile("" : : "r"(work) : "memory"); /* no jump in place of the call */
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

static double clock_ns(void)
{
    double begin_ns = now_ns(), end_ns = begin_ns;

    for (int i = 0; i < CLOCK_COUNT; i++)
        end_ns = now_ns();
    return (end_ns - begin_ns) / CLOCK_COUNT;
}

int record_cost_program(void)
{
    measured work = {0};
    __typeof__(&npumem_heap_define) define;

    *(void **)&define = dlsym(RTLD_DEFAULT, "npumem_heap_define");
    *(void **)&work.alloc = dlsym(RTLD_DEFAULT, "npumem_alloc");
    *(void **)&work.free = dlsym(RTLD_DEFAULT, "npumem_free");
    if (define == NULL || work.alloc == NULL || work.free == NULL)
        return 1;
    npumem_heap_options options = {.struct_bytes = sizeof options, .name = "cost", .device = NPUMEM_NO_DEVICE};
    work.heap = define(&options);
    if (work.heap == 0)
        return 1;
    run_below(&work, STACK_DEPTH);
    qsort(work.round_ns + 1, ROUND_COUNT - 1, sizeof *work.round_ns, compare);
    printf("%.1f\n", work.round_ns[ROUND_COUNT / 2] + 2 * clock_ns());
    return 0;
}

/* ---- Beside the drain ---------------------------------------------------------------------------------------------- */

nm_status record_cost_new(record_cost **out, nm_error *err)
{
    *out = calloc(1, sizeof **out);
    return *out == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : NM_OK;
}

void record_cost_free(record_cost *cost)
{
    if (cost == NULL)
        return;
    nm_map_free(&cost->index);
    free(cost->threads);
    free(cost);
}

void record_cost_measure(record_cost *cost, const char *folder, const char *library)
{
    char answer[32];

    if (!record_child_ask(folder, library, RECORD_COST_PROGRAM, answer, sizeof answer))
        return;
    double event_ns = strtod(answer, NULL);
    cost->event_ns = event_ns > 0 && event_ns < EVENT_NS_MAX ? event_ns : 0;
}

static nm_status find_thread(record_cost *cost, const nm_event *event, thread_time **out)
{
    uint64_t number = 0;

    *out = &cost->threads[cost->last_number];
    if (event->thread_id == cost->last_thread)
        return NM_OK;
    nm_status status = nm_map_number(&cost->index, (nm_key){.low = event->thread_id}, &number, NULL);

    if (status == NM_OK)
        status = nm_array_grow(&cost->threads, &cost->thread_capacity, number + 1, sizeof *cost->threads, NULL);
    if (status != NM_OK)
        return status;
    if (number == cost->thread_count)
        cost->threads[cost->thread_count++] = (thread_time){event->time_ns, event->time_ns};
    *out = &cost->threads[number];
    cost->last_thread = event->thread_id;
    cost->last_number = number;
    return NM_OK;
}

void record_cost_take(record_cost *cost, const nm_record *record)
{
    const nm_event *event = &record->event;
    thread_time *thread;

    if (record->kind != NM_RECORD_EVENT || event->thread_id == 0 || event->kind == NM_EVENT_LOSS || cost->has_failed ||
        event->time_ns == NM_NO_TIME || nm_event_is_repeat(event))
        return;
    if (find_thread(cost, event, &thread) != NM_OK) {
        cost->has_failed = true;
        return;
    }
    cost->event_count++;
    if (event->time_ns > thread->last_ns)
        thread->last_ns = event->time_ns;
}

bool record_cost_tell(const record_cost *cost, record_cost_estimate *out)
{
    double threads_ns = 0;

    for (size_t i = 0; i < cost->thread_count; i++)
        threads_ns += (double)(cost->threads[i].last_ns - cost->threads[i].first_ns);
    out->cost_ns = cost->event_ns * (double)cost->event_count;
    out->ratio = threads_ns < SHARE_NS_LEAST ? -1 : out->cost_ns < threads_ns ? out->cost_ns / threads_ns : 1;
    return !cost->has_failed && out->cost_ns > 0;
}
