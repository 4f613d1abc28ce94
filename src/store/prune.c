/* SPDX-License-Identifier: Apache-2.0
 *
 * Which tables name a row is asked of the schema, so that a new table needs no line here.
 */
#include "store/prune.h"

#include "store/database.h"

/* The statement that deletes rows of a table which no row of another table names, nor a row of it that is named and is within
 * them; nor those that a SELECT keeps (%q). The schema says which tables name any, and by which column a row names the one that
 * it is within. */
static const char unnamed_sql[] =
    "SELECT printf('DELETE FROM \"%%w\" WHERE \"%%w_id\" > %lld AND \"%%w_id\" <= %lld AND \"%%w_id\" NOT IN"
    " (WITH RECURSIVE named (id) AS (%q', t.name, t.name, t.name, t.name)"
    " || coalesce(group_concat(CASE WHEN m.name <> t.name THEN printf(' UNION SELECT \"%%w\" FROM \"%%w\""
    " WHERE \"%%w\" > %lld AND \"%%w\" <= %lld', f.\"from\", m.name, f.\"from\", f.\"from\") END, ''), '')"
    " || group_concat(CASE WHEN m.name = t.name THEN printf(' UNION SELECT \"%%w\" FROM \"%%w\" JOIN named"
    " ON named.id = \"%%w_id\"', f.\"from\", t.name, t.name) END, '') || ') SELECT id FROM named WHERE id IS NOT NULL)'"
    " FROM (SELECT %Q AS name) AS t JOIN main.sqlite_master AS m JOIN pragma_foreign_key_list(m.name) AS f"
    " WHERE m.type = 'table' AND f.\"table\" = t.name AND m.name <> 'z_left_out'";

static nm_status prune_unnamed(sqlite3 *db, const char *table, const char *kept_sql, int64_t first_id, int64_t last_id,
                               nm_error *err)
{
    char *sql = sqlite3_mprintf(unnamed_sql, (long long)first_id, (long long)last_id, kept_sql, (long long)first_id,
                                (long long)last_id, table);
    nm_status status =
        sql == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : nm_db_exec_each(db, sql, err);

    sqlite3_free(sql);
    return status;
}

nm_status nm_prune_unnamed(sqlite3 *db, const char *table, int64_t first_id, int64_t last_id, nm_error *err)
{
    return prune_unnamed(db, table, "SELECT NULL", first_id, last_id, err);
}

/* Those of a window: open at one of its events. */
static const char window_sql[] =
    "SELECT o.operation_id FROM input AS i JOIN operation AS o ON coalesce(o.begin_seq <= i.window_end_seq, 1)"
    " AND coalesce(o.end_seq >= i.window_begin_seq, 1) WHERE i.detail = 'window'";

/* Of few rows nobody has to know where they are: one part of each heap, which may hold all that it has. */
static const char births_sql[] = "INSERT INTO z_birth_part SELECT heap_id, 2, min(first_id), max(last_id), NULL, "
                                 "9223372036854775807, NULL, NULL, NULL,"
                                 " sum(cost_count) FROM z_birth_part WHERE is_long = 0 GROUP BY heap_id;"
                                 "DELETE FROM z_birth_part WHERE is_long < 2; UPDATE z_birth_part SET is_long = 0";

nm_status nm_prune(sqlite3 *db, nm_retention retention, nm_error *err)
{
    nm_status status = NM_OK;

    if (retention == NM_RETENTION_ALL)
        return NM_OK;
    if (retention == NM_RETENTION_NONE)
        status = nm_db_exec(db, "DELETE FROM z_allocation", err);
    if (status == NM_OK)
        status = nm_db_exec(db, births_sql, err);
    return status == NM_OK ? prune_unnamed(db, "operation", window_sql, 0, INT64_MAX, err) : status;
}
