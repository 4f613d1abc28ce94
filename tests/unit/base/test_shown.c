/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts that are too long, and texts that are not safe to show.
 */
#include "base/shown.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "support/foreign.h"
#include "support/suites.h"

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

/* ---- As the page has it, too: tests/web/shown.test.mjs ---- */

static bool is_unsafe[0x110000];

static void note_unsafe(const foreign_line *line)
{
    unsigned long last = strtoul(line->texts[1], NULL, 16);

    for (unsigned long at = strtoul(line->texts[0], NULL, 16); at <= last; at++)
        is_unsafe[at] = true;
}

/* Halves of pairs are no characters of UTF-8 at all. */
START_TEST(each_character_is_safe_or_not)
{
    ck_assert_uint_gt(foreign_each(FOREIGN_PATH, "unsafe", note_unsafe), 5);
    for (uint32_t at = 0; at < 0x110000; at++)
        if (at < 0xd800 || at > 0xdfff)
            ck_assert_msg(nm_shown_is_safe(at) != is_unsafe[at], "U+%04x", (unsigned)at);
    ck_assert(!nm_shown_is_safe(NM_SHOWN_BAD));
}
END_TEST

static void check_cell(const foreign_line *line)
{
    nm_buffer cell = {0};
    nm_error err = {0};

    ck_assert_int_eq(nm_shown_cell(&cell, line->texts[0], line->lens[0], &err), NM_OK);
    ck_assert_msg(cell.len == line->lens[1] && (cell.len == 0 || memcmp(cell.data, line->texts[1], cell.len) == 0),
                  "'%s' is '%.*s', not '%s'", line->texts[0], (int)cell.len, (const char *)cell.data, line->texts[1]);
    nm_buffer_free(&cell);
}

START_TEST(no_cell_is_a_formula)
{
    ck_assert_uint_gt(foreign_each(FOREIGN_PATH, "cell", check_cell), 30);
}
END_TEST

START_TEST(a_character_in_json_loses_nothing)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {{"a", "a"},
                 {"\"", "\\\""},
                 {"\\", "\\\\"},
                 {"\n", "\\u000a"},
                 {"\033", "\\u001b"},
                 {"\xe5\xa4\xa7", "\xe5\xa4\xa7"},
                 {"\xe2\x80\xae", "\\u202e"},
                 {"\xff", "\\ufffd"},
                 {"\xf3\xa0\x81\x81", "\\udb40\\udc41"}, /* U+E0041 */
                 {"\xf0\x9f\x90\x8d", "\xf0\x9f\x90\x8d"}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char escaped[NM_SHOWN_ESCAPE_BYTES + 1];
        uint32_t character;
        size_t bytes = nm_shown_next(cases[i].text, strlen(cases[i].text), &character);

        escaped[nm_shown_escape(escaped, character, cases[i].text, bytes)] = 0;
        ck_assert_str_eq(escaped, cases[i].expected);
    }
}
END_TEST

START_TEST(a_line_is_one_line)
{
    char *text = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);

    nm_shown_print(file, "%s: %s %d\n", "a\nb", "\033[31m", 7);
    nm_shown_print(file, "%s", "\xe2\x80\xae");
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_str_eq(text, "a?b: ?[31m 7\n?");
    free(text);
}
END_TEST

/* Each as it stands, or a file of it, is what a shell makes of the word. */
START_TEST(a_word_is_one_word_of_a_shell)
{
    static const char *const cases[][2] = {{"run.db", "run.db"},
                                           {"/a-b/c_1+2,3:4@5=%^.zst", "/a-b/c_1+2,3:4@5=%^.zst"},
                                           {"", "''"},
                                           {"a b", "'a b'"},
                                           {"it's", "'it'\\''s'"},
                                           {"-x", "./'-x'"},
                                           {"$(rm x);`y`", "'$(rm x);`y`'"},
                                           {"a*\\", "'a*\\'"},
                                           {"a\nb", "'a?b'"},
                                           {"\xe5\xa4\xa7", "'\xe5\xa4\xa7'"}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char word[64];

        ck_assert_str_eq(nm_shown_word(word, sizeof word, cases[i][0]), cases[i][1]);
        for (size_t size = 4; size <= strlen(cases[i][1]); size++)
            ck_assert_uint_lt(strlen(nm_shown_word(word, size, cases[i][0])), size);
    }
}
END_TEST

TEST_SUITE(test_shown)
{
    Suite *suite = suite_create("shown");
    TCase *tests = tcase_create("shown");

    tcase_add_test(tests, a_text_is_cut_between_characters);
    tcase_add_test(tests, characters_are_read_as_rfc_3629_has_them);
    tcase_add_test(tests, what_is_not_safe_becomes_a_question_mark);
    tcase_add_test(tests, each_character_is_safe_or_not);
    tcase_add_test(tests, no_cell_is_a_formula);
    tcase_add_test(tests, a_character_in_json_loses_nothing);
    tcase_add_test(tests, a_line_is_one_line);
    tcase_add_test(tests, a_word_is_one_word_of_a_shell);
    suite_add_tcase(suite, tests);
    return suite;
}
