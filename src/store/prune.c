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
    " WHERE m.type = 'table' AND f.\"table\" = 'operation' AND m.name NOT IN ('operation', '_left_out')";

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

nm_status nm_prune(sqlite3 *db, nm_retention retention, nm_error *err)
{
    nm_status status = NM_OK;

    if (retention == NM_RETENTION_ALL)
        return NM_OK;
    if (retention == NM_RETENTION_NONE)
        status = nm_db_exec(db, "DELETE FROM allocation", err);
    return status == NM_OK ? delete_operations(db, err) : status;
}
