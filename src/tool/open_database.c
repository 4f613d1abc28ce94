/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/open_database.h"

#include <inttypes.h>
#include <sys/stat.h>

#include "store/database.h"
#include "store/schema.h"

#define TEXT_IN_DATABASE_MAX (64 * 1024 * 1024)

static nm_status check_version(sqlite3 *db, nm_error *err)
{
    int64_t version = NM_NULL;
    nm_status status;

    status = nm_db_get_int(db, "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'schema_version'", &version, err);
    if (status != NM_OK || version == NM_NULL)
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "not a database of npumem-ingest: %.80s",
                       status != NM_OK ? sqlite3_errmsg(db) : "it has no schema_version");
    if (version != NM_SCHEMA_VERSION)
        return nm_fail(err, NM_ERR_VERSION, NM_NO_OFFSET, "has schema version %" PRId64 ", this program reads %d",
                       version, NM_SCHEMA_VERSION);
    return NM_OK;
}

/* SQLite would wait for a pipe, and call a folder by a word that helps nobody. */
static nm_status check_file(const char *path, nm_error *err)
{
    struct stat info;

    if (stat(path, &info) != 0)
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "cannot open: no such file");
    if (!S_ISREG(info.st_mode))
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "not a file");
    return NM_OK;
}

nm_status open_database(const char *path, sqlite3 **out, nm_error *err)
{
    nm_status status = check_file(path, err);

    *out = NULL;
    if (status != NM_OK)
        return status;
    if (sqlite3_open_v2(path, out, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        status = *out == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : nm_db_fail(*out, err);
    if (status == NM_OK) {
        sqlite3_limit(*out, SQLITE_LIMIT_LENGTH, TEXT_IN_DATABASE_MAX);
        status =
            nm_db_exec(*out, "PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA cell_size_check = ON", err);
    }
    if (status == NM_OK)
        status = check_version(*out, err);
    if (status != NM_OK) {
        sqlite3_close(*out);
        *out = NULL;
    }
    return status;
}
