/* SPDX-License-Identifier: Apache-2.0
 *
 * What a user sees: whole screens, in both languages, of traces small enough to know every number; and that nothing makes a screen
 * larger than it may be, or moves the cursor.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cells.h"
#include "base/human.h"
#include "screen/screen.h"
#include "support/load_text.h"
#include "support/run.h"
#include "support/suites.h"

static char folder[64];
static char path[128];
static nm_error err;

static void set_up(void)
{
    run_make_folder(folder);
    snprintf(path, sizeof path, "%s/run.db", folder);
}

static void tear_down(void)
{
    run_remove_folder(folder);
}

/* Closes the database; the screen is owned by the caller. */
static char *show_open(sqlite3 *db, const char *database_path, nm_language language, bool has_colour)
{
    nm_screen_names names = {.database_path = database_path};
    nm_screen_options options = {language, has_colour};
    char *screen = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&screen, &length);

    ck_assert_msg(nm_screen_write(db, &names, &options, file, &err) == NM_OK, "%s", err.text);
    fclose(file);
    sqlite3_close(db);
    return screen;
}

/* The screen of a text trace; owned by the caller. */
static char *show_named(const char *text, const nm_input_row *input, const char *database_path, nm_language language,
                        bool has_colour)
{
    load_text_above(text, input, &load_no_floors, path);
    return show_open(load_open(path), database_path, language, has_colour);
}

static char *show(const char *text, const nm_input_row *input, nm_language language, bool has_colour)
{
    return show_named(text, input, "run.db", language, has_colour);
}

#define LEAKY                                                                                                          \
    "process 1 pid=100 host=h1\n"                                                                                      \
    "device 1 process=1 ordinal=0 kind=npu capacity=8388608\n"                                                         \
    "heap 1 process=1 device=1 level=driver basis=block name=memory\n"                                                 \
    "heap 2 process=1 device=1 level=pool basis=block name=\"caching pool\"\n"                                         \
    "thread 1 process=1 tid=100 name=main\n"                                                                           \
    "stack 1: model.py:10:weights < main.py:1:main\n"                                                                  \
    "stack 2: data.py:41:collate < main.py:2:main\n"                                                                   \
    "@0 alloc heap=1 address=0x1000000 block=4194304 thread=1 stack=1\n"                                               \
    "@1000000000 alloc heap=2 address=0x1000000 requested=1048576 block=1048576 thread=1 stack=1\n"                    \
    "@2000000000 step number=1 thread=1\n"                                                                             \
    "@3000000000 alloc heap=2 address=0x1100000 requested=524288 block=524288 thread=1 stack=2\n"                      \
    "@4000000000 step number=2 thread=1\n"                                                                             \
    "@5000000000 alloc heap=2 address=0x1180000 requested=524288 block=524288 thread=1 stack=2\n"                      \
    "@6000000000 step number=3 thread=1\n"                                                                             \
    "@7000000000 alloc heap=2 address=0x1200000 requested=524288 block=524288 thread=1 stack=2\n"                      \
    "@8000000000 alloc heap=2 address=0x1280000 requested=524288 block=524288 thread=1 stack=1\n"                      \
    "@9000000000 free heap=2 address=0x1280000 thread=1\n"

START_TEST(a_leak_comes_first_with_its_rate_and_its_place)
{
    nm_input_row input = load_whole_input(10);
    char *screen = show(LEAKY, &input, NM_ENGLISH, false);

    ck_assert_str_eq(
        screen, "run.zst  3 steps, still running when the recording ended, nothing lost\n"
                "1 LEAK   1.5 MiB, +512 KiB a step: data.py:41 collate\n"
                "         3 blocks born in 3 of 3 steps, none freed\n"
                "2 UNUSED 25 % of 4.0 MiB reserved was unused at the peak (1.0 MiB), NPU 0 caching pool:\n"
                "         npumem whatif --suggest tries settings\n"
                "PEAK     NPU 0  4.0 MiB of 8.0 MiB held by the program as driver memory at 0.0 ms = 4.0 MiB program;\n"
                "         at most 4.0 MiB free then\n"
                "         NPU 0 caching pool  3.0 MiB at 8.0 s, reserved 4.0 MiB: 1.5 MiB data.py:41 collate, 1.5 MiB\n"
                "         model.py:10 weights\n"
                "ok       pool hit rate 100 % after warm-up, no failure, no misuse\n"
                "not judged  host memory: not sampled\n"
                "next     npumem report run.db    npumem stack run.db leak    npumem whatif --suggest run.zst\n");
    free(screen);
}
END_TEST

/* The path as it was given; what a shell would take for more than a word is quoted, in each command. */
START_TEST(a_command_can_be_typed_whatever_the_files_are_called)
{
    static const char named[] = "in/it's.zst";
    nm_input_row input = load_whole_input(10);

    input.path = (nm_bytes){(const uint8_t *)named, strlen(named)};
    char *screen = show_named(LEAKY, &input, "out of/run.db 1", NM_ENGLISH, false);

    ck_assert_ptr_nonnull(strstr(screen,
                                 "\nnext     npumem report 'out of/run.db 1'    npumem stack 'out of/run.db 1' leak\n"
                                 "         npumem whatif --suggest 'in/it'\\''s.zst'\n"));
    free(screen);
}
END_TEST

/* Longer than a row, than a sentence may be, and of quotes, each of which a shell is told in four letters. */
START_TEST(a_command_is_whole_however_long_its_path_is)
{
    nm_input_row input = load_whole_input(10);
    char named[3001], row[4 * sizeof named + 64];

    for (size_t len = 60; len < sizeof named; len *= 7) {
        memset(named, 'd', len);
        memcpy(named + len - 5, "/r.db", 6);
        char *screen = show_named(LEAKY, &input, named, NM_ENGLISH, false);
        snprintf(row, sizeof row, "\nnext     npumem report %s\n         npumem stack %s leak\n", named, named);
        ck_assert_msg(strstr(screen, row) != NULL, "%s", screen);
        free(screen);
        memset(named, '\'', len);
        screen = show_named(LEAKY, &input, named, NM_ENGLISH, false);
        ck_assert_uint_eq(strcspn(strstr(screen, "npumem report "), "\n"), strlen("npumem report ''") + 4 * len);
        free(screen);
    }
}
END_TEST

START_TEST(chinese_says_the_same)
{
    nm_input_row input = load_whole_input(10);
    char *screen = show(LEAKY, &input, NM_CHINESE, false);

    ck_assert_str_eq(
        screen, "run.zst  3 步，记录结束时仍在运行，无丢失\n"
                "1 泄漏   1.5 MiB，每步 +512 KiB：data.py:41 collate\n"
                "         3 个块，每步都产生（3/3 步），均未释放\n"
                "2 闲置   峰值时预留的 4.0 MiB 中 25 %（1.0 MiB）未使用，NPU 0 caching pool：用\n"
                "         npumem whatif --suggest 试验设置\n"
                "峰值     NPU 0  程序持有驱动内存 4.0 MiB / 8.0 MiB，时刻 0.0 ms = 程序 4.0 MiB；当时最多剩余 4.0 MiB\n"
                "         NPU 0 caching pool  3.0 MiB，时刻 8.0 s，预留 4.0 MiB：data.py:41 collate 1.5 MiB，\n"
                "         model.py:10 weights 1.5 MiB\n"
                "正常     内存池命中率 100 %（预热后），无失败，无误用\n"
                "未判定   主机内存：未采样\n"
                "下一步   npumem report run.db    npumem stack run.db leak    npumem whatif --suggest run.zst\n");
    free(screen);
}
END_TEST

START_TEST(colour_is_of_labels_alone)
{
    nm_input_row input = load_whole_input(10);
    char *screen = show(LEAKY, &input, NM_ENGLISH, true);

    ck_assert_ptr_nonnull(strstr(screen, "\033[1mrun.zst\033[0m  3 steps"));
    ck_assert_ptr_nonnull(strstr(screen, "\n\033[1;31m1 LEAK\033[0m   1.5 MiB"));
    ck_assert_ptr_nonnull(strstr(screen, "\n\033[32mok\033[0m       pool"));
    free(screen);
}
END_TEST

START_TEST(loss_stands_in_the_first_lines)
{
    nm_input_row input = load_whole_input(10);

    input.events_seen = 1010, input.events_dropped = 1000, input.is_complete = false;
    char *screen = show(LEAKY, &input, NM_ENGLISH, false);
    ck_assert_ptr_nonnull(strstr(screen, "ended, NOT COMPLETE\nLOST     1,000 events dropped\n"));
    ck_assert_ptr_null(strstr(screen, "no failure"));
    free(screen);
}
END_TEST

#define PROCESS(number)    "process " #number " pid=10" #number " host=h1\n"
#define KILLED(ns, number) "@" #ns " process_end process=" #number " detail=signal error=9\n"

/* No more than three ends are told: one whose reason is known is among them, even of the last process. */
START_TEST(an_end_whose_reason_is_known_comes_first)
{
    nm_input_row input = load_whole_input(8);
    char *screen = show(
        PROCESS(1) PROCESS(2) PROCESS(3) PROCESS(4) PROCESS(
            5) "device 1 process=1 ordinal=0 kind=npu\n"
               "device 2 process=2 ordinal=1 kind=npu\n"
               "heap 1 process=1 device=1 level=driver basis=block name=memory\n"
               "heap 2 process=2 device=2 level=driver basis=block name=memory\n"
               "thread 1 process=5 tid=105 name=main\n"
               "@1000 alloc heap=1 address=0x1000000 block=4096\n"
               "@2000 alloc heap=2 address=0x1000000 block=4096\n"
               "@3000 mark thread=1 name=\"host out of memory: process 105 was killed, limit 1 GiB\"\n" KILLED(4000, 1)
                   KILLED(5000, 2) KILLED(6000, 3) KILLED(7000, 4) KILLED(8000, 5),
        &input, NM_ENGLISH, false);
    const char *first = strstr(screen, "was killed by signal 9");

    ck_assert_msg(first != NULL && strstr(screen, "process 105 was killed by signal 9: host out of memory") ==
                                       first - strlen("process 105 "),
                  "%s", screen);
    ck_assert_msg(strstr(screen, "process 101 was killed") < strstr(screen, "process 102 was killed") &&
                      strstr(screen, "; 2 more did not end") != NULL,
                  "%s", screen);
    free(screen);
}
END_TEST

/* Of two processes that call a device NPU 0 nobody knows whether it is one: each line says whose it is. */
START_TEST(lines_of_devices_of_one_number_say_whose_they_are)
{
    static const char untold[] = "process 1 pid=101 host=h1\n"
                                 "process 2 pid=102 host=h1\n"
                                 "device 1 process=1 ordinal=0 kind=npu\n"
                                 "device 2 process=2 ordinal=0 kind=npu\n"
                                 "device 3 process=2 ordinal=1 kind=npu\n"
                                 "heap 1 process=1 device=1 level=driver basis=block name=memory\n"
                                 "heap 2 process=2 device=2 level=driver basis=block name=memory\n"
                                 "heap 3 process=2 device=3 level=driver basis=block name=memory\n"
                                 "@1000 alloc heap=1 address=0x1000000 block=4096\n"
                                 "@2000 alloc heap=2 address=0x1000000 block=4096\n"
                                 "@3000 alloc heap=3 address=0x2000000 block=4096\n";
    static const char told[] = "@4000 memory_sample device=1 detail=hbm free=10240 total=16384\n"
                               "@5000 memory_sample device=2 detail=hbm free=10240 total=16384\n"
                               "@6000 memory_sample device=3 detail=hbm free=10240 total=16384\n";
    nm_input_row input = load_whole_input(3);
    char all[sizeof untold + sizeof told], *screen = show(untold, &input, NM_ENGLISH, false);

    ck_assert_msg(strstr(screen, " pid 101 NPU 0  4.0 KiB held by the program") != NULL, "%s", screen);
    ck_assert_msg(strstr(screen, " pid 102 NPU 0  4.0 KiB held by the program") != NULL, "%s", screen);
    ck_assert_msg(strstr(screen, "  NPU 1  4.0 KiB held by the program") != NULL, "%s", screen);
    free(screen);
    unlink(path);
    snprintf(all, sizeof all, "%s%s", untold, told);
    input = load_whole_input(6);
    screen = show(all, &input, NM_CHINESE, false);
    ck_assert_msg(strstr(screen, "pid 101 NPU 0  已用 6.0 KiB / 16.0 KiB") != NULL, "%s", screen);
    ck_assert_msg(strstr(screen, "pid 102 NPU 0  已用 6.0 KiB / 16.0 KiB") != NULL, "%s", screen);
    ck_assert_msg(strstr(screen, "  NPU 1  已用 6.0 KiB / 16.0 KiB") != NULL, "%s", screen);
    free(screen);
}
END_TEST

/* Heaps, more than fit, with names of wide characters and of what moves a cursor. */
static void many_heaps(nm_buffer *text)
{
    static const char head[] = "process 1 pid=100 host=h1\n"
                               "device 1 process=1 ordinal=0 kind=npu\n"
                               "thread 1 process=1 tid=100\n"
                               "stack 1: \033[31m模型模型模型模型模型模型.py:10:权重\n";
    char line[256];

    ck_assert_int_eq(nm_buffer_append(text, head, sizeof head - 1, &err), NM_OK);
    for (int i = 1; i <= 40; i++) {
        int len = snprintf(line, sizeof line,
                           "heap %d process=1 device=1 level=pool basis=block name=\"池池池池池池池池%d\"\n"
                           "@%d alloc heap=%d address=0x%x000 block=4096 thread=1 stack=1\n",
                           i, i, i, i, i);

        ck_assert_int_eq(nm_buffer_append(text, line, (size_t)len, &err), NM_OK);
    }
    ck_assert_int_eq(nm_buffer_append(text, "", 1, &err), NM_OK);
}

START_TEST(no_screen_is_larger_than_it_may_be)
{
    nm_buffer text = {0};
    nm_input_row input = load_whole_input(40);
    int row_count = 0;

    many_heaps(&text);
    for (int language = 0; language < 2; language++) {
        char *screen = show((const char *)text.data, &input, language == 0 ? NM_ENGLISH : NM_CHINESE, false);

        row_count = 0;
        for (char *row = screen, *end; (end = strchr(row, '\n')) != NULL; row = end + 1, row_count++) {
            size_t len = (size_t)(end - row);

            ck_assert_msg(nm_cells_fit(row, len, NM_SCREEN_CELLS) == len, "%.*s", (int)len, row);
        }
        ck_assert_int_le(row_count, NM_SCREEN_ROWS_MAX);
        ck_assert_ptr_null(strchr(screen, '\033'));
        free(screen);
        unlink(path);
    }
    nm_buffer_free(&text);
}
END_TEST

START_TEST(sentences_take_words_by_name_and_number)
{
    char out[64];

    ck_assert_str_eq(nm_sentence_put(NM_SAY_LEAK_BLOCKS, NM_ENGLISH, NM_WORDS({"n", "1"}), out, sizeof out),
                     "1 block live at the end");
    ck_assert_str_eq(nm_sentence_put(NM_SAY_LEAK_BLOCKS, NM_ENGLISH, NM_WORDS({"n", "12"}), out, sizeof out),
                     "12 blocks live at the end");
    ck_assert_str_eq(nm_sentence_put(NM_SAY_LEAK_BLOCKS, NM_CHINESE, NM_WORDS({"n", "1"}), out, sizeof out),
                     "结束时 1 个块存活");
    ck_assert_str_eq(nm_sentence_put(NM_SAY_LEAK_BLOCKS, NM_CHINESE, NM_WORDS({"n", "1"}), out, 6), "结");
}
END_TEST

START_TEST(the_environment_says_which_language)
{
    setenv("LC_ALL", "", 1);
    setenv("LC_MESSAGES", "zh_CN.UTF-8", 1);
    setenv("LANG", "C", 1);
    ck_assert_int_eq(nm_language_of_environment(), NM_CHINESE);
    setenv("LC_ALL", "en_US.UTF-8", 1);
    ck_assert_int_eq(nm_language_of_environment(), NM_ENGLISH);
    unsetenv("LC_ALL");
    unsetenv("LC_MESSAGES");
    ck_assert_int_eq(nm_language_of_environment(), NM_ENGLISH);
}
END_TEST

START_TEST(numbers_are_short_and_exact_enough)
{
    char out[NM_HUMAN_BYTES];

    ck_assert_str_eq(nm_human_bytes(out, 0), "0 B");
    ck_assert_str_eq(nm_human_bytes(out, 999), "999 B");
    ck_assert_str_eq(nm_human_bytes(out, 1000), "1.0 KiB");
    ck_assert_str_eq(nm_human_bytes(out, 1536), "1.5 KiB");
    ck_assert_str_eq(nm_human_bytes(out, 125829120), "120 MiB");
    ck_assert_str_eq(nm_human_bytes(out, 29420433408), "27.4 GiB");
    ck_assert_str_eq(nm_human_bytes(out, INT64_MAX), "8.0 EiB");
    ck_assert_str_eq(nm_human_count(out, 0), "0");
    ck_assert_str_eq(nm_human_count(out, 999), "999");
    ck_assert_str_eq(nm_human_count(out, 412880), "412,880");
    ck_assert_str_eq(nm_human_count(out, -1234), "-1,234");
    ck_assert_str_eq(nm_human_count(out, INT64_MIN), "-9,223,372,036,854,775,808");
    ck_assert_str_eq(nm_human_percent(out, 0.058), "5.8 %");
    ck_assert_str_eq(nm_human_percent(out, 0.44), "44 %");
    ck_assert_str_eq(nm_human_percent(out, 0.9845), "98.5 %");
    ck_assert_str_eq(nm_human_percent(out, 1), "100 %");
    ck_assert_str_eq(nm_human_time(out, 12000000), "12.0 ms");
    ck_assert_str_eq(nm_human_time(out, 81300000000), "81.3 s");
    ck_assert_str_eq(nm_human_time(out, 9000000000000), "2.5 h");
    ck_assert_str_eq(nm_human_cost(out, 25000), "25.0 us");
    ck_assert_str_eq(nm_human_cost(out, 12000000), "12.0 ms");
}
END_TEST

START_TEST(text_is_cut_and_made_safe)
{
    char out[64];

    ck_assert_str_eq(nm_human_text(out, sizeof out, "short", 10), "short");
    ck_assert_str_eq(nm_human_text(out, sizeof out, "exactly 10", 10), "exactly 10");
    ck_assert_str_eq(nm_human_text(out, sizeof out, "eleven char", 10), "eleven ...");
    ck_assert_str_eq(nm_human_text(out, sizeof out, "a\033[31mb\nc", 20), "a?[31mb?c");
    ck_assert_str_eq(nm_human_text(out, sizeof out, "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 4), "\xc3\xa9...");
    ck_assert_str_eq(nm_human_text(out, sizeof out,
                                   "a\xe2\x80\xae"
                                   "b\xc2\x9b\xff",
                                   20),
                     "a?b??");
    ck_assert_str_eq(nm_human_text(out, sizeof out, NULL, 4), "");
    ck_assert_str_eq(nm_human_text(out, 8, "0123456789", 20), "0123...");
}
END_TEST

/* Five measures are too little to matter, and six kinds of misuse were seen. */
START_TEST(what_a_line_has_no_room_for_is_counted)
{
    nm_input_row input = load_whole_input(10);

    free(show(LEAKY, &input, NM_ENGLISH, false));
    sqlite3 *db = NULL;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db,
                                  "UPDATE finding SET severity = 'minor' WHERE kind = 'pool hit rate';"
                                  "CREATE TEMP TABLE five AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1"
                                  " FROM n WHERE i < 6) SELECT i FROM n;"
                                  "INSERT INTO finding (severity, kind, basis, sentence, source_view)"
                                  " SELECT severity, kind, basis, sentence, source_view FROM finding, five"
                                  " WHERE kind = 'pool hit rate' AND i < 5;"
                                  "INSERT INTO finding_group (severity, kind, holder_count, all_count, sentence)"
                                  " SELECT 'fault', 'misuse', 1, 1, sentence FROM finding, five"
                                  " WHERE kind = 'pool hit rate' GROUP BY i",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    char *screen = show_open(load_open(path), "run.db", NM_ENGLISH, false);

    ck_assert_msg(strstr(screen, "after warm-up and 2 more: too little to matter\n") != NULL, "%s", screen);
    ck_assert_msg(strstr(screen, "\n5 MISUSE pool hit rate 100 % after warm-up and 2 more\n") != NULL, "%s", screen);
    free(screen);
}
END_TEST

/* A process with 14 heaps: a line each; with 40 the rest is counted. */
START_TEST(every_heap_has_a_line_or_is_counted)
{
    nm_input_row input = load_whole_input(10);

    for (int heap_count = 14; heap_count <= 40; heap_count += 26) {
        char text[8192] = "process 1 pid=100 host=h1\nthread 1 process=1 tid=100\n", line[200], wanted[64];

        for (int i = 1; i <= heap_count; i++) {
            snprintf(line, sizeof line, "heap %d process=1 level=pinned basis=requested name=\"heap %d\"\n", i, i);
            strcat(text, line);
        }
        for (int i = 1; i <= heap_count; i++) {
            snprintf(line, sizeof line, "@%d alloc heap=%d address=0x%d000000 requested=4096 thread=1\n", i, i, i);
            strcat(text, line);
        }
        char *screen = show(text, &input, NM_ENGLISH, false);

        int shown_count = 0;
        for (int i = 1; i <= heap_count; i++) {
            snprintf(wanted, sizeof wanted, "host heap %d  ", i);
            shown_count += strstr(screen, wanted) != NULL;
        }
        snprintf(wanted, sizeof wanted, "%d lines did not fit: view peak", heap_count - shown_count);
        ck_assert_msg(shown_count == heap_count ? heap_count == 14 : strstr(screen, wanted) != NULL, "%d: %s",
                      shown_count, screen);
        free(screen);
    }
}
END_TEST

TEST_SUITE(test_screen)
{
    Suite *suite = suite_create("screen");
    TCase *tcase = tcase_create("screen");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_leak_comes_first_with_its_rate_and_its_place);
    tcase_add_test(tcase, a_command_is_whole_however_long_its_path_is);
    tcase_add_test(tcase, chinese_says_the_same);
    tcase_add_test(tcase, a_command_can_be_typed_whatever_the_files_are_called);
    tcase_add_test(tcase, colour_is_of_labels_alone);
    tcase_add_test(tcase, loss_stands_in_the_first_lines);
    tcase_add_test(tcase, no_screen_is_larger_than_it_may_be);
    tcase_add_test(tcase, an_end_whose_reason_is_known_comes_first);
    tcase_add_test(tcase, lines_of_devices_of_one_number_say_whose_they_are);
    tcase_add_test(tcase, sentences_take_words_by_name_and_number);
    tcase_add_test(tcase, the_environment_says_which_language);
    tcase_add_test(tcase, numbers_are_short_and_exact_enough);
    tcase_add_test(tcase, text_is_cut_and_made_safe);
    tcase_add_test(tcase, what_a_line_has_no_room_for_is_counted);
    tcase_add_test(tcase, every_heap_has_a_line_or_is_counted);
    suite_add_tcase(suite, tcase);
    return suite;
}
