/* SPDX-License-Identifier: Apache-2.0
 *
 * Which tables name operations is asked of the schema, so that a new table needs no line here.
 */
#include "store/prune.h"

#include "store/database.h"

/* The statement that deletes operations which no row names, nor an operation that some row names is within: the tables that
 * name any stand in the schema. */
static const char operations_sql[] =
    "SELECT 'DELETE FROM operation WHERE operation_id NOT IN (WITH RECURSIVE named (id) AS (SELECT NULL'"
    " || coalesce(group_concat(printf(' UNION SELECT \"%w\" FROM \"%w\" WHERE \"%w\" IS NOT NULL',"
    " f.\"from\", m.name, f.\"from\"), ''), '')"
    " || ' UNION SELECT parent_id FROM operation JOIN named ON named.id = operation.operation_id)"
    " SELECT id FROM named WHERE id IS NOT NULL)' FROM sqlite_master AS m JOIN pragma_foreign_key_list(m.name) AS f"
    " WHERE m.type = 'table' AND f.\"table\" = 'operation' AND m.name NOT IN ('operation', 'left_out')";

static nm_status delete_operations(sqlite3 *db, nm_error *err)
{
    sqlite3_stmt *row = NULL;
    nm_status status = nm_db_prepare(db, operations_sql, &row, err);

    if (status == NM_OK && sqlite3_step(row) == SQLITE_ROW)
        status = nm_db_exec(db, (const char *)sqlite3_column_text(row, 0), err);
    else if (status == NM_OK)
        status = nm_db_fail(db, err);
    sqlite3_finalize(row);
    return status;
}

static nm_status write_row(sqlite3 *db, const nm_last_numbers *last, nm_error *err)
{
    static const nm_columns columns = {"left_out", "input_id last_allocation_id last_copy_id last_operation_id "
                                                   "last_workspace_id last_stream_call_id allocation_count "};
    nm_insert insert = {0};
    int64_t kept_count = 0;
    nm_status status = nm_db_get_int(db, "SELECT count(*) FROM allocation", &kept_count, err);

    if (status == NM_OK)
        status = nm_insert_open(db, &columns, &insert, err);
    if (status != NM_OK)
        return status;
    nm_insert_int(&insert, 1);
    nm_insert_id(&insert, last->allocation_id);
    nm_insert_id(&insert, last->copy_id);
    nm_insert_id(&insert, last->operation_id);
    nm_insert_id(&insert, last->workspace_id);
    nm_insert_id(&insert, last->stream_call_id);
    nm_insert_int(&insert, (int64_t)last->allocation_count - kept_count);
    status = nm_insert_end(&insert, err);
    nm_insert_close(&insert);
    return status;
}

nm_status nm_prune(sqlite3 *db, nm_retention retention, const nm_last_numbers *last, nm_error *err)
{
    nm_status status = NM_OK;

    if (retention == NM_RETENTION_ALL)
        return NM_OK;
    if (retention == NM_RETENTION_NONE)
        status = nm_db_exec(db, "DELETE FROM allocation", err);
    if (status == NM_OK)
        status = delete_operations(db, err);
    return status == NM_OK ? write_row(db, last, err) : status;
}
