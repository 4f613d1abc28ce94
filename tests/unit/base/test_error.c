/* SPDX-License-Identifier: Apache-2.0
 *
 * The error record: one line, whatever is quoted, and never longer than its room.
 */
#include "base/error.h"
#include "support/suites.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

START_TEST(fills_the_record_and_returns_the_status)
{
    nm_error err = {0};

    ck_assert_int_eq(nm_fail(&err, NM_ERR_FORMAT, 4096, "header of %d bytes", 7), NM_ERR_FORMAT);
    ck_assert_int_eq(err.status, NM_ERR_FORMAT);
    ck_assert_uint_eq(err.offset, 4096);
    ck_assert_str_eq(err.text, "header of 7 bytes");
    ck_assert_int_eq(nm_fail(NULL, NM_ERR_FORMAT, 0, "nowhere to write"), NM_ERR_FORMAT);
}
END_TEST

START_TEST(says_in_one_line_what_has_several)
{
    nm_error err = {0};

    nm_fail(&err, NM_ERR_DATABASE, NM_NO_OFFSET, "near \"%s\"", "a\n\tb\r\x1b[31m\x7f");
    ck_assert_str_eq(err.text, "near \"a  b  [31m \"");
    nm_fail_errno(&err, ENOENT, "cannot open %s", "a\nb");
    ck_assert_str_eq(err.text, "cannot open a b: No such file or directory");
}
END_TEST

START_TEST(names_what_could_not_be_written_once)
{
    nm_error err = {0};
    char path[2 * NM_ERROR_PATH_BYTES];

    ck_assert_int_eq(nm_name_written(nm_fail_write(&err, ENOSPC), NULL, &err), NM_ERR_WRITE);
    ck_assert_str_eq(nm_error_subject(&err, "read.zst"), "read.zst");
    ck_assert_str_eq(err.text, "cannot write: No space left on device");
    nm_name_written(NM_ERR_WRITE, "out.db", &err);
    nm_name_written(NM_ERR_WRITE, "another", &err);
    ck_assert_str_eq(nm_error_subject(&err, "read.zst"), "out.db");

    nm_fail(&err, NM_ERR_FORMAT, 4096, "is no trace");
    ck_assert_int_eq(nm_name_written(NM_ERR_FORMAT, "out.db", &err), NM_ERR_FORMAT);
    ck_assert_str_eq(nm_error_subject(&err, "read.zst"), "read.zst");
    ck_assert_int_eq(nm_name_written(nm_fail_write(NULL, ENOSPC), "out.db", NULL), NM_ERR_WRITE);

    memset(path, 'x', sizeof path - 1);
    strcpy(path + sizeof path - 8, "/out.db");
    nm_name_written(nm_fail_write(&err, ENOSPC), path, &err);
    ck_assert_uint_eq(strlen(err.written), NM_ERROR_PATH_BYTES - 1);
    ck_assert_int_eq(strncmp(err.written, "...x", 4), 0);
    ck_assert_str_eq(err.written + NM_ERROR_PATH_BYTES - 8, "/out.db");
}
END_TEST

START_TEST(keeps_letters_beyond_ascii)
{
    nm_error err = {0};

    nm_fail(&err, NM_ERR_USAGE, NM_NO_OFFSET, "%s",
            "Gr\xc3\xb6\xc3\x9f"
            "e");
    ck_assert_str_eq(err.text, "Gr\xc3\xb6\xc3\x9f"
                               "e");
}
END_TEST

START_TEST(cuts_what_is_too_long)
{
    char text[2 * NM_ERROR_TEXT_BYTES];
    nm_error err = {0};

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    nm_fail(&err, NM_ERR_USAGE, NM_NO_OFFSET, "%s", text);
    ck_assert_uint_eq(strlen(err.text), NM_ERROR_TEXT_BYTES - 1);
    nm_fail_errno(&err, ENOENT, "%s", text);
    ck_assert_uint_eq(strlen(err.text), NM_ERROR_TEXT_BYTES - 1);
}
END_TEST

TEST_SUITE(test_error)
{
    Suite *suite = suite_create("error");
    TCase *tests = tcase_create("error");

    tcase_add_test(tests, fills_the_record_and_returns_the_status);
    tcase_add_test(tests, says_in_one_line_what_has_several);
    tcase_add_test(tests, names_what_could_not_be_written_once);
    tcase_add_test(tests, keeps_letters_beyond_ascii);
    tcase_add_test(tests, cuts_what_is_too_long);
    suite_add_tcase(suite, tests);
    return suite;
}
