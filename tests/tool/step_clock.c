/* SPDX-License-Identifier: Apache-2.0
 *
 * A host clock that steps: preloaded, it moves real time an hour on and an hour back with each look at it. Clocks that only
 * run on are left alone.
 */
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define STEP_SECONDS 3600

static time_t step(void)
{
    static _Atomic unsigned look_count;

    return atomic_fetch_add(&look_count, 1) % 2 == 0 ? STEP_SECONDS : -STEP_SECONDS;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);

    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += step();
    return result;
}

__attribute__((visibility("default"))) int gettimeofday(struct timeval *now, void *zone)
{
    struct timespec real;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &real);
    *now = (struct timeval){.tv_sec = real.tv_sec, .tv_usec = real.tv_nsec / 1000};
    return 0;
}

__attribute__((visibility("default"))) time_t time(time_t *out)
{
    struct timespec real;

    clock_gettime(CLOCK_REALTIME, &real);
    if (out != NULL)
        *out = real.tv_sec;
    return real.tv_sec;
}
