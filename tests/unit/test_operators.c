/* SPDX-License-Identifier: Apache-2.0
 *
 * Thunks in front of second stages: the operators are functions of the test that answer by a known rule, so that what
 * they got, what came back and what was recorded can be told from the call alone. Built with 64 thunks.
 */
#include <check.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hook/arena.h"
#include "hook/operators.h"
#include "npumem.h"
#include "record/session.h"
#include "ring_reader.h"

#define RECORDS_MAX   4096
#define THREADS       8
#define NESTED        150
#define AT(value)     ((void *)(uintptr_t)(value))
#define RESULT(value) ((int64_t)((value) ^ UINT64_C(0x5a5a5a5aa5a5a5a5)))

typedef int64_t second_stage(void *workspace, uint64_t workspace_bytes, void *executor, void *stream);

static session_fixture fixture;
static ring_reader reading;
static reader_record *records;
static size_t record_count;

/* ---- Operators ----------------------------------------------------------------------------------------------------- */

static struct {
    const void *function;
    void *workspace, *executor, *stream;
    uint64_t workspace_bytes;
    int error; /* errno as the operator found it */
} seen;

static second_stage *nested; /* called by the operator until the executor has counted down */

/* Every bit of what it gets is in what it returns. */
static int64_t note_call(const void *function, void *workspace, uint64_t workspace_bytes, void *executor, void *stream)
{
    seen.function = function;
    seen.workspace = workspace;
    seen.executor = executor;
    seen.stream = stream;
    seen.workspace_bytes = workspace_bytes;
    seen.error = errno;
    errno = 33;
    return RESULT((uintptr_t)workspace + workspace_bytes * 3 + (uintptr_t)executor * 5 + (uintptr_t)stream * 7);
}

#define OPERATOR(name)                                                                                                 \
    static int64_t name(void *workspace, uint64_t workspace_bytes, void *executor, void *stream)                       \
    {                                                                                                                  \
        return note_call((const void *)name, workspace, workspace_bytes, executor, stream);                            \
    }
OPERATOR(operator_0)
OPERATOR(operator_1)
OPERATOR(operator_2)
OPERATOR(operator_3)

static second_stage *const operators[] = {operator_0, operator_1, operator_2, operator_3};
#define OPERATOR_COUNT (sizeof operators / sizeof *operators)

static int64_t failing_operator(void *workspace, uint64_t workspace_bytes, void *executor, void *stream)
{
    (void)workspace, (void)workspace_bytes, (void)executor, (void)stream;
    return 161002;
}

static int64_t nesting_operator(void *workspace, uint64_t workspace_bytes, void *executor, void *stream)
{
    if (executor == NULL)
        return 0;
    return 1 + nested(workspace, workspace_bytes, (char *)executor - 1, stream);
}

static int64_t leaving_operator(void *workspace, uint64_t workspace_bytes, void *executor, void *stream)
{
    (void)workspace, (void)workspace_bytes, (void)executor, (void)stream;
    pthread_exit(AT(77));
}

static const uintptr_t *expected_frame;
static void *expected_caller;
static bool is_caller_unwound;

static int64_t looking_operator(void *workspace, uint64_t workspace_bytes, void *executor, void *stream)
{
    const uintptr_t *frame = __builtin_frame_address(0);
    void *addresses[64];
    int count = backtrace(addresses, 64);

    (void)workspace, (void)workspace_bytes, (void)executor, (void)stream;
    for (int i = 0; i < count; i++)
        is_caller_unwound = is_caller_unwound || addresses[i] == expected_caller;
    frame = (const uintptr_t *)frame[0];                  /* nm_operator_run's */
    return (const uintptr_t *)frame[0] == expected_frame; /* the caller's */
}

/* The same address twice for the linker's sake: functions and objects have different pointers in C. */
static second_stage *wrap(const char *name, second_stage *function)
{
    second_stage *thunk = NULL;
    void *address, *found;

    memcpy(&address, &function, sizeof address);
    found = nm_operator_wrap(name, address);
    memcpy(&thunk, &found, sizeof found);
    return thunk;
}

static second_stage *wrap_number(unsigned number)
{
    char name[32];

    snprintf(name, sizeof name, "aclnnNumber%u", number);
    return wrap(name, operators[number % OPERATOR_COUNT]);
}

/* ---- Records ------------------------------------------------------------------------------------------------------- */

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
    ck_assert(nm_session_join(fixture.folder));
}

static void teardown(void)
{
    nm_state_leave();
    reader_close(&reading);
    session_close(&fixture);
    free(records);
}

/* The nth record of a kind since the test began, or NULL. */
static const reader_record *find_record(unsigned kind, size_t nth)
{
    reader_poll(&reading, collect, NULL);
    for (size_t i = 0; i < record_count; i++) {
        if (records[i].kind == kind && nth-- == 0)
            return &records[i];
    }
    return NULL;
}

/* One range of an operator with an end; nth counts begins. */
static void check_range(size_t nth, const char *name, const nm_ring_range *wanted, int64_t error_code)
{
    const reader_record *begin = find_record(NM_EVENT_RANGE_BEGIN, nth);
    const nm_ring_number *end = NULL;
    const nm_ring_range *got;

    ck_assert_ptr_nonnull(begin);
    got = (const nm_ring_range *)begin->words;
    ck_assert_uint_eq(got->text_bytes, strlen(name));
    ck_assert_int_eq(memcmp(reader_text(begin, sizeof *got), name, strlen(name)), 0);
    ck_assert_uint_eq(got->detail, NM_RANGE_OPERATOR);
    ck_assert_uint_eq(got->flags, NM_FLAG_STREAM);
    ck_assert_uint_eq(got->stream, wanted->stream);
    ck_assert_uint_eq(got->address, wanted->address);
    ck_assert_uint_eq(got->requested_bytes, wanted->requested_bytes);
    ck_assert_uint_eq(got->model_id, 0);
    for (size_t i = 0; find_record(NM_EVENT_RANGE_END, i) != NULL; i++) {
        end = (const nm_ring_number *)find_record(NM_EVENT_RANGE_END, i)->words;
        if (end->number == got->number)
            break;
        end = NULL;
    }
    ck_assert_ptr_nonnull(end);
    ck_assert_int_eq(end->error_code, error_code);
    ck_assert_uint_ge(end->ticks, got->ticks);
}

/* ---- Calls --------------------------------------------------------------------------------------------------------- */

/* Calls through every thunk with numbers that fill all bits. */
static void call_all(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t bits = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
        second_stage *thunk = wrap_number(i);
        int64_t result;

        ck_assert(thunk != NULL && thunk != operators[i % OPERATOR_COUNT]);
        errno = 4;
        result = thunk(AT(bits), ~bits, AT(bits * 11), AT(bits * 13));
        ck_assert_int_eq(errno, 33);
        ck_assert_int_eq(result, RESULT(bits + ~bits * 3 + bits * 11 * 5 + bits * 13 * 7));
        ck_assert_ptr_eq(seen.function, (const void *)operators[i % OPERATOR_COUNT]);
        ck_assert_ptr_eq(seen.workspace, AT(bits));
        ck_assert_uint_eq(seen.workspace_bytes, ~bits);
        ck_assert_ptr_eq(seen.executor, AT(bits * 11));
        ck_assert_ptr_eq(seen.stream, AT(bits * 13));
        ck_assert_int_eq(seen.error, 4);
    }
}

START_TEST(arguments_and_results_pass_with_all_their_bits)
{
    call_all(NM_OPERATOR_COUNT_MAX);
    for (unsigned i = 0; i < NM_OPERATOR_COUNT_MAX; i++) {
        uint64_t bits = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
        nm_ring_range wanted = {.stream = bits * 13, .address = bits, .requested_bytes = ~bits};
        char name[32];

        snprintf(name, sizeof name, "aclnnNumber%u", i);
        check_range(i, name, &wanted, (int32_t)RESULT(bits + ~bits * 3 + bits * 11 * 5 + bits * 13 * 7));
    }
}
END_TEST

START_TEST(without_a_recording_the_operator_alone_runs)
{
    nm_state_leave();
    call_all(20);
    ck_assert_ptr_null(find_record(NM_EVENT_RANGE_BEGIN, 0));
}
END_TEST

START_TEST(what_failed_is_told_with_its_error)
{
    second_stage *thunk = wrap("aclnnFail", failing_operator);

    ck_assert_int_eq(thunk(NULL, 0, NULL, NULL), 161002);
    check_range(0, "aclnnFail", &(nm_ring_range){0}, 161002);
}
END_TEST

START_TEST(operators_may_call_operators)
{
    nested = wrap("aclnnNest", nesting_operator);
    ck_assert_int_eq(nested(AT(1), 2, AT(NESTED), AT(3)), NESTED);
    for (size_t i = 0; i <= NESTED; i++) /* the outermost returned the most */
        check_range(i, "aclnnNest", &(nm_ring_range){.address = 1, .requested_bytes = 2, .stream = 3},
                    NESTED - (int64_t)i);
}
END_TEST

__attribute__((noinline)) static int64_t call_with_frame(second_stage *thunk)
{
    int64_t result;

    expected_frame = __builtin_frame_address(0);
    expected_caller = __builtin_return_address(0);
    result = thunk(NULL, 0, NULL, NULL);
    __asm__ volatile(""); /* no sibling call */
    return result;
}

START_TEST(stacks_pass_through_a_thunk)
{
    ck_assert_int_eq(call_with_frame(wrap("aclnnLook", looking_operator)), 1);
    ck_assert(is_caller_unwound);
}
END_TEST

static void note_unwound(void *flag)
{
    *(int *)flag = 1;
}

static void *leave_inside(void *flag)
{
    pthread_cleanup_push(note_unwound, flag);
    wrap("aclnnLeave", leaving_operator)(AT(8), 9, NULL, NULL);
    pthread_cleanup_pop(0);
    return NULL;
}

START_TEST(unwinding_ends_the_range_and_goes_on)
{
    const nm_ring_number *end;
    pthread_t thread;
    void *result;
    int flag = 0;

    ck_assert_int_eq(pthread_create(&thread, NULL, leave_inside, &flag), 0);
    ck_assert_int_eq(pthread_join(thread, &result), 0);
    ck_assert_ptr_eq(result, AT(77));
    ck_assert_int_eq(flag, 1);
    ck_assert_ptr_nonnull(find_record(NM_EVENT_RANGE_BEGIN, 0));
    ck_assert_ptr_null(find_record(NM_EVENT_RANGE_END, 1));
    end = (const nm_ring_number *)find_record(NM_EVENT_RANGE_END, 0)->words;
    ck_assert_int_eq(end->number, 0); /* the innermost of the thread */
    ck_assert_int_eq(end->error_code, -1);
}
END_TEST

START_TEST(a_fork_child_has_the_thunks_too)
{
    second_stage *thunk = wrap_number(5);
    int status, child;

    thunk(AT(1), 2, NULL, NULL);
    child = fork();
    if (child == 0) {
        thunk(AT(3), 4, NULL, NULL);
        _exit(wrap_number(5) == thunk && wrap_number(6) != NULL ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    check_range(0, "aclnnNumber5", &(nm_ring_range){.address = 1, .requested_bytes = 2}, (int32_t)RESULT(7));
    check_range(1, "aclnnNumber5", &(nm_ring_range){.address = 3, .requested_bytes = 4}, (int32_t)RESULT(15));
}
END_TEST

/* ---- Names --------------------------------------------------------------------------------------------------------- */

START_TEST(a_thunk_belongs_to_a_name_and_a_function)
{
    char name[] = "aclnnAdd";
    second_stage *thunk = wrap(name, operator_0);

    ck_assert(wrap("aclnnAdd", operator_0) == thunk);
    ck_assert(wrap("aclnnAdd", operator_1) != thunk); /* of another library */
    ck_assert(wrap("aclnnAddV2", operator_0) != thunk);
    ck_assert(wrap("aclnnAdd", thunk) == thunk);
    memset(name, 'x', sizeof name - 1); /* the program takes its text away */
    thunk(NULL, 1, NULL, NULL);
    check_range(0, "aclnnAdd", &(nm_ring_range){.requested_bytes = 1}, (int32_t)RESULT(3));
}
END_TEST

START_TEST(a_name_of_any_length_is_taken)
{
    static char name[100000];

    memset(name, 'n', sizeof name - 1);
    wrap(name, operator_0)(NULL, 0, NULL, NULL);
    wrap("", operator_0)(NULL, 0, NULL, NULL);
    memcpy(name + NPUMEM_TEXT_BYTES_MAX - 3, "...", 4);
    check_range(0, name, &(nm_ring_range){0}, (int32_t)RESULT(0));
    check_range(1, "", &(nm_ring_range){0}, (int32_t)RESULT(0));
}
END_TEST

START_TEST(kept_texts_are_found_again_and_have_a_limit)
{
    char text[NPUMEM_TEXT_BYTES_MAX + 1];
    const char *first = nm_arena_intern("text of one");
    unsigned count = 0;

    ck_assert_ptr_null(nm_arena_allocate((size_t)1 << 20));
    memset(text, 't', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    do {
        memcpy(text, &count, sizeof count);
        text[0] |= 1, text[1] |= 1, text[2] |= 1, text[3] |= 1; /* no zero bytes: some texts are the same */
        count++;
    } while (count < 2000000 && nm_arena_intern(text) != NULL);
    ck_assert_uint_gt(count, 40000);
    ck_assert_uint_lt(count, 2000000);
    ck_assert_ptr_null(wrap("aclnnNoRoom", operator_0));
    ck_assert_ptr_eq(nm_arena_intern("text of one"), first);
    ck_assert_str_eq(first, "text of one");
}
END_TEST

static void check_note(const reader_record *record, int64_t number, const char *name)
{
    const nm_ring_text *note;

    ck_assert_ptr_nonnull(record);
    note = (const nm_ring_text *)record->words;
    ck_assert_uint_eq(note->detail, NM_NOTE_UNSEEN_OPERATOR);
    ck_assert_int_eq(note->number, number);
    ck_assert_uint_eq(note->text_bytes, strlen(name));
    ck_assert_int_eq(memcmp(reader_text(record, sizeof *note), name, strlen(name)), 0);
}

START_TEST(operators_beyond_the_last_thunk_are_called_bare_and_noted)
{
    second_stage *thunks[NM_OPERATOR_COUNT_MAX];
    int status, child = fork();

    if (child == 0) {
        for (unsigned i = 0; i < NM_OPERATOR_COUNT_MAX; i++)
            thunks[i] = wrap_number(i);
        for (unsigned i = 0; i < 5; i++) {
            if (wrap_number(NM_OPERATOR_COUNT_MAX + i) != NULL)
                _exit(1);
        }
        for (unsigned i = 0; i < NM_OPERATOR_COUNT_MAX; i++) {
            if (thunks[i] == NULL || wrap_number(i) != thunks[i])
                _exit(2);
        }
        exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    check_note(find_record(NM_EVENT_NOTE, 0), 0, "aclnnNumber64");
    check_note(find_record(NM_EVENT_NOTE, 1), 4, "aclnnNumber64");
    ck_assert_ptr_null(find_record(NM_EVENT_NOTE, 2));
}
END_TEST

static second_stage *raced[THREADS][NM_OPERATOR_COUNT_MAX];

static void *wrap_in_own_order(void *context)
{
    size_t thread = (size_t)(uintptr_t)context;

    for (size_t i = 0; i < NM_OPERATOR_COUNT_MAX; i++) {
        size_t number = (i * (2 * thread + 1) + thread * 7) % NM_OPERATOR_COUNT_MAX;

        raced[thread][number] = wrap_number((unsigned)number);
    }
    return NULL;
}

/* Every thunk is needed: had one been lost to a race, an operator would have none. */
START_TEST(threads_that_race_get_the_same_thunks)
{
    pthread_t threads[THREADS];

    for (size_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, wrap_in_own_order, AT(i)), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (size_t number = 0; number < NM_OPERATOR_COUNT_MAX; number++) {
        ck_assert(raced[0][number] != NULL);
        for (size_t i = 1; i < THREADS; i++)
            ck_assert(raced[i][number] == raced[0][number]);
        for (size_t other = 0; other < number; other++)
            ck_assert(raced[0][number] != raced[0][other]);
    }
    call_all(NM_OPERATOR_COUNT_MAX);
}
END_TEST

/* ---- The program --------------------------------------------------------------------------------------------------- */

/* Each test in a process of its own: thunks are never given back. */
static void add_test(Suite *suite, const char *name, const TTest *test)
{
    TCase *tests = tcase_create(name);

    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, test);
    suite_add_tcase(suite, tests);
}

static Suite *make_suite(void)
{
    Suite *suite = suite_create("operators");

    add_test(suite, "calls", arguments_and_results_pass_with_all_their_bits);
    add_test(suite, "no recording", without_a_recording_the_operator_alone_runs);
    add_test(suite, "failures", what_failed_is_told_with_its_error);
    add_test(suite, "nesting", operators_may_call_operators);
    add_test(suite, "stacks", stacks_pass_through_a_thunk);
    add_test(suite, "unwinding", unwinding_ends_the_range_and_goes_on);
    add_test(suite, "fork", a_fork_child_has_the_thunks_too);
    add_test(suite, "names", a_thunk_belongs_to_a_name_and_a_function);
    add_test(suite, "long names", a_name_of_any_length_is_taken);
    add_test(suite, "texts", kept_texts_are_found_again_and_have_a_limit);
    add_test(suite, "limit", operators_beyond_the_last_thunk_are_called_bare_and_noted);
    add_test(suite, "threads", threads_that_race_get_the_same_thunks);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(make_suite());
    int failed_count;

    srunner_set_fork_status(runner, CK_FORK);
    srunner_run_all(runner, CK_ENV);
    failed_count = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed_count != 0;
}
