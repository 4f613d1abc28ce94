/* SPDX-License-Identifier: Apache-2.0
 *
 * The tool that mstx is given, called as its library calls it: contexts made by hand, with room for all functions or for
 * some, several at once; programs that leave unset what torch_npu leaves unset; another tool behind ours that takes all
 * calls, some, or fails. What was recorded is read from the rings.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hook/current_device.h"
#include "hook/device_memory.h"
#include "hook/library.h"
#include "hook/linker.h"
#include "hook/mstx.h"
#include "hook/notes.h"
#include "record/session.h"
#include "ring_reader.h"

#define RECORDS_MAX  4096
#define CALLS_MAX    64
#define THREAD_COUNT 8
#define ROUND_COUNT  50
#define GARBAGE      ((void *)(uintptr_t)0xababababababab01)

/* ---- What ours calls ----------------------------------------------------------------------------------------------- */

static nm_mstx_init *next_tool;   /* found behind us */
static nm_mstx_init *opened_tool; /* found by its library's name alone */
static int sample_count;

void *nm_linker_find(void *handle, const char *name)
{
    nm_mstx_init *found = handle == (void *)&opened_tool ? opened_tool : next_tool;

    return strcmp(name, "InitInjectionMstx") == 0 ? (void *)found : NULL;
}

void *nm_linker_hold(const char *path)
{
    return opened_tool != NULL && strcmp(path, "libprofapi.so") == 0 ? (void *)&opened_tool : NULL;
}

bool nm_library_is_loaded(const char *name)
{
    return nm_linker_hold(name) != NULL;
}

void nm_linker_forget_error(void)
{
    errno = ENOENT;
}

void nm_notes_add(nm_note note, const char *text)
{
    (void)note;
    (void)text;
}

int32_t nm_current_device(void)
{
    return 0;
}

void nm_device_memory_sample(int32_t device)
{
    __atomic_fetch_add(&sample_count, device == 0, __ATOMIC_RELAXED);
}

/* ---- Libraries of mstx --------------------------------------------------------------------------------------------- */

#define CONTEXT_COUNT 3
#define SLOT_COUNT    8

typedef struct context {
    nm_mstx_pointer slots[5][SLOT_COUNT];
    nm_mstx_pointer *entries[5][SLOT_COUNT];
    unsigned sizes[5]; /* 0: the module is refused */
} context;

static context contexts[CONTEXT_COUNT];

static int give(context *one, int module, nm_mstx_table *table, unsigned *size)
{
    if (module < 1 || module > 4 || one->sizes[module] == 0)
        return NM_MSTX_FAIL;
    *table = one->entries[module];
    *size = one->sizes[module];
    return NM_MSTX_SUCCESS;
}

static int give_first(int module, nm_mstx_table *table, unsigned *size)
{
    return give(&contexts[0], module, table, size);
}

static int give_second(int module, nm_mstx_table *table, unsigned *size)
{
    return give(&contexts[1], module, table, size);
}

static int give_third(int module, nm_mstx_table *table, unsigned *size)
{
    return give(&contexts[2], module, table, size);
}

static nm_mstx_get_table *const gets[CONTEXT_COUNT] = {give_first, give_second, give_third};

static void make_contexts(void)
{
    static const unsigned sizes[5] = {0, 5, 6, 5, 0};

    memset(contexts, 0, sizeof contexts);
    for (int i = 0; i < CONTEXT_COUNT; i++) {
        memcpy(contexts[i].sizes, sizes, sizeof sizes);
        for (int module = 1; module < 5; module++)
            for (int id = 1; id < SLOT_COUNT; id++)
                contexts[i].entries[module][id] = &contexts[i].slots[module][id];
    }
}

/* Calls a function as the library would: of the first context. */
#define CALL(name) ((nm_mstx_##name *)contexts[0].slots[NM_MSTX_MODULE_##name][NM_MSTX_ID_##name])

/* ---- Another tool -------------------------------------------------------------------------------------------------- */

typedef struct next_call {
    char text[64];
    uint64_t a, b;
} next_call;

static next_call calls[CALLS_MAX];
static int call_count;
static int init_count;
static uint64_t range_answer; /* of the next range; 0: failed */
static nm_mstx_get_table *next_get;

static void note_call(const char *text, uint64_t a, uint64_t b)
{
    ck_assert_int_lt(call_count, CALLS_MAX);
    snprintf(calls[call_count].text, sizeof calls[0].text, "%s", text);
    calls[call_count].a = a;
    calls[call_count++].b = b;
}

static void check_call(int index, const char *text, uint64_t a, uint64_t b)
{
    ck_assert_int_lt(index, call_count);
    ck_assert_str_eq(calls[index].text, text);
    ck_assert_uint_eq(calls[index].a, a);
    ck_assert_uint_eq(calls[index].b, b);
}

static void next_mark(const char *message, void *stream)
{
    note_call(message, 0, (uint64_t)(uintptr_t)stream);
}

static uint64_t next_range_start(const char *message, void *stream)
{
    note_call(message, 0, (uint64_t)(uintptr_t)stream);
    return range_answer;
}

static void next_range_end(uint64_t range)
{
    note_call("end", 0, range);
}

static void next_get_tool_id(uint64_t *tool)
{
    *tool = 0x1000;
}

static void *next_domain_create(const char *name)
{
    note_call(name, 0, 0);
    return (void *)(uintptr_t)(0x100 + (unsigned char)name[0]);
}

static void next_domain_destroy(void *domain)
{
    note_call("destroy", (uint64_t)(uintptr_t)domain, 0);
}

static void next_domain_mark(void *domain, const char *message, void *stream)
{
    note_call(message, (uint64_t)(uintptr_t)domain, (uint64_t)(uintptr_t)stream);
}

static uint64_t next_domain_range_start(void *domain, const char *message, void *stream)
{
    (void)stream;
    note_call(message, (uint64_t)(uintptr_t)domain, 0);
    return range_answer;
}

static void next_domain_range_end(void *domain, uint64_t range)
{
    note_call("domain end", (uint64_t)(uintptr_t)domain, range);
}

static void *next_heap_register(void *domain, const nm_mstx_heap *heap)
{
    note_call("heap", (uint64_t)(uintptr_t)domain, heap->range->size_bytes);
    return (void *)0x4ea0;
}

static void next_heap_unregister(void *domain, void *heap)
{
    note_call("heap end", (uint64_t)(uintptr_t)domain, (uint64_t)(uintptr_t)heap);
}

static void next_regions_register(void *domain, const nm_mstx_regions *regions)
{
    note_call("regions", (uint64_t)(uintptr_t)domain, regions->count);
    for (size_t i = 0; domain == (void *)(0x100 + 'o') && i < regions->count; i++)
        regions->unset_handles[i] = (void *)(uintptr_t)(0x7000 + i);
}

static void next_regions_unregister(void *domain, const nm_mstx_references *references)
{
    note_call("regions end", (uint64_t)(uintptr_t)domain, (uint64_t)(uintptr_t)references->references[0].region);
}

static int set_from(nm_mstx_get_table *get, int module, int first, int last)
{
#define NEXT_ENTRY(its_module, id, name, result, parameters) [its_module][id] = (nm_mstx_pointer)next_##name,
    static nm_mstx_pointer const functions[4][SLOT_COUNT] = {NM_MSTX_FUNCTIONS(NEXT_ENTRY)};
    nm_mstx_table table = NULL;
    unsigned size = 0;

    if (get(module, &table, &size) != NM_MSTX_SUCCESS)
        return NM_MSTX_FAIL;
    for (int id = first; id <= last && (unsigned)id < size; id++)
        __atomic_store_n(table[id], functions[module][id], __ATOMIC_RELAXED);
    return NM_MSTX_SUCCESS;
}

static int init_next(nm_mstx_get_table *get)
{
    __atomic_fetch_add(&init_count, 1, __ATOMIC_RELAXED);
    set_from(get, 1, 1, 4);
    set_from(get, 2, 1, 5);
    set_from(get, 3, 1, 4);
    return NM_MSTX_SUCCESS;
}

static int init_next_with_marks_alone(nm_mstx_get_table *get)
{
    return set_from(get, 1, 1, 1);
}

static int init_next_and_fail(nm_mstx_get_table *get)
{
    init_next(get);
    return NM_MSTX_FAIL;
}

/* Sets nothing yet. */
static int init_next_later(nm_mstx_get_table *get)
{
    next_get = get;
    return NM_MSTX_SUCCESS;
}

/* Hands what it got to the first tool that it finds, which is ours. */
static int init_next_in_a_circle(nm_mstx_get_table *get)
{
    init_count++;
    return InitInjectionMstx(get);
}

/* ---- The test ------------------------------------------------------------------------------------------------------ */

static session_fixture fixture;
static ring_reader reading;
static reader_record *records;
static size_t record_count;

static void collect(void *unused, const reader_record *record)
{
    (void)unused;
    ck_assert_uint_lt(record_count, RECORDS_MAX);
    records[record_count++] = *record;
}

static void setup(void)
{
    records = calloc(RECORDS_MAX, sizeof *records);
    record_count = 0;
    call_count = init_count = sample_count = 0;
    range_answer = 0;
    next_tool = opened_tool = NULL;
    make_contexts();
    session_open(&fixture);
    reader_open(&reading, &fixture);
    ck_assert(nm_session_join(fixture.folder));
}

static void teardown(void)
{
    nm_state_leave();
    reader_close(&reading);
    session_close(&fixture);
    free(records);
}

static void inject(nm_mstx_init *next)
{
    next_tool = next;
    ck_assert_int_eq(InitInjectionMstx(give_first), 0);
}

static size_t count_of(unsigned kind)
{
    size_t count = 0;

    for (size_t i = 0; i < record_count; i++)
        count += records[i].kind == kind;
    return count;
}

static const reader_record *nth(unsigned kind, size_t index)
{
    for (size_t i = 0; i < record_count; i++)
        if (records[i].kind == kind && index-- == 0)
            return &records[i];
    ck_abort_msg("no such record of kind %u", kind);
    return NULL;
}

/* The number of the heap with that name on that device. */
static uint64_t heap_number(const char *name, uint64_t level, int device)
{
    for (size_t i = 0; i < record_count; i++) {
        const nm_ring_heap *heap = (const nm_ring_heap *)records[i].words;

        if (records[i].kind == NM_RING_HEAP && heap->level == level && heap->device == (uint64_t)device + 1 &&
            heap->text_bytes == strlen(name) &&
            memcmp(reader_text(&records[i], sizeof *heap), name, strlen(name)) == 0) {
            ck_assert_uint_eq(heap->size_basis, NM_BASIS_BLOCK);
            return heap->local_id;
        }
    }
    ck_abort_msg("no heap %s of device %d", name, device);
    return 0;
}

static void check_alloc(size_t index, uint64_t heap, uint64_t address, uint64_t bytes, uint64_t flags)
{
    const nm_ring_alloc *event = (const nm_ring_alloc *)nth(NM_EVENT_ALLOC, index)->words;

    ck_assert_uint_eq(event->address, address);
    ck_assert_uint_eq(event->block_bytes, bytes);
    ck_assert_uint_eq(event->requested_bytes, 0);
    ck_assert_uint_eq(event->where & 0xffff, heap);
    ck_assert_uint_eq(event->where >> 16 & 0xffff, flags);
}

static void check_free(size_t index, uint64_t heap, uint64_t address)
{
    const nm_ring_free *event = (const nm_ring_free *)nth(NM_EVENT_FREE, index)->words;

    ck_assert_uint_eq(event->address, address);
    ck_assert_uint_eq(event->where & 0xffffffff, heap);
    ck_assert_uint_eq(event->detail, NM_FREE_POOL);
}

static void check_reserved(size_t index, uint64_t heap, uint64_t bytes)
{
    const nm_ring_alloc *event = (const nm_ring_alloc *)nth(NM_EVENT_RESERVED, index)->words;

    ck_assert_uint_eq(event->block_bytes, bytes);
    ck_assert_uint_eq(event->where, heap);
}

static void check_text(unsigned kind, size_t index, size_t head_bytes, const char *text)
{
    const reader_record *record = nth(kind, index);

    ck_assert_mem_eq(reader_text(record, head_bytes), text, strlen(text));
}

static void poll(void)
{
    reader_poll(&reading, collect, NULL);
    ck_assert_uint_eq(reading.torn_count, 0);
}

/* ---- As torch_npu does it ------------------------------------------------------------------------------------------ */

static void torch_heap(void *domain, uint32_t device, uint64_t address, uint64_t reserved_bytes)
{
    nm_mstx_range range = {device, (void *)(uintptr_t)address, reserved_bytes};
    nm_mstx_heap heap = {-85, -85, &range};

    CALL(heap_register)(domain, &heap);
}

static void torch_alloc(const char *name, uint32_t device, uint64_t address, uint64_t bytes, uint64_t reserved_bytes)
{
    void *domain = CALL(domain_create)(name);
    nm_mstx_range range = {device, (void *)(uintptr_t)address, bytes};
    nm_mstx_regions regions = {GARBAGE, -85, 1, &range, GARBAGE};

    torch_heap(domain, device, address, reserved_bytes);
    CALL(regions_register)(domain, &regions);
}

static void torch_free(const char *name, uint32_t device, uint64_t address, uint64_t reserved_bytes)
{
    void *domain = CALL(domain_create)(name);
    nm_mstx_reference reference = {NM_MSTX_BY_POINTER, (void *)(uintptr_t)address};
    nm_mstx_references references = {1, &reference};

    torch_heap(domain, device, address, reserved_bytes);
    CALL(regions_unregister)(domain, &references);
}

/* ---- The tables ---------------------------------------------------------------------------------------------------- */

static void check_filled(const context *one, int module, int id, bool is_filled)
{
    ck_assert_msg((one->slots[module][id] != NULL) == is_filled, "module %d, id %d", module, id);
}

START_TEST(every_table_is_filled_as_far_as_it_goes)
{
    contexts[1].sizes[1] = 3; /* ids 1 and 2 */
    contexts[1].entries[2][4] = NULL;
    contexts[1].sizes[3] = 0;
    contexts[2].sizes[1] = SLOT_COUNT; /* newer than we are */
    for (int i = 0; i < CONTEXT_COUNT; i++)
        ck_assert_int_eq(InitInjectionMstx(gets[i]), 0);
    for (int id = 1; id < 5; id++) {
        check_filled(&contexts[0], 1, id, true);
        check_filled(&contexts[0], 2, id, true);
        check_filled(&contexts[0], 3, id, true);
        check_filled(&contexts[1], 1, id, id < 3);
        check_filled(&contexts[1], 2, id, id != 4);
        check_filled(&contexts[1], 3, id, false);
        check_filled(&contexts[2], 1, id, true);
    }
    check_filled(&contexts[0], 2, 5, true);
    for (int id = 5; id < SLOT_COUNT; id++)
        check_filled(&contexts[2], 1, id, false);
    ck_assert_int_eq(InitInjectionMstx(NULL), 0);
    ck_assert_int_eq(InitInjectionMstx(give_first), 0);
    errno = 33;
    ck_assert_int_eq(InitInjectionMstx(give_first), 0);
    ck_assert_int_eq(errno, 33);
}
END_TEST

/* ---- Pools --------------------------------------------------------------------------------------------------------- */

START_TEST(a_pool_of_torch_npu_is_told_block_by_block)
{
    uint64_t heap;

    inject(NULL);
    torch_alloc("ptaCaching", 3, 0x10000, 512, 2 << 20);
    torch_alloc("ptaCaching", 3, 0x10200, 1024, 2 << 20);
    torch_free("ptaCaching", 3, 0x10000, 2 << 20);
    torch_alloc("ptaCaching", 3, 0x10000, 512, 22 << 20);
    torch_free("ptaCaching", 3, 0x10200, 2 << 20);
    poll();
    heap = heap_number("ptaCaching", NM_LEVEL_POOL, 3);
    ck_assert_uint_eq(count_of(NM_RING_HEAP), 1);
    ck_assert_uint_eq(count_of(NM_EVENT_RESERVED), 3); /* when it changed */
    check_reserved(0, heap, 2 << 20);
    check_reserved(1, heap, 22 << 20);
    check_reserved(2, heap, 2 << 20);
    ck_assert_uint_eq(count_of(NM_EVENT_ALLOC), 3);
    check_alloc(0, heap, 0x10000, 512, 0);
    check_alloc(1, heap, 0x10200, 1024, 0);
    check_alloc(2, heap, 0x10000, 512, 0);
    ck_assert_uint_eq(count_of(NM_EVENT_FREE), 2);
    check_free(0, heap, 0x10000);
    check_free(1, heap, 0x10200);
}
END_TEST

START_TEST(the_sizes_of_workspaces_are_running_totals)
{
    inject(NULL);
    torch_alloc("ptaWorkspace", 0, 0x5000, 512, 4096);
    torch_alloc("ptaWorkspace", 0, 0x6000, 1536, 4096);
    torch_free("ptaWorkspace", 0, 0x5000, 4096);
    poll();
    check_alloc(0, heap_number("ptaWorkspace", NM_LEVEL_WORKSPACE, 0), 0x5000, 512, NM_FLAG_TOTAL);
    check_alloc(1, heap_number("ptaWorkspace", NM_LEVEL_WORKSPACE, 0), 0x6000, 1536, NM_FLAG_TOTAL);
    check_free(0, heap_number("ptaWorkspace", NM_LEVEL_WORKSPACE, 0), 0x5000);
}
END_TEST

START_TEST(every_known_pool_has_a_heap_of_its_own)
{
    static const char *const names[] = {"ptaCaching", "msleaks", "atb", "mindsporeMemPool"};

    inject(NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        torch_alloc(names[i], 0, 0x1000, 512 + i, 4096);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        torch_free(names[i], 0, 0x1000, 4096);
    poll();
    ck_assert_uint_eq(count_of(NM_EVENT_RESERVED), 4);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        check_alloc(i, heap_number(names[i], NM_LEVEL_POOL, 0), 0x1000, 512 + i, 0);
        check_free(i, heap_number(names[i], NM_LEVEL_POOL, 0), 0x1000);
    }
}
END_TEST

START_TEST(a_block_that_ends_is_found_on_its_device)
{
    nm_mstx_reference reference = {NM_MSTX_BY_POINTER, (void *)0x1000};
    nm_mstx_references references = {1, &reference};

    inject(NULL);
    torch_alloc("ptaCaching", 0, 0x1000, 512, 4096);
    torch_alloc("ptaCaching", 1, 0x2000, 512, 4096);
    torch_alloc("ptaCaching", 900, 0x3000, 512, 4096);
    torch_free("ptaCaching", 0, 0x1000, 4096);
    torch_free("ptaCaching", 900, 0x3000, 4096);
    torch_free("ptaCaching", 1, 0x2000, 4096);
    CALL(regions_unregister)(CALL(domain_create)("ptaCaching"), &references); /* without saying a device */
    poll();
    check_free(0, heap_number("ptaCaching", NM_LEVEL_POOL, 0), 0x1000);
    check_free(1, heap_number("ptaCaching", NM_LEVEL_POOL, 900), 0x3000);
    check_free(2, heap_number("ptaCaching", NM_LEVEL_POOL, 1), 0x2000);
    check_free(3, 0, 0x1000);
}
END_TEST

START_TEST(another_domain_has_regions_and_no_samples)
{
    nm_mstx_range ranges[] = {
        {2, (void *)0x1000, 64}, {2, (void *)0x2000, 128}, {2, NULL, 1}, {2, (void *)0x3000, 256}};
    void *handles[4] = {NULL};
    nm_mstx_heap heap = {0, 0, ranges};
    nm_mstx_regions regions = {NULL, 0, 4, ranges, handles};
    nm_mstx_reference references[] = {
        {NM_MSTX_BY_HANDLE, NULL}, {NM_MSTX_BY_POINTER, (void *)0x2000}, {7, (void *)0x3000}};
    nm_mstx_references ends = {3, references};
    void *domain;

    inject(NULL);
    domain = CALL(domain_create)("mine");
    ck_assert_ptr_nonnull(domain);
    regions.unset_heap = CALL(heap_register)(domain, &heap);
    ck_assert_ptr_nonnull(regions.unset_heap);
    CALL(regions_register)(domain, &regions);
    ck_assert_ptr_nonnull(handles[0]);
    references[0].region = handles[0];
    CALL(regions_unregister)(domain, &ends);
    CALL(heap_unregister)(domain, regions.unset_heap);
    poll();
    ck_assert_uint_eq(count_of(NM_EVENT_RESERVED), 0);
    ck_assert_uint_eq(count_of(NM_EVENT_ALLOC), 3);
    check_alloc(0, heap_number("mine", NM_LEVEL_POOL, 2), 0x1000, 64, 0);
    check_alloc(2, heap_number("mine", NM_LEVEL_POOL, 2), 0x3000, 256, 0);
    ck_assert_uint_eq(count_of(NM_EVENT_FREE), 2);
    check_free(0, heap_number("mine", NM_LEVEL_POOL, 2), 0x1000);
    check_free(1, heap_number("mine", NM_LEVEL_POOL, 2), 0x2000);
}
END_TEST

START_TEST(what_makes_no_sense_is_left_alone)
{
    nm_mstx_range range = {0, (void *)0x1000, 64};
    nm_mstx_heap no_range = {0, 0, NULL};
    nm_mstx_regions no_ranges = {NULL, 0, 1, NULL, NULL}, too_many = {NULL, 0, SIZE_MAX, &range, GARBAGE};
    nm_mstx_references no_references = {1, NULL};
    void *const domains[] = {NULL, GARBAGE, (void *)8, NULL};

    inject(NULL);
    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++) {
        void *domain = i < 3 ? domains[i] : CALL(domain_create)("ptaCaching");

        CALL(heap_register)(domain, NULL);
        CALL(heap_register)(domain, &no_range);
        CALL(regions_register)(domain, NULL);
        CALL(regions_register)(domain, &no_ranges);
        CALL(regions_register)(domain, &too_many);
        CALL(regions_unregister)(domain, NULL);
        CALL(regions_unregister)(domain, &no_references);
        CALL(heap_unregister)(domain, NULL);
        CALL(domain_mark)(domain, NULL, NULL);
    }
    CALL(mark)(NULL, NULL);
    CALL(range_end)(CALL(range_start)(NULL, NULL));
    CALL(range_end)(0);
    ck_assert_ptr_eq(CALL(domain_create)(NULL), CALL(domain_create)(""));
    CALL(domain_destroy)(GARBAGE);
    poll();
    ck_assert_uint_eq(count_of(NM_EVENT_ALLOC) + count_of(NM_EVENT_FREE) + count_of(NM_EVENT_RESERVED), 0);
    ck_assert_uint_eq(count_of(NM_EVENT_MARK), 0);
    ck_assert_uint_eq(count_of(NM_EVENT_RANGE_BEGIN), 1); /* without a name */
    ck_assert_uint_eq(count_of(NM_EVENT_RANGE_END), 1);
}
END_TEST

START_TEST(a_domain_is_one_for_its_name_however_many_there_are)
{
    enum { COUNT = 5000 };
    void **domains = calloc(COUNT, sizeof *domains);
    char name[32];

    inject(NULL);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < COUNT; i++) {
            void *domain;

            snprintf(name, sizeof name, "domain %d", i);
            domain = CALL(domain_create)(name);
            ck_assert_ptr_nonnull(domain);
            ck_assert_msg(round == 0 || domain == domains[i], "%s", name);
            domains[i] = domain;
        }
    for (int i = 1; i < COUNT; i++)
        ck_assert_ptr_ne(domains[i], domains[i - 1]);
    CALL(domain_destroy)(domains[7]);
    ck_assert_ptr_eq(CALL(domain_create)("domain 7"), domains[7]);
    free(domains);
}
END_TEST

START_TEST(a_forked_child_tells_its_own)
{
    int status, pid;

    inject(NULL);
    torch_alloc("ptaCaching", 0, 0x1000, 512, 4096);
    pid = fork();
    if (pid == 0) {
        torch_alloc("ptaCaching", 0, 0x2000, 512, 4096);
        torch_free("ptaCaching", 0, 0x1000, 4096);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    poll();
    ck_assert_uint_eq(count_of(NM_EVENT_RESERVED), 2); /* one for each process */
    ck_assert_uint_eq(count_of(NM_RING_HEAP), 2);
    ck_assert_uint_eq(count_of(NM_EVENT_ALLOC), 2);
    ck_assert_uint_eq(count_of(NM_EVENT_FREE), 1);
}
END_TEST

/* ---- Marks, steps, ranges ------------------------------------------------------------------------------------------ */

START_TEST(marks_named_step_are_steps)
{
    static const struct {
        const char *message;
        int64_t step; /* -1: a mark */
    } cases[] = {
        {"step", 1},      {"step start", 2}, {"step 7", 7},       {"step", 8},
        {"step=12", 12},  {"step:0", 0},     {"step = 3", 3},     {"step: 4", 4},
        {"steps", -1},    {"step5", -1},     {"step x", -1},      {"step 5 done", -1},
        {"step end", -1}, {" step 5", -1},   {"Step 5", -1},      {"step=", -1},
        {"step -1", -1},  {"", -1},          {"step start ", -1}, {"step", 5},
        {"forward", -1},  {"ste", -1},       {"step :  9", 9},    {"step 1234567890123456789", -1},
    };
    size_t step_count = 0, mark_count = 0;

    inject(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (i % 2 == 0)
            CALL(mark)(cases[i].message, NULL);
        else
            CALL(domain_mark)(CALL(domain_create)("any"), cases[i].message, NULL);
    }
    poll();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].step >= 0)
            ck_assert_int_eq(((const nm_ring_number *)nth(NM_EVENT_STEP, step_count++)->words)->number, cases[i].step);
        else
            check_text(NM_EVENT_MARK, mark_count++, sizeof(nm_ring_text), cases[i].message);
    }
    ck_assert_uint_eq(count_of(NM_EVENT_STEP), step_count);
    ck_assert_uint_eq(count_of(NM_EVENT_MARK), mark_count);
    ck_assert_int_eq(sample_count, (int)(step_count + mark_count));
}
END_TEST

static void *end_in_another_thread(void *number)
{
    CALL(range_end)(*(uint64_t *)number);
    return NULL;
}

static int64_t range_number(unsigned kind, size_t index)
{
    const reader_record *record = nth(kind, index);

    return kind == NM_EVENT_RANGE_BEGIN ? ((const nm_ring_range *)record->words)->number
                                        : ((const nm_ring_number *)record->words)->number;
}

START_TEST(ranges_end_where_the_program_says)
{
    const nm_ring_range *range;
    uint64_t first, second, third;
    void *domain;
    pthread_t thread;

    inject(NULL);
    domain = CALL(domain_create)("any");
    first = CALL(range_start)("first", (void *)0x77);
    second = CALL(domain_range_start)(domain, "second", NULL);
    third = CALL(range_start)("third", NULL);
    ck_assert(first != 0 && second != 0 && third != 0 && first != second && second != third);
    pthread_create(&thread, NULL, end_in_another_thread, &first);
    pthread_join(thread, NULL);
    CALL(domain_range_end)(domain, second);
    CALL(range_end)(third);
    poll();
    ck_assert_uint_eq(count_of(NM_EVENT_RANGE_BEGIN), 3);
    ck_assert_uint_eq(count_of(NM_EVENT_RANGE_END), 3);
    check_text(NM_EVENT_RANGE_BEGIN, 0, sizeof *range, "first");
    range = (const nm_ring_range *)nth(NM_EVENT_RANGE_BEGIN, 0)->words;
    ck_assert_uint_eq(range->detail, NM_RANGE_USER);
    ck_assert_uint_eq(range->flags, NM_FLAG_STREAM);
    ck_assert_uint_eq(range->stream, 0x77);
    range = (const nm_ring_range *)nth(NM_EVENT_RANGE_BEGIN, 1)->words;
    ck_assert_uint_eq(range->flags, 0);
    /* Rings are read one after the other: the other thread's end comes last. */
    ck_assert_int_eq(range_number(NM_EVENT_RANGE_END, 0), range_number(NM_EVENT_RANGE_BEGIN, 1));
    ck_assert_int_eq(range_number(NM_EVENT_RANGE_END, 1), range_number(NM_EVENT_RANGE_BEGIN, 2));
    ck_assert_int_eq(range_number(NM_EVENT_RANGE_END, 2), range_number(NM_EVENT_RANGE_BEGIN, 0));
}
END_TEST

START_TEST(ranges_of_our_domains_are_categories_and_modules)
{
    static const char *const names[] = {"npumem.category", "npumem.module", "npumem"};
    static const uint64_t kinds[] = {NM_RANGE_CATEGORY, NM_RANGE_MODULE, NM_RANGE_USER};

    inject(NULL);
    for (size_t i = 0; i < 3; i++) {
        void *domain = CALL(domain_create)(names[i]);

        CALL(domain_range_end)(domain, CALL(domain_range_start)(domain, "step start", NULL));
        CALL(domain_range_end)(domain, CALL(domain_range_start)(domain, "KV cache", NULL));
    }
    poll();
    ck_assert_uint_eq(count_of(NM_EVENT_STEP), 1); /* of the last domain alone */
    ck_assert_uint_eq(count_of(NM_EVENT_RANGE_BEGIN), 5);
    for (size_t i = 0; i < 3; i++)
        ck_assert_uint_eq(((const nm_ring_range *)nth(NM_EVENT_RANGE_BEGIN, 2 * i)->words)->detail, kinds[i]);
    check_text(NM_EVENT_RANGE_BEGIN, 1, sizeof(nm_ring_range), "KV cache");
}
END_TEST

START_TEST(a_range_named_step_start_is_a_step)
{
    uint64_t range;

    inject(NULL);
    for (int i = 0; i < 3; i++) {
        range = CALL(range_start)("step start", (void *)0x77);
        ck_assert_uint_ne(range, 0);
        CALL(range_end)(range);
    }
    poll();
    ck_assert_uint_eq(count_of(NM_EVENT_STEP), 3);
    ck_assert_int_eq(((const nm_ring_number *)nth(NM_EVENT_STEP, 2)->words)->number, 3);
    ck_assert_uint_eq(count_of(NM_EVENT_RANGE_BEGIN) + count_of(NM_EVENT_RANGE_END), 0);
}
END_TEST

START_TEST(marks_of_operators_are_their_ranges)
{
    static const char *const marks[] = {"b: name=aten.add", "b: name=aten.add",    "b: name=aten.mul",
                                        "e: name=aten.mul", "ac:ptr=1;is_write=1", "e: name=aten.add",
                                        "e: name=aten.add", "e: name=aten.none"};
    char mark[64];

    inject(NULL);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        snprintf(mark, sizeof mark, "memscope-aten-%s", marks[i]);
        CALL(mark)(mark, NULL);
    }
    poll();
    ck_assert_uint_eq(count_of(NM_EVENT_MARK), 0);
    ck_assert_uint_eq(count_of(NM_EVENT_RANGE_BEGIN), 3);
    ck_assert_uint_eq(count_of(NM_EVENT_RANGE_END), 3);
    check_text(NM_EVENT_RANGE_BEGIN, 2, sizeof(nm_ring_range), "aten.mul");
    ck_assert_uint_eq(((const nm_ring_range *)nth(NM_EVENT_RANGE_BEGIN, 0)->words)->detail, NM_RANGE_OPERATOR);
    ck_assert_int_ne(range_number(NM_EVENT_RANGE_BEGIN, 0), range_number(NM_EVENT_RANGE_BEGIN, 1));
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(range_number(NM_EVENT_RANGE_END, i), range_number(NM_EVENT_RANGE_BEGIN, 2 - i));
}
END_TEST

/* ---- Another tool behind ours -------------------------------------------------------------------------------------- */

START_TEST(the_next_tool_gets_every_call_with_its_own_handles)
{
    nm_mstx_range range = {0, (void *)0x1000, 64};
    nm_mstx_heap heap = {0, 0, &range};
    void *handles[1] = {NULL}, *domain;
    nm_mstx_regions regions = {NULL, 0, 1, &range, handles};
    nm_mstx_reference reference = {NM_MSTX_BY_HANDLE, NULL};
    nm_mstx_references references = {1, &reference};
    uint64_t tool = 0;

    inject(init_next);
    domain = CALL(domain_create)("other");
    ck_assert_uint_ne((uintptr_t)domain, 0x100 + 'o');
    CALL(mark)("m", (void *)1);
    CALL(domain_mark)(domain, "dm", (void *)2);
    regions.unset_heap = CALL(heap_register)(domain, &heap);
    ck_assert_uint_eq((uintptr_t)regions.unset_heap, 0x4ea0);
    CALL(regions_register)(domain, &regions);
    ck_assert_uint_eq((uintptr_t)handles[0], 0x7000);
    reference.region = handles[0];
    CALL(regions_unregister)(domain, &references);
    CALL(heap_unregister)(domain, regions.unset_heap);
    CALL(domain_destroy)(domain);
    CALL(get_tool_id)(&tool);
    ck_assert_uint_eq(tool, 0x1000);
    check_call(0, "other", 0, 0);
    check_call(1, "m", 0, 1);
    check_call(2, "dm", 0x100 + 'o', 2);
    check_call(3, "heap", 0x100 + 'o', 64);
    check_call(4, "regions", 0x100 + 'o', 1);
    check_call(5, "regions end", 0x100 + 'o', 0x7000);
    check_call(6, "heap end", 0x100 + 'o', 0x4ea0);
    check_call(7, "destroy", 0x100 + 'o', 0);
    ck_assert_int_eq(call_count, 8);
    poll();
    check_alloc(0, heap_number("other", NM_LEVEL_POOL, 0), 0x1000, 64, 0);
    check_free(0, heap_number("other", NM_LEVEL_POOL, 0), 0x1000); /* by the next tool's handle */
}
END_TEST

START_TEST(the_next_tool_sees_what_torch_npu_passes)
{
    inject(init_next);
    torch_alloc("ptaCaching", 0, 0x1000, 512, 4096);
    torch_free("ptaCaching", 0, 0x1000, 4096);
    check_call(0, "ptaCaching", 0, 0);
    check_call(1, "heap", 0x100 + 'p', 4096);
    check_call(2, "regions", 0x100 + 'p', 1);
    check_call(3, "ptaCaching", 0, 0); /* each time, as without us */
    check_call(4, "heap", 0x100 + 'p', 4096);
    check_call(5, "regions end", 0x100 + 'p', 0x1000);
    poll();
    ck_assert_uint_eq(count_of(NM_EVENT_ALLOC), 1);
    ck_assert_uint_eq(count_of(NM_EVENT_FREE), 1);
}
END_TEST

START_TEST(numbers_of_ranges_pair_for_both)
{
    uint64_t theirs, ours, domains;
    void *domain;

    inject(init_next);
    domain = CALL(domain_create)("d");
    range_answer = 5;
    theirs = CALL(range_start)("theirs", NULL);
    domains = CALL(domain_range_start)(domain, "domain's", NULL); /* the same number, in a domain */
    range_answer = 0;
    ours = CALL(range_start)("ours", NULL);
    ck_assert_uint_eq(theirs, 5);
    ck_assert_uint_eq(domains, 5);
    ck_assert(ours != 0 && ours != 5);
    call_count = 0;
    CALL(range_end)(ours);
    CALL(range_end)(theirs);
    CALL(domain_range_end)(domain, domains);
    check_call(0, "end", 0, 0);
    check_call(1, "end", 0, 5);
    check_call(2, "domain end", 0x100 + 'd', 5);
    range_answer = 6;
    ck_assert_uint_eq(CALL(range_start)("step start", NULL), 6);
    CALL(range_end)(6);
    check_call(4, "end", 0, 6);
    poll();
    ck_assert_uint_eq(count_of(NM_EVENT_STEP), 1);
    ck_assert_uint_eq(count_of(NM_EVENT_RANGE_BEGIN), 3);
    ck_assert_int_eq(range_number(NM_EVENT_RANGE_END, 0), range_number(NM_EVENT_RANGE_BEGIN, 2));
    ck_assert_int_eq(range_number(NM_EVENT_RANGE_END, 1), range_number(NM_EVENT_RANGE_BEGIN, 0));
    ck_assert_int_eq(range_number(NM_EVENT_RANGE_END, 2), range_number(NM_EVENT_RANGE_BEGIN, 1));
    ck_assert_int_ne(range_number(NM_EVENT_RANGE_BEGIN, 0), range_number(NM_EVENT_RANGE_BEGIN, 1));
}
END_TEST

START_TEST(a_next_tool_that_takes_some_calls_gets_those)
{
    uint64_t tool = 77, range;

    inject(init_next_with_marks_alone);
    CALL(mark)("seen", NULL);
    range = CALL(range_start)("unseen", NULL);
    ck_assert_uint_ne(range, 0);
    CALL(range_end)(range);
    CALL(get_tool_id)(&tool);
    ck_assert_uint_eq(tool, 77);
    torch_alloc("ptaCaching", 0, 0x1000, 512, 4096);
    ck_assert_int_eq(call_count, 1);
    check_call(0, "seen", 0, 0);
    poll();
    ck_assert_uint_eq(count_of(NM_EVENT_RANGE_END), 1);
    ck_assert_uint_eq(count_of(NM_EVENT_ALLOC), 1);
}
END_TEST

START_TEST(a_next_tool_that_fails_gets_nothing)
{
    inject(init_next_and_fail);
    CALL(mark)("m", NULL);
    torch_alloc("ptaCaching", 0, 0x1000, 512, 4096);
    ck_assert_int_eq(call_count, 0);
    poll();
    ck_assert_uint_eq(count_of(NM_EVENT_MARK), 1);
    ck_assert_uint_eq(count_of(NM_EVENT_ALLOC), 1);
}
END_TEST

START_TEST(a_next_tool_may_set_its_functions_later)
{
    inject(init_next_later);
    CALL(mark)("before", NULL);
    ck_assert_int_eq(set_from(next_get, 1, 1, 1), NM_MSTX_SUCCESS);
    CALL(mark)("after", NULL);
    ck_assert_int_eq(call_count, 1);
    check_call(0, "after", 0, 0);
}
END_TEST

START_TEST(a_next_tool_out_of_sight_is_found_by_its_librarys_name)
{
    opened_tool = init_next_with_marks_alone;
    inject(NULL);
    CALL(mark)("m", NULL);
    check_call(0, "m", 0, 0);
}
END_TEST

START_TEST(a_next_tool_that_comes_back_to_us_ends_the_circle)
{
    inject(init_next_in_a_circle);
    ck_assert_int_eq(init_count, 1);
    CALL(mark)("m", NULL);
    poll();
    ck_assert_uint_eq(count_of(NM_EVENT_MARK), 1);
}
END_TEST

static int init_next_of_a_newer_library(nm_mstx_get_table *get)
{
    nm_mstx_table table = NULL;
    unsigned size = 0;

    ck_assert_int_eq(get(1, &table, &size), NM_MSTX_SUCCESS);
    ck_assert_uint_eq(size, 7);
    ck_assert_ptr_null(table[0]);
    *table[6] = (nm_mstx_pointer)next_mark;
    ck_assert_int_eq(get(2, &table, &size), NM_MSTX_SUCCESS);
    ck_assert_uint_eq(size, 6);
    ck_assert_int_eq(get(3, &table, &size), NM_MSTX_FAIL); /* as the library said */
    ck_assert_int_eq(get(4, &table, &size), NM_MSTX_SUCCESS);
    *table[1] = (nm_mstx_pointer)next_mark;
    ck_assert_int_eq(get(0, &table, &size), NM_MSTX_FAIL);
    ck_assert_int_eq(get(1, NULL, &size), NM_MSTX_FAIL);
    return NM_MSTX_SUCCESS;
}

START_TEST(what_is_not_known_here_goes_to_the_next_tool)
{
    contexts[0].sizes[1] = 7;
    contexts[0].sizes[3] = 0;
    contexts[0].sizes[4] = 2;
    inject(init_next_of_a_newer_library);
    ck_assert_ptr_eq((void *)contexts[0].slots[1][6], (void *)next_mark);
    ck_assert_ptr_eq((void *)contexts[0].slots[4][1], (void *)next_mark);
    ck_assert_ptr_ne((void *)contexts[0].slots[1][1], NULL);
}
END_TEST

START_TEST(every_library_that_asks_asks_the_next_tool_too)
{
    next_tool = init_next;
    for (int i = 0; i < CONTEXT_COUNT; i++)
        InitInjectionMstx(gets[i]);
    ck_assert_int_eq(init_count, CONTEXT_COUNT);
    for (int i = 0; i < CONTEXT_COUNT; i++)
        ((nm_mstx_mark *)contexts[i].slots[1][1])("m", NULL);
    ck_assert_int_eq(call_count, CONTEXT_COUNT);
    ck_assert_ptr_eq((void *)contexts[0].slots[2][1], (void *)contexts[2].slots[2][1]);
}
END_TEST

/* ---- Threads ------------------------------------------------------------------------------------------------------- */

/* As init_next, with functions that any thread may call at any time. */
static uint64_t start_counted(const char *message, void *stream)
{
    static uint64_t last;

    (void)message;
    (void)stream;
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

static int init_counting(nm_mstx_get_table *get)
{
    nm_mstx_table table;
    unsigned size;

    __atomic_fetch_add(&init_count, 1, __ATOMIC_RELAXED);
    if (get(1, &table, &size) != NM_MSTX_SUCCESS)
        return NM_MSTX_FAIL;
    /* Another context may be offering the same entry to another thread's tool at this moment. */
    __atomic_store_n(__atomic_load_n(&table[2], __ATOMIC_RELAXED), (nm_mstx_pointer)start_counted, __ATOMIC_RELAXED);
    return NM_MSTX_SUCCESS;
}

static void *shared_domains[THREAD_COUNT];
static pthread_barrier_t barrier;

static void *run_worker(void *argument)
{
    size_t index = (size_t)(uintptr_t)argument;

    pthread_barrier_wait(&barrier);
    InitInjectionMstx(gets[index % CONTEXT_COUNT]);
    shared_domains[index] = nm_mstx_on_domain_create("shared");
    for (uint64_t i = 0; i < ROUND_COUNT; i++) {
        uint64_t address = (index * ROUND_COUNT + i + 1) * 0x1000;
        nm_mstx_range range = {(uint32_t)(index % 2), (void *)(uintptr_t)address, 512};
        nm_mstx_regions regions = {GARBAGE, -85, 1, &range, GARBAGE};
        nm_mstx_reference reference = {NM_MSTX_BY_POINTER, (void *)(uintptr_t)address};
        nm_mstx_references references = {1, &reference};
        nm_mstx_heap heap = {-85, -85, &range};
        void *domain = nm_mstx_on_domain_create("ptaCaching");
        uint64_t number = nm_mstx_on_range_start("range", NULL);

        nm_mstx_on_heap_register(domain, &heap);
        nm_mstx_on_regions_register(domain, &regions);
        nm_mstx_on_regions_unregister(domain, &references);
        nm_mstx_on_range_end(number);
        nm_mstx_on_mark("step", NULL);
    }
    pthread_barrier_wait(&barrier); /* nobody's ring passes to another thread: nobody empties it */
    return NULL;
}

START_TEST(threads_may_do_all_of_it_at_once)
{
    pthread_t threads[THREAD_COUNT];
    bool is_seen[THREAD_COUNT * ROUND_COUNT + 1] = {false};

    next_tool = init_counting;
    pthread_barrier_init(&barrier, NULL, THREAD_COUNT);
    for (size_t i = 0; i < THREAD_COUNT; i++)
        pthread_create(&threads[i], NULL, run_worker, (void *)(uintptr_t)i);
    for (size_t i = 0; i < THREAD_COUNT; i++)
        pthread_join(threads[i], NULL);
    poll();
    for (size_t i = 1; i < THREAD_COUNT; i++)
        ck_assert_ptr_eq(shared_domains[i], shared_domains[0]);
    ck_assert_int_eq(init_count, THREAD_COUNT);
    ck_assert_uint_eq(count_of(NM_EVENT_ALLOC), THREAD_COUNT * ROUND_COUNT);
    ck_assert_uint_eq(count_of(NM_EVENT_FREE), THREAD_COUNT * ROUND_COUNT);
    ck_assert_uint_eq(count_of(NM_EVENT_RANGE_BEGIN), THREAD_COUNT * ROUND_COUNT);
    ck_assert_uint_eq(count_of(NM_EVENT_RANGE_END), THREAD_COUNT * ROUND_COUNT);
    ck_assert_uint_eq(count_of(NM_EVENT_STEP), THREAD_COUNT * ROUND_COUNT);
    for (size_t i = 0; i < THREAD_COUNT * ROUND_COUNT; i++) {
        int64_t number = ((const nm_ring_number *)nth(NM_EVENT_STEP, i)->words)->number;

        ck_assert(number >= 1 && number <= THREAD_COUNT * ROUND_COUNT && !is_seen[number]);
        is_seen[number] = true;
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("mstx");
    TCase *tests = tcase_create("mstx");

    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, every_table_is_filled_as_far_as_it_goes);
    tcase_add_test(tests, a_pool_of_torch_npu_is_told_block_by_block);
    tcase_add_test(tests, the_sizes_of_workspaces_are_running_totals);
    tcase_add_test(tests, every_known_pool_has_a_heap_of_its_own);
    tcase_add_test(tests, a_block_that_ends_is_found_on_its_device);
    tcase_add_test(tests, another_domain_has_regions_and_no_samples);
    tcase_add_test(tests, what_makes_no_sense_is_left_alone);
    tcase_add_test(tests, a_domain_is_one_for_its_name_however_many_there_are);
    tcase_add_test(tests, a_forked_child_tells_its_own);
    tcase_add_test(tests, marks_named_step_are_steps);
    tcase_add_test(tests, ranges_end_where_the_program_says);
    tcase_add_test(tests, ranges_of_our_domains_are_categories_and_modules);
    tcase_add_test(tests, a_range_named_step_start_is_a_step);
    tcase_add_test(tests, marks_of_operators_are_their_ranges);
    tcase_add_test(tests, the_next_tool_gets_every_call_with_its_own_handles);
    tcase_add_test(tests, the_next_tool_sees_what_torch_npu_passes);
    tcase_add_test(tests, numbers_of_ranges_pair_for_both);
    tcase_add_test(tests, a_next_tool_that_takes_some_calls_gets_those);
    tcase_add_test(tests, a_next_tool_that_fails_gets_nothing);
    tcase_add_test(tests, a_next_tool_may_set_its_functions_later);
    tcase_add_test(tests, a_next_tool_out_of_sight_is_found_by_its_librarys_name);
    tcase_add_test(tests, a_next_tool_that_comes_back_to_us_ends_the_circle);
    tcase_add_test(tests, what_is_not_known_here_goes_to_the_next_tool);
    tcase_add_test(tests, every_library_that_asks_asks_the_next_tool_too);
    tcase_add_test(tests, threads_may_do_all_of_it_at_once);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(make_suite());
    int failed_count;

    srunner_set_fork_status(runner, CK_FORK); /* a tool behind ours stays there for the process */
    srunner_run_all(runner, CK_ENV);
    failed_count = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed_count == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
