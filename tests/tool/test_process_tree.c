/* SPDX-License-Identifier: Apache-2.0
 *
 * Trees of processes and launchers of ranks: each process is recorded once, in one trace, with its parent and its rank; the
 * order of events is that of all processes together. What the programs print, and what follows from their command lines, is
 * what must be in the tables; and they print the same unrecorded.
 *
 *     test_process_tree NPUMEM_RECORD NPUMEM_INGEST PROGRAM_FOLDER ASCENDCL STATIC_PROGRAM
 *         as $R $I $P $A $S in lines of shell
 */
#include <check.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/ask.h"
#include "support/shell.h"

#define RANKS  8
#define ROUNDS 5

/* The program prints and ends the same with and without a recorder; its trace is in t.db. */
static sqlite3 *record(const char *program)
{
    nm_run run = shell("%s > plain; echo $? >> plain; $R --force -q -o t.zst -- %s > recorded; echo $? >> recorded;"
                       " cmp plain recorded && $I --quiet --force t.zst",
                       program, program);

    ck_assert_msg(run.exit_code == 0, "'%s': %s%s", program, run_out(&run), run_err(&run));
    run_free(&run);
    return ask_open(shell_folder, "t.db");
}

/* ---- Trees --------------------------------------------------------------------------------------------------------- */

/* Width 5 is one child for each way to start one: fork, fork and exec, vfork and exec, posix_spawn, fork from a thread. */
static void check_tree(const char *options)
{
    char command[256];

    snprintf(command, sizeof command, "$P/fork_tree --depth 2 --width 5 --allocations 4 --threads 3 %s | sort",
             options);
    sqlite3 *db = record(command);
    const char *node = "FROM process WHERE command LIKE '%fork_tree%'";
    char sql[512];

    snprintf(sql, sizeof sql, "SELECT count(*) %s", node);
    ck_assert_int_eq(ask(db, sql), 31);
    snprintf(sql, sizeof sql, "SELECT count(DISTINCT pid) %s", node);
    ck_assert_int_eq(ask(db, sql), 31);
    snprintf(sql, sizeof sql, "SELECT count(*) FROM (SELECT parent_id %s GROUP BY parent_id HAVING count(*) = 5)",
             node);
    ck_assert_int_eq(ask(db, sql), 6); /* the root and its children have five each */
    snprintf(sql, sizeof sql, "SELECT count(*) %s AND end_kind = 'exit' AND end_status = 0", node);
    ck_assert_int_eq(ask(db, sql), 31);
    /* 4 allocations in the pool and 4 in each of 3 threads, in every process. */
    ck_assert_int_eq(ask(db,
                         "SELECT count(*) FROM (SELECT h.process_id FROM allocation AS a JOIN heap AS h USING (heap_id)"
                         " GROUP BY h.process_id HAVING count(*) = 16)"),
                     31);
    ck_assert_int_eq(ask(db, "SELECT is_complete AND events_dropped = 0 FROM input"), 1);
    sqlite3_close(db);
}

/* What a launcher starts beside its ranks: each leaves its row and its end, no thread and no ring. */
START_TEST(short_lived_shells_cost_a_row)
{
    sqlite3 *db = record("sh -c 'for i in $(seq 40); do sh -c \"exec true\"; (true); done; echo done'");

    ck_assert_int_ge(ask(db, "SELECT count(*) FROM process"), 1 + 2 * 40);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM thread"), 0);
    ck_assert_int_eq(ask(db, "SELECT is_complete AND events_seen <= (SELECT count(*) FROM process)"
                             " + (SELECT count(*) FROM memory_sample) FROM input"),
                     1);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM process WHERE end_kind = 'running'"), 0);
    sqlite3_close(db);
}
END_TEST

START_TEST(every_node_of_a_tree_is_recorded_once_below_its_parent)
{
    check_tree("");
    check_tree("--parallel");
}
END_TEST

/* ---- Ranks --------------------------------------------------------------------------------------------------------- */

/* Everything that launch_ranks' comment says of rank r, asked of its rows. */
static void check_ranks(sqlite3 *db, bool has_local_rank)
{
    char sql[512];

    ck_assert_int_eq(ask(db, "SELECT count(*) FROM process WHERE rank IS NOT NULL"), RANKS);
    ck_assert_int_eq(ask(db, "SELECT count(DISTINCT parent_id) FROM process WHERE rank IS NOT NULL"), 1);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM process WHERE world_size = 8 AND rank IS NOT NULL"), RANKS);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM process WHERE local_rank = rank"), has_local_rank ? RANKS : 0);
    for (int r = 0; r < RANKS; r++) {
        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM process JOIN device USING (process_id)"
                 " WHERE rank = %d AND ordinal = 0 AND physical_ordinal = %d",
                 r, RANKS - 1 - r);
        ck_assert_int_eq(ask(db, sql), 1);
        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM heap_total WHERE rank = %d AND device = %d AND level = 'driver' AND"
                 " allocation_count = %d AND free_count = %d AND outstanding_bytes = %d",
                 r, RANKS - 1 - r, ROUNDS, ROUNDS - 1, 1000 * (r + 1));
        ck_assert_msg(ask(db, sql) == 1, "rank %d: %s", r, sql);
    }
    /* They took turns, so allocation number n of all is rank n % 8's, and times do not go back. */
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM (SELECT p.rank, row_number() OVER (ORDER BY a.alloc_seq) - 1 AS n"
                             " FROM allocation AS a JOIN heap AS h USING (heap_id)"
                             " JOIN process AS p USING (process_id)) WHERE rank = n % 8"),
                     RANKS * ROUNDS);
    ck_assert_int_eq(ask(db,
                         "SELECT count(*) FROM (SELECT alloc_ns - lag(alloc_ns) OVER (ORDER BY alloc_seq) AS passed_ns"
                         " FROM allocation) WHERE passed_ns < 0"),
                     0);
}

/* ---- Views of ranks ------------------------------------------------------------------------------------------------ */

/* No row of any view has the device of another rank. */
static void check_no_row_is_mixed(sqlite3 *db)
{
    static const char views[] = "SELECT m.name FROM sqlite_master AS m WHERE m.type = 'view' AND 2 = (SELECT count(*)"
                                " FROM pragma_table_info(m.name) AS c WHERE c.name IN ('rank', 'device'))";
    char sql[256];
    sqlite3_stmt *row;
    int view_count = 0;

    ck_assert_msg(sqlite3_prepare_v2(db, views, -1, &row, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    for (; sqlite3_step(row) == SQLITE_ROW; view_count++) {
        const char *view = (const char *)sqlite3_column_text(row, 0);

        snprintf(sql, sizeof sql, "SELECT count(*) FROM \"%s\" WHERE device <> %d - rank", view, RANKS - 1);
        ck_assert_msg(ask(db, sql) == 0, "view %s: %s", view, sql);
    }
    sqlite3_finalize(row);
    ck_assert_int_gt(view_count, 20);
}

/* Each view has one row of that kind for each rank, with that rank's figures. Rank r holds all that it allocates, ROUNDS
 * blocks, until its last turn, and one of them for good. */
static void check_views(sqlite3 *db)
{
    static const struct {
        const char *view, *of_one, *peak_column, *rest_column;
    } rules[] = {
        {"peak", "level = 'driver' AND live_count = %d", "peak_bytes", NULL},
        {"peak_by_site", "level = 'driver' AND live_count = %d AND share_ratio = 1", "live_bytes", NULL},
        {"device_peak", "%d > 0", "peak_bytes", NULL},
        {"outstanding", "level = 'driver' AND %d > 0", NULL, "size_bytes"},
        {"outstanding_by_site", "allocation_count = 1 AND %d > 0", NULL, "size_bytes"},
        {"leak", "verdict = 'unreleased' AND %d > 0", NULL, "size_bytes"},
        {"leak_by_site", "leak_count = 1 AND %d > 0", NULL, "leak_bytes"},
    };
    char sql[512], one[128];

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        for (int r = 0; r < RANKS; r++) {
            const char *column = rules[i].peak_column != NULL ? rules[i].peak_column : rules[i].rest_column;
            int rest_bytes = 1000 * (r + 1), peak_bytes = ROUNDS * 1000 * (r + 1) + ROUNDS * (ROUNDS - 1) / 2;

            snprintf(one, sizeof one, rules[i].of_one, ROUNDS);
            snprintf(sql, sizeof sql, "SELECT count(*) FROM %s WHERE device = %d AND %s = %d AND %s", rules[i].view,
                     RANKS - 1 - r, column, rules[i].peak_column != NULL ? peak_bytes : rest_bytes, one);
            ck_assert_msg(ask(db, sql) == 1, "rank %d: %s", r, sql);
            snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", rules[i].view);
            ck_assert_msg(ask(db, sql) == RANKS, "%s has %lld rows", rules[i].view, ask(db, sql));
        }
    ck_assert_int_eq(
        ask(db, "SELECT count(*) FROM (SELECT rank FROM timeline WHERE level = 'driver' GROUP BY rank, device)"),
        RANKS);
}

START_TEST(eight_ranks_give_eight_devices_and_views_keep_them_apart)
{
    char command[256];
    sqlite3 *db;

    snprintf(command, sizeof command, "$P/launch_ranks --rounds %d --way exec", ROUNDS);
    db = record(command);
    ck_assert_int_eq(ask(db, "SELECT count(DISTINCT physical_ordinal) FROM device"), RANKS);
    check_no_row_is_mixed(db);
    check_views(db);
    sqlite3_close(db);
}
END_TEST

START_TEST(eight_ranks_stand_apart_however_they_are_started)
{
    static const char *const ways[] = {"fork", "exec", "vfork", "spawn"};

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (int is_late = 0; is_late < 2; is_late++) {
            char command[256];

            snprintf(command, sizeof command, "$P/launch_ranks --rounds %d --way %s %s", ROUNDS, ways[i],
                     is_late ? "--late" : "");
            sqlite3 *db = record(command);
            check_ranks(db, true);
            sqlite3_close(db);
        }
}
END_TEST

START_TEST(ranks_are_known_by_every_launchers_names)
{
    static const char *const names[] = {"torch", "mindspore", "openmpi", "mpich", "slurm"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char command[256];

        snprintf(command, sizeof command, "$P/launch_ranks --rounds %d --way exec --naming %s", ROUNDS, names[i]);
        sqlite3 *db = record(command);
        check_ranks(db, strcmp(names[i], "mindspore") != 0);
        sqlite3_close(db);
    }
}
END_TEST

#define STAGES 2

/* As it prints them, each process its own; nothing of those that say nothing, and nothing of one that was refused. */
START_TEST(communicators_are_told_by_their_descriptions)
{
    static const char *const ways[] = {"", "--linked"};

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char command[256];
        nm_run run;

        snprintf(command, sizeof command,
                 "sh -c 'for r in 0 1 2 3 4 5 6 7; do RANK=$r WORLD_SIZE=%d $P/communicators %d %s; done'", RANKS,
                 STAGES, ways[i]);
        sqlite3 *db = record(command);
        ck_assert_int_eq(ask(db, "SELECT count(*) FROM (SELECT process_id FROM z_process_environment"
                                 " WHERE source = 'hccl' GROUP BY process_id HAVING count(*) = 6)"),
                         RANKS);
        run = shell(
            "sqlite3 -separator '\t' t.db \"SELECT e.name, e.value FROM z_process_environment AS e JOIN process AS p"
            " USING (process_id) WHERE e.source = 'hccl' ORDER BY p.rank, e.entry_id\" > told;"
            " head -n -1 plain | cmp - told");
        ck_assert_msg(run.exit_code == 0, "%s%s", run_out(&run), run_err(&run));
        run_free(&run);
        /* Without a guard: two buffers of a communicator are HCCL's, as ever. */
        ck_assert_int_eq(ask(db, "SELECT count(*) FROM allocation JOIN heap USING (heap_id) WHERE name = 'HCCL'"),
                         RANKS * 8 * 2);
        ck_assert_int_eq(ask(db,
                             "SELECT sum(rank = 1 AND bytes = 300 << 20 AND count = 3 AND evidence LIKE"
                             " '%screen.uneven.group\",{\"name\":\"PIPELINE\\_MODEL%' ESCAPE '\\') = 1 AND count(*) = 1"
                             " FROM finding WHERE kind = 'uneven rank'"),
                         1);
        sqlite3_close(db);
    }
}
END_TEST

START_TEST(ranks_that_python_starts_are_recorded_once)
{
    static const char *const ways[] = {"spawn", "fork", "forkserver", "subprocess"};
    nm_run python = shell("python3 -c 'import ctypes, multiprocessing'");
    bool has_python = python.exit_code == 0;

    run_free(&python);
    for (size_t i = 0; has_python && i < sizeof ways / sizeof *ways; i++) {
        char command[256], sql[512];

        snprintf(command, sizeof command, "python3 $P/launch_ranks.py $A --way %s", ways[i]);
        sqlite3 *db = record(command);
        ck_assert_int_eq(ask(db, "SELECT count(*) FROM process WHERE rank IS NOT NULL"), 4);
        ck_assert_int_eq(ask(db, "SELECT count(DISTINCT parent_id) FROM process WHERE rank IS NOT NULL"), 1);
        for (int r = 0; r < 4; r++) {
            snprintf(sql, sizeof sql,
                     "SELECT count(*) FROM heap_total WHERE rank = %d AND device = %d AND level = 'driver' AND"
                     " allocation_count = 3 AND free_count = 1 AND outstanding_bytes = %d",
                     r, 3 - r, 2 * 2000 * (r + 1));
            ck_assert_msg(ask(db, sql) == 1, "%s, rank %d", ways[i], r);
        }
        sqlite3_close(db);
    }
}
END_TEST

/* ---- What is not seen ---------------------------------------------------------------------------------------------- */

START_TEST(a_program_that_does_not_load_the_recorder_is_said_not_to)
{
    nm_run run = shell("$R -o t.zst -- $S && $I t.zst");

    ck_assert_int_eq(run.exit_code, 3); /* whatever it did is missing */
    ck_assert_ptr_nonnull(strstr(run_err(&run), "no process loaded the recorder, t.zst"));
    ck_assert_ptr_nonnull(
        strstr(run_err(&run), "static_program is static, so that nothing can be loaded into it: link"));
    ck_assert_ptr_nonnull(strstr(run_out(&run), "no process loaded the recorder: nothing is known of what ran"));
    run_free(&run);
    sqlite3 *db;
    db = ask_open(shell_folder, "t.db");
    ck_assert_int_eq(ask(db, "SELECT processes_seen = 0 AND processes_left = 0 AND is_complete = 0 FROM input"), 1);
    sqlite3_close(db);
}
END_TEST

/* It runs for as long as ten looks of the recorder at which processes there are. */
START_TEST(a_program_that_loses_the_recorder_by_exec_is_counted)
{
    nm_run run = shell("$R -o t.zst -- env -i sleep 1");

    ck_assert_int_eq(run.exit_code, 0);
    ck_assert_ptr_nonnull(strstr(run_err(&run), " 1 became a program that does not load the recorder"));
    run_free(&run);
    sqlite3 *db = record("env -i sleep 1");
    ck_assert_int_eq(ask(db, "SELECT processes_seen = 1 AND processes_left = 1 FROM input"), 1);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM process WHERE end_kind = 'exec'"), 1);
    sqlite3_close(db);
    db = record("sh -c 'exec sh -c \"exec sleep 1\"'");
    ck_assert_int_eq(ask(db, "SELECT processes_seen >= 3 AND processes_left = 0 FROM input"), 1);
    sqlite3_close(db);
}
END_TEST

/* ---- Containers ---------------------------------------------------------------------------------------------------- */

/* A root that cannot be written but for the folder of the output, /dev/shm as Docker makes it, no capability and no new
 * privileges, process numbers of its own. */
static const char bare_container[] =
    "echo 'mount --bind . . && cd \"$PWD\" && mount -t tmpfs -o size=64m,noexec,nosuid,nodev none /dev/shm &&"
    " mount -o remount,bind,ro / && ! touch /touched 2>/dev/null || exit 77;"
    " exec setpriv --no-new-privs --bounding-set=-all \"$@\"' > inside.sh;"
    " inside() { unshare -r -m -p -f --mount-proc sh inside.sh \"$@\"; };";

START_TEST(a_container_without_privileges_is_recorded_like_a_host)
{
    nm_run able = shell("%s inside true", bare_container);
    bool is_able = able.exit_code == 0;

    run_free(&able);
    if (!is_able) {
        printf("skipped: a container may not be made here\n");
        return;
    }
    nm_run run =
        shell("%s $P/launch_ranks > plain; inside $R -q --required -o t.zst -- $P/launch_ranks > recorded; echo $?;"
              " cmp plain recorded; $I --quiet t.zst; sqlite3 t.db 'SELECT count(*), count(rank) FROM process';"
              " inside $R --best-effort --ring-dir /etc -o u.zst -- $P/launch_ranks > other; echo $?; cmp plain other; "
              "ls *.zst",
              bare_container);
    ck_assert_str_eq(run_out(&run), "0\n9|8\n0\nt.zst\n");
    ck_assert_ptr_nonnull(strstr(run_err(&run), "the program runs unrecorded"));
    run_free(&run);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("process_tree");
    TCase *tests = tcase_create("process_tree");

    tcase_add_checked_fixture(tests, shell_make_folder, shell_remove_folder);
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, short_lived_shells_cost_a_row);
    tcase_add_test(tests, every_node_of_a_tree_is_recorded_once_below_its_parent);
    tcase_add_test(tests, eight_ranks_give_eight_devices_and_views_keep_them_apart);
    tcase_add_test(tests, eight_ranks_stand_apart_however_they_are_started);
    tcase_add_test(tests, ranks_are_known_by_every_launchers_names);
    tcase_add_test(tests, ranks_that_python_starts_are_recorded_once);
    tcase_add_test(tests, communicators_are_told_by_their_descriptions);
    tcase_add_test(tests, a_program_that_does_not_load_the_recorder_is_said_not_to);
    tcase_add_test(tests, a_program_that_loses_the_recorder_by_exec_is_counted);
    tcase_add_test(tests, a_container_without_privileges_is_recorded_like_a_host);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(int argc, char **argv)
{
    if (!shell_variables(argc, argv, "RIPAS"))
        return 2;
    shell_before("export NPUMEM_CANN_DEVICES=8; ", 120);
    SRunner *runner = srunner_create(make_suite());
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
