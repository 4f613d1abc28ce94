/* SPDX-License-Identifier: Apache-2.0
 *
 * What all dialects share is read by the names of columns and attributes; what they do not is decided by what is there: the unit of times
 * by their magnitude, whatever the header says.
 */
#include "source/msmemscope_rows.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/checksum.h"
#include "base/number.h"
#include "base/spoken.h"
#include "source/csv_rows.h"
#include "source/msmemscope_stack.h"

#define STEP_RANGE      "step start"       /* what msLeaks asked programs to call the beginning of a step */
#define FIGURE_MAX      (INT64_C(1) << 46) /* no memory is larger */
#define ODD_MODULES_MIN 255                /* 255 and -1: no module */

enum { ID, EVENT, TYPE, NAME, TIME, PID, TID, DEVICE, ADDRESS, ATTRIBUTES, PYTHON, NATIVE, COLUMNS };
enum { SPELLINGS = 2 };

/* How they are called; and were, or will be. */
static const char *const columns[COLUMNS * SPELLINGS] = {
    "ID",
    "Id",
    "Event",
    "event",
    "Event Type",
    "Event type",
    "Name",
    "name",
    "Timestamp(ns)",
    "Timestamp(us)",
    "Process Id",
    "Process ID",
    "Thread Id",
    "Thread ID",
    "Device Id",
    "Device ID",
    "Ptr",
    "Addr",
    "Attr",
    "attr",
    "Call Stack(Python)",
    "Call Stack(python)",
    "Call Stack(C)",
    "Call Stack(c)",
};

const char *const nm_msmemscope_columns[] = {"ID", "Event", "Event Type", "Ptr", "Attr", NULL};
const char *const nm_msmemscope_tables[] = {"memscope_dump", "leaks_dump", NULL};

typedef nm_cell row_cells[COLUMNS];

/* ---- Attributes ---- */

static bool is_around(uint8_t byte)
{
    return byte == ' ' || byte == '"' || byte == '{' || byte == '}' || byte == '\t' || byte == '\r' || byte == '\n';
}

static nm_bytes bare(const uint8_t *begin, const uint8_t *end)
{
    while (begin < end && is_around(*begin))
        begin++;
    while (end > begin && is_around(end[-1]))
        end--;
    return (nm_bytes){begin, (size_t)(end - begin)};
}

/* {key:value,...}, or the same as JSON with texts as values. */
static nm_cell attribute(const nm_cell *attributes, const char *key)
{
    nm_bytes text = nm_cell_text(attributes);
    const uint8_t *at = text.data, *end = text.len == 0 ? at : text.data + text.len;

    while (at < end) {
        const uint8_t *comma = memchr(at, ',', (size_t)(end - at));
        const uint8_t *stop = comma == NULL ? end : comma, *colon = memchr(at, ':', (size_t)(stop - at));
        nm_bytes name = bare(at, colon == NULL ? stop : colon);

        if (colon != NULL && name.len == strlen(key) && memcmp(name.data, key, name.len) == 0)
            return (nm_cell){.kind = NM_CELL_TEXT, .text = bare(colon + 1, stop)};
        at = comma == NULL ? end : comma + 1;
    }
    return (nm_cell){.kind = NM_CELL_NONE};
}

static int64_t figure(const nm_cell *attributes, const char *key)
{
    nm_cell cell = attribute(attributes, key);
    int64_t value;

    return nm_cell_get(&cell, 1, &value) && value <= FIGURE_MAX && value >= -FIGURE_MAX ? value : NM_MSMEMSCOPE_UNKNOWN;
}

static int64_t first_figure(const nm_cell *attributes, const char *key, const char *other)
{
    int64_t value = figure(attributes, key);

    return value != NM_MSMEMSCOPE_UNKNOWN ? value : figure(attributes, other);
}

/* ---- Who ---- */

static nm_status number_thread(nm_msmemscope_rows *rows, int64_t pid, int64_t tid, uint32_t *thread, nm_error *err)
{
    uint64_t process = 0, number = 0;
    nm_status status = nm_array_grow(&rows->processes.items, &rows->processes.capacity, rows->processes.count + 1,
                                     sizeof *rows->processes.items, err);

    if (status == NM_OK)
        status = nm_array_grow(&rows->threads.items, &rows->threads.capacity, rows->threads.count + 1,
                               sizeof *rows->threads.items, err);
    if (status == NM_OK)
        status = nm_map_number(&rows->process_of, (nm_key){0, (uint64_t)pid}, &process, err);
    if (status == NM_OK && process == NM_MSMEMSCOPE_PROCESSES_MAX)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, nm_spoken("this dump is of more than %d processes"),
                       NM_MSMEMSCOPE_PROCESSES_MAX);
    if (status == NM_OK && process == rows->processes.count)
        rows->processes.items[rows->processes.count++] =
            (nm_msmemscope_process){.pid = pid, .first_thread = (uint32_t)rows->threads.count};
    if (status == NM_OK)
        status = nm_map_number(&rows->thread_of, (nm_key){process, (uint64_t)tid}, &number, err);
    if (status == NM_OK && number == rows->threads.count)
        rows->threads.items[rows->threads.count++] = (nm_msmemscope_thread){(uint32_t)process, tid};
    *thread = (uint32_t)number;
    return status;
}

static int16_t device_of(const nm_cell *cell)
{
    int64_t number;

    if (nm_cell_get(cell, 1, &number))
        return number >= 0 && number < NM_MSMEMSCOPE_DEVICES_MAX ? (int16_t)number : NM_MSMEMSCOPE_NO_DEVICE;
    return nm_cell_is(cell, "host") || nm_cell_is(cell, "cpu") ? NM_MSMEMSCOPE_HOST : NM_MSMEMSCOPE_NO_DEVICE;
}

static nm_bytes owner_part(nm_bytes owner, unsigned number)
{
    const uint8_t *at = owner.data, *end = owner.len == 0 ? at : owner.data + owner.len;

    for (; at < end; at++, number--) {
        const uint8_t *stop = memchr(at, '@', (size_t)(end - at));

        stop = stop == NULL ? end : stop;
        if (number == 0)
            return (nm_bytes){at, (size_t)(stop - at)};
        at = stop;
    }
    return (nm_bytes){0};
}

static bool is_word(nm_bytes text, const char *word)
{
    return text.len == strlen(word) && strncasecmp((const char *)text.data, word, text.len) == 0;
}

/* The module of CANN: by its number, or by the owner "CANN@HCCL". */
static int16_t module_of(const nm_cell *attributes)
{
    static const struct {
        const char *name;
        int16_t number;
    } known[] = {{"HCCL", 3},   {"DVPP", 6}, {"RUNTIME", 7}, {"APP", 33},
                 {"AICPU", 36}, {"FE", 39},  {"GE", 45},     {"OP", 63}};
    int64_t number = figure(attributes, "MID");
    nm_cell owner = attribute(attributes, "owner");

    if (number > 0 && number < ODD_MODULES_MIN)
        return (int16_t)number;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (is_word(owner_part(owner.text, 0), "CANN") && is_word(owner_part(owner.text, 1), known[i].name))
            return known[i].number;
    return NM_MSMEMSCOPE_NO_MODULE;
}

/* The first part of PTA@model@weight that is a use of memory. */
static nm_status find_category(const nm_cell *attributes, nm_gathered *gathered, uint32_t *category, nm_error *err)
{
    static const char *const places[] = {"ops", "aten", "model", "leaks", "memscope"};
    nm_cell owner = attribute(attributes, "owner");
    uint64_t string = 0;
    nm_status status = NM_OK;

    for (unsigned i = 1; i < 8 && string == 0 && status == NM_OK; i++) {
        nm_bytes part = owner_part(owner.text, i);
        bool is_place = part.len == 0;

        for (size_t k = 0; k < sizeof places / sizeof places[0]; k++)
            is_place = is_place || is_word(part, places[k]);
        if (is_word(part, "optimizer"))
            part = (nm_bytes){(const uint8_t *)"optimizer_state", 15};
        if (!is_place)
            status = nm_gathered_string(gathered, part, &string, err);
    }
    *category = (uint32_t)string;
    return status;
}

/* ---- What ---- */

static nm_msmemscope_store store_of(const row_cells cells, int16_t device)
{
    static const struct {
        const char *name;
        nm_msmemscope_store store;
    } known[] = {{"HAL", NM_MSMEMSCOPE_HAL},
                 {"PTA", NM_MSMEMSCOPE_PTA},
                 {"PTA_CACHING", NM_MSMEMSCOPE_PTA},
                 {"ATB", NM_MSMEMSCOPE_ATB},
                 {"MindSpore", NM_MSMEMSCOPE_MINDSPORE},
                 {"PTA_WORKSPACE", NM_MSMEMSCOPE_WORKSPACE},
                 {"HOST_PINNED", NM_MSMEMSCOPE_PINNED},
                 {"HOST", NM_MSMEMSCOPE_HOST_MEMORY}};
    nm_bytes type = nm_cell_text(&cells[TYPE]);
    nm_msmemscope_store store = NM_MSMEMSCOPE_OTHER_POOL;
    nm_cell pinned = attribute(&cells[ATTRIBUTES], "pinned");

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (is_word(type, known[i].name))
            store = known[i].store;
    if ((store == NM_MSMEMSCOPE_HAL && device == NM_MSMEMSCOPE_HOST) ||
        (store == NM_MSMEMSCOPE_HOST_MEMORY && is_word(pinned.text, "true")))
        store = NM_MSMEMSCOPE_PINNED;
    return store;
}

static bool ends_with(nm_bytes text, const char *end)
{
    size_t len = strlen(end);

    return text.len >= len && strncasecmp((const char *)text.data + text.len - len, end, len) == 0;
}

static nm_msmemscope_kind kind_of_launch(nm_bytes type)
{
    return ends_with(type, "_START") ? NM_MSMEMSCOPE_BEGIN
           : ends_with(type, "_END") ? NM_MSMEMSCOPE_END
                                     : NM_MSMEMSCOPE_LAUNCH;
}

static nm_msmemscope_kind kind_of_mstx(nm_bytes type, nm_bytes name)
{
    if (ends_with(type, "_start"))
        return name.len >= sizeof STEP_RANGE - 1 && memcmp(name.data, STEP_RANGE, sizeof STEP_RANGE - 1) == 0
                   ? NM_MSMEMSCOPE_STEP
                   : NM_MSMEMSCOPE_BEGIN;
    return ends_with(type, "_end") ? NM_MSMEMSCOPE_END : NM_MSMEMSCOPE_MARK;
}

/* 0: nothing that happened to memory. */
static nm_msmemscope_kind kind_of(const row_cells cells)
{
    nm_bytes event = nm_cell_text(&cells[EVENT]), type = nm_cell_text(&cells[TYPE]);

    if (is_word(event, "MALLOC"))
        return NM_MSMEMSCOPE_MALLOC;
    if (is_word(event, "FREE"))
        return NM_MSMEMSCOPE_FREE;
    if (is_word(event, "OP_LAUNCH") || is_word(event, "KERNEL_LAUNCH"))
        return kind_of_launch(type);
    if (is_word(event, "MSTX"))
        return kind_of_mstx(type, nm_cell_text(&cells[NAME]));
    if (is_word(event, "SNAPSHOT") || is_word(event, "OOM_Snapshot"))
        return NM_MSMEMSCOPE_SAMPLE;
    if (is_word(event, "OOM_DETAIL"))
        return is_word(type, "OOM_TRIGGER") ? NM_MSMEMSCOPE_FAILED : 0; /* the others list what is there */
    if (is_word(event, "SYSTEM"))
        return figure(&cells[ATTRIBUTES], "free") != NM_MSMEMSCOPE_UNKNOWN ? NM_MSMEMSCOPE_SAMPLE : NM_MSMEMSCOPE_MARK;
    return 0;
}

static void read_figures(const row_cells cells, nm_msmemscope_row *row)
{
    const nm_cell *attributes = &cells[ATTRIBUTES];
    nm_cell address = attribute(attributes, "addr");

    row->size = figure(attributes, row->kind == NM_MSMEMSCOPE_FAILED ? "req_size" : "size");
    row->total = first_figure(attributes, "total", "total_mem");
    row->used =
        row->kind == NM_MSMEMSCOPE_SAMPLE ? first_figure(attributes, "free", "free_mem") : figure(attributes, "used");
    row->stream = first_figure(attributes, "streamId", "stream");
    if (!nm_cell_get_address(&cells[ADDRESS], &row->address) && !nm_cell_get_address(&address, &row->address))
        row->address = 0;
}

static bool is_whole(const nm_msmemscope_row *row)
{
    switch (row->kind) {
    case NM_MSMEMSCOPE_MALLOC:
        return row->address != 0 && row->size > 0;
    case NM_MSMEMSCOPE_FREE:
        return row->address != 0;
    case NM_MSMEMSCOPE_SAMPLE:
        return row->total > 0 && row->used >= 0;
    default:
        return true;
    }
}

static nm_status read_names(nm_msmemscope_rows *rows, const row_cells cells, nm_gathered *gathered,
                            nm_msmemscope_row *row, nm_error *err)
{
    nm_bytes python = nm_cell_text(&cells[PYTHON]), native = nm_cell_text(&cells[NATIVE]);
    nm_key key = {nm_checksum_seeded(python.data, python.len, 1), nm_checksum_seeded(native.data, native.len, 2)};
    bool is_marked = row->kind == NM_MSMEMSCOPE_MARK && !row->is_user;
    bool has_name = !nm_cell_is(&cells[NAME], "N/A") && nm_cell_text(&cells[NAME]).len > 0;
    uint64_t name = 0, stack = 0, *known = python.len + native.len == 0 ? &stack : nm_map_get(&rows->stack_of, key);
    nm_status status =
        nm_gathered_string(gathered, nm_cell_text(&cells[is_marked || !has_name ? TYPE : NAME]), &name, err);

    if (status == NM_OK && known == NULL) {
        status = nm_msmemscope_stack(gathered, python, native, &stack, err);
        if (status == NM_OK)
            status = nm_map_put(&rows->stack_of, key, stack, err);
    } else if (known != NULL) {
        stack = *known;
    }
    row->name = (uint32_t)name;
    row->stack = (uint32_t)stack;
    return status == NM_OK && row->kind == NM_MSMEMSCOPE_MALLOC
               ? find_category(&cells[ATTRIBUTES], gathered, &row->category, err)
               : status;
}

/* ---- Rows ---- */

static nm_status keep_row(nm_msmemscope_rows *rows, const nm_msmemscope_row *row, nm_error *err)
{
    nm_status status = nm_array_grow(&rows->rows.items, &rows->rows.capacity, rows->rows.count + 1, sizeof *row, err);

    if (status == NM_OK)
        rows->rows.items[rows->rows.count++] = *row;
    return status;
}

static nm_status take_row(nm_msmemscope_rows *rows, const row_cells cells, nm_gathered *gathered, nm_error *err)
{
    nm_msmemscope_row row = {.kind = (uint8_t)kind_of(cells), .place = rows->row_count++};
    int64_t pid, tid = 0;
    nm_status status;

    if (row.kind == 0)
        return NM_OK;
    row.is_user = nm_cell_is(&cells[EVENT], "MSTX");
    row.device = device_of(&cells[DEVICE]);
    row.store = (uint8_t)store_of(cells, row.device);
    row.module = row.store == NM_MSMEMSCOPE_HAL ? module_of(&cells[ATTRIBUTES]) : NM_MSMEMSCOPE_NO_MODULE;
    read_figures(cells, &row);
    if (!nm_cell_get(&cells[TIME], 1, &row.time_ns) || row.time_ns < 0 || !nm_cell_get(&cells[PID], 1, &pid) ||
        !is_whole(&row)) {
        rows->odd_count++;
        return NM_OK;
    }
    if (!nm_cell_get(&cells[ID], 1, &row.id))
        row.id = 0;
    nm_cell_get(&cells[TID], 1, &tid);
    status = number_thread(rows, pid, tid, &row.thread, err);
    if (status == NM_OK)
        status = read_names(rows, cells, gathered, &row, err);
    if (status == NM_OK && (nm_cell_is(&cells[TYPE], "ACL_INIT") || nm_cell_is(&cells[TYPE], "acl init")))
        rows->processes.items[rows->threads.items[row.thread].process].has_begin = true;
    return status == NM_OK ? keep_row(rows, &row, err) : status;
}

/* A column may be called in two ways. */
static void choose_cells(const nm_cell *from, row_cells cells)
{
    for (int i = 0; i < COLUMNS; i++)
        cells[i] = from[i * SPELLINGS].kind != NM_CELL_NONE ? from[i * SPELLINGS] : from[i * SPELLINGS + 1];
}

/* What a time must be multiplied by: epochs of nanoseconds, microseconds and milliseconds lie far apart. */
static int64_t scale_of(const nm_msmemscope_rows *rows)
{
    int64_t most = 0;

    for (size_t i = 0; i < rows->rows.count; i++)
        most = rows->rows.items[i].time_ns > most ? rows->rows.items[i].time_ns : most;
    return most >= INT64_C(100000000000000) && most < INT64_C(9000000000000000) ? 1000
           : most >= INT64_C(100000000000) && most < INT64_C(9000000000000)     ? 1000000
                                                                                : 1;
}

static int compare_rows(const void *left, const void *right)
{
    const nm_msmemscope_row *a = left, *b = right;

    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static nm_status end_rows(nm_msmemscope_rows *rows, nm_error *err)
{
    int64_t scale = scale_of(rows);

    if (rows->rows.count == 0)
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "a dump of msMemScope without a row that can be read");
    for (size_t i = 0; i < rows->rows.count; i++)
        rows->rows.items[i].time_ns *= scale;
    qsort(rows->rows.items, rows->rows.count, sizeof *rows->rows.items, compare_rows);
    return NM_OK;
}

nm_status nm_msmemscope_read_csv(nm_input *input, nm_gathered *gathered, nm_msmemscope_rows *rows, nm_error *err)
{
    nm_csv_rows *csv = NULL;
    const nm_cell *all;
    row_cells cells;
    nm_status status = nm_csv_rows_open(input, columns, COLUMNS * SPELLINGS, &csv, err);

    while (status == NM_OK && (status = nm_csv_rows_next(csv, &all, err)) == NM_OK) {
        choose_cells(all, cells);
        status = take_row(rows, cells, gathered, err);
    }
    if (status == NM_END) {
        rows->is_cut = nm_csv_rows_is_cut(csv);
        if (rows->is_cut)
            rows->cut_bytes = nm_subtract_saturated(nm_input_size(input), nm_csv_rows_offset(csv));
        status = end_rows(rows, err);
    }
    nm_csv_rows_close(csv);
    return status;
}

nm_status nm_msmemscope_read_database(nm_foreign_tables *database, nm_gathered *gathered, nm_msmemscope_rows *rows,
                                      nm_error *err)
{
    nm_status status = NM_OK;
    row_cells cells;

    for (const char *const *table = nm_msmemscope_tables; *table != NULL && status == NM_OK; table++) {
        nm_foreign_rows *found = NULL;
        const nm_cell *all;

        status = nm_foreign_rows_open(database, *table, columns, COLUMNS * SPELLINGS, &found, err);
        while (status == NM_OK && (status = nm_foreign_rows_next(found, &all, err)) == NM_OK) {
            choose_cells(all, cells);
            status = take_row(rows, cells, gathered, err);
        }
        nm_foreign_rows_close(found);
        status = status == NM_END ? NM_OK : status;
    }
    return status == NM_OK ? end_rows(rows, err) : status;
}

void nm_msmemscope_rows_free(nm_msmemscope_rows *rows)
{
    free(rows->rows.items);
    free(rows->threads.items);
    free(rows->processes.items);
    nm_map_free(&rows->thread_of);
    nm_map_free(&rows->process_of);
    nm_map_free(&rows->stack_of);
}
