/* SPDX-License-Identifier: Apache-2.0
 *
 * What a user sees, line by line, for traces small enough to know every number; and its size for large ones.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/human.h"
#include "report/summary.h"
#include "support/load_text.h"
#include "support/run.h"

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

/* The summary of a text trace; owned by the caller. thresholds NULL: as by default. */
static char *summarise_above(const char *text, const nm_input_row *input, const nm_thresholds *thresholds,
                             const char *csv_folder)
{
    nm_summary_names names = {.database_path = "run.db", .csv_folder = csv_folder};
    char *summary = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&summary, &length);

    load_text_above(text, input, thresholds, path);
    sqlite3 *db = load_open(path);
    ck_assert_msg(nm_summary_write(db, &names, file, &err) == NM_OK, "%s", err.text);
    fclose(file);
    sqlite3_close(db);
    return summary;
}

static char *summarise(const char *text, const nm_input_row *input, const char *csv_folder)
{
    return summarise_above(text, input, &load_no_floors, csv_folder);
}

static size_t line_count(const char *text)
{
    size_t count = 0;

    for (; *text != 0; text++)
        count += *text == '\n';
    return count;
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

START_TEST(a_leak_is_told_as_a_person_would)
{
    nm_input_row input = load_whole_input(10);
    char *summary = summarise(LEAKY, &input, NULL);

    ck_assert_str_eq(
        summary, "run.db  from run.zst: 1 process, 1 NPU, 10 events, 0 dropped, complete\n"
                 "\n"
                 "NPU 0   caching pool      peak 3.0 MiB at 8.0 s, reserved 4.0 MiB of 8.0 MiB\n"
                 "           1.5 MiB  50 %  data.py:41 collate                              3 live\n"
                 "           1.5 MiB  50 %  model.py:10 weights                             2 live\n"
                 "        leaks             3 allocations, 1.5 MiB\n"
                 "           1.5 MiB        data.py:41 collate                      3 x 512 KiB, one a step, growing\n"
                 "        fragmentation     25 % of reserved unused at peak, 1.0 MiB inactive split\n"
                 "        pool hit rate     80 %  1 miss of 5, last at 1.0 s, none when warm\n"
                 "Warning: fragmentation of NPU 0 caching pool: 1.0 MiB of 4.0 MiB reserved was unused at the"
                 " peak, 1.0 MiB of it inactive split: segments that can grow could give back up to 1.0 MiB.\n"
                 "\n"
                 "sqlite3 run.db '.schema leak'      npumem-ingest --csv DIR: one CSV file per view\n");
    free(summary);
}
END_TEST

/* Blocks of four of six steps, and one of before: at the ends of the first five steps 1.0, 1.5, 2.0, 2.0 and 2.0 MiB. */
START_TEST(a_leak_of_some_steps_is_told_by_its_growth)
{
    static const char before[] =
        "@1500000000 alloc heap=2 address=0x1300000 requested=524288 block=524288 thread=1 stack=2\n";
    static const char more[] =
        "@9100000000 step number=4 thread=1\n"
        "@9400000000 alloc heap=2 address=0x1280000 requested=262144 block=262144 thread=1 stack=2\n"
        "@9500000000 alloc heap=2 address=0x12c0000 requested=262144 block=262144 thread=1 stack=2\n";
    static const char *const begins[] = {"", before}; /* what was there before the first step is none of it */
    static const char *const sizes[] = {"5 x 410 KiB, 512 KiB a step, growing\n",
                                        "5 x 410 KiB, 512 KiB a step, growing\n"};
    nm_input_row input = load_whole_input(15);
    const char *steps = strstr(LEAKY, "@2000000000");
    char text[4096];

    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "%.*s%s%s%s", (int)(steps - LEAKY), LEAKY, begins[i], steps, more);
        char *summary = summarise(text, &input, NULL);

        ck_assert_msg(strstr(summary, sizes[i]) != NULL, "%s", summary);
        free(summary);
    }
}
END_TEST

/* Of 8.0 MiB in use 4.0 are the pool's (of which the pool fills a part), 1.0 HCCL's; the runtime says 5.5 in all. */
START_TEST(a_device_is_taken_apart)
{
    static const char more[] = "heap 3 process=1 device=1 level=driver basis=block name=HCCL module=3\n"
                               "@9100000000 alloc heap=3 address=0x9000000 block=1048576 thread=1 stack=1\n"
                               "@9200000000 memory_sample device=1 detail=hbm free=8388608 total=16777216 thread=1\n"
                               "@9300000000 module_sample device=1 name=APP size=4194304 total=1 thread=1\n"
                               "@9400000000 module_sample device=1 name=HCCL size=1572864 total=1 thread=1\n"
                               "@9500000000 mark name=x thread=1\n";
    nm_input_row input = load_whole_input(14);
    char text[4096];
    char *summary;

    snprintf(text, sizeof text, "%s%s", LEAKY, more);
    summary = summarise(text, &input, NULL);
    ck_assert_msg(strstr(summary, "NPU 0   device memory     used 8.0 MiB of 16.0 MiB at its peak, at 9.1 s\n"
                                  "           4.0 MiB  50 %  caching pool\n"
                                  "           1.0 MiB  12 %  HCCL\n"
                                  "           2.5 MiB  31 %  other processes\n"
                                  "           512 KiB 6.2 %  unexplained\n") != NULL,
                  "%s", summary);
    free(summary);
}
END_TEST

/* The pool by its name, and what a pool takes is the program's until its first block lies in it. */
START_TEST(components_of_a_device_have_words)
{
    static const char text[] = "process 1 pid=1 host=h\nthread 1 process=1 tid=1\n"
                               "device 1 process=1 ordinal=0 kind=npu capacity=4194304\n"
                               "heap 1 process=1 device=1 level=driver basis=block name=driver\n"
                               "heap 2 process=1 device=1 level=pool basis=block name=ptaCaching\n"
                               "@1 alloc heap=1 address=0x100000 block=1048576 thread=1\n"
                               "@2 alloc heap=2 address=0x100000 block=4096 thread=1\n"
                               "@3 alloc heap=1 address=0x300000 block=1048576 thread=1\n"
                               "@4 memory_sample device=1 detail=hbm free=2097152 total=4194304 thread=1\n"
                               "@5 alloc heap=2 address=0x300000 block=4096 thread=1\n";
    nm_input_row input = load_whole_input(5);
    char *summary = summarise(text, &input, NULL);

    ck_assert_msg(strstr(summary, "used 2.0 MiB of 4.0 MiB at its peak, at 0.0 ms\n"
                                  "           1.0 MiB  50 %  program, or just taken by a pool\n"
                                  "           1.0 MiB  50 %  ptaCaching\n"
                                  "               0 B 0.0 %  unexplained\n") != NULL,
                  "%s", summary);
    free(summary);
}
END_TEST

START_TEST(loss_stands_in_the_first_line)
{
    nm_input_row input = load_whole_input(10);
    char *summary;

    input.is_complete = false;
    input.events_seen = 1244;
    input.events_dropped = 1234;
    input.bytes_cut = 2048;
    summary = summarise(LEAKY, &input, "out");
    ck_assert_ptr_nonnull(strstr(summary, ": 1 process, 1 NPU, 10 events, 1,234 dropped, 2.0 KiB cut, NOT COMPLETE\n"));
    ck_assert_ptr_nonnull(strstr(summary, "CSV files: out\n"));
    free(summary);
}
END_TEST

START_TEST(a_late_begin_is_said)
{
    static const char program[] = "process 1 pid=1 late=%d\n"
                                  "device 1 process=1 ordinal=3 kind=npu\n"
                                  "heap 1 process=1 device=1 level=driver basis=block name=memory\n"
                                  "thread 1 process=1 tid=1\n"
                                  "@5 alloc heap=1 address=0x1000 block=100 thread=1\n";
    nm_input_row input = load_whole_input(1);
    char text[512];

    for (int is_late = 0; is_late < 2; is_late++) {
        snprintf(text, sizeof text, program, is_late);
        char *summary = summarise(text, &input, NULL);

        ck_assert_int_eq(strstr(summary, "\nThe recording began late: ") != NULL, is_late);
        free(summary);
    }
}
END_TEST

START_TEST(missing_stacks_are_said)
{
    static const char none[] = "process 1 pid=1\n"
                               "device 1 process=1 ordinal=3 kind=npu\n"
                               "heap 1 process=1 device=1 level=driver basis=block name=memory\n"
                               "thread 1 process=1 tid=1\n"
                               "@- alloc heap=1 address=0x1000 block=100 thread=1\n";
    static const char caller[] = "process 1 pid=1\n"
                                 "device 1 process=1 ordinal=3 kind=npu\n"
                                 "heap 1 process=1 device=1 level=driver basis=block name=memory\n"
                                 "thread 1 process=1 tid=1\n"
                                 "stack 1: a.c:1:f\n"
                                 "@- alloc heap=1 address=0x1000 block=100 thread=1 stack=1\n";
    nm_input_row input = load_whole_input(1);
    char *summary = summarise(none, &input, NULL);

    ck_assert_ptr_nonnull(strstr(summary, "No stacks were recorded"));
    ck_assert_ptr_nonnull(strstr(summary, "NPU 3   memory            peak 100 B at event 0\n"));
    free(summary);
    summary = summarise(caller, &input, NULL);
    ck_assert_ptr_nonnull(strstr(summary, "Stacks hold the caller alone"));
    free(summary);
}
END_TEST

START_TEST(an_empty_trace_has_a_summary)
{
    nm_input_row input = load_whole_input(0);
    char *summary;

    input.first_seq = input.last_seq = NM_NO_SEQ;
    summary = summarise("# nothing\n", &input, NULL);
    ck_assert_ptr_nonnull(strstr(summary, ": 0 processes, 0 devices, 0 events, 0 dropped, complete\n"));
    ck_assert_ptr_nonnull(strstr(summary, "No memory was allocated.\n"));
    ck_assert_ptr_nonnull(strstr(summary, "No process loaded the recorder"));
    free(summary);

    /* Where all is lost, nobody knows that. */
    input.is_complete = false;
    input.events_seen = input.events_damaged = 10;
    input.events_ingested = 0;
    summary = summarise("# nothing\n", &input, NULL);
    ck_assert_ptr_nonnull(strstr(summary, "nothing is known of what ran.\n"));
    ck_assert_ptr_null(strstr(summary, "No process loaded the recorder"));
    free(summary);
}
END_TEST

START_TEST(failures_and_misuse_have_a_line)
{
    static const char text[] =
        "process 1 pid=1\n"
        "device 1 process=1 ordinal=0 kind=npu\n"
        "heap 1 process=1 device=1 level=driver basis=block name=memory\n"
        "thread 1 process=1 tid=1\n"
        "stack 1: a.c:1:f < a.c:2:main\n"
        "@0 alloc heap=1 address=0x1000 block=4000000 thread=1 stack=1\n"
        "@5 alloc_failed heap=1 requested=3145728 thread=1 stack=1 error=207001 free=1000 total=5000000\n"
        "@6 free address=0x1000 detail=device thread=1\n"
        "@7 free address=0x1000 detail=device thread=1\n"
        "@8 free address=0x1000 detail=device thread=1\n";
    nm_input_row input = load_whole_input(5);
    char *summary = summarise(text, &input, NULL);

    ck_assert_ptr_nonnull(strstr(
        summary, "Out of memory at 0.0 ms: at least 3.0 MiB, a.c:1 f, fatal: capacity\n"
                 "  This process itself held 3.81 MiB of the device's 4.77 MiB: at least 3.00 MiB more does not fit.\n"
                 "  Held then: program 3.8 MiB, unexplained 976 KiB; 1.0 KiB left of the device\n"));
    ck_assert_ptr_nonnull(strstr(summary, "Misuse: 2 x double free (view misuse)\n"));
    free(summary);
}
END_TEST

START_TEST(resources_are_no_memory)
{
    static const char text[] =
        "process 1 pid=1\n"
        "device 1 process=1 ordinal=0 kind=npu\n"
        "heap 1 process=1 device=1 level=driver basis=block name=memory\n"
        "thread 1 process=1 tid=1\n"
        "stack 1: a.c:1:f < a.c:2:main\n"
        "@0 alloc heap=1 address=0x1000 block=100 thread=1 stack=1\n"
        "@1 stream_call thread=1 device=1 stream=7 detail=stream_create\n"
        "@5 alloc_failed heap=1 requested=3145728 thread=1 stack=1 error=207005 free=1000 total=5000\n";
    nm_input_row input = load_whole_input(3);
    char *summary = summarise(text, &input, NULL);

    ck_assert_ptr_nonnull(strstr(summary,
                                 "Out of streams or events at 0.0 ms: at least 3.0 MiB, a.c:1 f, fatal: resources\n"
                                 "  Error 207005 is about resources of the device (streams, events and the like),"
                                 " not about its memory: this process had created 1 stream and 0 events on it"
                                 " that it had not destroyed.\n"));
    ck_assert_ptr_null(strstr(summary, "Out of memory"));
    free(summary);
}
END_TEST

/* One line a kind; what several threads noted counts once. */
START_TEST(what_was_not_seen_has_a_line_a_kind)
{
    static const char text[] = "process 1 pid=1\n"
                               "heap 1 process=1 level=host basis=requested name=memory\n"
                               "thread 1 process=1 tid=1\nthread 2 process=1 tid=2\n"
                               "@0 note thread=1 detail=unseen_operator name=aclnnFoo\n"
                               "@1 note thread=1 detail=missing_function name=halFirst\n"
                               "@2 note thread=2 detail=missing_function name=halFirst\n"
                               "@3 note thread=2 detail=missing_function name=halAnother\n"
                               "@4 note thread=1 detail=python_unreadable name=\"no libpython\"\n"
                               "@5 note thread=1 detail=77 name=later\n"
                               "@6 note thread=1 detail=unseen_operator name=aclnnFoo number=1200\n";
    nm_input_row input = load_whole_input(7);
    char *summary = summarise(text, &input, NULL);

    ck_assert_ptr_nonnull(strstr(summary, "complete\n")); /* a note is no loss */
    ck_assert_ptr_nonnull(strstr(summary, "Not seen, an operator: aclnnFoo, and 1,200 more (view unseen)\n"
                                          "Not seen, for the runtime lacks it: halFirst, and 1 more (view unseen)\n"
                                          "Not seen, Python frames: no libpython (view unseen)\n"
                                          "Not seen: later (view unseen)\n"));
    free(summary);
}
END_TEST

static void add_text(nm_buffer *text, const char *format, int a, int b, int c)
{
    char line[256];

    snprintf(line, sizeof line, format, a, b, c);
    ck_assert_int_eq(nm_buffer_append(text, line, strlen(line), NULL), NM_OK);
}

/* What stands under a heap must be its own: of two with one name, on one device of one process, nothing is said. */
START_TEST(heaps_of_one_name_are_not_mixed)
{
    static const char text[] = "process 1 pid=1 host=h\n"
                               "device 1 process=1 ordinal=0 kind=npu\n"
                               "heap 1 process=1 device=1 level=pool basis=block name=pool\n"
                               "heap 2 process=1 device=1 level=pool basis=block name=pool\n"
                               "heap 3 process=1 device=1 level=pool basis=block name=other\n"
                               "thread 1 process=1 tid=1\n"
                               "stack 1: a.c:1:one\nstack 2: b.c:2:two\nstack 3: c.c:3:three\n"
                               "@1 alloc heap=1 address=0x10000 block=4096 thread=1 stack=1\n"
                               "@2 alloc heap=2 address=0x20000 block=12288 thread=1 stack=2\n"
                               "@3 alloc heap=3 address=0x30000 block=20480 thread=1 stack=3\n";
    nm_input_row input = load_whole_input(3);
    char *summary = summarise(text, &input, NULL);
    const char *namesake = strstr(summary, "peak 12.0 KiB");

    ck_assert_ptr_nonnull(namesake);
    ck_assert_ptr_nonnull(strstr(namesake, "one of 2 heaps of this name, process and device"));
    ck_assert_ptr_null(strstr(summary, "a.c:1"));
    ck_assert_ptr_null(strstr(summary, "b.c:2"));
    ck_assert_ptr_nonnull(strstr(summary, "c.c:3 three"));
    free(summary);
}
END_TEST

/* `processes` processes with `heaps` pools each, and a note of every kind; the peak of process p is (p + 1) KiB in each. */
static char *summarise_many(int processes, int heaps)
{
    nm_buffer text = {0};
    char *summary;
    int events = 0;

    for (int p = 1; p <= processes; p++) {
        add_text(&text, "process %d pid=%d host=h rank=%d\n", p, 1000 + p, p - 1);
        add_text(&text, "thread %d process=%d tid=%d\n", p, p, 1000 + p);
        add_text(&text, "device %d process=%d ordinal=0 physical=%d kind=npu\n", p, p, p - 1);
        for (int h = 0; h < heaps; h++) {
            add_text(&text, "heap %d process=%d device=%d level=pool basis=block name=pool\n", p * 100 + h, p, p);
            for (int stack = 0; stack < 9; stack++, events++) {
                add_text(&text, "stack %d: f.c:%d:f < f.c:%d:main\n", 1 + stack, 1 + stack, 99);
                add_text(&text, "@- alloc heap=%d address=%d block=1 thread=1 stack=%d\n", p * 100 + h,
                         (p * 100 + h) * 65536 + stack, 1 + stack);
            }
            add_text(&text, "@- alloc heap=%d address=%d block=%d thread=1\n", p * 100 + h,
                     (p * 100 + h) * 65536 + 4096, (p + 1) * 1024 - 9);
            events++;
        }
    }
    for (int note = 0; note <= NM_NOTE_MAX; note++)
        add_text(&text, "@- note thread=%d detail=%d name=n%d\n", 1, note, note);
    ck_assert_int_eq(nm_buffer_append(&text, "", 1, NULL), NM_OK);
    nm_input_row input = load_whole_input((uint64_t)events);
    summary = summarise((const char *)text.data, &input, NULL);
    nm_buffer_free(&text);
    return summary;
}

START_TEST(any_number_of_heaps_fits_one_screen)
{
    static const int shapes[][2] = {{1, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 40}, {2, 1}, {8, 1}, {8, 5}, {9, 1}, {64, 2}};

    for (size_t index = 0; index < sizeof shapes / sizeof shapes[0]; index++) {
        char *summary = summarise_many(shapes[index][0], shapes[index][1]);

        ck_assert_msg(line_count(summary) <= NM_SUMMARY_LINES_MAX, "%d processes, %d heaps: %zu lines\n%s",
                      shapes[index][0], shapes[index][1], line_count(summary), summary);
        free(summary);
    }
}
END_TEST

/* A queue of three blocks, one in and one out in each step, is no leak: what grows alone is told. */
START_TEST(what_keeps_the_newest_is_no_leak)
{
    nm_buffer text = {0};

    add_text(&text, "process 1 pid=1 host=h begin=0\nthread 1 process=1 tid=1\n", 0, 0, 0);
    add_text(&text, "heap 1 process=1 level=pinned basis=block name=pinned\n", 0, 0, 0);
    add_text(&text, "stack 1: /a.c:7:queue\nstack 2: /a.c:8:leak\n", 0, 0, 0);
    for (int step = 0; step < 12; step++) {
        add_text(&text, "@%d step number=%d thread=1\n", 10 * step, step, 0);
        if (step >= 3)
            add_text(&text, "@%d free heap=1 address=%d thread=1\n", 10 * step + 1, (step - 2) << 16, 0);
        add_text(&text, "@%d alloc heap=1 address=%d block=8192 thread=1 stack=1\n", 10 * step + 2, (step + 1) << 16,
                 0);
        add_text(&text, "@%d alloc heap=1 address=%d block=1024 thread=1 stack=2\n", 10 * step + 3, (step + 1) << 24,
                 0);
    }
    add_text(&text, "@9000000 process_end process=1 thread=1 detail=signal error=9\n", 0, 0, 0);
    ck_assert_int_eq(nm_buffer_append(&text, "", 1, NULL), NM_OK);
    nm_input_row input = load_whole_input(46);
    char *summary = summarise((const char *)text.data, &input, NULL);

    ck_assert_msg(strstr(summary, " a.c:8 leak                              12 x 1.0 KiB, one a step, growing\n"), "%s",
                  summary);
    ck_assert_msg(strstr(summary, "        leaks             12 allocations, 12.0 KiB\n"), "%s", summary);
    ck_assert_ptr_null(strstr(summary, "3 x 8.0 KiB"));
    free(summary);
    nm_buffer_free(&text);
}
END_TEST

/* 1.0 MiB is less than the 64 that a warning needs. */
START_TEST(too_little_to_matter_is_no_warning)
{
    nm_input_row input = load_whole_input(10);
    char *summary = summarise_above(LEAKY, &input, NULL, NULL);

    ck_assert_msg(strstr(summary, "\nHealth: good in 1 measure (view health)\n") != NULL, "%s", summary);
    ck_assert_msg(strstr(summary, "25 % of reserved unused at peak, 1.0 MiB inactive split\n") != NULL, "%s", summary);
    free(summary);
}
END_TEST

/* Of 200 MiB none was unused at the peak; half of them were split off when 200 more were refused. */
START_TEST(the_worst_moment_is_told_beside_the_peak)
{
    nm_input_row input = load_whole_input(9);
    char *summary = summarise_above("process 1 pid=100 host=h1\ndevice 1 process=1 ordinal=0 kind=npu\n"
                                    "heap 1 process=1 device=1 level=driver basis=block name=memory\n"
                                    "heap 2 process=1 device=1 level=pool basis=block name=pool\n"
                                    "thread 1 process=1 tid=100\n"
                                    "@1 alloc heap=1 address=0x100000000 block=209715200 thread=1\n"
                                    "@2 alloc heap=2 address=0x100000000 block=104857600 thread=1\n"
                                    "@3 alloc heap=2 address=0x106400000 block=104857600 thread=1\n"
                                    "@4 free heap=2 address=0x100000000 thread=1\n"
                                    "@5 alloc_failed heap=1 requested=209715200 error=207001 free=0 thread=1\n",
                                    &input, NULL, NULL);

    ck_assert_msg(strstr(summary, "0.0 % of reserved unused at peak, 0 B inactive split; 50 % inactive split when an"
                                  " allocation failed\n") != NULL,
                  "%s", summary);
    ck_assert_msg(strstr(summary,
                         "Danger: fragmentation of NPU 0 pool: 100.0 MiB of 200.0 MiB reserved was inactive split"
                         " when an allocation failed: ") != NULL,
                  "%s", summary);
    free(summary);
}
END_TEST

/* Nothing is known of what a recording would have told that was cut before its first event. */
START_TEST(a_cut_before_the_first_event_is_told_as_such)
{
    nm_input_row cut = load_whole_input(0), whole = load_whole_input(0);
    char *summary;

    cut.bytes_cut = 100;
    cut.is_finished = false;
    cut.is_complete = false;
    summary = summarise("process 1 pid=100 host=h1\n", &cut, NULL);
    ck_assert_msg(strstr(summary, "The recording was cut before its first event: what was allocated is not known.\n") !=
                      NULL,
                  "%s", summary);
    ck_assert_msg(strstr(summary, "No memory was allocated") == NULL, "%s", summary);
    free(summary);
    summary = summarise("process 1 pid=100 host=h1\n", &whole, NULL);
    ck_assert_msg(strstr(summary, "No memory was allocated.\n") != NULL, "%s", summary);
    free(summary);
}
END_TEST

/* Two processes without ranks have a pool of one name: which of them is meant stands in the verdict. */
START_TEST(verdicts_name_their_process)
{
    nm_buffer text = {0};

    for (int p = 1; p <= 2; p++) {
        add_text(&text, "process %d pid=%d host=h\n", p, 40 + p, 0);
        add_text(&text, "thread %d process=%d tid=%d\ndevice 1 process=1 ordinal=0 kind=npu\n", p, p, p);
        add_text(&text, "heap %d process=%d device=1 level=driver basis=block name=driver\n", p, p, 0);
        add_text(&text, "heap %d process=%d device=1 level=pool basis=block name=pool\n", 10 + p, p, 0);
        add_text(&text, "@1 alloc heap=%d address=%d block=1000 thread=%d\n", p, p << 20, p);
        add_text(&text, "@2 alloc heap=%d address=%d block=100 thread=%d\n", 10 + p, p << 20, p);
    }
    ck_assert_int_eq(nm_buffer_append(&text, "", 1, NULL), NM_OK);
    nm_input_row input = load_whole_input(4);
    char *summary = summarise((const char *)text.data, &input, NULL);

    ck_assert_msg(strstr(summary, "Danger: fragmentation of pid 41 NPU 0 pool: ") != NULL, "%s", summary);
    ck_assert_msg(strstr(summary, "Danger: fragmentation of pid 42 NPU 0 pool: ") != NULL, "%s", summary);
    free(summary);
    nm_buffer_free(&text);
}
END_TEST

/* Nine runs in containers: each on host h, as rank 0 and number 1. The peak of run r is (r + 1) KiB. */
START_TEST(processes_of_one_name_are_not_added_up)
{
    nm_buffer text = {0};

    for (int p = 1; p <= 9; p++) {
        add_text(&text, "process %d pid=1 host=h rank=0\nthread %d process=%d tid=1\n", p, p, p);
        add_text(&text, "device %d process=%d ordinal=0 kind=npu\n", p, p, 0);
        add_text(&text, "heap %d process=%d device=%d level=driver basis=block name=memory\n", p, p, p);
        add_text(&text, "@- alloc heap=%d address=65536 block=%d thread=%d\n", p, (p + 1) * 1024, p);
    }
    ck_assert_int_eq(nm_buffer_append(&text, "", 1, NULL), NM_OK);
    nm_input_row input = load_whole_input(9);
    char *summary = summarise((const char *)text.data, &input, NULL);

    ck_assert_msg(strstr(summary, "  driver peak        2.0 KiB    6.0 KiB   10.0 KiB") != NULL, "%s", summary);
    free(summary);
    nm_buffer_free(&text);
}
END_TEST

/* Nine snapshots, which know neither host nor number: two of the processes leak at one site, 6 blocks each. */
START_TEST(processes_that_leak_are_counted_without_their_names)
{
    nm_buffer text = {0};

    add_text(&text, "stack 1: a.py:7:keep\nstack 2: a.py:8:weights\n", 0, 0, 0);
    for (int p = 1; p <= 9; p++) {
        add_text(&text, "process %d\nthread %d process=%d tid=1\n", p, p, p);
        add_text(&text, "device %d process=%d ordinal=0 kind=npu\n", p, p, 0);
        add_text(&text, "heap %d process=%d device=%d level=pool basis=requested name=pool\n", p, p, p);
        if (p > 2)
            add_text(&text, "@- alloc heap=%d address=65536 requested=1024 thread=%d stack=2\n", p, p, 0);
        for (int step = 0; step < 6 && p <= 2; step++) {
            add_text(&text, "@- step number=%d thread=%d\n", step, p, 0);
            add_text(&text, "@- alloc heap=%d address=%d requested=1024 thread=%d stack=1\n", p, 65536 * (step + 1), p);
        }
    }
    ck_assert_int_eq(nm_buffer_append(&text, "", 1, NULL), NM_OK);
    nm_input_row input = load_whole_input(31);
    char *summary = summarise((const char *)text.data, &input, NULL);

    ck_assert_msg(strstr(summary, " a.py:7 keep ") != NULL &&
                      strstr(summary, " 12 allocations, in 2 processes, growing\n") != NULL,
                  "%s", summary);
    free(summary);
    nm_buffer_free(&text);
}
END_TEST

START_TEST(many_processes_without_memory_have_no_table)
{
    nm_buffer text = {0};

    for (int p = 1; p <= 9; p++)
        add_text(&text, "process %d pid=%d host=h\n", p, p, 0);
    add_text(&text, "thread %d process=1 tid=1\n@- mark thread=1 name=here\n", 1, 0, 0);
    ck_assert_int_eq(nm_buffer_append(&text, "", 1, NULL), NM_OK);
    nm_input_row input = load_whole_input(1);
    char *summary = summarise((const char *)text.data, &input, NULL);

    ck_assert_msg(strstr(summary, "9 processes") != NULL && strstr(summary, "median") == NULL, "%s", summary);
    free(summary);
    nm_buffer_free(&text);
}
END_TEST

/* A shell's wrappers around the one program that uses a device: they are no reason to tell it as a job of many ranks. */
START_TEST(processes_without_memory_do_not_make_many)
{
    nm_buffer text = {0};

    for (int p = 1; p <= 12; p++)
        add_text(&text, "process %d pid=%d host=h\n", p, p, 0);
    add_text(&text, "thread 1 process=12 tid=1\nheap 1 process=12 level=pinned basis=block name=pinned\n", 0, 0, 0);
    add_text(&text, "@- alloc heap=1 address=65536 block=2048 thread=1\n", 0, 0, 0);
    ck_assert_int_eq(nm_buffer_append(&text, "", 1, NULL), NM_OK);
    nm_input_row input = load_whole_input(1);
    char *summary = summarise((const char *)text.data, &input, NULL);

    ck_assert_msg(strstr(summary, ": 12 processes (1 with memory), ") != NULL, "%s", summary);
    ck_assert_msg(strstr(summary, "\nhost    pinned            peak 2.0 KiB") != NULL, "%s", summary);
    free(summary);
    nm_buffer_free(&text);
}
END_TEST

/* Nine ranks each free one block of pinned memory and leave one behind; one of them leaks in each step as well. */
START_TEST(leaks_of_many_processes_are_told_with_their_verdict)
{
    nm_buffer text = {0};

    add_text(&text, "stack 1: /a.c:7:hold\nstack 2: /a.c:8:leak\n", 0, 0, 0);
    for (int p = 1; p <= 9; p++) {
        add_text(&text, "process %d pid=%d host=h rank=%d begin=0\n", p, p, p);
        add_text(&text, "thread %d process=%d tid=%d\n", p, p, p);
        add_text(&text, "heap %d process=%d level=pinned basis=block name=pinned\n", p, p, 0);
        add_text(&text, "@- alloc heap=%d address=65536 block=4096 thread=%d stack=1\n", p, p, 0);
        add_text(&text, "@- alloc heap=%d address=4096 block=16 thread=%d stack=1\n", p, p, 0);
        add_text(&text, "@- free heap=%d address=4096 thread=%d\n", p, p, 0);
    }
    for (int step = 0; step < 4; step++) {
        add_text(&text, "@- step number=%d thread=1\n", step, 0, 0);
        add_text(&text, "@- alloc heap=1 address=%d block=1024 thread=1 stack=2\n", 131072 + step * 4096, 0, 0);
    }
    for (int p = 1; p <= 9; p++)
        add_text(&text, "@9 process_end process=%d thread=%d detail=exit error=0\n", p, p, 0);
    ck_assert_int_eq(nm_buffer_append(&text, "", 1, NULL), NM_OK);
    nm_input_row input = load_whole_input(44);
    char *summary = summarise((const char *)text.data, &input, NULL);

    ck_assert_msg(
        strstr(summary, " a.c:7 hold                               9 allocations, in 9 processes, unreleased\n"), "%s",
        summary);
    ck_assert_msg(strstr(summary, " a.c:8 leak                               4 allocations, in 1 process, growing\n"),
                  "%s", summary);
    ck_assert_msg(strstr(summary, "a.c:8 leak") < strstr(summary, "a.c:7 hold"), "%s",
                  summary); /* what grows is worse */
    free(summary);
    nm_buffer_free(&text);
}
END_TEST

START_TEST(many_processes_are_told_by_minimum_median_and_maximum)
{
    char *summary = summarise_many(9, 1); /* peaks of 2 to 10 KiB; the median is 6 */

    ck_assert_ptr_nonnull(strstr(summary, "  over processes         min     median        max\n"));
    ck_assert_ptr_nonnull(strstr(summary,
                                 "  pool peak          2.0 KiB    6.0 KiB   10.0 KiB   far off: rank 0 2.0 KiB, "
                                 "rank 8 10.0 KiB, rank 1 3.0 KiB, rank 7 9.0 KiB\n"));
    free(summary);
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

int main(void)
{
    Suite *suite = suite_create("summary");
    TCase *tcase = tcase_create("summary");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_leak_is_told_as_a_person_would);
    tcase_add_test(tcase, a_leak_of_some_steps_is_told_by_its_growth);
    tcase_add_test(tcase, a_device_is_taken_apart);
    tcase_add_test(tcase, components_of_a_device_have_words);
    tcase_add_test(tcase, too_little_to_matter_is_no_warning);
    tcase_add_test(tcase, the_worst_moment_is_told_beside_the_peak);
    tcase_add_test(tcase, a_cut_before_the_first_event_is_told_as_such);
    tcase_add_test(tcase, verdicts_name_their_process);
    tcase_add_test(tcase, what_keeps_the_newest_is_no_leak);
    tcase_add_test(tcase, loss_stands_in_the_first_line);
    tcase_add_test(tcase, a_late_begin_is_said);
    tcase_add_test(tcase, missing_stacks_are_said);
    tcase_add_test(tcase, an_empty_trace_has_a_summary);
    tcase_add_test(tcase, failures_and_misuse_have_a_line);
    tcase_add_test(tcase, resources_are_no_memory);
    tcase_add_test(tcase, what_was_not_seen_has_a_line_a_kind);
    tcase_add_test(tcase, any_number_of_heaps_fits_one_screen);
    tcase_add_test(tcase, heaps_of_one_name_are_not_mixed);
    tcase_add_test(tcase, processes_of_one_name_are_not_added_up);
    tcase_add_test(tcase, processes_that_leak_are_counted_without_their_names);
    tcase_add_test(tcase, many_processes_without_memory_have_no_table);
    tcase_add_test(tcase, processes_without_memory_do_not_make_many);
    tcase_add_test(tcase, leaks_of_many_processes_are_told_with_their_verdict);
    tcase_add_test(tcase, many_processes_are_told_by_minimum_median_and_maximum);
    tcase_add_test(tcase, numbers_are_short_and_exact_enough);
    tcase_add_test(tcase, text_is_cut_and_made_safe);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
