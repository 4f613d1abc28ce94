/* SPDX-License-Identifier: Apache-2.0 */
#include "support/trace_content.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(bool is_true, const char *what)
{
    if (!is_true) {
        fprintf(stderr, "trace_content: %s\n", what);
        abort();
    }
}

static nm_bytes copy_bytes(nm_bytes bytes)
{
    uint8_t *copy = malloc(bytes.len + 1);

    require(copy != NULL, "memory");
    if (bytes.len > 0)
        memcpy(copy, bytes.data, bytes.len);
    copy[bytes.len] = 0;
    return (nm_bytes){copy, bytes.len};
}

static void add_definition(trace_content *content, nm_definition definition)
{
    if (definition.kind == NM_DEFINE_STRING)
        definition.string = copy_bytes(definition.string);
    if (definition.kind == NM_DEFINE_MODULE)
        definition.module.build_id = copy_bytes(definition.module.build_id);
    require(nm_array_grow(&content->definitions, &content->definition_capacity, content->definition_count + 1,
                          sizeof definition, NULL) == NM_OK,
            "memory");
    content->definitions[content->definition_count++] = definition;
}

static void add_event(trace_content *content, const nm_event *event)
{
    require(nm_array_grow(&content->events, &content->event_capacity, content->event_count + 1, sizeof *event, NULL) ==
                NM_OK,
            "memory");
    require(event->seq == content->event_count, "events are numbered from 0 without a gap");
    content->events[content->event_count++] = *event;
}

static void add_ranges(trace_content *content, const nm_block_header *header)
{
    for (uint32_t i = 0; i < header->range_count; i++) {
        require(nm_array_grow(&content->ranges, &content->range_capacity, content->range_count + 1,
                              sizeof *content->ranges, NULL) == NM_OK,
                "memory");
        content->ranges[content->range_count++] = nm_block_range_at(header, i);
    }
}

void trace_content_read(trace_content *content, nm_bytes trace)
{
    nm_block_reader *reader;
    nm_block_header header;
    nm_record record;
    size_t at = 0;

    *content = (trace_content){0};
    require(nm_block_reader_new(&reader, NULL) == NM_OK, "memory");
    while (at < trace.len) {
        nm_bytes rest = {trace.data + at, trace.len - at};

        if (nm_block_read_header(rest, &header, NULL) != NM_OK || header.block_bytes > rest.len)
            break;
        require(nm_block_reader_open(reader, rest, &header, NULL) == NM_OK, "a block can be read");
        require(header.block_index == content->block_count, "blocks are numbered from 0 without a gap");
        while (nm_block_reader_next(reader, &record, NULL) == NM_OK) {
            if (record.kind == NM_RECORD_EVENT)
                add_event(content, &record.event);
            else
                add_definition(content, record.definition);
        }
        content->session = *nm_block_reader_session(reader);
        add_ranges(content, &header);
        content->block_count++;
        content->last_flags = header.flags;
        at += header.block_bytes;
        content->whole_bytes = at;
    }
    nm_block_reader_free(reader);
}

nm_bytes trace_load(const char *path)
{
    FILE *file = fopen(path, "rb");
    nm_buffer bytes = {0};
    char part[65536];
    size_t got;

    require(file != NULL, path);
    while ((got = fread(part, 1, sizeof part, file)) > 0)
        require(nm_buffer_append(&bytes, part, got, NULL) == NM_OK, "memory");
    fclose(file);
    return (nm_bytes){bytes.data, bytes.len};
}

void trace_content_read_file(trace_content *content, const char *path)
{
    nm_bytes trace = trace_load(path);

    trace_content_read(content, trace);
    free((void *)trace.data);
}

void trace_content_free(trace_content *content)
{
    for (size_t i = 0; i < content->definition_count; i++) {
        if (content->definitions[i].kind == NM_DEFINE_STRING)
            free((void *)content->definitions[i].string.data);
        if (content->definitions[i].kind == NM_DEFINE_MODULE)
            free((void *)content->definitions[i].module.build_id.data);
    }
    free(content->definitions);
    free(content->events);
    free(content->ranges);
}

const nm_definition *trace_content_find(const trace_content *content, nm_definition_kind kind, uint64_t id)
{
    for (size_t i = content->definition_count; i-- > 0;)
        if (content->definitions[i].kind == kind && content->definitions[i].id == id)
            return &content->definitions[i];
    return NULL;
}

bool trace_content_text_is(const trace_content *content, uint64_t string_id, const char *text)
{
    const nm_definition *found = trace_content_find(content, NM_DEFINE_STRING, string_id);

    return found != NULL && strcmp((const char *)found->string.data, text) == 0;
}
