/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-whatif as a user runs it: answers for planted cases, exit statuses, a trace and its database alike, and inputs
 * that are damaged in many ways.
 *
 *     test_whatif NPUMEM_WHATIF NPUMEM_INGEST TEXT2TRACE    as $W $I $X in lines of shell
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/shell.h"

#define MIB            (1 << 20)
#define DAMAGED_INPUTS 120

static void expect(const char *line, int exit_code, const char *part)
{
    nm_run run = shell_line(line);

    ck_assert_msg(run.exit_code == exit_code, "%s: exit %d, %s%s", line, run.exit_code, run_out(&run), run_err(&run));
    ck_assert_msg(part == NULL || strstr(run_out(&run), part) != NULL || strstr(run_err(&run), part) != NULL,
                  "%s: no '%s' in %s%s", line, part, run_out(&run), run_err(&run));
    run_free(&run);
}

static FILE *begin_text(const char *name)
{
    char path[128];

    snprintf(path, sizeof path, "%s/%s.txt", shell_folder, name);
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
    shell_make_folder();
    write_growing("grow", " stream=7", "");
    write_growing("streamless", "", "");
    write_growing("shared", " stream=7", "@500 export thread=1 address=0x40000000 detail=device\n");
    expect("trace grow && load grow && trace streamless && trace shared", 0, NULL);
}

START_TEST(the_planted_fragmentation_is_found_and_its_cure_suggested)
{
    /* 22 + 26 + ... + 66 MiB reserved, of which at most 60 + 64 are live at once. */
    expect("$W grow.zst", 0, "12 segments, 528 MiB reserved at the most: exactly as recorded");
    expect("$W grow.zst", 0, "124 MiB live at once");
    expect("$W --suggest grow.zst", 0, "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True\ngain");
    expect("$W --suggest grow.zst", 0, "not with      max_split_size_mb");
    expect("$W --suggest grow.zst", 0, "in a step after the warm-up");
    expect("$W --compare grow.zst", 0, "expandable_segments:True");
}
END_TEST

/* What the device refused is served in the simulation: that alone says nothing against its rules. */
START_TEST(a_failed_request_explains_what_is_more)
{
    write_growing("failed", " stream=7",
                  "@500 alloc_failed heap=2 requested=209715200 stream=7 thread=1 error=207001 free=1048576\n");
    expect("trace failed && $W failed.zst", 0, "failures      1 request failed");
    expect("$W failed.zst", 0, "more than recorded: what had failed is served here, or that pool has other rules");
}
END_TEST

/* Of two segments that hold nothing one is given back, for reasons of the pool's own, before it grows by 100 MiB. */
START_TEST(what_a_pool_gave_back_by_itself_explains_what_is_more)
{
    FILE *file = begin_text("gave");

    fprintf(file,
            "@1 alloc heap=1 thread=1 address=0x10000000 requested=%d block=%d\n"
            "@2 alloc heap=2 thread=1 address=0x10000000 requested=%d stream=7\n"
            "@3 alloc heap=1 thread=1 address=0x20000000 requested=%d block=%d\n"
            "@4 alloc heap=2 thread=1 address=0x20000000 requested=%d stream=7\n"
            "@5 free heap=2 thread=1 address=0x10000000\n"
            "@6 free heap=2 thread=1 address=0x20000000\n"
            "@7 free heap=1 thread=1 address=0x10000000\n"
            "@8 alloc heap=1 thread=1 address=0x30000000 requested=%d block=%d\n"
            "@9 alloc heap=2 thread=1 address=0x30000000 requested=%d stream=7\n",
            40 * MIB, 40 * MIB, 40 * MIB - 32, 60 * MIB, 60 * MIB, 60 * MIB - 32, 100 * MIB, 100 * MIB, 100 * MIB - 32);
    fclose(file);
    expect("trace gave && $W gave.zst", 0, "the pool gave memory back by itself 1 time: not replayed");
    expect("$W gave.zst", 0, "40.0 MiB more than recorded: what that pool gave back by itself is still here");
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
    expect("$W --bucket 'initial:3GiB' grow.zst", 1, "not even what it begins with");
}
END_TEST

START_TEST(answers_that_cannot_be_written_are_no_success)
{
    expect("[ ! -e /dev/full ] || { $W grow.zst >/dev/full 2>error; [ $? = 4 ]; }", 0, NULL);
    expect("[ ! -e /dev/full ] || { $W --list grow.zst >/dev/full 2>error; [ $? = 4 ]; }", 0, NULL);
    expect("$W --list grow.zst >&-", 4, "npumem-whatif: standard output: cannot write");
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
        "$W --other 12XB grow.zst",
        "$W --other 12 grow.zst",
        "$W --heap 1 grow.zst",
        "$W --heap 99 grow.zst",
        "$W --pad 1e3 grow.zst",
        "$W grow.zst shared.zst",
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        expect(lines[i], 2, NULL);
    expect("$W --conf max_split_size_mb:1 grow.zst", 2,
           "npumem-whatif: max_split_size_mb:1: max_split_size_mb is 21 to ");
    expect("$W --bucket slab:0 grow.zst", 2, "npumem-whatif: slab:0: slab must be more than 0");
    expect("$W --help", 0, "usage: npumem-whatif");
    expect("$W --version", 0, "npumem-whatif ");
    expect("$W --list grow.zst", 0, "heap 2  process 1  device 1  caching pool: 12 allocations, 124 MiB at their peak");
}
END_TEST

/* As torch_npu's pool tells through mstx. The figures are those of one stream, and say so. */
START_TEST(what_is_assumed_of_streams_is_said)
{
    expect("$W --suggest streamless.zst", 0, "assumed       12 allocations without a known stream: of one stream");
    expect("$W --suggest streamless.zst", 0, "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True\ngain");
    expect("$W --suggest streamless.zst", 0, "assumed       one stream: with several, whose blocks share no segment, ");
    expect("! $W --suggest grow.zst | grep -q assumed", 0, NULL);
    expect("$W --suggest streamless.zst > trace.out && load streamless && $W --suggest streamless.db > db.out && "
           "tail -n +2 trace.out > a && tail -n +2 db.out > b && cmp a b",
           0, NULL);
    expect("$W --suggest grow.zst | tail -n +2 > known.out && grep -v assumed a | cmp - known.out", 0, NULL);
}
END_TEST

/* Two streams recorded apart: 40 MiB each, where one stream would have used the first again. */
START_TEST(streams_explain_what_is_less)
{
    FILE *file = begin_text("streams");

    fprintf(file,
            "@1 alloc heap=1 thread=1 address=0x10000000 block=%d\n"
            "@2 alloc heap=2 thread=1 address=0x10000000 block=%d\n"
            "@3 free heap=2 thread=1 address=0x10000000\n"
            "@4 alloc heap=1 thread=1 address=0x20000000 block=%d\n"
            "@5 alloc heap=2 thread=1 address=0x20000000 block=%d\n",
            40 * MIB, 40 * MIB, 40 * MIB, 40 * MIB);
    fclose(file);
    expect("trace streams && $W streams.zst", 0, "40.0 MiB less than recorded: the streams are not known");
}
END_TEST

START_TEST(suggestions_are_refused_with_a_reason)
{
    expect("$W --suggest shared.zst", 0, "not tried     expandable_segments");
    expect("! $W --suggest shared.zst | grep -q 'CONF=expandable_segments:True'", 0, NULL);
}
END_TEST

/* The pool of torch_npu tells nothing of a request that it could not serve; the driver's refusal is all there is. */
START_TEST(a_run_that_died_is_not_said_to_fit_without_a_word)
{
    static const char died[] = "died          at its end 900 MiB of driver memory were refused";

    write_growing("died", " stream=7", "@500 alloc_failed heap=1 thread=1 requested=943718400 error=207001\n");
    write_growing("served", " stream=7",
                  "@500 alloc_failed heap=1 thread=1 requested=943718400 error=207001\n"
                  "@501 alloc heap=2 thread=1 address=0x40000000 requested=100 stream=7\n");
    write_growing("told", " stream=7",
                  "@500 alloc_failed heap=1 thread=1 requested=943718400 error=207001\n"
                  "@501 alloc_failed heap=2 thread=1 requested=943718000 error=207001 stream=7\n");
    expect("trace died && load died && trace served && trace told && $W --capacity 2GiB died.zst", 3, died);
    expect("$W --capacity 2GiB died.db", 3, died);
    expect("$W --capacity 2GiB died.zst", 3, "        not known  not known\n");
    expect("$W --capacity 2GiB served.zst | grep -c died", 1, "0");
    expect("$W --capacity 2GiB told.zst | grep died", 1, NULL);
    expect("$W --capacity 2GiB told.zst", 0, "failures      1 request failed: replayed as if freed at once");
}
END_TEST

/* Where the pool had asked before, and nobody else: 900 MiB are wanted beside the 60 + 20 that are live. */
START_TEST(a_refusal_is_replayed_where_the_pool_had_asked)
{
    static const char pool[] = "stack 1: /lib/p.so+0x10 < main\nstack 2: /lib/p.so+0x20 < main\n"
                               "@400 alloc heap=1 thread=1 address=0x200000000 block=20971520 stack=1\n"
                               "@401 alloc heap=2 thread=1 address=0x200000000 requested=19922944 stream=7\n";
    char more[512];

    for (int asker = 1; asker <= 2; asker++) {
        snprintf(more, sizeof more, "%s@500 alloc_failed heap=1 thread=1 requested=943718400 error=207001 stack=%d\n",
                 pool, asker);
        write_growing(asker == 1 ? "pools" : "others", " stream=7", more);
    }
    expect("trace pools && trace others && load pools && $W --capacity 2GiB pools.zst", 0, "  yes\n");
    expect("$W --capacity 960MiB pools.zst", 1, "does not fit, by capacity: at event ");
    expect("$W --capacity 960MiB pools.db", 1, "replayed as the largest request that asks for so much");
    expect("$W --capacity 960MiB others.zst", 3, "not known  not known\n");
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
    expect("sqlite3 grow.db 'DELETE FROM z_allocation' && $W grow.db", 4, "no rows of allocations");
    expect("sqlite3 other.db 'CREATE TABLE t (a)' && $W other.db", 4, "other.db: not a database of npumem-ingest");
    expect(
        "load shared && sqlite3 shared.db \"UPDATE meta SET value = 999 WHERE key = 'schema_version'\" && $W shared.db",
        4, "shared.db: has schema version 999, this program reads ");
}
END_TEST

START_TEST(a_database_without_all_rows_is_refused)
{
    expect("$I --quiet --force --detail live grow.zst -o live.db && $W live.db", 4,
           "live.db: this database has not a row for each allocation (--detail); take the trace");
    expect("$I --quiet --force --detail none grow.zst -o none.db && $W --list none.db", 4, "take the trace");
    expect("$I --quiet --force --detail all grow.zst -o all.db && $W all.db", 0, "12 requests");
}
END_TEST

START_TEST(a_table_is_not_written_over_what_it_is_made_of)
{
    expect("cp grow.zst copy.zst && $W --csv copy.zst --force copy.zst", 2, "copy.zst: is the input itself");
    expect("cmp grow.zst copy.zst && mkdir -p sub && $W --csv sub --force copy.zst", 4, "sub: is a folder");
    expect("ls | grep -c tmp", 1, "0");
#ifndef __SANITIZE_THREAD__ /* it writes a file of its own before main */
    expect("ulimit -f 0; $W --csv full.csv grow.zst >/dev/null", 4, "full.csv: ");
    expect("ls | grep -c full", 1, "0");
#endif
}
END_TEST

/* Twenty blocks of 8 MiB, of which every second is freed, then one of 60 MiB. Segments of 20 MiB take two of them each: 200
 * MiB, and 60 for the last. One that grows holds them end to end: 160 and 60. */
static void write_holes(const char *name)
{
    FILE *file = begin_text(name);
    int at = 1;

    for (int i = 0; i < 20; i++)
        fprintf(file, "@%d alloc heap=2 thread=1 address=0x%x requested=%d stream=7\n", at++, (i + 1) * 8 * MIB,
                8 * MIB - 32);
    for (int i = 0; i < 20; i += 2)
        fprintf(file, "@%d free heap=2 thread=1 address=0x%x\n", at++, (i + 1) * 8 * MIB);
    fprintf(file, "@%d alloc heap=2 thread=1 address=0x%x requested=%d stream=7\n", at, 40 * 8 * MIB, 60 * MIB - 32);
    fclose(file);
}

/* 10 segments and one of 60 MiB, against 11 pages. Where a run ends before its end there is nothing to compare with. */
START_TEST(a_price_is_not_compared_with_a_run_that_failed)
{
    write_holes("holes");
    expect("trace holes && $W --suggest holes.zst", 0,
           "gain          40.0 MiB: a device of 220 MiB is enough instead of 260 MiB (as recorded: default)\n"
           "price         11 driver calls instead of 11\n");
    expect("$W --suggest --capacity 230MiB holes.zst", 0,
           "price         11 driver calls; as recorded it does not run to its end there\n");
    expect("$W --suggest --capacity 210MiB holes.zst", 1, "price         11 driver calls, on its smallest device\n");
}
END_TEST

/* Six iterations that no mark tells, each of which keeps a block of 21 MiB and frees another: the first calls the driver for
 * both and for small ones, each later one once. */
START_TEST(steps_are_found_where_none_is_marked)
{
    FILE *file = begin_text("loop");
    long address = 0x40000000L;
    int at = 1;

    fputs("stack 1: /src/data.py:41:collate < /src/train.py:8:main\n"
          "stack 2: /src/model.py:88:forward < /src/train.py:9:main\n"
          "stack 3: /src/model.py:90:loss < /src/train.py:9:main\n"
          "stack 4: /src/model.py:95:count < /src/train.py:9:main\n",
          file);
    for (int i = 0; i < 6; i++, address += 64L * MIB) {
        fprintf(file, "@%d alloc heap=2 thread=1 stack=1 address=0x1000 requested=480 stream=7\n", at++);
        fprintf(file, "@%d alloc heap=2 thread=1 stack=2 address=0x%lx requested=%d stream=7\n", at++, address,
                21 * MIB);
        fprintf(file, "@%d alloc heap=2 thread=1 stack=3 address=0x%lx requested=%d stream=7\n", at++,
                address + 32L * MIB, 21 * MIB);
        fprintf(file, "@%d alloc heap=2 thread=1 stack=4 address=0x2000 requested=480 stream=7\n", at++);
        fprintf(file, "@%d free heap=2 thread=1 address=0x1000\n", at++);
        fprintf(file, "@%d free heap=2 thread=1 address=0x2000\n", at++);
        fprintf(file, "@%d free heap=2 thread=1 address=0x%lx\n", at++, address + 32L * MIB);
    }
    fclose(file);
    expect("trace loop && $W loop.zst >out.txt; grep '^pool' out.txt", 0, "24 requests, 6 steps\n");
    expect("tr -s ' ' <out.txt | grep '^as recorded: default'", 0, " % 8 1.0 ");
    expect("cat loop.zst | $W - | tail -n +2 >pipe.txt; tail -n +2 out.txt | cmp - pipe.txt", 0, "");
    expect("$I --quiet loop.zst -o loop.db && $W loop.db | tail -n +2 | cmp - pipe.txt", 0, "");
}
END_TEST

START_TEST(a_setting_stands_in_the_table_once)
{
    expect("$W --compare --suggest grow.zst | grep -c '^expandable_segments:True '", 0, "1\n");
    expect("$W --compare --conf '' --conf max_split_size_mb:32 grow.zst | grep -c '^max_split_size_mb:32 '", 0, "1\n");
    expect("$W --compare --conf '' grow.zst | grep -c '^default '", 0, "1\n");
}
END_TEST

/* One of another version, of which nothing is known; of variables for other devices; and of all accelerators. */
START_TEST(recorded_settings_are_those_that_held)
{
    static const char variable[] = "attribute %d process=1 source=environment name=%s value=%s\n";
    char more[512];

    snprintf(more, sizeof more, variable, 1, "PYTORCH_NPU_ALLOC_CONF", "max_split_size_mb:64,of_next_year:1");
    write_growing("unknown", " stream=7", more);
    expect("trace unknown && $W unknown.zst", 0,
           "settings      the recorded settings are not simulated: option 'of_next_year' is not one that is simulated; "
           "the "
           "defaults are");
    expect("$W --suggest unknown.zst", 4, "no suggestion: the recorded settings are not simulated");
    snprintf(more, sizeof more, variable, 1, "PYTORCH_NPU_ALLOC_CONF", "max_split_size_mb:64");
    snprintf(more + strlen(more), sizeof more - strlen(more), variable, 2, "PYTORCH_CUDA_ALLOC_CONF",
             "max_split_size_mb:128");
    snprintf(more + strlen(more), sizeof more - strlen(more), variable, 3, "PYTORCH_ALLOC_CONF",
             "max_split_size_mb:256");
    write_growing("several", " stream=7", more);
    expect("trace several && $W several.zst", 0, "as recorded: max_split_size_mb:64 ");
    expect("grep -v NPU_ALLOC several.txt > any.txt && trace any && $W any.zst", 0,
           "as recorded: max_split_size_mb:256 ");
    expect("load several && $W several.db", 0, "as recorded: max_split_size_mb:64 ");
}
END_TEST

/* Which rank a pool is of, where there are several. */
START_TEST(pools_of_ranks_are_told_apart)
{
    expect(
        "sed 's/pid=100/pid=100 rank=0/' grow.txt > r0.txt && sed 's/pid=100/pid=200 rank=1/; s/x40000000/x50000000/'"
        " grow.txt > r1.txt && trace r0 && trace r1 && cd . && $I -o job.db r0.zst r1.zst > /dev/null && $W --list "
        "job.db",
        0, "at their peak  rank 1, pid 200");
    expect("$W --heap 2 job.db", 0, "device 0, rank ");
    expect("$W r0.zst | grep -c 'rank'", 1, "0");
}
END_TEST

/* What another rank's recording lacks is nothing to the pool that is asked about. */
START_TEST(a_loss_is_of_its_own_input)
{
    write_growing("late", " stream=7", "@900 loss thread=1 number=5 until=901 detail=1\n");
    expect("sed 's/pid=100/pid=100 rank=0/' grow.txt > r0.txt && sed 's/pid=100/pid=200 rank=1/' late.txt > r1.txt"
           " && trace r0 && trace r1 && { $I -o two.db r0.zst r1.zst > /dev/null; [ $? = 3 ]; }"
           " && $W --suggest --heap 2 two.db",
           0, "two.db  database, whole");
    expect("$W --heap 4 two.db", 3, "two.db  database, partial");
    expect("$W --suggest --heap 4 two.db", 4, "no suggestion: part of the input was lost");
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
    expect("trace reuse && $W --advise reuse.zst", 0, "49 of 50 requests found a freed block of the very size");
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

    snprintf(path, sizeof path, "%s/%s", shell_folder, from);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    size_t len = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (uint64_t i = next_random(6); i > 0; i--)
        bytes[next_random(len)] = (uint8_t)next_random(256);
    len = next_random(3) == 0 ? next_random(len + 1) : len;
    snprintf(path, sizeof path, "%s/%s", shell_folder, to);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fwrite(bytes, 1, len, file);
    fclose(file);
}

/* A name of a heap, of a function and of a file that want to move the cursor and turn the line round. */
START_TEST(nothing_unsafe_reaches_the_terminal)
{
    FILE *file = begin_text("evil");

    fputs("heap 3 process=1 device=1 level=pool basis=requested name=\"red\\x1b[31m \\xe2\\x80\\xae pool\"\n"
          "stack 1: f\x1b]0;x\xe2\x81\xa6.c:3:g\xe2\x80\xae\n",
          file);
    for (int i = 0; i < 20; i++)
        fprintf(file,
                "@%d alloc heap=1 thread=1 address=0x%x block=2097152 stack=1\n"
                "@%d alloc heap=3 thread=1 address=0x%x requested=1048576 stack=1\n",
                2 * i + 1, 0x40000000 + i * 0x200000, 2 * i + 2, 0x40000000 + i * 0x200000);
    fclose(file);
    expect("trace evil && $I --force --csv csv -o evil.db evil.zst >out.txt 2>&1 && $W evil.zst >>out.txt 2>&1;"
           " $W --list evil.zst >>out.txt 2>&1; mv evil.zst $(printf 'e\\033[31m.zst'); $I -o evil.db e*.zst >>out.txt "
           "2>&1;"
           " grep -q 'red?' out.txt && grep -q 'g?' out.txt && grep -rq 'red?' csv",
           0, NULL);
    expect("cat out.txt csv/*.csv | LC_ALL=C grep -qaE \"$(printf '\\033|\\342\\200\\256|\\342\\201\\246')\"", 1, NULL);
}
END_TEST

START_TEST(damaged_inputs_end_with_an_answer_or_one_line)
{
    for (int i = 0; i < DAMAGED_INPUTS; i++) {
        bool is_database = i % 3 == 0;

        damage(is_database ? "grow.db" : "grow.zst", "damaged");
        nm_run run = shell_line("$W --suggest --capacity 1GiB damaged");
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

    if (!shell_variables(argc, argv, "WIX"))
        return 2;
    shell_before("trace() { $X \"$1.txt\" \"$1.zst\"; }; load() { $I --quiet --force \"$1.zst\"; }; ", 60);
    tcase_set_timeout(tcase, 280);
    tcase_add_checked_fixture(tcase, set_up, shell_remove_folder);
    tcase_add_test(tcase, the_planted_fragmentation_is_found_and_its_cure_suggested);
    tcase_add_test(tcase, a_failed_request_explains_what_is_more);
    tcase_add_test(tcase, what_a_pool_gave_back_by_itself_explains_what_is_more);
    tcase_add_test(tcase, exit_statuses_tell_fit_or_not);
    tcase_add_test(tcase, answers_that_cannot_be_written_are_no_success);
    tcase_add_test(tcase, wrong_usage_is_two);
    tcase_add_test(tcase, what_is_assumed_of_streams_is_said);
    tcase_add_test(tcase, streams_explain_what_is_less);
    tcase_add_test(tcase, suggestions_are_refused_with_a_reason);
    tcase_add_test(tcase, a_run_that_died_is_not_said_to_fit_without_a_word);
    tcase_add_test(tcase, a_refusal_is_replayed_where_the_pool_had_asked);
    tcase_add_test(tcase, a_database_answers_as_its_trace_does);
    tcase_add_test(tcase, a_database_without_all_rows_is_refused);
    tcase_add_test(tcase, a_table_is_not_written_over_what_it_is_made_of);
    tcase_add_test(tcase, a_price_is_not_compared_with_a_run_that_failed);
    tcase_add_test(tcase, steps_are_found_where_none_is_marked);
    tcase_add_test(tcase, a_setting_stands_in_the_table_once);
    tcase_add_test(tcase, recorded_settings_are_those_that_held);
    tcase_add_test(tcase, pools_of_ranks_are_told_apart);
    tcase_add_test(tcase, a_loss_is_of_its_own_input);
    tcase_add_test(tcase, advice_names_sizes_and_a_pool_that_works);
    tcase_add_test(tcase, nothing_unsafe_reaches_the_terminal);
    tcase_add_test(tcase, damaged_inputs_end_with_an_answer_or_one_line);
    tcase_add_test(tcase, a_trace_with_holes_is_answered_as_partial);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
