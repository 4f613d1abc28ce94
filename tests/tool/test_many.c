/* SPDX-License-Identifier: Apache-2.0
 *
 * Several inputs in one database. Every view must show of them what it shows of each alone: the rows of a view over the
 * merged database are those over the databases of the inputs, all together, once the numbers of rows are moved by what
 * the inputs before have. That is asked of all views there are, over the traces of all cases of tests/sql and over 64
 * ranks of one job.
 *
 *     test_many NPUMEM_INGEST TEXT2TRACE CASES_DIR    as $I $T $C in lines of shell
 */
#include <check.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/ask.h"
#include "support/shell.h"

#define RANK_COUNT 64

/* Views and columns that are of several inputs at once, by what they are for; and the rows that allocation_detail has in words. */
static const char *const combining_views[] = {"catalog", "rank_imbalance", "allocation", NULL};
static const struct {
    const char *view, *column;
} combining_columns[] = {{"z_rank_summary", "process_count"},
                         {"z_rank_summary", "job"},
                         {"z_rank_summary", "failure_order"},
                         {"z_rank_summary", "since_first_ns"},
                         {"z_rank_summary", "clock_uncertainty_ns"}};

/* Columns of views that number rows and are not named after the key of their table. */
static const struct {
    const char *column, *key;
} other_names[] = {{"site_key", "frame_id"},
                   {"hardware_id", "device_id"},
                   {"out_of_memory_id", "out_of_memory_chain_id"},
                   {"segment_id", "allocation_id"}};

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static void expect(const char *line, int exit_code, const char *error_part)
{
    nm_run run = shell_line(line);

    ck_assert_msg(run.exit_code == exit_code, "%s: exit %d, %s%s", line, run.exit_code, run_out(&run), run_err(&run));
    ck_assert_msg(strstr(run_err(&run), error_part) != NULL, "%s: %s", line, run_err(&run));
    run_free(&run);
}

/* ---- Comparing --------------------------------------------------------------------------------------------------- */

static void exec(sqlite3 *db, const char *sql)
{
    char *message = NULL;

    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK, "%.2000s: %s", sql, message);
}

static void exec_owned(sqlite3 *db, char *sql)
{
    ck_assert_ptr_nonnull(sql);
    exec(db, sql);
    sqlite3_free(sql);
}

/* Every text that a statement answers with is run as a statement itself. */
static void exec_each(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *rows = NULL;

    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &rows, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    while (sqlite3_step(rows) == SQLITE_ROW)
        exec(db, (const char *)sqlite3_column_text(rows, 0));
    sqlite3_finalize(rows);
}

static bool is_combining(const char *view)
{
    for (size_t i = 0; combining_views[i] != NULL; i++)
        if (strcmp(combining_views[i], view) == 0)
            return true;
    return false;
}

static bool is_combining_column(const char *view, const char *column)
{
    for (size_t i = 0; i < sizeof combining_columns / sizeof combining_columns[0]; i++)
        if (strcmp(combining_columns[i].view, view) == 0 && strcmp(combining_columns[i].column, column) == 0)
            return true;
    return false;
}

/* What a column of a view is moved by: the largest number so far of the rows of the table whose key it is, or ends with. */
static long long move_of(sqlite3 *db, const char *view, const char *column)
{
    static const char sql[] = "SELECT by FROM move WHERE ?1 = key OR ?1 LIKE '%\\_' || key ESCAPE '\\'"
                              " ORDER BY ?1 = key DESC, name || '_id' = key DESC, length(key) DESC LIMIT 1";
    const char *key = column;
    size_t len = strlen(column);
    sqlite3_stmt *row = NULL;
    long long by;

    for (size_t i = 0; i < sizeof other_names / sizeof other_names[0]; i++)
        if (strcmp(column, other_names[i].column) == 0)
            key = other_names[i].key;
    if (key == column && (len < 3 || strcmp(column + len - 3, "_id") != 0))
        return 0;
    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
    sqlite3_bind_text(row, 1, key, -1, SQLITE_STATIC);
    ck_assert_msg(sqlite3_step(row) == SQLITE_ROW, "%s.%s: which table's rows does it number?", view, column);
    by = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    return by;
}

/* Adds the rows of a view of `schema`, as one text each, to the sum of rows. */
static void add_rows(sqlite3 *db, const char *schema, const char *view, int sign)
{
    sqlite3_stmt *columns = NULL;
    sqlite3_str *sql = sqlite3_str_new(db);

    sqlite3_str_appendf(sql, "INSERT INTO row_sum SELECT %Q, %d, %Q", view, sign, "");
    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT name FROM pragma_table_info(?1, 'merged')", -1, &columns, NULL),
                     SQLITE_OK);
    sqlite3_bind_text(columns, 1, view, -1, SQLITE_STATIC);
    while (sqlite3_step(columns) == SQLITE_ROW) {
        const char *column = (const char *)sqlite3_column_text(columns, 0);
        long long move = sign > 0 ? 0 : move_of(db, view, column);

        if (is_combining_column(view, column))
            continue;
        if (move == 0)
            sqlite3_str_appendf(sql, " || '|' || quote(\"%w\")", column);
        else
            sqlite3_str_appendf(sql, " || '|' || quote(CASE WHEN \"%w\" > 0 THEN \"%w\" + %lld ELSE \"%w\" END)",
                                column, column, move, column);
    }
    sqlite3_finalize(columns);
    sqlite3_str_appendf(sql, " FROM %s.\"%w\"", schema, view);
    exec_owned(db, sqlite3_str_finish(sql));
}

static void add_all_views(sqlite3 *db, const char *schema, int sign)
{
    sqlite3_stmt *views = NULL;

    ck_assert_int_eq(
        sqlite3_prepare_v2(db, "SELECT name FROM merged.sqlite_master WHERE type = 'view'", -1, &views, NULL),
        SQLITE_OK);
    while (sqlite3_step(views) == SQLITE_ROW)
        if (!is_combining((const char *)sqlite3_column_text(views, 0)))
            add_rows(db, schema, (const char *)sqlite3_column_text(views, 0), sign);
    sqlite3_finalize(views);
}

/* Every table whose rows have numbers, and the largest of them in the inputs so far. */
static const char moves_sql[] =
    "CREATE TABLE move (name TEXT PRIMARY KEY, key TEXT, by INTEGER);"
    "INSERT INTO move SELECT m.name, c.name, 0 FROM merged.sqlite_master AS m JOIN "
    "pragma_table_info(m.name, 'merged') AS c"
    " WHERE m.type = 'table' AND c.pk = 1 AND c.type = 'INTEGER' AND c.name NOT IN"
    " (SELECT f.\"from\" FROM pragma_foreign_key_list(m.name, 'merged') AS f) AND m.name <> 'z_cann_module'";

static void compare(const char *merged, int input_count, int view_count)
{
    char path[128];
    sqlite3 *db = NULL;

    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    exec_owned(db, sqlite3_mprintf("ATTACH '%s/%s' AS merged", shell_folder, merged));
    exec(db, "CREATE TABLE row_sum (view, sign, text)");
    exec(db, moves_sql);
    add_all_views(db, "merged", 1);
    for (int i = 1; i <= input_count; i++) {
        snprintf(path, sizeof path, "ATTACH '%s/%03d.db' AS one", shell_folder, i);
        exec(db, path);
        add_all_views(db, "one", -1);
        exec_each(db, "SELECT printf('UPDATE move SET by = by + coalesce((SELECT max(%s) FROM one.%s), 0) WHERE name = "
                      "''%s''', key, name, name) FROM move");
        exec(db, "DETACH one");
    }
    sqlite3_stmt *row = NULL;
    ck_assert_int_eq(sqlite3_prepare_v2(db,
                                        "SELECT view, sum(sign), text FROM row_sum GROUP BY view, text HAVING sum(sign)"
                                        " <> 0 ORDER BY view LIMIT 1",
                                        -1, &row, NULL),
                     SQLITE_OK);
    if (sqlite3_step(row) == SQLITE_ROW)
        ck_abort_msg("view %s: %d time(s) too often over all inputs: %s", sqlite3_column_text(row, 0),
                     sqlite3_column_int(row, 1), sqlite3_column_text(row, 2));
    sqlite3_finalize(row);
    ck_assert_int_ge(ask(db, "SELECT count(DISTINCT view) FROM row_sum"), view_count);
    sqlite3_close(db);
}

/* All rows of all tables. */
static void expect_same_tables(const char *one, const char *other)
{
    sqlite3 *db = NULL;

    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    exec_owned(
        db, sqlite3_mprintf("ATTACH '%s/%s' AS one; ATTACH '%s/%s' AS other", shell_folder, one, shell_folder, other));
    exec(db, "CREATE TABLE differing (name, count)");
    exec_each(db,
              "SELECT printf('INSERT INTO differing SELECT ''%s'', count(*) FROM (SELECT * FROM one.%s EXCEPT SELECT * "
              "FROM other.%s); INSERT INTO differing SELECT ''%s'', (SELECT count(*) FROM one.%s) - (SELECT count(*) "
              "FROM other.%s)', name, name, name, name, name, name) FROM one.sqlite_master WHERE type = 'table'");
    ck_assert_int_ge(ask(db, "SELECT count(*) FROM differing"), 80);
    ck_assert_int_eq(ask(db, "SELECT coalesce(sum(abs(count)), 0) FROM differing"), 0);
    sqlite3_close(db);
}

/* The two views of ranks against slow sums: the components of device_memory, and what table allocation says was live at
 * each heap's peak. */
static void check_ranks(const char *name)
{
    sqlite3 *db = NULL;
    char path[128];

    snprintf(path, sizeof path, "%s/%s", shell_folder, name);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_gt(ask(db, "SELECT count(*) FROM z_rank_summary WHERE is_estimate = 0"), 0);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM z_rank_summary WHERE is_estimate = 0 AND peak_bytes <> pool_bytes + "
                             "workspace_bytes + program_bytes + module_bytes + physical_bytes + rounding_bytes"),
                     0);
    ck_assert_int_eq(
        ask(db,
            "SELECT count(*) FROM z_rank_summary AS p LEFT JOIN (SELECT m.rank, m.pid, m.host, m.device, m.ns, "
            "sum(m.bytes) AS bytes FROM device_memory AS m WHERE m.moment_kind = 'device peak' AND m.component NOT IN "
            "('RECORDED PROCESSES', 'OTHER PROCESSES', 'UNEXPLAINED', 'DEVICE USED') GROUP BY m.moment_id, m.rank, "
            "m.pid) AS c ON c.rank IS p.rank AND c.pid IS p.pid AND c.host IS p.host AND c.device IS p.device AND "
            "c.bytes = p.peak_bytes WHERE p.is_estimate = 0 AND c.bytes IS NULL"),
        0);
    exec(db,
         "CREATE TEMP TABLE live AS SELECT p.heap, p.level, p.input_id, p.rank, coalesce(f.label, '(no stack)') AS "
         "site, sum(a.size_bytes) AS bytes FROM allocation AS a JOIN z_heap_place AS p ON p.heap_id = a.heap_id"
         " JOIN z_heap_sum AS h ON h.heap_id = a.heap_id LEFT JOIN stack AS s ON s.stack_id = a.stack_id"
         " LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id WHERE p.rank IS NOT NULL AND a.alloc_seq <= h.peak_seq"
         " AND (a.free_seq IS NULL OR a.free_seq > h.peak_seq) GROUP BY 1, 2, 3, 4, 5");
    exec(db,
         "CREATE TEMP TABLE member AS SELECT DISTINCT heap, level, input_id, rank FROM z_heap_place WHERE rank IS NOT "
         "NULL");
    exec(db,
         "CREATE TEMP TABLE slow AS SELECT m.heap, m.level, s.site, max(coalesce(l.bytes, 0)) AS most, "
         "min(coalesce(l.bytes, 0)) AS least, sum(coalesce(l.bytes, 0)) / count(*) AS mean, sum(l.bytes IS NULL) AS "
         "absent FROM member AS m JOIN (SELECT DISTINCT heap, level, site FROM live) AS s ON s.heap IS m.heap AND "
         "s.level IS m.level LEFT JOIN live AS l ON l.heap IS m.heap AND l.level IS m.level AND l.site = s.site AND "
         "l.rank = m.rank AND l.input_id = m.input_id GROUP BY 1, 2, 3 HAVING count(*) > 1");
    ck_assert_int_gt(ask(db, "SELECT count(*) FROM slow"), 0);
    ck_assert_int_eq(
        ask(db,
            "SELECT (SELECT count(*) FROM slow) - (SELECT count(*) FROM rank_imbalance AS v JOIN slow AS s ON s.heap "
            "IS v.heap AND s.level IS v.level AND s.site = v.site AND s.most = v.max_bytes AND s.least = v.min_bytes "
            "AND s.mean = v.mean_bytes AND s.absent = v.absent_count)"),
        0);
    sqlite3_close(db);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

START_TEST(every_view_keeps_the_traces_of_all_cases_apart)
{
    expect("n=0; for t in $C/*/trace.txt $C/*/base.txt; do n=$((n + 1)); (cat $t; echo \"# $n\") >text; $T text "
           "$(printf %03d $n).zst || exit 9; done",
           0, "");
    expect("for f in *.zst; do $I --quiet $f || exit 9; done", 0, "");
    expect("$I --quiet *.zst -o all.db", 0, "");
    nm_run run = shell_line("ls [0-9]*.zst | wc -l");
    int count = (int)strtol(run_out(&run), NULL, 10);
    run_free(&run);
    ck_assert_int_ge(count, 10);
    compare("all.db", count, 25);
}
END_TEST

/* 64 ranks of a job on 8 hosts, each a little different. */
static void make_ranks(void)
{
    expect(
        "for r in $(seq 0 63); do (sed -e \"s/rank=0/rank=$r/; s/pid=100/pid=$((100 + r / 8))/; s/host=h1/host=n$((r / "
        "8))/; s/physical=2/physical=$((r % 8))/\" $C/leak/trace.txt | grep -v process_end;"
        " for n in $(seq 0 $((r % 5))); do echo \"@$((300 + n)) alloc heap=2 address=0x$((30000 + n)) requested=$((r + "
        "1)) block=512 thread=1 stack=3\"; done) >text; $T text $(printf %03d $((r + 1))).zst || exit 9; done",
        0, "");
    expect("for f in *.zst; do $I --quiet $f || exit 9; done", 0, "");
}

START_TEST(every_view_keeps_64_ranks_apart)
{
    make_ranks();
    expect("$I --quiet *.zst -o all.db", 0, "");
    compare("all.db", RANK_COUNT, 20);

    check_ranks("all.db");

    /* Databases merge to what their traces merge to. */
    expect("$I --quiet 0[0-2]?.zst -o x.db && $I --quiet 0[3-6]?.db -o y.db && $I --quiet x.db y.db -o z.db", 0, "");
    expect_same_tables("all.db", "z.db");

    /* The summary and the CSV files are of all inputs. */
    expect("$I 00?.zst 06?.db -o s.db --csv out >text; grep -q '^s.db  *14 inputs, .*14 processes, ' text", 0, "");
    expect("test $(cut -d, -f2 out/peak.csv | sort -u | wc -l) = 15", 0, "");
}
END_TEST

START_TEST(parts_of_a_recording_are_one_input)
{
    expect("$T $C/leak/trace.txt one.zst 3 && $T $C/peak_by_site/trace.txt two.zst 3 && mkdir parts && "
           "cp one.zst two.zst parts && $I --quiet parts two.zst -o x.db",
           0, "");
    expect(
        "test \"$(sqlite3 x.db 'SELECT count(*), min(path), max(path) FROM input')\" = '2|parts/one.zst|parts/two.zst'",
        0, "");
    expect("$I one.zst two.zst", 2, "2 inputs (one.zst, two.zst, ...) need -o FILE.db");
    expect("$I parts", 2, "need -o FILE.db");
    expect("test ! -e one.db", 0, "");
}
END_TEST

START_TEST(no_input_is_overwritten)
{
    expect("$T $C/leak/trace.txt one.zst && $I --quiet one.zst && cp one.db copy.db", 0, "");
    expect("$I one.db -o one.db --force", 2, "one.db: is the input itself");
    expect("$I one.zst copy.db -o copy.db --force", 2, "copy.db: is the input itself");
    expect("$I one.db", 0, "");
    expect("$I one.zst copy.db -o one.db", 1, "already there");
    expect("cmp one.db copy.db && test $(ls | wc -l) = 3", 0, "");
}
END_TEST

/* What is no database of this program, or not of this version, or altered by hand. */
START_TEST(a_database_is_not_believed)
{
    static const struct {
        const char *alter, *error;
    } lies[] = {
        {"PRAGMA application_id = 7", "not a database of npumem-ingest"},
        {"PRAGMA user_version = 1", "has schema version 1, this program"},
        {"ALTER TABLE step ADD COLUMN more", "its table step is not the same"},
        {"DROP TABLE usage", "its table usage is not the same"},
        {"UPDATE heap_level SET name = 'x' WHERE level = 1", "its table heap_level has other words"},
        {"UPDATE z_allocation SET heap_id = 99 WHERE allocation_id = 1",
         "z_allocation.heap_id names rows that are not there"},
        {"UPDATE z_allocation SET thread_id = -1 WHERE allocation_id = 1", "z_allocation.thread_id names rows"},
        {"UPDATE stack SET frame_id = 'x' WHERE stack_id = 1", "stack.frame_id names rows"},
        {"UPDATE process SET process_id = 1 << 60", "table process has a row of number"},
        {"DELETE FROM input", "has no input"},
    };

    expect("$T $C/leak/trace.txt one.zst && $I --quiet one.zst && mkdir kept", 0, "");
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        char line[512];

        snprintf(line, sizeof line,
                 "cp one.db bad.db && sqlite3 bad.db \"%s\" >kept/x && $I one.zst bad.db -o kept/x.db", lies[i].alter);
        expect(line, 1, lies[i].error);
        expect("$I bad.db bad.db -o kept/x.db", 1, "npumem-ingest: bad.db: ");
        expect("test $(ls kept) = x", 0, "");
    }
    expect("sqlite3 other.db 'CREATE TABLE t (a)' && $I other.db -o kept/x.db", 1, "not a database of npumem-ingest");
}
END_TEST

/* As profilers leave theirs, and as a user may: in the journal mode of which a reader needs locks. */
START_TEST(a_database_with_a_log_is_read)
{
    expect("sqlite3 waiting.db 'PRAGMA journal_mode = WAL; CREATE TABLE t (a)' && $I waiting.db -o x.db", 1,
           "not a database of npumem-ingest");
    expect("$T $C/leak/trace.txt one.zst 3 && $I --quiet one.zst -o log.db && "
           "sqlite3 log.db 'PRAGMA journal_mode = WAL' && $T $C/peak_by_site/trace.txt two.zst 3 &&"
           " $I --quiet log.db two.zst -o many.db",
           0, "");
    expect("test $(sqlite3 many.db 'SELECT count(*) FROM input') = 2", 0, "");
}
END_TEST

/* Cut anywhere, or with a byte altered anywhere: an error of one line, or a database; never another end. */
START_TEST(a_damaged_database_is_an_error)
{
    nm_run run;

    expect("$T $C/leak/trace.txt one.zst && $I --quiet one.zst && mkdir kept", 0, "");
    run = shell_line(
        "s=$(stat -c %s one.db); for n in $(seq 1 40); do"
        " head -c $((s * n / 41)) one.db >bad.db; $I --quiet bad.db -o kept/x.db 2>err && exit 9;"
        " test $(wc -l <err) = 1 || exit 8; test -z \"$(ls kept)\" || exit 7;"
        " cp one.db bad.db; printf '\\377' | dd of=bad.db bs=1 seek=$((s * n / 41 + n * 37)) conv=notrunc 2>err;"
        " $I --quiet --force bad.db -o kept/x.db 2>err; c=$?; test $c -le 1 || grep -q -e --site-rules err || exit "
        "$((100 + c));"
        " test $c = 0 || test $(wc -l <err) = 1 || exit 6; rm -f kept/x.db; done");
    ck_assert_msg(run.exit_code == 0, "exit %d: %s", run.exit_code, run_err(&run));
    run_free(&run);
}
END_TEST

START_TEST(an_input_that_fails_leaves_nothing)
{
    expect("$T $C/leak/trace.txt one.zst && echo nothing >text && mkdir kept", 0, "");
    expect("$I one.zst text -o kept/x.db", 1, "npumem-ingest: text: ");
    expect("$I one.zst missing.zst -o kept/x.db", 1, "npumem-ingest: missing.zst: ");
    expect("test -z \"$(ls kept)\"", 0, "");
}
END_TEST

/* The first one's rules are everybody's; the others must have been judged by them. */
START_TEST(databases_of_other_site_rules_are_not_put_together)
{
    expect("$T $C/leak/trace.txt rules.zst && echo 'function collate' >rules && mkdir ruled", 0, "");
    expect("$I --quiet --site-rules rules rules.zst -o ruled/a.db && $I --quiet rules.zst -o ruled/b.db", 0, "");
    expect("$I --quiet --site-rules rules rules.zst -o ruled/e.db && $I --quiet ruled/a.db ruled/e.db -o ruled/c.db", 0,
           "");
    expect("$I --quiet ruled/a.db ruled/b.db -o ruled/x.db", 2, "ruled/b.db: its sites are judged by other rules");
    expect("$I --quiet ruled/b.db ruled/a.db -o ruled/x.db", 2, "ruled/a.db: its sites are judged by other rules");
    expect("$I --quiet --site-rules rules ruled/b.db -o ruled/x.db", 2,
           "ruled/b.db: its sites are judged by other rules");
    expect("$I --quiet --site-rules rules ruled/a.db rules.zst -o ruled/d.db", 0, "");
    expect(
        "$I --quiet --threshold fragmentation=1GiB rules.zst -o ruled/f.db && $I ruled/f.db ruled/b.db -o ruled/x.db",
        2, "ruled/f.db: is judged by other floors than what it is joined with: load all with the same --threshold");
}
END_TEST

START_TEST(a_rank_may_stand_in_the_name)
{
    static const struct {
        const char *name, *rank;
    } names[] = {{"rank7.zst", "7"},       {"a_rank_12.zst", "12"},  {"Rank-3.of-8.zst", "3"},
                 {"rank.5.zst", "5"},      {"rank.zst", ""},         {"rank/x.zst", ""},
                 {"rank1/rank2.zst", "2"}, {"rank1-rank4.zst", "4"}, {"rank20261121080000.zst", ""},
                 {"drank.zst", ""}};

    expect("sed 's/rank=0//' $C/leak/trace.txt >none.txt && $T none.txt none.zst && mkdir rank rank1", 0, "");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char line[256];

        snprintf(line, sizeof line,
                 "cp none.zst %s && $I --quiet --force %s -o x.db && test \"$(sqlite3 x.db 'SELECT rank FROM "
                 "process')\" = '%s'",
                 names[i].name, names[i].name, names[i].rank);
        expect(line, 0, "");
    }
    /* What a process says itself counts. */
    expect("$T $C/leak/trace.txt rank9.zst && $I --quiet --force rank9.zst -o x.db &&"
           " test \"$(sqlite3 x.db 'SELECT rank FROM process')\" = 0",
           0, "");
    expect("echo '#' >>none.txt && $T none.txt more.zst && $I none.zst more.zst -o y.db >text", 0,
           "y.db: 2 inputs have processes of the same host, rank and number: only their inputs tell them apart");
    expect("$T none.txt rank1.zst && $I none.zst rank1.zst -o z.db 2>&1 >text | grep -c apart", 1, "");
}
END_TEST

START_TEST(what_an_input_lacks_is_said_of_it)
{
    expect("$T $C/leak/trace.txt one.zst 3 && $T $C/peak_by_site/trace.txt two.zst 3 && head -c -40 two.zst >cut.zst",
           0, "");
    expect("$I one.zst cut.zst -o x.db", 3, "npumem-ingest: cut.zst: not complete: ");
    expect("$I one.zst x.db -o y.db", 3, "npumem-ingest: y.db: 1 of its inputs not complete: see view completeness");
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("many");
    TCase *tests = tcase_create("many");

    if (!shell_variables(argc, argv, "ITC"))
        return 2;
    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 500);
    tcase_add_checked_fixture(tests, shell_make_folder, shell_remove_folder);
    tcase_add_test(tests, every_view_keeps_the_traces_of_all_cases_apart);
    tcase_add_test(tests, every_view_keeps_64_ranks_apart);
    tcase_add_test(tests, parts_of_a_recording_are_one_input);
    tcase_add_test(tests, no_input_is_overwritten);
    tcase_add_test(tests, a_database_is_not_believed);
    tcase_add_test(tests, a_database_with_a_log_is_read);
    tcase_add_test(tests, a_damaged_database_is_an_error);
    tcase_add_test(tests, an_input_that_fails_leaves_nothing);
    tcase_add_test(tests, databases_of_other_site_rules_are_not_put_together);
    tcase_add_test(tests, a_rank_may_stand_in_the_name);
    tcase_add_test(tests, what_an_input_lacks_is_said_of_it);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failures == 0 ? 0 : 1;
}
