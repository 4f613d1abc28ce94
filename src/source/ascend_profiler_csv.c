/* SPDX-License-Identifier: Apache-2.0
 *
 * The CSV tables, known by their columns. What they call MB and KB are MiB and KiB. Those of msprof say KB where those of the Ascend
 * PyTorch Profiler say MB; columns that an older version lacks are empty cells. When steps began is in none of them, but in
 * trace_view.json: of its spans only those are taken.
 */
#include <string.h>

#include "base/json.h"
#include "source/ascend_profiler.h"
#include "source/csv_rows.h"

#define KIB       UINT64_C(1024)
#define MIB       (UINT64_C(1) << 20)
#define NS_PER_US UINT64_C(1000)

enum {
    TABLE_NONE,
    TABLE_RECORD,
    TABLE_OPERATOR,
    TABLE_MODULE,
    TABLE_NPU_MEM,
    TABLES,
    TABLE_STATIC = NM_SOURCE_PART_BESIDE, /* how a graph was planned, not what was held */
    TABLE_STEPS,                          /* how long steps took, not when they began */
    TABLE_INFO,
    TABLE_TRACE = NM_ASCEND_PART_TRACE,
};

static const struct {
    unsigned table;
    const char *columns[5];
} headers[] = {
    {TABLE_RECORD, {"Component", "Timestamp(us)", "Total Allocated(MB)", "Total Reserved(MB)", NULL}},
    {TABLE_RECORD, {"Component", "Timestamp(us)", "Total Allocated(KB)", "Total Reserved(KB)", NULL}},
    {TABLE_MODULE, {"Component", "Timestamp(us)", "Total Reserved(MB)", "Device", NULL}},
    {TABLE_MODULE, {"Component", "Timestamp(us)", "Total Reserved(KB)", "Device", NULL}},
    {TABLE_OPERATOR, {"Name", "Size(KB)", "Allocation Time(us)", NULL}},
    {TABLE_NPU_MEM, {"event", "ddr(KB)", "hbm(KB)", "timestamp(us)", NULL}},
    {TABLE_STATIC, {"Op Name", "Model Name", "Graph ID", "Size(KB)", NULL}},
    {TABLE_STEPS, {"Step", "Computing", "Communication(Not Overlapped)", "Overlapped", NULL}},
};

static bool is_info(nm_bytes head)
{
    return head.len > 0 && head.data[0] == '{' && memmem(head.data, head.len, "\"start_info\"", 12) != NULL &&
           memmem(head.data, head.len, "\"config\"", 8) != NULL;
}

/* A list of entries in Chrome's form. */
static bool is_trace(nm_bytes head)
{
    size_t at = 0;

    while (at < head.len && strchr(" \t\r\n[", head.data[at]) != NULL && head.data[at] != 0)
        at++;
    return at < head.len && memchr(head.data, '[', at) != NULL && head.data[at] == '{' &&
           memmem(head.data, head.len, "\"ph\":", 5) != NULL;
}

unsigned nm_ascend_csv_table(nm_bytes head)
{
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        if (nm_csv_has_columns(head, headers[i].columns))
            return headers[i].table;
    return is_info(head) ? TABLE_INFO : is_trace(head) ? TABLE_TRACE : TABLE_NONE;
}

/* Of two columns, the second in another unit, the one that is there. */
static int64_t bytes_of(const nm_cell *mib, const nm_cell *kib)
{
    int64_t bytes = 0;

    return nm_cell_get(mib, MIB, &bytes) || nm_cell_get(kib, KIB, &bytes) ? bytes : NM_UNKNOWN_NUMBER;
}

static int64_t time_of(nm_ascend_profiler *profiler, const nm_cell *cell)
{
    int64_t ns = 0;

    if (!nm_cell_get(cell, NS_PER_US, &ns))
        return NM_NO_TIME;
    profiler->uncertain_count += nm_cell_is_rounded(cell);
    return ns;
}

/* "NPU:1", or a number; what is of the host has none. */
static bool device_of(const nm_cell *cell, int64_t *device)
{
    nm_bytes text = nm_cell_text(cell);
    nm_cell number = {.kind = NM_CELL_TEXT, .text = text};

    if (text.len > 4 && memcmp(text.data, "NPU:", 4) == 0)
        number.text = (nm_bytes){text.data + 4, text.len - 4};
    return nm_cell_get(&number, 1, device) && *device >= 0;
}

/* Of what a row says of its device in three columns. */
static int64_t device_in(const nm_cell *cells)
{
    int64_t device = 0;

    for (size_t i = 0; i < 3; i++)
        if (device_of(&cells[i], &device))
            return device;
    return 0;
}

#define DEVICE_COLUMNS "Device Type", "Device", "Device_id"

/* ---- memory_record ---- */

static const char *const record_columns[] = {"Component",           "Timestamp(us)",      "Total Allocated(MB)",
                                             "Total Allocated(KB)", "Total Reserved(MB)", "Total Reserved(KB)",
                                             DEVICE_COLUMNS};

static nm_status take_record(nm_ascend_profiler *profiler, const nm_cell *cells, nm_error *err)
{
    nm_ascend_sums sums = {bytes_of(&cells[2], &cells[3]), bytes_of(&cells[4], &cells[5]),
                           nm_cell_is_rounded(&cells[1])};

    return nm_ascend_profiler_record(profiler, nm_cell_text(&cells[0]), device_in(&cells[6]),
                                     time_of(profiler, &cells[1]), sums, err);
}

/* ---- operator_memory ---- */

static const char *const operator_columns[] = {"Name",
                                               "Size(KB)",
                                               "Allocation Time(us)",
                                               "Release Time(us)",
                                               "Duration(us)",
                                               "Active Release Time(us)",
                                               "Allocation Total Allocated(MB)",
                                               "Allocation Total Allocated(KB)",
                                               "Allocation Total Reserved(MB)",
                                               "Allocation Total Reserved(KB)",
                                               "Release Total Allocated(MB)",
                                               "Release Total Allocated(KB)",
                                               "Release Total Reserved(MB)",
                                               "Release Total Reserved(KB)",
                                               DEVICE_COLUMNS};

/* A table without a column for it says how long the block lived. */
static int64_t release_of(nm_ascend_profiler *profiler, const nm_cell *cells, int64_t begin_ns)
{
    int64_t ns = time_of(profiler, &cells[3]), duration_ns = 0;

    if (ns != NM_NO_TIME || cells[3].kind != NM_CELL_NONE || begin_ns == NM_NO_TIME ||
        !nm_cell_get(&cells[4], NS_PER_US, &duration_ns) || duration_ns < 0 || duration_ns > INT64_MAX - begin_ns)
        return ns;
    return begin_ns + duration_ns;
}

/* Names of GE's operators have a prefix, and no stream; msprof's own tables are GE's alone. */
static bool is_of_graph(const nm_cell *cells, nm_bytes *name)
{
    static const char prefix[] = "cann::";
    bool has_prefix = name->len >= sizeof prefix - 1 && memcmp(name->data, prefix, sizeof prefix - 1) == 0;

    if (has_prefix)
        *name = (nm_bytes){name->data + sizeof prefix - 1, name->len - (sizeof prefix - 1)};
    return has_prefix || cells[14].kind == NM_CELL_NONE;
}

static nm_status take_operator(nm_ascend_profiler *profiler, const nm_cell *cells, nm_error *err)
{
    nm_bytes name = nm_cell_text(&cells[0]);
    nm_ascend_operator row = {.device = device_in(&cells[14])};
    nm_status status;

    row.is_graph = is_of_graph(cells, &name);
    if (!nm_cell_get(&cells[1], KIB, &row.bytes) || row.bytes == INT64_MIN) {
        profiler->damaged_count++;
        return NM_OK;
    }
    row.bytes = row.bytes < 0 ? -row.bytes : row.bytes; /* freed, and allocated before */
    row.begin_ns = time_of(profiler, &cells[2]);
    row.at_end_ns = release_of(profiler, cells, row.begin_ns);
    row.end_ns = nm_ascend_profiler_end(row.at_end_ns, time_of(profiler, &cells[5]));
    row.at_begin = (nm_ascend_sums){bytes_of(&cells[6], &cells[7]), bytes_of(&cells[8], &cells[9]), false};
    row.at_end = (nm_ascend_sums){bytes_of(&cells[10], &cells[11]), bytes_of(&cells[12], &cells[13]), false};
    status = nm_gathered_string(profiler->gathered, name, &row.name, err);
    return status == NM_OK ? nm_ascend_profiler_operator(profiler, &row, err) : status;
}

/* ---- npu_module_mem and npu_mem ---- */

static const char *const module_columns[] = {"Component", "Timestamp(us)", "Total Reserved(MB)", "Total Reserved(KB)",
                                             DEVICE_COLUMNS};

static nm_status take_module(nm_ascend_profiler *profiler, const nm_cell *cells, nm_error *err)
{
    return nm_ascend_profiler_module(profiler, nm_cell_text(&cells[0]), device_in(&cells[4]),
                                     time_of(profiler, &cells[1]), bytes_of(&cells[2], &cells[3]), err);
}

static const char *const npu_mem_columns[] = {"event",   "timestamp(us)", "ddr(KB)",
                                              "hbm(KB)", "memory(KB)",    DEVICE_COLUMNS};

static nm_status take_npu_mem(nm_ascend_profiler *profiler, const nm_cell *cells, nm_error *err)
{
    static const nm_bytes app = {(const uint8_t *)"APP", 3};
    int64_t device = device_in(&cells[5]), ns = time_of(profiler, &cells[1]);
    int64_t ddr = bytes_of(&(nm_cell){0}, &cells[2]), hbm = bytes_of(&(nm_cell){0}, &cells[3]);
    int64_t bytes = ddr >= 0 && hbm >= 0 && ddr <= NM_ASCEND_BYTES_MAX && hbm <= NM_ASCEND_BYTES_MAX
                        ? ddr + hbm
                        : bytes_of(&(nm_cell){0}, &cells[4]);

    if (nm_cell_is(&cells[0], "app"))
        return nm_ascend_profiler_record(profiler, app, device, ns, (nm_ascend_sums){NM_UNKNOWN_NUMBER, bytes, false},
                                         err);
    if (nm_cell_is(&cells[0], "device"))
        return nm_ascend_profiler_device(profiler, device, ns, bytes, err);
    profiler->damaged_count++;
    return NM_OK;
}

/* ---- A file ---- */

static const struct {
    const char *const *columns;
    size_t count;
    nm_status (*take)(nm_ascend_profiler *profiler, const nm_cell *cells, nm_error *err);
} tables[] = {
    [TABLE_RECORD] = {record_columns, sizeof record_columns / sizeof record_columns[0], take_record},
    [TABLE_OPERATOR] = {operator_columns, sizeof operator_columns / sizeof operator_columns[0], take_operator},
    [TABLE_MODULE] = {module_columns, sizeof module_columns / sizeof module_columns[0], take_module},
    [TABLE_NPU_MEM] = {npu_mem_columns, sizeof npu_mem_columns / sizeof npu_mem_columns[0], take_npu_mem},
};

/* profiler_info_N.json: the member rank_id of its object. */
static nm_status read_info(nm_ascend_profiler *profiler, nm_input *input, nm_error *err)
{
    nm_json_reader reader = nm_json_reader_from(nm_input_read, input);
    nm_json_token token;
    int64_t rank = -1;
    nm_status status = nm_json_next(&reader, &token, err);

    while (status == NM_OK && (status = nm_json_next(&reader, &token, err)) == NM_OK) {
        if (nm_json_is(token.name, "rank_id") && nm_json_get_int(&token, &rank) && rank >= 0)
            profiler->rank = rank;
        status = nm_json_pass(&reader, &token, err);
    }
    nm_json_reader_free(&reader);
    return status == NM_END ? NM_OK : status;
}

/* ---- trace_view.json ---- */

typedef struct span {
    int64_t step; /* -1: it is none */
    int64_t ns, duration_ns;
} span;

/* Of an entry its members name, ts and dur; times are texts in newer versions. */
static nm_status read_span(nm_json_reader *reader, span *out, nm_error *err)
{
    static const char prefix[] = "ProfilerStep#";
    nm_json_token token;
    nm_status status;

    *out = (span){-1, NM_NO_TIME, NM_NO_TIME};
    while ((status = nm_json_next(reader, &token, err)) == NM_OK && token.kind != NM_JSON_OBJECT_END) {
        nm_cell cell = {.kind = NM_CELL_TEXT, .text = token.text};

        if (nm_json_is(token.name, "name") && token.kind == NM_JSON_TEXT && token.text.len > sizeof prefix - 1 &&
            memcmp(token.text.data, prefix, sizeof prefix - 1) == 0) {
            cell.text = (nm_bytes){token.text.data + sizeof prefix - 1, token.text.len - (sizeof prefix - 1)};
            if (!nm_cell_get(&cell, 1, &out->step))
                out->step = -1;
        } else if (token.kind == NM_JSON_TEXT || token.kind == NM_JSON_NUMBER) {
            int64_t *time = nm_json_is(token.name, "ts")    ? &out->ns
                            : nm_json_is(token.name, "dur") ? &out->duration_ns
                                                            : NULL;

            if (time != NULL && !nm_cell_get(&cell, NS_PER_US, time))
                *time = NM_NO_TIME;
        }
        if ((status = nm_json_pass(reader, &token, err)) != NM_OK)
            return status;
    }
    return status;
}

static nm_status take_span(nm_ascend_profiler *profiler, nm_map *steps, const span *found, nm_error *err)
{
    uint64_t count = steps->count, number;
    nm_status status = NM_OK;

    if (found->step < 0 || found->ns == NM_NO_TIME)
        return NM_OK;
    status = nm_map_number(steps, (nm_key){.low = (uint64_t)found->step}, &number, err);
    return status == NM_OK && number == count
               ? nm_ascend_profiler_span(profiler, found->step, found->ns, found->duration_ns, err)
               : status;
}

/* Of what is no JSON, or ends within it, what stands in front. */
static nm_status read_trace(nm_ascend_profiler *profiler, nm_input *input, nm_error *err)
{
    nm_json_reader reader = nm_json_reader_from(nm_input_read, input);
    nm_map steps = {0};
    nm_json_token token;
    span found;
    nm_status status = nm_json_next(&reader, &token, err);

    while (status == NM_OK && (status = nm_json_next(&reader, &token, err)) == NM_OK) {
        if (token.kind != NM_JSON_OBJECT) {
            status = nm_json_pass(&reader, &token, err);
            continue;
        }
        status = read_span(&reader, &found, err);
        if (status == NM_OK)
            status = take_span(profiler, &steps, &found, err);
    }
    nm_map_free(&steps);
    nm_json_reader_free(&reader);
    if (status != NM_ERR_FORMAT && status != NM_ERR_LIMIT)
        return status == NM_END ? NM_OK : status;
    profiler->is_cut = true;
    return NM_OK;
}

nm_status nm_ascend_csv_read(nm_ascend_profiler *profiler, nm_input *input, nm_bytes head, nm_error *err)
{
    unsigned table = nm_ascend_csv_table(head);
    nm_csv_rows *rows = NULL;
    const nm_cell *cells;
    nm_status status;

    if (table == 0) /* it was one when it was looked at */
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "one of the files is no table of the profiler");
    profiler->is_beside |= table >= TABLES;
    if (table == TABLE_INFO)
        return read_info(profiler, input, err);
    if (table == TABLE_TRACE)
        return read_trace(profiler, input, err);
    if (table >= TABLES)
        return NM_OK;
    profiler->is_msprof |= table == TABLE_NPU_MEM || nm_csv_has_columns(head, headers[1].columns) ||
                           nm_csv_has_columns(head, headers[3].columns);
    status = nm_csv_rows_open(input, tables[table].columns, tables[table].count, &rows, err);
    while (status == NM_OK && (status = nm_csv_rows_next(rows, &cells, err)) == NM_OK)
        status = tables[table].take(profiler, cells, err);
    profiler->is_cut |= status == NM_END && nm_csv_rows_is_cut(rows);
    nm_csv_rows_close(rows);
    return status == NM_END ? NM_OK : status;
}
