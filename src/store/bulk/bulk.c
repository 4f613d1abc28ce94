/* SPDX-License-Identifier: Apache-2.0
 *
 * The two sides of the queue of batches, and what is asked of a table. The thread knows nothing of SQLite, which may be
 * used by the caller's thread alone. Where no thread can be had, a batch is worked off where it is full.
 */
#include "store/bulk/bulk.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/bulk/row_order.h"
#include "store/bulk/sql_rows.h"
#include "store/bulk/table_check.h"
#include "store/bulk/table_file.h"

#define BATCH_VALUES  32768 /* integers: 256 KiB */
#define BATCHES_AHEAD 4     /* that may wait, beside the one that each table fills */

typedef struct row_batch {
    struct row_batch *next; /* in the queue, or among those that are free */
    nm_bulk *bulk;          /* borrowed; whose rows these are */
    size_t row_count;
    int64_t values[BATCH_VALUES];
} row_batch;

struct nm_bulk {
    nm_bulks *bulks; /* borrowed */
    nm_bulk *next;   /* of the same database */
    char table[64];
    size_t column_count, batch_rows;
    uint64_t row_count;
    int64_t root_page;                     /* NM_NULL: its rows go by INSERT */
    uint8_t has_null[NM_CELL_COLUMNS_MAX]; /* may a column be NULL */
    row_batch *filled;                     /* owned; NULL before the first row */
    nm_row_order *order;                   /* owned; the thread's, until it has ended */
    nm_sql_rows *rows;                     /* owned; in place of runs and batches, by INSERT */
};

struct nm_bulks {
    sqlite3 *db; /* borrowed */
    nm_bulk_options options;
    nm_bulk *first, *last; /* owned; in the order in which they were opened */
    size_t bulk_count, batch_count;
    bool has_thread;
    pthread_t thread;
    pthread_mutex_t lock; /* for all that follows */
    pthread_cond_t has_batch, has_free;
    row_batch *queue, **queue_end; /* owned; full, and not yet worked off */
    row_batch *free;               /* owned */
    bool is_ending;
    nm_status status; /* of the first batch that failed */
    nm_error err;
};

/* ---- The thread's side ------------------------------------------------------------------------------------------- */

static nm_status work_off(const row_batch *batch, nm_error *err)
{
    nm_bulk *bulk = batch->bulk;
    nm_status status = NM_OK;

    for (size_t row = 0; row < batch->row_count && status == NM_OK; row++)
        status = nm_row_order_add(bulk->order, batch->values + row * bulk->column_count, bulk->column_count, err);
    return status;
}

/* Under the lock, which is let go meanwhile. After a failure batches are only passed on. */
static void serve_next(nm_bulks *bulks)
{
    row_batch *batch = bulks->queue;
    bool is_failed = bulks->status != NM_OK;
    nm_error err = {0};

    bulks->queue = batch->next;
    if (bulks->queue == NULL)
        bulks->queue_end = &bulks->queue;
    pthread_mutex_unlock(&bulks->lock);
    nm_status status = is_failed ? NM_OK : work_off(batch, &err);
    pthread_mutex_lock(&bulks->lock);
    if (status != NM_OK) {
        bulks->status = status;
        bulks->err = err;
    }
    batch->next = bulks->free;
    bulks->free = batch;
    pthread_cond_signal(&bulks->has_free);
}

static void *serve(void *context)
{
    nm_bulks *bulks = context;

    pthread_mutex_lock(&bulks->lock);
    while (bulks->queue != NULL || !bulks->is_ending) {
        if (bulks->queue != NULL)
            serve_next(bulks);
        else
            pthread_cond_wait(&bulks->has_batch, &bulks->lock);
    }
    pthread_mutex_unlock(&bulks->lock);
    return NULL;
}

/* Signals are for the thread that knows what to do with them. */
static void start_thread(nm_bulks *bulks)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bulks->has_thread = pthread_create(&bulks->thread, NULL, serve, bulks) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void end_thread(nm_bulks *bulks)
{
    if (!bulks->has_thread)
        return;
    pthread_mutex_lock(&bulks->lock);
    bulks->is_ending = true;
    pthread_cond_signal(&bulks->has_batch);
    pthread_mutex_unlock(&bulks->lock);
    pthread_join(bulks->thread, NULL);
    bulks->has_thread = false;
}

/* ---- The caller's side ------------------------------------------------------------------------------------------- */

nm_status nm_bulks_new(sqlite3 *db, const nm_bulk_options *options, nm_bulks **out, nm_error *err)
{
    nm_bulks *bulks = calloc(1, sizeof *bulks);

    *out = bulks;
    if (bulks == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    bulks->db = db;
    bulks->options = *options;
    if (bulks->options.memory_bytes == 0)
        bulks->options.memory_bytes = NM_BULK_MEMORY_BYTES;
    bulks->queue_end = &bulks->queue;
    pthread_mutex_init(&bulks->lock, NULL);
    pthread_cond_init(&bulks->has_batch, NULL);
    pthread_cond_init(&bulks->has_free, NULL);
    if (!options->is_plain)
        start_thread(bulks);
    return NM_OK;
}

/* Is it nothing that pages written past SQLite could not keep? *root_page is NM_NULL otherwise. */
static nm_status find_root(nm_bulk *bulk, int64_t *root_page, nm_error *err)
{
    static const char form[] = "SELECT m.rootpage FROM main.sqlite_master AS m WHERE m.type = 'table' AND m.name = '%s'"
                               " AND m.sql NOT LIKE '%%CHECK%%' AND m.sql NOT LIKE '%%WITHOUT%%'"
                               " AND NOT EXISTS (SELECT 1 FROM main.sqlite_master AS o WHERE o.type IN ('index', "
                               "'trigger') AND o.tbl_name = m.name)"
                               " AND NOT EXISTS (SELECT 1 FROM pragma_table_info(m.name) AS c WHERE c.type <> 'INTEGER'"
                               " OR c.dflt_value IS NOT NULL OR c.pk <> (c.cid = 0))";
    char sql[1024];

    *root_page = NM_NULL;
    if (bulk->bulks->options.is_plain || bulk->column_count > NM_CELL_COLUMNS_MAX)
        return NM_OK;
    snprintf(sql, sizeof sql, form, bulk->table);
    return nm_db_get_int(bulk->bulks->db, sql, root_page, err);
}

static nm_status find_nulls(nm_bulk *bulk, nm_error *err)
{
    sqlite3_stmt *columns = NULL;
    char sql[128];

    snprintf(sql, sizeof sql, "SELECT c.cid, c.\"notnull\" FROM pragma_table_info('%s') AS c", bulk->table);
    nm_status status = nm_db_prepare(bulk->bulks->db, sql, &columns, err);
    while (status == NM_OK && sqlite3_step(columns) == SQLITE_ROW)
        bulk->has_null[sqlite3_column_int(columns, 0)] = sqlite3_column_int(columns, 1) == 0;
    sqlite3_finalize(columns);
    return status;
}

nm_status nm_bulks_open(nm_bulks *bulks, const nm_columns *columns, nm_bulk **out, nm_error *err)
{
    int column_count = 0;
    nm_status status = nm_columns_check(bulks->db, columns, &column_count, err);
    nm_bulk *bulk = status == NM_OK ? calloc(1, sizeof *bulk) : NULL;

    if (status != NM_OK)
        return status;
    if (bulk == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (bulks->last != NULL)
        bulks->last->next = bulk;
    else
        bulks->first = bulk;
    bulks->last = bulk;
    bulks->bulk_count++;
    *out = bulk;
    bulk->bulks = bulks;
    bulk->column_count = (size_t)column_count;
    bulk->batch_rows = BATCH_VALUES / bulk->column_count;
    snprintf(bulk->table, sizeof bulk->table, "%s", columns->table);
    status = find_root(bulk, &bulk->root_page, err);
    if (status != NM_OK)
        return status;
    if (bulk->root_page == NM_NULL)
        return nm_sql_rows_open(bulks->db, columns, &bulk->rows, err);
    status = find_nulls(bulk, err);
    return status == NM_OK ? nm_row_order_new(bulks->options.path, bulks->options.memory_bytes, &bulk->order, err)
                           : status;
}

/* Under the lock. NULL, with no failure of the thread: there is no memory. */
static row_batch *take_free(nm_bulks *bulks)
{
    while (bulks->free == NULL && bulks->status == NM_OK && bulks->batch_count >= bulks->bulk_count + BATCHES_AHEAD)
        pthread_cond_wait(&bulks->has_free, &bulks->lock);
    row_batch *taken = bulks->free;
    if (bulks->status != NM_OK)
        return NULL;
    if (taken != NULL) {
        bulks->free = taken->next;
        return taken;
    }
    taken = malloc(sizeof *taken);
    bulks->batch_count += taken != NULL;
    return taken;
}

/* Under the lock: the rows so far go to the thread, or are worked off here. */
static void hand_over(nm_bulk *bulk)
{
    nm_bulks *bulks = bulk->bulks;

    if (bulk->filled == NULL)
        return;
    bulk->filled->next = NULL;
    *bulks->queue_end = bulk->filled;
    bulks->queue_end = &bulk->filled->next;
    bulk->filled = NULL;
    if (bulks->has_thread)
        pthread_cond_signal(&bulks->has_batch);
    else
        serve_next(bulks);
}

static nm_status failure(const nm_bulks *bulks, nm_error *err)
{
    if (err != NULL)
        *err = bulks->err;
    return bulks->status;
}

static nm_status begin_batch(nm_bulk *bulk, nm_error *err)
{
    nm_bulks *bulks = bulk->bulks;

    pthread_mutex_lock(&bulks->lock);
    hand_over(bulk);
    bulk->filled = take_free(bulks);
    nm_status status = bulk->filled != NULL     ? NM_OK
                       : bulks->status != NM_OK ? failure(bulks, err)
                                                : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    pthread_mutex_unlock(&bulks->lock);
    if (status == NM_OK) {
        bulk->filled->bulk = bulk;
        bulk->filled->row_count = 0;
    }
    return status;
}

nm_status nm_bulk_next(nm_bulk *bulk, int64_t **values, nm_error *err)
{
    nm_status status = NM_OK;

    bulk->row_count++;
    if (bulk->rows != NULL)
        return nm_sql_rows_next(bulk->rows, values, err);
    if (bulk->filled == NULL || bulk->filled->row_count == bulk->batch_rows)
        status = begin_batch(bulk, err);
    if (status == NM_OK)
        *values = bulk->filled->values + bulk->filled->row_count++ * bulk->column_count;
    return status;
}

uint64_t nm_bulk_row_count(const nm_bulk *bulk)
{
    return bulk->row_count;
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static nm_status add_cell(void *context, const nm_cell *cell, nm_error *err)
{
    return nm_table_file_add(context, cell, err);
}

static nm_status write_table(nm_bulk *bulk, nm_table_file *file, nm_error *err)
{
    if (bulk->order == NULL)
        return NM_OK;
    nm_status status = nm_table_file_begin(file, bulk->root_page, err);

    if (status == NM_OK)
        status = nm_row_order_each(bulk->order, add_cell, file, err);
    if (status == NM_OK)
        status = nm_table_file_end(file, err);
    nm_row_order_free(bulk->order);
    bulk->order = NULL;
    return status;
}

static nm_status write_tables(nm_bulks *bulks, nm_error *err)
{
    nm_table_file *file = NULL;
    nm_status status = nm_table_file_open(bulks->options.fd, &file, err);

    for (nm_bulk *bulk = bulks->first; bulk != NULL && status == NM_OK; bulk = bulk->next)
        status = write_table(bulk, file, err);
    if (status == NM_OK)
        status = nm_table_file_finish(file, err);
    nm_table_file_free(file);
    return status;
}

static nm_status check_tables(const nm_bulks *bulks, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_bulk *bulk = bulks->first; bulk != NULL && status == NM_OK; bulk = bulk->next) {
        nm_table_form form = {.root_page = (uint32_t)bulk->root_page,
                              .row_count = bulk->row_count,
                              .column_count = bulk->column_count,
                              .has_null = bulk->has_null};

        if (bulk->root_page != NM_NULL)
            status = nm_table_check(bulks->options.fd, &form, err);
    }
    return status;
}

static nm_status flush_rows(nm_bulks *bulks, nm_error *err)
{
    nm_status status = NM_OK;

    for (nm_bulk *bulk = bulks->first; bulk != NULL && status == NM_OK; bulk = bulk->next)
        if (bulk->rows != NULL)
            status = nm_sql_rows_flush(bulk->rows, err);
    return status;
}

/*
 * The connection may have temporary tables that are still wanted, so it is not closed: it lets go of its lock, with the first
 * read in its normal mode, and when it takes one again it finds by the file's change counter that it has to forget its pages.
 */
nm_status nm_bulks_finish(nm_bulks *bulks, nm_error *err)
{
    nm_status status = flush_rows(bulks, err);

    if (status != NM_OK || bulks->options.is_plain)
        return status;
    pthread_mutex_lock(&bulks->lock);
    for (nm_bulk *bulk = bulks->first; bulk != NULL; bulk = bulk->next)
        hand_over(bulk);
    pthread_mutex_unlock(&bulks->lock);
    end_thread(bulks);
    if (bulks->status != NM_OK)
        return failure(bulks, err);
    status = nm_db_exec(bulks->db,
                        "COMMIT; PRAGMA main.locking_mode = NORMAL; SELECT 1 FROM main.sqlite_master LIMIT 1", err);
    if (status == NM_OK)
        status = write_tables(bulks, err);
    if (status == NM_OK)
        status = check_tables(bulks, err);
    return status == NM_OK ? nm_db_exec(bulks->db, "PRAGMA main.locking_mode = EXCLUSIVE; BEGIN", err) : status;
}

static void free_batches(row_batch *first)
{
    while (first != NULL) {
        row_batch *next = first->next;

        free(first);
        first = next;
    }
}

void nm_bulks_free(nm_bulks *bulks)
{
    if (bulks == NULL)
        return;
    end_thread(bulks);
    for (nm_bulk *bulk = bulks->first; bulk != NULL;) {
        nm_bulk *next = bulk->next;

        free(bulk->filled);
        nm_row_order_free(bulk->order);
        nm_sql_rows_close(bulk->rows);
        free(bulk);
        bulk = next;
    }
    free_batches(bulks->queue);
    free_batches(bulks->free);
    pthread_cond_destroy(&bulks->has_free);
    pthread_cond_destroy(&bulks->has_batch);
    pthread_mutex_destroy(&bulks->lock);
    free(bulks);
}
