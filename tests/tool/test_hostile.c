/* SPDX-License-Identifier: Apache-2.0
 *
 * Databases of somebody else: every program that reads one says what it says of the sound one, or refuses in one line. None
 * runs what the file says, and none takes long or much memory.
 *
 *     test_hostile NPUMEM_CHECK NPUMEM_DIFF NPUMEM_WHATIF NPUMEM_INGEST TEXT2TRACE CASES FIXTURES
 *         as $C $D $W $I $X $T $F in lines of shell
 */
#include <check.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/shell.h"

#define PAGE_BYTES 16384
#define TREE_DEPTH 12
#define TREE_CELLS 100

/* A sanitizer takes memory of its own. */
#ifdef HAS_SANITIZER
#define LIMIT_MEMORY "limit() { :; }\n"
#else
#define LIMIT_MEMORY "limit() { ulimit -v 300000; }\n"
#endif

/* As JSON of one line: an assistant opens NAME.db. */
#define OPEN_BY_ASSISTANT                                                                                              \
    "{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":1,\\\"method\\\":\\\"tools/"                                              \
    "call\\\",\\\"params\\\":{\\\"name\\\":\\\"open\\\",\\\"arguments\\\":"                                            \
    "{\\\"path\\\":\\\"$1.db\\\"}}}"

/* Programs with a database in their synopsis: those that ask and refuse below, by name. */
static const char asked[] = "bundle check diff export ingest mcp report stack whatif";

/* make NAME: checksums of all that is made of NAME.db for others: exports, a page, a bundle. But for view health, whose rows have
 * no order: SQLite reads statistics of the file for its plans.
 * ask NAME: what each program says of NAME.db, but for sites that are compared: those of an older one go by other rules.
 * refuse NAME TEXT: each refuses it in one line that holds TEXT. */
static const char words[] = LIMIT_MEMORY
    "once() { (limit; timeout 60 \"$@\" 2>&1); echo \"status $?\"; }\n"
    "ask() { rm -f all.db; {"
    " once $C $1.db --max-peak 1B --max-reserved 1B --max-fragmentation 1 --min-hit-rate 1 --max-misses-per-step 1"
    " --no-growth --no-leak --no-anomaly --no-oom; once $C run.db --baseline $1.db;"
    " { once $D $1.db run.db --at 'after warm-up'; once $D run.db $1.db; } | sed '/^sites/,/^status/{/^status/!d}';"
    " once $W $1.db; once ${C%check}stack $1.db peak;"
    " once $I --quiet $1.db -o all.db;"
    " sqlite3 all.db 'SELECT * FROM peak_by_site; SELECT * FROM leak_by_site'; } | sed \"s/<module>/main/; "
    "s/$1\\.db/DB/g; "
    "s/run\\.db/DB/g\"; }\n"
    "make() { cp $1.db same.db; for words in 'export pprof' 'export folded' 'export perfetto' 'export snapshot' "
    "'export svg' report"
    " bundle 'export --job-name j --run-name r parquet'; do rm -rf made; once ${C%check}$words same.db -o made; find "
    "made -type f ! -path '*/health/*' | sort |"
    " xargs -r cksum; done; }\n"
    "refuse_open() { echo \"" OPEN_BY_ASSISTANT
    "\" | (limit; timeout 60 ${C%check}mcp $1.db) >out 2>err; [ $? = 0 ] && ! [ -s err ] &&"
    " [ $(wc -l <out) = 1 ] && grep -q '\"isError\":true\\|\"state\":\"failed\"' out && grep -q -- \"$2\" out || { cat "
    "out err; return 9; }; "
    "}\n"
    "refuse() { rm -rf all.db made; refuse_open $1 \"$2\" || return 9; for words in \"${C%check}report $1.db -o made\""
    " \"${C%check}export svg $1.db -o made\" \"${C%check}export --job-name j parquet $1.db -o made\" "
    "\"${C%check}bundle $1.db -o made\" \"$C $1.db --complete\" \"$C run.db --baseline $1.db\" \"$D $1.db run.db\""
    " \"$D run.db $1.db\" \"$W $1.db\" \"${C%check}stack $1.db\" \"$I $1.db -o all.db\"; do (limit; timeout 60 $words) "
    ">out 2>err; s=$?;"
    " [ $s = 1 -o $s = 4 ] && [ $(wc -l <err) = 1 ] && grep -q -- \"$2\" err && ! [ -e all.db ] && ! [ -e made ] ||"
    " { echo \"$words: status $s\"; cat err; return 9; }; done; }\n";

static void expect(const char *line)
{
    nm_run run = shell_line(line);

    ck_assert_msg(run.exit_code == 0, "%s: exit %d: %s%s", line, run.exit_code, run_out(&run), run_err(&run));
    run_free(&run);
}

static void set_up(void)
{
    shell_make_folder();
    expect(
        "$X $T/diff/trace.txt run.zst && $I --quiet run.zst && ask run >sound && grep -c status sound | grep -qx 7 &&"
        " ! grep -q 'status \\(2\\|4\\|124\\)' sound");
    expect("make run >sound.made && [ $(grep -c 'status 0' sound.made) = 8 ]");
}

START_TEST(every_program_that_takes_a_database_is_asked)
{
    char line[512];

    snprintf(line, sizeof line,
             "for p in ${C%%check}*; do $p --help | sed '/^$/q' | grep -qE '( |\\[)(DB|A[.]db|INPUT)' && echo "
             "${p##*-}; done |"
             " sort | tr '\\n' ' ' >found; [ \"$(cat found)\" = '%s ' ] || { cat found; false; }",
             asked);
    expect(line);
}
END_TEST

static void expect_same(const char *make)
{
    expect("cp run.db bad.db");
    expect(make);
    expect("ask bad >got; cmp sound got || { diff sound got; false; }");
}

static void expect_same_made(void)
{
    expect("make bad >got; cmp sound.made got || { diff sound.made got; false; }");
}

static void expect_refusal(const char *make, const char *text)
{
    char line[256];

    expect("cp run.db bad.db");
    expect(make);
    snprintf(line, sizeof line, "refuse bad '%s'", text);
    expect(line);
}

/* ---- What else lies in the file ------------------------------------------------------------------------------------ */

/* Every view of ours, with its columns, as `body` has each of them. */
#define EVERY_VIEW(before, column, after)                                                                              \
    "sqlite3 run.db \"SELECT 'DROP VIEW ' || m.name || '; CREATE VIEW ' || m.name || ' AS " before " SELECT ' ||"      \
    " (SELECT group_concat('" column " AS ' || c.name) FROM pragma_table_info(m.name) AS c) || ' " after ";'"          \
    " FROM sqlite_master AS m WHERE m.type = 'view'\" | sqlite3 bad.db"

START_TEST(views_of_the_file_are_not_asked)
{
    expect_same(EVERY_VIEW("WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x FROM c)", "max(x)", "FROM c"));
    expect_same(EVERY_VIEW("", "hex(zeroblob(499999999))", ""));
    expect_same(EVERY_VIEW("", "1", "FROM no_such_table"));
    expect_same_made();
    expect_same("sqlite3 bad.db 'DROP VIEW peak; DROP VIEW z_heap_place; DROP VIEW leak_by_site'");
}
END_TEST

START_TEST(what_a_user_adds_is_not_touched)
{
    expect_same(
        "sqlite3 bad.db 'CREATE TABLE mine (a CHECK (length(hex(zeroblob(400000000))) > 0),"
        " b DEFAULT (hex(zeroblob(400000000)))); PRAGMA ignore_check_constraints = ON; INSERT INTO mine (a, b)"
        " VALUES (1, 2), (3, 4); CREATE VIEW my_view AS WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x FROM"
        " c) SELECT x FROM c; CREATE TRIGGER my_trigger AFTER INSERT ON heap BEGIN DELETE FROM heap; END;"
        " CREATE INDEX my_index ON heap (name, abs(heap_id) + 1); CREATE INDEX my_part ON z_allocation (size_bytes)"
        " WHERE length(hex(zeroblob(400000000))) > 0 OR size_bytes > 0;"
        " ANALYZE; UPDATE sqlite_stat1 SET stat = \"1 1 1 1\"'");
    expect_same_made();
    expect_same("sqlite3 bad.db 'PRAGMA journal_mode = WAL' >words");
}
END_TEST

START_TEST(what_has_the_name_of_our_table_must_be_it)
{
    static const char sql[] = "sqlite3 bad.db \"PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = "
                              "replace(sql, 'name TEXT', 'name TEXT"
                              " AS (hex(zeroblob(400000000)))') WHERE name = 'heap'\"";

    expect_refusal(
        "sqlite3 bad.db 'PRAGMA legacy_alter_table = ON; DROP TABLE z_heap_sum; CREATE VIEW z_heap_sum AS WITH"
        " RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT x AS heap_id, x AS peak_bytes FROM c'",
        "its table z_heap_sum is not the same; ingest run.zst again");
    expect_refusal(sql, "its table heap is not the same; ingest run.zst again");
    expect_refusal("sqlite3 bad.db \"PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = rtrim(sql, ')') ||"
                   " ', more DEFAULT (hex(zeroblob(400000000))))' WHERE name = 'heap'\"",
                   "its table heap is not the same");
    expect_refusal(
        "sqlite3 bad.db 'PRAGMA legacy_alter_table = ON; DROP TABLE z_pause; CREATE VIRTUAL TABLE z_pause USING"
        " rtree (pause_id, process_id, x)'",
        "its table z_pause is not the same");
    expect_refusal("sqlite3 bad.db 'DROP TABLE z_pause'", "its table z_pause is not the same");
}
END_TEST

START_TEST(a_second_meaning_of_a_name_is_refused)
{
    expect_refusal(
        "sqlite3 bad.db \"PRAGMA writable_schema = ON; INSERT INTO sqlite_master VALUES ('view', 'other', 'other',"
        " 0, 'CREATE VIEW heap AS SELECT 1')\"",
        "malformed database schema");
}
END_TEST

/* ---- Rows and pages ------------------------------------------------------------------------------------------------ */

/* By who reads it: the rules of npumem-check and npumem-whatif read neither. */
START_TEST(a_text_without_end_is_refused)
{
    expect(
        "cp run.db bad.db && sqlite3 bad.db \"UPDATE process SET host = printf('%.*c', 20000000, 'x'), command = host;"
        " UPDATE heap SET name = printf('%.*c', 20000000, 'y')\"; ask bad >got;"
        " test $(grep -c 'a text in it is too long' got) -ge 4 && ! grep -E 'status (124|13[0-9])|out of memory' got");
}
END_TEST

static void put(unsigned char *at, unsigned value, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--, value >>= 8)
        at[i] = (unsigned char)value;
}

/* An inner page of a tree, all of whose children are one page: page format of SQLite, by hand. */
static void make_inner_page(unsigned char *page, unsigned child)
{
    memset(page, 0, PAGE_BYTES);
    page[0] = 5;
    put(page + 3, TREE_CELLS, 2);
    put(page + 5, PAGE_BYTES - 5 * TREE_CELLS, 2);
    put(page + 8, child, 4);
    for (unsigned i = 0; i < TREE_CELLS; i++) {
        unsigned at = PAGE_BYTES - 5 * (i + 1);

        put(page + 12 + 2 * i, at, 2);
        put(page + at, child, 4);
        page[at + 4] = (unsigned char)(i + 1);
    }
}

static unsigned root_of(const char *path, const char *table)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;

    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT rootpage FROM sqlite_master WHERE name = ?", -1, &row, NULL),
                     SQLITE_OK);
    sqlite3_bind_text(row, 1, table, -1, SQLITE_STATIC);
    ck_assert_int_eq(sqlite3_step(row), SQLITE_ROW);
    unsigned root = (unsigned)sqlite3_column_int(row, 0);
    sqlite3_finalize(row);
    sqlite3_close(db);
    return root;
}

static void write_page(FILE *file, unsigned number, const unsigned char *page)
{
    ck_assert_int_eq(fseek(file, (long)(number - 1) * PAGE_BYTES, SEEK_SET), 0);
    ck_assert_uint_eq(fwrite(page, PAGE_BYTES, 1, file), 1);
}

/* In place of the only page of a table: a tree of which each path is sound, and of which there are 100^12. With an empty leaf no row of it
 * comes twice. */
static void grow_tree(const char *table, bool is_empty)
{
    static unsigned char page[PAGE_BYTES], leaf[PAGE_BYTES];
    char path[128];
    unsigned char count_bytes[4];

    snprintf(path, sizeof path, "%s/bad.db", shell_folder);
    unsigned root = root_of(path, table);
    FILE *file = fopen(path, "r+b");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
    unsigned count = (unsigned)(ftell(file) / PAGE_BYTES);
    ck_assert_int_eq(fseek(file, (long)(root - 1) * PAGE_BYTES, SEEK_SET), 0);
    ck_assert_uint_eq(fread(leaf, PAGE_BYTES, 1, file), 1);
    ck_assert_int_eq(leaf[0], 13);
    if (is_empty) {
        memset(leaf + 1, 0, PAGE_BYTES - 1);
        put(leaf + 5, PAGE_BYTES, 2);
    }
    make_inner_page(page, count + 1);
    write_page(file, root, page);
    for (unsigned i = 1; i < TREE_DEPTH; i++) {
        make_inner_page(page, count + i + 1);
        write_page(file, count + i, page);
    }
    write_page(file, count + TREE_DEPTH, leaf);
    put(count_bytes, count + TREE_DEPTH, 4);
    ck_assert_int_eq(fseek(file, 28, SEEK_SET), 0);
    ck_assert_uint_eq(fwrite(count_bytes, 4, 1, file), 1);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(a_tree_that_never_ends_is_refused)
{
    static const char *const tables[] = {"input", "process", "z_heap_sum", "z_allocation"};

    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        expect("cp run.db bad.db");
        grow_tree(tables[i], false);
        expect("refuse bad 'the database is damaged'");
        expect("cp run.db bad.db");
        grow_tree(tables[i], true);
        expect("refuse bad 'the database is damaged'");
    }
}
END_TEST

/* Rows of one heap and site, where there is one of each: 3000 x 3000 x 3000 of them joined. */
START_TEST(work_follows_the_size_of_the_file)
{
    expect(
        "cp run.db bad.db && sqlite3 bad.db \"CREATE TEMP TABLE c AS WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT"
        " x + 1 FROM c WHERE x < 3000) SELECT x FROM c; INSERT INTO z_leak_sum SELECT 1, 1, 'growing', 1, 1, 1, 1, 1, "
        "1, "
        "1,"
        " 1, 1, 1 FROM c; INSERT INTO z_site_growth SELECT 1, 1, 9, 1, 1, 1 FROM c; INSERT INTO z_site_lifetime SELECT "
        "1, "
        "1,"
        " 9, 1, 1, 1, 1 FROM c\"; timeout 60 $I --quiet --csv answers bad.db 2>err; test $? = 1 && grep -q 'given up: "
        "more work' err");
}
END_TEST

START_TEST(random_damage_is_an_error_or_an_answer)
{
    expect("size=$(stat -c %s run.db); for n in $(seq 1 6); do cp run.db bad.db;"
           " for k in 1 2 3 4; do printf \"\\\\$((n * k % 4))7$k\" | dd of=bad.db bs=1 conv=notrunc"
           " seek=$(((n * 7919 + k * 104729) * 16411 % size)) 2>words; done; ask bad >got;"
           " ! grep -E 'status (124|13[0-9]|99)|Sanitizer' got || exit 1; done");
}
END_TEST

/* ---- Other files --------------------------------------------------------------------------------------------------- */

START_TEST(other_versions_name_the_trace)
{
    expect_refusal("sqlite3 bad.db \"PRAGMA user_version = 2; UPDATE meta SET value = 2 WHERE key = 'schema_version'\"",
                   "has schema version 2, this program reads 8: ingest run.zst again");
    expect_refusal("sqlite3 bad.db \"PRAGMA user_version = 9; UPDATE meta SET value = 9 WHERE key = 'schema_version'\"",
                   "has schema version 9, this program reads 8: ingest run.zst again");
    expect_refusal(
        "sqlite3 bad.db 'PRAGMA user_version = 2; PRAGMA legacy_alter_table = ON; DROP TABLE input; CREATE VIEW"
        " input AS WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT max(x) AS path FROM c'",
        "has schema version 2, this program reads 8: ingest its input again");
    expect_refusal("sqlite3 bad.db \"PRAGMA user_version = 2; UPDATE input SET path = char(27) || '[2J' || char(10)\"",
                   "ingest ?\\[2J? again");
}
END_TEST

START_TEST(what_is_no_database_of_ours_is_refused)
{
    expect_refusal("rm bad.db; sqlite3 bad.db 'CREATE TABLE x (y)'", "not a database of npumem-ingest");
    expect_refusal("sqlite3 bad.db 'PRAGMA application_id = 7'", "not a database of npumem-ingest");
    expect_refusal("rm bad.db; : >bad.db", "not a database of npumem-ingest\\|the file is empty");
    expect_refusal("rm bad.db; mkdir bad.db", "not a file\\|no trace in this folder");
    expect("rmdir bad.db; mkfifo bad.db; timeout 60 $C bad.db --complete; [ $? = 4 ] && timeout 60 $D run.db bad.db; "
           "s=$?; rm "
           "bad.db; [ $s = 4 ]");
}
END_TEST

START_TEST(a_database_that_is_written_is_refused_or_read_as_it_was)
{
    expect("cp run.db bad.db; { echo 'BEGIN EXCLUSIVE; SELECT 1;'; while ! [ -e seen ]; do sleep 0.1; done; } |"
           " sqlite3 bad.db >locked & while ! [ -s locked ]; do sleep 0.1; done; refuse bad 'database is locked'; s=$?;"
           " : >seen; wait; exit $s");
}
END_TEST

/* ---- Released formats ---------------------------------------------------------------------------------------------- */

/* Tables that change need a new version, and a new database here; this one is then refused by name, and stays. */
START_TEST(a_database_of_each_release_is_read_or_named)
{
    expect("zstd -qdc $F/databases/schema-3.db.zst >old.db; timeout 60 $C old.db --no-leak >out 2>&1; [ $? = 4 ] &&"
           " grep -q 'has schema version 3, this program reads 8: ingest run.zst again' out");
    expect("zstd -qdc $F/databases/schema-4.db.zst >old.db; timeout 60 $C old.db --no-leak >out 2>&1; [ $? = 4 ] &&"
           " grep -q 'has schema version 4, this program reads 8: ingest run.zst again' out");
    expect("zstd -qdc $F/databases/schema-5.db.zst >old.db; timeout 60 $C old.db --no-leak >out 2>&1; [ $? = 4 ] &&"
           " grep -q 'has schema version 5, this program reads 8: ingest run.zst again' out");
    expect("zstd -qdc $F/databases/schema-8.db.zst >new.db; timeout 60 $C new.db --no-leak >out; [ $? = 1 ] &&"
           " grep -q 'FAIL  no-leak  *200 B .*cache.py:5 keep' out");
}
END_TEST

/* What every program says of it is what it says of the newest, which was made of the same trace, but for the name of a frame. */
START_TEST(databases_of_the_last_versions_are_read_as_those_of_this_one)
{
    expect(
        "zstd -qdc $F/databases/schema-8.db.zst >new.db; rm run.db; cp new.db run.db;"
        " ask new | grep -v '^status\\|ingest' >wanted; grep -c . wanted;"
        " for v in 6 7; do zstd -qdc $F/databases/schema-$v.db.zst >old.db; ask old | grep -v '^status\\|ingest' >got;"
        " timeout 60 ${C%check}export folded -o folded --force old.db && cp folded folded.old &&"
        " timeout 60 ${C%check}export folded -o folded --force new.db && sed -i 's/<module>/main/' folded && cmp "
        "folded folded.old || exit 9;"
        " sed '/^[^ ]*|/d' wanted >wanted.said; diff wanted.said got || exit 8; done");
    expect("! timeout 60 $I --quiet old.db -o more.db 2>err && grep -q 'has schema version 7, this program reads 8: "
           "ingest run.zst"
           " again' err && [ $(wc -l <err) = 1 ]");
}
END_TEST

/* Nothing that it says is run, whatever version it calls itself. */
START_TEST(an_older_database_with_a_view_in_place_of_a_table_is_refused)
{
    expect("zstd -qdc $F/databases/schema-7.db.zst >bad.db; sqlite3 bad.db 'ALTER TABLE input RENAME TO other; CREATE "
           "VIEW input"
           " AS SELECT * FROM other'; refuse bad 'input'");
    expect("zstd -qdc $F/databases/schema-7.db.zst >bad.db; head -c 100000 bad.db >cut.db; mv cut.db bad.db;"
           " for words in \"$C bad.db --complete\" \"$D run.db bad.db\"; do timeout 60 $words >out 2>err; s=$?; [ $s = "
           "1 -o $s = 4 ] &&"
           " [ $(wc -l <err) = 1 ] || { cat err; exit 7; }; done");
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("hostile databases");
    TCase *tcase = tcase_create("hostile");

    if (!shell_variables(argc, argv, "CDWIXTF"))
        return 2;
    shell_before(words, 120);
    tcase_set_timeout(tcase, 240);
    tcase_add_unchecked_fixture(tcase, set_up, shell_remove_folder);
    tcase_add_test(tcase, every_program_that_takes_a_database_is_asked);
    tcase_add_test(tcase, views_of_the_file_are_not_asked);
    tcase_add_test(tcase, what_a_user_adds_is_not_touched);
    tcase_add_test(tcase, what_has_the_name_of_our_table_must_be_it);
    tcase_add_test(tcase, a_second_meaning_of_a_name_is_refused);
    tcase_add_test(tcase, a_text_without_end_is_refused);
    tcase_add_test(tcase, a_tree_that_never_ends_is_refused);
    tcase_add_test(tcase, work_follows_the_size_of_the_file);
    tcase_add_test(tcase, random_damage_is_an_error_or_an_answer);
    tcase_add_test(tcase, other_versions_name_the_trace);
    tcase_add_test(tcase, what_is_no_database_of_ours_is_refused);
    tcase_add_test(tcase, a_database_that_is_written_is_refused_or_read_as_it_was);
    tcase_add_test(tcase, a_database_of_each_release_is_read_or_named);
    tcase_add_test(tcase, databases_of_the_last_versions_are_read_as_those_of_this_one);
    tcase_add_test(tcase, an_older_database_with_a_view_in_place_of_a_table_is_refused);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
