/* SPDX-License-Identifier: Apache-2.0
 *
 * Each shape calls on into another at random, until the depth is used up. Empty assembly keeps a call from being the last thing a
 * function does, and values from being left out.
 */
#include "shapes.h"

#include <alloca.h>
#include <math.h>
#include <pthread.h>
#include <search.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include "oracle.h"

/* What unwinding passes over frees nothing, and is no leak of the recorder's. Asked by the leak sanitizer. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return 1;
}

#pragma GCC diagnostic ignored "-Wvla"

#define SHAPE       static __attribute__((noinline, noclone)) void
#define HERE(value) __asm__ volatile("" : : "r"(value) : "memory")
#define STACK_BYTES 262144

static __thread unsigned random_state;
static __thread bool has_others;
/* Volatile: libc declares raise and sigaltstack as calls that lead back into no function here (leaf), so that compilers leave out
 * or put off what is stored for a handler. */
static __thread volatile bool is_elsewhere;
static __thread volatile unsigned handler_depth;
static __thread unsigned compare_depth;

static unsigned next_random(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}

void shapes_begin(unsigned seed, bool has_other_stacks)
{
    random_state = seed;
    has_others = has_other_stacks;
}

/* ---- Frames of every kind ------------------------------------------------------------------------------------------ */

static __attribute__((noinline, noclone)) long plain(unsigned depth, long a, long b, long c, long d, long e, long f)
{
    long values[7];

    HERE(values);
    values[depth % 7] = a;
    shapes_go(depth - 1);
    HERE(values);
    return values[1] + a + b + c + d + e + f;
}

SHAPE with_alloca(unsigned depth)
{
    char *room = alloca(16 + next_random() % 500);

    HERE(room);
    shapes_go(depth - 1);
    HERE(room);
}

SHAPE with_array(unsigned depth, unsigned count)
{
    double values[count + 1];

    HERE(values);
    shapes_go(depth - 1);
    HERE(values);
}

SHAPE aligned(unsigned depth)
{
    _Alignas(64) char room[256];

    HERE(room);
    shapes_go(depth - 1);
    HERE(room);
}

SHAPE aligned_array(unsigned depth, unsigned count)
{
    _Alignas(64) char room[256];
    char values[count + 1];

    HERE(room);
    HERE(values);
    shapes_go(depth - 1);
    HERE(room);
}

SHAPE large(unsigned depth)
{
    char room[70000];

    HERE(room);
    shapes_go(depth - 1);
    HERE(room);
}

/* The frame register is somebody's data. */
SHAPE clobbered(unsigned depth)
{
#if defined(__x86_64__)
    __asm__ volatile("movq %0, %%rbp" : : "r"(UINT64_C(0x1234567890abcdef)) : "rbp", "memory");
    shapes_go(depth - 1);
    __asm__ volatile("" : : : "rbp", "rbx", "r12", "r13", "r14", "r15", "memory");
#else
    shapes_go(depth - 1);
    __asm__ volatile("" : : : "x19", "x20", "x21", "x28", "d8", "d15", "memory");
#endif
}

#if defined(__x86_64__)
/* It looks like a frame pointer, and is none. */
SHAPE misleading(unsigned depth)
{
    uintptr_t lie[4] = {(uintptr_t)(lie + 2), (uintptr_t)shapes_go, (uintptr_t)(lie + 4), (uintptr_t)shapes_go};

    __asm__ volatile("movq %0, %%rbp" : : "r"(lie) : "rbp", "memory");
    shapes_go(depth - 1);
    __asm__ volatile("" : : "r"(lie) : "rbp", "memory");
}
#else
SHAPE misleading(unsigned depth)
{
    clobbered(depth);
    __asm__ volatile("" : : : "memory");
}
#endif

/* ---- Callers that are none of ours ---------------------------------------------------------------------------------- */

static int go_once(const void *a, const void *b)
{
    unsigned depth = compare_depth;

    compare_depth = 0;
    if (depth > 0)
        shapes_go(depth - 1);
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

SHAPE sorting(unsigned depth)
{
    int values[5] = {5, 4, 3, 2, 1};

    compare_depth = depth;
    qsort(values, 5, sizeof *values, go_once);
    compare_depth = 0;
    HERE(values);
}

SHAPE through_pointer(unsigned depth)
{
    void (*volatile call)(unsigned) = shapes_go;

    call(depth - 1);
    __asm__ volatile("" : : : "memory");
}

static void handle(int number)
{
    unsigned depth = handler_depth;

    HERE(number);
    shapes_go(depth > 0 ? depth - 1 : 0);
    __asm__ volatile("" : : : "memory");
}

/* What a signal does is the same for all threads: a number has its own flags. */
static void raise_signal(unsigned depth, int number, int flags)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_NODEFER | flags};

    sigaction(number, &action, NULL);
    handler_depth = depth;
    raise(number);
    __asm__ volatile("" : : : "memory");
}

SHAPE signalled(unsigned depth)
{
    raise_signal(depth, SIGUSR1, 0);
    __asm__ volatile("" : : : "memory");
}

/* ---- Other stacks; one at a time -------------------------------------------------------------------------------------- */

SHAPE signalled_elsewhere(unsigned depth)
{
    static __thread char *room;
    stack_t own, none = {.ss_flags = SS_DISABLE};

    if (room == NULL)
        room = malloc(STACK_BYTES);
    own = (stack_t){.ss_sp = room, .ss_size = STACK_BYTES};
    is_elsewhere = true;
    sigaltstack(&own, NULL);
    raise_signal(depth, SIGUSR2, SA_ONSTACK);
    sigaltstack(&none, NULL);
    is_elsewhere = false;
}

static void run_coroutine(unsigned depth)
{
    shapes_go(depth - 1);
    __asm__ volatile("" : : : "memory");
}

SHAPE coroutine(unsigned depth)
{
    static __thread char *room;
    static __thread ucontext_t home, away;

    if (room == NULL)
        room = malloc(STACK_BYTES);
    is_elsewhere = true;
    getcontext(&away);
    away.uc_stack.ss_sp = room;
    away.uc_stack.ss_size = STACK_BYTES;
    away.uc_link = &home;
    makecontext(&away, (void (*)(void))(uintptr_t)run_coroutine, 1, depth);
    swapcontext(&home, &away);
    is_elsewhere = false;
}

/* ---- At random ------------------------------------------------------------------------------------------------------ */

static void go_elsewhere(unsigned depth)
{
    if (!has_others || is_elsewhere)
        plain(depth, 1, 2, 3, 4, 5, 6);
    else if (next_random() % 2)
        signalled_elsewhere(depth);
    else
        coroutine(depth);
}

__attribute__((noinline, noclone)) void shapes_go(unsigned depth)
{
    static void (*const shapes[])(unsigned) = {with_alloca, aligned,   clobbered,       misleading,
                                               sorting,     signalled, through_pointer, go_elsewhere};
    unsigned which = next_random() % 16;

    if (depth == 0)
        oracle_look();
    else if (which < 8)
        shapes[which](depth);
    else if (which == 8)
        with_array(depth, next_random() % 100);
    else if (which == 9)
        aligned_array(depth, next_random() % 100);
    else if (which == 10 && !is_elsewhere && next_random() % 8 == 0)
        large(depth);
    else
        plain(depth, 1, 2, 3, 4, 5, 6);
    __asm__ volatile("" : : : "memory");
}

/* ---- One stack in the traces of another ------------------------------------------------------------------------------- */

SHAPE stale_inner(size_t bytes)
{
    char *room = alloca(bytes);

    HERE(room);
    oracle_look();
    HERE(room);
}

/* Of some size, the second call's look has its frame where the first one's was, and the first one's return address, from here to
 * another line, still stands where it was: in room that nobody has written to. */
SHAPE stale_outer(bool is_first, size_t bytes)
{
    char *room;

    if (is_first) {
        stale_inner(bytes);
        HERE(bytes);
        return;
    }
    room = alloca(256);
    HERE(room);
    stale_inner(16);
    HERE(room);
}

/* Each in a part of the stack of its own, so that the first one is remembered when the second one comes. */
SHAPE stale_pair(size_t bytes)
{
    char *apart = alloca(bytes * 64);
    volatile int count = 2; /* one call in a loop */

    HERE(apart);
    for (int i = 0; i < count; i++)
        stale_outer(i == 0, bytes);
    HERE(apart);
}

__attribute__((noinline, noclone)) void shapes_go_stale(void)
{
    for (size_t bytes = 16; bytes < 512; bytes += 16)
        stale_pair(bytes);
    __asm__ volatile("" : : : "memory");
}

/* ---- While the stack is unwound --------------------------------------------------------------------------------------- */

static void look_on_the_way(unsigned *depth)
{
    shapes_go(*depth % 7);
    __asm__ volatile("" : : : "memory");
}

static __attribute__((noinline, noclone, noreturn)) void end_below(unsigned depth)
{
    __attribute__((cleanup(look_on_the_way))) unsigned mine = depth;

    HERE(&mine);
    if (depth > 0)
        end_below(depth - 1);
    pthread_exit(NULL);
}

void shapes_unwind(unsigned depth)
{
    end_below(depth);
}

/* ---- What a signal interrupts ------------------------------------------------------------------------------------------- */

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static __attribute__((noinline, noclone)) long work_here(void)
{
    struct timespec now;
    char text[100], *words[20];
    long sum;

    clock_gettime(CLOCK_MONOTONIC, &now);
    for (int i = 0; i < 20; i++) {
        words[i] = malloc(16 + next_random() % 400);
        snprintf(words[i], 16, "%u", next_random());
    }
    qsort(words, 20, sizeof *words, compare_words);
    snprintf(text, sizeof text, "%s %f", words[3], sin((double)now.tv_nsec));
    for (int i = 0; i < 20; i++)
        free(words[i]);
    sum = (long)strlen(text);
    return sum + now.tv_sec;
}

__attribute__((noinline, noclone)) long shapes_work(int depth)
{
    double values[depth + 1];
    long sum;

    HERE(values);
    sum = depth <= 0 ? work_here() : shapes_work(depth - 1);
    HERE(values);
    return sum + depth;
}
