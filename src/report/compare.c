/* SPDX-License-Identifier: Apache-2.0
 *
 * A parameter that a question has and the choice has not is left unbound, which is NULL: its default.
 */
#include "report/compare.h"

#include <inttypes.h>
#include <string.h>

#include "base/human.h"
#include "report/compare_queries.h"
#include "report/other_bases.sql.h"
#include "store/plumbing.h"

#define WORD_BYTES 84 /* of 20 columns */

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
static nm_status check_bases(sqlite3 *db, const nm_compare_choice *choice, nm_error *err)
{
    char level[WORD_BYTES], of_base[WORD_BYTES], of_run[WORD_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_other_bases_row row;
    nm_status status = nm_other_bases_ask(db, choice->has_rank ? choice->rank : NM_NULL, choice->level, &rows, err);

    if (status == NM_OK && nm_other_bases_next(rows, &row))
        status =
            nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                    "sizes of %s heaps are '%s' in A and '%s' in B: they cannot be compared (--level chooses others)",
                    nm_human_text(level, sizeof level, row.level, 20),
                    nm_human_text(of_base, sizeof of_base, row.base_basis, 12),
                    nm_human_text(of_run, sizeof of_run, row.run_basis, 12));
    return nm_question_end(rows, status, err);
}

static nm_status check_rules(sqlite3 *db, nm_compare_rules *rules, nm_error *err)
{
    nm_compare_rules found = {0};
    bool is_same = false;
    nm_status status = nm_plumbing_version(db, "base", &found.base_version, err);

    if (status == NM_OK)
        status = nm_plumbing_version(db, "main", &found.run_version, err);
    if (rules != NULL)
        *rules = found;
    if (status == NM_OK && found.base_version != found.run_version)
        return rules != NULL ? NM_OK
                             : nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                                       "A and B have sites by rules of different versions (%" PRId64 " and %" PRId64
                                       "): load both with this one",
                                       found.base_version, found.run_version);
    if (status == NM_OK)
        status = nm_plumbing_is_same(db, "main", "base", &is_same, err);
    if (status != NM_OK || is_same)
        return status;
    return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                   "A and B have sites by different rules: load both with the same --site-rules and --own");
}

nm_status nm_compare_check(sqlite3 *db, const nm_compare_choice *choice, nm_compare_rules *rules, nm_error *err)
{
    nm_status status = check_bases(db, choice, err);

    return status == NM_OK ? check_rules(db, rules, err) : status;
}
