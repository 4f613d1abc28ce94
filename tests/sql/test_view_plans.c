/* SPDX-License-Identifier: Apache-2.0
 *
 * How SQLite goes about each view and each query, of a database as it is published: a table that has a row an event is read
 * once from end to end or looked up by an index that is there, never from end to end for each row of something else, and
 * never by an index that SQLite would have to make of it first. SQLite says it in lines that have the aliases of tables, so an
 * alias of such a table may stand for nothing else in the same statement and the views that it reads.
 */
#include <check.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/schema.h"
#include "support/load_text.h"
#include "support/queries.h"
#include "support/run.h"
#include "support/suites.h"

#define LINES_MAX   4096
#define ALIASES_MAX 64
#define NAME_BYTES  64
#define WORD        "[A-Za-z_][A-Za-z_0-9]*"

static const char trace[] = "process 1 pid=1 host=h begin=0 command=x\n"
                            "device 1 process=1 ordinal=0 kind=npu\n"
                            "heap 1 process=1 device=1 level=driver basis=block name=driver\n"
                            "thread 1 process=1 tid=1 name=main\n"
                            "@1 alloc heap=1 address=0x1000 block=4096 thread=1\n"
                            "@2 free heap=1 address=0x1000 thread=1\n";

static char folder[64], path[128];
static sqlite3 *db;

/* Of the statement that was planned last: what it calls the large tables it reads, and what SQLite says of it. */
static char aliases[ALIASES_MAX][NAME_BYTES];
static int alias_count;
static struct {
    int id, parent; /* of 0: none */
    char text[256];
} lines[LINES_MAX];
static int line_count;

/* ---- Aliases ------------------------------------------------------------------------------------------------------- */

static bool is_large(const char *table, size_t length)
{
    char quoted[NAME_BYTES + 2];

    snprintf(quoted, sizeof quoted, "'%.*s'", (int)length, table);
    return strstr(NM_LARGE_TABLES_SQL, quoted) != NULL;
}

static void add_alias(const char *text, const regmatch_t *match)
{
    char alias[NAME_BYTES];

    snprintf(alias, sizeof alias, "%.*s", (int)(match->rm_eo - match->rm_so), text + match->rm_so);
    for (int i = 0; i < alias_count; i++)
        if (strcmp(aliases[i], alias) == 0)
            return;
    ck_assert_int_lt(alias_count, ALIASES_MAX);
    snprintf(aliases[alias_count++], NAME_BYTES, "%s", alias);
}

static void find_aliases_of_view(const char *text, const regmatch_t *match);

/* What this text, and the views that it reads, call the large tables. */
static void find_aliases(const char *text)
{
    regex_t form;
    regmatch_t match[6];

    ck_assert_int_eq(
        regcomp(&form, "(FROM|JOIN)[ \n]+(" WORD "[.])?(" WORD ")([ \n]+AS[ \n]+(" WORD "))?", REG_EXTENDED), 0);
    for (; regexec(&form, text, 6, match, 0) == 0; text += match[0].rm_eo) {
        if (is_large(text + match[3].rm_so, (size_t)(match[3].rm_eo - match[3].rm_so)))
            add_alias(text, &match[match[5].rm_so < 0 ? 3 : 5]);
        find_aliases_of_view(text, &match[3]);
    }
    regfree(&form);
}

static void find_aliases_of_view(const char *text, const regmatch_t *match)
{
    sqlite3_stmt *view = NULL;

    ck_assert_int_eq(
        sqlite3_prepare_v2(db, "SELECT sql FROM sqlite_master WHERE type = 'view' AND name = ?1", -1, &view, NULL),
        SQLITE_OK);
    sqlite3_bind_text(view, 1, text + match->rm_so, (int)(match->rm_eo - match->rm_so), SQLITE_STATIC);
    if (sqlite3_step(view) == SQLITE_ROW)
        find_aliases((const char *)sqlite3_column_text(view, 0));
    sqlite3_finalize(view);
}

/* ---- Plans --------------------------------------------------------------------------------------------------------- */

static bool begins_with(const char *text, const char *words)
{
    return strncmp(text, words, strlen(words)) == 0;
}

static bool is_loop(const char *text)
{
    return (begins_with(text, "SCAN ") || begins_with(text, "SEARCH ")) && strstr(text, "CONSTANT ROW") == NULL;
}

/* From end to end: "SEARCH a" is what SQLite says of that for min() and max(). */
static bool is_scan(const char *text)
{
    return begins_with(text, "SCAN ") || strstr(text, " USING ") == NULL;
}

/* "SCAN a", and before SQLite 3.36 "SCAN TABLE allocation AS a". */
static bool is_of_large(const char *text)
{
    char name[NAME_BYTES] = "", alias[NAME_BYTES] = "";

    if (!is_loop(text))
        return false;
    text += strcspn(text, " ") + 1;
    if (begins_with(text, "TABLE "))
        text += strlen("TABLE ");
    if (sscanf(text, "%63s AS %63s", name, alias) == 2)
        return is_large(name, strlen(name));
    for (int i = 0; i < alias_count; i++)
        if (strcmp(aliases[i], name) == 0)
            return true;
    return false;
}

static int line_of(int id)
{
    for (int i = 0; i < line_count; i++)
        if (lines[i].id == id)
            return i;
    return -1;
}

/* Is what this line says done more than once: within a loop, for a row of a statement around it, or in a recursion? */
static bool is_repeated(int line)
{
    for (int i = 0; i < line; i++)
        if (lines[i].parent == lines[line].parent && is_loop(lines[i].text))
            return true;
    for (int up = line_of(lines[line].parent); up >= 0; up = line_of(lines[up].parent))
        if (strstr(lines[up].text, "CORRELATED") != NULL || begins_with(lines[up].text, "RECURSIVE STEP"))
            return true;
    return false;
}

/* The first line that is bad of the plan of a statement, the first of `sql`; NULL: none. Its end is left in *end. */
static const char *bad_line(const char *name, const char *sql, const char **end)
{
    sqlite3_stmt *plan = NULL;
    char *explain = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sql);
    const char *rest = NULL, *bad = NULL;

    alias_count = line_count = 0;
    find_aliases(sql);
    ck_assert_msg(sqlite3_prepare_v2(db, explain, -1, &plan, &rest) == SQLITE_OK, "%s: %s", name, sqlite3_errmsg(db));
    *end = sql + (rest - explain) - strlen("EXPLAIN QUERY PLAN ");
    for (; sqlite3_step(plan) == SQLITE_ROW; line_count++) {
        ck_assert_int_lt(line_count, LINES_MAX);
        lines[line_count].id = sqlite3_column_int(plan, 0);
        lines[line_count].parent = sqlite3_column_int(plan, 1);
        snprintf(lines[line_count].text, sizeof lines[0].text, "%s", (const char *)sqlite3_column_text(plan, 3));
    }
    sqlite3_finalize(plan);
    sqlite3_free(explain);
    for (int i = 0; i < line_count && bad == NULL; i++)
        if (is_of_large(lines[i].text) &&
            (strstr(lines[i].text, "AUTOMATIC") != NULL || (is_scan(lines[i].text) && is_repeated(i))))
            bad = lines[i].text;
    return bad;
}

static const char *bad_line_of(const char *sql)
{
    const char *end = NULL;

    return bad_line(sql, sql, &end);
}

static void set_up(void)
{
    nm_input_row input = load_whole_input(2);
    char sql[256];

    run_make_folder(folder);
    snprintf(path, sizeof path, "%s/x.db", folder);
    load_text(trace, &input, path);
    db = load_open(path);
    snprintf(sql, sizeof sql, "ATTACH '%s' AS base", path); /* what queries of two databases compare with */
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static void tear_down(void)
{
    sqlite3_close(db);
    run_remove_folder(folder);
}

START_TEST(no_view_reads_a_large_table_again_and_again)
{
    sqlite3_stmt *names = NULL;
    int view_count = 0, large_count = 0;

    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT name FROM sqlite_master WHERE type = 'view'", -1, &names, NULL),
                     SQLITE_OK);
    for (; sqlite3_step(names) == SQLITE_ROW; view_count++) {
        const char *name = (const char *)sqlite3_column_text(names, 0);
        char sql[NAME_BYTES + 32];

        snprintf(sql, sizeof sql, "SELECT * FROM %s", name);
        const char *bad = bad_line_of(sql);
        ck_assert_msg(bad == NULL, "%s: %s", name, bad);
        large_count += alias_count > 0;
    }
    sqlite3_finalize(names);
    ck_assert_int_ge(view_count, 60);
    ck_assert_int_ge(large_count, 3); /* allocation_detail, leak, outstanding */
}
END_TEST

static const char *behind_comments(const char *text)
{
    while (begins_with(text += strspn(text, " \n"), "--"))
        text += strcspn(text, "\n");
    return text;
}

/* The first line of the statement planned last that reads a large table from end to end; NULL: none. An index is of few rows. */
static const char *line_that_reads_all(void)
{
    for (int i = 0; i < line_count; i++)
        if (is_of_large(lines[i].text) && is_scan(lines[i].text) && strstr(lines[i].text, " USING INDEX ") == NULL)
            return lines[i].text;
    return NULL;
}

/* These read every row of a table of workspaces, or of allocations for a moment that is no place in the order. */
static const char *const readers[] = {"largest_live.sql", "workspace_makers.sql", "workspace_waste.sql",
                                      "worst_fragmentation.sql"};

static bool reads_all(const char *name)
{
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++)
        if (strcmp(readers[i], name) == 0)
            return true;
    return false;
}

/* What reads every row of such a table has no answer where they were not kept, and its head says so. */
static void check_query(const char *name, const char *text)
{
    const char *body = behind_comments(text), *said = strstr(text, "input.detail");
    bool is_said = said != NULL && said < body && reads_all(name);

    while (*(text = behind_comments(text)) != 0) {
        const char *bad = bad_line(name, text, &text);

        ck_assert_msg(bad == NULL, "%s: %s", name, bad);
        bad = is_said ? NULL : line_that_reads_all();
        ck_assert_msg(bad == NULL, "%s: %s, though it is not among readers[], or its head does not name input.detail",
                      name, bad);
    }
}

START_TEST(no_query_reads_a_large_table_again_and_again)
{
    ck_assert_int_ge(queries_each(check_query), 10);
}
END_TEST

/* Statements, and the line of each that is bad begins so; NULL: none is. */
static const struct {
    const char *sql, *bad;
} planted[] = {
    {"SELECT (SELECT count(*) FROM allocation AS z WHERE z.size_bytes > h.heap_id) FROM heap AS h", "SCAN"},
    {"SELECT h.name FROM heap AS h WHERE EXISTS (SELECT 1 FROM allocation WHERE allocation.free_ns > h.heap_id)",
     "SCAN"},
    {"SELECT count(*) FROM heap AS h CROSS JOIN allocation AS z WHERE z.size_bytes > h.heap_id", "SCAN"},
    {"SELECT count(*) FROM copy AS l JOIN copy AS r ON r.size_bytes = l.size_bytes", "SEARCH"},
    {"SELECT count(*) FROM allocation AS l LEFT JOIN workspace AS w ON w.allocation_id = l.allocation_id", "SEARCH"},
    {"SELECT count(*) FROM outstanding AS o JOIN z_stream_call AS c ON c.ns = o.alloc_ns", "SEARCH"},
    {"SELECT (SELECT min(d.free_ns) FROM allocation_detail AS d WHERE d.site = f.label) FROM frame AS f", "SEARCH"},
    {"WITH RECURSIVE r (x) AS (SELECT 0 UNION SELECT a.size_bytes FROM r CROSS JOIN allocation AS a) SELECT x FROM r",
     "SCAN"},
    {"SELECT count(*) FROM allocation", NULL},
    {"SELECT count(*) FROM allocation AS z JOIN heap AS h ON h.heap_id = z.heap_id", NULL},
    {"SELECT (SELECT z.size_bytes FROM allocation AS z WHERE z.allocation_id = c.copy_id) FROM copy AS c", NULL},
    {"SELECT (SELECT count(*) FROM allocation) FROM heap AS h", NULL},
    {"SELECT count(*) FROM heap AS a JOIN heap AS b ON b.name = a.name", NULL},
};

START_TEST(what_is_planted_is_found)
{
    for (size_t i = 0; i < sizeof planted / sizeof planted[0]; i++) {
        const char *bad = bad_line_of(planted[i].sql);

        ck_assert_msg((bad == NULL) == (planted[i].bad == NULL) && (bad == NULL || begins_with(bad, planted[i].bad)),
                      "%s: %s", planted[i].sql, bad == NULL ? "nothing" : bad);
    }
}
END_TEST

TEST_SUITE(test_view_plans)
{
    Suite *suite = suite_create("view plans");
    TCase *tcase = tcase_create("view plans");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60); /* on a machine with much else to do */
    tcase_add_test(tcase, no_view_reads_a_large_table_again_and_again);
    tcase_add_test(tcase, no_query_reads_a_large_table_again_and_again);
    tcase_add_test(tcase, what_is_planted_is_found);
    suite_add_tcase(suite, tcase);
    return suite;
}
