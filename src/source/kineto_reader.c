/* SPDX-License-Identifier: Apache-2.0
 *
 * Members of objects are taken as they come, in any order; of what is not asked for, nothing is kept. The file may end anywhere:
 * its writer may have been killed.
 */
#include "source/kineto_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/event.h"

#define DEVICES_MAX  4096
#define TIME_US_MAX  4000000000000000.0 /* a time that is added to another still fits */
#define NUMBER_BYTES 64

static nm_status read_bytes(void *context, void *data, size_t len, size_t *got, nm_error *err)
{
    nm_kineto_reader *reader = context;
    nm_status status = nm_input_read(reader->input, data, len, got, err);

    if (status == NM_OK)
        nm_checksum_add(&reader->sum, data, *got);
    return status;
}

/* Some editors put a mark in front. */
static nm_status begin_behind_mark(nm_input *input, nm_error *err)
{
    uint8_t mark[3] = {0};
    size_t got = 0;
    nm_status status = nm_input_rewind(input, err);

    if (status == NM_OK)
        status = nm_input_read(input, mark, sizeof mark, &got, err);
    return status == NM_OK && memcmp(mark, "\xef\xbb\xbf", 3) != 0 ? nm_input_rewind(input, err) : status;
}

nm_status nm_kineto_reader_begin(nm_kineto_reader *reader, bool has_arguments, nm_error *err)
{
    nm_json_reader_free(&reader->json);
    reader->json = nm_json_reader_from(read_bytes, reader);
    reader->has_arguments = has_arguments;
    reader->is_listing = reader->is_cut = false;
    reader->whole_offset = 0;
    reader->rank = reader->world_size = NM_UNKNOWN_NUMBER;
    reader->devices.count = 0;
    nm_checksum_begin(&reader->sum);
    return begin_behind_mark(reader->input, err);
}

void nm_kineto_reader_free(nm_kineto_reader *reader)
{
    nm_json_reader_free(&reader->json);
    nm_buffer_free(&reader->name);
    free(reader->devices.items);
}

/* ---- Numbers ---- */

static int64_t integer_of(const nm_json_token *token)
{
    int64_t value;

    return nm_json_get_int(token, &value) ? value : NM_UNKNOWN_NUMBER;
}

static int64_t size_of(const nm_json_token *token)
{
    int64_t value = integer_of(token);

    return value > NM_KINETO_SIZE_MAX || value < -NM_KINETO_SIZE_MAX ? NM_UNKNOWN_NUMBER : value;
}

/* Microseconds with a fraction, to the nanosecond. */
static int64_t time_of(const nm_json_token *token)
{
    char digits[NUMBER_BYTES] = "";

    if (token->kind != NM_JSON_NUMBER || token->text.len >= sizeof digits)
        return NM_UNKNOWN_NUMBER;
    memcpy(digits, token->text.data, token->text.len);
    double value = strtod(digits, NULL);
    if (!(fabs(value) < TIME_US_MAX))
        return NM_UNKNOWN_NUMBER;
    const char *point = strchr(digits, '.');
    if (strpbrk(digits, "eE") != NULL)
        return (int64_t)(value * 1000);

    int64_t fraction = 0;
    for (int i = 1, is_there = point != NULL; i <= 3; i++) {
        is_there = is_there && point[i] != 0;
        fraction = fraction * 10 + (is_there ? point[i] - '0' : 0);
    }
    return strtoll(digits, NULL, 10) * 1000 + (digits[0] == '-' ? -fraction : fraction);
}

/* ---- Where it ran ---- */

typedef nm_status take_member(nm_kineto_reader *reader, const nm_json_token *token, void *to, nm_error *err);

/* What is open up to its end, member by member; what is nested is passed over. */
static nm_status read_members(nm_kineto_reader *reader, take_member *take, void *to, nm_error *err)
{
    nm_json_token token;
    nm_status status;

    while ((status = nm_json_next(&reader->json, &token, err)) == NM_OK && token.kind != NM_JSON_OBJECT_END &&
           token.kind != NM_JSON_LIST_END) {
        status = take(reader, &token, to, err);
        if (status == NM_OK)
            status = nm_json_pass(&reader->json, &token, err);
        if (status != NM_OK)
            return status;
    }
    return status;
}

static nm_status take_distributed(nm_kineto_reader *reader, const nm_json_token *token, void *to, nm_error *err)
{
    (void)to;
    (void)err;
    if (nm_json_is(token->name, "rank"))
        reader->rank = integer_of(token);
    else if (nm_json_is(token->name, "world_size"))
        reader->world_size = integer_of(token);
    return NM_OK;
}

static nm_status take_property(nm_kineto_reader *reader, const nm_json_token *token, void *to, nm_error *err)
{
    nm_kineto_device *device = to;
    int64_t bytes;

    if (nm_json_is(token->name, "id"))
        device->id = integer_of(token);
    else if (nm_json_is(token->name, "totalGlobalMem") && (bytes = size_of(token)) > 0)
        device->capacity_bytes = (uint64_t)bytes;
    else if (nm_json_is(token->name, "name") && token->kind == NM_JSON_TEXT)
        return nm_gathered_string(reader->gathered, token->text, &device->name, err);
    return NM_OK;
}

static nm_status take_device(nm_kineto_reader *reader, nm_error *err)
{
    nm_kineto_device device = {.id = NM_UNKNOWN_NUMBER};
    nm_status status = read_members(reader, take_property, &device, err);

    if (status != NM_OK || reader->devices.count >= DEVICES_MAX)
        return status;
    status =
        nm_array_grow(&reader->devices.items, &reader->devices.capacity, reader->devices.count + 1, sizeof device, err);
    if (status == NM_OK)
        reader->devices.items[reader->devices.count++] = device;
    return status;
}

static nm_status read_devices(nm_kineto_reader *reader, nm_error *err)
{
    nm_json_token token;
    nm_status status;

    while ((status = nm_json_next(&reader->json, &token, err)) == NM_OK && token.kind != NM_JSON_LIST_END) {
        status = token.kind == NM_JSON_OBJECT ? take_device(reader, err) : nm_json_pass(&reader->json, &token, err);
        if (status != NM_OK)
            return status;
    }
    return status;
}

static nm_status read_fact(nm_kineto_reader *reader, const nm_json_token *token, nm_error *err)
{
    bool is_devices = nm_json_is(token->name, "deviceProperties");

    reader->is_torch = reader->is_torch || is_devices || nm_json_is(token->name, "schemaVersion");
    if (is_devices && token->kind == NM_JSON_LIST)
        return read_devices(reader, err);
    if (nm_json_is(token->name, "distributedInfo") && token->kind == NM_JSON_OBJECT)
        return read_members(reader, take_distributed, NULL, err);
    if (nm_json_is(token->name, "baseTimeNanoseconds")) {
        int64_t base_ns = integer_of(token);

        reader->base_ns = base_ns > 0 && base_ns < (int64_t)(TIME_US_MAX * 1000) ? base_ns : 0;
    }
    return nm_json_pass(&reader->json, token, err);
}

/* ---- Entries ---- */

static nm_kineto_category category_of(nm_bytes text)
{
    if (nm_json_is(text, "python_function"))
        return NM_KINETO_PYTHON;
    if (nm_json_is(text, "cpu_op") || nm_json_is(text, "Operator"))
        return NM_KINETO_OPERATOR;
    return NM_KINETO_OTHER;
}

static nm_status take_argument(nm_kineto_reader *reader, const nm_json_token *token, void *to, nm_error *err)
{
    nm_kineto_entry *entry = to;

    (void)reader;
    (void)err;
    if (nm_json_is(token->name, "Addr"))
        entry->address = integer_of(token);
    else if (nm_json_is(token->name, "Bytes"))
        entry->bytes = size_of(token);
    else if (nm_json_is(token->name, "Total Allocated"))
        entry->allocated_bytes = size_of(token);
    else if (nm_json_is(token->name, "Total Reserved"))
        entry->reserved_bytes = size_of(token);
    else if (nm_json_is(token->name, "Device Type"))
        entry->device_type = integer_of(token);
    else if (nm_json_is(token->name, "Device Id"))
        entry->device_id = integer_of(token);
    return NM_OK;
}

static nm_status take_name(nm_kineto_reader *reader, nm_bytes text, nm_kineto_entry *entry, nm_error *err)
{
    reader->name.len = 0;
    nm_status status = nm_buffer_append(&reader->name, text.data, text.len, err);

    if (text.len > 0)
        entry->name = (nm_bytes){reader->name.data, reader->name.len};
    return status;
}

static nm_status take_entry(nm_kineto_reader *reader, const nm_json_token *token, nm_kineto_entry *entry, nm_error *err)
{
    nm_bytes name = token->name;

    if (token->kind == NM_JSON_TEXT && nm_json_is(name, "ph"))
        entry->phase = token->text.len == 1 ? (char)token->text.data[0] : 0;
    else if (token->kind == NM_JSON_TEXT && nm_json_is(name, "cat"))
        entry->category = category_of(token->text);
    else if (token->kind == NM_JSON_TEXT && nm_json_is(name, "name"))
        return take_name(reader, token->text, entry, err);
    else if (nm_json_is(name, "pid"))
        entry->pid = integer_of(token);
    else if (nm_json_is(name, "tid"))
        entry->tid = integer_of(token);
    else if (nm_json_is(name, "ts"))
        entry->time_ns = time_of(token);
    else if (nm_json_is(name, "dur"))
        entry->duration_ns = time_of(token);
    else if (reader->has_arguments && (entry->name.len == 0 || entry->name.data[0] == '[') &&
             token->kind == NM_JSON_OBJECT && nm_json_is(name, "args"))
        return read_members(reader, take_argument, entry, err);
    return nm_json_pass(&reader->json, token, err);
}

static nm_status read_entry(nm_kineto_reader *reader, nm_kineto_entry *entry, nm_error *err)
{
    nm_json_token token;
    nm_status status;

    *entry = (nm_kineto_entry){
        .name = {(const uint8_t *)"", 0},
        .pid = NM_UNKNOWN_NUMBER,
        .tid = NM_UNKNOWN_NUMBER,
        .time_ns = NM_UNKNOWN_NUMBER,
        .duration_ns = NM_UNKNOWN_NUMBER,
        .address = NM_UNKNOWN_NUMBER,
        .bytes = NM_UNKNOWN_NUMBER,
        .allocated_bytes = NM_UNKNOWN_NUMBER,
        .reserved_bytes = NM_UNKNOWN_NUMBER,
        .device_type = NM_UNKNOWN_NUMBER,
        .device_id = NM_UNKNOWN_NUMBER,
    };
    while ((status = nm_json_next(&reader->json, &token, err)) == NM_OK && token.kind != NM_JSON_OBJECT_END)
        if ((status = take_entry(reader, &token, entry, err)) != NM_OK)
            return status;
    reader->is_torch = reader->is_torch || entry->category != NM_KINETO_OTHER;
    return status;
}

/* One value of what is open: *is_entry when it was an entry. */
static nm_status read_part(nm_kineto_reader *reader, nm_kineto_entry *entry, bool *is_entry, nm_error *err)
{
    nm_json_token token;
    nm_status status = nm_json_next(&reader->json, &token, err);

    if (status != NM_OK)
        return status;
    if (reader->is_listing && token.kind == NM_JSON_OBJECT) {
        *is_entry = true;
        return read_entry(reader, entry, err);
    }
    if (reader->is_listing) {
        reader->is_listing = token.kind != NM_JSON_LIST_END;
        return nm_json_pass(&reader->json, &token, err);
    }
    if (token.name.data == NULL) /* the one object, or its end */
        return token.kind == NM_JSON_LIST ? nm_json_pass(&reader->json, &token, err) : NM_OK;
    reader->is_listing = token.kind == NM_JSON_LIST && nm_json_is(token.name, "traceEvents");
    return reader->is_listing ? NM_OK : read_fact(reader, &token, err);
}

nm_status nm_kineto_next(nm_kineto_reader *reader, nm_kineto_entry *entry, nm_error *err)
{
    bool is_entry = false;
    nm_status status = NM_OK;

    while (status == NM_OK && !is_entry)
        status = read_part(reader, entry, &is_entry, err);
    if (status == NM_OK)
        reader->whole_offset = reader->json.offset + reader->json.at;
    if (status != NM_ERR_FORMAT || reader->json.read != NULL || reader->json.at < reader->json.len)
        return status;
    reader->is_cut = true;
    return NM_END;
}
