/* SPDX-License-Identifier: Apache-2.0 */
#include "support/drain_bench.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "drain/clock.h"

#define BLOCK_AGE_NS 50000000

static void count_warning(void *context, const char *line)
{
    drain_bench *bench = context;

    (void)line;
    bench->warning_count++;
}

static void open_bench(drain_bench *bench, const nm_namer *namer, bool ends_when_said, int64_t block_age_ns)
{
    static unsigned number;
    nm_folder_options options = {.stack_mode = NM_STACKS_NATIVE, .stack_depth = 64, .ring_bytes = NM_RING_BYTES_MIN};
    nm_error err;

    *bench = (drain_bench){0};
    snprintf(bench->folder_path, sizeof bench->folder_path, "/tmp/npumem-test-%d-%u", (int)getpid(), ++number);
    snprintf(bench->trace_path, sizeof bench->trace_path, "%s.zst", bench->folder_path);
    bench->fd = open(bench->trace_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ck_assert_int_ge(bench->fd, 0);
    ck_assert_int_eq(nm_folder_create(bench->folder_path, &options, &bench->folder, &err), NM_OK);
    nm_drain_options drain_options = {.folder = &bench->folder,
                                      .fd = bench->fd,
                                      .namer = namer,
                                      .warn = count_warning,
                                      .warn_context = bench,
                                      .is_recoverable = true,
                                      .ends_when_said = ends_when_said,
                                      .naming_ns_max = 1000000000,
                                      .block_age_ns = block_age_ns};
    ck_assert_int_eq(nm_drain_new(&drain_options, &bench->drain, &err), NM_OK);
}

void drain_bench_open_with(drain_bench *bench, const nm_namer *namer, bool ends_when_said)
{
    open_bench(bench, namer, ends_when_said, BLOCK_AGE_NS);
}

void drain_bench_open(drain_bench *bench)
{
    open_bench(bench, NULL, false, BLOCK_AGE_NS);
}

void drain_bench_open_for_flushes(drain_bench *bench)
{
    open_bench(bench, NULL, false, INT64_MAX);
}

void drain_bench_close(drain_bench *bench)
{
    nm_drain_free(bench->drain);
    nm_folder_close(&bench->folder);
    nm_folder_remove(bench->folder_path);
    close(bench->fd);
    unlink(bench->trace_path);
}

void drain_bench_pass(drain_bench *bench)
{
    int64_t pause_ns;
    nm_error err = {0};

    ck_assert_msg(nm_drain_pass(bench->drain, &pause_ns, &err) == NM_OK, "%s", err.text);
}

#define PASSES_MIN 8 /* however long one takes on a busy machine */

void drain_bench_run_ms(drain_bench *bench, int ms)
{
    int64_t until_ns = nm_clock_monotonic_ns() + (int64_t)ms * 1000000;

    for (int i = 0; i < PASSES_MIN || nm_clock_monotonic_ns() < until_ns; i++) {
        drain_bench_pass(bench);
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
    }
}

void drain_bench_run_until_written(drain_bench *bench, const hand_ring *ring)
{
    for (int i = 0; i < 1000 && atomic_load(&ring->ring->tail) < atomic_load(&ring->ring->head); i++)
        drain_bench_run_ms(bench, 20);
    ck_assert_uint_eq(atomic_load(&ring->ring->tail), atomic_load(&ring->ring->head));
}

#define CATCH_UP_NS_MAX 60000000000

void drain_bench_catch_up(drain_bench *bench)
{
    nm_error err = {0};

    ck_assert_msg(nm_drain_catch_up(bench->drain, CATCH_UP_NS_MAX, &err) == NM_OK, "%s", err.text);
}

void drain_bench_flush(drain_bench *bench, int64_t wait_ns_max)
{
    nm_error err = {0};

    ck_assert_msg(nm_drain_flush(bench->drain, wait_ns_max, &err) == NM_OK, "%s", err.text);
}

void drain_bench_finish(drain_bench *bench, trace_content *content)
{
    nm_error err = {0};

    ck_assert_msg(nm_drain_finish(bench->drain, &err) == NM_OK, "%s", err.text);
    trace_content_read_file(content, bench->trace_path);
}

void sleep_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}
