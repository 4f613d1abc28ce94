/* SPDX-License-Identifier: Apache-2.0
 *
 * A session with a drain in the test's own process: what test_drain and test_recover set up and take down.
 */
#ifndef TESTS_SUPPORT_DRAIN_BENCH_H
#define TESTS_SUPPORT_DRAIN_BENCH_H

#include "drain/drain.h"
#include "support/hand_ring.h"
#include "support/trace_content.h"

typedef struct drain_bench {
    char folder_path[128], trace_path[160];
    nm_folder folder;
    int fd;
    nm_drain *drain;
    int warning_count;
} drain_bench;

void drain_bench_open(drain_bench *bench);
void drain_bench_open_with(drain_bench *bench, const nm_namer *namer, bool ends_when_said);

/* No block is written for its age: only by a flush, or full. So what a block holds is no matter of how busy the machine is. */
void drain_bench_open_for_flushes(drain_bench *bench);
void drain_bench_close(drain_bench *bench);

/* One pass, or so many passes as fit in that time. */
void drain_bench_pass(drain_bench *bench);
void drain_bench_run_ms(drain_bench *bench, int ms);

/* Passes until the ring's records all stand in the file. */
void drain_bench_run_until_written(drain_bench *bench, const hand_ring *ring);

/* Passes until what is recorded by now has gone into a block; that is not written. */
void drain_bench_catch_up(drain_bench *bench);

/* The same, giving up after `wait_ns_max` (0: a single pass); then the block is written. */
void drain_bench_flush(drain_bench *bench, int64_t wait_ns_max);

/* Ends the recording and reads what has come out. */
void drain_bench_finish(drain_bench *bench, trace_content *content);

void sleep_ms(int ms);

#endif
