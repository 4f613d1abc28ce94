/* SPDX-License-Identifier: Apache-2.0
 *
 * A profile of pprof. Its parts may stand in any order, so samples are written as they come, each place in the code just
 * before the first sample that has it, and the table of texts last. It is not compressed: that would cost the program a
 * library, every reader of such files takes them so, and their size is that of the stacks.
 *
 * A function of Python has its file in its name, for half of a model's functions are called forward, and pprof adds up
 * what has one name.
 */
#include "export/export.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/shown.h"
#include "base/text.h"
#include "export/export_facts.sql.h"
#include "export/pprof_modules.sql.h"
#include "export/pprof_samples.sql.h"
#include "export/proto.h"
#include "report/stacks.h"

#define VALUE_COUNT 6
#define NAME_BYTES  4096

/* Field numbers of profile.proto. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE,
    PROFILE_MAPPING,
    PROFILE_LOCATION,
    PROFILE_FUNCTION,
    PROFILE_STRING,
    PROFILE_TIME = 9,
    PROFILE_DURATION,
    PROFILE_PERIOD_TYPE,
    PROFILE_PERIOD,
    PROFILE_COMMENT,
    PROFILE_DEFAULT_TYPE
};
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT };
enum {
    MAPPING_ID = 1,
    MAPPING_START,
    MAPPING_LIMIT,
    MAPPING_FILE = 5,
    MAPPING_BUILD_ID,
    MAPPING_HAS_FUNCTIONS,
    MAPPING_HAS_FILES,
    MAPPING_HAS_LINES,
    MAPPING_HAS_INLINED
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_NUMBER };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

/* Frames that are no place in the code; their locations come behind those of all frames. */
typedef enum own_frame { OWN_BASELINE, OWN_NO_STACK, OWN_CUT, OWN_COUNT } own_frame;
static const char *const own_names[] = {"(baseline)", "(no stack)", "(callers are missing)"};

typedef struct pprof {
    const nm_export *export;
    nm_stacks *stacks;
    nm_strings texts;    /* the table: number 0 is the empty text */
    nm_map functions;    /* (name, file) -> its number from 0 */
    nm_map mappings;     /* (0, module_id) or (1, text of module) -> its number from 0 */
    uint64_t *addresses; /* where each mapping begins */
    size_t address_count, address_capacity;
    bool *is_written; /* of each location */
    sqlite3_stmt *module;
    nm_proto message, inner, outer;
    uint32_t frames[NM_STACKS_FRAMES_MAX];
    int64_t locations[NM_STACKS_FRAMES_MAX + 1];
} pprof;

/* ---- Parts --------------------------------------------------------------------------------------------------------- */

/* Writes p->message as a field of the profile; it is empty then. */
static nm_status put_message(pprof *p, uint32_t field, nm_error *err)
{
    nm_proto_clear(&p->outer);
    nm_proto_message(&p->outer, field, &p->message);
    nm_proto_clear(&p->message);
    nm_status status = nm_proto_end(&p->outer, err);
    if (status == NM_OK)
        fwrite(p->outer.bytes.data, 1, p->outer.bytes.len, p->export->out);
    return status;
}

static nm_status put_int(pprof *p, uint32_t field, int64_t value, nm_error *err)
{
    nm_proto_clear(&p->outer);
    nm_proto_int(&p->outer, field, value);
    nm_status status = nm_proto_end(&p->outer, err);
    if (status == NM_OK)
        fwrite(p->outer.bytes.data, 1, p->outer.bytes.len, p->export->out);
    return status;
}

/* The place of a text in the table. */
static nm_status add_text(pprof *p, const char *text, uint32_t *number, nm_error *err)
{
    *number = 0;
    if (text == NULL || text[0] == 0)
        return NM_OK;
    return nm_strings_intern(&p->texts, (nm_bytes){(const uint8_t *)text, strlen(text)}, number, err);
}

/* The same of a text that may hold anything. */
static nm_status add_foreign(pprof *p, const char *text, uint32_t *number, nm_error *err)
{
    char shown[NAME_BYTES];

    return add_text(p, nm_shown_text(shown, sizeof shown, text), number, err);
}

/* A text of the stacks; "" for 0. */
static const char *stack_text(const pprof *p, uint32_t number)
{
    const uint8_t *text = nm_strings_get(nm_stacks_strings(p->stacks), number).data;

    return text == NULL ? "" : (const char *)text;
}

static nm_status put_value_type(pprof *p, uint32_t field, const char *type, const char *unit, nm_error *err)
{
    uint32_t type_text, unit_text;
    nm_status status = add_text(p, type, &type_text, err);

    if (status == NM_OK)
        status = add_text(p, unit, &unit_text, err);
    if (status != NM_OK)
        return status;
    nm_proto_uint(&p->message, 1, type_text);
    nm_proto_uint(&p->message, 2, unit_text);
    return put_message(p, field, err);
}

/* ---- Places in the code -------------------------------------------------------------------------------------------- */

typedef struct mapping {
    const char *file, *build_id;
    int64_t address, size_bytes;
} mapping;

/* With the next id, which is its number and one. */
static nm_status put_mapping(pprof *p, const mapping *m, nm_error *err)
{
    uint32_t file, build_id;
    nm_status status = add_foreign(p, m->file, &file, err);

    if (status == NM_OK)
        status = add_foreign(p, m->build_id, &build_id, err);
    if (status == NM_OK)
        status = nm_array_grow(&p->addresses, &p->address_capacity, p->address_count + 1, sizeof *p->addresses, err);
    if (status != NM_OK)
        return status;
    p->addresses[p->address_count++] = (uint64_t)m->address;
    nm_proto_uint(&p->message, MAPPING_ID, p->address_count);
    nm_proto_uint(&p->message, MAPPING_START, (uint64_t)m->address);
    nm_proto_uint(&p->message, MAPPING_LIMIT, (uint64_t)m->address + (uint64_t)m->size_bytes);
    nm_proto_uint(&p->message, MAPPING_FILE, file);
    nm_proto_uint(&p->message, MAPPING_BUILD_ID, build_id);
    for (uint32_t field = MAPPING_HAS_FUNCTIONS; field <= MAPPING_HAS_INLINED; field++)
        nm_proto_uint(&p->message, field,
                      1); /* names are known as well as they ever will be: nothing is to be looked up */
    return put_message(p, PROFILE_MAPPING, err);
}

/* pprof calls the first mapping the program. */
static nm_status put_program(pprof *p, const char *command, nm_error *err)
{
    char program[NAME_BYTES];
    uint64_t number;
    nm_status status = nm_map_number(&p->mappings, (nm_key){2, 0}, &number, err);

    nm_shown_text(program, sizeof program, command);
    program[strcspn(program, " ")] = 0;
    return status == NM_OK ? put_mapping(p, &(mapping){.file = program[0] == 0 ? "program" : program}, err) : status;
}

static nm_status put_module(pprof *p, const nm_stacks_frame *frame, nm_error *err)
{
    mapping m = {.file = stack_text(p, frame->module), .build_id = ""};
    nm_pprof_modules_row row;

    if (frame->module_id == NM_NULL)
        return put_mapping(p, &m, err);
    nm_pprof_modules_bind(p->module, frame->module_id);
    if (nm_pprof_modules_next(p->module, &row))
        m = (mapping){row.has.path ? row.path : m.file, row.build, row.address, row.size_bytes};
    return nm_question_pause(p->module, put_mapping(p, &m, err), err);
}

/* The number of the frame's mapping, from 0. */
static nm_status add_mapping(pprof *p, const nm_stacks_frame *frame, uint64_t *number, nm_error *err)
{
    nm_key key = {2, 0};
    nm_status status;

    if (frame->module_id != NM_NULL)
        key = (nm_key){0, (uint64_t)frame->module_id};
    else if (frame->module != 0)
        key = (nm_key){1, frame->module};
    status = nm_map_number(&p->mappings, key, number, err);
    return status == NM_OK && *number == p->address_count ? put_module(p, frame, err) : status;
}

/* "model.py:forward", or the function, or what there is instead. */
static const char *describe(const pprof *p, const nm_stacks_frame *frame, char out[NAME_BYTES])
{
    const char *file = stack_text(p, frame->file), *function = stack_text(p, frame->function);
    const char *label = stack_text(p, frame->label);
    size_t length = strlen(file);

    if (function[0] == 0)
        return label[0] == 0 ? "??" : label;
    if (length < 3 || strcmp(file + length - 3, ".py") != 0)
        return function;
    snprintf(out, NAME_BYTES, "%s:%s", nm_path_name(file), function);
    return out;
}

/* The id of a function, from 1. */
static nm_status add_function(pprof *p, const char *name, const char *system_name, const char *file, uint64_t *id,
                              nm_error *err)
{
    size_t count = p->functions.count;
    uint32_t texts[3] = {0};
    const char *const given[3] = {name, system_name, file};
    nm_status status = NM_OK;

    for (int i = 0; status == NM_OK && i < 3; i++)
        status = add_text(p, given[i], &texts[i], err);
    if (status == NM_OK)
        status = nm_map_number(&p->functions, (nm_key){texts[0], (uint64_t)texts[2] << 32 | texts[1]}, id, err);
    if (status != NM_OK || *id < count) {
        *id += 1;
        return status;
    }
    *id += 1;
    nm_proto_uint(&p->message, FUNCTION_ID, *id);
    nm_proto_uint(&p->message, FUNCTION_NAME, texts[0]);
    nm_proto_uint(&p->message, FUNCTION_SYSTEM_NAME, texts[1]);
    nm_proto_uint(&p->message, FUNCTION_FILE, texts[2]);
    return put_message(p, PROFILE_FUNCTION, err);
}

static nm_status put_location(pprof *p, uint64_t id, uint64_t mapping_number, int64_t offset, uint64_t function_id,
                              int64_t line, nm_error *err)
{
    nm_proto_uint(&p->message, LOCATION_ID, id);
    nm_proto_uint(&p->message, LOCATION_MAPPING, mapping_number + 1);
    if (offset != 0)
        nm_proto_uint(&p->message, LOCATION_ADDRESS, p->addresses[mapping_number] + (uint64_t)offset);
    nm_proto_clear(&p->inner);
    nm_proto_uint(&p->inner, LINE_FUNCTION, function_id);
    nm_proto_int(&p->inner, LINE_NUMBER, line);
    nm_proto_message(&p->message, LOCATION_LINE, &p->inner);
    return put_message(p, PROFILE_LOCATION, err);
}

/* A frame's location, written once; *id is the frame's index and one. */
static nm_status add_location(pprof *p, uint32_t index, int64_t *id, nm_error *err)
{
    size_t frame_count;
    const nm_stacks_frame *frame = &nm_stacks_frames(p->stacks, &frame_count)[index];
    char name[NAME_BYTES];
    uint64_t mapping_number = 0, function_id = 0;
    nm_status status = NM_OK;

    *id = (int64_t)index + 1;
    if (p->is_written[index])
        return NM_OK;
    p->is_written[index] = true;
    status = add_mapping(p, frame, &mapping_number, err);
    if (status == NM_OK)
        status = add_function(p, describe(p, frame, name), stack_text(p, frame->function), stack_text(p, frame->file),
                              &function_id, err);
    return status == NM_OK
               ? put_location(p, (uint64_t)*id, mapping_number, frame->offset, function_id, frame->line, err)
               : status;
}

static nm_status add_own_location(pprof *p, own_frame own, int64_t *id, nm_error *err)
{
    size_t frame_count;
    uint64_t function_id = 0;
    nm_status status;

    nm_stacks_frames(p->stacks, &frame_count);
    *id = (int64_t)(frame_count + own) + 1;
    if (p->is_written[frame_count + own])
        return NM_OK;
    p->is_written[frame_count + own] = true;
    status = add_function(p, own_names[own], "", "", &function_id, err);
    return status == NM_OK ? put_location(p, (uint64_t)*id, 0, 0, function_id, 0, err) : status;
}

/* ---- Samples ------------------------------------------------------------------------------------------------------- */

/* The stack of the row into p->locations, each of them written. */
static nm_status add_stack(pprof *p, const nm_pprof_samples_row *row, size_t *count, nm_error *err)
{
    nm_status status = NM_OK;
    bool is_cut = false;

    *count = row->has.stack_id ? nm_stacks_walk(p->stacks, row->stack_id, p->export->is_raw, p->frames, &is_cut) : 0;
    for (size_t i = 0; status == NM_OK && i < *count; i++)
        status = add_location(p, p->frames[i], &p->locations[i], err);
    if (status == NM_OK && *count == 0)
        status = add_own_location(p, row->is_baseline ? OWN_BASELINE : OWN_NO_STACK, &p->locations[(*count)++], err);
    if (status == NM_OK && is_cut)
        status = add_own_location(p, OWN_CUT, &p->locations[(*count)++], err);
    return status;
}

static nm_status add_label(pprof *p, const char *key, const char *value, nm_error *err)
{
    uint32_t key_text, value_text;
    nm_status status = add_text(p, key, &key_text, err);

    if (status == NM_OK)
        status = add_foreign(p, value, &value_text, err);
    if (status != NM_OK)
        return status;
    nm_proto_clear(&p->inner);
    nm_proto_uint(&p->inner, LABEL_KEY, key_text);
    nm_proto_uint(&p->inner, LABEL_TEXT, value_text);
    nm_proto_message(&p->message, SAMPLE_LABEL, &p->inner);
    return NM_OK;
}

static nm_status put_sample(pprof *p, const nm_pprof_samples_row *row, nm_error *err)
{
    const int64_t values[VALUE_COUNT] = {row->alloc_count, row->alloc_bytes, row->live_count,
                                         row->live_bytes,  row->peak_bytes,  row->leak_bytes};
    const char *const labels[][2] = {{"heap", row->heap},        {"level", row->level},  {"device", row->device_name},
                                     {"rank", row->rank_name},   {"pid", row->pid_name}, {"stream", row->stream_name},
                                     {"category", row->category}};
    bool has_value = false;
    size_t count = 0;
    nm_status status = NM_OK;

    for (int i = 0; i < VALUE_COUNT; i++)
        has_value = has_value || values[i] != 0;
    if (!has_value)
        return NM_OK;
    status = add_stack(p, row, &count, err);
    if (status != NM_OK)
        return status;
    nm_proto_packed(&p->message, SAMPLE_LOCATION, p->locations, count);
    nm_proto_packed(&p->message, SAMPLE_VALUE, values, VALUE_COUNT);
    for (size_t i = 0; status == NM_OK && i < sizeof labels / sizeof *labels; i++)
        if (labels[i][1][0] != 0)
            status = add_label(p, labels[i][0], labels[i][1], err);
    return status == NM_OK ? put_message(p, PROFILE_SAMPLE, err) : status;
}

static nm_status put_samples(pprof *p, nm_error *err)
{
    const nm_export *export = p->export;
    sqlite3_stmt *rows = NULL;
    nm_pprof_samples_row row;
    nm_status status = nm_pprof_samples_ask(export->db, export->moment.word, export->moment.has_rows, &rows, err);

    while (status == NM_OK && !ferror(export->out) && nm_pprof_samples_next(rows, &row))
        status = put_sample(p, &row, err);
    return nm_question_end(rows, status, err);
}

/* ---- All of it ----------------------------------------------------------------------------------------------------- */

static nm_status put_comment(pprof *p, const char *text, nm_error *err)
{
    uint32_t number;
    nm_status status = add_foreign(p, text, &number, err);

    return status == NM_OK ? put_int(p, PROFILE_COMMENT, number, err) : status;
}

/* When it was, of what, and whether something is missing; and the program. */
static nm_status put_circumstances(pprof *p, nm_error *err)
{
    char text[128];
    sqlite3_stmt *rows = NULL;
    nm_export_facts_row row = {.command = ""};
    nm_status status = nm_export_facts_ask(p->export->db, &rows, err);

    if (status == NM_OK)
        nm_export_facts_next(rows, &row);
    if (status == NM_OK && row.has.start_realtime_ns)
        status = put_int(p, PROFILE_TIME, row.start_realtime_ns, err);
    if (status == NM_OK && row.has.last_ns)
        status = put_int(p, PROFILE_DURATION, row.last_ns, err);
    snprintf(text, sizeof text, "inuse: live at %.100s", p->export->moment.word);
    if (status == NM_OK)
        status = put_comment(p, text, err);
    if (status == NM_OK && row.partial_count > 0)
        status = put_comment(p, "not complete: something of the recording is missing", err);
    if (status == NM_OK)
        status = put_program(p, row.command, err);
    return nm_question_end(rows, status, err);
}

static nm_status put_types(pprof *p, nm_error *err)
{
    static const char *const types[VALUE_COUNT][2] = {{"alloc_objects", "count"}, {"alloc_space", "bytes"},
                                                      {"inuse_objects", "count"}, {"inuse_space", "bytes"},
                                                      {"peak_space", "bytes"},    {"leak_space", "bytes"}};
    uint32_t number = 0;
    nm_status status = NM_OK;

    for (int i = 0; status == NM_OK && i < VALUE_COUNT; i++)
        status = put_value_type(p, PROFILE_SAMPLE_TYPE, types[i][0], types[i][1], err);
    if (status == NM_OK)
        status = put_value_type(p, PROFILE_PERIOD_TYPE, "space", "bytes", err);
    if (status == NM_OK)
        status = put_int(p, PROFILE_PERIOD, 1, err);
    if (status == NM_OK)
        status = add_text(p, "inuse_space", &number, err);
    return status == NM_OK ? put_int(p, PROFILE_DEFAULT_TYPE, number, err) : status;
}

static nm_status put_texts(pprof *p, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t number = 0; status == NM_OK && number <= p->texts.count; number++) {
        nm_bytes text = nm_strings_get(&p->texts, (uint32_t)number);

        nm_proto_clear(&p->outer);
        nm_proto_bytes(&p->outer, PROFILE_STRING, text.data, text.len);
        status = nm_proto_end(&p->outer, err);
        if (status == NM_OK)
            fwrite(p->outer.bytes.data, 1, p->outer.bytes.len, p->export->out);
    }
    return status;
}

static nm_status open_all(pprof *p, nm_error *err)
{
    size_t frame_count = 0;
    nm_status status = nm_stacks_open(p->export->db, &p->stacks, err);

    if (status != NM_OK)
        return status;
    nm_stacks_frames(p->stacks, &frame_count);
    p->is_written = calloc(frame_count + OWN_COUNT, sizeof *p->is_written);
    if (p->is_written == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    return nm_pprof_modules_ask(p->export->db, NM_NULL, &p->module, err);
}

static void close_all(pprof *p)
{
    sqlite3_finalize(p->module);
    nm_stacks_close(p->stacks);
    nm_strings_free(&p->texts);
    nm_map_free(&p->functions);
    nm_map_free(&p->mappings);
    nm_proto_free(&p->message);
    nm_proto_free(&p->inner);
    nm_proto_free(&p->outer);
    free(p->addresses);
    free(p->is_written);
    free(p);
}

nm_status nm_export_pprof(const nm_export *export, nm_error *err)
{
    pprof *p = calloc(1, sizeof *p);
    nm_status status;

    if (p == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    p->export = export;
    status = open_all(p, err);
    if (status == NM_OK)
        status = put_types(p, err);
    if (status == NM_OK)
        status = put_circumstances(p, err);
    if (status == NM_OK)
        status = put_samples(p, err);
    if (status == NM_OK)
        status = put_texts(p, err);
    close_all(p);
    return status;
}
