/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-check as a user runs it: each rule at its limit and one past it, on figures that are worked out by hand for the
 * trace of tests/sql/heap_place; and databases that are none.
 *
 *     test_check NPUMEM_CHECK NPUMEM_INGEST TEXT2TRACE TRACE.txt    as $C $I $X $T in lines of shell
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/shell.h"

#define BROKEN_DATABASES 60

static void set_up(void)
{
    nm_run run;

    shell_make_folder();
    run = shell_line("load $T run");
    ck_assert_msg(run.exit_code == 0, "%s", run_err(&run));
    run_free(&run);
}

/* Exit status, and a part of what is printed (NULL: any). */
static void expect(const char *line, int exit_code, const char *part)
{
    nm_run run = shell_line(line);

    ck_assert_msg(run.exit_code == exit_code, "%s: exit %d, %s%s", line, run.exit_code, run_out(&run), run_err(&run));
    ck_assert_msg(part == NULL || strstr(run_out(&run), part) != NULL, "%s: %s", line, run_out(&run));
    run_free(&run);
}

/* One rule: it holds with `good` and fails with `bad`, alone. */
static void expect_limit(const char *rule, const char *good, const char *bad)
{
    char line[512], part[128];

    snprintf(line, sizeof line, "$C run.db --%s %s", rule, good);
    snprintf(part, sizeof part, "ok    %s", rule);
    expect(line, 0, part);
    snprintf(line, sizeof line, "$C run.db --%s %s", rule, bad);
    snprintf(part, sizeof part, "FAIL  %s", rule);
    expect(line, 1, part);
}

/* One line on standard error, nothing on standard output. */
static void expect_failure(const char *line, int exit_code, const char *error_part)
{
    nm_run run = shell_line(line);
    const char *newline = strchr(run_err(&run), '\n');

    ck_assert_msg(run.exit_code == exit_code, "%s: exit %d, %s", line, run.exit_code, run_err(&run));
    ck_assert_msg(strstr(run_err(&run), error_part) != NULL, "%s: %s", line, run_err(&run));
    ck_assert_int_eq(strncmp(run_err(&run), "npumem-check: ", 14), 0);
    ck_assert_msg(newline != NULL && newline[1] == 0, "%s: more than one line: %s", line, run_err(&run));
    ck_assert_str_eq(run_out(&run), "");
    run_free(&run);
}

/* Two segments of 8192 and 4096 bytes; a pool's peak of 6144; the second segment is asked for in step 3, where the pool
 * serves one of two requests; steps 1 and 2 are warm-up. */
START_TEST(each_rule_holds_at_its_limit_and_fails_one_past_it)
{
    expect_limit("max-peak", "12KiB", "12287B");
    expect_limit("max-peak", "'0.012 MiB'", "11.9KiB");
    expect_limit("max-reserved", "12288B", "12287B");
    expect_limit("max-fragmentation", "0.5", "49.9%");
    expect_limit("max-fragmentation", "50%", "0.499");
    expect_limit("max-misses-per-step", "1", "0");
    expect_limit("min-hit-rate", "0.5", "50.1%");
    expect("$C run.db --max-peak 12287B", 1, "1 bytes over");
    expect("$C run.db --max-misses-per-step 0", 1, "in step 3");
}
END_TEST

/* By hand, in tests/sql/host_growth: 240 MiB in 4 s are 226,492,416,000 bytes an hour, of rank 3 it is 40 MiB; the worst is named. */
START_TEST(host_memory_may_grow_by_so_much_an_hour)
{
    expect("load ${T%/*}/../host_growth/trace.txt host && $C host.db --max-host-growth 226492416000B/h --allow-partial",
           0, "ok    max-host-growth       211 GiB/h  limit  211 GiB/h  h1 pid 101 host memory  (over the last 4 s)");
    expect("$C host.db --max-host-growth 226492415999B/h --allow-partial", 1, "FAIL  max-host-growth");
    expect("$C host.db --max-host-growth 1.25GiB/h --allow-partial", 1, "h1 pid 101 host memory  and 1 more");
    expect("$C host.db --max-host-growth 37748736000B/h --rank 3 --allow-partial --json", 1,
           "\"value\":37748736000,\"unit\":\"bytes_per_hour\",\"limit\":37748736000");
    expect("echo max-host-growth=1GiB/h >host.rules; $C host.db --rules host.rules --allow-partial", 1,
           "FAIL  max-host-growth");
    expect("$C run.db --max-host-growth 1GiB/h", 1, "no host memory was recorded: npumem-record --sample-interval");
    expect_failure("$C host.db --max-host-growth 200MiB", 2,
                   "--max-host-growth 200MiB: needs a size an hour: 200MiB/h");
    expect_failure("$C host.db --max-host-growth 200/h", 2, "needs a size an hour: 200MiB/h");
}
END_TEST

/* Half of what is reserved was never in use at once; all of it may have been what another stream still used, where the pool
 * does not tell and the process recorded an event. */
START_TEST(what_other_streams_may_have_used_fails_no_gate)
{
    expect("sed 's/name=\"caching pool\"/name=ptaCaching/' $T > mute.txt && load mute.txt mute && "
           "$C mute.db --max-fragmentation 0.499 --threshold fragmentation=0",
           1, "FAIL  max-fragmentation");
    expect("sed '/process_end/i @175 stream_call thread=1 device=1 stream=7 number=0x99 detail=event_record' mute.txt "
           "> early.txt && load early.txt early && $I --force --quiet --threshold fragmentation=0 -o early.db "
           "early.zst && "
           "$C early.db --max-fragmentation 0.499",
           0, "at least: what other streams still used is not known");
    expect("$I -o again.db early.zst", 0, "fragmentation at most 50 % of 12.0 KiB reserved");
}
END_TEST

/* 6144 bytes are unused at the peak, and two requests come after the warm-up, of which one is a miss. The floors of the
 * database are none of a rule: only what the command says. */
START_TEST(what_is_below_its_floor_passes)
{
    expect("$C run.db --max-fragmentation 0.1", 1, "FAIL  max-fragmentation");
    expect("$C run.db --max-fragmentation 0.1 --threshold fragmentation=64MiB", 0,
           "(less than the floor of 64.0 MiB is unused)");
    expect("$C run.db --max-fragmentation 0.1 --threshold fragmentation=6KiB", 1, "FAIL  max-fragmentation");
    expect("$C run.db --max-fragmentation 0.1 --threshold fragmentation=6145B", 0, "ok    max-fragmentation");
    expect("$C run.db --min-hit-rate 0.9", 1, "FAIL  min-hit-rate");
    expect("$C run.db --min-hit-rate 0.9 --threshold pool-hit-rate=3", 0, "(only 2 requests came after the warm-up)");
    expect("$C run.db --min-hit-rate 0.9 --threshold pool-hit-rate=2", 1, "FAIL  min-hit-rate");
    expect("printf '# of the team\n\n fragmentation = 6 KiB # little\npool hit rate=2\n' > floors && $C run.db"
           " --max-fragmentation 0.1 --min-hit-rate 0.9 --thresholds floors | grep -c FAIL",
           0, "2");
    expect("$C run.db --max-fragmentation 0.1 --thresholds floors --threshold fragmentation=1GiB", 0, "ok    max-frag");
    expect("$I -o own.db --thresholds floors --threshold allocation-cost=1.5ms --threshold zero-copy=0 run.zst &&"
           " sqlite3 own.db 'SELECT floor, capacity_ratio FROM z_threshold ORDER BY measure' | tr '\n' ' '",
           0, "1500000|0.0 6144|0.0 2|0.0 0|0.0 ");
}
END_TEST

START_TEST(a_floor_that_is_none_is_said)
{
    expect_failure("$C run.db --threshold growth=1", 2, "no measure 'growth': allocation-cost, fragmentation");
    expect_failure("$C run.db --threshold fragmentation", 2, "fragmentation needs a size");
    expect_failure("$C run.db --threshold pool-hit-rate=90%", 2, "pool-hit-rate needs a number of requests, not '90%'");
    expect_failure("$C run.db --threshold allocation-cost=5", 2, "allocation-cost needs a time");
    expect_failure("$C run.db --thresholds nowhere", 2, "nowhere: cannot open");
    expect_failure("printf 'zero-copy=1MiB\n\nzero-cost=1\n' > wrong && $C run.db --thresholds wrong", 2,
                   "--thresholds wrong: line 3: no measure 'zero-cost'");
    expect("$I -o own.db --thresholds wrong run.zst 2>&1; test $? = 2", 0,
           "npumem-ingest: --thresholds wrong: line 3: no measure 'zero-cost'");
}
END_TEST

START_TEST(every_rule_has_a_line_and_one_failure_is_enough)
{
    expect("$C run.db --max-peak 1GiB --max-peak 1B --no-anomaly | cut -c1-22 | tr '\\n' ';'", 0,
           "ok    complete        ;ok    max-peak        ;FAIL  max-peak        ;ok    no-anomaly      ;");
    expect("$C run.db --complete", 0, "ok    complete");
    expect("$C -q run.db --max-peak 1B | wc -c; $C -q run.db --max-peak 1B", 1, "0\n");
}
END_TEST

/* collate keeps 3 x 512 bytes, one a step; 100 bytes of pinned memory are held to the end, which is a leak only of a program
 * that at its end frees as much of what is as old, in events. */
START_TEST(leaks_and_growth_are_told_apart)
{
    expect("$C run.db --no-growth", 1, "FAIL  no-growth               1.5 KiB  h1 rank 0 device 2 caching pool");
    expect("$C run.db --no-leak", 1, "(data.py:41 collate)");
    expect("$C run.db --no-growth --heap pinned", 0, "ok    no-growth");
    expect("$C run.db --no-leak --heap pinned", 0, "ok    no-leak");
    expect("sed 's/^@20 /@11 alloc heap=3 address=0x910000 requested=100 thread=2\\n&/;"
           " s/^@180 /@172 free heap=3 address=0x910000 thread=2\\n&/' $T > freed.txt && load freed.txt freed &&"
           " $C freed.db --no-leak --heap pinned",
           1, "100 B");
    expect("sed 's/^@180 /@171 mark thread=2 name=later\\n@171 mark thread=2 name=still\\n@171 alloc heap=3"
           " address=0x910000 requested=100 thread=2\\n@172 free heap=3 address=0x910000 thread=2\\n&/' $T > short.txt "
           "&& load short.txt short &&"
           " $C short.db --no-leak --heap pinned",
           0, "ok    no-leak");
    expect("$C freed.db --no-leak", 1, "and 1 more  (data.py:41 collate)");
    expect("$C freed.db --no-rising", 0, "ok    no-rising");
    expect("sed '/stack=2/d' $T > other.txt && load other.txt other && $C other.db --no-growth", 0, "ok    no-growth");
}
END_TEST

/* Whether it rises is judged of a server that runs for half an hour, or as long as was said, however steady it is. */
START_TEST(a_steady_server_is_judged_when_it_has_run_for_long)
{
    expect(
        "serve() { echo 'process 1 pid=1 host=h'; echo 'thread 1 process=1 tid=1'; echo 'heap 1 process=1 level=pinned"
        " basis=block name=pinned'; echo 'stack 1: /a.c:7:serve'; echo '@5 alloc heap=1 address=4096 block=512 thread=1"
        " stack=1'; for i in $(seq $1); do echo \"@$((i * 60000000000)) alloc heap=1 address=8192 block=512 thread=1"
        " stack=1\"; echo \"@$((i * 60000000000 + 9)) free heap=1 address=8192 thread=1\"; done; };"
        " serve 20 >short.txt; serve 40 >long.txt; load short.txt short && load long.txt long; $C long.db --no-rising",
        0, "ok    no-rising");
    expect("$C short.db --no-rising", 5, "not judged: leaks: no steps known, 3 needed");
    expect("$C long.db --no-growth", 5, "?     no-growth");
    expect("$I -q --force -o soon.db --server-after 10min short.zst && $C soon.db --no-rising", 0, "ok    no-rising");
}
END_TEST

/* A queue of three blocks only keeps the newest: it is suspected, and fails nothing. */
START_TEST(a_queue_is_told_from_a_leak)
{
    expect("{ echo 'process 1 pid=1 host=h'; echo 'thread 1 process=1 tid=1'; echo 'stack 1: /a.c:7:queue';"
           " echo 'heap 1 process=1 level=pinned basis=block name=pinned';"
           " for i in 0 1 2 3 4 5 6 7 8 9; do echo \"@- step number=$i thread=1\";"
           " [ $i -lt 3 ] || echo \"@- free heap=1 address=$((i * 4096 - 8192)) thread=1\";"
           " echo \"@- alloc heap=1 address=$((i * 4096 + 4096)) block=512 thread=1 stack=1\"; done; } > queue.txt",
           0, NULL);
    expect("sed 's/^@-/@5/' queue.txt > timed.txt && load timed.txt timed && $C timed.db --no-growth", 0,
           "ok    no-growth");
    expect("sqlite3 timed.db 'SELECT site, reason FROM suspect_by_site'", 0, "a.c:7 queue|only the newest are kept");
}
END_TEST

/* A gate that cannot see says so. */
START_TEST(growth_that_cannot_be_judged_is_said)
{
    expect("sed '/stack=2/d; /step number=3/,$d' $T > few.txt && load few.txt few && $C few.db --no-growth "
           "--allow-partial",
           5, "?     no-growth                     -  not judged: leaks: 2 of 3 steps seen, 1 more needed");
    expect("$C few.db --no-growth --allow-partial --not-judged pass", 0, "?     no-growth");
    expect("$C few.db --no-growth --allow-partial --not-judged fail --max-peak 1GiB", 5, "ok    max-peak");
    expect("$C few.db --no-leak --allow-partial --max-peak 1B", 1, "not judged: leaks: 2 of 3 steps seen");
    expect("$C few.db --no-rising --no-anomaly --allow-partial", 0, "ok    no-rising");
    expect("$C few.db --no-growth --allow-partial --json", 5,
           "\"rule\":\"no-growth\",\"is_ok\":false,\"state\":\"not judged\",\"value\":null");
    expect("$C few.db --no-growth --allow-partial --json --not-judged pass", 0,
           "\"rule\":\"no-growth\",\"is_ok\":true,\"state\":\"not judged\",\"value\":null");
    expect("printf 'no-leak not-judged=pass\nno-growth\n' >rules; $C few.db --allow-partial --rules rules", 5,
           "?     no-leak");
    expect("printf 'no-leak not-judged=pass # so far\nno-growth not-judged=pass\n' >rules; $C few.db --allow-partial "
           "--rules "
           "rules",
           0, "?     no-leak");
    expect("printf 'not-judged=pass\nno-leak\nno-growth not-judged=fail\n' >rules; $C few.db --allow-partial --rules "
           "rules",
           5, "?     no-growth");
    expect_failure("printf 'no-leak not-judged=maybe' > rules; $C few.db --rules rules", 2,
                   "line 1: no-leak: not-judged=fail or not-judged=pass");
    expect_failure("$C few.db --no-leak --not-judged no", 2, "must be fail or pass");
    expect("sed '/stack=2/d' $T > other.txt && load other.txt other && $C other.db --no-growth | grep -c '('", 1, "0");
    expect("cp other.db lossy2.db && sqlite3 lossy2.db 'UPDATE input SET is_complete = 0, events_dropped = 12,"
           " events_seen = events_seen + 12' && $C lossy2.db --no-growth --allow-partial",
           0, "(12 events are missing, so that less may be called so)");
    expect(
        "sed '/stack=2/d; s/^@80 /@75 pause number=1 thread=1 detail=1\\n@76 pause number=1 thread=1 detail=2\\n&/' $T"
        " > pause.txt && load pause.txt pause && $C pause.db --no-growth | tr '\\n' ';'",
        0,
        "ok    complete                      0  (but for pauses: what came and went in them is in no figure);"
        "ok    no-growth                   0 B  (what was born in a pause is not called so);");
    expect("cp other.db kept.db && sqlite3 kept.db 'UPDATE input SET events_unkept = 5, events_seen = events_seen + 5'"
           " && $C kept.db --max-fragmentation 1 | head -n 1",
           0,
           "ok    complete                      0  (but for what was not kept: misuse, failures and fragmentation of "
           "then are"
           " in no figure)");
    expect("$C lossy2.db --no-anomaly --allow-partial", 0,
           "ok    no-anomaly                    0  (12 events are missing, so that less may be called so)");
}
END_TEST

START_TEST(a_double_free_is_an_anomaly)
{
    expect("$C run.db --no-anomaly", 0, "ok    no-anomaly");
    expect("sed 's/^@170/@165 free heap=2 address=0x20000 thread=1 stack=3\\n&/' $T > other.txt && load other.txt other"
           " && $C other.db --no-anomaly",
           1, "double free, model.py:88 forward");
}
END_TEST

START_TEST(a_stream_that_stays_is_no_failure)
{
    expect("sed 's/^@170/@165 stream_call thread=1 device=1 stream=9 detail=stream_create\\n&/;"
           " s/^@180 /@175 stream_call thread=1 device=1 stream=8 detail=stream_create\\n"
           "@175 stream_call thread=1 device=1 stream=8 detail=stream_destroy\\n&/' $T > other.txt"
           " && load other.txt other && sqlite3 other.db 'SELECT kind FROM misuse'",
           0, "stream never destroyed");
    expect("$C other.db --no-anomaly", 0, "ok    no-anomaly");
}
END_TEST

START_TEST(a_failed_request_breaks_no_oom)
{
    expect("$C run.db --no-oom", 1, "FAIL  no-oom");
    expect("sed '/alloc_failed/d' $T > other.txt && load other.txt other && $C other.db --no-oom", 0, "ok    no-oom");
}
END_TEST

/* Without the block of 2560 bytes the pool's peak is 4096, at the block of step 2: 6144 is half more. */
START_TEST(a_baseline_is_compared_heap_by_heap)
{
    expect("sed 's/requested=2500 block=2560/requested=500 block=512/' $T > old.txt && load old.txt old", 0, NULL);
    expect("$C run.db --baseline old.db:+50%", 0, "ok    baseline");
    expect("$C run.db --baseline old.db:+49%", 1, "caching pool");
    expect("$C run.db --baseline old.db:+2KiB", 0, NULL);
    expect("$C run.db --baseline old.db:+2047B", 1, "1 bytes over");
    expect("$C run.db --baseline old.db", 1, "2,048 bytes over");
    expect("$C old.db --baseline run.db", 0, "ok    baseline");
    expect("$C run.db --baseline old.db --heap driver", 0, "NPU memory");
    expect("mv old.db old:+x.db && $C run.db --baseline old:+x.db:+50%", 0, NULL);
}
END_TEST

START_TEST(what_the_baseline_lacks_or_counts_otherwise_fails)
{
    expect("sed 's/caching pool/other pool/' $T > old.txt && load old.txt old && $C run.db --baseline old.db:+1000%", 1,
           "(not in the baseline)");
    expect("sed '/caching pool/s/basis=block/basis=requested/' $T > new.txt && load new.txt new &&"
           " $C run.db --baseline new.db:+1000%",
           1, "(the baseline counts other sizes (requested))");
    /* Nothing to compare with is no limit of 0. */
    expect("$C run.db --baseline new.db:+1000% | grep -c 'limit *0 B\\|bytes over'", 1, "0");
    expect("$C run.db --baseline new.db:+1000% --json > j; sqlite3 :memory: \"SELECT"
           " json_extract(CAST(readfile('j') AS TEXT), '$.rules[1].limit') IS NULL\"",
           0, "1");
}
END_TEST

START_TEST(filters_choose_and_what_they_miss_fails)
{
    expect("$C run.db --max-peak 6144B --heap 'caching pool'", 0, "caching pool");
    expect("$C run.db --max-peak 6143B --heap pool", 1, "caching pool");
    expect("$C run.db --max-peak 6143B --heap pool | grep -c -e '^[1-9] of [2-9] heaps were looked at'", 0, "1\n");
    expect("$C run.db --max-peak 6143B | grep -c 'looked at'", 1, "0\n");
    expect("$C run.db --max-peak 12288B --rank 0", 0, "NPU memory");
    expect("$C run.db --max-peak 100B --heap pinned", 0, "pinned memory");
    expect("$C run.db --max-peak 1TiB --rank 1", 1, "no heap is of this rank and name");
    expect("$C run.db --no-leak --heap poool", 1, "no heap is of this rank and name");
    expect("sed '/ step /d' $T > other.txt && load other.txt other && $C other.db --max-misses-per-step 5", 1,
           "no step after the warm-up is known");
    expect("$C run.db --max-reserved 1TiB --heap pinned", 1, "no pool is known to hold anything");
}
END_TEST

START_TEST(a_partial_trace_fails_unless_it_is_allowed)
{
    expect("cp run.db cut.db && sqlite3 cut.db \"UPDATE input SET is_complete = 0, state = 'cut'\""
           " && $C cut.db --max-peak 1GiB",
           1, "FAIL  complete                      0  (the recording was cut off before its end)");
    expect("$C cut.db --max-peak 1GiB --allow-partial", 0, "ok    complete");
    expect("cp run.db lossy.db && sqlite3 lossy.db 'UPDATE input SET is_complete = 0, events_dropped = 1200,"
           " events_seen = events_seen + 1200' && $C lossy.db --complete",
           1, "(1,200 events are missing)");
    expect("$C run.db --baseline lossy.db", 1, "the baseline: 1,200 events are missing");
    expect("$C run.db --baseline lossy.db --allow-partial", 0, "ok    baseline");
    expect("cp run.db late.db && sqlite3 late.db \"UPDATE input SET baseline = 'unknown'\" && $C late.db --complete", 1,
           "a process ran before its recording began");
    expect("cp run.db none.db && sqlite3 none.db 'DELETE FROM input' && $C none.db --complete", 1,
           "no input is in the database");
}
END_TEST

START_TEST(json_is_valid_and_says_the_same)
{
    expect("$C run.db --json --max-peak 12287B --no-growth > j; s=$?; sqlite3 :memory: \"SELECT json_extract(j, "
           "'$.is_ok'),"
           " json_extract(j, '$.rules[1].value'), json_extract(j, '$.rules[1].limit'), json_extract(j, "
           "'$.rules[1].is_ok'),"
           " json_extract(j, '$.rules[2].rule') FROM (SELECT CAST(readfile('j') AS TEXT) AS j)\"; exit $s",
           1, "0|12288|12287|0|no-growth");
    expect(
        "cp run.db odd.db && sqlite3 odd.db \"UPDATE heap SET name = CAST(x'22ff5c0ac3c328ed' AS TEXT)\";"
        " $C odd.db --json --max-reserved 1B > j; sqlite3 :memory: \"SELECT json_valid(CAST(readfile('j') AS TEXT))\"",
        0, "1");
}
END_TEST

/* As a CI system reads it: by an XML reader that is not ours. */
#define TELL_JUNIT                                                                                                     \
    "python3 -c \"import xml.etree.ElementTree as x; r = x.parse('j.xml').getroot(); s = r[0]; print(r.tag, s.tag,"    \
    " s.get('name'), *(s.get(n) for n in ('tests', 'failures', 'errors', 'skipped'))); [print(c.get('name'),"          \
    " *(e.tag + ' ' + e.get('message') for e in c)) for c in s]\""

START_TEST(junit_has_a_case_a_rule)
{
    expect(
        "$C run.db --junit j.xml --max-peak 12287B --complete --quiet; s=$?; " TELL_JUNIT "; exit $s", 1,
        "testsuites testsuite run.db 2 1 0 0\ncomplete\nmax-peak failure FAIL  max-peak               12.0 KiB  limit "
        "  12.0 KiB  h1 device 2 driver  1 bytes over\n");
    expect_failure("$C run.db --junit j.xml --max-peak 1TiB", 4, "j.xml: is already there (--force replaces it)");
    expect_failure("$C run.db --junit run.db --force --max-peak 1TiB", 4, "run.db: is the input itself");
    expect_failure("$C run.db --junit nowhere/j.xml --max-peak 1TiB", 4, "nowhere/j.xml: ");
    expect("sed '/stack=2/d; /step number=3/,$d' $T > few.txt && load few.txt few; $C few.db --junit j.xml --force "
           "--no-growth --allow-partial --not-judged pass; " TELL_JUNIT,
           0, "few.db 2 0 0 1\ncomplete\nno-growth skipped ?     no-growth ");
    expect("cp run.db odd.db && sqlite3 odd.db \"UPDATE heap SET name = CAST(x'22ff3c0126' AS TEXT)\";"
           " $C odd.db --junit j.xml --force --max-reserved 1B >/dev/null; " TELL_JUNIT,
           0, "device 2 \"?<?&  12,287 bytes over\n");
}
END_TEST

/* What has nothing to measure has a limit all the same, but no value. */
START_TEST(json_says_the_limit_of_what_is_not_there)
{
    expect("$C run.db --json --heap nowhere --max-fragmentation 0.25 > j; sqlite3 :memory: \"SELECT"
           " json_extract(j, '$.rules[1].limit'), json_extract(j, '$.rules[1].value') IS NULL"
           " FROM (SELECT CAST(readfile('j') AS TEXT) AS j)\"",
           0, "0.25|1");
}
END_TEST

START_TEST(usage_is_checked)
{
    expect_failure("$C", 2, "no database");
    expect_failure("$C run.db", 2,
                   "no rule: give one or more, as --max-peak 60GiB, --no-leak or --baseline old.db:+5%");
    expect_failure("$C run.db --allow-partial --json", 2, "no rule");
    expect_failure("$C run.db run.db", 2, "one database at a time");
    expect_failure("$C run.db --max-peak 12XB", 2, "needs a size");
    expect_failure("$C run.db --max-peak 60", 2, "--max-peak 60: needs a size with its unit: 60GiB, or 60B for bytes");
    expect("for s in 60G 60GB 60GiB '60 GiB' 64424509440B 64424509440; do $C run.db --max-peak \"$s\"; done |"
           " grep -c 'limit   60.0 GiB'",
           0, "6");
    expect_failure("$C run.db --max-peak -1", 2, "needs a size");
    expect_failure("$C run.db --max-peak 99999999999TiB", 2, "needs a size of 4096 PiB at the most");
    expect_failure("$C run.db --max-fragmentation 2", 2, "needs a share");
    expect_failure("$C run.db --min-hit-rate nan", 2, "needs a share");
    expect_failure("$C run.db --max-misses-per-step many", 2, "needs a number");
    expect_failure("$C run.db --baseline run.db:+5x", 2, "needs a database");
    expect_failure("$C run.db --baseline run.db:+5", 2, "needs a database, as in old.db, old.db:+5% or old.db:+512MiB");
    expect_failure("$C run.db --rank first", 2, "--rank first: must be a number");
    expect("$C run.db --no-such-rule", 2, NULL);
    expect("$C --help", 0, "usage: npumem-check");
    expect("$C --version", 0, "npumem-check ");
}
END_TEST

/* Where no rule is given, those of the working folder's .npumem-check hold, and those of a file that is named always. */
START_TEST(rules_of_a_team_stand_in_a_file)
{
    expect("printf '# nightly\\n\\nmax-reserved=1B # too little\\n  no-anomaly\\n' > .npumem-check; $C run.db", 1,
           "FAIL  max-reserved");
    expect("$C run.db 2>&1 >/dev/null | grep -c '^npumem-check: rules of .npumem-check$'", 0, "1");
    expect("$C run.db | grep -c '^ok    no-anomaly'", 0, "1");
    expect("$C -q run.db 2>&1", 1, "npumem-check: rules of .npumem-check\n");
    expect("$C run.db --no-anomaly", 0, "ok    no-anomaly");
    expect("$C run.db --no-anomaly --rules .npumem-check", 1, "FAIL  max-reserved");
    expect("cp run.db 'a#b.db'; printf 'baseline=a#b.db:+5%%\\n' > rules; $C run.db --rules rules", 0,
           "ok    baseline");
    expect("printf 'max-reserved=1B\\nthreshold=fragmentation=1GiB\\n' > rules; $C run.db --rules rules", 1, "FAIL");
    expect("printf '# none yet\\n' > .npumem-check; $C run.db", 2, NULL);
    expect_failure("printf 'no-leak\\nno-leaks\\n' > rules; $C run.db --rules rules", 2,
                   "rules: line 2: no such rule: one a line");
    expect_failure("printf 'no-leak=3' > rules; $C run.db --rules rules", 2, "line 1: no-leak takes no value");
    expect_failure("printf 'max-peak' > rules; $C run.db --rules rules", 2,
                   "line 1: max-peak needs a value, as max-peak=SIZE");
    expect_failure("printf 'max-peak=60' > rules; $C run.db --rules rules", 2,
                   "line 1: max-peak: what stands behind it is not SIZE");
    expect_failure("printf 'output=x' > rules; $C run.db --rules rules", 2, "line 1: no such rule");
    expect_failure("printf 'no-oom\\n\\000' > rules; $C run.db --rules rules", 2, "rules: holds no rules");
    expect_failure("head -c 65537 /dev/zero | tr '\\0' '#' > rules; $C run.db --rules rules", 2,
                   "rules: is larger than 64 KiB");
    expect("{ echo no-anomaly; head -c 65525 /dev/zero | tr '\\0' '#'; } > rules; $C run.db --rules rules", 0,
           "no-anomaly");
    expect_failure("for i in $(seq 1001); do echo no-oom; done > rules; $C run.db --rules rules", 2,
                   "line 1001: more than 1000 rules");
    expect("for i in $(seq 1000); do echo no-leak; echo '#'; done > rules; $C run.db --rules rules | wc -l", 0, "1001");
    expect_failure("$C run.db --rules nowhere", 2, "nowhere: no such file");
    expect_failure("$C run.db --rules .", 2, ".: not a file");
}
END_TEST

/* Nobody has named it: whoever laid it there is neither waited for nor obeyed, and what a link leads to is not shown. */
START_TEST(rules_that_nobody_named_are_obeyed_only_if_they_are_ours)
{
    expect_failure("mkfifo .npumem-check; timeout 50 $C run.db", 2, ".npumem-check: is not a regular file");
    expect_failure("rm .npumem-check; mkdir .npumem-check; $C run.db", 2, ".npumem-check: is not a regular file");
    expect_failure("rmdir .npumem-check; printf 'key = hunter2\n' > private; ln -s private .npumem-check; $C run.db", 2,
                   ".npumem-check: is a symbolic link");
    expect("$C run.db 2>&1 | grep -c hunter2", 1, "0");
    expect("$C run.db --rules .npumem-check 2>&1 | grep -c 'hunter2\\|key'", 1, "0"); /* named, and followed */
    expect_failure("$C run.db --rules .npumem-check", 2, "line 1: no such rule");
    expect("printf 'max-reserved=hunter2\n' > private; $C run.db --rules private 2>&1 | grep -c hunter2", 1, "0");
    expect("printf 'threshold=hunter2\n' > private; $C run.db --rules private 2>&1 | grep -c hunter2", 1, "0");
    expect_failure("rm .npumem-check; echo no-anomaly > .npumem-check; chmod 666 .npumem-check; $C run.db", 2,
                   ".npumem-check: may be written to by everybody");
    expect("chmod 664 .npumem-check; $C run.db", 0, "no-anomaly");
    expect_failure("mkfifo pipe; timeout 50 $C run.db --rules pipe", 2, "pipe: not a file");
}
END_TEST

/* By root, who can give files away. */
START_TEST(rules_of_another_user_are_not_obeyed)
{
    if (geteuid() != 0)
        return;
    expect_failure("echo no-anomaly > .npumem-check; chown 65534 .npumem-check; $C run.db", 2,
                   ".npumem-check: belongs neither to this user, nor to root");
    expect("$C run.db --rules .npumem-check", 0, "no-anomaly");
    expect("chown 65534 .; $C run.db", 0, "no-anomaly");
    expect("chown 0 . .npumem-check", 0, NULL);
}
END_TEST

START_TEST(what_is_no_database_is_told_in_one_line)
{
    expect_failure("$C nothing.db --complete", 4, "nothing.db: cannot open");
    expect_failure("$C . --complete", 4, "not a file");
    expect_failure("mkfifo p; $C p --complete", 4, "not a file");
    expect_failure("$C run.zst --complete", 4, "not a database of npumem-ingest");
    expect_failure(": > empty.db; $C empty.db --complete", 4, "not a database of npumem-ingest");
    expect_failure("sqlite3 other.db 'CREATE TABLE x (y)'; $C other.db --complete", 4,
                   "not a database of npumem-ingest");
    expect_failure("cp run.db new.db; sqlite3 new.db \"UPDATE meta SET value = '999' WHERE key = 'schema_version'\";"
                   " $C new.db --complete",
                   4, "new.db: has schema version 999");
    expect_failure("head -c 40000 run.db > cut.db; $C cut.db --complete", 4, "cut.db: ");
    expect_failure("cp run.db less.db; sqlite3 less.db 'DROP TABLE z_pause'; $C less.db --max-reserved 1B", 4, "pause");
    expect_failure("$C run.db --baseline nothing.db", 4, "nothing.db: cannot open");
    expect_failure("$C run.db --baseline run.zst", 4, "run.zst: not a database");
}
END_TEST

START_TEST(strange_content_is_read_as_it_is)
{
    expect(
        "cp run.db odd.db && sqlite3 odd.db \"UPDATE z_heap_sum SET peak_bytes = 'many', peak_reserved_bytes = 9e999;"
        " UPDATE heap SET name = printf('%.*c', 100000, 'x'), device_id = 77; UPDATE process SET host = x'00ff',"
        " rank = 'no'; UPDATE z_step_sum SET miss_count = -5000000000, last_generation = generation - 1;"
        " UPDATE input SET events_seen = 9223372036854775807, is_complete = 'maybe';"
        " UPDATE z_device_sum SET peak_bytes = 9e300\";"
        " $C odd.db --max-peak 1B --max-reserved 1B --max-fragmentation 1 --min-hit-rate 1 --max-misses-per-step 1"
        " --max-host-growth 1GiB/h"
        " --no-growth --no-leak --no-anomaly --no-oom --baseline odd.db:+1% --json > j; s=$?;"
        " sqlite3 :memory: \"SELECT json_valid(CAST(readfile('j') AS TEXT))\"; exit $s",
        1, "1");
}
END_TEST

/* A copy of run.db with a few bytes of it changed, by a fixed sequence. */
static void break_database(unsigned seed)
{
    char from[128], to[128];
    unsigned state = seed * 2654435761u + 1;
    struct stat info;
    char *bytes;
    int fd;

    snprintf(from, sizeof from, "%s/run.db", shell_folder);
    snprintf(to, sizeof to, "%s/broken.db", shell_folder);
    fd = open(from, O_RDONLY);
    ck_assert(fd >= 0 && fstat(fd, &info) == 0);
    bytes = malloc((size_t)info.st_size);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq(read(fd, bytes, (size_t)info.st_size), info.st_size);
    close(fd);
    for (int i = 0; i < 30; i++) {
        state = state * 1664525u + 1013904223u;
        bytes[state % (unsigned)info.st_size] = (char)(state >> 24);
    }
    fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ck_assert(fd >= 0);
    ck_assert_int_eq(write(fd, bytes, (size_t)info.st_size), info.st_size);
    close(fd);
    free(bytes);
}

START_TEST(a_damaged_database_never_crashes)
{
    for (unsigned seed = 0; seed < BROKEN_DATABASES; seed++) {
        break_database(seed);
        nm_run run =
            shell_line("$C broken.db --max-peak 1B --max-reserved 1B --max-fragmentation 1 --min-hit-rate 1"
                       " --max-misses-per-step 1 --no-growth --no-leak --no-anomaly --no-oom --baseline run.db");
        ck_assert_msg(run.exit_code == 0 || run.exit_code == 1 || run.exit_code == 4, "seed %u: exit %d, %s", seed,
                      run.exit_code, run_err(&run));
        run_free(&run);
    }
}
END_TEST

START_TEST(a_full_standard_output_is_told)
{
    expect("[ ! -e /dev/full ] || { $C run.db --complete > /dev/full; [ $? = 4 ]; }", 0, NULL);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("npumem-check");
    TCase *tcase = tcase_create("check");

    if (!shell_variables(argc, argv, "CIXT"))
        return 2;
    /* `load` makes NAME.db of a text trace. */
    shell_before("load() { $X \"$1\" \"$2.zst\" && $I --quiet \"$2.zst\"; }; ", 60);
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, set_up, shell_remove_folder);
    tcase_add_test(tcase, each_rule_holds_at_its_limit_and_fails_one_past_it);
    tcase_add_test(tcase, host_memory_may_grow_by_so_much_an_hour);
    tcase_add_test(tcase, what_other_streams_may_have_used_fails_no_gate);
    tcase_add_test(tcase, what_is_below_its_floor_passes);
    tcase_add_test(tcase, a_floor_that_is_none_is_said);
    tcase_add_test(tcase, every_rule_has_a_line_and_one_failure_is_enough);
    tcase_add_test(tcase, leaks_and_growth_are_told_apart);
    tcase_add_test(tcase, a_steady_server_is_judged_when_it_has_run_for_long);
    tcase_add_test(tcase, a_queue_is_told_from_a_leak);
    tcase_add_test(tcase, growth_that_cannot_be_judged_is_said);
    tcase_add_test(tcase, a_double_free_is_an_anomaly);
    tcase_add_test(tcase, a_stream_that_stays_is_no_failure);
    tcase_add_test(tcase, a_failed_request_breaks_no_oom);
    tcase_add_test(tcase, a_baseline_is_compared_heap_by_heap);
    tcase_add_test(tcase, what_the_baseline_lacks_or_counts_otherwise_fails);
    tcase_add_test(tcase, filters_choose_and_what_they_miss_fails);
    tcase_add_test(tcase, a_partial_trace_fails_unless_it_is_allowed);
    tcase_add_test(tcase, json_is_valid_and_says_the_same);
    tcase_add_test(tcase, junit_has_a_case_a_rule);
    tcase_add_test(tcase, json_says_the_limit_of_what_is_not_there);
    tcase_add_test(tcase, usage_is_checked);
    tcase_add_test(tcase, rules_of_a_team_stand_in_a_file);
    tcase_add_test(tcase, rules_that_nobody_named_are_obeyed_only_if_they_are_ours);
    tcase_add_test(tcase, rules_of_another_user_are_not_obeyed);
    tcase_add_test(tcase, what_is_no_database_is_told_in_one_line);
    tcase_add_test(tcase, strange_content_is_read_as_it_is);
    tcase_add_test(tcase, a_damaged_database_never_crashes);
    tcase_add_test(tcase, a_full_standard_output_is_told);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
