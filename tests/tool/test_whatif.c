/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-whatif as a user runs it: answers for planted cases, exit statuses, a trace and its database alike, and inputs
 * that are damaged in many ways.
 *
 *     test_whatif NPUMEM_WHATIF NPUMEM_INGEST TEXT2TRACE
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/run.h"

#define MIB            (1 << 20)
#define DAMAGED_INPUTS 120

static const char *whatif, *ingest, *text2trace;
static char folder[64];

static nm_run sh(const char *line)
{
    char command[4096];

    snprintf(
        command, sizeof command,
        "cd %s && W=%s && trace() { %s \"$1.txt\" \"$1.zst\"; } && load() { %s --quiet --force \"$1.zst\"; } && %s",
        folder, whatif, text2trace, ingest, line);
    return run_shell(command, 60);
}

static void expect(const char *line, int exit_code, const char *part)
{
    nm_run run = sh(line);

    ck_assert_msg(run.exit_code == exit_code, "%s: exit %d, %s%s", line, run.exit_code, run_out(&run), run_err(&run));
    ck_assert_msg(part == NULL || strstr(run_out(&run), part) != NULL || strstr(run_err(&run), part) != NULL,
                  "%s: no '%s' in %s%s", line, part, run_out(&run), run_err(&run));
    run_free(&run);
}

static FILE *begin_text(const char *name)
{
    char path[128];

    snprintf(path, sizeof path, "%s/%s.txt", folder, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs("process 1 pid=100\n"
          "thread 1 process=1 tid=100\n"
          "device 1 process=1 ordinal=0 kind=npu name=Ascend910B capacity=2147483648\n"
          "heap 1 process=1 device=1 level=driver basis=block\n"
          "heap 2 process=1 device=1 level=pool basis=requested name=\"caching pool\"\n",
          file);
    return file;
}

/* Blocks that grow from step to step, each in a segment of its own: what expandable segments are for. With `stream` in the
 * events, or without. */
static void write_growing(const char *name, const char *stream, const char *more)
{
    FILE *file = begin_text(name);
    long kept = 0;

    for (int i = 0; i < 12; i++) {
        long address = 0x40000000L + i * 0x10000000L;

        fprintf(file, "@%d step thread=1 number=%d\n", 10 * i + 1, i);
        fprintf(file, "@%d alloc heap=1 thread=1 address=0x%lx block=%d\n", 10 * i + 2, address, (22 + 4 * i) * MIB);
        fprintf(file, "@%d alloc heap=2 thread=1 address=0x%lx requested=%d%s\n", 10 * i + 3, address,
                (20 + 4 * i) * MIB, stream);
        if (kept != 0)
            fprintf(file, "@%d free heap=2 thread=1 address=0x%lx\n", 10 * i + 4, kept);
        kept = address;
    }
    fputs(more, file);
    fclose(file);
}

static void set_up(void)
{
    run_make_folder(folder);
    write_growing("grow", " stream=7", "");
    write_growing("streamless", "", "");
    write_growing("shared", " stream=7", "@500 export thread=1 address=0x40000000 detail=device\n");
    expect("trace grow && load grow && trace streamless && trace shared", 0, NULL);
}

static void tear_down(void)
{
    run_remove_folder(folder);
}

START_TEST(the_planted_fragmentation_is_found_and_its_cure_suggested)
{
    /* 22 + 26 + ... + 66 MiB reserved, of which at most 60 + 64 are live at once. */
    expect("$W grow.zst", 0, "12 segments, 528 MiB reserved at the most: exactly as recorded");
    expect("$W grow.zst", 0, "124 MiB live at once");
    expect("$W --suggest grow.zst", 0, "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True\ngain");
    expect("$W --suggest grow.zst", 0, "not with      max_split_size_mb");
    expect("$W --suggest grow.zst", 0, "in a step after the first");
    expect("$W --compare grow.zst", 0, "expandable_segments:True");
}
END_TEST

START_TEST(exit_statuses_tell_fit_or_not)
{
    expect("$W --capacity 200MiB grow.zst", 0, "yes");
    expect("$W --capacity 100MiB grow.zst", 1, "does not fit, by capacity: at event ");
    expect("$W --capacity 200MiB --other 150MiB grow.zst", 1, "does not fit");
    expect("$W --conf expandable_segments:True --capacity 200MiB grow.zst", 0, "expandable_segments:True");
    expect("$W --capacity 1KiB --suggest grow.zst", 1, NULL);
    expect("$W --bucket 'maximum:100MiB' grow.zst", 1, "by limit");
    expect("$W --bucket 'initial:1GiB,classes:[128MiB]' grow.zst", 0, "bucket initial:1GiB");
    expect("$W --bucket 'initial:3GiB' grow.zst", 1, "not even what was there");
}
END_TEST

START_TEST(wrong_usage_is_two)
{
    static const char *const lines[] = {
        "$W",
        "$W --no-such-option grow.zst",
        "$W --conf expandable_segments:True,max_split_size_mb:64 grow.zst",
        "$W --conf max_split_size_mb:1 grow.zst",
        "$W --bucket classes:[2,1] grow.zst",
        "$W --capacity many grow.zst",
        "$W --capacity 0 grow.zst",
        "$W --other 12GB grow.zst",
        "$W --heap 1 grow.zst",
        "$W --heap 99 grow.zst",
        "$W --pad 1e3 grow.zst",
        "$W grow.zst shared.zst",
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        expect(lines[i], 2, NULL);
    expect("$W --help", 0, "usage: npumem-whatif");
    expect("$W --version", 0, "npumem-whatif ");
    expect("$W --list grow.zst", 0, "heap 2  process 1  device 1  caching pool: 12 allocations, 124 MiB at their peak");
}
END_TEST

START_TEST(suggestions_are_refused_with_a_reason)
{
    expect("$W --suggest streamless.zst", 4, "no suggestion: the stream of some allocations is not known");
    expect("$W streamless.zst", 0, "without a known stream");
    expect("$W --suggest --one-stream streamless.zst", 0, "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True");
    expect("$W --suggest shared.zst", 0, "not tried     expandable_segments");
    expect("! $W --suggest shared.zst | grep -q 'CONF=expandable_segments:True'", 0, NULL);
}
END_TEST

START_TEST(a_database_answers_as_its_trace_does)
{
    expect("$W --compare --capacity 300MiB --csv trace.csv grow.zst > trace.out && "
           "$W --compare --capacity 300MiB --csv db.csv grow.db > db.out && cmp trace.csv db.csv && "
           "tail -n +2 trace.out > a && tail -n +2 db.out > b && cmp a b",
           0, NULL);
    expect("$W --csv trace.csv grow.zst", 4, "trace.csv: is already there");
    expect("$W --csv trace.csv --force grow.zst && head -1 trace.csv | grep -q '^setting,capacity_bytes,'", 0, NULL);
    expect("$W --csv /no/such/folder/x grow.zst", 4, "x: ");
    expect("sqlite3 grow.db 'DELETE FROM allocation' && $W grow.db", 4, "no rows of allocations");
    expect("sqlite3 other.db 'CREATE TABLE t (a)' && $W other.db", 4, "other.db: ");
}
END_TEST

START_TEST(advice_names_sizes_and_a_pool_that_works)
{
    FILE *file = begin_text("reuse");

    for (int i = 0; i < 50; i++)
        fprintf(file,
                "@%d alloc heap=2 thread=1 address=0x%x requested=1000 stream=1\n"
                "@%d free heap=2 thread=1 address=0x%x\n",
                4 * i + 1, 0x1000 * (i + 1), 4 * i + 2, 0x1000 * (i + 1));
    fclose(file);
    expect("trace reuse && $W --advise reuse.zst", 0, "49 of 50 requests found a freed block of their very size");
    expect("$W --advise reuse.zst", 0, "try           --bucket 'initial:1536,classes:[1536]'");
    expect("$W --bucket 'initial:1536,slab:1536,classes:[1536]' reuse.zst", 0, "100 %");
}
END_TEST

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

/* Copies the file with some bytes changed, or cut. */
static void damage(const char *from, const char *to)
{
    char path[128];
    static uint8_t bytes[1 << 20];

    snprintf(path, sizeof path, "%s/%s", folder, from);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    size_t len = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (uint64_t i = next_random(6); i > 0; i--)
        bytes[next_random(len)] = (uint8_t)next_random(256);
    len = next_random(3) == 0 ? next_random(len + 1) : len;
    snprintf(path, sizeof path, "%s/%s", folder, to);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fwrite(bytes, 1, len, file);
    fclose(file);
}

START_TEST(damaged_inputs_end_with_an_answer_or_one_line)
{
    for (int i = 0; i < DAMAGED_INPUTS; i++) {
        bool is_database = i % 3 == 0;

        damage(is_database ? "grow.db" : "grow.zst", "damaged");
        nm_run run = sh("$W --suggest --capacity 1GiB damaged");
        ck_assert_msg(!run.is_timed_out && run.exit_code <= 4 && run.exit_code != 2, "round %d: exit %d, %s", i,
                      run.exit_code, run_err(&run));
        const char *newline = strchr(run_err(&run), '\n');
        ck_assert_msg(newline == NULL || newline[1] == 0, "round %d: %s", i, run_err(&run));
        ck_assert_msg((run.exit_code == 4) == (newline != NULL), "round %d: exit %d, %s", i, run.exit_code,
                      run_err(&run));
        run_free(&run);
    }
}
END_TEST

START_TEST(a_trace_with_holes_is_answered_as_partial)
{
    write_growing("lossy", " stream=7", "@900 loss thread=1 number=5 until=901 detail=1\n");
    expect("trace lossy && $W lossy.zst", 3, "part of the input is missing");
    expect("$W --suggest lossy.zst", 4, "no suggestion: part of the input was lost");
    expect("$W --capacity 1MiB lossy.zst", 1, NULL);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("whatif");
    TCase *tcase = tcase_create("all");
    SRunner *runner = srunner_create(suite);

    if (argc != 4) {
        fputs("usage: test_whatif NPUMEM_WHATIF NPUMEM_INGEST TEXT2TRACE\n", stderr);
        return EXIT_FAILURE;
    }
    whatif = argv[1];
    ingest = argv[2];
    text2trace = argv[3];
    tcase_set_timeout(tcase, 280);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, the_planted_fragmentation_is_found_and_its_cure_suggested);
    tcase_add_test(tcase, exit_statuses_tell_fit_or_not);
    tcase_add_test(tcase, wrong_usage_is_two);
    tcase_add_test(tcase, suggestions_are_refused_with_a_reason);
    tcase_add_test(tcase, a_database_answers_as_its_trace_does);
    tcase_add_test(tcase, advice_names_sizes_and_a_pool_that_works);
    tcase_add_test(tcase, damaged_inputs_end_with_an_answer_or_one_line);
    tcase_add_test(tcase, a_trace_with_holes_is_answered_as_partial);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
