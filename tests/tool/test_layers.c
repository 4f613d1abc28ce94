/* SPDX-License-Identifier: Apache-2.0
 *
 * Every layer that memory comes from, end to end: `layers` keeps its own books and prints what the devices themselves say;
 * it is recorded and the trace ingested; every line must be what the tables say, to the byte.
 *
 *     test_layers NPUMEM_RECORD NPUMEM_INGEST PROGRAM
 */
#include <check.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/ask.h"
#include "support/run.h"

#define ENVIRONMENT "NPUMEM_CANN_RUNTIME_MIB=33 HCCL_BUFFSIZE=63"
#define ALL_DEVICES ""
#define TURNED      "ASCEND_RT_VISIBLE_DEVICES=1,0" /* the driver's numbers are not the program's */
#define FIGURES     7
#define NAME_BYTES  64

static const char *recorder, *ingest, *program;
static char folder[64];

/* Runs the program plainly and recorded, which must be the same to see, and ingests the trace. */
static sqlite3 *record_and_ingest(const char *devices, const char *arguments)
{
    char command[1024];
    nm_run run;

    snprintf(command, sizeof command,
             "export " ENVIRONMENT " %s; %s %s >%s/plain && %s --force -o %s/t.zst -- %s %s >%s/books &&"
             " cmp %s/plain %s/books && %s --quiet --force -o %s/t.db %s/t.zst",
             devices, program, arguments, folder, recorder, folder, program, arguments, folder, folder, folder, ingest,
             folder, folder);
    run = run_shell(command, 120);
    ck_assert_msg(run.exit_code == 0, "%s%s", run_out(&run), run_err(&run));
    run_free(&run);
    return ask_open(folder, "t.db");
}

/* The figures of the answer's one row; ?1, ?2 and ?3 are `level`, `device` and `name`. */
static void ask_figures(sqlite3 *db, const char *sql, const char *level, int device, const char *name,
                        long long *figures, int figure_count)
{
    sqlite3_stmt *statement;

    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_bind_text(statement, 1, level, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int(statement, 2, device);
    sqlite3_bind_text(statement, 3, name, -1, SQLITE_TRANSIENT);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    for (int i = 0; i < figure_count; i++)
        figures[i] = sqlite3_column_int64(statement, i);
    sqlite3_finalize(statement);
}

/* ---- Lines of the books -------------------------------------------------------------------------------------------- */

/* Mapped ranges show physical memory that has a row of its own: they have no requested_bytes. */
#define ORDINAL "coalesce((SELECT ordinal FROM device WHERE device.device_id = z_heap_place.device_id), -1)"
#define HEAP_ROWS                                                                                                      \
    " FROM allocation JOIN z_heap_place USING (heap_id) WHERE level = ?1 AND " ORDINAL " = ?2 AND heap = ?3"           \
    " AND requested_bytes IS NOT NULL"

static void check_heap(sqlite3 *db, const char *line)
{
    static const char sql[] =
        "SELECT count(*), sum(requested_bytes), coalesce(sum(block_bytes), 0), sum(free_seq IS NULL),"
        " coalesce(sum(requested_bytes) FILTER (WHERE free_seq IS NULL), 0),"
        " coalesce(sum(block_bytes) FILTER (WHERE free_seq IS NULL), 0),"
        " (SELECT count(*) FROM failure JOIN z_heap_place USING (heap_id)"
        "  WHERE level = ?1 AND " ORDINAL " = ?2 AND heap = ?3)" HEAP_ROWS;
    char level[NAME_BYTES], name[NAME_BYTES];
    long long own[FIGURES], told[FIGURES];
    int device;

    ck_assert_int_eq(sscanf(line, "heap\t%63[^\t]\t%d\t%63[^\t]\t%lld\t%lld\t%lld\t%lld\t%lld\t%lld\t%lld", level,
                            &device, name, &own[0], &own[1], &own[2], &own[3], &own[4], &own[5], &own[6]),
                     10);
    ask_figures(db, sql, level, device, name, told, FIGURES);
    for (int i = 0; i < FIGURES; i++)
        ck_assert_msg(own[i] == told[i], "figure %d of %sis %lld", i, line, told[i]);
}

/* All that a device holds, as whole pages: what the driver gave by address, and what it gave by handle. What it maps in
 * CANN's own pool it tells nobody. */
#define DEVICE_ROWS                                                                                                    \
    "SELECT coalesce(sum(block_bytes), 0) FROM allocation JOIN z_heap_place USING (heap_id)"                           \
    " WHERE free_seq IS NULL AND " ORDINAL " = ?2 AND requested_bytes IS NOT NULL AND level IN ('driver', 'physical')"

static void check_used(sqlite3 *db, const char *line)
{
    long long own, pool, told;
    int device;

    ck_assert_int_eq(sscanf(line, "used\t%d\t%lld\t%lld", &device, &own, &pool), 3);
    ck_assert_int_eq(pool, 2 << 20);
    ask_figures(db, DEVICE_ROWS, "", device, "", &told, 1);
    ck_assert_int_eq(told + pool, own);
    /* And the samples of the program's own question, and of the hooks'. */
    ask_figures(db, "SELECT max(used_bytes) FROM memory_sample JOIN device USING (device_id) WHERE ordinal = ?2", "",
                device, "", &told, 1);
    ck_assert_int_eq(told, own);
}

/* The program's own module has heaps of several names. */
static void check_module(sqlite3 *db, const char *line)
{
    static const char own_heaps[] = " AND heap IN ('device memory', 'managed memory', 'physical memory', 'DVPP')";
    char sql[1024], name[NAME_BYTES];
    long long own, pool, told;
    int device;

    ck_assert_int_eq(sscanf(line, "module\t%d\t%63[^\t]\t%lld\t%lld", &device, name, &own, &pool), 4);
    snprintf(sql, sizeof sql, DEVICE_ROWS "%s", strcmp(name, "APP") == 0 ? own_heaps : " AND heap = ?3");
    if (strcmp(name, "MODULE_200") == 0)
        strcpy(name, "module 200");
    ask_figures(db, sql, "", device, name, &told, 1);
    ck_assert_msg(told + pool == own, "%sis %lld", line, told);
}

static void check_books(sqlite3 *db)
{
    char path[128], line[512];
    int line_count = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/books", folder);
    file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    for (; fgets(line, sizeof line, file) != NULL; line_count++) {
        if (strncmp(line, "heap", 4) == 0)
            check_heap(db, line);
        else if (strncmp(line, "used", 4) == 0)
            check_used(db, line);
        else
            check_module(db, line);
    }
    fclose(file);
    ck_assert_int_gt(line_count, 30);
}

/* ---- Tests --------------------------------------------------------------------------------------------------------- */

START_TEST(books_and_devices_say_what_the_tables_say)
{
    sqlite3 *db = record_and_ingest(ALL_DEVICES, "");

    check_books(db);
    ck_assert_int_eq(ask(db, "SELECT is_complete FROM input"), 1);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM misuse"), 0);
    /* CANN's own pools have no segments: what they hold is not known, and is not nothing. */
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM allocation JOIN z_heap_place USING (heap_id)"
                             " WHERE level = 'pool' AND segment_id IS NULL"),
                     2);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM peak WHERE level = 'pool' AND peak_reserved_bytes IS NULL"
                             " AND reserved_at_peak_bytes IS NULL AND peak_fragmentation_ratio IS NULL"),
                     2);
    ck_assert_int_eq(ask(db, "SELECT sum(bytes) FROM device_memory WHERE component = 'POOL' AND moment = 'end'"
                             " AND is_estimate = 1"),
                     2 * 100000);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM device_memory WHERE component = 'UNEXPLAINED' AND moment = 'end'"
                             " AND bytes = 2097152 - 100000"),
                     2);
    sqlite3_close(db);
}
END_TEST

START_TEST(devices_are_the_program_s_whatever_the_driver_calls_them)
{
    sqlite3 *db = record_and_ingest(TURNED, "");

    check_books(db);
    ck_assert_int_eq(ask(db, "SELECT physical_ordinal FROM device WHERE ordinal = 0"), 1);
    sqlite3_close(db);
}
END_TEST

/* The driver frees at a reset without a call that could be seen. */
START_TEST(a_reset_ends_what_every_module_held)
{
    sqlite3 *db = record_and_ingest(ALL_DEVICES, "reset");

    /* But for a message buffer of each round: that is the host's. */
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM allocation JOIN z_heap_place USING (heap_id)"
                             " WHERE free_seq IS NULL AND heap <> 'message buffers'"),
                     0);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM misuse"), 0);
    ck_assert_int_eq(ask(db, "SELECT count(DISTINCT heap) FROM allocation JOIN z_heap_place USING (heap_id)"
                             " JOIN end_kind USING (end_kind) WHERE end_kind.name = 'reset' AND level = 'driver'"),
                     7);
    sqlite3_close(db);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("layers");
    TCase *tests = tcase_create("layers");
    SRunner *runner;
    int failed_count;

    if (argc != 4)
        return 2;
    recorder = argv[1];
    ingest = argv[2];
    program = argv[3];
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, books_and_devices_say_what_the_tables_say);
    tcase_add_test(tests, devices_are_the_program_s_whatever_the_driver_calls_them);
    tcase_add_test(tests, a_reset_ends_what_every_module_held);
    suite_add_tcase(suite, tests);
    run_make_folder(folder);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed_count = srunner_ntests_failed(runner);
    srunner_free(runner);
    run_remove_folder(folder);
    return failed_count != 0;
}
