/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts that are too long, and texts that are not safe to show.
 */
#include "base/shown.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static char out[64];

static const char *cut(const char *text, size_t max_bytes)
{
    size_t len = nm_text_cut(text, strlen(text), max_bytes, out);

    ck_assert_uint_le(len, max_bytes);
    out[len] = 0;
    return out;
}

START_TEST(a_text_is_cut_between_characters)
{
    ck_assert_str_eq(cut("", 8), "");
    ck_assert_str_eq(cut("12345678", 8), "12345678");
    ck_assert_str_eq(cut("123456789", 8), "12345...");
    ck_assert_str_eq(cut("1234\xc3\xb6xxxx", 8), "1234..."); /* the fifth byte begins a character of two */
    ck_assert_str_eq(cut("123\xc3\xb6xxxx", 8), "123\xc3\xb6...");
    ck_assert_str_eq(cut("12\xf0\x9f\x90\x8dxxxx", 8), "12...");
    ck_assert_str_eq(cut("1\xf0\x9f\x90\x8dxxxx", 8), "1\xf0\x9f\x90\x8d...");
    ck_assert_str_eq(cut("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", 8), "\x80\x80\x80\x80\x80..."); /* no UTF-8 */
}
END_TEST

START_TEST(characters_are_read_as_rfc_3629_has_them)
{
    static const struct {
        const char *text;
        size_t bytes;
        uint32_t character;
    } cases[] = {
        {"a", 1, 'a'},
        {"\x7f", 1, 0x7f},
        {"\xc2\x80", 2, 0x80},
        {"\xdf\xbf", 2, 0x7ff},
        {"\xe0\xa0\x80", 3, 0x800},
        {"\xef\xbf\xbf", 3, 0xffff},
        {"\xf0\x90\x80\x80", 4, 0x10000},
        {"\xf4\x8f\xbf\xbf", 4, 0x10ffff},
        {"\x80", 1, NM_SHOWN_BAD},
        {"\xc3", 1, NM_SHOWN_BAD},     /* cut */
        {"\xc0\xaf", 1, NM_SHOWN_BAD}, /* longer than it must be */
        {"\xe0\x9f\xbf", 1, NM_SHOWN_BAD},
        {"\xed\xa0\x80", 1, NM_SHOWN_BAD},     /* a surrogate */
        {"\xf4\x90\x80\x80", 1, NM_SHOWN_BAD}, /* past the last */
        {"\xff", 1, NM_SHOWN_BAD},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t character;

        ck_assert_uint_eq(nm_shown_next(cases[i].text, strlen(cases[i].text), &character), cases[i].bytes);
        ck_assert_uint_eq(character, cases[i].character);
    }
}
END_TEST

START_TEST(what_is_not_safe_becomes_a_question_mark)
{
    ck_assert_str_eq(nm_shown_text(out, sizeof out, "plain \xc3\xb6 \xe5\xa4\xa7 \xf0\x9f\x90\x8d"),
                     "plain \xc3\xb6 \xe5\xa4\xa7 \xf0\x9f\x90\x8d");
    ck_assert_str_eq(nm_shown_text(out, sizeof out, "\033]0;x\a\t\n\x7f"), "?]0;x????");
    ck_assert_str_eq(nm_shown_text(out, sizeof out, "\xc2\x9b|\xe2\x80\xae|\xe2\x81\xa6|\xe2\x80\x8b|\xef\xbb\xbf"),
                     "?|?|?|?|?");
    ck_assert_str_eq(nm_shown_text(out, sizeof out, "\xf3\xa0\x81\x81|\xff|\xd8\x9c"), "?|?|?");
    ck_assert_str_eq(nm_shown_text(out, sizeof out, NULL), "");
    ck_assert_str_eq(nm_shown_text(out, 9, "123456789"), "12345...");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shown");
    TCase *tests = tcase_create("shown");

    tcase_add_test(tests, a_text_is_cut_between_characters);
    tcase_add_test(tests, characters_are_read_as_rfc_3629_has_them);
    tcase_add_test(tests, what_is_not_safe_becomes_a_question_mark);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
