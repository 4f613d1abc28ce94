/* SPDX-License-Identifier: Apache-2.0
 *
 * Finding an interpreter, and comparing the walk with its answers. The interpreter is this program: it exports the names
 * that CPython 3.10 exports, over hand-made memory, and its answers can be wrong.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_python.h"
#include "record/python.h"

#define EXPORT __attribute__((visibility("default")))
#define DEPTH  5

/* ---- The interpreter ----------------------------------------------------------------------------------------------- */

static fake_python fake;
static uintptr_t thread, running, frames[DEPTH], codes[DEPTH], file_name, function_names[DEPTH];
static int is_finalizing, line_error, calls;
static const char *version_text = "3.10.13 (main)";

EXPORT uintptr_t PyCode_Type[64], PyFrame_Type[64], PyUnicode_Type[64], PyBytes_Type[64];

EXPORT const char *Py_GetVersion(void);
EXPORT void *PyGILState_GetThisThreadState(void);
EXPORT void *_PyThreadState_UncheckedGet(void);
EXPORT int _Py_IsFinalizing(void);
EXPORT void *PyEval_GetFrame(void);
EXPORT int PyFrame_GetLineNumber(void *frame);
EXPORT void *PyObject_GetAttrString(void *object, const char *name);
EXPORT const char *PyUnicode_AsUTF8AndSize(void *string, intptr_t *bytes);
EXPORT void Py_DecRef(void *object);
EXPORT void *PyErr_Occurred(void);
EXPORT void PyErr_Clear(void);

const char *Py_GetVersion(void)
{
    return version_text;
}

void *PyGILState_GetThisThreadState(void)
{
    return (void *)thread;
}

void *_PyThreadState_UncheckedGet(void)
{
    return (void *)running;
}

int _Py_IsFinalizing(void)
{
    return is_finalizing;
}

void *PyEval_GetFrame(void)
{
    calls++;
    return (void *)frames[0];
}

static int number_of(const uintptr_t *list, void *object)
{
    for (int i = 0; i < DEPTH; i++) {
        if (list[i] == (uintptr_t)object)
            return i;
    }
    ck_abort_msg("an object that this interpreter did not give");
}

int PyFrame_GetLineNumber(void *frame)
{
    return 101 + 10 * number_of(frames, frame) + line_error;
}

void *PyObject_GetAttrString(void *object, const char *name)
{
    static uintptr_t none[2];

    if (strcmp(name, "f_code") == 0)
        return (void *)codes[number_of(frames, object)];
    if (strcmp(name, "f_back") == 0) {
        int number = number_of(frames, object);
        return number + 1 < DEPTH ? (void *)frames[number + 1] : (void *)none;
    }
    if (strcmp(name, "co_filename") == 0)
        return (void *)file_name;
    ck_assert_str_eq(name, "co_name");
    return (void *)function_names[number_of(codes, object)];
}

const char *PyUnicode_AsUTF8AndSize(void *string, intptr_t *bytes)
{
    *bytes = *(intptr_t *)((char *)string + NM_PYTHON_STRING_LENGTH);
    return (char *)string + fake.model.layout.string_narrow;
}

void Py_DecRef(void *object)
{
    ck_assert_ptr_nonnull(object);
}

void *PyErr_Occurred(void)
{
    return NULL;
}

void PyErr_Clear(void)
{
}

/* ---- Tests --------------------------------------------------------------------------------------------------------- */

static void setup(void)
{
    uintptr_t frame = 0;

    fake_open(&fake, 0x030a);
    fake.model.code_type = (uintptr_t)PyCode_Type;
    fake.model.frame_type = (uintptr_t)PyFrame_Type;
    fake.model.string_type = (uintptr_t)PyUnicode_Type;
    fake.model.bytes_type = (uintptr_t)PyBytes_Type;
    file_name = fake_string(&fake, "/x/program.py");
    for (int i = DEPTH - 1; i >= 0; i--) {
        char name[8];

        snprintf(name, sizeof name, "f%d", i);
        function_names[i] = fake_string(&fake, name);
        codes[i] = fake_code(&fake, file_name, function_names[i], 100 + 10 * (unsigned)i, fake_next_line(&fake));
        frame = frames[i] = fake_frame(&fake, frame, codes[i], 20);
    }
    thread = fake_thread(&fake, frame);
    running = 0;
    is_finalizing = line_error = calls = 0;
    memset(&nm_process_python, 0, sizeof nm_process_python);
}

static void teardown(void)
{
    fake_close(&fake);
}

START_TEST(it_is_found_and_believed_once_it_agrees)
{
    nm_python_find();
    ck_assert_uint_eq(nm_python_state_now(), NM_PYTHON_UNCHECKED);
    ck_assert_uint_eq(nm_process_python.model.layout.version, 0x030a);
    ck_assert_uint_eq(nm_python_thread_state(), thread);
    nm_python_check();
    ck_assert_msg(nm_python_state_now() == NM_PYTHON_UNCHECKED && calls == 0, "the lock is not held");
    running = thread;
    nm_python_check();
    ck_assert_uint_eq(nm_python_state_now(), NM_PYTHON_CHECKED);
    ck_assert_int_eq(calls, 1);
    nm_python_check();
    ck_assert_msg(calls == 1, "compared a second time");
}
END_TEST

START_TEST(another_thread_with_the_lock_is_not_asked)
{
    nm_python_find();
    running = (uintptr_t)fake.memory;
    nm_python_check();
    ck_assert_int_eq(calls, 0);
    ck_assert_uint_eq(nm_python_state_now(), NM_PYTHON_UNCHECKED);
}
END_TEST

START_TEST(a_difference_ends_the_walk)
{
    nm_python_find();
    running = thread;
    switch (_i) {
    case 0:
        line_error = 1;
        break;
    case 1:
        file_name = fake_string(&fake, "/y/program.py");
        break;
    case 2:
        function_names[DEPTH - 1] = fake_string(&fake, "g4");
        break;
    case 3: /* a frame less than there are */
        fake_set_word(frames[DEPTH - 2], fake.model.layout.frame_previous, 0);
        break;
    case 4: /* a frame twice */
        fake_set_word(frames[DEPTH - 1], fake.model.layout.frame_previous, frames[0]);
        break;
    default: /* no frame at all */
        fake_set_word(frames[1], fake.model.layout.frame_code, frames[1]);
    }
    nm_python_check();
    ck_assert_uint_eq(nm_python_state_now(), NM_PYTHON_DIFFERS);
    ck_assert_uint_eq(nm_python_thread_state(), 0);
    running = 0;
    nm_python_find();
    ck_assert_uint_eq(nm_python_state_now(), NM_PYTHON_DIFFERS);
}
END_TEST

START_TEST(an_interpreter_that_ends_is_not_walked)
{
    nm_python_find();
    running = thread;
    is_finalizing = 1;
    ck_assert_uint_eq(nm_python_thread_state(), 0);
    nm_python_check();
    ck_assert_int_eq(calls, 0);
}
END_TEST

START_TEST(versions_that_are_not_known_are_left_alone)
{
    static const char *const unknown[] = {"3.7.9", "3.14.0", "3.99.1 (x)", "4.0.0", "2.7.18"};

    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        memset(&nm_process_python, 0, sizeof nm_process_python);
        version_text = unknown[i];
        nm_python_find();
        ck_assert_uint_eq(nm_python_state_now(), NM_PYTHON_UNKNOWN_VERSION);
        ck_assert_uint_eq(nm_python_thread_state(), 0);
    }
    version_text = "nonsense";
    memset(&nm_process_python, 0, sizeof nm_process_python);
    nm_python_find();
    ck_assert_uint_eq(nm_python_state_now(), NM_PYTHON_NONE);
    version_text = "3.10.13 (main)";
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("python");
    TCase *tcase = tcase_create("all");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, it_is_found_and_believed_once_it_agrees);
    tcase_add_test(tcase, another_thread_with_the_lock_is_not_asked);
    tcase_add_loop_test(tcase, a_difference_ends_the_walk, 0, 6);
    tcase_add_test(tcase, an_interpreter_that_ends_is_not_walked);
    tcase_add_test(tcase, versions_that_are_not_known_are_left_alone);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(make_suite());
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
