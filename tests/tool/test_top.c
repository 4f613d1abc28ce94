/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-top as a user runs it: on a trace made by hand, whose figures are worked out here; beside recordings that run, against
 * what npumem-ingest says of the same moment; on a terminal; and where there is nothing to be seen.
 *
 *     test_top NPUMEM_TOP NPUMEM_RECORD NPUMEM_INGEST TEXT2TRACE PROGRAM_FOLDER    as $O $R $I $X $P in lines of shell
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/shell.h"

/* Nothing here counts on how long things take.
 *
 * `soon LINE` runs the line until it succeeds. `written FILE`: what was recorded so far stands in the trace, and every place of
 * npu_train has its name: a recorder looks for names beside its work, so they may come later than the events. */
static const char functions[] =
    "soon() { for i in $(seq 900); do eval \"$1\" && return 0; sleep 0.1; done; echo \"never: $1\" >&2; return 1; };"
    " written() { $R --ctl \"$1\" snapshot && soon \"$O --once --json --sites 1000 '$1' >named.json && grep -q "
    "'npu_train\\|[.]c:' named.json && ! grep -q 'npu_train+0x' named.json\"; }; ";

/* Exit status, and a part of what is printed (NULL: any). */
static void expect(const char *line, int exit_code, const char *part)
{
    nm_run run = shell_line(line);

    ck_assert_msg(run.exit_code == exit_code, "%s: exit %d, %s%s", line, run.exit_code, run_out(&run), run_err(&run));
    ck_assert_msg(part == NULL || strstr(run_out(&run), part) != NULL, "%s: no '%s': %s", line, part, run_out(&run));
    run_free(&run);
}

/* One line on standard error. */
static void expect_trouble(const char *line, int exit_code, const char *part)
{
    nm_run run = shell_line(line);
    const char *newline = strchr(run_err(&run), '\n');

    ck_assert_msg(run.exit_code == exit_code, "%s: exit %d, %s%s", line, run.exit_code, run_out(&run), run_err(&run));
    ck_assert_msg(strncmp(run_err(&run), "npumem-top: ", 12) == 0 && strstr(run_err(&run), part) != NULL, "%s: %s",
                  line, run_err(&run));
    ck_assert_msg(newline != NULL && newline[1] == 0, "%s: %s", line, run_err(&run));
    run_free(&run);
}

/* ---- By hand ------------------------------------------------------------------------------------------------------- */

/* A segment of 8 KiB with a block of 1 KiB from the beginning; a.py takes 2 KiB more at 40 s and again at 80 s, b.py gives its
 * block of 4 KiB up at 90 s; a name in Chinese. */
#define BY_HAND                                                                                                        \
    "printf '%s\\n' 'process 1 pid=7 host=h rank=3' 'thread 1 process=1 tid=7' 'device 1 process=1 ordinal=0 "         \
    "physical=2 kind=npu' 'heap 1 process=1 device=1 level=driver basis=block name=memory' 'heap 2 process=1 device=1" \
    " level=pool basis=block name=cache' 'stack 1: a.py:1:take' 'stack 2: b.py:2:give' 'stack 3: "                     \
    "\xe6\xa8\xa1\xe5\x9e\x8b.py:3:\xe5\x89\x8d\xe5\x90\x91'"                                                          \
    " '@1 alloc heap=1 address=0x10000 block=16384 thread=1 stack=1'"                                                  \
    " '@2 alloc heap=2 address=0x10000 block=1024 thread=1 stack=3'"                                                   \
    " '@3 alloc heap=2 address=0x11000 block=4096 thread=1 stack=2'"                                                   \
    " '@4 step thread=1 number=5'"                                                                                     \
    " '@40000000000 alloc heap=2 address=0x12000 block=2048 thread=1 stack=1'"                                         \
    " '@50000000000 mark thread=1 name=m'"                                                                             \
    " '@80000000000 alloc heap=2 address=0x13000 block=2048 thread=1 stack=1'"                                         \
    " '@90000000000 free heap=2 address=0x11000 thread=1'"                                                             \
    " '@100000000000 mark thread=1 name=n' >h.txt && $X h.txt hand.zst && "

START_TEST(a_trace_that_is_whole_is_shown_as_it_ended)
{
    expect(BY_HAND "$O --once hand.zst", 0,
           "hand.zst  ended, 100.0 s, step 5, 1 process, 9 events, nothing lost\n"
           "\n"
           "       live   reserved       peak   in 50.0 s  heap\n"
           "   16.0 KiB              16.0 KiB              driver     memory  device 2  rank 3\n"
           "    5.0 KiB   16.0 KiB    9.0 KiB    -2.0 KiB  pool       cache  device 2  rank 3\n"
           "           = 11.0 KiB cache free between blocks + 5.0 KiB cache used\n"
           "\n"
           "       live      count   in 50.0 s  held by\n"
           "    4.0 KiB          2    +2.0 KiB  pool       a.py:1 take\n"
           "    1.0 KiB          1              pool       \xe6\xa8\xa1\xe5\x9e\x8b.py:3 \xe5\x89\x8d\xe5\x90\x91\n"
           "\n"
           "       live      count   in 50.0 s  growing\n"
           "    4.0 KiB          2    +2.0 KiB  pool       a.py:1 take\n");
    expect(BY_HAND "cp hand.zst \"it's.zst\"; $O \"it's.zst\" --sites 1 | tail -n 8", 0,
           "       live      count   in 50.0 s  held by, 1 of 2\n"
           "    4.0 KiB          2    +2.0 KiB  pool       a.py:1 take\n"
           "\n"
           "       live      count   in 50.0 s  growing\n"
           "    4.0 KiB          2    +2.0 KiB  pool       a.py:1 take\n"
           "\n"
           "next: npumem-ingest 'it'\\''s.zst'\n");
}
END_TEST

/* 100 MiB at 45 s and 300 MiB at 95 s; of a second process, which ends, nothing is left. */
START_TEST(anonymous_memory_of_the_host_has_a_line)
{
    expect(
        BY_HAND
        "{ echo 'process 2 pid=8 host=h'; sed -e '/^@5000/i @45000000000 memory_sample number=1 detail=101 "
        "size=104857600 total=1' -e '/^@5000/i @46000000000 memory_sample number=2 detail=101 size=7340032 total=1' -e "
        "'/^@1000/i @95000000000 memory_sample number=1 detail=101 size=314572800 total=1' -e '/^@1000/i @95000000001 "
        "memory_sample number=1 detail=100 size=1 total=1' h.txt; echo '@100000000001 process_end process=2 "
        "detail=exit'; } "
        ">a.txt && $X a.txt a.zst && $O --once a.zst | sed -n '/cache/,/^$/p'",
        0,
        "  pid 7\n"
        "           = 11.0 KiB cache free between blocks + 5.0 KiB cache used\n"
        "    300 MiB                          +193 MiB  anonymous  host memory\n"
        "\n");
    expect("$O --once --json a.zst", 0,
           "],\"host_anonymous_bytes\":314572800,\"host_anonymous_growth_bytes\":202375168,\"largest_sites\"");
}
END_TEST

/* MiB. Of a pool's 2 one is used; of 16 for its private pool 4; of 20 none; of 16 one is given up, 3 are used and 12 lie
 * between; 32 have come for the next block. The other 8 are the program's. */
START_TEST(parts_of_a_pool_are_told)
{
    expect(
        "printf '%s\\n' 'process 1 pid=7' 'thread 1 process=1 tid=7' 'device 1 process=1 ordinal=0 kind=npu' 'heap 1 "
        "process=1 device=1 level=driver basis=block name=memory' 'heap 2 process=1 device=1 level=pool basis=block "
        "name=cache' '@1 alloc heap=1 address=0x10000000 block=2097152 thread=1' "
        "'@2 alloc heap=2 address=0x10000000 block=1048576 thread=1' "
        "'@3 alloc heap=1 address=0x20000000 block=16777216 thread=1' "
        "'@4 alloc heap=2 address=0x20000000 block=4194304 thread=1 policy=5' "
        "'@5 alloc heap=1 address=0x30000000 block=20971520 thread=1' "
        "'@6 alloc heap=2 address=0x30000000 block=20971520 thread=1' '@7 free heap=2 address=0x30000000 thread=1' "
        "'@8 alloc heap=1 address=0x40000000 block=16777216 thread=1' "
        "'@9 alloc heap=2 address=0x40000000 block=3145728 thread=1' "
        "'@10 alloc heap=2 address=0x40c00000 block=1048576 thread=1' "
        "'@11 free_requested heap=2 address=0x40c00000 thread=1' "
        "'@12 alloc heap=1 address=0x50000000 block=8388608 thread=1' "
        "'@13 alloc heap=1 address=0x60000000 block=33554432 segment thread=1' >p.txt && $X p.txt p.zst && $O --once "
        "p.zst",
        0,
        "driver     memory  device 0\n"
        "           = 86.0 MiB in pools + 8.0 MiB program, or not yet claimed\n"
        "    9.0 MiB   86.0 MiB   25.0 MiB    +9.0 MiB  pool       cache  device 0\n"
        "           = 32.0 MiB cache just got + 20.0 MiB cache free segments + 16.0 MiB cache private pools + 18.0 MiB "
        "rest\n");
    expect("$O --once --json p.zst", 0,
           "\"parts\":{\"used\":4194304,\"pending\":1048576,\"new\":33554432,\"private\":16777216,\"empty\":20971520,"
           "\"small\":1048576,\"pinned\":12582912}");
}
END_TEST

START_TEST(json_has_the_names_of_tables)
{
    expect(BY_HAND "$O --once --json hand.zst", 0,
           "{\"schema\":\"npumem.findings/1\",\"program\":\"top\",\"version\":\"" NPUMEM_PROJECT_VERSION
           "\",\"database\":null,\"language\":\"en\",\"trace\":\"hand.zst\",\"state\":\"ended\",\"state_text\":"
           "\"ended\",\"ns\":100000000000,"
           "\"growth_ns\":50000000000,\"process_count\":1,"
           "\"ended_process_count\":0,\"events_ingested\":9,\"events_dropped\":0,\"events_damaged\":0,"
           "\"events_unrecovered\":0,\"steps\":[{\"pid\":7,\"number\":5,\"count\":1}],\"heaps\":["
           "{\"rank\":3,\"pid\":7,\"device\":2,\"heap\":\"memory\",\"level\":\"driver\",\"is_over\":false,"
           "\"live_bytes\":16384,\"live_count\":1,\"reserved_bytes\":null,\"peak_bytes\":16384,\"segment_bytes\":16384,"
           "\"growth_bytes\":0},"
           "{\"rank\":3,\"pid\":7,\"device\":2,\"heap\":\"cache\",\"level\":\"pool\",\"is_over\":false,"
           "\"live_bytes\":5120,\"live_count\":3,\"reserved_bytes\":16384,\"peak_bytes\":9216,\"parts\":{\"used\":5120,"
           "\"pinned\":11264},\"growth_bytes\":-2048}],"
           "\"largest_sites\":[{\"site\":\"a.py:1 take\",\"level\":\"pool\",\"live_bytes\":4096,\"live_count\":2,"
           "\"growth_bytes\":2048},{\"site\":\"\xe6\xa8\xa1\xe5\x9e\x8b.py:3 \xe5\x89\x8d\xe5\x90\x91\",\"level\":"
           "\"pool\",\"live_bytes\":1024,\"live_count\":1,\"growth_bytes\":0}],\"largest_site_count\":2,\"growing_"
           "sites\":[{\"site\":\"a.py:1 "
           "take\",\"level\":\"pool\",\"live_bytes\":4096,\"live_count\":2,\"growth_bytes\":2048}],"
           "\"growing_site_count\":1}\n");
    expect("$O --json hand.zst | wc -l", 0, "1\n");
}
END_TEST

/* All that node_exporter asks of such a file: a HELP, a TYPE, then the samples; nobody sees half of it. */
START_TEST(prometheus_gets_the_figures_of_each_heap)
{
    expect(BY_HAND "echo old >a.prom; $O -q --once --prometheus a.prom hand.zst && cat a.prom", 0,
           "# HELP npumem_recording_is_running 1: it goes on; 0: it has ended, or nobody writes it any more.\n"
           "# TYPE npumem_recording_is_running gauge\n"
           "npumem_recording_is_running{trace=\"hand.zst\"} 0\n"
           "# HELP npumem_processes Processes that run.\n"
           "# TYPE npumem_processes gauge\n"
           "npumem_processes{trace=\"hand.zst\"} 1\n"
           "# HELP npumem_events_total Events that were read.\n"
           "# TYPE npumem_events_total counter\n"
           "npumem_events_total{trace=\"hand.zst\"} 9\n"
           "# HELP npumem_events_lost_total Events that happened and are in no file, or cannot be read.\n"
           "# TYPE npumem_events_lost_total counter\n"
           "npumem_events_lost_total{trace=\"hand.zst\"} 0\n"
           "# HELP npumem_heap_live_bytes Bytes of the heap that are allocated.\n"
           "# TYPE npumem_heap_live_bytes gauge\n"
           "npumem_heap_live_bytes{trace=\"hand.zst\",rank=\"3\",pid=\"7\",device=\"2\",heap=\"cache\",level=\"pool\"} "
           "5120\n"
           "npumem_heap_live_bytes{trace=\"hand.zst\",rank=\"3\",pid=\"7\",device=\"2\",heap=\"memory\",level="
           "\"driver\"} 16384\n"
           "# HELP npumem_heap_live_allocations Allocations of the heap that are not freed.\n"
           "# TYPE npumem_heap_live_allocations gauge\n"
           "npumem_heap_live_allocations{trace=\"hand.zst\",rank=\"3\",pid=\"7\",device=\"2\",heap=\"cache\",level="
           "\"pool\"} 3\n"
           "npumem_heap_live_allocations{trace=\"hand.zst\",rank=\"3\",pid=\"7\",device=\"2\",heap=\"memory\",level="
           "\"driver\"} 1\n"
           "# HELP npumem_heap_reserved_bytes Bytes that the pool holds of the device, used or not.\n"
           "# TYPE npumem_heap_reserved_bytes gauge\n"
           "npumem_heap_reserved_bytes{trace=\"hand.zst\",rank=\"3\",pid=\"7\",device=\"2\",heap=\"cache\",level="
           "\"pool\"} 16384\n"
           "# HELP npumem_heap_peak_bytes Most that was allocated of the heap at once.\n"
           "# TYPE npumem_heap_peak_bytes gauge\n"
           "npumem_heap_peak_bytes{trace=\"hand.zst\",rank=\"3\",pid=\"7\",device=\"2\",heap=\"cache\",level=\"pool\"} "
           "9216\n"
           "npumem_heap_peak_bytes{trace=\"hand.zst\",rank=\"3\",pid=\"7\",device=\"2\",heap=\"memory\",level="
           "\"driver\"} 16384\n");
    expect("ls | grep -c 'a.prom.*tmp'", 1, "0\n");
    expect_trouble("$O --once --prometheus hand.zst hand.zst", 2, "must end in .prom");
    expect_trouble("$O -q --once --prometheus nowhere/a.prom hand.zst", 1, "nowhere/a.prom: ");
}
END_TEST

/* Two heaps of which the labels say the same are one sample; what would end a label, or a line, is no more in it. */
START_TEST(labels_are_escaped_and_never_stand_twice)
{
    expect(
        "printf '%s\n' 'process 1 pid=7 host=h' 'thread 1 process=1 tid=7' 'device 1 process=1 ordinal=0 kind=npu'"
        " 'heap 1 process=1 device=1 level=pool basis=block name=\"a\\\"b\\\\c\\n\\x1b\"'"
        " 'heap 2 process=1 device=1 level=pool basis=block name=\"a\\\"b\\\\c\\n\\x1b\"'"
        " '@1 alloc heap=1 address=0x10000 block=1024 thread=1' '@2 alloc heap=2 address=0x20000 block=512 thread=1'"
        " >h.txt && $X h.txt odd.zst && $O -q --once --prometheus b.prom odd.zst && grep live_ b.prom",
        0,
        "npumem_heap_live_bytes{trace=\"odd.zst\",pid=\"7\",device=\"0\",heap=\"a\\\"b\\\\c??\",level=\"pool\"} 1536\n"
        "# HELP npumem_heap_live_allocations Allocations of the heap that are not freed.\n"
        "# TYPE npumem_heap_live_allocations gauge\n"
        "npumem_heap_live_allocations{trace=\"odd.zst\",pid=\"7\",device=\"0\",heap=\"a\\\"b\\\\c??\",level=\"pool\"} "
        "2\n");
}
END_TEST

/* ---- Recordings that run ------------------------------------------------------------------------------------------- */

/* A program that has leaked and waits for the file `go`. */
#define BEGIN(options)                                                                                                 \
    "rm -f go books; $R --force -q -o c.zst " options " -- sh -c '$P/npu_train --steps 40 --leak --wait-at 30:hold "   \
    ">books 2>&1; :' & soon 'test -e hold'; "
#define END "; rm -f hold; wait"

/* Sites of now.db and of now.json. */
#define SAME_SITES                                                                                                     \
    "sqlite3 now.db \"SELECT level, site, sum(size_bytes), count(*) FROM outstanding GROUP BY level, site ORDER BY "   \
    "level, site\" >wanted; sqlite3 :memory: \"SELECT json_extract(value, '\\$.level'), json_extract(value, "          \
    "'\\$.site'), json_extract(value, '\\$.live_bytes'), json_extract(value, '\\$.live_count') FROM "                  \
    "json_each(readfile('now.json'), '\\$.largest_sites') ORDER BY 1, 2\" >seen; test $(wc -l <wanted) -gt 2 && "      \
    "diff wanted seen"

START_TEST(what_is_live_is_what_an_ingest_of_that_moment_says)
{
    expect(BEGIN("--stacks native") "written c.zst && $I --quiet --force -o now.db c.zst; $O --once --json "
                                    "--sites 1000 c.zst >now.json" END,
           0, NULL);
    expect(SAME_SITES, 0, "");
    expect(
        "sqlite3 now.db \"SELECT level, heap, peak_bytes FROM peak ORDER BY level, heap\" >wanted; sqlite3 :memory: "
        "\"SELECT json_extract(value, '\\$.level'), json_extract(value, '\\$.heap'), json_extract(value, "
        "'\\$.peak_bytes') FROM json_each(readfile('now.json'), '\\$.heaps') ORDER BY 1, 2\" >seen; test -s wanted && "
        "diff wanted seen",
        0, "");
    expect(
        "sqlite3 now.db \"SELECT heap, part, bytes FROM device_part WHERE moment_kind = 'end' AND heap IS NOT NULL AND "
        "part "
        "<> 'whole' ORDER BY heap, part\" >wanted; sqlite3 :memory: \"SELECT json_extract(h.value, '\\$.heap'), p.key, "
        "p.value FROM json_each(readfile('now.json'), '\\$.heaps') AS h, json_each(h.value, '\\$.parts') AS p ORDER BY "
        "1, "
        "2\" >seen; test -s wanted && diff wanted seen",
        0, "");
    expect("grep -c '\"state\":\"recording\"' now.json", 0, "1\n");
}
END_TEST

/* Also before the names are there. */
START_TEST(the_same_bytes_have_the_same_sites)
{
    expect(BEGIN("--stacks native") "$R --ctl c.zst snapshot; cp c.zst now.zst" END, 0, NULL);
    expect("$I --quiet --force now.zst; $O --once --json --sites 1000 now.zst >now.json; " SAME_SITES, 0, "");
}
END_TEST

START_TEST(it_ends_with_the_recording_and_shows_its_last_state)
{
    expect(
        BEGIN("") "$O --interval 0.2 c.zst >shown & soon 'grep -q recording shown'; rm -f hold; wait; tail -n 20 shown",
        0, "c.zst  ended, ");
    expect("grep -c 'c.zst  recording, ' shown | awk '{ print ($1 >= 1) }'", 0, "1\n");
    expect("grep -A 20 'c.zst  ended' shown | grep 'leak_one_buffer' | head -n 1 | awk '{ print $3 }'", 0, "40\n");
}
END_TEST

START_TEST(a_recording_is_found_by_a_process_a_socket_and_a_folder)
{
    expect("$R --force -q -o c.zst -- sh -c 'echo $$ >pid; echo \"$NPUMEM_SESSION\" >folder; $P/npu_train --steps 3 "
           ">books; echo >said; while ! test -e go; do sleep 0.02; done' & soon 'test -e said'; $R --ctl c.zst "
           "snapshot; $O "
           "--once --pid $(cat pid) >by_pid; a=$?; $O --once $(cat folder) >by_folder; b=$?;"
           " $O --once $(cat folder)/ctl >by_socket; c=$?; $O --once $PWD/c.zst >by_file; : >go; wait; echo $a $b $c",
           0, "0 0 0\n");
    /* Memory of the host is sampled by the clock: it may come between two looks, so its line is left out. */
    expect("f() { sed -e 1d -e '/host memory$/d' \"$1\" | cut -c 1-22; }; f by_file >wanted; for i in pid folder "
           "socket; do "
           "f by_$i | diff wanted -; head -n 1 by_$i | grep -c \"^$PWD/c.zst  recording\"; done; wc -l <wanted | "
           "awk '{ print ($1 > 3) }'",
           0, "1\n1\n1\n1\n");
}
END_TEST

START_TEST(parts_are_followed_as_they_begin)
{
    expect("$R --force -q --keep steps:20 -o k.zst -- $P/npu_train --steps 400 --leak --pace-us 5000 >books & "
           "soon 'ls k.zst.* >/dev/null 2>&1'; $O --interval 0.3 k.zst >shown; a=$?; "
           "wait;"
           " echo $a; tail -n 12 shown | grep 'leak_one_buffer' | head -n 1 | awk '{ print $3 }'",
           0, "0\n400\n");
}
END_TEST

START_TEST(a_first_part_that_is_empty_yet_is_waited_for)
{
    expect_trouble(BY_HAND ": >w.zst.000; $O --once w.zst", 1, "w.zst: the file is empty");
    expect("$O w.zst >shown & sleep 0.3; cp hand.zst w.zst.new; mv w.zst.new w.zst.000; wait; head -n 1 shown", 0,
           "w.zst  ended, ");
}
END_TEST

START_TEST(a_recorder_that_was_killed_is_said)
{
    expect_trouble("$R --force -q -o c.zst -- sh -c '$P/npu_train --steps 3 >books; echo >said; while test -e said; do "
                   "sleep 0.02; "
                   "done' & r=$!; soon 'test -e said'; $R --ctl c.zst snapshot; kill -9 $r; rm said; $O --interval 0.2 "
                   "c.zst >shown",
                   3, "c.zst: its recorder was killed: npumem-record --finish saves what is left");
    expect("tail -n 20 shown", 0, "c.zst  killed, ");
}
END_TEST

START_TEST(a_recording_is_only_read)
{
    expect(BEGIN("") "which strace >/dev/null || touch none; test -e none || strace -f -e trace=file,network -o calls "
                     "$O --once c.zst >/dev/null" END
                     "; if test -e none; then exit 1; fi; grep -E 'O_(WRONLY|RDWR|CREAT)|connect|sendto|unlink|rename' "
                     "calls | grep -vE '/dev/null|tsan.rodata|[.]gcda'", /* the thread sanitizer's own, and gcov's */
           1, NULL);
}
END_TEST

/* ---- A terminal ---------------------------------------------------------------------------------------------------- */

#define TERMINAL(columns, rows, words)                                                                                 \
    "TERM=xterm script -qec 'stty cols " #columns " rows " #rows "; " words "' /dev/null </dev/null"

START_TEST(a_terminal_is_drawn_in_place_and_left_as_it_was)
{
    expect(BEGIN("") "(soon 'grep -q recording drawn'; rm -f hold) & " TERMINAL(
               60, 14, "$O --interval 0.2 c.zst") " >drawn; wait",
           0, NULL);
    expect(
        "grep -c \"$(printf '\\033\\[?1049h\\033\\[?25l')\" drawn; grep -c \"$(printf '\\033\\[?25h\\033\\[?1049l')\" "
        "drawn",
        0, "1\n1\n");
    expect("tr -d '\\r' <drawn | sed 's/.*\\[?1049l//; t x; d; :x; n; b x'", 0,
           "c.zst  ended, "); /* the last state stays */
    expect("tr '\\033' '\\n' <drawn | sed 's/^\\[[?0-9]*[A-Za-z]//' | tr -d '\\r' | awk 'length > 60'", 0, "");
}
END_TEST

START_TEST(a_signal_leaves_the_terminal_as_it_was)
{
    expect(BEGIN("") TERMINAL(80, 24,
                              "$O c.zst & p=$!; while ! grep -q recording drawn; do sleep 0.1; done; kill $p; wait $p; "
                              "echo ended $?") " >drawn" END,
           0, NULL);
    expect("tr -d '\\r' <drawn | tail -n 1", 0, "ended 143\n");
    expect("grep -c \"$(printf '\\033\\[?25h\\033\\[?1049l')\" drawn", 0, "1\n");
}
END_TEST

START_TEST(who_is_stopped_leaves_the_terminal_and_takes_it_again)
{
    expect("cat >stop.sh <<'E'\n"
           "until_it() { while ! eval \"$1\"; do sleep 0.1; done; }\n"
           "$O c.zst & p=$!\n"
           "until_it 'grep -q recording drawn'; kill -TSTP $p\n"
           "until_it 'grep -q \"^State:.T\" /proc/$p/status'; kill -CONT $p\n"
           "until_it 'test $(grep -ao 1049h drawn | wc -l) = 2'; rm -f hold\n"
           "wait $p; echo ended $?\n"
           "E",
           0, NULL);
    expect(BEGIN("") TERMINAL(80, 24, "sh stop.sh") " >drawn" END, 0, NULL);
    expect("tr -d '\\r' <drawn | tail -n 1", 0, "ended 0\n");
    expect("grep -ao '1049[hl]' drawn | tr -d '\\n'", 0, "1049h1049l1049h1049l");
}
END_TEST

START_TEST(a_key_ends_it)
{
    expect(BEGIN("") "(while ! grep -q recording drawn; do sleep 0.1; done; printf xyq) | TERM=xterm script -qec '$O "
                     "c.zst; echo ended $?' /dev/null >drawn" END,
           0, NULL);
    expect("tr -d '\\r' <drawn | tail -n 1", 0, "ended 0\n");
    expect("grep -ao '1049[hl]' drawn | tr -d '\\n'", 0, "1049h1049l");
}
END_TEST

START_TEST(wide_characters_take_two_cells)
{
    expect(BY_HAND TERMINAL(53, 24, "$O --once hand.zst") " | tr -d '\\r' | grep \xe6\xa8\xa1", 0,
           "    1.0 KiB          1              pool       \xe6\xa8\xa1...\n");
    expect(TERMINAL(60, 24, "$O --once hand.zst") " | tr -d '\\r' | grep \xe5\x89\x8d\xe5\x90\x91", 1, NULL);
    expect(TERMINAL(61, 24, "$O --once hand.zst") " | tr -d '\\r' | grep '.py:3 \xe5\x89\x8d\xe5\x90\x91'", 0, NULL);
}
END_TEST

/* ---- What cannot be shown ------------------------------------------------------------------------------------------ */

START_TEST(what_is_no_recording_is_said_in_one_line)
{
    expect_trouble("$O", 2, "needs one FILE, or --pid PID");
    expect_trouble("$O a b", 2, "needs one FILE");
    expect_trouble("$O --pid 7 b", 2, "needs one FILE");
    expect_trouble("$O --pid me", 2, "must be the number of a process");
    expect_trouble("$O --interval 0 x", 2, "must be more than nothing");
    expect_trouble("$O none.zst", 1, "none.zst: ");
    expect_trouble("$O --pid 999999999", 1, "999999999: there is no such process");
    expect_trouble("$O --pid $$", 1, "is a process that is not recorded");
    expect_trouble("echo text >t.zst; $O t.zst", 1, "t.zst: is not a recording that goes on");
    expect_trouble(": >e.zst; $O --once e.zst", 1, "e.zst: the file is empty");
    expect_trouble("mkfifo f.zst; $O f.zst", 1, "f.zst: is no file");
    expect_trouble("mkdir d; $O d", 1, "d: ");
    expect_trouble("sqlite3 x.db 'CREATE TABLE x (a)'; $O x.db", 1, "x.db: is not a recording that goes on");
    expect("$O --help", 0, "usage: npumem-top");
    expect("$O --version", 0, "npumem-top ");
    expect_trouble(BY_HAND "mkdir two && cp hand.zst two/a.zst && sed 's/pid=7/pid=8/' h.txt >i.txt && $X i.txt "
                           "two/b.zst && $O --once two",
                   1, "two: several recordings (a.zst, b.zst): give one of them");
    expect_trouble("sed 's/pid=7/pid=9/' h.txt >i.txt && $X i.txt two/c$(printf %90s | tr ' ' c).zst && $O --once two",
                   1, "two: several recordings (a.zst, b.zst, ...): give one of them");
}
END_TEST

START_TEST(damage_is_said)
{
    expect_trouble(BY_HAND "head -c 60 hand.zst >cut.zst; $O cut.zst", 1,
                   "cut.zst: begins like a trace, but holds no block that can be read");
    expect_trouble(BY_HAND "cp hand.zst bad.zst; printf '\\377\\377\\377' | dd of=bad.zst bs=1 seek=$(($(stat -c %s "
                           "bad.zst) / 2)) conv=notrunc 2>/dev/null; $O bad.zst >/dev/null",
                   1, "bad.zst: ");
    expect(
        "s=$(stat -c %s hand.zst); for n in $(seq 1 40); do cp hand.zst bad.zst; printf '\\377' | dd of=bad.zst bs=1 "
        "seek=$((s * n / 41)) conv=notrunc 2>/dev/null; $O --once bad.zst >out 2>err; c=$?; test $c -le 3 || exit "
        "$((100 + c)); test $c = 0 || test $(wc -l <err) = 1 || exit 6; done",
        0, "");
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("top");
    TCase *tests = tcase_create("top");

    if (!shell_variables(argc, argv, "ORIXP"))
        return EXIT_FAILURE;
    shell_before(functions, 300);
    tcase_set_timeout(tests, 300);
    tcase_add_checked_fixture(tests, shell_make_folder, shell_remove_folder);
    tcase_add_test(tests, a_trace_that_is_whole_is_shown_as_it_ended);
    tcase_add_test(tests, anonymous_memory_of_the_host_has_a_line);
    tcase_add_test(tests, parts_of_a_pool_are_told);
    tcase_add_test(tests, json_has_the_names_of_tables);
    tcase_add_test(tests, prometheus_gets_the_figures_of_each_heap);
    tcase_add_test(tests, labels_are_escaped_and_never_stand_twice);
    tcase_add_test(tests, what_is_live_is_what_an_ingest_of_that_moment_says);
    tcase_add_test(tests, the_same_bytes_have_the_same_sites);
    tcase_add_test(tests, it_ends_with_the_recording_and_shows_its_last_state);
    tcase_add_test(tests, a_recording_is_found_by_a_process_a_socket_and_a_folder);
    tcase_add_test(tests, parts_are_followed_as_they_begin);
    tcase_add_test(tests, a_first_part_that_is_empty_yet_is_waited_for);
    tcase_add_test(tests, a_recorder_that_was_killed_is_said);
    tcase_add_test(tests, a_recording_is_only_read);
    tcase_add_test(tests, a_terminal_is_drawn_in_place_and_left_as_it_was);
    tcase_add_test(tests, a_signal_leaves_the_terminal_as_it_was);
    tcase_add_test(tests, who_is_stopped_leaves_the_terminal_and_takes_it_again);
    tcase_add_test(tests, a_key_ends_it);
    tcase_add_test(tests, wide_characters_take_two_cells);
    tcase_add_test(tests, what_is_no_recording_is_said_in_one_line);
    tcase_add_test(tests, damage_is_said);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
