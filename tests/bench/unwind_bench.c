/* SPDX-License-Identifier: Apache-2.0
 *
 * What a stack costs, in code without frame pointers, by how much is known of it: remembered by the thread; walked by rules that are
 * known; with rules that have to be found. And beside it libunwind's walk of the same frame, where that is installed, which looks
 * nothing up either once it has seen a place. The median of many rounds, each figure in turn, so that a busy machine is as unkind to each.
 *
 *     unwind_bench [ROUNDS]
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record/modules.h"
#include "record/own_stack.h"
#include "record/unwind.h"
#include "record/unwind_cache.h"

#define ROUNDS_MAX  1001
#define CALLS       200 /* of a round */
#define DEPTH_LIMIT 250
#define NOINLINE    __attribute__((noinline, noclone))

typedef int other_walk(void **addresses, int count);

typedef enum figure { FIGURE_KNOWN, FIGURE_WALKED, FIGURE_COLD, FIGURE_LIBUNWIND, FIGURE_COUNT } figure;

static nm_recorded_thread *thread;
static other_walk *libunwind;
static unsigned round_count = 301, frame_count;
static double times[FIGURE_COUNT][ROUNDS_MAX]; /* ns */

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- One look ------------------------------------------------------------------------------------------------------ */

static void forget_rules(void)
{
    for (uint32_t level = 0; level < NM_UNWIND_CACHE_LEVELS; level++) {
        nm_unwind_entry *entries = nm_unwind_levels[level].entries;

        if (entries != NULL)
            memset((void *)entries, 0, sizeof *entries << (NM_UNWIND_CACHE_FIRST_BITS + 2 * level));
    }
}

static uint32_t kind(void)
{
    return nm_memo_kind(nm_modules_generation(), false);
}

static void walk_from(uintptr_t frame, bool is_kept)
{
    uint64_t addresses[DEPTH_LIMIT];
    nm_unwind walk;

    walk.frame = frame;
    walk.limit = DEPTH_LIMIT;
    walk.is_above_python = false;
    walk.may_describe = true;
    walk.addresses = addresses;
    walk.places = thread->memo.places;
    nm_unwind_walk(thread, &walk);
    frame_count = walk.count;
    if (is_kept)
        nm_memo_put(&thread->memo, frame, kind(), walk.places, walk.place_count, walk.place_sum, walk.hash);
}

static void run_once(figure which, uintptr_t frame)
{
    void *addresses[DEPTH_LIMIT];

    if (which == FIGURE_LIBUNWIND)
        libunwind(addresses, DEPTH_LIMIT);
    else if (which != FIGURE_KNOWN)
        walk_from(frame, false);
    else if (nm_memo_find(&thread->memo, frame, thread->stack_end, kind()) == 0)
        walk_from(frame, true);
}

static double time_of(figure which, uintptr_t frame)
{
    unsigned calls = which == FIGURE_COLD ? 1 : CALLS;
    int64_t begin_ns;

    if (which == FIGURE_COLD)
        forget_rules();
    else
        run_once(which, frame);
    begin_ns = now_ns();
    for (unsigned i = 0; i < calls; i++)
        run_once(which, frame);
    return (double)(now_ns() - begin_ns) / calls;
}

NOINLINE static void measure(void)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

    for (unsigned round = 0; round < round_count; round++) {
        for (figure which = 0; which < FIGURE_COUNT; which++) {
            if (which != FIGURE_LIBUNWIND || libunwind != NULL)
                times[which][round] = time_of(which, frame);
        }
    }
}

static int compare(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static double median(figure which)
{
    qsort(times[which], round_count, sizeof(double), compare);
    return times[which][round_count / 2];
}

void unwind_bench_leaf(void);
void unwind_bench_go(unsigned depth);

void unwind_bench_leaf(void)
{
    double known, walked, cold;

    measure();
    known = median(FIGURE_KNOWN);
    walked = median(FIGURE_WALKED);
    cold = median(FIGURE_COLD);
    printf("| %u | %.0f ns | %.0f ns | %.0f ns, %.0f a place |", frame_count, known, walked, cold,
           (cold - walked) / frame_count);
    if (libunwind == NULL)
        printf(" not installed |\n");
    else
        printf(" %.0f ns |\n", median(FIGURE_LIBUNWIND));
}

int main(int argc, char **argv)
{
    static const unsigned depths[] = {1, 10, 30, 60};
    void *library = dlopen("libunwind.so.8", RTLD_NOW),
         *symbol = library == NULL ? NULL : dlsym(library, "unw_backtrace");

    memcpy(&libunwind, &symbol, sizeof libunwind);
    if (argc > 1)
        round_count = (unsigned)atoi(argv[1]);
    if (round_count == 0 || round_count > ROUNDS_MAX)
        return 2;
    thread = calloc(1, sizeof *thread);
    nm_own_stack_find(thread, (uintptr_t)__builtin_frame_address(0));
    printf("| frames | remembered | walked by known rules | by none | libunwind |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++)
        unwind_bench_go(depths[i]);
    free(thread);
    return 0;
}
