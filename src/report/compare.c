/* SPDX-License-Identifier: Apache-2.0
 *
 * A parameter that a question has and the choice has not is left unbound, which is NULL: its default.
 */
#include "report/compare.h"

#include <string.h>

#include "base/human.h"
#include "report/compare_queries.h"
#include "store/database.h"
#include "store/foreign.h"
#include "store/plumbing.h"

#define REASON_BYTES 128

/* ---- Questions ----------------------------------------------------------------------------------------------------- */

static void bind_text(sqlite3_stmt *statement, int index, const char *text)
{
    sqlite3_bind_text(statement, index, text, -1, SQLITE_STATIC);
}

static void bind_parameter(const nm_compare_choice *choice, sqlite3_stmt *statement, int index)
{
    const char *name = sqlite3_bind_parameter_name(statement, index);

    if (name == NULL)
        return;
    if (strcmp(name, ":base") == 0)
        bind_text(statement, index, choice->base_path);
    else if (strcmp(name, ":rank") == 0 && choice->has_rank)
        sqlite3_bind_int64(statement, index, choice->rank);
    else if (strcmp(name, ":by_rank") == 0)
        sqlite3_bind_int(statement, index, choice->is_by_rank);
    else if (strcmp(name, ":level") == 0)
        bind_text(statement, index, choice->level);
    else if (strcmp(name, ":at") == 0)
        bind_text(statement, index, choice->at);
    else if (strcmp(name, ":from") == 0)
        bind_text(statement, index, choice->from);
    else if (strcmp(name, ":to") == 0)
        bind_text(statement, index, choice->to);
    else if (strcmp(name, ":threshold") == 0)
        sqlite3_bind_int64(statement, index, (int64_t)choice->threshold_bytes);
    else if (strcmp(name, ":top") == 0)
        sqlite3_bind_int64(statement, index, choice->row_count_max == 0 ? INT64_MAX : choice->row_count_max);
}

nm_status nm_compare_ask(sqlite3 *db, nm_compare_question question, const nm_compare_choice *choice,
                         nm_compare_take *take, void *context, nm_error *err)
{
    const char *text = nm_compare_queries[question].text;
    nm_status status = NM_OK;

    while (status == NM_OK && *text != 0) {
        sqlite3_stmt *statement = NULL;

        if (sqlite3_prepare_v2(db, text, -1, &statement, &text) != SQLITE_OK)
            status = nm_db_fail(db, err);
        for (int index = 1; statement != NULL && index <= sqlite3_bind_parameter_count(statement); index++)
            bind_parameter(choice, statement, index);
        if (status == NM_OK && statement != NULL && sqlite3_column_count(statement) > 0)
            status = take(context, statement, err);
        else if (status == NM_OK && statement != NULL && sqlite3_step(statement) != SQLITE_DONE)
            status = nm_db_fail(db, err);
        sqlite3_finalize(statement);
    }
    return status;
}

const char *nm_compare_name(nm_compare_question question)
{
    return nm_compare_queries[question].name;
}

/* ---- What cannot be compared --------------------------------------------------------------------------------------- */

/* Sums of requests and sums of blocks are not the same thing. */
#define BASES_OF(schema)                                                                                               \
    "(SELECT DISTINCT p.level, p.size_basis FROM " NM_FOREIGN_PLACES(                                                  \
        schema) " AS p JOIN " schema "._heap_sum AS s"                                                                 \
                " ON s.heap_id = p.heap_id WHERE s.peak_bytes > 0 AND (?1 IS NULL OR p.rank = ?1)"                     \
                " AND (?2 IS NULL OR p.level = ?2))"
static const char other_basis_sql[] = "WITH a AS (SELECT * FROM " BASES_OF("base") "), b AS (SELECT * FROM " BASES_OF(
    "main") ")"
            " SELECT 'sizes of ' || a.level || ' heaps are ''' || a.size_basis || ''' in A and ''' || b.size_basis || "
            "''' in B'"
            " FROM a JOIN b ON b.level = a.level AND b.size_basis <> a.size_basis"
            " WHERE (a.level, a.size_basis) NOT IN (SELECT * FROM b) OR (b.level, b.size_basis) NOT IN (SELECT * FROM "
            "a)"
            " ORDER BY a.level LIMIT 1";

static nm_status check_bases(sqlite3 *db, const nm_compare_choice *choice, nm_error *err)
{
    char reason[REASON_BYTES];
    sqlite3_stmt *row = NULL;
    nm_status status = nm_db_prepare(db, other_basis_sql, &row, err);
    int code = SQLITE_DONE;

    if (status == NM_OK && choice->has_rank)
        sqlite3_bind_int64(row, 1, choice->rank);
    if (status == NM_OK) {
        bind_text(row, 2, choice->level);
        code = sqlite3_step(row);
    }
    if (code == SQLITE_ROW)
        status = nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "%.90s: they cannot be compared (--level chooses others)",
                         nm_human_text(reason, sizeof reason, nm_db_text(row, 0), 120));
    else if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(row);
    return status;
}

nm_status nm_compare_check(sqlite3 *db, const nm_compare_choice *choice, nm_error *err)
{
    bool is_same = false;
    nm_status status = check_bases(db, choice, err);

    if (status == NM_OK)
        status = nm_plumbing_is_same(db, "main", "base", &is_same, err);
    if (status != NM_OK || is_same)
        return status;
    return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                   "A and B have sites by different rules: load both with the same --site-rules");
}
