/* SPDX-License-Identifier: Apache-2.0
 *
 * One INSERT a table, composed by SQLite from what both databases say of their columns: names are all that is asked of the old
 * one, so that nothing it says is run. A table that was internal had the name _x before version 8, and x before version 7.
 */
#include "store/older.h"

#include <stdint.h>
#include <string.h>

#include "store/database.h"
#include "store/question.h"
#include "store/schema.h"
#include "store/validate.h"

/* What columns of now are of a row `o` of an older version, which has no column of that name. A moment is of its process, or of
 * that of its heap or device, or else of the first input, which was the only one. */
#define EXPRESSIONS                                                                                                    \
    " CASE n.name || '.' || c.name"                                                                                    \
    " WHEN 'input.state' THEN 'CASE WHEN o.is_finished THEN ''ended'' ELSE ''cut'' END'"                               \
    " WHEN 'moment.input_id' THEN 'coalesce((SELECT p.input_id FROM older.process AS p WHERE p.process_id ="           \
    " coalesce(o.process_id, (SELECT h.process_id FROM older.heap AS h WHERE h.heap_id = o.heap_id),"                  \
    " (SELECT d.process_id FROM older.device AS d WHERE d.device_id = o.device_id))),"                                 \
    " (SELECT min(i.input_id) FROM older.input AS i))'"                                                                \
    " WHEN 'z_allocation.lived_ns' THEN 'o.free_ns - coalesce(o.alloc_ns, 0)'"                                         \
    " WHEN 'z_allocation.stream_number' THEN printf('(SELECT s.stream_number FROM \"%%w\".z_stream_number AS s WHERE"  \
    " s.heap_id IS o.heap_id AND s.stream = o.stream)', :to)"                                                          \
    " ELSE CASE WHEN n.name = 'input' AND c.name GLOB '*_basis' THEN '''exact''' WHEN c.\"notnull\" THEN '0' ELSE "    \
    "'NULL' END END"

/* Words of codes are ours: of equal numbers the first row stays. %w: to. */
static const char copies_sql[] =
    "SELECT n.name AS name, printf('INSERT OR IGNORE INTO \"%%w\".\"%%w\" (%%s) SELECT %%s FROM older.\"%%w\" AS o', "
    ":to,"
    " n.name, group_concat(printf('\"%%w\"', c.name)),"
    " group_concat(CASE WHEN k.name IS NULL THEN " EXPRESSIONS " ELSE printf('o.\"%%w\"', k.name) END), o.name) AS sql"
    " FROM \"%w\".sqlite_master AS n JOIN older.sqlite_master AS o ON o.type = 'table' AND o.rootpage > 0"
    " AND o.sql LIKE 'CREATE TABLE %%' AND o.name IN (n.name, CASE WHEN n.name GLOB 'z_*' THEN substr(n.name, 2) END,"
    " CASE WHEN n.name GLOB 'z_*' THEN substr(n.name, 3) END)"
    " JOIN pragma_table_info(n.name, :to) AS c LEFT JOIN pragma_table_info(o.name, 'older') AS k ON k.name = c.name"
    " WHERE n.type = 'table' AND n.name <> 'meta' GROUP BY n.name ORDER BY n.rowid";

static const char missing_sql[] =
    "SELECT CASE n.name WHEN 'z_allocation' THEN 'allocation' ELSE n.name END AS name FROM \"%w\".sqlite_master AS n "
    "WHERE n.type = 'table' AND (n.name NOT GLOB 'z_*' OR n.name = "
    "'z_allocation')"
    " AND n.name NOT IN ('finding', 'finding_group', 'evidence', 'minimum') AND NOT EXISTS "
    "(SELECT 1"
    " FROM older.sqlite_master AS o WHERE o.name = CASE n.name WHEN 'z_allocation' THEN 'allocation' ELSE n.name END "
    "AND o.type = 'table' AND o.rootpage > 0"
    " AND o.sql LIKE 'CREATE TABLE %%') ORDER BY n.rowid LIMIT 1";

/* What a user may have changed is the old one's. */
static const char facts_sql[] = "DELETE FROM \"%w\".plumbing; DELETE FROM \"%w\".z_threshold;"
                                "INSERT OR IGNORE INTO \"%w\".meta SELECT key, value FROM older.meta";

/* What rows of allocations name by a number. Nothing is asked but columns that are stored. */
static const char streams_sql[] =
    "SELECT printf('INSERT INTO \"%%w\".z_stream_number (heap_id, stream) SELECT DISTINCT heap_id, stream FROM"
    " older.allocation WHERE typeof(stream) = ''integer''', %Q) WHERE (SELECT count(*) FROM"
    " pragma_table_info('allocation', 'older') AS c WHERE c.name IN ('heap_id', 'stream')) = 2";

/* Nothing is known of where rows stand: they may be anywhere, and what is asked of them reads all. The last of the largest blocks of a KV
 * cache is found among them. */
static const char births_sql[] =
    "INSERT INTO \"%w\".z_outstanding_birth SELECT heap_id, stack_id, generation, is_doubtful, sum(allocation_count),"
    " sum(allocation_count * size_bytes), min(first_seq), max(last_seq), min(first_ns), graph_id, is_private"
    " FROM \"%w\".z_outstanding_sum GROUP BY heap_id, stack_id, generation, is_doubtful, graph_id, is_private;"
    " INSERT INTO \"%w\".z_birth_part SELECT h.heap_id, 0, 1, a.last_id, NULL, 9223372036854775807, NULL, NULL, NULL, 1"
    " FROM \"%w\".heap AS h CROSS JOIN (SELECT max(l.allocation_id) AS last_id FROM \"%w\".z_allocation AS l) AS a"
    " WHERE a.last_id IS NOT NULL; INSERT INTO \"%w\".z_block_size SELECT h.heap_id, NULL, 0, 0, 0, 0, 0, 0"
    " FROM \"%w\".heap AS h; INSERT INTO \"%w\".z_largest_cache SELECT process_id, seq FROM (SELECT h.process_id AS "
    "process_id,"
    " a.alloc_seq AS seq, row_number() OVER (PARTITION BY h.process_id ORDER BY a.size_bytes DESC, a.alloc_seq DESC) "
    "AS place"
    " FROM \"%w\".z_allocation AS a JOIN \"%w\".heap AS h ON h.heap_id = a.heap_id JOIN \"%w\".z_category AS c ON "
    "c.category_id ="
    " a.category_id WHERE c.name = 'KV cache' AND a.is_segment = 0 AND h.device_id IS NOT NULL AND h.process_id IS NOT"
    " NULL) WHERE place = 1";

bool nm_older_is(const char *path)
{
    sqlite3 *db = NULL;
    nm_buffer uri = {0};
    int64_t id = 0, version = 0;
    bool is_read =
        nm_db_uri(path, "mode=ro", &uri, NULL) == NM_OK &&
        sqlite3_open_v2((const char *)uri.data, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) == SQLITE_OK &&
        nm_db_get_int(db, "PRAGMA application_id", &id, NULL) == NM_OK &&
        nm_db_get_int(db, "PRAGMA user_version", &version, NULL) == NM_OK;

    sqlite3_close(db);
    nm_buffer_free(&uri);
    return is_read && id == NM_APPLICATION_ID && version >= NM_SCHEMA_OLDEST && version < NM_SCHEMA_VERSION;
}

static bool is_large(const char *name)
{
    return nm_schema_is_large((nm_bytes){(const uint8_t *)name, strlen(name)});
}

static nm_status copy_tables(sqlite3 *db, const char *to, bool has_large, nm_error *err)
{
    sqlite3_stmt *copies = NULL;
    char *sql = sqlite3_mprintf(copies_sql, to);
    nm_status status = nm_db_prepare(db, sql, &copies, err);

    sqlite3_free(sql);
    if (status == NM_OK)
        nm_question_bind_text(copies, ":to", to);
    while (status == NM_OK && sqlite3_step(copies) == SQLITE_ROW)
        if (has_large || !is_large(nm_named_text(copies, "name")))
            status = nm_db_exec(db, nm_named_text(copies, "sql"), err);
    return nm_question_end(copies, status, err);
}

/* A database of ours has all tables that users know, but for those that are younger. */
static nm_status find_missing(sqlite3 *db, const char *to, nm_error *err)
{
    char *name = NULL, *sql = sqlite3_mprintf(missing_sql, to);
    nm_status status = nm_db_get_text(db, sql, &name, err);

    sqlite3_free(sql);
    if (status == NM_OK && name != NULL)
        status = nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "not a database of npumem-ingest: it has no table %s", name);
    sqlite3_free(name);
    return status;
}

nm_status nm_older_copy(sqlite3 *db, const char *to, bool has_large, nm_error *err)
{
    char *streams = sqlite3_mprintf(streams_sql, to);
    char *facts = sqlite3_mprintf(facts_sql, to, to, to),
         *births = sqlite3_mprintf(births_sql, to, to, to, to, to, to, to, to, to, to, to);
    nm_status status = nm_schema_create_in(db, to, err);

    if (status == NM_OK)
        status = find_missing(db, to, err);
    if (status == NM_OK)
        status = nm_db_exec(db, facts, err);
    if (status == NM_OK && has_large)
        status = nm_db_exec_each(db, streams, err);
    if (status == NM_OK)
        status = copy_tables(db, to, has_large, err);
    if (status == NM_OK)
        status = nm_db_exec(db, births, err);
    sqlite3_free(births);
    sqlite3_free(streams);
    sqlite3_free(facts);
    return status;
}
