/* SPDX-License-Identifier: Apache-2.0
 *
 * A table is a SELECT over its view, in the view's own order, whose columns have the types of fleet.def whatever a value's own type is.
 * Of long tables less leaves: of curves the highest of neighbouring points, of steps the last ones and each 2^k-th before.
 */
#include "export/fleet.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/map.h"
#include "export/fleet_curve.sql.h"
#include "export/fleet_inputs.sql.h"
#include "export/fleet_run.sql.h"
#include "export/fleet_stack.sql.h"
#include "export/fleet_steps.sql.h"
#include "export/parquet.h"
#include "store/database.h"
#include "store/schema.h"

#define COLUMNS_MAX      64
#define CURVE_POINTS     250 /* of a heap */
#define LAST_STEPS       250 /* of a heap: all stay, and of those before no more than as many */
#define FOLDER_BYTES_MAX 240 /* of a folder's name, which has 255 on most file systems */

typedef enum extent { WHOLE, CURVE, STEP, DETAIL } extent;
typedef enum type { INTEGER, REAL, TEXT, STACK } type;

typedef struct table {
    const char *name, *view;
    extent rows;
} table;

typedef struct column {
    unsigned table; /* its number */
    const char *name;
    type type;
    const char *of; /* column of the view */
} column;

#define FLEET_KEY(name, type)
#define FLEET_TABLE(name, view, rows) TABLE_##name,
#define FLEET_COLUMN(table, name, type)
#define FLEET_COLUMN_OF(table, name, type, of)
enum {
#include "export/fleet.def"
    TABLE_COUNT
};
#undef FLEET_TABLE

static const table tables[] = {
#define FLEET_TABLE(name, view, rows) {#name, #view, rows},
#include "export/fleet.def"
};
#undef FLEET_KEY
#undef FLEET_TABLE
#undef FLEET_COLUMN
#undef FLEET_COLUMN_OF

static const column columns[] = {
#define FLEET_KEY(name, type) {TABLE_COUNT, #name, type, NULL},
#define FLEET_TABLE(name, view, rows)
#define FLEET_COLUMN(table, name, type)        {TABLE_##table, #name, type, #name},
#define FLEET_COLUMN_OF(table, name, type, of) {TABLE_##table, #name, type, #of},
#include "export/fleet.def"
};

#define COLUMN_COUNT (sizeof columns / sizeof *columns)

/* ---- What a database is of ------------------------------------------------------------------------------------------ */

static nm_status add_text(nm_buffer *out, const char *text, nm_error *err)
{
    return nm_buffer_append(out, text, strlen(text), err);
}

/* What a file's name holds of another: letters, digits, '.', '_' and '-'. */
static bool is_plain(char c)
{
    return isalnum((unsigned char)c) || c == '.' || c == '_' || c == '-';
}

static nm_status name_part(const nm_fleet_run_row *row, const char *other_host, nm_buffer *part, nm_error *err)
{
    char text[128];
    nm_status status = add_text(part, row->has.host ? row->host : other_host, err);

    for (size_t i = 0; i < part->len; i++)
        if (!is_plain((char)part->data[i]))
            part->data[i] = '_';
    if (part->len > FOLDER_BYTES_MAX / 2)
        part->len = FOLDER_BYTES_MAX / 2;
    snprintf(text, sizeof text, "+%" PRId64, row->host_count - 1);
    if (status == NM_OK && row->host_count > 1)
        status = add_text(part, text, err);
    if (row->has.first_rank_number && row->first_rank_number != row->last_rank_number)
        snprintf(text, sizeof text, "-r%" PRId64 "-%" PRId64, row->first_rank_number, row->last_rank_number);
    else if (row->has.first_rank_number)
        snprintf(text, sizeof text, "-r%" PRId64, row->first_rank_number);
    else if (row->has.pid)
        snprintf(text, sizeof text, "-p%" PRId64, row->pid);
    else
        text[0] = 0;
    if (status == NM_OK)
        status = add_text(part, text, err);
    return status == NM_OK ? nm_buffer_append(part, "", 1, err) : status;
}

static nm_status hash_inputs(sqlite3 *db, nm_fleet_facts *facts, nm_error *err)
{
    nm_checksum_run hash;
    sqlite3_stmt *inputs = NULL;
    nm_fleet_inputs_row row;
    char text[64];
    nm_status status = nm_fleet_inputs_ask(db, &inputs, err);

    nm_checksum_begin(&hash);
    while (status == NM_OK && nm_fleet_inputs_next(inputs, &row)) {
        nm_checksum_add(&hash, row.recording_text, strlen(row.recording_text));
        snprintf(text, sizeof text, " %" PRId64 "\n", row.ingested_count);
        nm_checksum_add(&hash, text, strlen(text));
    }
    snprintf(facts->inputs, sizeof facts->inputs, "%016" PRIx64, nm_checksum_end(&hash));
    return nm_question_end(inputs, status, err);
}

nm_status nm_fleet_look(sqlite3 *db, const char *other_host, nm_fleet_facts *facts, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_fleet_run_row row = {0};
    nm_status status = nm_fleet_run_ask(db, &rows, err);

    facts->start_ns = NM_NULL;
    if (status == NM_OK && nm_fleet_run_next(rows, &row)) {
        facts->start_ns = NM_NUMBER_OF(&row, start_realtime_ns);
        if (row.has.job)
            status = nm_buffer_append(&facts->job, row.job, strlen(row.job) + 1, err);
        if (status == NM_OK)
            status = name_part(&row, other_host, &facts->part, err);
    }
    status = nm_question_end(rows, status, err);
    return status == NM_OK ? hash_inputs(db, facts, err) : status;
}

void nm_fleet_facts_free(nm_fleet_facts *facts)
{
    nm_buffer_free(&facts->job);
    nm_buffer_free(&facts->part);
}

nm_status nm_fleet_folder_name(const char *key, const char *name, nm_buffer *out, nm_error *err)
{
    size_t begin = out->len;
    char text[8];
    nm_status status = add_text(out, key, err);

    for (; *name != 0 && status == NM_OK; name++) {
        snprintf(text, sizeof text, is_plain(*name) ? "%c" : "%%%02X", (unsigned char)*name);
        status = add_text(out, text, err);
    }
    if (status == NM_OK && out->len - begin > FOLDER_BYTES_MAX)
        status = nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "the name of a job or run is too long");
    return status;
}

/* ---- Rows ----------------------------------------------------------------------------------------------------------- */

const char *nm_fleet_table(unsigned number)
{
    return number < TABLE_COUNT ? tables[number].name : NULL;
}

bool nm_fleet_is_detail(unsigned number)
{
    return tables[number].rows == DETAIL;
}

typedef struct writing {
    sqlite3 *db;
    const table *table;
    const nm_fleet_run *run;
    const column *columns[COLUMNS_MAX];
    nm_parquet_column shapes[COLUMNS_MAX];
    int places[COLUMNS_MAX]; /* of the column in the rows */
    unsigned column_count, key_count;
    sqlite3_stmt *rows, *stack;    /* owned; of a stack its text */
    sqlite3_stmt *step_counts;     /* owned; rows of each heap, where some are left out */
    int64_t heap_count, heap_left; /* rows of the heap at hand, and those that are to come */
    nm_map hashes;                 /* stack_id -> its hash */
    nm_parquet *parquet;           /* owned */
} writing;

static void list_columns(writing *work, unsigned number)
{
    static const nm_parquet_type types[] = {[INTEGER] = NM_PARQUET_INTEGER,
                                            [REAL] = NM_PARQUET_REAL,
                                            [TEXT] = NM_PARQUET_TEXT,
                                            [STACK] = NM_PARQUET_INTEGER};

    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (columns[i].table != number && columns[i].table != TABLE_COUNT)
            continue;
        assert(work->column_count < COLUMNS_MAX);
        work->columns[work->column_count] = &columns[i];
        work->shapes[work->column_count++] = (nm_parquet_column){columns[i].name, types[columns[i].type]};
        work->key_count += columns[i].table == TABLE_COUNT;
    }
}

static nm_status ask_view(writing *work, nm_error *err)
{
    nm_buffer sql = {0};
    nm_status status = NM_OK;

    for (unsigned i = work->key_count; i < work->column_count && status == NM_OK; i++) {
        status = add_text(&sql, i == work->key_count ? "SELECT " : ", ", err);
        if (status == NM_OK)
            status = add_text(&sql, work->columns[i]->of, err);
    }
    if (status == NM_OK)
        status = add_text(&sql, " FROM ", err);
    if (status == NM_OK)
        status = nm_buffer_append(&sql, work->table->view, strlen(work->table->view) + 1, err);
    if (status == NM_OK)
        status = nm_db_prepare(work->db, (const char *)sql.data, &work->rows, err);
    nm_buffer_free(&sql);
    return status;
}

/* By the names of the rows' columns. */
static nm_status find_places(writing *work, nm_error *err)
{
    int count = sqlite3_column_count(work->rows);

    for (unsigned i = work->key_count; i < work->column_count; i++) {
        int place = 0;

        while (place < count && strcmp(sqlite3_column_name(work->rows, place), work->columns[i]->of) != 0)
            place++;
        if (place == count)
            return nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET, "%s has no column %s", work->table->view,
                           work->columns[i]->of);
        work->places[i] = place;
    }
    return NM_OK;
}

static nm_status ask(writing *work, nm_error *err)
{
    bool is_thin = !work->run->has_all_steps;
    nm_status status = NM_OK;

    if (work->table->rows == CURVE && is_thin)
        status = nm_fleet_curve_ask(work->db, CURVE_POINTS, &work->rows, err);
    else
        status = ask_view(work, err);
    if (status == NM_OK && work->table->rows == STEP && is_thin)
        status = nm_fleet_steps_ask(work->db, &work->step_counts, err);
    return status == NM_OK ? find_places(work, err) : status;
}

/* Does the row at hand leave? Rows of steps come heap after heap. */
static bool is_kept(writing *work)
{
    nm_fleet_steps_row row;
    int64_t stride = 1;

    if (work->step_counts == NULL)
        return true;
    if (work->heap_left == 0)
        work->heap_left = work->heap_count = nm_fleet_steps_next(work->step_counts, &row) ? row.row_count : INT64_MAX;
    int64_t place = work->heap_count - work->heap_left--, older = work->heap_count - LAST_STEPS;
    while (older > LAST_STEPS * stride)
        stride *= 2;
    return place >= older || place % stride == 0;
}

static nm_status hash_stack(writing *work, int64_t stack_id, int64_t *hash, nm_error *err)
{
    nm_key key = {(uint64_t)stack_id, 0};
    const uint64_t *found = nm_map_get(&work->hashes, key);
    uint64_t known = found == NULL ? 0 : *found;
    nm_fleet_stack_row row;
    nm_status status = NM_OK;

    if (found != NULL) {
        *hash = (int64_t)known;
        return NM_OK;
    }
    if (work->stack == NULL)
        status = nm_fleet_stack_ask(work->db, stack_id, &work->stack, err);
    else
        nm_fleet_stack_bind(work->stack, stack_id);
    if (status == NM_OK && nm_fleet_stack_next(work->stack, &row))
        known = nm_checksum(row.text, strlen(row.text));
    *hash = (int64_t)known;
    status = nm_question_pause(work->stack, status, err);
    return status == NM_OK ? nm_map_put(&work->hashes, key, known, err) : status;
}

static nm_status put_value(writing *work, unsigned at, nm_error *err)
{
    sqlite3_stmt *row = work->rows;
    int place = work->places[at];
    int64_t hash = 0;
    nm_status status = NM_OK;

    if (sqlite3_column_type(row, place) == SQLITE_NULL) {
        nm_parquet_null(work->parquet);
        return NM_OK;
    }
    switch (work->columns[at]->type) {
    case INTEGER:
        nm_parquet_integer(work->parquet, sqlite3_column_int64(row, place));
        break;
    case REAL:
        nm_parquet_real(work->parquet, sqlite3_column_double(row, place));
        break;
    case STACK:
        status = hash_stack(work, sqlite3_column_int64(row, place), &hash, err);
        nm_parquet_integer(work->parquet, hash);
        break;
    case TEXT: {
        const uint8_t *text = sqlite3_column_text(row, place);

        nm_parquet_text(work->parquet, (nm_bytes){text, (size_t)sqlite3_column_bytes(row, place)});
    }
    }
    return status;
}

static nm_status put_row(writing *work, nm_error *err)
{
    const nm_fleet_run *run = work->run;
    nm_status status = NM_OK;

    nm_parquet_text(work->parquet, (nm_bytes){(const uint8_t *)run->job, strlen(run->job)});
    nm_parquet_text(work->parquet, (nm_bytes){(const uint8_t *)run->run, strlen(run->run)});
    if (run->start_ns == NM_NULL)
        nm_parquet_null(work->parquet);
    else
        nm_parquet_integer(work->parquet, run->start_ns);
    for (unsigned i = work->key_count; i < work->column_count && status == NM_OK; i++)
        status = put_value(work, i, err);
    return status == NM_OK ? nm_parquet_row_end(work->parquet, err) : status;
}

static nm_status put_rows(writing *work, nm_error *err)
{
    nm_status status = NM_OK;
    int code = SQLITE_ROW;

    while (status == NM_OK && (code = sqlite3_step(work->rows)) == SQLITE_ROW)
        if (is_kept(work))
            status = put_row(work, err);
    return status == NM_OK && code != SQLITE_DONE ? nm_db_fail(work->db, err) : status;
}

nm_status nm_fleet_write(sqlite3 *db, unsigned number, const nm_fleet_run *run, FILE *out, nm_error *err)
{
    char schema[16];
    const nm_parquet_fact facts[] = {
        {"npumem.schema_version", schema}, {"npumem.version", NPUMEM_PROJECT_VERSION}, {"npumem.inputs", run->inputs}};
    writing work = {.db = db, .table = &tables[number], .run = run};
    nm_status status;

    snprintf(schema, sizeof schema, "%d", NM_SCHEMA_VERSION);
    list_columns(&work, number);
    status = ask(&work, err);
    if (status == NM_OK)
        status = nm_parquet_open(out, work.shapes, work.column_count, work.table->rows != WHOLE, &work.parquet, err);
    if (status == NM_OK)
        status = put_rows(&work, err);
    if (status == NM_OK)
        status = nm_parquet_finish(work.parquet, facts, sizeof facts / sizeof *facts, err);
    nm_parquet_free(work.parquet);
    nm_map_free(&work.hashes);
    sqlite3_finalize(work.stack);
    sqlite3_finalize(work.step_counts);
    sqlite3_finalize(work.rows);
    return status;
}
