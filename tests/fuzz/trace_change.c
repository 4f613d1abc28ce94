/* SPDX-License-Identifier: Apache-2.0
 *
 * Either the records are read, changed and written anew, so that what is odd is what they say; or a block is unpacked and its content changed
 * and packed again, so that what is odd is how it is written. What cannot be read is changed in the second way alone.
 */
#include "fuzz/trace_change.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/checksum.h"
#include "fuzz/target.h"
#include "trace/codec.h"

#define BLOCKS_MAX        64
#define RECORDS_MAX       4096
#define CONTENT_BYTES_MAX ((size_t)1 << 18)

static uint64_t state;

static uint64_t below(uint64_t limit)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return limit == 0 ? 0 : (state >> 33) % limit;
}

/* ---- Blocks ---- */

typedef struct place {
    nm_block_header header;
    size_t at, header_bytes; /* of the skippable frame's content */
} place;

static size_t find_blocks(nm_bytes trace, place *out)
{
    size_t count = 0;
    uint64_t vain = 0;

    for (size_t at = 0; count < BLOCKS_MAX && nm_block_find(trace, &at, &vain, &out[count].header) == NM_OK;) {
        size_t bytes = out[count].header.block_bytes;

        if (bytes > trace.len - at)
            break;
        out[count].at = at;
        out[count].header_bytes = bytes - NM_HEADER_FRAME_BYTES - out[count].header.frame_bytes;
        count++;
        at += bytes;
    }
    return count;
}

size_t fuzz_trace_blocks(nm_bytes trace, size_t *offsets, size_t count)
{
    place places[BLOCKS_MAX];
    size_t found = find_blocks(trace, places);

    for (size_t i = 0; i < found && i < count; i++)
        offsets[i] = places[i].at;
    return found < count ? found : count;
}

/* Both copies of the header and both checksums. False: there is no room. */
static bool pack(nm_block_header header, nm_bytes content, nm_buffer *out)
{
    size_t header_bytes = nm_header_bytes(header.range_count), before = NM_HEADER_FRAME_BYTES + header_bytes;
    size_t from = out->len, room = before + ZSTD_compressBound(content.len);
    uint8_t *block;

    if (content.len < header_bytes || nm_buffer_reserve(out, room, NULL) != NM_OK)
        return false;
    block = out->data + from;
    header.raw_bytes = (uint32_t)content.len;
    header.frame_bytes = 0;
    header.frame_checksum = 0;
    nm_header_write(&header, (uint8_t *)content.data);
    size_t packed = ZSTD_compress(block + before, room - before, content.data, content.len, 1);
    if (ZSTD_isError(packed))
        return false;
    header.frame_bytes = (uint32_t)packed;
    header.frame_checksum = nm_checksum(block + before, packed);
    nm_put_u32(block, NM_BLOCK_MAGIC);
    nm_put_u32(block + 4, (uint32_t)header_bytes);
    nm_header_write(&header, block + NM_HEADER_FRAME_BYTES);
    out->len += before + packed;
    return true;
}

static void change_header(nm_block_header *header)
{
    static const uint64_t odd[] = {0, 1, UINT32_MAX, UINT64_MAX, UINT64_MAX - NM_BLOCK_EVENTS_MAX, INT64_MAX, 1 << 20};
    uint64_t value = odd[below(sizeof odd / sizeof *odd)];

    switch (below(8)) {
    case 0:
        header->flags ^= 1u << below(5);
        break;
    case 1:
        header->block_index = value;
        break;
    case 2:
        header->first_seq = value;
        break;
    case 3:
        header->event_count = (uint32_t)value;
        break;
    case 4:
        header->first_ns = (int64_t)value;
        break;
    case 5:
        header->last_ns = (int64_t)value;
        break;
    case 6:
        header->trace_id[0]++;
        break;
    default:
        header->version_minor = (uint32_t)below(9);
    }
}

/* The content behind the copy of the header is libFuzzer's to change. */
static bool change_content(nm_bytes trace, const place *of, nm_buffer *out)
{
    static uint8_t content[CONTENT_BYTES_MAX];
    nm_block_header header = of->header;
    size_t skip = nm_header_bytes(header.range_count);
    size_t len = ZSTD_decompress(content, sizeof content,
                                 trace.data + of->at + NM_HEADER_FRAME_BYTES + of->header_bytes, header.frame_bytes);

    if (ZSTD_isError(len) || len < skip || of->header_bytes != skip)
        return false;
    if (below(4) == 0)
        change_header(&header);
    else
        len = skip + fuzz_mutate_bytes(content + skip, len - skip, sizeof content - skip);
    return pack(header, (nm_bytes){content, len}, out);
}

static bool append_part(nm_buffer *out, nm_bytes trace, size_t from, size_t to)
{
    return from >= to || nm_buffer_append(out, trace.data + from, to - from, NULL) == NM_OK;
}

/* One block is changed, left out, there twice, or cut. */
static bool change_block(nm_bytes trace, nm_buffer *out)
{
    place places[BLOCKS_MAX];
    size_t count = find_blocks(trace, places);

    if (count == 0)
        return false;
    const place *of = &places[below(count)], *other = &places[below(count)];
    size_t end = of->at + of->header.block_bytes;
    bool is_done = append_part(out, trace, 0, of->at);

    switch (below(8)) {
    case 0:
        break;
    case 1:
        is_done = is_done && append_part(out, trace, other->at, other->at + other->header.block_bytes) &&
                  append_part(out, trace, of->at, end);
        break;
    case 2:
        is_done = is_done && append_part(out, trace, of->at, of->at + below(of->header.block_bytes));
        break;
    default:
        is_done = is_done && change_content(trace, of, out);
    }
    return is_done && append_part(out, trace, end, trace.len);
}

/* ---- Records ---- */

typedef struct records {
    nm_record items[RECORDS_MAX];
    size_t count;
    nm_buffer texts; /* that definitions borrow from: their pointers are offsets in it until all are there */
    nm_session session;
} records;

static bool keep(records *all, nm_record *record)
{
    nm_bytes *text = record->kind != NM_RECORD_DEFINITION          ? NULL
                     : record->definition.kind == NM_DEFINE_STRING ? &record->definition.string
                     : record->definition.kind == NM_DEFINE_MODULE ? &record->definition.module.build_id
                                                                   : NULL;

    if (all->count == RECORDS_MAX)
        return false;
    if (text != NULL) {
        size_t at = all->texts.len;

        if (text->len > 0 && nm_buffer_append(&all->texts, text->data, text->len, NULL) != NM_OK)
            return false;
        text->data = (const uint8_t *)at;
    }
    all->items[all->count++] = *record;
    return true;
}

static void settle_texts(records *all)
{
    for (size_t i = 0; i < all->count; i++) {
        nm_definition *definition = &all->items[i].definition;

        if (all->items[i].kind != NM_RECORD_DEFINITION)
            continue;
        if (definition->kind == NM_DEFINE_STRING)
            definition->string.data = all->texts.data + (size_t)definition->string.data;
        else if (definition->kind == NM_DEFINE_MODULE)
            definition->module.build_id.data = all->texts.data + (size_t)definition->module.build_id.data;
    }
}

static void read_all(nm_bytes trace, records *all)
{
    place places[BLOCKS_MAX];
    size_t count = find_blocks(trace, places);
    nm_block_reader *reader = NULL;
    nm_record record;

    if (nm_block_reader_new(&reader, NULL) != NM_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        nm_bytes block = {trace.data + places[i].at, trace.len - places[i].at};

        if (nm_block_reader_open(reader, block, &places[i].header, NULL) != NM_OK)
            continue;
        all->session = *nm_block_reader_session(reader);
        memcpy(all->session.trace_id, places[i].header.trace_id, sizeof all->session.trace_id);
        while (nm_block_reader_next(reader, &record, NULL) == NM_OK && keep(all, &record))
            ;
    }
    nm_block_reader_free(reader);
    settle_texts(all);
}

static uint64_t odd_value(uint64_t here)
{
    static const uint64_t odd[] = {0,
                                   1,
                                   2,
                                   3,
                                   7,
                                   512,
                                   4096,
                                   INT32_MAX,
                                   UINT32_MAX,
                                   INT64_MAX,
                                   (uint64_t)INT64_MIN,
                                   (uint64_t)INT64_MIN + 1,
                                   UINT64_MAX,
                                   UINT64_MAX - 1,
                                   UINT64_C(1) << 62,
                                   UINT64_C(1) << 53,
                                   UINT64_C(1000000000) * 4000000000};

    switch (below(4)) {
    case 0:
        return here + below(9) - 4;
    case 1:
        return here ^ UINT64_C(1) << below(64);
    case 2:
        return below(12);
    default:
        return odd[below(sizeof odd / sizeof *odd)];
    }
}

static void change_event(const records *all, nm_event *event)
{
    nm_record other = all->items[below(all->count)];
    size_t field = below(NM_FIELD_COUNT + 1);

    if (field == NM_FIELD_COUNT) {
        event->kind = below(NM_EVENT_KIND_MAX + 1);
        return;
    }
    uint64_t *value = nm_event_field(event, (nm_field)field);
    *value = other.kind == NM_RECORD_EVENT && below(2) == 0 ? *nm_event_field(&other.event, (nm_field)field)
                                                            : odd_value(*value);
}

/* Its numbers, whatever they mean; not what it borrows. */
static void change_definition(nm_definition *definition)
{
    uint64_t *words = &definition->id;
    size_t count = (sizeof *definition - offsetof(nm_definition, id)) / sizeof *words, at = below(count);

    if (definition->kind == NM_DEFINE_STRING || (definition->kind == NM_DEFINE_MODULE && at > 4))
        at = 0;
    words[at] = odd_value(words[at]);
}

static void change_text(records *all, const nm_definition *definition)
{
    size_t at = (size_t)(definition->string.data - all->texts.data);

    if (definition->string.len > 0)
        fuzz_mutate_bytes(all->texts.data + at, definition->string.len, definition->string.len);
}

static void change_record(records *all)
{
    size_t at = below(all->count), other = below(all->count);
    nm_record *record = &all->items[at];

    switch (below(8)) {
    case 0:
        memmove(record, record + 1, (--all->count - at) * sizeof *record);
        break;
    case 1: {
        nm_record copy = all->items[other];

        if (all->count == RECORDS_MAX)
            return;
        memmove(record + 1, record, (all->count++ - at) * sizeof *record);
        *record = copy;
        break;
    }
    case 2: {
        nm_record copy = *record;

        *record = all->items[other];
        all->items[other] = copy;
        break;
    }
    default:
        if (record->kind == NM_RECORD_EVENT)
            change_event(all, &record->event);
        else if (record->definition.kind == NM_DEFINE_STRING && below(2) == 0)
            change_text(all, &record->definition);
        else
            change_definition(&record->definition);
    }
}

static bool seal(nm_trace_writer *writer, uint32_t flags, nm_buffer *out)
{
    nm_bytes block;

    return nm_trace_writer_seal(writer, flags, &block, NULL) == NM_OK &&
           nm_buffer_append(out, block.data, block.len, NULL) == NM_OK;
}

/* What the writer does not take is left out. */
static bool write_all(const records *all, nm_buffer *out)
{
    nm_trace_writer *writer = NULL;
    uint32_t events_a_block = (uint32_t)(1 + below(64));
    bool is_done = nm_trace_writer_new(&all->session, &writer, NULL) == NM_OK;

    for (size_t i = 0; is_done && i < all->count; i++) {
        if (all->items[i].kind == NM_RECORD_DEFINITION)
            nm_trace_writer_define(writer, &all->items[i].definition, NULL);
        else
            nm_trace_writer_event(writer, &all->items[i].event, NULL);
        if (nm_trace_writer_event_count(writer) >= events_a_block)
            is_done = seal(writer, 0, out);
    }
    is_done = is_done && seal(writer, NM_BLOCK_FINAL, out);
    nm_trace_writer_free(writer);
    return is_done;
}

static bool change_records(nm_bytes trace, nm_buffer *out)
{
    static records all;
    bool is_done;

    all.count = all.texts.len = 0;
    read_all(trace, &all);
    if (all.count == 0)
        return false;
    for (uint64_t i = 1 + below(4); i > 0 && all.count > 0; i--)
        change_record(&all);
    is_done = write_all(&all, out);
    return is_done;
}

size_t fuzz_change_trace(uint8_t *data, size_t len, size_t room, unsigned seed)
{
    nm_buffer out = {0};
    nm_bytes trace = {data, len};
    bool is_done;

    state = seed;
    is_done = below(3) != 0 ? change_records(trace, &out) : change_block(trace, &out);
    if (is_done && out.len <= room && out.len > 0)
        memcpy(data, out.data, out.len);
    else
        out.len = 0;
    len = out.len;
    nm_buffer_free(&out);
    return len;
}
