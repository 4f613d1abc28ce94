/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks in front of a runtime that answers by known rules. The test starts itself again as the program that is
 * recorded, with and without a session, and reads the rings that it left: what was recorded, in which order, with which
 * fields; and that results, errno and the heap are as without a recorder.
 */
#include <check.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hook/runtime.h"
#include "ring_reader.h"

#define RECORDS_MAX 512
#define NO_STACK    UINT64_C(0xffffffff) /* of nm_ring_where: heap and flags */

/* ---- The recorded program ------------------------------------------------------------------------------------------ */

static int heap_calls; /* of the C library's heap, by anybody in the process */

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void __libc_free(void *memory);

__attribute__((visibility("default"))) void *malloc(size_t size)
{
    heap_calls++;
    return __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
    heap_calls++;
    return __libc_calloc(count, size);
}

__attribute__((visibility("default"))) void *realloc(void *memory, size_t size)
{
    heap_calls++;
    return __libc_realloc(memory, size);
}

__attribute__((visibility("default"))) void free(void *memory)
{
    heap_calls++;
    __libc_free(memory);
}
#endif

int aclrtGetDevice(int32_t *device);

/* A call of the program's: result and errno must be those of the runtime. The number of the line that differed. */
#define EXPECT(call, result)                                                                                           \
    do {                                                                                                               \
        errno = 4;                                                                                                     \
        if ((call) != (result) || errno != 33)                                                                         \
            return __LINE__ & 0x7f ? __LINE__ & 0x7f : 1;                                                              \
    } while (0)

static int call_memory(void)
{
    void *address, *host;
    size_t free_bytes, total_bytes;

    EXPECT(aclrtMalloc(&address, 100, 2), 0);
    if ((uintptr_t)address != 0x1000 + 100)
        return 1;
    EXPECT(aclrtMallocAlign32(&address, 200, 0), 0);
    EXPECT(aclrtMallocCached(&address, 300, 1), 0);
    EXPECT(aclrtMalloc(&address, 2 << 20, 0), 207001);
    EXPECT(aclrtMallocHost(&host, 64), 0);
    EXPECT(aclrtMallocHost(&host, 0), 100000);
    EXPECT(aclrtMemcpy((void *)0x1064, 100, (void *)0x2040, 64, 1), 0);
    EXPECT(aclrtMemcpyAsync((void *)0x2040, 64, (void *)0x1064, 65, 2, (void *)0x77), 107000);
    EXPECT(aclrtMemset((void *)0x1064, 100, 1, 50), 0);
    EXPECT(aclrtMemsetAsync((void *)0x1064, 100, 1, 60, NULL), 0);
    EXPECT(aclrtGetMemInfo(1, &free_bytes, &total_bytes), 0);
    EXPECT(aclrtGetMemInfo(3, &free_bytes, &total_bytes), 100000);
    EXPECT(aclrtFree((void *)0x1064), 0);
    EXPECT(aclrtFree((void *)0x10), 207002);
    EXPECT(aclrtFreeHost((void *)0x2040), 0);
    return 0;
}

static int call_devices(void)
{
    void *context;
    int run_mode;

    EXPECT(aclInit("x"), 100000);
    EXPECT(aclInit(NULL), 0);
    EXPECT(aclrtSetDevice(9), 107001);
    EXPECT(aclrtSetDevice(3), 0);
    EXPECT(aclrtSetDevice(3), 0);
    EXPECT(aclrtGetRunMode(&run_mode), 0);
    EXPECT(aclrtCreateContext(&context, 3), 0);
    EXPECT(aclrtSetCurrentContext(context), 0);
    EXPECT(aclrtDestroyContext(context), 0);
    EXPECT(aclrtResetDevice(3), 0); /* one of two */
    EXPECT(aclrtResetDevice(9), 107001);
    EXPECT(aclrtResetDevice(3), 0);
    EXPECT(aclrtSetDevice(3), 0);
    EXPECT(aclrtSetDevice(3), 0);
    EXPECT(aclrtResetDeviceForce(3), 0);
    EXPECT(aclFinalize(), 0);
    return 0;
}

static int call_many(void)
{
    void *address;
    int before;

    aclrtSetDevice(2);
    aclrtMalloc(&address, 100, 0);
    before = heap_calls;
    for (int i = 0; i < 20000; i++) { /* more than the ring takes: waiting and dropping too */
        EXPECT(aclrtMalloc(&address, 100, 0), 0);
        EXPECT(aclrtFree(address), 0);
    }
    return heap_calls == before ? 0 : 2;
}

/* As main, but with _exit; the status says what was wrong. */
static int run_child(const char *name)
{
    int before = heap_calls, status;

    if (strcmp(name, "many") == 0)
        return call_many();
    if (strcmp(name, "exit") == 0)
        exit(41);
    if (strcmp(name, "_exit") == 0)
        _exit(42);
    if (strcmp(name, "_Exit") == 0)
        _Exit(43);
    aclrtSetDevice(2);
    status = call_memory();
    if (status == 0)
        status = call_devices();
    return status != 0 || heap_calls == before ? status : 126;
}

/* ---- The test ------------------------------------------------------------------------------------------------------ */

static session_fixture fixture;
static ring_reader reading;
static reader_record *records;
static size_t record_count;

static void collect(void *context, const reader_record *record)
{
    (void)context;
    if (record_count < RECORDS_MAX)
        records[record_count++] = *record;
}

static void setup(void)
{
    records = calloc(RECORDS_MAX, sizeof *records);
    record_count = 0;
    session_open(&fixture);
    fixture.session->stack_mode = NM_STACKS_NATIVE;
    fixture.session->wait_event_us = 1000;
    fixture.session->wait_second_us = 1000;
    reader_open(&reading, &fixture);
}

static void teardown(void)
{
    reader_close(&reading);
    session_close(&fixture);
    free(records);
}

/* EMULATOR: what runs programs of a cross build, words parted by blanks. */
static void run_again(const char *name)
{
    char self[PATH_MAX] = "", command[2 * PATH_MAX];

    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        _exit(127);
    snprintf(command, sizeof command, "exec %s '%s' '%s'", EMULATOR, self, name);
    if (EMULATOR[0] != 0)
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    else
        execl(self, "recorded program", name, (char *)NULL);
}

/* Runs this program as the recorded one; its exit status. */
static int run_recorded(const char *name, bool has_session)
{
    int pid = fork(), status;

    if (pid == 0) {
        unsetenv("NPUMEM_SESSION");
        if (has_session)
            setenv("NPUMEM_SESSION", fixture.folder, 1);
        setenv("ASCEND_RT_VISIBLE_DEVICES", "4,5,6,7", 1);
        run_again(name);
        _exit(127);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Samples are taken by the clock too, so no other event is told from its place among them. */
static bool is_event(const reader_record *record, bool is_sample)
{
    return record->kind < 64 && (record->kind == NM_EVENT_MEMORY_SAMPLE) == is_sample;
}

static const reader_record *next_record(size_t *at, bool is_sample)
{
    while (*at < record_count && !is_event(&records[*at], is_sample))
        (*at)++;
    ck_assert_uint_lt(*at, record_count);
    return &records[(*at)++];
}

static const reader_record *next_event(size_t *at)
{
    return next_record(at, false);
}

static uint64_t heap_number(uint64_t level)
{
    for (size_t i = 0; i < record_count; i++) {
        const nm_ring_heap *heap = (const nm_ring_heap *)records[i].words;

        if (records[i].kind == NM_RING_HEAP && heap->level == level)
            return heap->local_id;
    }
    ck_abort_msg("no heap of that level");
    return 0;
}

static void check_alloc(const reader_record *record, uint64_t heap, uint64_t address, uint64_t bytes, uint32_t policy)
{
    const nm_ring_alloc *event = (const nm_ring_alloc *)record->words;

    ck_assert_uint_eq(record->kind, NM_EVENT_ALLOC);
    ck_assert_uint_eq(event->where & NO_STACK, heap);
    ck_assert_uint_ne(event->where >> 32, 0);
    ck_assert_uint_eq(event->address, address);
    ck_assert_uint_eq(event->requested_bytes, bytes);
    ck_assert_uint_eq(event->block_bytes, 0);
    ck_assert_uint_eq(event->policy, policy);
    ck_assert_uint_gt(event->cost_ticks, 0);
}

static void check_failed(const reader_record *record, uint64_t heap, uint64_t bytes, int64_t error)
{
    const nm_ring_alloc_failed *event = (const nm_ring_alloc_failed *)record->words;

    ck_assert_uint_eq(record->kind, NM_EVENT_ALLOC_FAILED);
    ck_assert_uint_eq(event->where & NO_STACK, heap);
    ck_assert_uint_eq(event->requested_bytes, bytes);
    ck_assert_int_eq(event->error_code, error);
    ck_assert_uint_eq(event->free_bytes, 600);
    ck_assert_uint_eq(event->total_bytes, 1000);
}

static void check_copy(const reader_record *record, nm_ring_copy wanted)
{
    const nm_ring_copy *event = (const nm_ring_copy *)record->words;

    ck_assert_uint_eq(record->kind, NM_EVENT_COPY);
    ck_assert_uint_eq(event->target_address, wanted.target_address);
    ck_assert_uint_eq(event->source_address, wanted.source_address);
    ck_assert_uint_eq(event->size_bytes, wanted.size_bytes);
    ck_assert_uint_eq(event->limit_bytes, wanted.limit_bytes);
    ck_assert_uint_eq(event->stream, wanted.stream);
    ck_assert_uint_eq(event->where & NO_STACK, wanted.where);
    ck_assert_uint_eq(event->kind, wanted.kind);
    ck_assert_int_eq(event->error_code, wanted.error_code);
    ck_assert_uint_eq(event->target_device, wanted.target_device);
    ck_assert_uint_eq(event->source_device, wanted.source_device);
}

static void check_free(const reader_record *record, unsigned kind, uint64_t address, uint64_t call, int64_t error)
{
    const nm_ring_free *event = (const nm_ring_free *)record->words;

    ck_assert_uint_eq(record->kind, kind);
    ck_assert_uint_eq(event->address, address);
    ck_assert_uint_eq(event->where & NO_STACK, 0);
    ck_assert_uint_eq(event->detail, call);
    ck_assert_int_eq(event->error_code, error);
}

static void check_call(const reader_record *record, unsigned kind, uint64_t call, uint64_t device, int64_t error)
{
    const nm_ring_number *event = (const nm_ring_number *)record->words;

    ck_assert_uint_eq(record->kind, kind);
    ck_assert_uint_eq(event->detail, call);
    ck_assert_uint_eq(event->device, device);
    ck_assert_int_eq(event->error_code, error);
}

static void check_context(const reader_record *record, nm_stream_call call, uint64_t device, uint64_t handle)
{
    const nm_ring_stream_call *event = (const nm_ring_stream_call *)record->words;

    ck_assert_uint_eq(record->kind, NM_EVENT_STREAM_CALL);
    ck_assert_uint_eq(event->detail, call);
    ck_assert_uint_eq(event->device, device);
    ck_assert_uint_eq(event->event, handle);
    ck_assert_int_eq(event->error_code, 0);
    ck_assert_uint_ne(event->where, 0);
}

static void check_memory_events(size_t *at)
{
    const uint32_t queued = (NM_FLAG_STREAM | NM_FLAG_ASYNC) << 16;
    uint64_t driver = heap_number(NM_LEVEL_DRIVER), pinned = heap_number(NM_LEVEL_PINNED);

    check_alloc(next_event(at), driver, 0x1064, 100, 2);
    check_alloc(next_event(at), driver, 0x10c8, 200, 0);
    check_alloc(next_event(at), driver, 0x112c, 300, 1);
    check_failed(next_event(at), driver, 2 << 20, 207001);
    check_alloc(next_event(at), pinned, 0x2040, 64, 0);
    check_failed(next_event(at), pinned, 0, 100000);
    check_copy(next_event(at), (nm_ring_copy){.target_address = 0x1064,
                                              .source_address = 0x2040,
                                              .size_bytes = 64,
                                              .limit_bytes = 100,
                                              .kind = NM_COPY_HOST_TO_DEVICE,
                                              .target_device = 3});
    check_copy(next_event(at), (nm_ring_copy){.target_address = 0x2040,
                                              .source_address = 0x1064,
                                              .size_bytes = 65,
                                              .limit_bytes = 64,
                                              .stream = 0x77,
                                              .where = queued,
                                              .kind = NM_COPY_DEVICE_TO_HOST,
                                              .error_code = 107000,
                                              .source_device = 3});
    check_copy(next_event(at), (nm_ring_copy){.target_address = 0x1064,
                                              .size_bytes = 50,
                                              .limit_bytes = 100,
                                              .kind = NM_COPY_MEMSET,
                                              .target_device = 3});
    check_copy(next_event(at), (nm_ring_copy){.target_address = 0x1064,
                                              .size_bytes = 60,
                                              .limit_bytes = 100,
                                              .where = queued,
                                              .kind = NM_COPY_MEMSET,
                                              .target_device = 3});
    const nm_ring_sample *sample = (const nm_ring_sample *)next_record(at, true)->words;
    ck_assert_uint_eq(sample->device, 3);
    ck_assert_uint_eq(sample->detail, NM_MEMORY_HBM);
    ck_assert_uint_eq(sample->free_bytes, 600);
    ck_assert_uint_eq(sample->total_bytes, 1000);
    check_free(next_event(at), NM_EVENT_FREE, 0x1064, NM_FREE_DEVICE, 0);
    check_free(next_event(at), NM_EVENT_FREE, 0x10, NM_FREE_DEVICE, 0);
    check_free(next_event(at), NM_EVENT_FREE_FAILED, 0x10, NM_FREE_DEVICE, 207002);
    check_free(next_event(at), NM_EVENT_FREE, 0x2040, NM_FREE_HOST, 0);
}

static void check_device_events(size_t *at)
{
    check_call(next_event(at), NM_EVENT_DEVICE_CALL, NM_DEVICE_INIT, 0, 100000);
    check_call(next_event(at), NM_EVENT_DEVICE_CALL, NM_DEVICE_INIT, 0, 0);
    check_call(next_event(at), NM_EVENT_DEVICE_CALL, NM_DEVICE_SET, 0, 107001);
    check_call(next_event(at), NM_EVENT_DEVICE_CALL, NM_DEVICE_SET, 4, 0);
    check_call(next_event(at), NM_EVENT_DEVICE_CALL, NM_DEVICE_SET, 4, 0);
    check_context(next_event(at), NM_STREAM_CONTEXT_CREATE, 4, 0x103);
    check_call(next_event(at), NM_EVENT_DEVICE_CALL, NM_DEVICE_CONTEXT_SET, 4, 0);
    check_context(next_event(at), NM_STREAM_CONTEXT_DESTROY, 0, 0x103);
    check_call(next_event(at), NM_EVENT_DEVICE_CALL, NM_DEVICE_RESET, 4, 0);
    check_call(next_event(at), NM_EVENT_DEVICE_CALL, NM_DEVICE_RESET, 0, 107001);
    check_call(next_event(at), NM_EVENT_DEVICE_CALL, NM_DEVICE_RESET, 4, 0);
    check_call(next_event(at), NM_EVENT_RESET, 0, 4, 0);
    check_call(next_event(at), NM_EVENT_DEVICE_CALL, NM_DEVICE_SET, 4, 0);
    check_call(next_event(at), NM_EVENT_DEVICE_CALL, NM_DEVICE_SET, 4, 0);
    check_call(next_event(at), NM_EVENT_DEVICE_CALL, NM_DEVICE_RESET_FORCE, 4, 0);
    check_call(next_event(at), NM_EVENT_RESET, 0, 4, 0);
    check_call(next_event(at), NM_EVENT_DEVICE_CALL, NM_DEVICE_FINALIZE, 0, 0);
    check_call(next_event(at), NM_EVENT_RESET, 0, 0, 0);
}

START_TEST(every_call_is_recorded_once_as_it_was_made)
{
    nm_ring_process *process;
    size_t at = 0;

    ck_assert_int_eq(run_recorded("all", true), 0);
    reader_poll(&reading, collect, NULL);
    check_call(next_event(&at), NM_EVENT_DEVICE_CALL, NM_DEVICE_SET, 3, 0);
    check_memory_events(&at);
    check_device_events(&at);
    while (at < record_count)
        ck_assert(!is_event(&records[at++], false));

    process = session_process(&fixture, 1);
    ck_assert_int_eq(atomic_load(&process->run_mode), 1);
    ck_assert_uint_eq(atomic_load(&process->is_device_user), 1);
    ck_assert_uint_eq(atomic_load(&process->end_kind), NM_PROCESS_EXIT + 1);
    ck_assert_int_eq(atomic_load(&process->end_status), 0);
    munmap(process, sizeof *process);
}
END_TEST

START_TEST(devices_carry_their_physical_number_and_their_memory)
{
    const nm_ring_device *device = NULL;

    run_recorded("all", true);
    reader_poll(&reading, collect, NULL);
    for (size_t i = 0; i < record_count; i++) {
        if (records[i].kind == NM_RING_DEVICE && ((nm_ring_device *)records[i].words)->ordinal == 2)
            device = (const nm_ring_device *)records[i].words; /* the last one holds */
    }
    ck_assert_ptr_nonnull(device);
    ck_assert_uint_eq(device->local_id, 3);
    ck_assert_int_eq(device->physical_ordinal, 6);
    ck_assert_uint_eq(device->capacity_bytes, 1000);
}
END_TEST

START_TEST(without_a_session_results_are_the_same_and_nothing_is_left)
{
    ck_assert_int_eq(run_recorded("all", false), 0);
    ck_assert_int_eq(run_recorded("many", false), 0);
    ck_assert_uint_eq(atomic_load(&fixture.session->process_count), 0);
}
END_TEST

START_TEST(npumem_off_in_the_environment_switches_it_off)
{
    setenv("NPUMEM", "off", 1);
    ck_assert_int_eq(run_recorded("all", true), 0);
    unsetenv("NPUMEM");
    ck_assert_uint_eq(atomic_load(&fixture.session->process_count), 0);
}
END_TEST

START_TEST(no_hook_uses_the_programs_heap)
{
    ck_assert_int_eq(run_recorded("many", true), 0);
    reader_poll(&reading, collect, NULL);
    ck_assert_uint_gt(atomic_load(&reading.rings[0].ring->dropped_count), 0); /* that path was taken too */
}
END_TEST

START_TEST(the_way_a_process_ends_is_noted)
{
    static const char *const names[] = {"exit", "_exit", "_Exit"};

    for (int i = 0; i < 3; i++) {
        nm_ring_process *process;

        ck_assert_int_eq(run_recorded(names[i], true), 41 + i);
        process = session_process(&fixture, (uint64_t)i + 1);
        ck_assert_ptr_nonnull(process);
        ck_assert_uint_eq(atomic_load(&process->end_kind), NM_PROCESS_EXIT + 1);
        ck_assert_int_eq(atomic_load(&process->end_status), 41 + i);
        ck_assert_uint_eq(atomic_load(&process->is_device_user), 0);
        munmap(process, sizeof *process);
    }
    ck_assert_uint_eq(atomic_load(&fixture.session->ring_count), 0);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("hook");
    TCase *tests = tcase_create("hook");

    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, every_call_is_recorded_once_as_it_was_made);
    tcase_add_test(tests, devices_carry_their_physical_number_and_their_memory);
    tcase_add_test(tests, without_a_session_results_are_the_same_and_nothing_is_left);
    tcase_add_test(tests, npumem_off_in_the_environment_switches_it_off);
    tcase_add_test(tests, no_hook_uses_the_programs_heap);
    tcase_add_test(tests, the_way_a_process_ends_is_noted);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(int argc, char **argv)
{
    SRunner *runner;
    int failed_count;

    if (argc == 2)
        return run_child(argv[1]);
    runner = srunner_create(make_suite());
    srunner_run_all(runner, CK_ENV);
    failed_count = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed_count != 0;
}
