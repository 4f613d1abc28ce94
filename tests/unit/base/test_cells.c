/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells of a terminal, by hand.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/cells.h"
#include "support/suites.h"

START_TEST(characters_have_the_cells_that_terminals_give_them)
{
    ck_assert_uint_eq(nm_cells_of('a'), 1);
    ck_assert_uint_eq(nm_cells_of(0xe9), 1);    /* e with acute */
    ck_assert_uint_eq(nm_cells_of(0x4e2d), 2);  /* zhong */
    ck_assert_uint_eq(nm_cells_of(0x3042), 2);  /* hiragana a */
    ck_assert_uint_eq(nm_cells_of(0xd55c), 2);  /* han */
    ck_assert_uint_eq(nm_cells_of(0xff21), 2);  /* fullwidth A */
    ck_assert_uint_eq(nm_cells_of(0xff71), 1);  /* halfwidth katakana */
    ck_assert_uint_eq(nm_cells_of(0x301), 0);   /* combining acute */
    ck_assert_uint_eq(nm_cells_of(0x1f600), 2); /* a face */
    ck_assert_uint_eq(nm_cells_of(0x2500), 1);  /* a line of a box */
}
END_TEST

static const char *shown(const char *text, size_t cells)
{
    static char out[64];

    return nm_cells_text(out, sizeof out, text, strlen(text), cells);
}

START_TEST(text_is_cut_by_cells_and_never_within_a_character)
{
    static const char name[] = "\xe6\xa8\xa1\xe5\x9e\x8b.py"; /* two wide characters and .py */

    ck_assert_uint_eq(nm_cells_fit(name, strlen(name), 7), strlen(name));
    ck_assert_uint_eq(nm_cells_fit(name, strlen(name), 6), strlen(name) - 1);
    ck_assert_str_eq(shown(name, 7), name);
    ck_assert_str_eq(shown(name, 6), "\xe6\xa8\xa1...");
    ck_assert_str_eq(shown(name, 5), "\xe6\xa8\xa1...");
    ck_assert_str_eq(shown(name, 4), "...");
    ck_assert_str_eq(shown(name, 2), "\xe6\xa8\xa1");
    ck_assert_str_eq(shown(name, 1), "");
    ck_assert_uint_eq(nm_cells_fit(name, strlen(name), 3), 3);
    ck_assert_uint_eq(nm_cells_fit("e\xcc\x81x", 4, 1), 3);
}
END_TEST

START_TEST(what_moves_a_terminal_is_not_shown)
{
    ck_assert_str_eq(shown("a\033[2Jb", 20), "a?[2Jb");
    ck_assert_str_eq(shown("a\xff\xfe", 20), "a??");
}
END_TEST

START_TEST(little_room_cuts_too)
{
    char out[6];

    ck_assert_str_eq(nm_cells_text(out, sizeof out, "abcdefgh", 8, 20), "abcde");
    ck_assert_str_eq(nm_cells_text(out, sizeof out, "ab\xe6\xa8\xa1\xe5\x9e\x8b", 8, 20), "ab\xe6\xa8\xa1");
    ck_assert_str_eq(nm_cells_text(out, sizeof out, "abcdefgh", 8, 7), "ab...");
}
END_TEST

TEST_SUITE(test_cells)
{
    Suite *suite = suite_create("cells");
    TCase *tests = tcase_create("cells");

    tcase_add_test(tests, characters_have_the_cells_that_terminals_give_them);
    tcase_add_test(tests, text_is_cut_by_cells_and_never_within_a_character);
    tcase_add_test(tests, what_moves_a_terminal_is_not_shown);
    tcase_add_test(tests, little_room_cuts_too);
    suite_add_tcase(suite, tests);
    return suite;
}
