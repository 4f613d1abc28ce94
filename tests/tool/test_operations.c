/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators in two stages, loaded models and single operators, end to end: programs that keep their own books of what they
 * ran are recorded, however they find CANN's functions, and the tables must say the same.
 *
 *     test_operations NPUMEM_RECORD NPUMEM_INGEST FOLDER_OF_PROGRAMS
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/ask.h"
#include "support/run.h"

#define KIND_OPERATOR "1"
#define KIND_MODEL    "3"

static const char *recorder, *ingest, *programs;
static char folder[64];

/* Runs `program` (with its arguments) without and with the recorder. What is printed must be the same, but for the lines
 * that begin with `except`: whether a tool listens. */
static sqlite3 *record_and_ingest(const char *program, const char *except)
{
    char command[2048];
    sqlite3 *db;
    nm_run run;

    snprintf(command, sizeof command,
             "cd %s && %s/%s >plain && %s --force -o t.zst -- %s/%s >books"
             " && grep -v '^%s' plain >plain.same; grep -v '^%s' books >books.same; cmp plain.same books.same"
             " && %s --quiet --force -o t.db t.zst",
             folder, programs, program, recorder, programs, program, except, except, ingest);
    run = run_shell(command, 120);
    ck_assert_msg(run.exit_code == 0, "%s: %s%s", program, run_out(&run), run_err(&run));
    run_free(&run);
    db = ask_open(folder, "t.db");
    ck_assert_int_eq(ask_text(db, "SELECT is_complete FROM input", ""), 1);
    ck_assert_int_eq(ask_text(db, "SELECT count(*) FROM z_note", ""), 0);
    return db;
}

static FILE *open_books(void)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof path, "%s/books", folder);
    file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    return file;
}

/* Ranges begin before they end, and one inside another lies in it whole. */
static void check_ranges(sqlite3 *db)
{
    ck_assert_int_gt(ask_text(db, "SELECT count(*) FROM operation WHERE kind IN (1, 3)", ""), 0);
    ck_assert_int_eq(ask_text(db,
                              "SELECT count(*) FROM operation WHERE kind IN (1, 3) AND NOT coalesce(begin_seq < end_seq"
                              " AND begin_ns <= end_ns AND thread_id IS NOT NULL AND error_code IS NOT NULL, 0)",
                              ""),
                     0);
    ck_assert_int_eq(ask_text(db,
                              "SELECT count(*) FROM operation AS a JOIN operation AS b USING (thread_id)"
                              " WHERE a.kind IN (1, 3) AND b.kind IN (1, 3) AND a.begin_seq < b.begin_seq"
                              " AND b.begin_seq < a.end_seq AND b.end_seq > a.end_seq",
                              ""),
                     0);
}

/* ---- Operators in two stages --------------------------------------------------------------------------------------- */

/* What the tables say of a line `op.NAME.FIGURE`. */
static long long operator_figure(sqlite3 *db, const char *name, const char *figure)
{
    static const char *const questions[][2] = {
        {"count", "SELECT count(*) FROM operation WHERE kind = " KIND_OPERATOR " AND error_code = 0 AND name = ?1"},
        {"workspace_count", "SELECT count(*) FROM workspace JOIN operation USING (operation_id) WHERE name = ?1"},
        {"workspace_bytes",
         "SELECT sum(requested_bytes) FROM workspace JOIN operation USING (operation_id) WHERE name = ?1"},
        {"workspace_max_bytes",
         "SELECT max(requested_bytes) FROM workspace JOIN operation USING (operation_id) WHERE name = ?1"},
    };

    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        if (strcmp(questions[i][0], figure) == 0)
            return ask_text(db, questions[i][1], name);
    }
    ck_abort_msg("no question for %s", figure);
    return -1;
}

static void check_operator_books(sqlite3 *db)
{
    char line[256], name[64], figure[64];
    long long value, total = 0;
    int line_count = 0;
    FILE *file = open_books();

    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "op.%63[^.].%63s %lld", name, figure, &value) != 3)
            continue;
        ck_assert_msg(operator_figure(db, name, figure) == value, "%s: the tables say %lld", line,
                      operator_figure(db, name, figure));
        total += strcmp(figure, "count") == 0 ? value : 0;
        line_count++;
    }
    fclose(file);
    ck_assert_int_eq(line_count, 4 * 4);
    ck_assert_int_eq(ask_text(db, "SELECT count(*) FROM operation WHERE kind = " KIND_OPERATOR, ""), total);
}

/* With a task queue a thread of its own submits all of them; without, the program's main thread does. */
static void check_threads(sqlite3 *db, int queue_level)
{
    const char *sql = "SELECT count(*) FROM operation JOIN thread USING (thread_id)"
                      " JOIN process ON process.process_id = thread.process_id"
                      " WHERE kind = " KIND_OPERATOR " AND (tid = pid) <> CAST(?1 AS INTEGER)";

    ck_assert_int_eq(ask_text(db, sql, queue_level > 0 ? "0" : "1"), 0);
    ck_assert_int_eq(
        ask_text(db, "SELECT count(DISTINCT thread_id) FROM operation WHERE kind = " KIND_OPERATOR " AND stream <> 0",
                 ""),
        1);
}

START_TEST(operators_are_recorded_however_they_are_found)
{
    static const char *const loaders[] = {"handle", "default", "linked", "local", "deepbind"};
    char program[128];

    for (int i = 0; i < 2 * 5; i++) {
        bool is_linked = i >= 5;
        int queue_level = i % 3;
        sqlite3 *db;

        snprintf(program, sizeof program, "torch_like%s --loader %s --task-queue %d %s --steps 3",
                 is_linked ? "_linked" : "", loaders[i % 5], queue_level, i % 2 == 0 ? "" : "--expandable");
        db = record_and_ingest(program, "mstx\\.");
        check_ranges(db);
        check_operator_books(db);
        check_threads(db, queue_level);
        sqlite3_close(db);
    }
}
END_TEST

/* ---- Models and single operators ----------------------------------------------------------------------------------- */

static void check_model(sqlite3 *db, const char *line)
{
    long long runs, on_stream, errors;
    char name[128];

    ck_assert_int_eq(sscanf(line, "model\t%127[^\t]\t%lld\t%lld\t%lld", name, &runs, &on_stream, &errors), 4);
    ck_assert_int_eq(ask_text(db, "SELECT count(*) FROM operation WHERE kind = " KIND_MODEL " AND name = ?1", name),
                     runs);
    ck_assert_int_eq(
        ask_text(db, "SELECT count(stream) FROM operation WHERE kind = " KIND_MODEL " AND name = ?1", name), on_stream);
    ck_assert_int_eq(
        ask_text(db, "SELECT sum(error_code = 100000) FROM operation WHERE kind = " KIND_MODEL " AND name = ?1", name),
        errors);
    ck_assert_int_eq(
        ask_text(db, "SELECT sum(error_code = 0) FROM operation WHERE kind = " KIND_MODEL " AND name = ?1", name),
        runs - errors);
    /* The load says the number that its runs have. (Of a bundle it is another.) */
    ck_assert_int_eq(ask_text(db,
                              "SELECT count(DISTINCT model_id) FROM operation"
                              " WHERE name = ?1 AND (kind = 3 OR kind = 6 AND model_id > 0)",
                              name),
                     1);
    ck_assert_int_eq(ask_text(db,
                              "SELECT count(*) FROM operation WHERE kind = " KIND_MODEL " AND name = ?1"
                              " AND (model_id IS NULL OR (name LIKE 'model %' AND name <> 'model ' || model_id))",
                              name),
                     0);
}

static void check_single_operator(sqlite3 *db, const char *line)
{
    long long runs, errors, workspaces, bytes;
    char type[128];

    ck_assert_int_eq(
        sscanf(line, "operator\t%127[^\t]\t%lld\t%lld\t%lld\t%lld", type, &runs, &errors, &workspaces, &bytes), 5);
    ck_assert_int_eq(
        ask_text(db, "SELECT count(stream) FROM operation WHERE kind = " KIND_OPERATOR " AND name = ?1", type), runs);
    ck_assert_int_eq(ask_text(db, "SELECT count(*) FROM operation WHERE name = ?1 AND error_code = 100000", type),
                     errors);
    ck_assert_int_eq(
        ask_text(db, "SELECT count(*) FROM allocation JOIN operation USING (operation_id) WHERE name = ?1", type),
        workspaces);
    ck_assert_int_eq(
        ask_text(db, "SELECT sum(size_bytes) FROM allocation JOIN operation USING (operation_id) WHERE name = ?1",
                 type),
        bytes);
}

static void check_model_books(sqlite3 *db)
{
    int model_count = 0, operator_count = 0;
    char line[256];
    FILE *file = open_books();

    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "model\t", 6) == 0) {
            check_model(db, line);
            model_count++;
        } else if (strncmp(line, "operator\t", 9) == 0) {
            check_single_operator(db, line);
            operator_count++;
        } else if (strncmp(line, "driver\t", 7) == 0) {
            ck_assert_int_eq(ask_text(db, "SELECT allocation_count FROM heap_total WHERE heap = 'device memory'", ""),
                             atoll(line + 8));
        }
    }
    fclose(file);
    ck_assert_int_eq(model_count, 9);
    ck_assert_int_eq(operator_count, 4);
    ck_assert_int_eq(ask_text(db, "SELECT count(DISTINCT name) FROM operation WHERE kind IN (1, 3)", ""), 9 + 4);
    ck_assert_int_eq(ask_text(db, "SELECT count(DISTINCT thread_id) FROM operation WHERE kind IN (1, 3)", ""), 3);
}

START_TEST(models_and_single_operators_are_recorded)
{
    static const char *const calls[] = {"models . 1", "models . 5 open"};

    for (size_t i = 0; i < 2; i++) {
        sqlite3 *db = record_and_ingest(calls[i], "nothing");

        check_ranges(db);
        check_model_books(db);
        /* What the engine took for weights and workspace of two of the first four models, where the other two got the
         * program's, of two with queues, and of three bundles of two. */
        ck_assert_int_eq(ask_text(db, "SELECT allocation_count FROM heap_total WHERE heap = 'GE'", ""), 4 + 4 + 12);
        ck_assert_int_eq(ask_text(db, "SELECT allocated_bytes FROM heap_total WHERE heap = 'GE'", ""),
                         2 * 7500000 + 5 * 450000);
        sqlite3_close(db);
    }
}
END_TEST

/* ---- Loads of models ----------------------------------------------------------------------------------------------- */

/* The line's eight figures, as the view has them of the model in its process. */
static void check_memory(sqlite3 *db, const char *line)
{
    static const char *const columns[] = {"load_count",      "unload_count", "run_count",   "allocation_count",
                                          "allocated_bytes", "load_bytes",   "freed_bytes", "unload_freed_bytes"};
    char role[16], name[64], sql[512];
    long long figures[8], held;

    ck_assert_int_eq(sscanf(line, "memory\t%15[^\t]\t%63[^\t]\t%lld\t%lld\t%lld\t%lld\t%lld\t%lld\t%lld\t%lld", role,
                            name, &figures[0], &figures[1], &figures[2], &figures[3], &figures[4], &figures[5],
                            &figures[6], &figures[7]),
                     10);
    for (int i = 0; i < 9; i++) {
        snprintf(sql, sizeof sql,
                 "SELECT CASE count(*) WHEN 1 THEN %s ELSE -1 END FROM model_memory AS m JOIN process AS p USING (pid)"
                 " WHERE m.heap = 'GE' AND m.level = 'driver' AND m.model = ?1 AND (p.parent_id IS NOT NULL) = %d",
                 i < 8 ? columns[i] : "held_bytes", strcmp(role, "child") == 0);
        held = ask_text(db, sql, name);
        ck_assert_msg(held == (i < 8 ? figures[i] : figures[4] - figures[6]), "%s: figure %d is %lld", line, i, held);
    }
}

/* All that the engine took is a model's, and none of it is in two rows. */
START_TEST(what_a_model_takes_is_its_own_from_load_to_unload)
{
    sqlite3 *db = record_and_ingest("model_loads .", "nothing");
    FILE *file = open_books();
    int line_count = 0;
    char line[256];

    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "memory\t", 7) != 0)
            continue;
        check_memory(db, line);
        line_count++;
    }
    fclose(file);
    ck_assert_int_eq(line_count, 2 * 8);
    ck_assert_int_eq(ask_text(db, "SELECT count(*) FROM model_memory", ""), line_count);
    ck_assert_int_eq(ask_text(db, "SELECT sum(allocated_bytes) FROM model_memory", ""),
                     ask_text(db, "SELECT sum(allocated_bytes) FROM heap_total WHERE heap = 'GE'", ""));
    ck_assert_int_eq(ask_text(db, "SELECT max(peak_over_start_bytes) FROM model_memory WHERE model = 'twice.om'", ""),
                     300000 + 150000);
    /* Of each process: of what was refused six loads say no model and two unloads an error, as does the load for which
     * memory was short; of what was not, every load of a model says which. (To unload a bundle the engine unloads its
     * models by the same call.) */
    ck_assert_int_eq(ask_text(db, "SELECT count(*) FROM operation WHERE kind = 6 AND error_code <> 0", ""), 2 * 7);
    ck_assert_int_eq(ask_text(db, "SELECT count(*) FROM operation WHERE kind = 7 AND error_code <> 0", ""), 2 * 2);
    ck_assert_int_eq(ask_text(db,
                              "SELECT count(*) FROM operation WHERE kind = 6 AND error_code = 0"
                              " AND model_id IS NULL AND name <> 'bundle.om'",
                              ""),
                     0);
    ck_assert_int_eq(ask_text(db,
                              "SELECT count(*) FROM operation AS u WHERE kind = 7 AND error_code = 0 AND model_id > 0"
                              " AND parent_id IS NULL"
                              " AND NOT EXISTS (SELECT 1 FROM operation AS l WHERE l.kind = 6"
                              " AND l.process_id = u.process_id AND l.model_id = u.model_id AND l.name = u.name"
                              " AND l.end_seq < u.begin_seq)",
                              ""),
                     0);
    sqlite3_close(db);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("operations");
    TCase *tests = tcase_create("operations");
    SRunner *runner;
    int failed_count;

    if (argc != 4)
        return 2;
    recorder = argv[1];
    ingest = argv[2];
    programs = argv[3];
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, operators_are_recorded_however_they_are_found);
    tcase_add_test(tests, models_and_single_operators_are_recorded);
    tcase_add_test(tests, what_a_model_takes_is_its_own_from_load_to_unload);
    suite_add_tcase(suite, tests);
    run_make_folder(folder);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed_count = srunner_ntests_failed(runner);
    srunner_free(runner);
    run_remove_folder(folder);
    return failed_count != 0;
}
