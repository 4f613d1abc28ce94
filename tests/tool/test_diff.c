/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-diff as a user runs it, on the two runs of tests/sql/diff, whose changes are worked out by hand there; and on 64
 * ranks of which one is changed.
 *
 *     test_diff NPUMEM_DIFF NPUMEM_INGEST TEXT2TRACE CASE_DIR    as $D $I $X $T in lines of shell
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/shell.h"

static void set_up(void)
{
    nm_run run;

    shell_make_folder();
    run = shell_line("load $T/base.txt a && load $T/trace.txt b");
    ck_assert_msg(run.exit_code == 0, "%s", run_err(&run));
    run_free(&run);
}

/* Exit status, and a part of what is printed (NULL: any). */
static void expect(const char *line, int exit_code, const char *part)
{
    nm_run run = shell_line(line);

    ck_assert_msg(run.exit_code == exit_code, "%s: exit %d, %s%s", line, run.exit_code, run_out(&run), run_err(&run));
    ck_assert_msg(part == NULL || strstr(run_out(&run), part) != NULL, "%s: no '%s': %s", line, part, run_out(&run));
    run_free(&run);
}

/* One line on standard error. */
static void expect_end(const char *line, int exit_code, const char *part)
{
    nm_run run = shell_line(line);
    const char *newline = strchr(run_err(&run), '\n');

    ck_assert_msg(run.exit_code == exit_code, "%s: exit %d, %s", line, run.exit_code, run_out(&run));
    ck_assert_msg(strncmp(run_err(&run), "npumem-diff: ", 13) == 0 && strstr(run_err(&run), part) != NULL, "%s: %s",
                  line, run_err(&run));
    ck_assert_msg(newline != NULL && newline[1] == 0, "%s: %s", line, run_err(&run));
    run_free(&run);
}

static void expect_refused(const char *line, const char *part)
{
    expect_end(line, 2, part);
}

static void expect_trouble(const char *line, const char *part)
{
    expect_end(line, 4, part);
}

START_TEST(changes_are_shown_in_sections)
{
    expect("$D a.db b.db", 1, "  version     CANN                         8.0 -> 8.0, 8.1\n");
    expect("$D a.db b.db", 1, "  environment OLD_SWITCH                   on -> (none)\n");
    expect("$D a.db b.db", 1,
           "\nlive at the peaks of the heaps\n       change          A          B\n"
           "     +2.5 KiB    9.5 KiB   12.0 KiB  pool       all sites\n"
           "     +2.0 KiB    1.0 KiB    3.0 KiB  pool       wide/optim/adam.py:70 Adam.step\n"
           "       +512 B    8.5 KiB    9.0 KiB  pool       model.py:93 Block.forward\n\nlive at the end\n");
    expect("$D a.db b.db", 1, "\nallocated per step\n");
    expect("$D a.db b.db", 1, "  new           +200 B  unreleased  pinned     cache.py:5 keep\n");
    expect("$D a.db b.db --at 'after warm-up'", 1,
           "\nlive at mark after warm-up\n       change          A          B\n"
           "     +1.5 KiB    9.5 KiB   11.0 KiB  pool       all sites\n");
    expect("$D a.db b.db | grep -c mark", 1, "0\n");
}
END_TEST

/* Commands of one job are alike for longer than the screen is wide: they are shown from where they part. */
START_TEST(long_values_are_shown_where_they_differ)
{
    expect(
        "for i in '' ' --leak list' 's --lr 1'; do n=$((n + 1)); cp a.db long$n.db; sqlite3 long$n.db \"UPDATE process"
        " SET command = '/opt/environments/of/the/cluster/python3 /home/somebody/jobs/nightly/train.py$i'\"; done",
        0, NULL);
    expect("$D long1.db long2.db", 0,
           "  run         command                      ...train.py -> ...train.py --leak list\n");
    expect("$D long2.db long3.db", 0,
           "  run         command                      ...train.py --leak list -> ...train.pys --lr 1\n");
    expect("cp long1.db other.db; sqlite3 other.db \"UPDATE process SET command = 'x'\"; $D long1.db other.db", 0,
           "  run         command                      /opt/environments/of/the/cluster/python3 /home/somebody/j... -> "
           "x\n");
}
END_TEST

START_TEST(no_difference_is_0)
{
    expect("$D a.db a.db", 0,
           "versions and settings\n  no difference\n\nsites\n  no difference\n\nleaks\n  no difference\n");
    expect("$D a.db b.db --threshold 1MiB --level pool", 0, "OLD_SWITCH");
    expect("$D a.db b.db --threshold 2559B --level pool", 1, "all sites");
    expect("$D a.db b.db --threshold 2560B --level pool", 0, "no difference");
    expect("$D a.db b.db --level driver", 0, "\nOnly level driver is compared (--level).\n");
    expect("$D a.db b.db --rank 1 --level pool", 1, "\nOnly rank 1 and level pool are compared (--rank, --level).\n");
    expect("$D a.db b.db --level pinned | grep -c pool", 1, "0\n");
}
END_TEST

/* Of b.db a leak is new, of 200 bytes; twice as long it has grown by as much. */
START_TEST(a_threshold_says_what_it_left_out_and_hides_no_new_leak)
{
    expect("$D a.db b.db --threshold 1MiB", 1,
           "\nsites\n  none above 1.0 MiB; 14 smaller (--threshold)\n\n"
           "leaks\n  new           +200 B  unreleased  pinned     cache.py:5 keep\n");
    expect("$D a.db b.db --threshold 1KiB | grep -c -e '^  and [0-9]* of at most 1.0 KiB (--threshold)$'", 0, "1\n");
    expect("cp b.db grown.db; sqlite3 grown.db \"UPDATE finding SET bytes = 2 * bytes WHERE kind = 'leak'\";"
           " $D b.db grown.db --threshold 200B",
           0, "\nleaks\n  none above 200 B; 1 smaller (--threshold)\n");
    expect("$D b.db grown.db --threshold 199B", 1, "\nleaks\n  grown         +200 B");
    expect("$D b.db a.db --threshold 1MiB", 0, "\nleaks\n  none above 1.0 MiB; 1 smaller (--threshold)\n");
    expect("$D a.db b.db --csv every >/dev/null; $D a.db b.db --threshold 1MiB --csv most >/dev/null;"
           " diff -r every most && echo alike",
           0, "alike\n");
}
END_TEST

START_TEST(csv_has_all_rows)
{
    expect("$D a.db b.db --top 1 --csv out", 1, "and 1 more");
    expect("$D a.db b.db --top 1 --by-rank --level pool | grep -A 4 peaks", 0,
           "live at the peaks of the heaps\n       change          A          B\n"
           "     +1.5 KiB    5.5 KiB    7.0 KiB  rank 0   pool       all sites\n"
           "     +2.0 KiB    1.0 KiB    3.0 KiB  rank 0   pool       wide/optim/adam.py:70 Adam.step\n"
           "  and 3 more (--top, --csv)\n");
    expect("cat out/diff.csv | tr -d '\\r' | wc -l", 0, "15\n");
    expect("head -n 2 out/diff_environment.csv | tail -n 1 | tr -d '\\r'", 0,
           "\"version\",\"CANN\",\"8.0\",\"8.0, 8.1\"\n");
    expect("grep -c pinned out/diff_leaks.csv", 0, "1\n"); /* that of a.db is of a heap of which nothing was freed */
    expect_trouble("$D a.db b.db --csv out", "diff_environment.csv is already there");
    expect("$D a.db b.db --csv out --force", 1, NULL);
#ifndef __SANITIZE_THREAD__ /* it writes a file of its own before main */
    expect_trouble("ulimit -f 0; $D a.db b.db --csv full >/dev/null",
                   "npumem-diff: full/diff_figures.csv: cannot write");
#endif
}
END_TEST

START_TEST(other_sizes_are_refused)
{
    expect("sed 's/basis=block name=ptaCaching/basis=requested name=ptaCaching/' $T/trace.txt >other.txt && load "
           "other.txt c",
           0, "");
    expect_refused("$D a.db c.db",
                   "sizes of pool heaps are 'block' in A and 'requested' in B: they cannot be compared");
    expect("$D a.db c.db --level pinned", 1, "cache.py");
}
END_TEST

START_TEST(sites_by_other_rules_are_not_compared)
{
    expect(
        "echo 'function keep' >rules && $I --quiet --site-rules rules a.zst -o ar.db && $I --quiet --site-rules rules "
        "b.zst -o br.db",
        0, NULL);
    expect_refused("$D ar.db b.db", "sites by different rules: load both with the same --site-rules");
    expect_refused("$D a.db br.db", "sites by different rules");
    expect("$D ar.db br.db", 1, "train.py:7 main");
    expect("$I --quiet --own keep a.zst -o ao.db", 0, NULL);
    expect_refused("$D ao.db b.db", "load both with the same --site-rules and --own");
}
END_TEST

/* One that knows of no version has the first. What is called a leak in one has another name in the other. */
START_TEST(sites_by_rules_of_another_version_are_no_news)
{
    expect(
        "cp a.db old.db && sqlite3 old.db \"DELETE FROM meta WHERE key = 'site_rules_version'; DELETE FROM plumbing\"",
        0, NULL);
    expect("$D old.db b.db --csv of_old", 0,
           "sites and leaks\n  not compared: A and B have sites by rules of different versions (1 and 3)");
    expect("$D old.db b.db | grep -c -e train.py -e adam.py", 1, "0\n");
    expect("ls of_old", 0, "diff_environment.csv\ndiff_figures.csv\n");
    expect("$D old.db a.db", 0, "sites and leaks\n  not compared");
}
END_TEST

START_TEST(what_is_not_there_is_said)
{
    expect_refused("$D a.db", "needs two databases");
    expect_refused("$D a.db b.db --threshold much", "--threshold much: needs a size");
    expect_refused("$D a.db b.db --rank x", "--rank x: must be a number");
    expect_refused("$D a.db b.db --rank 7", "a.db: has no rank 7");
    expect_refused("$D a.db b.db --level shelf", "there is no level shelf");
    expect_refused("$D a.db b.db --at dawn", "a.db: has no mark dawn; its marks: after warm-up");
    expect_refused("$I --quiet --detail none a.zst -o n.db; $D n.db b.db --at 'after warm-up'",
                   "n.db: has no rows of allocations");
    expect("$D n.db a.db", 0, NULL);
    expect("$I --quiet --detail live a.zst -o l.db; $D l.db b.db --at 'after warm-up'", 1,
           "     +1.5 KiB    9.5 KiB   11.0 KiB  pool       all sites\n");
    expect_trouble("$D a.db none.db", "none.db: cannot open");
    expect_trouble("echo text >t.db; $D t.db b.db", "t.db: ");
    expect_trouble("sqlite3 u.db 'CREATE TABLE x (a)'; $D a.db u.db", "u.db: not a database of npumem-ingest");
    expect("$D -q a.db b.db | wc -c; $D -q a.db b.db", 1, "0\n");
    expect("$D --help", 0, "usage: npumem-diff");
    expect("$D --version", 0, "npumem-diff ");
}
END_TEST

/* ---- Figures, and two moments of one run --------------------------------------------------------------------------- */

START_TEST(the_figures_that_people_ask_for_come_first)
{
    expect("load $T/../diff_figures/base.txt one && load $T/../diff_figures/trace.txt two && $D one.db two.db", 1,
           "complete\n"
           "\nfigures\n"
           "       change          A          B\n"
           "       +798 B    1.2 KiB    2.0 KiB  pool       peak\n"
           "        +48 B    2.0 KiB    2.0 KiB  driver     peak\n"
           "            -          -       64 B  pinned     peak\n"
           "        +48 B    2.0 KiB    2.0 KiB  pool       reserved\n"
           "     -50.0 pp       50 %      0.0 %  pool       fragmentation\n"
           "     -37.5 pp       38 %      0.0 %  pool       beyond peak\n"
           "     +25.0 pp       50 %       75 %  pool       hit rate\n"
           "      +0.0 ms     0.0 ms     0.0 ms  driver     allocation time\n"
           "            -          -     0.0 ms  pinned     allocation time\n"
           "            -     0.0 ms          -             copy time\n"
           "\nversions and settings\n");
}
END_TEST

/* What was held when memory ran out is no peak, and nothing of it was live at one. */
START_TEST(a_log_states_what_was_held_at_failure)
{
    expect(
        "for i in 1 2; do echo \"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.00 GiB. GPU 0 has a "
        "total"
        " capacity of 79.00 GiB of which $i.50 GiB is free. Including non-PyTorch memory, this process has 7$i.25 GiB"
        " memory in use. Of the allocated memory 6$i.50 GiB is allocated by PyTorch, and $i.00 GiB is reserved by "
        "PyTorch"
        " but unallocated.\" >$i.log; $I --quiet $i.log -o log$i.db; done",
        0, NULL);
    expect("$D log1.db log2.db", 1,
           "\nfigures\n"
           "       change          A          B\n"
           "     +1.0 GiB   61.5 GiB   62.5 GiB  pool       held at failure\n"
           "     +1.0 GiB   71.2 GiB   72.2 GiB  driver     held at failure\n"
           "     +2.0 GiB   62.5 GiB   64.5 GiB  pool       reserved at failure\n"
           "\nversions and settings\n");
    expect("$D log1.db log2.db", 1,
           "\nheld when memory ran out\n"
           "       change          A          B\n"
           "     +1.0 GiB   71.2 GiB   72.2 GiB  driver     all sites\n"
           "     +1.0 GiB   61.5 GiB   62.5 GiB  pool       all sites\n");
    expect("$D log1.db log2.db | grep -c peak", 1, "0\n");
}
END_TEST

START_TEST(two_moments_of_a_run_are_compared)
{
    expect("load $T/../between_moments/trace.txt m && $D m.db@warm m.db@step:2", 1,
           "m.db  from warm to step:2: 1 process\n\n"
           "       change       from         to        came        went     stayed\n"
           "        +52 B       30 B       82 B       +72 B       -20 B       10 B  pool       all sites\n"
           "         +0 B        7 B        7 B        +0 B         0 B        7 B  pinned     all sites\n"
           "        +41 B        0 B       41 B       +41 B         0 B        0 B  pool       d.py:4 d\n");
    expect("$D m.db@warm m.db@step:2 --threshold 20B --level pool | tail -n 4", 0,
           "        +52 B       30 B       82 B       +72 B       -20 B       10 B  pool       all sites\n"
           "        +41 B        0 B       41 B       +41 B         0 B        0 B  pool       d.py:4 d\n"
           "        +31 B        0 B       31 B       +31 B         0 B        0 B  pool       c.py:3 c\n"
           "  and 2 of at most 20 B (--threshold)\n");
    for (const char *words = "m.db@peak m.db@end\0m.db@50ns ./m.db@90ns\0m.db@seq:6 m.db@seq:10\0"; *words != 0;
         words += strlen(words) + 1) {
        char line[200];

        snprintf(line, sizeof line, "$D %s --level pool", words);
        expect(line, 1,
               "        -19 B      102 B       83 B       +32 B       -51 B       51 B  pool       all sites\n");
    }
    expect("$D m.db@end m.db@end", 0,
           "+0 B       83 B       83 B        +0 B         0 B       83 B  pool       all sites");
    expect("$D m.db@warm m.db@end --csv out --top 1 >/dev/null; head -n 2 out/between_moments.csv | tail -n 1 | tr -d "
           "'\\r'",
           0, ",\"pool\",\"(all)\",30,83,2,73,1,20,1,10,53\n");
    expect("$I --quiet --detail live m.zst -o l.db && $D l.db@warm l.db@peak", 1, "+72 B         0 B       30 B");
    /* The 100 MiB of the peak are gone when the pool holds most, and of 9 MiB that are live then 8 end before the end. */
    expect("load $T/../device_part_of_reserve/trace.txt r && $I --quiet --detail live r.zst -o s.db &&"
           " $D s.db@peak s.db@reserve --level pool",
           1, "100 MiB    9.0 MiB    +9.0 MiB    -100 MiB        0 B  pool       all sites\n");
    expect("$D r.db@reserve r.db@end --level pool", 1, "       +0 B    -8.0 MiB    1.0 MiB  pool       all sites\n");
}
END_TEST

START_TEST(moments_that_are_not_there_are_said)
{
    expect("load $T/../between_moments/trace.txt m && cp m.db n.db && cp m.db a@b.db && $D a@b.db m.db", 0,
           "no difference");
    expect("$D a@b.db@warm a@b.db@end", 1, "a@b.db  from warm to end");
    expect_end("$D m.db@warm m.db", 2, "two moments are of one database");
    expect_end("$D m.db@warm n.db@end", 2, "two moments are of one database");
    expect_end("$D m.db@warm m.db@end --at warm", 2, "--at is a moment of two databases");
    expect_end("$D m.db@cold m.db@end", 2,
               "m.db: has no moment cold: peak, reserve, end, step:N, seq:N, a time as 10s, or one of its marks: warm");
    expect_end("$D m.db@warm m.db@7", 2, "m.db: has no moment 7");
    expect_end("$D m.db@step:7 m.db@end", 2, "m.db: has no step 7; its steps: 1 to 2");
    expect_end("$D m.db@warm m.db@end --rank 5", 2, "no process of that rank has both moments");
    expect_end("$I --quiet --detail none m.zst -o z.db; $D z.db@warm z.db@end", 2, "z.db: has no rows of allocations");
    expect_end("$I --quiet --detail live m.zst -o l.db; $D l.db@warm l.db@step:2", 2, "(--detail live)");
}
END_TEST

/*
 * Two thousand births and ends of three hundred places in two heaps, as chance has it; a list of what is live is kept beside
 * them, and copied at two moments. Who is in the second copy alone has come, who is in the first alone has gone: by site and
 * together.
 */
START_TEST(sums_are_those_of_lists_of_what_is_live)
{
    expect(
        "cat >walk.awk <<'END'\n"
        "function save(to,   i) { for (i in size) to[i] = size[i] }\n"
        "BEGIN { srand(seed);\n"
        "  print \"process 1 pid=1\\nthread 1 process=1 tid=1\\nheap 1 process=1 level=pinned basis=block name=p\";\n"
        "  print \"heap 2 process=1 level=host basis=block name=h\";\n"
        "  for (s = 1; s <= 9; s++) print \"stack \" s \": f.py:\" s \":f\";\n"
        "  for (e = 0; e < 2000; e++) {\n"
        "    p = int(rand() * 300); h = p % 2 + 1;\n"
        "    if (p in id) { print \"@\" e \" free heap=\" h \" address=\" 4096 * (p + 1) \" thread=1\"; delete "
        "size[id[p]];"
        " delete id[p] }\n"
        "    else { id[p] = e; size[e] = 1 + int(rand() * 4000); level[e] = h == 1 ? \"pinned\" : \"host\";"
        " site[e] = 1 + int(rand() * 9);\n"
        "      print \"@\" e \" alloc heap=\" h \" address=\" 4096 * (p + 1) \" block=\" size[e] \" thread=1 stack=\""
        " site[e] }\n"
        "    if (e == from) save(before); if (e == to) save(after) }\n"
        "  for (i in before) { if (i in after) stayed[level[i] \",f.py:\" site[i] \" f\"] += before[i];"
        " else went[level[i] \",f.py:\" site[i] \" f\"] += before[i]; keys[level[i] \",f.py:\" site[i] \" f\"] }\n"
        "  for (i in after) { if (!(i in before)) came[level[i] \",f.py:\" site[i] \" f\"] += after[i];"
        " keys[level[i] \",f.py:\" site[i] \" f\"] }\n"
        "  for (k in keys) { split(k, part, \",\"); all = part[1] \",(all)\"; came[all] += came[k]; went[all] += "
        "went[k];"
        " stayed[all] += stayed[k]; sums[all] }\n"
        "  for (k in sums) keys[k];\n"
        "  for (k in keys) print k \",\" went[k] + stayed[k] \",\" came[k] + stayed[k] \",\" came[k] + 0 \",\" went[k] "
        "+ 0"
        " \",\" stayed[k] + 0 \",\" came[k] - went[k] >\"wanted\" }\n"
        "END\n"
        "for seed in 1 2 3 4 5 6; do from=$((seed * 300)); to=$((2000 - seed * 210));"
        " awk -v seed=$seed -v from=$from -v to=$to -f walk.awk >w.txt && load w.txt w && $D w.db@seq:$from "
        "w.db@seq:$to"
        " --csv sums$seed >/dev/null; tail -n +2 sums$seed/between_moments.csv | tr -d '\\r\"' | cut -d , -f "
        "2,3,4,5,7,9,11,12 |"
        " LC_ALL=C sort >seen; LC_ALL=C sort wanted | diff - seen || exit 9; test $(wc -l <seen) -gt 15 || exit 8; "
        "done",
        0, "");
}
END_TEST

/* Rank 37 of 64 has 1 MiB more; all others are the same. */
START_TEST(one_of_64_ranks_is_found)
{
    expect("for r in $(seq 0 63); do printf 'process %d pid=%d host=h rank=%d\\nthread %d process=%d tid=%d\\n"
           "device %d process=%d ordinal=0 physical=%d kind=npu\\nheap %d process=%d device=%d level=pool basis=block "
           "name=p\\n' "
           "$((r + 1)) $((r + 1)) $r $((r + 1)) $((r + 1)) $((r + 1)) $((r + 1)) $((r + 1)) $r $((r + 1)) $((r + 1)) "
           "$((r + 1));"
           " done >one.txt; echo 'stack 1: model.py:1:f' >>one.txt; cp one.txt two.txt;"
           " for r in $(seq 0 63); do echo \"@$r alloc heap=$((r + 1)) address=0x1000 block=4096 thread=$((r + 1)) "
           "stack=1\" "
           ">>one.txt; echo \"@$r alloc heap=$((r + 1)) address=0x1000 block=$((4096 + 1048576 * (r == 37))) "
           "thread=$((r + 1)) "
           "stack=1\" >>two.txt; done; load one.txt one && load two.txt two",
           0, "");
    expect("$D one.db two.db", 1, "+1.0 MiB    256 KiB    1.2 MiB  pool       model.py:1 f\n");
    expect("$D one.db two.db --by-rank", 1, "+1.0 MiB    4.0 KiB    1.0 MiB  rank 37  pool       model.py:1 f\n");
    expect("$D one.db two.db --by-rank | grep -c 'model.py'", 0, "2\n"); /* at the peak and at the end */
    expect("$D one.db two.db --rank 37", 1, "+1.0 MiB");
    expect("$D one.db two.db --rank 36", 0, "no difference");
    expect("$D a.db two.db --rank 0", 1, NULL);
    expect("$D a.db two.db", 1, "not the same number: --rank N compares one");
}
END_TEST

/* Cut anywhere, or with a byte altered anywhere: answers or one line, never another end. */
START_TEST(a_damaged_database_is_no_crash)
{
    nm_run run = shell_line(
        "s=$(stat -c %s b.db); for n in $(seq 1 40); do"
        " head -c $((s * n / 41)) b.db >bad.db; $D a.db bad.db >out 2>err; c=$?; test $c -le 1 || test $c = 4 || exit "
        "$((100 + c));"
        " cp b.db bad.db; printf '\\377' | dd of=bad.db bs=1 seek=$((s * n / 41 + n * 37)) conv=notrunc 2>err;"
        " $D bad.db a.db >out 2>err; c=$?; test $c -le 1 || test $c = 4 || grep -q -e --site-rules err || exit $((100 "
        "+ c));"
        " test $c != 4 || test $(wc -l <err) = 1 || exit 6; done");

    ck_assert_msg(run.exit_code == 0, "exit %d: %s", run.exit_code, run_err(&run));
    run_free(&run);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("diff");
    TCase *tests = tcase_create("diff");

    if (!shell_variables(argc, argv, "DIXT"))
        return 2;
    /* `load` makes NAME.db of a text trace. */
    shell_before("load() { $X \"$1\" \"$2.zst\" && $I --quiet --force \"$2.zst\"; }; ", 120);
    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, set_up, shell_remove_folder);
    tcase_add_test(tests, changes_are_shown_in_sections);
    tcase_add_test(tests, long_values_are_shown_where_they_differ);
    tcase_add_test(tests, no_difference_is_0);
    tcase_add_test(tests, a_threshold_says_what_it_left_out_and_hides_no_new_leak);
    tcase_add_test(tests, csv_has_all_rows);
    tcase_add_test(tests, other_sizes_are_refused);
    tcase_add_test(tests, sites_by_other_rules_are_not_compared);
    tcase_add_test(tests, sites_by_rules_of_another_version_are_no_news);
    tcase_add_test(tests, what_is_not_there_is_said);
    tcase_add_test(tests, the_figures_that_people_ask_for_come_first);
    tcase_add_test(tests, a_log_states_what_was_held_at_failure);
    tcase_add_test(tests, two_moments_of_a_run_are_compared);
    tcase_add_test(tests, moments_that_are_not_there_are_said);
    tcase_add_test(tests, sums_are_those_of_lists_of_what_is_live);
    tcase_add_test(tests, one_of_64_ranks_is_found);
    tcase_add_test(tests, a_damaged_database_is_no_crash);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failures == 0 ? 0 : 1;
}
