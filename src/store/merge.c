/* SPDX-License-Identifier: Apache-2.0
 *
 * The schema says which columns hold numbers of rows, so one statement a table is made from it: each number plus the
 * largest that its table has had. So a new table needs no line here.
 */
#include "store/merge.h"

#include "store/database.h"
#include "store/less_detail.h"
#include "store/merge_plan.sql.h"
#include "store/plumbing.h"
#include "store/read_limit.h"
#include "store/repeats.h"
#include "store/validate.h"

#define SOURCE "source"

/* One UPDATE for each table whose rows have numbers of their own; another for each whose rows may be left out. A number is never
 * used again, by a row that comes when its first one has gone. */
static const char last_id_sql[] =
    "SELECT printf('UPDATE merge_table SET last_id = max(last_id, coalesce((SELECT max(\"%w\") FROM main.\"%w\"), 0))"
    " WHERE name = %Q', name, owner, owner) FROM merge_column WHERE is_key AND owner IN (SELECT name FROM merge_table)"
    " UNION ALL SELECT printf('UPDATE merge_table SET last_id = max(last_id, coalesce((SELECT max(\"%w\") FROM"
    " main.z_left_out), 0)) WHERE name = %Q', name, target) FROM merge_column"
    " WHERE owner = 'z_left_out' AND target <> 'input'";

/* One INSERT for each table: its columns as they are or, where they number rows, moved up. Both lists have one order. */
static const char copy_sql[] =
    "SELECT printf('INSERT INTO main.\"%w\" (%s) SELECT %s FROM " SOURCE ".\"%w\"%s', owner,"
    " group_concat(printf('\"%w\"', name), ', '), group_concat(CASE WHEN last_id IS NULL THEN printf('\"%w\"', name) "
    "ELSE printf('\"%w\" + %d', name, last_id) END,"
    " ', '), owner, coalesce((SELECT ' WHERE ' || condition FROM less_condition AS l WHERE l.owner = "
    "all_columns.owner), ''))"
    " FROM (SELECT c.owner, c.name, t.last_id FROM merge_column AS c LEFT JOIN merge_table AS t ON t.name = c.target"
    " WHERE c.owner IN (SELECT name FROM merge_table)) AS all_columns GROUP BY owner ORDER BY owner";

/* The first input's rules of sites are everybody's, if the caller has none. */
static const char adopt_sql[] =
    "INSERT INTO main.plumbing (target, pattern, origin) SELECT target, pattern, origin FROM " SOURCE ".plumbing"
    " WHERE origin = 'site rules' AND NOT EXISTS (SELECT 1 FROM main.input)"
    " AND NOT EXISTS (SELECT 1 FROM main.plumbing WHERE origin = 'site rules')";

/* Floors that can be right: of what is wrong in them the comparison of words tells. */
static const char thresholds_sql[] =
    "UPDATE main.z_threshold SET (floor, capacity_ratio) = (SELECT s.floor, s.capacity_ratio FROM " SOURCE
    ".z_threshold AS s"
    " WHERE s.measure = main.z_threshold.measure) WHERE EXISTS (SELECT 1 FROM " SOURCE ".z_threshold AS s"
    " WHERE s.measure = main.z_threshold.measure AND typeof(s.floor) = 'integer' AND s.floor >= 0"
    " AND typeof(s.capacity_ratio) = 'real' AND s.capacity_ratio BETWEEN 0 AND 1)";

/* Facts that `main` does not state itself. */
static const char rest_sql[] = "INSERT OR IGNORE INTO main.meta SELECT * FROM " SOURCE ".meta";

nm_status nm_merge_plan(sqlite3 *db, nm_error *err)
{
    nm_status status = nm_merge_plan_run(db, err);

    return status == NM_OK ? nm_repeats_plan(db, err) : status;
}

/* What was judged by other rules would have other sites for the same lines. */
static nm_status check_rules(sqlite3 *db, nm_error *err)
{
    bool is_same = false;
    nm_status status = nm_plumbing_is_same(db, "main", SOURCE, &is_same, err);

    if (status != NM_OK || is_same)
        return status;
    return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                   "its sites are judged by other rules than those beside it: load all with the same --site-rules");
}

/* Its host-1 is not that of another. */
static nm_status refuse_redacted(sqlite3 *db, nm_error *err)
{
    int64_t input_count = 0, here = 0, there = 0;
    nm_status status = nm_repeats_count_kept(db, &input_count, err);

    if (status == NM_OK)
        status = nm_db_get_int(db, "SELECT count(*) FROM main.meta WHERE key = 'redacted'", &here, err);
    if (status == NM_OK)
        status = nm_db_get_int(db, "SELECT count(*) FROM " SOURCE ".meta WHERE key = 'redacted'", &there, err);
    if (status == NM_OK && input_count > 0 && here + there > 0)
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET,
                       "%s: its names mean nothing beside another's (redact all inputs together)",
                       there > 0 ? "is redacted" : "stands beside one that is redacted");
    return status;
}

static nm_status copy_rows(sqlite3 *db, const nm_merge_options *options, nm_error *err)
{
    nm_status status = nm_less_detail_choose(db, options->retention, options->live_ids, err);

    if (status == NM_OK)
        status = nm_db_exec_each(db, last_id_sql, err);
    if (status == NM_OK && options->origin != NULL)
        status = nm_repeats_begin(db, options->origin->number, err);
    if (status == NM_OK)
        status = nm_db_exec_each(db, copy_sql, err);
    if (status == NM_OK)
        status = nm_less_detail_note(db, options->retention, err);
    return status == NM_OK ? nm_db_exec(db, rest_sql, err) : status;
}

/* What goes now may be much more than the file that is read. */
static nm_status remove_repeats(sqlite3 *db, nm_read_limit *guard, nm_error *err)
{
    int64_t page_count = 0, page_bytes = 0;
    bool are_there = false;
    nm_status status = nm_repeats_are_there(db, &are_there, err);

    if (status != NM_OK || !are_there)
        return status;
    status = nm_db_get_int(db, "PRAGMA main.page_count", &page_count, err);
    if (status == NM_OK)
        status = nm_db_get_int(db, "PRAGMA main.page_size", &page_bytes, err);
    if (status == NM_OK && guard->db != NULL)
        nm_read_limit_more(guard, (uint64_t)page_count * (uint64_t)page_bytes);
    return status == NM_OK ? nm_repeats_remove(db, err) : status;
}

/* What is in `main` already, or takes the place of what is. *is_all: all of it is left out. */
static nm_status find_repeats(sqlite3 *db, const nm_merge_origin *origin, bool *is_all, nm_error *err)
{
    nm_status status = nm_repeats_add(db, origin, db, SOURCE, err);

    return status == NM_OK ? nm_repeats_find(db, origin, is_all, err) : status;
}

/* Also what is left out has to be judged by the same rules: it may come first another time. */
static nm_status add_rows(sqlite3 *db, const nm_merge_options *options, nm_read_limit *guard, nm_error *err)
{
    bool is_all = false;
    nm_status status = nm_db_exec(db, "BEGIN", err);

    if (status == NM_OK && options->origin != NULL)
        status = find_repeats(db, options->origin, &is_all, err);
    if (status == NM_OK && !is_all)
        status = refuse_redacted(db, err);
    if (status == NM_OK)
        status = nm_db_exec(db, adopt_sql, err);
    if (status == NM_OK)
        status = check_rules(db, err);
    if (status == NM_OK && !is_all)
        status = remove_repeats(db, guard, err);
    if (status == NM_OK && !is_all)
        status = copy_rows(db, options, err);
    if (status == NM_OK && !is_all)
        status = remove_repeats(db, guard, err);
    return status == NM_OK ? nm_db_exec(db, "COMMIT", err) : status;
}

/* What was judged by other floors has other verdicts. What is no floor at all is left to the comparison of words. */
static nm_status check_floors(sqlite3 *db, nm_error *err)
{
    int64_t is_other = 0;
    nm_status status = nm_db_get_int(db,
                                     "SELECT EXISTS (SELECT 1 FROM main.z_threshold AS t JOIN " SOURCE
                                     ".z_threshold AS s ON s.measure = t.measure"
                                     " WHERE typeof(s.floor) = 'integer' AND typeof(s.capacity_ratio) = 'real'"
                                     " AND (s.floor <> t.floor OR s.capacity_ratio <> t.capacity_ratio))",
                                     &is_other, err);

    if (status != NM_OK || is_other == 0)
        return status;
    return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                   "is judged by other floors than what it is joined with: load all with the same --threshold");
}

static nm_status vet(sqlite3 *db, const nm_merge_options *options, nm_error *err)
{
    nm_status status = nm_validate_version(db, SOURCE, err);

    if (status == NM_OK)
        status = nm_validate_tables(db, SOURCE, err);
    if (status == NM_OK && !options->is_vetted)
        status = nm_validate_pages(db, SOURCE, true, err);
    if (status == NM_OK && options->adopts_thresholds)
        status = nm_db_exec(db, thresholds_sql, err);
    if (status == NM_OK)
        status = check_floors(db, err);
    if (status == NM_OK)
        status = (options->is_vetted ? nm_validate_words : nm_validate_rows)(db, SOURCE, err);
    return status;
}

/* What one of somebody else may cost is bounded while it is read; its rows are then ours. */
nm_status nm_merge_database(sqlite3 *db, const char *path, const nm_merge_options *options, nm_error *err)
{
    nm_read_limit guard = {0};
    sqlite3_stmt *held = NULL;
    nm_status status = nm_validate_attach(db, path, SOURCE, err);

    if (status == NM_OK && !options->is_own)
        nm_read_limit_begin(&guard, db, nm_read_limit_file_bytes(path));
    if (status == NM_OK && !options->is_own)
        status = nm_validate_hold(db, SOURCE, &held, err);
    if (status == NM_OK && !options->is_own)
        status = vet(db, options, err);
    if (status == NM_OK)
        status = add_rows(db, options, &guard, err);
    if (status == NM_OK && options->is_vetted)
        status = nm_validate_rows(db, "main", err);
    sqlite3_finalize(held);
    nm_read_limit_end(&guard);
    if (status == NM_OK)
        status = nm_db_exec(db, "DETACH " SOURCE, err);
    return status;
}
