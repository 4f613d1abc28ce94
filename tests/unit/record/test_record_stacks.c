/* SPDX-License-Identifier: Apache-2.0
 *
 * Call stacks as they stand in rings: the right return addresses, by what the functions themselves see of their callers;
 * each described once; nothing followed that is no frame; the modules that they lie in.
 */
#include <check.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "npumem.h"
#include "record/modules.h"
#include "record/session.h"
#include "ring_reader.h"
#include "support/emulated.h"
#include "support/suites.h"

#define NOINLINE       __attribute__((noinline, optimize("no-optimize-sibling-calls")))
#define STACKS_MAX     200000
#define FUNCTION_BYTES 4096 /* more than any function here has */

typedef struct known_stack {
    uint64_t addresses[NM_RING_STACK_DEPTH_MAX];
    uint64_t depth;
} known_stack;

typedef struct known_module {
    uint64_t base, end;
    char path[NM_RING_TEXT_BYTES_MAX + 1];
} known_module;

static session_fixture fixture;
static ring_reader reading;
static npumem_heap heap;
static known_stack *stacks[STACKS_MAX]; /* by local id, of the one ring */
static known_module modules[256];
static size_t stack_count, module_count, event_count;
static uint64_t last_stack; /* of the last event */

static void take_stack(const nm_ring_stack *record)
{
    ck_assert_uint_lt(record->local_id, STACKS_MAX);
    ck_assert_ptr_null(stacks[record->local_id]); /* a number is given once */
    stacks[record->local_id] = calloc(1, sizeof **stacks);
    memcpy(stacks[record->local_id]->addresses, record + 1, record->depth * 8);
    stacks[record->local_id]->depth = record->depth;
    stack_count++;
}

static void take_module(const nm_ring_module *record)
{
    known_module *module = &modules[module_count++];

    ck_assert_uint_lt(module_count, 256);
    module->base = record->base;
    module->end = record->base + record->bytes;
    memcpy(module->path, record + 1, record->text_bytes);
    module->path[record->text_bytes] = 0;
}

static void take(void *context, const reader_record *record)
{
    (void)context;
    if (record->kind == NM_RING_THREAD) { /* a new owner counts from 1 */
        for (size_t i = 0; i < STACKS_MAX; i++) {
            free(stacks[i]);
            stacks[i] = NULL;
        }
    }
    if (record->kind == NM_RING_STACK)
        take_stack((const nm_ring_stack *)record->words);
    if (record->kind == NM_RING_MODULE)
        take_module((const nm_ring_module *)record->words);
    if (record->kind == NM_EVENT_ALLOC) {
        event_count++;
        last_stack = ((const nm_ring_alloc *)record->words)->where >> 32;
    }
}

static void setup(void)
{
    stack_count = module_count = event_count = 0;
    session_open(&fixture);
    fixture.session->stack_mode = NM_STACKS_NATIVE;
    fixture.session->ring_bytes = 1 << 20;
    reader_open(&reading, &fixture);
}

static void teardown(void)
{
    nm_state_leave();
    reader_close(&reading);
    session_close(&fixture);
    for (size_t i = 0; i < STACKS_MAX; i++) {
        free(stacks[i]);
        stacks[i] = NULL;
    }
}

static bool is_by_frames(void)
{
    return getenv("NPUMEM_UNWIND") != NULL;
}

static void join(void)
{
    ck_assert(nm_session_join(fixture.folder));
    heap = npumem_heap_define(NULL);
}

static const known_stack *read_last_stack(void)
{
    while (reader_poll(&reading, take, NULL) > 0)
        ;
    ck_assert_uint_ne(last_stack, 0);
    ck_assert_ptr_nonnull(stacks[last_stack]);
    return stacks[last_stack];
}

static bool is_in_function(uint64_t address, void (*function)(void))
{
    return address > (uintptr_t)function && address < (uintptr_t)function + FUNCTION_BYTES;
}

/* ---- A chain of known callers -------------------------------------------------------------------------------------- */

static void *inner_return, *middle_return, *outer_return;

NOINLINE static void inner(void)
{
    npumem_alloc(heap, (void *)0x1000, 1, NULL);
    inner_return = __builtin_return_address(0);
}

NOINLINE static void middle(void)
{
    inner();
    middle_return = __builtin_return_address(0);
}

NOINLINE static void outer(void)
{
    middle();
    outer_return = __builtin_return_address(0);
}

static void check_chain(const known_stack *stack)
{
    ck_assert_uint_ge(stack->depth, 4);
    ck_assert(is_in_function(stack->addresses[0], inner));
    ck_assert_uint_eq(stack->addresses[1], (uintptr_t)inner_return);
    ck_assert_uint_eq(stack->addresses[2], (uintptr_t)middle_return);
    ck_assert_uint_eq(stack->addresses[3], (uintptr_t)outer_return);
}

START_TEST(a_native_stack_names_the_callers)
{
    join();
    outer();
    check_chain(read_last_stack());
}
END_TEST

START_TEST(the_same_stack_is_described_once)
{
    uint64_t first;

    join();
    for (int i = 0; i < 1000; i++) {
        outer();
        if (i == 0) {
            read_last_stack();
            first = last_stack;
        }
    }
    read_last_stack();
    ck_assert_uint_eq(last_stack, first);
    ck_assert_uint_eq(event_count, 1000);
    ck_assert_uint_eq(stack_count, 1);
}
END_TEST

START_TEST(the_depth_is_capped)
{
    fixture.session->stack_depth = 2;
    join();
    outer();
    ck_assert_uint_eq(read_last_stack()->depth, 2);
    ck_assert_uint_eq(read_last_stack()->addresses[1], (uintptr_t)inner_return);
}
END_TEST

START_TEST(caller_mode_keeps_the_caller)
{
    fixture.session->stack_mode = NM_STACKS_CALLER;
    join();
    outer();
    ck_assert_uint_eq(read_last_stack()->depth, 1);
    ck_assert(is_in_function(read_last_stack()->addresses[0], inner));
}
END_TEST

START_TEST(none_mode_keeps_nothing)
{
    fixture.session->stack_mode = NM_STACKS_NONE;
    join();
    outer();
    reader_poll(&reading, take, NULL);
    ck_assert_uint_eq(event_count, 1);
    ck_assert_uint_eq(last_stack, 0);
    ck_assert_uint_eq(stack_count + module_count, 0);
}
END_TEST

/* ---- Modules ------------------------------------------------------------------------------------------------------- */

static const known_module *module_of(uint64_t address)
{
    for (size_t i = module_count; i > 0; i--) { /* what was said last holds */
        if (address >= modules[i - 1].base && address < modules[i - 1].end)
            return &modules[i - 1];
    }
    return NULL;
}

/* The first mapping of the file that holds `address`, by a reader of the test's own. */
static uint64_t base_by_stdio(uint64_t address)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[PATH_MAX + 100], path[PATH_MAX], found_path[PATH_MAX] = "";
    unsigned long begin, end, offset, found_begin = 0, first = 0;

    for (int pass = 0; pass < 2; pass++) {
        rewind(maps);
        while (fgets(line, sizeof line, maps) != NULL) {
            path[0] = 0;
            sscanf(line, "%lx-%lx %*s %lx %*s %*s %4095s", &begin, &end, &offset, path);
            if (pass == 0 && address >= begin && address < end) {
                strcpy(found_path, path);
                found_begin = begin;
            }
            if (pass == 1 && begin <= found_begin && offset == 0 && strcmp(path, found_path) == 0)
                first = begin;
        }
    }
    fclose(maps);
    return first;
}

START_TEST(every_address_lies_in_a_module_that_the_ring_describes)
{
    const known_stack *stack;
    char self[PATH_MAX] = "";

    ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof self - 1), 0);
    join();
    outer();
    stack = read_last_stack();
    for (uint64_t i = 0; i < stack->depth; i++) {
        const known_module *module = module_of(stack->addresses[i]);

        ck_assert_ptr_nonnull(module);
        ck_assert_uint_eq(module->base, base_by_stdio(stack->addresses[i]));
    }
    ck_assert_str_eq(module_of(stack->addresses[0])->path, self);
}
END_TEST

typedef void *plugin_function(void (*function)(void));

static void copy_file(const char *from, const char *to)
{
    static char data[1 << 20];
    int fd = open(from, O_RDONLY);
    ssize_t got = read(fd, data, sizeof data);

    ck_assert_int_gt(got, 0);
    close(fd);
    fd = open(to, O_CREAT | O_TRUNC | O_WRONLY, 0700);
    ck_assert_int_eq(write(fd, data, (size_t)got), got);
    close(fd);
}

/* Opens a copy of the plugin, records through it and checks that the stack names that copy. */
static void *record_through(const char *name)
{
    char path[PATH_MAX];
    void *library, *symbol;
    plugin_function *call;

    snprintf(path, sizeof path, "%s/%s", fixture.folder, name);
    copy_file(RECORD_PLUGIN_PATH, path);
    library = dlopen(path, RTLD_NOW);
    ck_assert_msg(library != NULL, "%s", dlerror());
    symbol = dlsym(library, "plugin_call");
    memcpy(&call, &symbol, sizeof call);
    call(inner);
    read_last_stack();
    ck_assert_uint_eq(stacks[last_stack]->addresses[1], (uintptr_t)inner_return);
    ck_assert_ptr_nonnull(module_of((uintptr_t)inner_return));
    ck_assert_str_eq(module_of((uintptr_t)inner_return)->path, path);
    dlclose(library);
    return symbol;
}

START_TEST(a_library_that_takes_the_place_of_another_is_told_apart)
{
    static const char *const names[] = {"one.so", "two.so", "three.so", "four.so"};
    void *last = NULL;
    int same_count = 0;

    join();
    outer();
    nm_modules_note_change();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *now;

        now = record_through(names[i]);
        nm_modules_note_change(); /* as the hook of dlclose does */
        same_count += now == last;
        last = now;
    }
    if (same_count == 0)
        fprintf(stderr, "every library was mapped elsewhere: less was tested\n");
}
END_TEST

/* ---- What is no frame ---------------------------------------------------------------------------------------------- */

/* Calls npumem_alloc with the frame register used for something else, as code without frame pointers does. */
void alloc_without_frame(npumem_heap heap, const void *address, uint64_t bytes, const void *frame_register);

#if defined(__x86_64__)
__asm__(".text\n"
        ".globl alloc_without_frame\n"
        ".type alloc_without_frame, @function\n"
        "alloc_without_frame:\n"
        "    pushq %rbp\n"
        "    movq %rcx, %rbp\n"
        "    xorl %ecx, %ecx\n"
        "    call npumem_alloc\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size alloc_without_frame, .-alloc_without_frame\n");
#else
__asm__(".text\n"
        ".globl alloc_without_frame\n"
        ".type alloc_without_frame, %function\n"
        "alloc_without_frame:\n"
        "    stp x29, x30, [sp, #-16]!\n"
        "    mov x29, x3\n"
        "    mov x3, xzr\n"
        "    bl npumem_alloc\n"
        "    ldp x29, x30, [sp], #16\n"
        "    ret\n"
        ".size alloc_without_frame, .-alloc_without_frame\n");
#endif

static void check_caller_alone(void)
{
    const known_stack *stack = read_last_stack();

    ck_assert_uint_eq(stack->depth, 1);
    ck_assert_uint_gt(stack->addresses[0], (uintptr_t)alloc_without_frame);
    ck_assert_uint_lt(stack->addresses[0], (uintptr_t)alloc_without_frame + 64);
}

START_TEST(a_frame_register_that_holds_anything_is_not_followed)
{
    const uintptr_t values[] = {1, 0x1234, 8, (uintptr_t)-1, (uintptr_t)-16, (uintptr_t)&fixture, 0x7fffffffffff};

    join();
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        alloc_without_frame(heap, (void *)0x1000, 1, (const void *)values[i]);
    check_caller_alone();
    ck_assert_uint_eq(stack_count, 1); /* the addresses are the same */
    ck_assert_uint_eq(event_count, sizeof values / sizeof *values);
}
END_TEST

START_TEST(a_lie_on_the_stack_is_not_believed)
{
    /* What looks like a frame, but its return address follows no call, or lies in data. */
    volatile uintptr_t lies[8] __attribute__((aligned(16)));

    if (is_emulated())
        return; /* without process_vm_readv every address is believed */
    join();
    lies[0] = 0;
    lies[1] = (uintptr_t)&inner;
    alloc_without_frame(heap, (void *)0x1000, 1, (const void *)lies);
    check_caller_alone();
    lies[1] = (uintptr_t)&fixture;
    alloc_without_frame(heap, (void *)0x1000, 1, (const void *)lies);
    check_caller_alone();
}
END_TEST

/* Touches so much stack, and then records. */
NOINLINE static void outer_below(unsigned kibibytes)
{
    volatile char room[1024];

    room[0] = 1;
    if (kibibytes > 0)
        outer_below(kibibytes - 1);
    else
        outer();
    (void)room[0];
}

/* The stack of a thread is found in another way than that of the program. */
static void *call(void *body)
{
    ((void (*)(void))(uintptr_t)body)();
    return NULL;
}

static void in_thread(void (*body)(void))
{
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, call, (void *)(uintptr_t)body), 0);
    pthread_join(thread, NULL);
}

/* A little deeper, and much. */
static void record_below(void)
{
    static const unsigned kibibytes[] = {30, 300, 2048, 8};

    outer(); /* the bounds are found here */
    for (size_t i = 0; i < sizeof kibibytes / sizeof *kibibytes; i++) {
        outer_below(kibibytes[i]);
        check_chain(read_last_stack());
        ck_assert_uint_eq(read_last_stack()->depth, kibibytes[i] < 60 ? read_last_stack()->depth : 64);
        ck_assert_uint_gt(read_last_stack()->depth, kibibytes[i] < 60 ? kibibytes[i] : 60);
    }
}

START_TEST(a_stack_that_has_grown_since_is_still_walked)
{
    join();
    record_below();
    in_thread(record_below);
}
END_TEST

/* By frame pointers nothing is known of such a stack but its first frame. */
static void check_elsewhere(void)
{
    if (is_by_frames())
        ck_assert_uint_eq(read_last_stack()->depth, 1);
    else
        check_chain(read_last_stack());
    ck_assert(is_in_function(read_last_stack()->addresses[0], inner));
}

static ucontext_t home, elsewhere;

static void run_elsewhere(void)
{
    outer();
    swapcontext(&elsewhere, &home);
}

static void go_elsewhere(void)
{
    void *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    outer(); /* now the bounds are known */
    getcontext(&elsewhere);
    elsewhere.uc_stack.ss_sp = memory;
    elsewhere.uc_stack.ss_size = 65536;
    elsewhere.uc_link = &home;
    makecontext(&elsewhere, run_elsewhere, 0);
    swapcontext(&home, &elsewhere);
    check_elsewhere();
    outer();
    check_chain(read_last_stack());
    munmap(memory, 65536);
}

START_TEST(a_stack_of_the_programs_own_is_walked_by_rules_alone)
{
    join();
    go_elsewhere();
    in_thread(go_elsewhere); /* the kernel puts it right below the thread's */
}
END_TEST

static void record_in_handler(int number)
{
    (void)number;
    outer();
}

static void handle_elsewhere(void)
{
    size_t bytes = 65536;
    stack_t own = {.ss_sp = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                   .ss_size = bytes};
    stack_t none = {.ss_flags = SS_DISABLE};
    struct sigaction action = {.sa_handler = record_in_handler, .sa_flags = SA_ONSTACK};

    outer();
    ck_assert_int_eq(sigaltstack(&own, NULL), 0);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    check_elsewhere();
    sigaltstack(&none, NULL);
    munmap(own.ss_sp, bytes);
}

START_TEST(a_handler_on_a_stack_of_its_own_is_walked_by_rules_alone)
{
    join();
    handle_elsewhere();
    in_thread(handle_elsewhere);
}
END_TEST

START_TEST(a_handlers_stack_goes_on_into_what_it_interrupted)
{
    join();
    signal(SIGUSR1, record_in_handler);
    raise(SIGUSR1);
    ck_assert_uint_ge(read_last_stack()->depth, 4);
    ck_assert_uint_eq(read_last_stack()->addresses[3], (uintptr_t)outer_return);
    ck_assert(is_in_function(read_last_stack()->addresses[3], (void (*)(void))record_in_handler));
    signal(SIGUSR1, SIG_DFL);
}
END_TEST

/* ---- Threads ------------------------------------------------------------------------------------------------------- */

static void *record_in_thread(void *unused)
{
    outer();
    return unused;
}

START_TEST(every_thread_describes_its_own_stacks_from_the_first_number_on)
{
    join();
    for (int i = 0; i < 3; i++) {
        pthread_t thread;

        ck_assert_int_eq(pthread_create(&thread, NULL, record_in_thread, NULL), 0);
        pthread_join(thread, NULL);
        check_chain(read_last_stack());
        ck_assert_uint_eq(last_stack, 1);
    }
    ck_assert_uint_eq(stack_count, 3);
}
END_TEST

/* ---- Many stacks --------------------------------------------------------------------------------------------------- */

#define PATH_BITS 16

static uint64_t left_return, right_return; /* of the two calls in walk_path */

NOINLINE static void walk_path(unsigned path, unsigned left_count);

NOINLINE static void walk_left(unsigned path, unsigned left_count)
{
    left_return = (uintptr_t)__builtin_return_address(0);
    walk_path(path >> 1, left_count - 1);
    __asm__ volatile("");
}

NOINLINE static void walk_right(unsigned path, unsigned left_count)
{
    right_return = (uintptr_t)__builtin_return_address(0);
    walk_path(path >> 1, left_count - 1);
    __asm__ volatile("");
}

NOINLINE static void walk_path(unsigned path, unsigned left_count)
{
    if (left_count == 0)
        npumem_alloc(heap, (void *)0x1000, 1, NULL);
    else if (path & 1)
        walk_left(path, left_count);
    else
        walk_right(path, left_count);
    __asm__ volatile("");
}

/* addresses: into walk_path, then into walk_left or walk_right and into walk_path in turn, innermost bit first. */
static unsigned path_of(const known_stack *stack)
{
    unsigned path = 0;

    for (unsigned bit = 0; bit < PATH_BITS; bit++) {
        uint64_t address = stack->addresses[2 + 2 * bit];

        ck_assert(address == left_return || address == right_return);
        path = path << 1 | (address == left_return);
    }
    return path;
}

START_TEST(more_stacks_than_the_table_holds_are_all_told_apart)
{
    join();
    walk_path(0x5555, PATH_BITS);
    read_last_stack();
    for (unsigned path = 0; path < 1u << PATH_BITS; path += 1) {
        walk_path(path, PATH_BITS);
        ck_assert_uint_eq(path_of(read_last_stack()), path);
    }
    ck_assert_uint_ge(stack_count, 1u << PATH_BITS);
    ck_assert_uint_le(stack_count, (1u << PATH_BITS) + 3);
}
END_TEST

static void setup_by_frames(void)
{
    setenv("NPUMEM_UNWIND", "fp", 1);
    setup();
}

static void teardown_by_frames(void)
{
    teardown();
    unsetenv("NPUMEM_UNWIND");
}

static void add_tests(Suite *suite, const char *name, void (*begin)(void), void (*end)(void))
{
    TCase *tests = tcase_create(name);

    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, a_native_stack_names_the_callers);
    tcase_add_test(tests, the_same_stack_is_described_once);
    tcase_add_test(tests, the_depth_is_capped);
    tcase_add_test(tests, caller_mode_keeps_the_caller);
    tcase_add_test(tests, none_mode_keeps_nothing);
    tcase_add_test(tests, every_address_lies_in_a_module_that_the_ring_describes);
    tcase_add_test(tests, a_library_that_takes_the_place_of_another_is_told_apart);
    tcase_add_test(tests, a_frame_register_that_holds_anything_is_not_followed);
    tcase_add_test(tests, a_lie_on_the_stack_is_not_believed);
    tcase_add_test(tests, a_stack_that_has_grown_since_is_still_walked);
    tcase_add_test(tests, a_stack_of_the_programs_own_is_walked_by_rules_alone);
    tcase_add_test(tests, a_handler_on_a_stack_of_its_own_is_walked_by_rules_alone);
    tcase_add_test(tests, a_handlers_stack_goes_on_into_what_it_interrupted);
    tcase_add_test(tests, every_thread_describes_its_own_stacks_from_the_first_number_on);
    tcase_add_test(tests, more_stacks_than_the_table_holds_are_all_told_apart);
    suite_add_tcase(suite, tests);
}

TEST_SUITE(test_record_stacks)
{
    Suite *suite = suite_create("record_stacks");

    unsetenv("NPUMEM_UNWIND");
    add_tests(suite, "by_rules", setup, teardown);
    add_tests(suite, "by_frame_pointers", setup_by_frames, teardown_by_frames);
    return suite;
}
