/* SPDX-License-Identifier: Apache-2.0
 *
 * Both clocks are read as close together as can be, at the start and again at growing distances, and a line is drawn
 * from the start. A new line begins where the old one is and is bent towards the true one: time never jumps. Both stand
 * in the session's file with a word that says which one holds, so that a reader never meets half of one.
 */
#include "drain/clock.h"

#include <assert.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"

#define CALIBRATION_NS     10000000
#define FIRST_REFINE_NS    100000000
#define REFINE_STEP_NS_MAX 10000000000

static int64_t read_clock_ns(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t nm_clock_monotonic_ns(void)
{
    return read_clock_ns(CLOCK_MONOTONIC);
}

void nm_clock_pause(int64_t ns)
{
    nanosleep(&(struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000}, NULL);
}

uint64_t nm_clock_ticks(uint32_t kind)
{
    if (kind == NM_CLOCK_COUNTER) {
#if defined(__x86_64__)
        unsigned processor;
        return __builtin_ia32_rdtscp(&processor);
#elif defined(__aarch64__)
        uint64_t ticks;
        __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks)::"memory");
        return ticks;
#endif
    }
    return (uint64_t)nm_clock_monotonic_ns();
}

#if defined(__x86_64__)
static bool file_has_word(const char *path, const char *word)
{
    nm_buffer text = {0};
    bool is_there = false;
    int fd;

    if (nm_io_open(path, O_RDONLY, 0, &fd, NULL) != NM_OK)
        return false;
    if (nm_io_read_all(fd, 64u << 20, &text, NULL) == NM_OK && nm_buffer_append(&text, "", 1, NULL) == NM_OK)
        is_there = strstr((const char *)text.data, word) != NULL;
    nm_io_close(fd);
    nm_buffer_free(&text);
    return is_there;
}
#endif

nm_clock_kind nm_clock_choose(void)
{
#if defined(__x86_64__)
    static const char source[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

    if (!file_has_word("/proc/cpuinfo", " constant_tsc") || !file_has_word("/proc/cpuinfo", " nonstop_tsc"))
        return NM_CLOCK_MONOTONIC;
    if (file_has_word(source, "tsc\n") || file_has_word(source, "kvm-clock") ||
        file_has_word(source, "hyperv_clocksource_tsc_page"))
        return NM_CLOCK_COUNTER;
    return NM_CLOCK_MONOTONIC;
#elif defined(__aarch64__)
    return NM_CLOCK_COUNTER; /* the architecture promises one rate, and never to stop */
#else
    return NM_CLOCK_MONOTONIC;
#endif
}

/* Reads both clocks as close together as it can: the tightest of some tries. */
static void read_pair(uint32_t kind, uint64_t *ticks, int64_t *ns)
{
    uint64_t tightest = UINT64_MAX;

    for (int i = 0; i < 8; i++) {
        uint64_t before = nm_clock_ticks(kind);
        int64_t middle_ns = nm_clock_monotonic_ns();
        uint64_t after = nm_clock_ticks(kind);

        if (after - before < tightest) {
            tightest = after - before;
            *ticks = before + (after - before) / 2;
            *ns = middle_ns;
        }
    }
    if (kind == NM_CLOCK_MONOTONIC)
        *ns = (int64_t)*ticks;
}

static uint64_t slope_q32(int64_t ns, uint64_t ticks)
{
    return ticks == 0 || ns <= 0 ? UINT64_C(1) << 32 : (uint64_t)(((unsigned __int128)ns << 32) / ticks);
}

void nm_clock_start(nm_clock *clock, nm_ring_session *session)
{
    uint64_t ticks = 0;
    int64_t ns = 0;

    session->start_realtime_ns = read_clock_ns(CLOCK_REALTIME);
    read_pair(session->clock_kind, &clock->start_ticks, &clock->start_ns);
    nanosleep(&(struct timespec){.tv_nsec = CALIBRATION_NS}, NULL);
    read_pair(session->clock_kind, &ticks, &ns);

    session->calibration[0] = (nm_calibration){
        .anchor_ticks = clock->start_ticks,
        .ns_per_tick_q32 = slope_q32(ns - clock->start_ns, ticks - clock->start_ticks),
    };
    session->calibration[1] = session->calibration[0];
    atomic_store_explicit(&session->which, 0, memory_order_release); /* pairs with the acquire in to_ns */
    clock->refine_step_ns = FIRST_REFINE_NS;
    clock->refine_at_ns = ns + FIRST_REFINE_NS;
}

void nm_clock_refine(nm_clock *clock, nm_ring_session *session)
{
    uint64_t ticks = 0;
    int64_t ns = 0;

    if (session->clock_kind == NM_CLOCK_MONOTONIC || nm_clock_monotonic_ns() < clock->refine_at_ns)
        return;
    assert(clock->refine_step_ns > 0); /* it was started */
    read_pair(session->clock_kind, &ticks, &ns);
    if (clock->refine_step_ns < REFINE_STEP_NS_MAX)
        clock->refine_step_ns *= 2;
    clock->refine_at_ns = ns + clock->refine_step_ns;

    /* The new line begins where the old one is now, and is bent so that it meets the true one at the next measurement. */
    int64_t shown_ns = nm_clock_to_ns(session, ticks);
    int64_t behind_ns = (ns - clock->start_ns) - shown_ns;
    uint64_t true_slope = slope_q32(ns - clock->start_ns, ticks - clock->start_ticks);
    __int128 bend = (__int128)true_slope * behind_ns / clock->refine_step_ns;
    uint32_t other = 1 - (atomic_load_explicit(&session->which, memory_order_relaxed) & 1);

    if (bend > (__int128)(true_slope / 100) || -bend > (__int128)(true_slope / 100))
        bend = bend > 0 ? (__int128)(true_slope / 100) : -(__int128)(true_slope / 100);
    session->calibration[other] = (nm_calibration){
        .anchor_ticks = ticks, .anchor_ns = shown_ns, .ns_per_tick_q32 = (uint64_t)((__int128)true_slope + bend)};
    atomic_store_explicit(&session->which, other, memory_order_release); /* pairs with the acquire in to_ns */
}

static int64_t convert(const nm_calibration *line, uint64_t ticks)
{
    __int128 span = (__int128)(int64_t)(ticks - line->anchor_ticks) * line->ns_per_tick_q32;

    return line->anchor_ns + (int64_t)(span >> 32);
}

int64_t nm_clock_to_ns(const nm_ring_session *session, uint64_t ticks)
{
    /* acquire: pairs with the release of whoever measured; the line must be whole before it is used */
    uint32_t which = atomic_load_explicit(&session->which, memory_order_acquire) & 1;
    const nm_calibration *line = &session->calibration[which], *old = &session->calibration[1 - which];

    /* What is older than the anchor goes by the line that held then: both meet at the anchor. */
    if ((int64_t)(ticks - line->anchor_ticks) < 0 && (int64_t)(line->anchor_ticks - old->anchor_ticks) > 0)
        line = old;
    return convert(line, ticks);
}

uint64_t nm_clock_span_ns(const nm_ring_session *session, uint64_t ticks)
{
    /* acquire: as in nm_clock_to_ns */
    uint32_t which = atomic_load_explicit(&session->which, memory_order_acquire) & 1;

    return (uint64_t)(((unsigned __int128)ticks * session->calibration[which].ns_per_tick_q32) >> 32);
}

uint64_t nm_clock_span_ticks(const nm_ring_session *session, uint64_t ns)
{
    /* acquire: as in nm_clock_to_ns */
    uint32_t which = atomic_load_explicit(&session->which, memory_order_acquire) & 1;
    uint64_t slope = session->calibration[which].ns_per_tick_q32;

    return slope == 0 ? ns : (uint64_t)(((unsigned __int128)ns << 32) / slope);
}
