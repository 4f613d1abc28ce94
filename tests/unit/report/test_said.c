/* SPDX-License-Identifier: Apache-2.0
 *
 * What a finding says: values by the ends of their names, in both languages, and text of anybody that is not of its form.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "say/said.h"
#include "support/suites.h"

static const nm_listener english = {NM_ENGLISH, true, 20, 10};
static const nm_listener chinese = {NM_CHINESE, true, 20, 10};
static const nm_said_of of = {{true, true, true, 3, 700, 1, "NPU"}, "caching pool", "train.py:12 step"};

static bool put(const nm_listener *to, const char *json, char out[NM_SENTENCE_BYTES])
{
    const char *at = json;

    return nm_said_put(to, &of, &at, out, NM_SENTENCE_BYTES) && *at == 0;
}

static void assert_said(const nm_listener *to, const char *json, const char *text)
{
    char out[NM_SENTENCE_BYTES];

    ck_assert_msg(put(to, json, out), "%s cannot be read", json);
    ck_assert_str_eq(out, text);
}

START_TEST(values_are_shown_by_the_ends_of_their_names)
{
    assert_said(&english, "[\"screen.leak.bytes\",{\"leak_bytes\":1048576},\"screen.leak.step\",{\"rate_bytes\":512}]",
                "1.0 MiB, +512 B a step");
    assert_said(&chinese, "[\"screen.leak.bytes\",{\"leak_bytes\":1048576},\"screen.leak.step\",{\"rate_bytes\":512}]",
                "1.0 MiB，每步 +512 B");
    assert_said(&english, "[ \"screen.leak.blocks\" , { \"n\" : 1 } ]", "1 block live at the end");
    assert_said(&english, "[\"screen.leak.blocks\",{\"n\":1234567}]", "1,234,567 blocks live at the end");
    assert_said(&english, "[\"screen.share\",{\"ratio\":0.256}]", "26 %");
    assert_said(&english, "[\"screen.each\",{\"each_cost_ns\":25000.7}]", "25.0 us");
    assert_said(&english, "[\"screen.asked.time\",{\"first_ns\":81300000000}]", " at 81.3 s");
    assert_said(&english, "[\"screen.leak.full_hours\",{\"left_hours\":2.54}]", ", rank 3 NPU 1 full in about 2.54 h");
    assert_said(&english, "[\"screen.leak.bytes\",{\"leak_bytes\":9223372036854775807}]", "8.0 EiB");
    assert_said(&english, "[\"screen.leak.bytes\",{\"leak_bytes\":null}]", "?");
    assert_said(&english, "[]", "");
}
END_TEST

START_TEST(words_of_the_finding_itself_are_not_in_it)
{
    assert_said(&english, "[\"screen.leak.site\"]", ": train.py:12 step");
    assert_said(&english, "[\"screen.leak.place\"]", ", rank 3 NPU 1");
    assert_said(&english, "[\"screen.cost\",{\"each_cost_ns\":60000,\"all_cost_ns\":2000000}]",
                "an allocation took 60.0 us, 2.0 ms in the driver, rank 3 NPU 1 caching...: keep memory for reuse");
    assert_said(&chinese, "[\"screen.who.site\",{\"held_bytes\":1,\"holder_site\":\"(no stack)\",\"n\":2}]",
                "1 B  （无调用栈），2 个存活");
    assert_said(&chinese, "[\"screen.held.part\",{\"component\":\"APP\",\"heap\":\"\",\"bytes\":2048}]",
                "程序 2.0 KiB");
    assert_said(&english, "[\"screen.held.part\",{\"component\":\"POOL\",\"heap\":\"my heap\",\"bytes\":2048}]",
                "my heap 2.0 KiB");
}
END_TEST

START_TEST(what_is_said_may_be_within_what_is_said)
{
    assert_said(
        &english,
        "[\"screen.minor.fragmented\",{\"share\":[\"screen.at_most\",{\"ratio\":0.2}],\"reserved_bytes\":1024}]",
        "fragmentation at most 20 % of 1.0 KiB reserved");
}
END_TEST

START_TEST(what_is_not_known_says_nothing_and_what_is_missing_a_question_mark)
{
    assert_said(&english, "[\"screen.of.tomorrow\",{\"n\":1},\"screen.fine.leaks\"]", "no leak");
    assert_said(&english, "[\"screen.leak.bytes\"]", "?");
    assert_said(&english, "[\"screen.leak.bytes\",{\"other\":\"a \\\"b\\\" \\u0041\\n\"}]", "?");
}
END_TEST

START_TEST(what_has_another_form_is_refused)
{
    static const char *const wrong[] = {"",
                                        "{}",
                                        "null",
                                        "[1]",
                                        "[\"a\" \"b\"]",
                                        "[\"screen.leak.bytes\",{\"leak_bytes\":}]",
                                        "[\"screen.leak.bytes\",{\"leak_bytes\"}]",
                                        "[\"screen.leak.bytes\",{\"leak_bytes\":1e999}]",
                                        "[\"a\\q\"]",
                                        "[\"a\\u12\"]",
                                        "[\"a\"]x",
                                        "[\"a\",{\"b\":true}]",
                                        "[\"a\",{\"b\":[\"a\",{\"b\":[\"a\",{\"b\":[\"a\",{\"b\":[\"a\"]}]}]}]}]",
                                        "[\"a\",{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":"
                                        "1,\"j\":1,\"k\":1,\"l\":1,\"m\":1,\"n\":1,\"o\":1}]"};
    char out[NM_SENTENCE_BYTES];

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ck_assert_msg(!put(&english, wrong[i], out), "%s was read", wrong[i]);
}
END_TEST

/* Nothing behind the end is read: each beginning has a place of its own, of its size. */
START_TEST(what_is_cut_is_refused)
{
    static const char whole[] =
        "[\"screen.minor.fragmented\",{\"share\":[\"screen.at_most\",{\"ratio\":0.2}],\"b\":\"\\u0041\"},\"a\"]";
    char out[NM_SENTENCE_BYTES];

    for (size_t len = 0; len < sizeof whole - 1; len++) {
        char *cut = strndup(whole, len);

        ck_assert_msg(!put(&english, cut, out), "%s was read", cut);
        free(cut);
    }
    ck_assert(put(&english, whole, out));
}
END_TEST

START_TEST(lines_have_labels_or_none)
{
    static const char lines[] =
        "[{\"label\":\"screen.label.why\",\"said\":[\"screen.fine.leaks\"]},{\"said\":[\"screen.fine.misuse\"]}]";
    const char *at = lines;
    char out[NM_SENTENCE_BYTES];
    nm_sentence label;

    ck_assert(nm_said_next_line(&at, &label) && label == NM_SAY_LABEL_WHY);
    ck_assert(nm_said_put(&english, &of, &at, out, sizeof out));
    ck_assert_str_eq(out, "no leak");
    ck_assert(nm_said_next_line(&at, &label) && label == NM_SAY_NOTHING);
    ck_assert(nm_said_put(&english, &of, &at, out, sizeof out));
    ck_assert_str_eq(out, "no misuse");
    ck_assert(!nm_said_next_line(&at, &label) && at != NULL);
    at = "[]";
    ck_assert(!nm_said_next_line(&at, &label) && at != NULL);
    for (size_t len = 0; len < sizeof lines - 1; len++) {
        char *cut = strndup(lines, len);

        for (at = cut; nm_said_next_line(&at, &label) && nm_said_put(&english, &of, &at, out, sizeof out);)
            ;
        ck_assert_msg(at == NULL, "%s was read", cut);
        free(cut);
    }
}
END_TEST

START_TEST(what_is_long_is_cut_behind_a_character)
{
    const char *at = "[\"screen.fine.leaks\",\"screen.fine.misuse\"]";
    char out[10];

    ck_assert(nm_said_put(&chinese, &of, &at, out, sizeof out));
    ck_assert_str_eq(out, "无泄漏");
}
END_TEST

TEST_SUITE(test_said)
{
    Suite *suite = suite_create("said");
    TCase *cases = tcase_create("said");

    tcase_add_test(cases, values_are_shown_by_the_ends_of_their_names);
    tcase_add_test(cases, words_of_the_finding_itself_are_not_in_it);
    tcase_add_test(cases, what_is_said_may_be_within_what_is_said);
    tcase_add_test(cases, what_is_not_known_says_nothing_and_what_is_missing_a_question_mark);
    tcase_add_test(cases, what_has_another_form_is_refused);
    tcase_add_test(cases, what_is_cut_is_refused);
    tcase_add_test(cases, lines_have_labels_or_none);
    tcase_add_test(cases, what_is_long_is_cut_behind_a_character);
    suite_add_tcase(suite, cases);
    return suite;
}
