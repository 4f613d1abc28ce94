/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks of what a newer runtime has: configured, managed and registered memory, copies in two dimensions and in
 * batches, virtual memory, memory of other processes and CANN's pool. The test starts itself again as the recorded program
 * and compares every event, written as a line, with what was called. Without the newer functions (test_hook_older is this
 * program without them) each call answers 207000 and nothing is recorded of it.
 */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hook/runtime.h"
#include "ring_reader.h"

#define LINES_MAX 128
#define HEAPS_MAX 32
#define AT(value) ((void *)(uintptr_t)(value))

/* ---- The recorded program ------------------------------------------------------------------------------------------ */

static void *last; /* what was handed out last */

/* Result and errno must be those of the runtime. */
#define EXPECT(call, result)                                                                                           \
    do {                                                                                                               \
        errno = 4;                                                                                                     \
        if ((call) != (result) || errno != 33) {                                                                       \
            fprintf(stderr, "%s:%d\n", __FILE__, __LINE__);                                                            \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

static int call_memory(void)
{
    nm_acl_attribute attribute = {.attr = ACL_MALLOC_ATTR_DEVICE_ID, .value.device = 5};
    nm_acl_config config = {&attribute, 1};

    EXPECT(aclrtMallocWithCfg(&last, 0x100, 2, NULL), 0);
    EXPECT(aclrtMallocWithCfg(&last, 0x110, 1, &config), 0);
    EXPECT(aclrtMallocWithCfg(&last, 13, 1, &config), 207001);
    EXPECT(aclrtMallocForTaskScheduler(&last, 0x120, 0, NULL), 0);
    EXPECT(aclrtMemAllocManaged(&last, 0x130, 1), 0);
    EXPECT(aclrtFreeWithDevSync(AT(0x10100)), 0);
    EXPECT(aclrtFreeWithDevSync(NULL), 207002);
    EXPECT(aclrtMallocHostWithCfg(&last, 0x140, NULL), 0);
    EXPECT(aclrtMallocHostWithCfg(&last, 13, NULL), 207001);
    EXPECT(aclrtFreeHostWithDevSync(AT(0x40140)), 0);
    EXPECT(aclrtHostRegister(AT(0x700000), 0x1000, 8, &last), 0);
    EXPECT(aclrtHostRegister(AT(0x700000), 13, 0, &last), 507910);
    EXPECT(aclrtHostRegisterV2(AT(0x800000), 0x2000, 0x10000002), 0);
    EXPECT(aclrtHostUnregister(AT(0x700000)), 0);
    EXPECT(aclrtHostUnregister(NULL), 507911);
    return 0;
}

static const char *const memory_lines[] = {
    "alloc driver.2 0x10100 256 policy=2",
    "alloc driver.5 0x10110 272 policy=1",
    "failed driver.2 13 error=207001",
    "alloc driver.2 0x20120 288 policy=0",
    "alloc driver.2 0x30130 304 policy=0",
    "free 0x10100 call=1",
    "free 0x0 call=1",
    "not freed 0x0 call=1 error=207002",
    "alloc pinned 0x40140 320 policy=0",
    "failed pinned 13 error=207001",
    "free 0x40140 call=2",
    "alloc registered 0x700000 4096 policy=8",
    "failed registered 13 error=507910",
    "alloc registered 0x800000 8192 policy=268435458",
    "free 0x700000 call=4",
    "free 0x0 call=4",
    "not freed 0x0 call=4 error=507911",
    NULL,
};

static int call_copies(void)
{
    void *targets[] = {AT(0x10100), AT(0x10200), AT(0x700000), AT(0x10300)};
    void *sources[] = {AT(0x700000), AT(0x700100), AT(0x10300), AT(0x10100)};
    size_t limits[] = {64, 65, 66, 67}, sizes[] = {60, 61, 62, 63}, indexes[] = {0, 2, 3}, fail_index;
    nm_acl_batch_attr attrs[] = {
        {.target = {2, ACL_LOCATION_DEVICE}, .source = {0, ACL_LOCATION_HOST}},
        {.target = {0, ACL_LOCATION_UNREGISTERED}, .source = {2, ACL_LOCATION_DEVICE}},
        {.target = {2, ACL_LOCATION_DEVICE}, .source = {4, ACL_LOCATION_DEVICE}},
    };

    EXPECT(aclrtMemcpyAsyncWithCondition(AT(1), 9, AT(2), 8, 1, AT(0x77)), 0);
    EXPECT(aclrtMemcpy2d(AT(1), 64, AT(2), 128, 32, 10, 2), 0);
    EXPECT(aclrtMemcpy2d(AT(1), 64, AT(2), 128, 13, 10, 2), 107000);
    EXPECT(aclrtMemcpy2dAsync(AT(1), 64, AT(2), 128, 32, 2, 1, AT(0x78)), 0);
    EXPECT(aclrtMemsetD32(AT(1), 100, 7, 20), 0);
    EXPECT(aclrtMemsetD32Async(AT(1), 100, 7, 21, NULL), 0);
    EXPECT(aclrtMemcpyBatch(targets, limits, sources, sizes, 4, attrs, indexes, 3, &fail_index), 0);
    EXPECT(aclrtMemcpyBatch(NULL, NULL, NULL, NULL, 13, NULL, NULL, 0, &fail_index), 107000);
    EXPECT(aclrtMemcpyBatchAsync(targets, limits, sources, sizes, 1, attrs, indexes, 1, &fail_index, AT(0x79)), 0);
    EXPECT(aclrtMemcpyBatchV2(targets, NULL, sources, sizes, 2, NULL, NULL, 0), 0);
    EXPECT(aclrtMemcpyBatchAsyncV2(targets, limits, sources, sizes, 1, attrs, indexes, 1, NULL), 0);
    EXPECT(aclrtMemcpyBatchAsyncV2(targets, limits, sources, sizes, 0, attrs, indexes, 1, NULL), 0);
    return 0;
}

static const char *const copy_lines[] = {
    "copy 0x1 0x2 8 of 9 kind=1 to 3 from 0 async 0x77",
    "copy 0x1 0x2 320 of 0 kind=2 to 0 from 3",
    "copy 0x1 0x2 130 of 0 kind=2 to 0 from 3 error=107000",
    "copy 0x1 0x2 64 of 0 kind=1 to 3 from 0 async 0x78",
    "copy 0x1 0x0 80 of 100 kind=100 to 3 from 0",
    "copy 0x1 0x0 84 of 100 kind=100 to 3 from 0 async 0x0",
    "copy 0x10100 0x700000 60 of 64 kind=1 to 3 from 0",
    "copy 0x10200 0x700100 61 of 65 kind=1 to 3 from 0",
    "copy 0x700000 0x10300 62 of 66 kind=2 to 0 from 3",
    "copy 0x10300 0x10100 63 of 67 kind=3 to 3 from 5",
    "copy 0x0 0x0 0 of 0 kind=4 to 0 from 0 error=107000",
    "copy 0x10100 0x700000 60 of 64 kind=1 to 3 from 0 async 0x79",
    "copy 0x10100 0x700000 60 of 0 kind=4 to 0 from 0",
    "copy 0x10200 0x700100 61 of 0 kind=4 to 0 from 0",
    "copy 0x10100 0x700000 60 of 64 kind=1 to 3 from 0 async 0x0",
    NULL,
};

static int call_virtual(void)
{
    nm_acl_physical properties = {.memAttr = 4, .location = {2, ACL_LOCATION_DEVICE}};
    uint64_t shared = 0x20;
    void *handle;

    EXPECT(aclrtMallocPhysical(&handle, 0x200, &properties, 0), 0);
    EXPECT(aclrtMapMem(AT(0x90200), 0x200, 0, handle, 0), 0);
    EXPECT(aclrtMapMem(AT(0x90200), 13, 0, handle, 0), 107000);
    EXPECT(aclrtUnmapMem(AT(0x90200)), 0);
    EXPECT(aclrtUnmapMem(NULL), 107000);
    EXPECT(aclrtMemRetainAllocationHandle(AT(0x90200), &last), 0); /* the same handle: it takes two frees now */
    EXPECT(aclrtFreePhysical(handle), 0);
    EXPECT(aclrtFreePhysical(handle), 0);
    EXPECT(aclrtFreePhysical(NULL), 207002);
    EXPECT(aclrtMallocPhysical(&handle, 13, &properties, 0), 207001);
    EXPECT(aclrtMemImportFromShareableHandle(0x10, 2, &handle), 0);
    EXPECT(aclrtMemMapNoAccess(AT(0xb0000), 0x300, 0, handle, 0), 0);
    EXPECT(aclrtUnmapMem(AT(0xb0000)), 0);
    EXPECT(aclrtFreePhysical(handle), 0);
    EXPECT(aclrtMemImportFromShareableHandleV2(&shared, 1, 0, &handle), 0);
    EXPECT(aclrtIpcMemImportByKey(&last, "key of 107", 0), 0);
    EXPECT(aclrtIpcMemClose("another's key"), 0);
    EXPECT(aclrtIpcMemClose("key of 107"), 0);
    EXPECT(aclrtIpcMemClose("key of 107"), 0);
    EXPECT(aclrtIpcMemClose(NULL), 107000);
    return 0;
}

static const char *const virtual_lines[] = {
    "alloc physical.2 0x50200 512 policy=4",
    "map driver.2 0x90200 512",
    "failed driver.2 13 error=107000",
    "unmap 0x90200 0",
    "free 0x50200 call=3",
    "free 0x0 call=3",
    "not freed 0x0 call=3 error=207002",
    "failed physical.2 13 error=207001",
    "alloc imported.2 0x60010 0 policy=0",
    "map imported.2 0xb0000 768",
    "unmap 0xb0000 0",
    "free 0x60010 call=3",
    "alloc imported.2 0x70020 0 policy=0",
    "alloc imported.2 0x8006b 0 policy=0",
    "free 0x8006b call=5",
    NULL,
};

static int call_pools(void)
{
    nm_acl_pool_properties properties = {.location = {4, ACL_LOCATION_DEVICE}};
    nm_acl_pool_properties other_properties = {.location = {2, ACL_LOCATION_DEVICE}};
    void *pool, *other;

    EXPECT(aclrtMemPoolCreate(&pool, &properties), 0);
    EXPECT(aclrtMemPoolMallocAsync(&last, 0x40, pool, AT(0x77)), 0);
    EXPECT(aclrtMemPoolMallocAsync(&last, 13, pool, NULL), 207001);
    EXPECT(aclrtMemPoolMallocAsync(&last, 0x50, AT(0x123), NULL), 0); /* a pool that nobody saw being made */
    EXPECT(aclrtMemPoolFreeAsync(AT(0xa0040), AT(0x77)), 0);
    EXPECT(aclrtMemPoolFreeAsync(NULL, NULL), 207002);
    EXPECT(aclrtMemPoolCreate(&other, &other_properties), 0);
    EXPECT(aclrtMemPoolMallocAsync(&last, 0x60, other, NULL), 0);
    EXPECT(aclrtMemPoolDestroy(pool), 0);
    EXPECT(aclrtMemPoolCreate(&pool, &properties), 0); /* the number is free again */
    EXPECT(aclrtMemPoolMallocAsync(&last, 0x70, pool, NULL), 0);
    return 0;
}

static const char *const pool_lines[] = {
    "alloc pool.4 (CANN memory pool 1) 0xa0040 64 policy=0 stream 0x77",
    "failed pool.4 (CANN memory pool 1) 13 error=207001",
    "alloc pool.2 (other CANN memory pools) 0xa0050 80 policy=0 stream 0x0",
    "free 0xa0040 call=6 stream 0x77",
    "free 0x0 call=6 stream 0x0",
    "not freed 0x0 call=6 error=207002",
    "alloc pool.2 (CANN memory pool 2) 0xa0060 96 policy=0 stream 0x0",
    "alloc pool.4 (CANN memory pool 1) 0xa0070 112 policy=0 stream 0x0",
    NULL,
};

/* A runtime without the newer functions. */
static int call_absent(void)
{
    const int answers[] = {
        aclrtMallocWithCfg(&last, 1, 0, NULL),
        aclrtHostRegister(AT(1), 1, 0, &last),
        aclrtFreeWithDevSync(AT(1)),
        aclrtMallocPhysical(&last, 1, NULL, 0),
        aclrtUnmapMem(AT(1)),
        aclrtIpcMemClose("key"),
        aclrtMemPoolMallocAsync(&last, 1, 0, 0),
        aclrtMemsetD32(AT(1), 1, 1, 1),
        aclrtFreePhysical(AT(1)),
        aclrtMemcpy2d(AT(1), 1, AT(1), 1, 1, 1, 1),
    };

    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (answers[i] != 207000)
            return 1;
    return 0;
}

static int run_child(const char *name)
{
    aclrtSetDevice(2);
    if (strcmp(name, "memory") == 0)
        return call_memory();
    if (strcmp(name, "copies") == 0)
        return call_copies();
    if (strcmp(name, "virtual") == 0)
        return call_virtual();
    return strcmp(name, "pools") == 0 ? call_pools() : call_absent();
}

/* ---- Events as lines ----------------------------------------------------------------------------------------------- */

static session_fixture fixture;
static ring_reader reading;
static char lines[LINES_MAX][128];
static size_t line_count;
static struct {
    nm_ring_heap head;
    char name[64];
} heaps[HEAPS_MAX];

static const char *heap_text(uint64_t where)
{
    static const char *const levels[] = {"?",          "driver", "pool",     "workspace", "pinned",
                                         "registered", "host",   "physical", "imported"};
    static char text[128];
    uint64_t number = where & 0xffff;
    const nm_ring_heap *heap = &heaps[number % HEAPS_MAX].head;

    ck_assert_uint_lt(number, HEAPS_MAX);
    ck_assert_uint_eq(heap->local_id, number);
    snprintf(text, sizeof text, "%s", levels[heap->level]);
    if (heap->device != 0)
        snprintf(text + strlen(text), 32, ".%" PRIu64, heap->device - 1);
    if (heap->level == NM_LEVEL_POOL)
        snprintf(text + strlen(text), 80, " (%s)", heaps[number].name);
    return text;
}

__attribute__((format(printf, 1, 2))) static void add_text(const char *format, ...)
{
    char *line = lines[line_count - 1];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line + strlen(line), sizeof lines[0] - strlen(line), format, arguments);
    va_end(arguments);
}

static void add_stream(uint64_t where, uint64_t stream)
{
    if ((where >> 16 & NM_FLAG_STREAM) != 0)
        add_text(" %s 0x%" PRIx64, (where >> 16 & NM_FLAG_ASYNC) != 0 ? "async" : "stream", stream);
}

static void add_copy(const nm_ring_copy *copy)
{
    add_text("copy 0x%" PRIx64 " 0x%" PRIx64 " %" PRIu64 " of %" PRIu64 " kind=%u to %u from %u", copy->target_address,
             copy->source_address, copy->size_bytes, copy->limit_bytes, copy->kind, copy->target_device,
             copy->source_device);
    add_stream(copy->where, copy->stream);
    if (copy->error_code != 0)
        add_text(" error=%" PRId64, copy->error_code);
}

static void add_event(const reader_record *record)
{
    const nm_ring_alloc *alloc = (const nm_ring_alloc *)record->words;
    const nm_ring_alloc_failed *failed = (const nm_ring_alloc_failed *)record->words;
    const nm_ring_free *freed = (const nm_ring_free *)record->words;

    if (record->kind == NM_EVENT_ALLOC) {
        add_text("alloc %s 0x%" PRIx64 " %" PRIu64 " policy=%u", heap_text(alloc->where), alloc->address,
                 alloc->requested_bytes, alloc->policy);
        add_stream(alloc->where, alloc->stream);
    } else if (record->kind == NM_EVENT_MAP) {
        add_text("map %s 0x%" PRIx64 " %" PRIu64, heap_text(alloc->where), alloc->address, alloc->block_bytes);
    } else if (record->kind == NM_EVENT_ALLOC_FAILED) {
        add_text("failed %s %" PRIu64 " error=%" PRId64, heap_text(failed->where), failed->requested_bytes,
                 failed->error_code);
    } else if (record->kind == NM_EVENT_FREE) {
        add_text("free 0x%" PRIx64 " call=%" PRIu64, freed->address, freed->detail);
        add_stream(freed->where, freed->stream);
    } else if (record->kind == NM_EVENT_FREE_FAILED) {
        add_text("not freed 0x%" PRIx64 " call=%" PRIu64 " error=%" PRId64, freed->address, freed->detail,
                 freed->error_code);
    } else if (record->kind == NM_EVENT_UNMAP) {
        add_text("unmap 0x%" PRIx64 " %" PRIu64, freed->address, freed->block_bytes);
    } else {
        add_copy((const nm_ring_copy *)record->words);
    }
}

static void collect(void *context, const reader_record *record)
{
    const nm_ring_heap *heap = (const nm_ring_heap *)record->words;

    (void)context;
    if (record->kind == NM_RING_HEAP && heap->local_id < HEAPS_MAX) {
        heaps[heap->local_id].head = *heap;
        snprintf(heaps[heap->local_id].name, sizeof heaps->name, "%.*s", (int)heap->text_bytes,
                 reader_text(record, sizeof *heap));
    }
    if (record->kind >= 64 || record->kind == NM_EVENT_DEVICE_CALL)
        return;
    ck_assert_uint_lt(line_count, LINES_MAX);
    lines[line_count++][0] = 0;
    add_event(record);
}

/* ---- The test ------------------------------------------------------------------------------------------------------ */

static void setup(void)
{
    line_count = 0;
    session_open(&fixture);
    reader_open(&reading, &fixture);
}

static void teardown(void)
{
    reader_close(&reading);
    session_close(&fixture);
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

static void run_recorded(const char *name, bool has_session)
{
    int pid = fork(), status;

    if (pid == 0) {
        unsetenv(NM_RING_ENVIRONMENT);
        if (has_session)
            setenv(NM_RING_ENVIRONMENT, fixture.folder, 1);
        run_again(name);
        _exit(127);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}

static void check_lines(const char *name, const char *const *expected)
{
    size_t i = 0;

    run_recorded(name, false);
    run_recorded(name, true);
    reader_poll(&reading, collect, NULL);
    for (; expected[i] != NULL && i < line_count; i++)
        ck_assert_str_eq(lines[i], expected[i]);
    ck_assert_uint_eq(i, line_count);
    ck_assert_ptr_null(expected[i]);
}

#if HAS_NEWER
START_TEST(configured_managed_and_registered_memory_is_recorded)
{
    check_lines("memory", memory_lines);
}
END_TEST

START_TEST(each_copy_is_recorded_and_each_element_of_a_batch)
{
    check_lines("copies", copy_lines);
}
END_TEST

START_TEST(physical_mapped_and_imported_memory_is_recorded)
{
    check_lines("virtual", virtual_lines);
}
END_TEST

START_TEST(a_pool_of_the_runtime_is_a_heap_of_its_own)
{
    check_lines("pools", pool_lines);
}
END_TEST
#else
START_TEST(what_the_runtime_lacks_answers_that_it_is_not_supported)
{
    static const char *const nothing[] = {NULL};

    check_lines("absent", nothing);
}
END_TEST
#endif

static Suite *make_suite(void)
{
    Suite *suite = suite_create("hook memory");
    TCase *tests = tcase_create("hook memory");

    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, setup, teardown);
#if HAS_NEWER
    tcase_add_test(tests, configured_managed_and_registered_memory_is_recorded);
    tcase_add_test(tests, each_copy_is_recorded_and_each_element_of_a_batch);
    tcase_add_test(tests, physical_mapped_and_imported_memory_is_recorded);
    tcase_add_test(tests, a_pool_of_the_runtime_is_a_heap_of_its_own);
#else
    (void)memory_lines, (void)copy_lines, (void)virtual_lines, (void)pool_lines;
    tcase_add_test(tests, what_the_runtime_lacks_answers_that_it_is_not_supported);
#endif
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
