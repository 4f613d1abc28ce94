/* SPDX-License-Identifier: Apache-2.0
 *
 * What a program forgot to free, told from what it leaves to its own end: small programs as people write them, one a row,
 * as a line of letters. All figures are worked out by hand.
 */
#include <check.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/draft.h"
#include "support/load_text.h"
#include "support/suites.h"

#define BLOCK_BYTES 1048576

/* A capital letter allocates, a small one frees the same; letters up to M are allocated by one line, those behind it by another,
 * each by a stack of its own. A digit: so many other events. */
static const struct {
    const char *what, *program;
    int leaked;
} cases[] = {
    {"of two blocks the first", "ZYy", 1},
    {"of two blocks the second", "ZYz", 1},
    {"of three, the largest part", "ZYXx", 0}, /* one is freed, and two are left: perhaps they are meant to last */
    {"the last three of ten", "ABCDEFGHIJabcdefg", 3},
    {"the first three of ten", "ABCDEFGHIJdefghij", 3},
    {"one of three, again and again", "ABbCcDEeFfGHhIi", 3},
    {"nothing is ever freed", "ZYX", 0},
    {"what lasts, beside what comes and goes", "ZYXAaBbCcDdEeFf", 0},
    {"a buffer that is replaced by a larger one", "ABaCbDcEd", 0},
    {"what lasts, and a buffer that lasts as long is given back", "ZA9z", 1},
    {"what lasts, and a young one is given back", "Z9Aa", 0},
    {"all is given back", "ZYAazy", 0},
};

static void draft_program(const char *program, int64_t *event_count)
{
    int64_t at = 0;

    draft_begin();
    draft_say("process 1 pid=1 host=h begin=0 command=x\n");
    draft_say("device 1 process=1 ordinal=0 kind=npu\n");
    draft_say("heap 1 process=1 device=1 level=driver basis=block name=driver\n");
    draft_say("thread 1 process=1 tid=1 name=main\n");
    draft_say("stack 1: /a.c:1:take\n");
    for (int letter = 'N'; letter <= 'Z'; letter++)
        draft_say("stack %d: /a.c:%d:main\n", letter, letter);
    for (const char *next = program; *next != 0; next++) {
        int slot = toupper((unsigned char)*next) - 'A' + 1;

        if (isdigit((unsigned char)*next))
            for (int i = '0'; i < *next; i++)
                draft_say("@%" PRId64 " mark thread=1 name=m\n", ++at);
        else if (isupper((unsigned char)*next))
            draft_say("@%" PRId64 " alloc heap=1 address=0x%x block=%d thread=1 stack=%d\n", ++at, slot << 24,
                      BLOCK_BYTES, *next <= 'M' ? 1 : *next);
        else
            draft_say("@%" PRId64 " free heap=1 address=0x%x thread=1\n", ++at, slot << 24);
    }
    draft_say("@%" PRId64 " process_end process=1 thread=1 detail=exit error=0\n", ++at);
    *event_count = at;
}

START_TEST(what_is_forgotten_is_told_from_what_is_left)
{
    int64_t event_count;

    draft_program(cases[_i].program, &event_count);
    sqlite3 *db = draft_load((uint64_t)event_count);
    char *rows =
        load_rows(db, "SELECT coalesce(sum(leak_count), 0), coalesce(sum(leak_bytes), 0), coalesce(max(verdict), '')"
                      " FROM leak_by_site");
    char expected[64];

    snprintf(expected, sizeof expected, "%d|%d|%s\n", cases[_i].leaked, cases[_i].leaked * BLOCK_BYTES,
             cases[_i].leaked > 0 ? "unreleased" : "");
    ck_assert_msg(strcmp(rows, expected) == 0, "%s: %s, not %s", cases[_i].what, rows, expected);
    free(rows);
    sqlite3_close(db);
}
END_TEST

TEST_SUITE(test_unreleased)
{
    TCase *test = tcase_create("ends");

    tcase_set_timeout(test, 60);
    tcase_add_loop_test(test, what_is_forgotten_is_told_from_what_is_left, 0, sizeof cases / sizeof *cases);
    return draft_suite("unreleased", test);
}
