/* SPDX-License-Identifier: Apache-2.0
 *
 * What depends on the processor, each with its twin for x86-64 and aarch64: the ordered clock, operations that are atomic
 * against the thread's own signal handlers, and system calls without libc. System calls are made by hand because libc's
 * wrappers set errno and are cancellation points, and a hook may touch neither.
 */
#ifndef NM_RECORD_MACHINE_H
#define NM_RECORD_MACHINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define nm_likely(condition)   __builtin_expect(!!(condition), 1)
#define nm_unlikely(condition) __builtin_expect(!!(condition), 0)

/* A read of the processor's counter that no earlier load passes. */
static inline uint64_t nm_counter_ordered(void)
{
#if defined(__x86_64__)
    unsigned processor;

    return __builtin_ia32_rdtscp(&processor);
#elif defined(__aarch64__)
    uint64_t ticks;

    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
    return ticks;
#else
#error "this processor has no twin here yet"
#endif
}

/* A cheaper read, for durations. */
static inline uint64_t nm_counter(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
}

/* A hint that this cache line will be written soon. Every x86-64 processor takes the instruction, if only for a no-op;
 * the compiler's own builtin would ask for the line to read it. */
static inline void nm_prefetch_to_write(const void *line)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

/* Compare and swap that is atomic against signal handlers of the same thread; other threads only read the word. On
 * x86-64 one instruction without the lock prefix does it, in a third of the time. The thread sanitizer does not see
 * through assembly, so it gets the C11 form. */
static inline bool nm_local_swap(_Atomic uint64_t *word, uint64_t *expected, uint64_t desired)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    bool is_swapped;

    __asm__ volatile("cmpxchgq %3, %1" : "=@ccz"(is_swapped), "+m"(*word), "+a"(*expected) : "r"(desired) : "memory");
    return is_swapped;
#else
    /* relaxed: only this thread's signal handlers compete, and they see its stores in order. */
    return atomic_compare_exchange_strong_explicit(word, expected, desired, memory_order_relaxed, memory_order_relaxed);
#endif
}

/* Adds and returns the value before; atomic as nm_local_swap. */
static inline uint64_t nm_local_add(_Atomic uint64_t *word, uint64_t amount)
{
    /* relaxed: see nm_local_swap. */
    uint64_t before = atomic_load_explicit(word, memory_order_relaxed);

    while (!nm_local_swap(word, &before, before + amount))
        ;
    return before;
}

/* A return address without the signature that pointer authentication may have put into it. */
static inline uintptr_t nm_plain_address(uintptr_t address)
{
#if defined(__aarch64__)
    register uintptr_t link __asm__("x30") = address;

    __asm__("hint #7" : "+r"(link)); /* xpaclri; does nothing where the processor has no such signatures */
    return link;
#else
    return address;
#endif
}

/* A system call; the result is what the kernel returned: -errno on failure. */
static inline long nm_call(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;

    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
#endif
}

#endif
