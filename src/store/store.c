/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of a database's life: tables, rows (loader.c), what follows from rows (verdicts/), what is not to be kept, views,
 * checks, and its place. Each is done elsewhere; here stands only what comes after what, and that nothing is left on failure.
 */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/findings/findings.h"
#include "store/loader.h"
#include "store/own_file.h"
#include "store/plumbing.h"
#include "store/prune.h"
#include "store/publish.h"
#include "store/question.h"
#include "store/redact.h"
#include "store/schema.h"
#include "store/verdicts/verdicts.h"

struct nm_store {
    nm_store_role role;
    nm_retention retention;
    nm_draft draft;
    const char
        *shown_path; /* of the draft, as errors name it; NULL: it is for another output, which the caller knows */
    int64_t server_minutes;
    bool is_plain, is_forced, is_redacted, adopts_thresholds;
    bool has_checked_pages; /* of large tables, as they still are: SQLite has written no row of theirs */
    nm_redact redact;       /* what was replaced */
    sqlite3 *db;
    nm_loader loader;
    uint64_t unknown_reference_count; /* once the loader is closed */
    nm_frame_name_counts name_counts;
};

/* The file is private until it is published, so SQLite need not protect it: no journal, no sync, no locks. */
static const char open_sql[] = "PRAGMA journal_mode = OFF;"
                               "PRAGMA synchronous = OFF;"
                               "PRAGMA main.locking_mode = EXCLUSIVE;" /* an input that is attached is only read */
                               "PRAGMA cache_size = -16384;"
                               "PRAGMA trusted_schema = OFF;"
                               "PRAGMA temp_store = MEMORY;";

nm_status nm_store_check_output(const char *path, const nm_store_options *options, nm_error *err)
{
    return nm_output_check(path, options->is_forced, options->input_fd, err);
}

/* Where SQLite inserts every row, the pages have to be kept that late rows of old allocations go to. */
static const char plain_sql[] = "PRAGMA cache_size = -131072";

/* An empty database of ours: as the build has made it, where SQLite is not to do it all. */
static nm_status open_empty(nm_store *store, bool is_plain, nm_error *err)
{
    bool is_written = false;
    nm_status status = is_plain ? NM_OK : nm_schema_write_image(store->draft.fd, &is_written, err);

    if (status == NM_OK)
        status = nm_db_open_own(store->draft.temporary_path, store->draft.fd, &store->db, err);
    if (status == NM_OK)
        status = nm_db_exec(store->db, open_sql, err);
    return status == NM_OK && !is_written ? nm_schema_create(store->db, err) : status;
}

/* SQLite writes a row itself: by INSERT where a table cannot be pages, or when a verdict corrects it. */
static void note_change(void *context, int operation, const char *database, const char *table, sqlite3_int64 row_id)
{
    nm_store *store = context;

    (void)operation;
    (void)row_id;
    if (store->has_checked_pages && strcmp(database, "main") == 0 &&
        nm_schema_is_large((nm_bytes){(const uint8_t *)table, strlen(table)}))
        store->has_checked_pages = false;
}

static nm_status create_database(nm_store *store, const nm_store_options *options, nm_error *err)
{
    nm_status status = open_empty(store, options->is_plain, err);

    if (status == NM_OK && (options->is_plain || store->role == NM_STORE_MERGED))
        status = nm_db_exec(store->db, plain_sql, err);
    if (status == NM_OK)
        status = nm_db_exec(store->db, "BEGIN", err);
    if (status == NM_OK)
        status = nm_plumbing_add(store->db, options->site_rules, err);
    if (status == NM_OK && options->thresholds != NULL)
        status = nm_thresholds_apply(store->db, options->thresholds, err);
    if (status != NM_OK)
        return status;
    if (store->role == NM_STORE_MERGED) {
        status = nm_db_exec(store->db, "COMMIT", err); /* nothing can be attached inside a transaction */
        return status == NM_OK ? nm_merge_plan(store->db, err) : status;
    }
    /* What is emptied or rewritten as a whole, SQLite says nothing of. */
    store->has_checked_pages = options->retention == NM_RETENTION_ALL && !store->is_redacted;
    sqlite3_update_hook(store->db, note_change, store);
    const nm_bulk_options bulk = {
        .path = store->draft.temporary_path, .fd = store->draft.fd, .is_plain = options->is_plain};
    status = nm_loader_open(store->db, options->retention, &bulk, &store->loader, err);
    if (options->retention == NM_RETENTION_WINDOW)
        store->loader.retained.window = nm_window_of(options->window);
    return status;
}

nm_status nm_store_open(const char *path, const nm_store_options *options, nm_store **out, nm_error *err)
{
    bool is_hidden = options->role == NM_STORE_PART || options->is_scratch;
    nm_status status = is_hidden ? NM_OK : nm_store_check_output(path, options, err);
    nm_store *store = status == NM_OK ? calloc(1, sizeof *store) : NULL;

    if (status != NM_OK)
        return status;
    if (store == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    store->role = options->role;
    store->retention = options->retention;
    store->server_minutes = options->server_minutes;
    store->is_plain = options->is_plain;
    store->is_forced = options->is_forced;
    store->adopts_thresholds = options->adopts_thresholds;
    store->is_redacted = options->is_redacted && options->role != NM_STORE_PART;
    status = nm_draft_begin(path, &store->draft, err);
    store->shown_path = is_hidden ? NULL : store->draft.path;
    if (status == NM_OK)
        status = create_database(store, options, err);
    store->loader.namer = options->namer;
    store->loader.output_path = store->shown_path;
    if (status == NM_OK)
        *out = store;
    else {
        nm_name_written(status, store->shown_path, err);
        nm_store_close(store);
    }
    return status;
}

const nm_sink *nm_store_sink(nm_store *store)
{
    return &store->loader.sink;
}

/*
 * References between the small tables. The large ones are not walked again: the loader has checked theirs one by one. Rows
 * that the retention leaves out may be named.
 */
static nm_status check_references(sqlite3 *db, nm_error *err)
{
    char *table = NULL;
    nm_status status = nm_db_get_text(db,
                                      "SELECT m.name FROM sqlite_master AS m WHERE m.type = 'table' AND m.name NOT IN "
                                      "(" NM_LARGE_TABLES_SQL ", 'z_left_out') AND EXISTS"
                                      " (SELECT 1 FROM pragma_foreign_key_check(m.name) AS k WHERE k.parent NOT IN"
                                      " ('z_allocation', 'copy') OR NOT EXISTS (SELECT 1 FROM z_left_out))",
                                      &table, err);

    if (status == NM_OK && table != NULL)
        status = nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET, "table %s names rows that are not there", table);
    sqlite3_free(table);
    return status;
}

/* `sql` is a quick_check of one row, or of one table. */
static nm_status quick_check(sqlite3 *db, const char *sql, nm_error *err)
{
    char *said = NULL;
    nm_status status = nm_db_get_text(db, sql, &said, err);

    if (status == NM_OK && (said == NULL || strcmp(said, "ok") != 0))
        status = nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET, "the new database is damaged: %.100s",
                         said == NULL ? "" : said);
    sqlite3_free(said);
    return status;
}

/* All tables, and the list of what there is, but the large ones, which were checked when their pages were written. */
static nm_status check_small_tables(sqlite3 *db, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_db_prepare(db,
                                     "SELECT printf('PRAGMA quick_check(\"%w\")', name) AS check_sql FROM sqlite_master"
                                     " WHERE type = 'table' AND name NOT IN (" NM_LARGE_TABLES_SQL ")"
                                     " UNION ALL SELECT 'PRAGMA quick_check(sqlite_master)'",
                                     &rows, err);

    while (status == NM_OK && sqlite3_step(rows) == SQLITE_ROW)
        status = quick_check(db, nm_named_text(rows, "check_sql"), err);
    return nm_question_end(rows, status, err);
}

/* A check of one table is younger than the SQLite that suffices otherwise. */
static nm_status check_pages(const nm_store *store, nm_error *err)
{
    return store->has_checked_pages && sqlite3_libversion_number() >= 3033000
               ? check_small_tables(store->db, err)
               : quick_check(store->db, "PRAGMA quick_check(1)", err);
}

/* Rows that were left out again may have taken up much of the file. */
static nm_status give_back_pages(sqlite3 *db, nm_error *err)
{
    int64_t free_count = 0, page_count = 0;
    nm_status status = nm_db_get_int(db, "PRAGMA freelist_count", &free_count, err);

    if (status == NM_OK)
        status = nm_db_get_int(db, "PRAGMA page_count", &page_count, err);
    return status == NM_OK && free_count > page_count / 8 ? nm_db_exec(db, "VACUUM", err) : status;
}

/* What comes after the rows. */
static nm_status finish_schema(nm_store *store, nm_error *err)
{
    nm_status status = store->is_redacted ? nm_redact_tables(store->db, &store->redact, err) : NM_OK;

    if (status == NM_OK)
        status =
            store->is_plain ? nm_schema_apply(store->db, NM_SCHEMA_VIEWS, err) : nm_schema_add_views(store->db, err);
    if (status == NM_OK)
        status = nm_schema_read_views(store->db, err);
    if (status == NM_OK)
        status = nm_findings_write(store->db, err);
    if (status == NM_OK)
        status = nm_db_exec(store->db, "COMMIT", err);
    if (status == NM_OK)
        status = store->is_redacted ? nm_redact_wipe(store->db, err) : give_back_pages(store->db, err);
    if (status == NM_OK)
        status = check_references(store->db, err);
    if (status == NM_OK)
        status = check_pages(store, err);
    return status;
}

static nm_status give_rank(sqlite3 *db, int64_t rank, nm_error *err)
{
    char sql[160];

    snprintf(sql, sizeof sql,
             "UPDATE process SET rank = %" PRId64 " WHERE NOT EXISTS (SELECT 1 FROM process WHERE rank IS NOT NULL)",
             rank);
    return nm_db_exec(db, sql, err);
}

nm_status nm_store_event(nm_store *store, int64_t seq, int64_t ns, nm_error *err)
{
    return nm_window_event(&store->loader.retained.window, seq, ns, err);
}

nm_status nm_store_finish(nm_store *store, const nm_input_row *input, nm_error *err)
{
    nm_verdict_rows rows;
    const nm_verdict_settings settings = {.server_minutes = store->server_minutes, .rows = &rows};
    nm_status status = nm_loader_finish(&store->loader, input, err);

    rows = store->loader.verdict_rows;
    store->loader.verdict_rows = nm_verdict_rows_none();
    store->unknown_reference_count = store->loader.unknown_reference_count;
    store->name_counts = store->loader.name_counts;
    if (status == NM_OK && input->has_rank)
        status = give_rank(store->db, input->rank, err);
    nm_loader_close(&store->loader); /* the virtual tables go with it, before the schema is changed */
    if (status == NM_OK)
        status = nm_verdicts_run(store->db, NM_VERDICTS_OF_INPUT, &settings, err);
    nm_verdict_rows_free(&rows);
    if (status == NM_OK)
        status = nm_prune(store->db, store->retention, err);
    if (status == NM_OK)
        status = store->role == NM_STORE_PART ? nm_db_exec(store->db, "COMMIT", err) : finish_schema(store, err);
    return nm_name_written(status, store->shown_path, err);
}

nm_status nm_store_seal(nm_store *part, const char **path, nm_error *err)
{
    if (sqlite3_close(part->db) != SQLITE_OK)
        return nm_db_fail(part->db, err);
    part->db = NULL;
    *path = part->draft.temporary_path;
    return NM_OK;
}

nm_status nm_store_merge_part(nm_store *store, const char *path, const nm_merge_origin *origin, nm_error *err)
{
    nm_status status = nm_own_file_begin(path, err);

    if (status == NM_OK)
        status = nm_store_merge_with(store, path, &(nm_merge_options){.is_own = true, .origin = origin}, err);
    nm_own_file_end();
    return status;
}

nm_status nm_store_merge_file(nm_store *store, const char *path, const nm_merge_origin *origin, nm_error *err)
{
    const nm_merge_options options = {
        .adopts_thresholds = store->adopts_thresholds, .retention = store->retention, .origin = origin};

    return nm_store_merge_with(store, path, &options, err);
}

nm_status nm_store_merge_with(nm_store *store, const char *path, const nm_merge_options *options, nm_error *err)
{
    return nm_name_written(nm_merge_database(store->db, path, options, err), store->shown_path, err);
}

nm_status nm_store_finish_merged(nm_store *store, nm_error *err)
{
    nm_status status = nm_db_exec(store->db, "BEGIN", err);

    if (status == NM_OK)
        status = nm_verdicts_begin(store->db, err);
    if (status == NM_OK)
        status = nm_verdicts_run(store->db, NM_VERDICTS_OF_MERGED, NULL, err);
    if (status == NM_OK)
        status = nm_prune(store->db, store->retention, err);
    if (status == NM_OK)
        status = finish_schema(store, err);
    return nm_name_written(status, store->shown_path, err);
}

sqlite3 *nm_store_db(nm_store *store)
{
    return store->db;
}

uint64_t nm_store_unknown_references(const nm_store *store)
{
    return store->unknown_reference_count;
}

const nm_frame_name_counts *nm_store_name_counts(const nm_store *store)
{
    return &store->name_counts;
}

nm_status nm_store_publish(nm_store *store, nm_error *err)
{
    if (sqlite3_close(store->db) != SQLITE_OK)
        return nm_db_fail(store->db, err);
    store->db = NULL;
    return nm_draft_publish(&store->draft, store->is_forced, err);
}

nm_status nm_store_take(nm_store *store, int *fd, nm_error *err)
{
    if (sqlite3_close(store->db) != SQLITE_OK)
        return nm_db_fail(store->db, err);
    store->db = NULL;
    *fd = fcntl(store->draft.fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    nm_draft_end(&store->draft);
    return *fd >= 0 && lseek(*fd, 0, SEEK_SET) == 0 ? NM_OK : nm_fail_errno(err, errno, "cannot read");
}

nm_status nm_store_redact(nm_store *store, nm_redact_role role, nm_bytes text, nm_buffer *out, nm_error *err)
{
    return nm_redact_text(&store->redact, role, text, out, err);
}

void nm_store_close(nm_store *store)
{
    if (store == NULL)
        return;
    nm_loader_close(&store->loader);
    sqlite3_close(store->db);
    nm_draft_end(&store->draft);
    nm_redact_free(&store->redact);
    free(store);
}
