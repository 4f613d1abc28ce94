/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of ascend_pytorch_profiler_N.db and msprof_N.db, in bytes and nanoseconds. Names are numbers of STRING_IDS; what an event is
 * (allocate, app) is one of them, or of ENUM_MEMORY where that table is. Any table may be missing.
 */
#include <string.h>

#include "base/json.h"
#include "source/ascend_profiler.h"
#include "source/foreign_rows.h"

#define TYPE_QUEUE 50002 /* of ENUM_API_TYPE: what hands work to another thread */

const char *const nm_ascend_db_tables[] = {"MEMORY_RECORD",  "OP_MEMORY",  "NPU_MEM",
                                           "NPU_MODULE_MEM", "NPU_OP_MEM", NULL};

typedef struct names {
    nm_map of; /* number -> string of `texts` */
} names;

typedef struct reading {
    nm_ascend_profiler *profiler;
    nm_foreign_tables *tables;
    nm_error *err;
    nm_strings texts;
    names strings, modules, memory; /* STRING_IDS, ENUM_MODULE, ENUM_MEMORY */
} reading;

typedef nm_status take_row(reading *r, const nm_cell *cells);

static nm_status read_table(reading *r, const char *table, const char *const *columns, size_t count, take_row *take)
{
    nm_foreign_rows *rows = NULL;
    const nm_cell *cells;
    nm_status status = nm_foreign_rows_open(r->tables, table, columns, count, &rows, r->err);

    while (status == NM_OK && (status = nm_foreign_rows_next(rows, &cells, r->err)) == NM_OK)
        status = take(r, cells);
    nm_foreign_rows_close(rows);
    return status == NM_END ? NM_OK : status;
}

#define READ(r, table, columns, take) read_table(r, table, columns, sizeof(columns) / sizeof((columns)[0]), take)

/* ---- Names ---- */

static nm_status take_name(reading *r, names *to, const nm_cell *cells)
{
    int64_t id = 0;
    uint32_t number = 0;
    nm_status status;

    if (!nm_cell_get(&cells[0], 1, &id))
        return NM_OK;
    status = nm_strings_intern(&r->texts, nm_cell_text(&cells[1]), &number, r->err);
    return status == NM_OK ? nm_map_put(&to->of, (nm_key){.low = (uint64_t)id}, number, r->err) : status;
}

static nm_status take_string(reading *r, const nm_cell *cells)
{
    return take_name(r, &r->strings, cells);
}

static nm_status take_module_name(reading *r, const nm_cell *cells)
{
    return take_name(r, &r->modules, cells);
}

static nm_status take_memory_name(reading *r, const nm_cell *cells)
{
    return take_name(r, &r->memory, cells);
}

static nm_bytes name_in(const reading *r, const names *from, const nm_cell *cell)
{
    int64_t id = 0;
    const uint64_t *number = nm_cell_get(cell, 1, &id) ? nm_map_get(&from->of, (nm_key){.low = (uint64_t)id}) : NULL;

    return number == NULL ? (nm_bytes){0} : nm_strings_get(&r->texts, (uint32_t)*number);
}

static bool is_word(nm_bytes bytes, const char *word)
{
    return bytes.len == strlen(word) && memcmp(bytes.data, word, bytes.len) == 0;
}

/* Of one of two words, by the table that says it. */
static bool is_kind(const reading *r, const nm_cell *cell, const char *word)
{
    nm_bytes told = name_in(r, &r->memory, cell);

    return is_word(told, word) || (r->memory.of.count == 0 && is_word(name_in(r, &r->strings, cell), word));
}

static nm_status read_names(reading *r)
{
    static const char *const strings[] = {"id", "value"}, *const enums[] = {"id", "name"};
    nm_status status = READ(r, "STRING_IDS", strings, take_string);

    if (status == NM_OK)
        status = READ(r, "ENUM_MODULE", enums, take_module_name);
    return status == NM_OK ? READ(r, "ENUM_MEMORY", enums, take_memory_name) : status;
}

/* ---- What a row says ---- */

static int64_t number_or(const nm_cell *cell, int64_t none)
{
    int64_t value = 0;

    return nm_cell_get(cell, 1, &value) ? value : none;
}

static int64_t bytes_of(const nm_cell *cell)
{
    return number_or(cell, NM_UNKNOWN_NUMBER);
}

static int64_t device_of(const nm_cell *cell)
{
    int64_t device = number_or(cell, 0);

    return device < 0 ? 0 : device;
}

static nm_status take_record(reading *r, const nm_cell *cells)
{
    nm_ascend_sums sums = {bytes_of(&cells[2]), bytes_of(&cells[3]), false};

    return nm_ascend_profiler_record(r->profiler, name_in(r, &r->strings, &cells[0]), device_of(&cells[4]),
                                     number_or(&cells[1], NM_NO_TIME), sums, r->err);
}

static nm_status take_operator(reading *r, const nm_cell *cells)
{
    nm_ascend_operator row = {
        .device = device_of(&cells[8]),
        .bytes = number_or(&cells[1], 0),
        .begin_ns = number_or(&cells[2], NM_NO_TIME),
        .end_ns = nm_ascend_profiler_end(number_or(&cells[3], NM_NO_TIME), number_or(&cells[10], NM_NO_TIME)),
        .at_end_ns = number_or(&cells[3], NM_NO_TIME),
        .at_begin = {bytes_of(&cells[4]), bytes_of(&cells[5]), false},
        .at_end = {bytes_of(&cells[6]), bytes_of(&cells[7]), false}};
    nm_status status = nm_gathered_string(r->profiler->gathered, name_in(r, &r->strings, &cells[0]), &row.name, r->err);

    row.bytes = row.bytes < 0 && row.bytes != INT64_MIN ? -row.bytes : row.bytes;
    row.is_graph = cells[9].kind == NM_CELL_NONE;
    return status == NM_OK ? nm_ascend_profiler_operator(r->profiler, &row, r->err) : status;
}

static nm_status take_block(reading *r, const nm_cell *cells)
{
    int64_t global_tid = number_or(&cells[5], -1);
    nm_ascend_block row = {.component = name_in(r, &r->strings, &cells[8]),
                           .device = device_of(&cells[9]),
                           .bytes = number_or(&cells[3], -1),
                           .ns = number_or(&cells[4], NM_NO_TIME),
                           .tid = NM_UNKNOWN_NUMBER,
                           .after = {bytes_of(&cells[6]), bytes_of(&cells[7]), false},
                           .is_end = is_kind(r, &cells[2], "release")};
    nm_status status = nm_gathered_string(r->profiler->gathered, name_in(r, &r->strings, &cells[0]), &row.name, r->err);

    if (!nm_cell_get_address(&cells[1], &row.address) || (!row.is_end && !is_kind(r, &cells[2], "allocate"))) {
        r->profiler->damaged_count++;
        return status;
    }
    if (global_tid >= 0) {
        row.tid = global_tid & UINT32_MAX;
        r->profiler->pid = global_tid >> 32;
    }
    return status == NM_OK ? nm_ascend_profiler_block(r->profiler, &row, r->err) : status;
}

static nm_status take_npu_mem(reading *r, const nm_cell *cells)
{
    static const nm_bytes app = {(const uint8_t *)"APP", 3};
    int64_t ddr = number_or(&cells[1], 0), hbm = number_or(&cells[2], 0);
    int64_t device = device_of(&cells[4]), ns = number_or(&cells[3], NM_NO_TIME), bytes;

    bytes = ddr < 0 || hbm < 0 || ddr > NM_ASCEND_BYTES_MAX || hbm > NM_ASCEND_BYTES_MAX ? -1 : ddr + hbm;
    if (is_kind(r, &cells[0], "app"))
        return nm_ascend_profiler_record(r->profiler, app, device, ns,
                                         (nm_ascend_sums){NM_UNKNOWN_NUMBER, bytes, false}, r->err);
    if (is_kind(r, &cells[0], "device"))
        return nm_ascend_profiler_device(r->profiler, device, ns, bytes, r->err);
    r->profiler->damaged_count++;
    return NM_OK;
}

static nm_status take_module(reading *r, const nm_cell *cells)
{
    return nm_ascend_profiler_module(r->profiler, name_in(r, &r->modules, &cells[0]), device_of(&cells[3]),
                                     number_or(&cells[1], NM_NO_TIME), bytes_of(&cells[2]), r->err);
}

static nm_status read_memory(reading *r)
{
    static const char *const records[] = {"component", "timestamp", "totalAllocated", "totalReserved", "deviceId"};
    static const char *const operators[] = {"name",
                                            "size",
                                            "allocationTime",
                                            "releaseTime",
                                            "allocationTotalAllocated",
                                            "allocationTotalReserved",
                                            "releaseTotalAllocated",
                                            "releaseTotalReserved",
                                            "deviceId",
                                            "streamPtr",
                                            "activeReleaseTime"};
    static const char *const blocks[] = {"operatorName", "addr",          "type",         "size",      "timestampNs",
                                         "globalTid",    "totalAllocate", "totalReserve", "component", "deviceId"};
    static const char *const devices[] = {"type", "ddr", "hbm", "timestampNs", "deviceId"};
    static const char *const modules[] = {"moduleId", "timestampNs", "totalReserved", "deviceId"};
    nm_status status = READ(r, "MEMORY_RECORD", records, take_record);

    if (status == NM_OK)
        status = READ(r, "OP_MEMORY", operators, take_operator);
    if (status == NM_OK)
        status = READ(r, "NPU_OP_MEM", blocks, take_block);
    if (status == NM_OK)
        status = READ(r, "NPU_MEM", devices, take_npu_mem);
    return status == NM_OK ? READ(r, "NPU_MODULE_MEM", modules, take_module) : status;
}

/* ---- What is around ---- */

static nm_status take_step(reading *r, const nm_cell *cells)
{
    return nm_ascend_profiler_step(r->profiler, number_or(&cells[0], 0), number_or(&cells[1], NM_NO_TIME), r->err);
}

/* torch_npu makes each tensor by a call of "empty_tensor": nobody's line. */
static nm_status take_call(reading *r, const nm_cell *cells)
{
    int64_t global_tid = number_or(&cells[2], -1);
    nm_bytes name = name_in(r, &r->strings, &cells[3]);

    if (global_tid < 0 || number_or(&cells[4], 0) == TYPE_QUEUE || is_word(name, "empty_tensor"))
        return NM_OK;
    if (r->profiler->pid == NM_UNKNOWN_NUMBER)
        r->profiler->pid = global_tid >> 32;
    return nm_ascend_profiler_call(r->profiler, global_tid & UINT32_MAX, number_or(&cells[0], NM_NO_TIME),
                                   number_or(&cells[1], NM_NO_TIME), name, number_or(&cells[5], -1), r->err);
}

static nm_status take_chain(reading *r, const nm_cell *cells)
{
    return nm_ascend_stacks_chain(&r->profiler->stacks, number_or(&cells[0], -1), number_or(&cells[2], -1),
                                  name_in(r, &r->strings, &cells[1]), r->err);
}

static nm_status take_rank(reading *r, const nm_cell *cells)
{
    int64_t rank = number_or(&cells[0], -1);

    if (rank >= 0 && r->profiler->rank == NM_UNKNOWN_NUMBER)
        r->profiler->rank = rank;
    return NM_OK;
}

static nm_status take_host(reading *r, const nm_cell *cells)
{
    return nm_gathered_string(r->profiler->gathered, nm_cell_text(&cells[0]), &r->profiler->host, r->err);
}

static nm_status take_chip(reading *r, const nm_cell *cells)
{
    return nm_gathered_string(r->profiler->gathered, nm_cell_text(&cells[0]), &r->profiler->chip, r->err);
}

/* What was set; damaged JSON says nothing. */
static nm_status take_environment(reading *r, nm_bytes json)
{
    nm_json_reader reader = nm_json_reader_over(json);
    nm_json_token token;
    nm_status status = NM_OK, read = nm_json_next(&reader, &token, NULL);

    while (read == NM_OK && status == NM_OK && (read = nm_json_next(&reader, &token, NULL)) == NM_OK) {
        if (token.kind == NM_JSON_TEXT && token.text.len > 0 && token.name.len > 0)
            status = nm_ascend_profiler_environment(r->profiler, token.name, token.text, r->err);
        read = nm_json_pass(&reader, &token, NULL);
    }
    nm_json_reader_free(&reader);
    return status;
}

static nm_status take_meta(reading *r, const nm_cell *cells)
{
    return nm_cell_is(&cells[0], "ENV_VARIABLES") ? take_environment(r, nm_cell_text(&cells[1])) : NM_OK;
}

static nm_status read_around(reading *r)
{
    static const char *const steps[] = {"id", "startNs"}, *const ranks[] = {"rankId"}, *const hosts[] = {"hostName"},
                             *const chips[] = {"name"}, *const metas[] = {"name", "value"},
                             *const calls[] = {"startNs", "endNs", "globalTid", "name", "type", "callchainId"},
                             *const chains[] = {"id", "stack", "stackDepth"};
    nm_status status = READ(r, "STEP_TIME", steps, take_step);

    if (status == NM_OK)
        status = READ(r, "PYTORCH_API", calls, take_call);
    if (status == NM_OK)
        status = READ(r, "PYTORCH_CALLCHAINS", chains, take_chain);
    if (status == NM_OK)
        status = READ(r, "RANK_DEVICE_MAP", ranks, take_rank);
    if (status == NM_OK)
        status = READ(r, "HOST_INFO", hosts, take_host);
    if (status == NM_OK)
        status = READ(r, "NPU_INFO", chips, take_chip);
    return status == NM_OK ? READ(r, "META_DATA", metas, take_meta) : status;
}

nm_status nm_ascend_db_read(nm_ascend_profiler *profiler, nm_foreign_tables *tables, nm_error *err)
{
    reading r = {.profiler = profiler, .tables = tables, .err = err};
    nm_status status = read_names(&r);

    profiler->is_msprof = !nm_foreign_tables_has(tables, "MEMORY_RECORD") &&
                          !nm_foreign_tables_has(tables, "OP_MEMORY") && !nm_foreign_tables_has(tables, "PYTORCH_API");
    if (status == NM_OK)
        status = read_memory(&r);
    if (status == NM_OK)
        status = read_around(&r);
    nm_strings_free(&r.texts);
    nm_map_free(&r.strings.of);
    nm_map_free(&r.modules.of);
    nm_map_free(&r.memory.of);
    return status;
}
