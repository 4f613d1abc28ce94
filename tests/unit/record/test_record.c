/* SPDX-License-Identifier: Apache-2.0
 *
 * One thread and its ring: what the SDK and the hooks' functions put there, read back by the tests' own reader; joining a
 * session, full rings, drops, the heartbeat, and what must not change around a call.
 */
#include <check.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "npumem.h"
#include "record/record.h"
#include "record/session.h"
#include "ring_reader.h"
#include "support/suites.h"

#define RECORDS_MAX 4096

static session_fixture fixture;
static ring_reader reading;
static reader_record *records; /* what collect() has seen */
static size_t record_count;

static void collect(void *context, const reader_record *record)
{
    (void)context;
    ck_assert_uint_lt(record_count, RECORDS_MAX);
    records[record_count++] = *record;
}

static void setup(void)
{
    records = calloc(RECORDS_MAX, sizeof *records);
    record_count = 0;
    session_open(&fixture);
    reader_open(&reading, &fixture);
}

static void teardown(void)
{
    nm_state_leave();
    reader_close(&reading);
    session_close(&fixture);
    free(records);
}

static void join(void)
{
    ck_assert(nm_session_join(fixture.folder));
}

static const reader_record *find_record(unsigned kind, size_t nth)
{
    for (size_t i = 0; i < record_count; i++) {
        if (records[i].kind == kind && nth-- == 0)
            return &records[i];
    }
    ck_abort_msg("no record of kind %u", kind);
    return NULL;
}

static size_t count_records(unsigned kind)
{
    size_t count = 0;

    for (size_t i = 0; i < record_count; i++)
        count += records[i].kind == kind;
    return count;
}

static npumem_heap define_pool(void)
{
    return npumem_heap_define(&(npumem_heap_options){.struct_bytes = sizeof(npumem_heap_options),
                                                     .name = "my pool",
                                                     .level = NPUMEM_LEVEL_POOL,
                                                     .device = 3,
                                                     .small_bytes = 512,
                                                     .large_bytes = 65536,
                                                     .uses_block_bytes = 1});
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- Joining ------------------------------------------------------------------------------------------------------- */

START_TEST(nothing_is_recorded_without_a_session)
{
    nm_state_leave();
    ck_assert_int_eq(npumem_is_recording(), 0);
    ck_assert_uint_eq(define_pool(), 0);
    npumem_alloc(1, &fixture, 100, NULL);
    npumem_mark("nobody listens");
    ck_assert_uint_eq(npumem_range_begin("range"), 0);
    ck_assert_uint_eq(npumem_category_begin("weight"), 0);
    ck_assert_uint_eq(npumem_module_begin("model"), 0);
    ck_assert_uint_eq(atomic_load(&fixture.session->ring_count), 0);
}
END_TEST

START_TEST(a_foreign_session_is_not_joined)
{
    nm_ring_session good = *fixture.session;

    fixture.session->magic++;
    ck_assert(!nm_session_join(fixture.folder));
    *fixture.session = good;
    fixture.session->session_bytes++;
    ck_assert(!nm_session_join(fixture.folder));
    *fixture.session = good;
    fixture.session->ring_bytes = 100000;
    ck_assert(!nm_session_join(fixture.folder));
    *fixture.session = good;
    fixture.session->stack_depth = 256;
    ck_assert(!nm_session_join(fixture.folder));
    *fixture.session = good;
    ck_assert(!nm_session_join("/tmp/npumem-no-such-folder"));
    ck_assert_int_eq(npumem_is_recording(), 0);
    ck_assert(nm_session_join(fixture.folder));
}
END_TEST

/* What stands in the folder is believed, so nobody else may have put it there. */
START_TEST(a_folder_that_others_can_reach_is_not_joined)
{
    char outer[] = "/tmp/npumem-outer-XXXXXX", inside[64], link_path[64];

    ck_assert_int_eq(chmod(fixture.folder, 0755), 0);
    ck_assert(!nm_session_join(fixture.folder));
    ck_assert_int_eq(chmod(fixture.folder, 0700), 0);
    ck_assert_ptr_nonnull(mkdtemp(outer));
    snprintf(link_path, sizeof link_path, "%s/link", outer);
    ck_assert_int_eq(symlink(fixture.folder, link_path), 0);
    ck_assert(!nm_session_join(link_path));
    unlink(link_path);
    snprintf(inside, sizeof inside, "%s/inside", outer);
    ck_assert_int_eq(rename(fixture.folder, inside), 0);
    ck_assert_int_eq(chmod(outer, 0777), 0);
    ck_assert(!nm_session_join(inside)); /* it could be another one a moment later */
    if (geteuid() == 0) {
        ck_assert_int_eq(chmod(outer, 0755), 0);
        ck_assert_int_eq(chown(outer, 65534, 0), 0);
        ck_assert(!nm_session_join(inside));
        ck_assert_int_eq(chown(outer, 0, 0), 0);
        ck_assert_int_eq(chown(inside, 65534, 0), 0);
        ck_assert(!nm_session_join(inside));
        ck_assert_int_eq(chown(inside, 0, 0), 0);
    }
    ck_assert_int_eq(chmod(outer, 01777), 0);
    ck_assert(nm_session_join(inside));
    ck_assert_int_eq(rename(inside, fixture.folder), 0);
    ck_assert_int_eq(rmdir(outer), 0);
}
END_TEST

/* Ends with 0 if the call failed from here on, and nothing was joined. */
static void join_without(uint32_t call)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
        _exit(77);
    _exit(nm_session_join(fixture.folder) ? 1 : 0);
}

/* Whether the folder can be believed is not known then: that is a loss, which the drain must hear of. */
START_TEST(a_process_that_cannot_look_at_the_folder_says_so)
{
    static const uint32_t calls[] = {SYS_fstat, SYS_newfstatat, SYS_openat, SYS_lseek, SYS_mmap};

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char path[sizeof fixture.folder + 16], why[8] = "";
        int status = 0;
        pid_t pid = fork();

        if (pid == 0)
            join_without(calls[i]);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
            return;
        ck_assert_int_eq(status, 0);
        snprintf(path, sizeof path, "%s/%c.%d", fixture.folder, NM_RING_REFUSED_PREFIX, (int)pid);
        ck_assert_msg(readlink(path, why, sizeof why - 1) > 0, "call %u: nothing was said", calls[i]);
        ck_assert_int_eq(unlink(path), 0);
    }
}
END_TEST

START_TEST(a_process_leaves_its_row_and_no_ring)
{
    nm_ring_process *process;

    setenv("RANK", "5", 1);
    setenv("LOCAL_RANK", "1", 1);
    unsetenv("WORLD_SIZE");
    join();
    process = session_process(&fixture, 1);
    ck_assert_ptr_nonnull(process);
    ck_assert_uint_eq(process->magic, NM_RING_PROCESS_MAGIC);
    ck_assert_uint_eq(process->number, 1);
    ck_assert_int_eq(process->pid, getpid());
    ck_assert_int_eq(process->parent_pid, getppid());
    ck_assert_int_eq(process->rank, 5);
    ck_assert_int_eq(process->local_rank, 1);
    ck_assert_int_eq(process->world_size, INT64_MIN);
    ck_assert_int_eq(atomic_load(&process->run_mode), INT64_MIN);
    ck_assert_uint_eq(process->is_forked, 0);
    ck_assert_uint_gt(process->start_time, 0);
    ck_assert_ptr_nonnull(memmem(process->command, process->command_bytes, "test_record", 11));
    ck_assert_uint_eq(atomic_load(&process->is_device_user), 0);
    ck_assert_uint_eq(atomic_load(&fixture.session->ring_count), 0);
    nm_session_note_end(NM_PROCESS_EXIT, 7);
    nm_session_note_end(NM_PROCESS_EXIT, 8); /* the first one counts */
    ck_assert_uint_eq(atomic_load(&process->end_kind), NM_PROCESS_EXIT + 1);
    ck_assert_int_eq(atomic_load(&process->end_status), 7);
    munmap(process, sizeof *process);
    unsetenv("RANK");
    unsetenv("LOCAL_RANK");
}
END_TEST

/* ---- Records ------------------------------------------------------------------------------------------------------- */

static void check_allocation(const reader_record *record, uint64_t heap, uint64_t flags)
{
    const nm_ring_alloc *event = (const nm_ring_alloc *)record->words;

    ck_assert_uint_eq(event->address, 0x1000);
    ck_assert_uint_eq(event->requested_bytes, 100);
    ck_assert_uint_eq(event->block_bytes, 512);
    ck_assert_uint_eq(event->stream, 9);
    ck_assert_uint_eq(event->where, nm_ring_where((uint32_t)heap, (uint32_t)flags, 0));
}

START_TEST(memory_events_come_back_as_they_were_said)
{
    const nm_ring_heap *heap_record;
    const nm_ring_free *freed;
    npumem_heap heap;

    join();
    heap = define_pool();
    ck_assert_uint_ne(heap, 0);
    ck_assert_uint_eq(define_pool(), heap);
    npumem_alloc(
        heap, (void *)0x1000, 100,
        &(npumem_alloc_options){
            .struct_bytes = sizeof(npumem_alloc_options), .block_bytes = 512, .stream = 9, .outcome = NPUMEM_MISS});
    npumem_free(heap, (void *)0x1000,
                &(npumem_free_options){
                    .struct_bytes = sizeof(npumem_free_options), .stream = NPUMEM_NO_STREAM, .is_request = 1});
    npumem_free(heap, (void *)0x1000, NULL);
    npumem_alloc_failed(heap, 1 << 20, 207001);
    ck_assert_uint_eq(reader_poll(&reading, collect, NULL), record_count);

    ck_assert_uint_eq(records[0].kind, NM_RING_THREAD);
    ck_assert_uint_eq(records[1].kind, NM_RING_DEVICE);
    ck_assert_uint_eq(((nm_ring_device *)records[1].words)->local_id, 4);
    ck_assert_int_eq(((nm_ring_device *)records[1].words)->ordinal, 3);
    heap_record = (const nm_ring_heap *)find_record(NM_RING_HEAP, 0)->words;
    ck_assert_uint_eq(heap_record->device, 4);
    ck_assert_uint_eq(heap_record->level, NM_LEVEL_POOL);
    ck_assert_uint_eq(heap_record->size_basis, NM_BASIS_BLOCK);
    ck_assert_uint_eq(heap_record->small_bytes, 512);
    ck_assert_uint_eq(heap_record->large_bytes, 65536);
    ck_assert_uint_eq(heap_record->text_bytes, 7);
    ck_assert_int_eq(memcmp(heap_record + 1, "my pool", 7), 0);
    check_allocation(find_record(NM_EVENT_ALLOC, 0), heap_record->local_id, NM_FLAG_STREAM | NM_FLAG_MISS);
    freed = (const nm_ring_free *)find_record(NM_EVENT_FREE_REQUESTED, 0)->words;
    ck_assert_uint_eq(freed->address, 0x1000);
    freed = (const nm_ring_free *)find_record(NM_EVENT_FREE, 0)->words;
    ck_assert_uint_eq(freed->where, nm_ring_where((uint32_t)heap_record->local_id, 0, 0));
    ck_assert_int_eq(((nm_ring_alloc_failed *)find_record(NM_EVENT_ALLOC_FAILED, 0)->words)->error_code, 207001);
    ck_assert_uint_eq(count_records(NM_RING_HEAP), 1);
}
END_TEST

START_TEST(marks_steps_ranges_copies_and_names_come_back)
{
    char text[400];
    const nm_ring_range *begin;
    const nm_ring_text *mark;
    const nm_ring_copy *copy;
    uint64_t range;

    memset(text, 'x', sizeof text);
    text[399] = 0;
    join();
    npumem_mark(text); /* cut: 252 bytes and the mark */
    npumem_mark(NULL);
    npumem_step(-3);
    range = npumem_range_begin("forward");
    npumem_range_end(range);
    npumem_range_end(0);
    npumem_range_end(npumem_category_begin("KV cache"));
    npumem_range_end(npumem_module_begin("model.layers.3"));
    npumem_thread_name("loader");
    npumem_copy((void *)0x2000, (void *)0x3000, 77, NPUMEM_COPY_DEVICE_TO_HOST,
                &(npumem_copy_options){.struct_bytes = sizeof(npumem_copy_options),
                                       .limit_bytes = 80,
                                       .stream = 0,
                                       .cost_ns = 1234,
                                       .is_async = 1});
    reader_poll(&reading, collect, NULL);

    mark = (const nm_ring_text *)find_record(NM_EVENT_MARK, 0)->words;
    ck_assert_uint_eq(mark->text_bytes, NPUMEM_TEXT_BYTES_MAX);
    ck_assert_int_eq(memcmp(mark + 1, text, 252), 0);
    ck_assert_int_eq(memcmp((const char *)(mark + 1) + 252, "...", 3), 0);
    ck_assert_uint_eq(((nm_ring_text *)find_record(NM_EVENT_MARK, 1)->words)->text_bytes, 0);
    ck_assert_int_eq(((nm_ring_number *)find_record(NM_EVENT_STEP, 0)->words)->number, -3);
    begin = (const nm_ring_range *)find_record(NM_EVENT_RANGE_BEGIN, 0)->words;
    ck_assert_uint_eq((uint64_t)begin->number, range);
    ck_assert_uint_eq(begin->detail, NM_RANGE_USER);
    ck_assert_int_eq(memcmp(begin + 1, "forward", 7), 0);
    ck_assert_uint_eq((uint64_t)((nm_ring_number *)find_record(NM_EVENT_RANGE_END, 0)->words)->number, range);
    ck_assert_uint_eq(count_records(NM_EVENT_RANGE_END), 3);
    begin = (const nm_ring_range *)find_record(NM_EVENT_RANGE_BEGIN, 1)->words;
    ck_assert_uint_eq(begin->detail, NM_RANGE_CATEGORY);
    ck_assert_int_eq(memcmp(begin + 1, "KV cache", 8), 0);
    begin = (const nm_ring_range *)find_record(NM_EVENT_RANGE_BEGIN, 2)->words;
    ck_assert_uint_eq(begin->detail, NM_RANGE_MODULE);
    ck_assert_int_eq(memcmp(begin + 1, "model.layers.3", 14), 0);
    ck_assert_int_eq(memcmp(reader_text(find_record(NM_RING_THREAD_NAME, 0), sizeof(nm_ring_text)), "loader", 6), 0);
    copy = (const nm_ring_copy *)find_record(NM_EVENT_COPY, 0)->words;
    ck_assert_uint_eq(copy->size_bytes, 77);
    ck_assert_uint_eq(copy->limit_bytes, 80);
    ck_assert_uint_eq(copy->where, nm_ring_where(0, NM_FLAG_STREAM | NM_FLAG_ASYNC, 0));
    ck_assert_uint_eq(copy->kind, NM_COPY_DEVICE_TO_HOST);
    ck_assert_uint_eq(copy->cost_ticks, 1234); /* the fixture's tick is a nanosecond */
    ck_assert_uint_eq(reading.torn_count, 0);
}
END_TEST

START_TEST(an_older_callers_shorter_options_give_defaults)
{
    npumem_alloc_options options = {
        .struct_bytes = offsetof(npumem_alloc_options, stream), .block_bytes = 64, .stream = 5, .outcome = NPUMEM_HIT};
    npumem_heap heap;

    join();
    heap = npumem_heap_define(NULL);
    npumem_alloc(heap, (void *)0x1000, 50, &options);
    reader_poll(&reading, collect, NULL);
    ck_assert_uint_eq(((nm_ring_alloc *)find_record(NM_EVENT_ALLOC, 0)->words)->block_bytes, 64);
    ck_assert_uint_eq(((nm_ring_alloc *)find_record(NM_EVENT_ALLOC, 0)->words)->where, nm_ring_where(1, 0, 0));
    ck_assert_int_eq(memcmp(reader_text(find_record(NM_RING_HEAP, 0), sizeof(nm_ring_heap)), "heap", 4), 0);
}
END_TEST

START_TEST(stamps_rise_and_positions_have_no_hole)
{
    uint64_t next = 0, ticks = 0, begin_ticks, end_ticks;

    join();
    begin_ticks = nm_record_clock();
    for (int i = 0; i < 300; i++)
        npumem_step(i);
    end_ticks = nm_record_clock();
    reader_poll(&reading, collect, NULL);
    for (size_t i = 0; i < record_count; i++) {
        ck_assert_uint_eq(records[i].position, next);
        next += 1 + (records[i].kind == NM_RING_THREAD && ((nm_ring_thread *)records[i].words)->text_bytes > 24);
        ck_assert_uint_ge(records[i].words[0], ticks);
        ticks = records[i].words[0];
        ck_assert_uint_ge(ticks, begin_ticks);
        ck_assert_uint_le(ticks, end_ticks);
    }
    ck_assert_uint_eq(count_records(NM_EVENT_STEP), 300);
}
END_TEST

START_TEST(a_handle_of_an_earlier_recording_names_nothing)
{
    session_fixture second;
    npumem_heap heap;

    join();
    heap = define_pool();
    session_open(&second);
    nm_state_leave();
    ck_assert(nm_session_join(second.folder));
    npumem_alloc(heap, (void *)0x1000, 1, NULL);
    npumem_free(heap, (void *)0x1000, NULL);
    npumem_step(1);
    ck_assert_uint_ne(define_pool(), heap);
    reader_close(&reading);
    reader_open(&reading, &second);
    reader_poll(&reading, collect, NULL);
    ck_assert_uint_eq(count_records(NM_EVENT_ALLOC) + count_records(NM_EVENT_FREE), 0);
    ck_assert_uint_eq(count_records(NM_EVENT_STEP), 1);
    session_close(&second);
}
END_TEST

START_TEST(heaps_end_at_the_documented_limit)
{
    npumem_heap_options options = {.struct_bytes = sizeof options, .device = NPUMEM_NO_DEVICE};
    char name[16];
    npumem_heap first = 0, one_too_many;

    fixture.session->on_full = NM_ON_FULL_DROP;
    join();
    options.name = name;
    for (int i = 0; i < 65535; i++) {
        npumem_heap heap;

        snprintf(name, sizeof name, "heap %d", i);
        heap = npumem_heap_define(&options);
        ck_assert_uint_ne(heap, 0);
        first = i == 0 ? heap : first;
    }
    options.name = "one more";
    one_too_many = npumem_heap_define(&options);
    npumem_alloc(one_too_many, (void *)0x1000, 1, NULL);
    npumem_free(one_too_many, (void *)0x1000, NULL);
    ck_assert_uint_eq(atomic_load(&session_process(&fixture, 1)->dropped_count), 2);
    options.name = "heap 0";
    ck_assert_uint_eq(npumem_heap_define(&options), first);
}
END_TEST

START_TEST(a_definition_that_found_no_room_comes_before_its_first_event)
{
    npumem_heap heap;

    fixture.session->on_full = NM_ON_FULL_DROP;
    reading.keeps_tail = true;
    join();
    for (int i = 0; i < 1200; i++)
        npumem_step(i); /* the ring has 1,024 slots */
    heap = define_pool();
    ck_assert_uint_ne(heap, 0);
    reading.keeps_tail = false;
    reader_poll(&reading, collect, NULL);
    ck_assert_uint_eq(count_records(NM_RING_HEAP), 0);
    npumem_alloc(heap, (void *)0x1000, 1, NULL);
    reader_poll(&reading, collect, NULL);
    ck_assert_uint_eq(count_records(NM_RING_HEAP), 1);
    ck_assert_uint_eq(find_record(NM_RING_HEAP, 0)->position + 2, find_record(NM_EVENT_ALLOC, 0)->position);
}
END_TEST

/* ---- Full rings ---------------------------------------------------------------------------------------------------- */

START_TEST(what_a_full_ring_drops_is_counted_and_stated)
{
    const nm_ring_loss *loss;
    nm_ring *ring;

    fixture.session->on_full = NM_ON_FULL_DROP;
    reading.keeps_tail = true;
    join();
    for (int i = 0; i < 2000; i++)
        npumem_step(i);
    reader_poll(&reading, NULL, NULL); /* opens the ring */
    ring = reading.rings[0].ring;
    ck_assert_uint_eq(atomic_load(&ring->head), 1024);
    ck_assert_uint_eq(atomic_load(&ring->dropped_count), 2000 - 1023); /* one slot names the thread */
    ck_assert_uint_lt(atomic_load(&ring->drop_first_ticks), atomic_load(&ring->drop_last_ticks));

    atomic_store(&ring->tail, 1024);
    npumem_step(5000);
    reading.keeps_tail = false;
    reader_poll(&reading, collect, NULL);
    loss = (const nm_ring_loss *)find_record(NM_EVENT_LOSS, 0)->words;
    ck_assert_uint_eq(loss->dropped_count, 2000 - 1023);
    ck_assert_uint_eq(loss->detail, NM_LOSS_RING_FULL);
    ck_assert_uint_lt(loss->ticks, loss->until_ticks);
    ck_assert_uint_lt(loss->until_ticks, find_record(NM_EVENT_STEP, 0)->words[0]);
    ck_assert_uint_eq(find_record(NM_EVENT_LOSS, 0)->position, 1024);
    ck_assert_int_eq(((nm_ring_number *)find_record(NM_EVENT_STEP, 0)->words)->number, 5000);
    ck_assert_uint_eq(atomic_load(&ring->drop_first_ticks), 0);
}
END_TEST

/* How often this thread gave its processor away by itself: a wait does, and being robbed of it on a busy machine does not. */
static long wait_count(void)
{
    struct rusage usage;

    ck_assert_int_eq(getrusage(RUSAGE_THREAD, &usage), 0);
    return usage.ru_nvcsw;
}

START_TEST(waiting_ends_in_time_and_is_not_tried_again_before_the_heartbeat_moves)
{
    int64_t begin_ns, first_ns, next_ns, again_ns;
    long waits_before;

    /* Long waits, so that a busy machine is not taken for one of them. */
    fixture.session->wait_event_us = 200000;
    fixture.session->wait_second_us = 500000;
    reading.keeps_tail = true;
    join();
    for (int i = 0; i < 1023; i++)
        npumem_step(i);

    begin_ns = now_ns();
    npumem_step(1023);
    first_ns = now_ns() - begin_ns;
    ck_assert_int_ge(first_ns, 200000000);
    ck_assert_int_lt(first_ns, 4000000000);

    waits_before = wait_count();
    begin_ns = now_ns();
    for (int i = 0; i < 10000; i++)
        npumem_step(i);
    next_ns = now_ns() - begin_ns;
    ck_assert(next_ns < 150000000 || wait_count() == waits_before); /* 10,000 drops take less than one wait */

    begin_ns = now_ns();
    for (int i = 0; i < 20; i++) {
        atomic_fetch_add(&fixture.session->heartbeat, 1);
        npumem_step(i);
    }
    again_ns = now_ns() - begin_ns;
    ck_assert_int_ge(again_ns, 200000000);  /* it waited again */
    ck_assert_int_lt(again_ns, 4000000000); /* but not 20 times: 500 ms are all there is in a second */
}
END_TEST

START_TEST(a_closed_session_is_not_waited_for)
{
    int64_t begin_ns;
    long waits_before;

    fixture.session->wait_event_us = 500000;
    fixture.session->wait_second_us = 500000;
    reading.keeps_tail = true;
    join();
    for (int i = 0; i < 1023; i++)
        npumem_step(i);
    atomic_store(&fixture.session->is_closed, 1);
    waits_before = wait_count();
    begin_ns = now_ns();
    npumem_step(0);
    ck_assert(now_ns() - begin_ns < 100000000 || wait_count() == waits_before);
}
END_TEST

START_TEST(without_room_for_a_ring_events_are_counted_in_the_process_file)
{
    struct rlimit before, none;
    nm_ring_process *process;

    join();
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = before;
    none.rlim_cur = 4096; /* SIGXFSZ would kill this test */
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
    for (int i = 0; i < 49; i++)
        npumem_step(i);
    /* As a hook does: what an event needs asks for the ring too, and is no event. */
    nm_record_alloc(&(nm_ring_alloc){.address = 1, .where = nm_record_where(nm_record_driver_heap(0), 0)},
                    __builtin_frame_address(0));
    ck_assert(!nm_record_is_capacity_wanted(0));
    setrlimit(RLIMIT_FSIZE, &before);
    process = session_process(&fixture, 1);
    ck_assert_uint_eq(atomic_load(&process->dropped_count), 50);
    ck_assert_uint_ne(atomic_load(&process->drop_first_ticks), 0);
    ck_assert_uint_le(atomic_load(&process->drop_first_ticks), atomic_load(&process->drop_last_ticks));
    ck_assert_uint_eq(atomic_load(&fixture.session->ring_count), 1); /* one try, then a pause */
    munmap(process, sizeof *process);
    usleep(150000);
    npumem_step(99);
    ck_assert_uint_eq(atomic_load(&fixture.session->ring_count), 1); /* the number is used now */
    reader_poll(&reading, collect, NULL);
    ck_assert_uint_eq(count_records(NM_EVENT_STEP), 1);
}
END_TEST

START_TEST(a_smaller_ring_is_made_where_the_wanted_one_has_no_room)
{
    struct rlimit before, little;

    fixture.session->ring_bytes = 1 << 20;
    join();
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    little = before;
    little.rlim_cur = 300000;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &little), 0);
    npumem_step(1);
    setrlimit(RLIMIT_FSIZE, &before);
    reader_poll(&reading, collect, NULL);
    ck_assert_uint_eq(count_records(NM_EVENT_STEP), 1);
    ck_assert_uint_eq(reading.rings[0].ring->slot_count, (256 << 10) / 64);
}
END_TEST

/* ---- What must not change ------------------------------------------------------------------------------------------ */

START_TEST(errno_is_left_alone)
{
    npumem_heap heap;

    fixture.session->stack_mode = NM_STACKS_NATIVE;
    fixture.session->wait_event_us = 1000;
    fixture.session->wait_second_us = 2000;
    reading.keeps_tail = true;
    join();
    errno = 4711;
    heap = define_pool();
    for (int i = 0; i < 3000; i++) {
        npumem_alloc(heap, (void *)(uintptr_t)(0x1000 + i), 1, NULL); /* attaches, describes stacks, waits, drops */
        ck_assert_int_eq(errno, 4711);
    }
    npumem_range_end(npumem_range_begin("x"));
    npumem_mark("x");
    ck_assert_int_eq(errno, 4711);
}
END_TEST

START_TEST(a_nested_hook_is_not_recorded_a_second_time)
{
    nm_guard outer, inner;
    const void *frame = __builtin_frame_address(0);
    char below; /* lies where the frame of a function that is called would lie: deeper */

    join();
    ck_assert(nm_record_enter(&outer, frame));
    ck_assert(!nm_record_enter(&inner, &below));
    nm_record_leave(&outer);
    ck_assert(nm_record_enter(&outer, frame));
    nm_record_leave(&outer);
}
END_TEST

TEST_SUITE(test_record)
{
    Suite *suite = suite_create("record");
    TCase *tests = tcase_create("record");

    tcase_set_timeout(tests, 30);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, nothing_is_recorded_without_a_session);
    tcase_add_test(tests, a_foreign_session_is_not_joined);
    tcase_add_test(tests, a_folder_that_others_can_reach_is_not_joined);
    tcase_add_test(tests, a_process_that_cannot_look_at_the_folder_says_so);
    tcase_add_test(tests, a_process_leaves_its_row_and_no_ring);
    tcase_add_test(tests, memory_events_come_back_as_they_were_said);
    tcase_add_test(tests, marks_steps_ranges_copies_and_names_come_back);
    tcase_add_test(tests, an_older_callers_shorter_options_give_defaults);
    tcase_add_test(tests, stamps_rise_and_positions_have_no_hole);
    tcase_add_test(tests, a_handle_of_an_earlier_recording_names_nothing);
    tcase_add_test(tests, heaps_end_at_the_documented_limit);
    tcase_add_test(tests, a_definition_that_found_no_room_comes_before_its_first_event);
    tcase_add_test(tests, what_a_full_ring_drops_is_counted_and_stated);
    tcase_add_test(tests, waiting_ends_in_time_and_is_not_tried_again_before_the_heartbeat_moves);
    tcase_add_test(tests, a_closed_session_is_not_waited_for);
    tcase_add_test(tests, without_room_for_a_ring_events_are_counted_in_the_process_file);
    tcase_add_test(tests, a_smaller_ring_is_made_where_the_wanted_one_has_no_room);
    tcase_add_test(tests, errno_is_left_alone);
    tcase_add_test(tests, a_nested_hook_is_not_recorded_a_second_time);
    suite_add_tcase(suite, tests);
    return suite;
}
