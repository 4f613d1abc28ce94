/* SPDX-License-Identifier: Apache-2.0
 *
 * Host memory seen from outside: what is told of a process equals what the kernel says of it, once, again when it has moved
 * by a mebibyte, and when somebody wants it.
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "drain/sampler.h"
#include "support/hand_ring.h"
#include "support/suites.h"

#define MIB         (UINT64_C(1) << 20)
#define EVENTS_MAX  64
#define ONE_HOUR_NS INT64_C(3600000000000)

static nm_event events[EVENTS_MAX];
static size_t event_count;
static nm_tracked tracked;
static nm_processes processes;
static nm_ring_process shared;

static const char *cgroup_used = "";

/* The cgroup of every process: what it uses is cgroup_used, its limit 1 GiB; empty: there is none. */
static int open_cgroup(const char *path, int flags, mode_t mode)
{
    const char *name = strrchr(path, '/'), *text = NULL;
    int ends[2];

    if (strcmp(name, "/cgroup") == 0)
        text = "0::/job\n";
    else if (strncmp(path, "/sys/fs/cgroup/job/", 19) == 0)
        text = strcmp(name, "/memory.max") == 0       ? "1073741824\n"
               : strcmp(name, "/memory.events") == 0  ? "oom_kill 0\n"
               : strcmp(name, "/memory.current") == 0 ? cgroup_used
                                                      : NULL;
    else if (strncmp(path, "/sys/fs/cgroup", 14) != 0)
        return open(path, flags, mode);
    if (text == NULL || cgroup_used[0] == 0 || pipe(ends) != 0)
        return -1;
    ck_assert_int_eq(write(ends[1], text, strlen(text)), (ssize_t)strlen(text));
    close(ends[1]);
    return ends[0];
}

static nm_status take(void *context, const nm_event *event, nm_error *err)
{
    (void)context;
    (void)err;
    ck_assert_uint_lt(event_count, EVENTS_MAX);
    events[event_count++] = *event;
    return NM_OK;
}

static void pass(nm_sampler *sampler)
{
    event_count = 0;
    ck_assert_int_eq(nm_sampler_pass(sampler, &processes, take, NULL, NULL), NM_OK);
}

static const nm_event *sample_of(uint64_t kind)
{
    for (size_t i = 0; i < event_count; i++)
        if (events[i].detail == kind)
            return &events[i];
    return NULL;
}

/* In kB, as /proc/self/status has it. */
static uint64_t kernel_says(const char *name)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    uint64_t kib = 0;

    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            kib = strtoull(line + strlen(name), NULL, 10);
    fclose(file);
    return kib << 10;
}

static void track_self(void)
{
    nm_io.open = open_cgroup;
    shared = (nm_ring_process){0};
    tracked = (nm_tracked){
        .shared = &shared, .number = 7, .pid = getpid(), .start_time = hand_start_time(getpid()), .was_alive = true};
    processes = (nm_processes){.items = &tracked, .count = 1};
}

static void expect_near(uint64_t value, uint64_t expected)
{
    ck_assert_uint_lt(value > expected ? value - expected : expected - value, 2 * MIB);
}

START_TEST(what_the_kernel_says_is_told)
{
    nm_sampler sampler;

    track_self();
    nm_sampler_init(&sampler, ONE_HOUR_NS);
    pass(&sampler);
    ck_assert_uint_eq(event_count, 6);
    expect_near(sample_of(NM_MEMORY_HOST_RESIDENT)->size_bytes, kernel_says("VmRSS:"));
    expect_near(sample_of(NM_MEMORY_HOST_ANONYMOUS)->size_bytes, kernel_says("RssAnon:"));
    expect_near(sample_of(NM_MEMORY_HOST_SHARED)->size_bytes, kernel_says("RssShmem:"));
    expect_near(sample_of(NM_MEMORY_HOST_STACK)->size_bytes, kernel_says("VmStk:"));
    expect_near(sample_of(NM_MEMORY_HOST_PEAK)->size_bytes, kernel_says("VmHWM:"));
    for (size_t i = 0; i < event_count; i++) {
        ck_assert_uint_eq(events[i].kind, NM_EVENT_MEMORY_SAMPLE);
        ck_assert_int_eq(events[i].number, 7);
        ck_assert_uint_eq(events[i].total_bytes, sampler.machine_bytes);
    }
    ck_assert_uint_gt(sample_of(NM_MEMORY_HOST_MACHINE)->size_bytes, sample_of(NM_MEMORY_HOST_ANONYMOUS)->size_bytes);
    ck_assert_uint_lt(sample_of(NM_MEMORY_HOST_MACHINE)->size_bytes, sampler.machine_bytes);
    ck_assert_uint_gt(sampler.machine_bytes, 64 * MIB);
    nm_sampler_fini(&sampler);
}
END_TEST

START_TEST(only_what_has_moved_by_a_mebibyte_is_told_again)
{
    nm_sampler sampler;
    uint64_t before, risen;
    char *memory;

    track_self();
    nm_sampler_init(&sampler, 1); /* due at every pass */
    pass(&sampler);
    before = sample_of(NM_MEMORY_HOST_ANONYMOUS)->size_bytes;
    pass(&sampler);
    ck_assert_ptr_eq(sample_of(NM_MEMORY_HOST_ANONYMOUS), NULL);
    memory = mmap(NULL, 32 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(memory, 1, 32 * MIB);
    pass(&sampler);
    risen = sample_of(NM_MEMORY_HOST_ANONYMOUS)->size_bytes;
    expect_near(risen, kernel_says("RssAnon:"));
    ck_assert_uint_ge(risen, before + 31 * MIB);
    ck_assert_ptr_eq(sample_of(NM_MEMORY_HOST_STACK), NULL);
    munmap(memory, 32 * MIB);
    pass(&sampler);
    expect_near(sample_of(NM_MEMORY_HOST_ANONYMOUS)->size_bytes, kernel_says("RssAnon:"));
    ck_assert_uint_le(sample_of(NM_MEMORY_HOST_ANONYMOUS)->size_bytes, risen - 31 * MIB);
    ck_assert_ptr_eq(sample_of(NM_MEMORY_HOST_PEAK), NULL); /* told while it rose */
    nm_sampler_fini(&sampler);
}
END_TEST

START_TEST(between_its_times_it_looks_only_when_wanted_or_at_somebody_new)
{
    nm_sampler sampler;
    char *memory;

    track_self();
    nm_sampler_init(&sampler, ONE_HOUR_NS);
    pass(&sampler);
    ck_assert_uint_eq(event_count, 6);
    memory = mmap(NULL, 32 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(memory, 1, 32 * MIB);
    pass(&sampler);
    ck_assert_uint_eq(event_count, 0);
    sampler.is_wanted = true; /* an allocation has failed */
    pass(&sampler);
    ck_assert_ptr_ne(sample_of(NM_MEMORY_HOST_ANONYMOUS), NULL);
    ck_assert(!sampler.is_wanted);
    munmap(memory, 32 * MIB);

    tracked.number = 8; /* another process, which has recorded nothing yet */
    pass(&sampler);
    ck_assert_uint_eq(event_count, 0);
    atomic_store(&shared.is_device_user, 1);
    pass(&sampler);
    ck_assert_uint_eq(event_count, 6);
    nm_sampler_fini(&sampler);
}
END_TEST

/* What is around a process is moved by others, too: a 256th of the limit, 4 MiB, is what counts. */
START_TEST(what_the_cgroup_has_is_told_with_its_limit)
{
    nm_sampler sampler;

    track_self();
    nm_sampler_init(&sampler, 1);
    cgroup_used = "104857600\n";
    pass(&sampler);
    ck_assert_ptr_ne(sample_of(NM_MEMORY_HOST_CGROUP), NULL);
    ck_assert_uint_eq(sample_of(NM_MEMORY_HOST_CGROUP)->size_bytes, 104857600);
    ck_assert_uint_eq(sample_of(NM_MEMORY_HOST_CGROUP)->total_bytes, 1073741824);
    ck_assert_int_eq(sample_of(NM_MEMORY_HOST_CGROUP)->number, 7);
    cgroup_used = "109051903\n";
    pass(&sampler);
    ck_assert_ptr_eq(sample_of(NM_MEMORY_HOST_CGROUP), NULL);
    cgroup_used = "109051904\n";
    pass(&sampler);
    ck_assert_ptr_ne(sample_of(NM_MEMORY_HOST_CGROUP), NULL);
    tracked.number = 8; /* another process of the same */
    atomic_store(&shared.is_device_user, 1);
    pass(&sampler);
    ck_assert_int_eq(sample_of(NM_MEMORY_HOST_CGROUP)->number, 8);
    cgroup_used = "";
    pass(&sampler);
    ck_assert_ptr_eq(sample_of(NM_MEMORY_HOST_CGROUP), NULL);
    nm_sampler_fini(&sampler);
}
END_TEST

START_TEST(the_dead_and_those_whose_pid_is_anothers_now_are_left_alone)
{
    nm_sampler sampler;

    track_self();
    nm_sampler_init(&sampler, 1);
    tracked.is_dead = true;
    pass(&sampler);
    ck_assert_uint_eq(event_count, 0);
    tracked.is_dead = false;
    tracked.start_time++;
    pass(&sampler);
    ck_assert_uint_eq(event_count, 0);
    tracked.start_time--;
    tracked.pid = 999999999;
    pass(&sampler);
    ck_assert_uint_eq(event_count, 0);
    nm_sampler_fini(&sampler);

    nm_sampler_init(&sampler, 0);
    track_self();
    sampler.is_wanted = true;
    pass(&sampler);
    ck_assert_uint_eq(event_count, 0); /* switched off */
    nm_sampler_fini(&sampler);
}
END_TEST

TEST_SUITE(test_sampler)
{
    Suite *suite = suite_create("sampler");
    TCase *tests = tcase_create("sampler");

    tcase_add_test(tests, what_the_kernel_says_is_told);
    tcase_add_test(tests, only_what_has_moved_by_a_mebibyte_is_told_again);
    tcase_add_test(tests, between_its_times_it_looks_only_when_wanted_or_at_somebody_new);
    tcase_add_test(tests, what_the_cgroup_has_is_told_with_its_limit);
    tcase_add_test(tests, the_dead_and_those_whose_pid_is_anothers_now_are_left_alone);
    suite_add_tcase(suite, tests);
    return suite;
}
