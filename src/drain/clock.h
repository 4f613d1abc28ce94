/* SPDX-License-Identifier: Apache-2.0
 *
 * Ticks and nanoseconds. The program stamps events with raw ticks; the drain alone converts them, by a calibration that
 * it keeps in the session file, so that a recovery converts what is left in the rings by the same line.
 */
#ifndef NM_DRAIN_CLOCK_H
#define NM_DRAIN_CLOCK_H

#include "trace/ring.h"

typedef struct nm_clock {
    uint64_t start_ticks;
    int64_t start_ns;       /* CLOCK_MONOTONIC */
    int64_t refine_at_ns;   /* CLOCK_MONOTONIC */
    int64_t refine_step_ns; /* doubles up to some seconds */
} nm_clock;

/* The counter where the system itself trusts it as its clock, else the system's clock. */
nm_clock_kind nm_clock_choose(void);

/* The stamp of now, in ticks of `kind`. */
uint64_t nm_clock_ticks(uint32_t kind);

/* CLOCK_MONOTONIC, nanoseconds. */
int64_t nm_clock_monotonic_ns(void);

/* Sleeps so long, or less if a signal comes. */
void nm_clock_pause(int64_t ns);

/* Begins the recording's time: measures for about 10 ms and fills the session's calibration and wall clock. */
void nm_clock_start(nm_clock *clock, nm_ring_session *session);

/* Measures anew when it is time to; cheap otherwise. The old and the new line meet, so that time never runs back. */
void nm_clock_refine(nm_clock *clock, nm_ring_session *session);

/* Nanoseconds since the recording began. */
int64_t nm_clock_to_ns(const nm_ring_session *session, uint64_t ticks);

/* Of a span of time. */
uint64_t nm_clock_span_ns(const nm_ring_session *session, uint64_t ticks);
uint64_t nm_clock_span_ticks(const nm_ring_session *session, uint64_t ns);

#endif
