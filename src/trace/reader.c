/* SPDX-License-Identifier: Apache-2.0
 *
 * Decodes one block. Opening it checks everything, so that next() only hands out records: the frame's checksum, the
 * structure, that each column holds exactly the values that the kinds ask for. Columns become arrays, of a few events at a
 * time: memory is the content of one block, whatever its counts claim. An event is what all of its kind have in the block,
 * and of each field that varies the next one of its array.
 */
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "base/checksum.h"
#include "base/number.h"
#include "base/text.h"
#include "trace/codec.h"
#include "trace/column.h"

#define FIELDS_POSSIBLE 64  /* bits of a field mask */
#define PENDING_SINCE   3   /* minor version that has the part */
#define BATCH           128 /* events whose values are read at a time: they stay in the first cache */

typedef struct varying_field {
    uint16_t offset; /* in an event */
    uint8_t field;
} varying_field;

typedef struct kind_entry {
    uint64_t kind;
    uint64_t fields; /* mask; bits past NM_FIELD_COUNT are fields of a newer version */
    bool is_known;
    varying_field varying[NM_FIELD_COUNT]; /* those of the fields, of this version, that differ from event to event */
    unsigned varying_count;
    nm_event event; /* with the others: what each event of the kind begins as */
} kind_entry;

/* Events that wait to be taken: their kinds, and of each field the values of those that have it. */
typedef struct event_batch {
    uint8_t kind_places[BATCH];
    unsigned count, at;
    uint64_t values[NM_FIELD_COUNT][BATCH];
    const uint64_t *next[NM_FIELD_COUNT]; /* that was not taken yet */
} event_batch;

struct nm_block_reader {
    ZSTD_DCtx *zstd;
    nm_buffer raw;
    nm_session session;

    nm_cursor definitions;
    nm_cursor pending;
    kind_entry kinds[NM_BLOCK_KINDS_MAX];
    uint32_t events_of[NM_BLOCK_KINDS_MAX]; /* each kind's */
    unsigned kind_count;
    uint64_t varying;                    /* fields that differ from event to event of some kind */
    uint64_t kinds_with[NM_FIELD_COUNT]; /* of these: which kinds have the field, a bit each */
    nm_column_reader kind_column;
    nm_column_reader columns[NM_FIELD_COUNT];
    uint64_t next_seq;
    uint32_t events_left; /* that are not in the batch yet */
    event_batch batch;
    uint64_t frame_offset; /* for errors: where the data frame begins */

    /* Of all blocks so far, the ones that could not be read too. */
    uint64_t block_bytes_sum, raw_bytes_sum, event_count_sum;
};

nm_status nm_block_reader_new(nm_block_reader **out, nm_error *err)
{
    nm_block_reader *reader = calloc(1, sizeof *reader);

    *out = NULL;
    if (reader != NULL)
        reader->zstd = ZSTD_createDCtx();
    if (reader == NULL || reader->zstd == NULL) {
        nm_block_reader_free(reader);
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory at a trace reader");
    }
    *out = reader;
    return NM_OK;
}

void nm_block_reader_free(nm_block_reader *reader)
{
    if (reader == NULL)
        return;
    ZSTD_freeDCtx(reader->zstd);
    nm_buffer_free(&reader->raw);
    nm_column_reader_free(&reader->kind_column);
    for (int i = 0; i < NM_FIELD_COUNT; i++)
        nm_column_reader_free(&reader->columns[i]);
    free(reader);
}

const nm_session *nm_block_reader_session(const nm_block_reader *reader)
{
    return &reader->session;
}

static nm_status fail_at_frame(const nm_block_reader *reader, nm_error *err, const char *text)
{
    return nm_fail(err, NM_ERR_FORMAT, reader->frame_offset, "%s", text);
}

/* What a block costs is known from its header, before it is decoded: is it in proportion to what the file holds? */
static nm_status count_costs(nm_block_reader *reader, const nm_block_header *header, nm_error *err)
{
    nm_sum_add(&reader->block_bytes_sum, header->block_bytes);
    nm_sum_add(&reader->raw_bytes_sum, header->raw_bytes);
    nm_sum_add(&reader->event_count_sum, header->event_count);
    if (reader->event_count_sum / NM_TRACE_EVENTS_A_BYTE > reader->block_bytes_sum &&
        reader->event_count_sum > NM_TRACE_EVENTS_FREE + NM_TRACE_EVENTS_A_BYTE * reader->block_bytes_sum)
        return nm_fail(err, NM_ERR_LIMIT, header->offset, "%llu events in %llu bytes: no recording is so dense",
                       (unsigned long long)reader->event_count_sum, (unsigned long long)reader->block_bytes_sum);
    if (reader->raw_bytes_sum / NM_TRACE_RAW_A_BYTE > reader->block_bytes_sum &&
        reader->raw_bytes_sum > NM_TRACE_RAW_FREE + NM_TRACE_RAW_A_BYTE * reader->block_bytes_sum)
        return nm_fail(err, NM_ERR_LIMIT, header->offset, "%llu bytes packed into %llu: no recording is so regular",
                       (unsigned long long)reader->raw_bytes_sum, (unsigned long long)reader->block_bytes_sum);
    return NM_OK;
}

/* Fills `raw` with the content of the data frame. */
static nm_status decompress(nm_block_reader *reader, nm_bytes frame, const nm_block_header *header, nm_error *err)
{
    if (nm_checksum(frame.data, frame.len) != header->frame_checksum)
        return fail_at_frame(reader, err, "block data checksum differs");
    if (ZSTD_getFrameContentSize(frame.data, frame.len) != header->raw_bytes ||
        ZSTD_findFrameCompressedSize(frame.data, frame.len) != frame.len)
        return fail_at_frame(reader, err, "the data frame has another size than its block says");

    reader->raw.len = 0;
    nm_status status = count_costs(reader, header, err);
    if (status == NM_OK)
        status = nm_buffer_reserve(&reader->raw, header->raw_bytes, err);
    if (status != NM_OK)
        return status;

    size_t got = ZSTD_decompressDCtx(reader->zstd, reader->raw.data, header->raw_bytes, frame.data, frame.len);
    if (ZSTD_isError(got))
        return nm_fail(err, NM_ERR_FORMAT, reader->frame_offset, "zstd: %s", ZSTD_getErrorName(got));
    if (got != header->raw_bytes)
        return fail_at_frame(reader, err, "the data frame has another size than its block says");
    reader->raw.len = got;
    return NM_OK;
}

/* A text that is too long is cut where it stands: the content is the reader's own. */
static void cut_text(nm_block_reader *reader, nm_definition *definition)
{
    if (definition->kind != NM_DEFINE_STRING || definition->string.len <= NM_TEXT_BYTES_MAX)
        return;
    uint8_t *text = reader->raw.data + (definition->string.data - reader->raw.data);
    size_t kept = nm_text_kept(text, definition->string.len, NM_TEXT_BYTES_MAX);
    memcpy(text + kept, NM_TEXT_CUT_MARK, NM_TEXT_CUT_MARK_BYTES);
    definition->string.len = kept + NM_TEXT_CUT_MARK_BYTES;
}

/* Every definition of the section can be read; after this, next() need not check. */
static bool check_definitions(nm_cursor cursor)
{
    nm_definition definition;
    bool is_known;

    while (nm_cursor_left(&cursor) > 0)
        if (!nm_definition_decode(&cursor, &definition, &is_known) ||
            (definition.kind == NM_DEFINE_MODULE && definition.module.build_id.len > NM_TEXT_BYTES_MAX))
            return false;
    return !cursor.is_bad;
}

static nm_status read_kinds(nm_block_reader *reader, nm_cursor *cursor, nm_error *err)
{
    uint64_t count = nm_read_varint(cursor);

    if (count > NM_BLOCK_KINDS_MAX)
        return fail_at_frame(reader, err, "a block lists more than 64 kinds");
    reader->kind_count = (unsigned)count;
    for (unsigned i = 0; i < reader->kind_count; i++) {
        kind_entry *entry = &reader->kinds[i];

        entry->kind = nm_read_varint(cursor);
        entry->fields = nm_read_varint(cursor);
        entry->is_known = entry->kind <= NM_EVENT_KIND_MAX && nm_event_fields((nm_event_kind)entry->kind) != 0;
    }
    return cursor->is_bad ? fail_at_frame(reader, err, "the list of kinds is cut") : NM_OK;
}

/* `column` NULL: of a field that this version does not know. */
static nm_status read_column(nm_block_reader *reader, nm_cursor *cursor, nm_column_reader *column,
                             const uint32_t counts[NM_BLOCK_KINDS_MAX], nm_error *err)
{
    uint8_t encoding = nm_read_u8(cursor);
    nm_bytes data = nm_read_bytes(cursor, nm_read_u32(cursor));

    if (cursor->is_bad)
        return fail_at_frame(reader, err, "a column is longer than its block");
    return column == NULL ? NM_OK : nm_column_open(column, encoding, data, counts, reader->frame_offset, err);
}

/* Takes the kinds of as many of the `left` events as a batch holds. */
static void read_kind_places(nm_block_reader *reader, nm_column_reader *column, uint32_t left)
{
    static const uint8_t no_kinds[BATCH] = {0}; /* of a column that is of no events */
    event_batch *batch = &reader->batch;
    uint64_t places[BATCH];

    batch->count = left < BATCH ? left : BATCH;
    nm_column_read(column, no_kinds, batch->count, places);
    for (unsigned i = 0; i < batch->count; i++)
        batch->kind_places[i] = places[i] < NM_BLOCK_KINDS_MAX ? (uint8_t)places[i] : NM_BLOCK_KINDS_MAX;
}

/* The kinds of the events, and how many there are of each: from that follows how many values each column must have. */
static nm_status read_kind_column(nm_block_reader *reader, nm_cursor *cursor, uint32_t event_count, nm_error *err)
{
    memset(reader->events_of, 0, sizeof reader->events_of);
    if (event_count == 0)
        return NM_OK;

    nm_status status =
        read_column(reader, cursor, &reader->kind_column, (uint32_t[NM_BLOCK_KINDS_MAX]){event_count}, err);
    nm_column_reader walk = reader->kind_column;
    for (uint32_t left = event_count; status == NM_OK && left > 0; left -= reader->batch.count) {
        read_kind_places(reader, &walk, left);
        for (unsigned i = 0; status == NM_OK && i < reader->batch.count; i++) {
            unsigned place = reader->batch.kind_places[i];

            if (place < reader->kind_count)
                reader->events_of[place]++;
            else
                status = fail_at_frame(reader, err, "an event is of a kind that its block does not list");
        }
    }
    return status;
}

/* How many values the column of a field has, by kind; false when none. */
static bool count_values(const nm_block_reader *reader, unsigned field, uint32_t counts[NM_BLOCK_KINDS_MAX])
{
    bool has_values = false;

    for (unsigned k = 0; k < NM_BLOCK_KINDS_MAX; k++) {
        bool has_field = k < reader->kind_count && (reader->kinds[k].fields >> field & 1) != 0;

        counts[k] = has_field ? reader->events_of[k] : 0;
        has_values = has_values || counts[k] > 0;
    }
    return has_values;
}

static nm_status read_columns(nm_block_reader *reader, nm_cursor *cursor, nm_error *err)
{
    uint64_t column_count = nm_read_varint(cursor);
    uint32_t counts[NM_BLOCK_KINDS_MAX];
    uint64_t seen = 0;
    nm_status status = NM_OK;

    for (uint64_t i = 0; status == NM_OK && i < column_count; i++) {
        unsigned field = nm_read_u8(cursor);

        if (cursor->is_bad || field >= FIELDS_POSSIBLE || (seen >> field & 1) != 0)
            return fail_at_frame(reader, err, "a column is of no field, or there twice");
        seen |= UINT64_C(1) << field;
        count_values(reader, field, counts);
        status = read_column(reader, cursor, field < NM_FIELD_COUNT ? &reader->columns[field] : NULL, counts, err);
    }
    for (unsigned field = 0; status == NM_OK && field < NM_FIELD_COUNT; field++)
        if (count_values(reader, field, counts) && (seen >> field & 1) == 0)
            status = fail_at_frame(reader, err, "a column that the kinds ask for is not there");
    return status;
}

/* Much of an event is the same in the whole block: that is put together once. */
static void prepare_events(nm_block_reader *reader)
{
    reader->varying = 0;
    memset(reader->kinds_with, 0, sizeof reader->kinds_with);
    for (unsigned k = 0; k < reader->kind_count; k++) {
        kind_entry *entry = &reader->kinds[k];

        entry->event = (nm_event){.kind = entry->kind};
        entry->varying_count = 0;
        for (unsigned field = 0; field < NM_FIELD_COUNT && reader->events_of[k] > 0; field++) {
            uint64_t value;

            if ((entry->fields >> field & 1) == 0)
                continue;
            if (nm_column_is_constant(&reader->columns[field], &value)) {
                *nm_event_field(&entry->event, field) = value;
                continue;
            }
            entry->varying[entry->varying_count++] = (varying_field){nm_event_field_offsets[field], (uint8_t)field};
            reader->kinds_with[field] |= UINT64_C(1) << k;
            reader->varying |= UINT64_C(1) << field;
        }
    }
}

static bool decode_pending(nm_cursor *cursor, nm_block_pending *out)
{
    out->ring_id = nm_read_varint(cursor);
    out->tail_position = nm_read_varint(cursor);
    uint64_t length = nm_read_varint(cursor);
    out->read_position = out->tail_position + length;
    out->event_count = nm_read_varint(cursor);
    out->dropped_count = nm_read_varint(cursor);
    return !cursor->is_bad && out->read_position >= length && out->event_count <= length;
}

/* The part behind the columns, since 1.3; what is behind it, and the whole of it in an older block, is not ours to read. */
static nm_status read_pending(nm_block_reader *reader, nm_cursor *cursor, const nm_block_header *header, nm_error *err)
{
    nm_block_pending pending;
    nm_bytes section = {0};

    if (header->version_minor >= PENDING_SINCE && nm_cursor_left(cursor) > 0)
        section = nm_read_bytes(cursor, nm_read_varint(cursor));
    reader->pending = nm_cursor_over(section.data, section.len);
    for (nm_cursor walk = reader->pending; nm_cursor_left(&walk) > 0;)
        if (!decode_pending(&walk, &pending))
            return fail_at_frame(reader, err, "the list of what was pending is damaged");
    return cursor->is_bad ? fail_at_frame(reader, err, "the list of what was pending is cut") : NM_OK;
}

static nm_status read_content(nm_block_reader *reader, nm_bytes header_bytes, const nm_block_header *header,
                              nm_error *err)
{
    nm_cursor cursor = nm_cursor_over(reader->raw.data, reader->raw.len);
    nm_bytes copy = nm_read_bytes(&cursor, header_bytes.len);
    nm_bytes session = nm_read_bytes(&cursor, nm_read_varint(&cursor));
    nm_bytes definitions = nm_read_bytes(&cursor, nm_read_varint(&cursor));

    if (cursor.is_bad || !nm_header_is_copy(copy, header_bytes))
        return fail_at_frame(reader, err, "the data frame belongs to another block header");
    if (!nm_session_decode(session, &reader->session))
        return fail_at_frame(reader, err, "the session record is damaged");
    memcpy(reader->session.trace_id, header->trace_id, sizeof header->trace_id);

    reader->definitions = nm_cursor_over(definitions.data, definitions.len);
    if (!check_definitions(reader->definitions))
        return fail_at_frame(reader, err, "a definition is damaged");

    nm_status status = read_kinds(reader, &cursor, err);
    if (status == NM_OK)
        status = read_kind_column(reader, &cursor, header->event_count, err);
    if (status == NM_OK)
        status = read_columns(reader, &cursor, err);
    if (status == NM_OK)
        prepare_events(reader);
    return status == NM_OK ? read_pending(reader, &cursor, header, err) : status;
}

static void forget_events(nm_block_reader *reader)
{
    reader->events_left = 0;
    reader->batch.at = reader->batch.count = 0;
}

nm_status nm_block_reader_open(nm_block_reader *reader, nm_bytes bytes, const nm_block_header *header, nm_error *err)
{
    uint64_t header_bytes = header->block_bytes - header->frame_bytes;

    forget_events(reader);
    reader->definitions = reader->pending = (nm_cursor){0};
    reader->frame_offset = header->offset + header_bytes;
    if (header->block_bytes > bytes.len)
        return nm_fail(err, NM_ERR_FORMAT, header->offset + bytes.len, "the block is cut");

    nm_bytes frame = {bytes.data + header_bytes, header->frame_bytes};
    nm_bytes content = {bytes.data + NM_HEADER_FRAME_BYTES, (size_t)header_bytes - NM_HEADER_FRAME_BYTES};
    nm_status status = decompress(reader, frame, header, err);
    if (status == NM_OK)
        status = read_content(reader, content, header, err);
    forget_events(reader); /* the checks took kinds through the batch */
    if (status == NM_OK) {
        reader->events_left = header->event_count;
        reader->next_seq = header->first_seq;
    } else {
        reader->definitions = reader->pending = (nm_cursor){0};
    }
    return status;
}

/* Events of the batch that have the same fields: of some kinds of the block, a bit each. */
typedef struct batch_members {
    uint64_t kinds;
    unsigned count;
    const uint8_t *kind_places; /* of each; or NULL: not asked for yet */
    uint8_t room[BATCH];
} batch_members;

static void count_members(const nm_block_reader *reader, const unsigned counts[NM_BLOCK_KINDS_MAX],
                          batch_members *members)
{
    members->count = 0;
    members->kind_places = NULL;
    for (unsigned k = 0; k < reader->kind_count; k++)
        members->count += (members->kinds >> k & 1) != 0 ? counts[k] : 0;
}

static void list_members(const event_batch *batch, batch_members *members)
{
    unsigned count = 0;

    members->kind_places = members->room;
    if (members->count == batch->count)
        members->kind_places = batch->kind_places;
    else
        for (unsigned i = 0; count < members->count; i++) {
            members->room[count] = batch->kind_places[i];
            count += members->kinds >> batch->kind_places[i] & 1;
        }
}

/* Reads the values of the next events, whether their kinds are known or not. */
static void fill_batch(nm_block_reader *reader)
{
    event_batch *batch = &reader->batch;
    unsigned counts[NM_BLOCK_KINDS_MAX] = {0};
    batch_members members = {0};

    read_kind_places(reader, &reader->kind_column, reader->events_left);
    for (unsigned i = 0; i < batch->count; i++)
        counts[batch->kind_places[i]]++;
    for (uint64_t left = reader->varying; left != 0; left &= left - 1) {
        nm_field field = (nm_field)__builtin_ctzll(left);

        if (members.kinds != reader->kinds_with[field]) {
            members.kinds = reader->kinds_with[field];
            count_members(reader, counts, &members);
        }
        if (members.kind_places == NULL && nm_column_needs_kinds(&reader->columns[field]))
            list_members(batch, &members);
        nm_column_read(&reader->columns[field], members.kind_places, members.count, batch->values[field]);
        batch->next[field] = batch->values[field];
    }
    reader->events_left -= batch->count;
    batch->at = 0;
}

/* The next event of a kind that is known; false at the end of the block. */
static bool next_event(nm_block_reader *reader, nm_event *out)
{
    event_batch *batch = &reader->batch;
    const kind_entry *entry;

    do {
        if (batch->at == batch->count && reader->events_left == 0)
            return false;
        if (batch->at == batch->count)
            fill_batch(reader);
        entry = &reader->kinds[batch->kind_places[batch->at++]];
        *out = entry->event;
        out->seq = reader->next_seq++;
        for (const varying_field *at = entry->varying, *end = at + entry->varying_count; at < end; at++)
            *(uint64_t *)(void *)((char *)out + at->offset) = *batch->next[at->field]++;
    } while (!entry->is_known);
    return true;
}

nm_status nm_block_reader_next_pending(nm_block_reader *reader, nm_block_pending *out)
{
    return nm_cursor_left(&reader->pending) > 0 && decode_pending(&reader->pending, out) ? NM_OK : NM_END;
}

nm_status nm_block_reader_next(nm_block_reader *reader, nm_record *out, nm_error *err)
{
    bool is_known;

    while (nm_cursor_left(&reader->definitions) > 0) {
        out->kind = NM_RECORD_DEFINITION;
        if (!nm_definition_decode(&reader->definitions, &out->definition, &is_known))
            return fail_at_frame(reader, err, "a definition is damaged");
        cut_text(reader, &out->definition);
        if (is_known)
            return NM_OK;
    }
    out->kind = NM_RECORD_EVENT;
    return next_event(reader, &out->event) ? NM_OK : NM_END;
}
