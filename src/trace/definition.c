/* SPDX-License-Identifier: Apache-2.0
 *
 * How definitions and the session record stand in a block. One table says which fields a kind has, in their order on
 * disk, and which of them name other definitions: writing, reading and following references all go by it.
 */
#include <stddef.h>
#include <string.h>

#include "trace/codec.h"

typedef enum field_type {
    UNSIGNED = 1,
    SIGNED,
    BYTES,
    LATER /* unsigned; 0 where a version 1.0 left it out */
} field_type;

typedef struct field_layout {
    uint8_t type;      /* field_type; 0 ends a list */
    uint8_t refers_to; /* nm_definition_kind, or 0 */
    uint16_t offset;   /* in nm_definition */
} field_layout;

#define FIELDS_MAX 12
#define U(member)                                                                                                      \
    {                                                                                                                  \
        UNSIGNED, 0, offsetof(nm_definition, member)                                                                   \
    }
#define L(member)                                                                                                      \
    {                                                                                                                  \
        LATER, 0, offsetof(nm_definition, member)                                                                      \
    }
#define LR(member, kind)                                                                                               \
    {                                                                                                                  \
        LATER, NM_DEFINE_##kind, offsetof(nm_definition, member)                                                       \
    }
#define S(member)                                                                                                      \
    {                                                                                                                  \
        SIGNED, 0, offsetof(nm_definition, member)                                                                     \
    }
#define B(member)                                                                                                      \
    {                                                                                                                  \
        BYTES, 0, offsetof(nm_definition, member)                                                                      \
    }
#define R(member, kind)                                                                                                \
    {                                                                                                                  \
        UNSIGNED, NM_DEFINE_##kind, offsetof(nm_definition, member)                                                    \
    }
#define DEFINITION_KIND_COUNT (NM_DEFINE_KIND_MAX + 1)

/* A later minor version may append fields to a list: readers pass over what follows the fields that they know. */
static const field_layout fields_of_kind[DEFINITION_KIND_COUNT][FIELDS_MAX] = {
    [NM_DEFINE_STRING] = {B(string)},
    [NM_DEFINE_PROCESS] = {R(process.parent_id, PROCESS), S(process.pid), R(process.host, STRING),
                           R(process.command, STRING), S(process.rank), S(process.local_rank), S(process.world_size),
                           S(process.run_mode), S(process.begin_ns), L(process.is_late)},
    [NM_DEFINE_THREAD] = {R(thread.process_id, PROCESS), S(thread.tid), R(thread.name, STRING), U(thread.ring_id)},
    [NM_DEFINE_DEVICE] = {R(device.process_id, PROCESS), S(device.ordinal), S(device.physical_ordinal),
                          R(device.device_kind, STRING), R(device.name, STRING), U(device.capacity_bytes)},
    [NM_DEFINE_HEAP] = {R(heap.process_id, PROCESS), R(heap.device_id, DEVICE), U(heap.level), R(heap.name, STRING),
                        U(heap.size_basis), U(heap.small_bytes), U(heap.large_bytes), L(heap.module_id)},
    [NM_DEFINE_MODULE] = {R(module.process_id, PROCESS), R(module.path, STRING), U(module.base), U(module.bytes),
                          B(module.build_id)},
    [NM_DEFINE_FRAME] = {R(frame.function, STRING), R(frame.file, STRING), U(frame.line), R(frame.module, STRING),
                         U(frame.offset), LR(frame.inlined_in, FRAME), LR(frame.module_id, MODULE)},
    [NM_DEFINE_STACK] = {R(stack.parent_id, STACK), R(stack.frame_id, FRAME), L(stack.end)},
    [NM_DEFINE_ATTRIBUTE] = {R(attribute.process_id, PROCESS), U(attribute.source), R(attribute.name, STRING),
                             R(attribute.value, STRING)},
    [NM_DEFINE_ALIAS] = {U(alias.thread_id), U(alias.local_id)},
};

static const field_layout *fields_of(uint64_t kind)
{
    return kind > 0 && kind < DEFINITION_KIND_COUNT ? fields_of_kind[kind] : NULL;
}

/* ---- Definitions ---- */

static nm_status encode_field(const nm_definition *definition, const field_layout *field, nm_buffer *out, nm_error *err)
{
    const void *place = (const char *)definition + field->offset;

    if (field->type == BYTES) {
        const nm_bytes *bytes = place;
        nm_status status = nm_buffer_append_varint(out, bytes->len, err);
        return status == NM_OK ? nm_buffer_append(out, bytes->data, bytes->len, err) : status;
    }
    uint64_t value;
    memcpy(&value, place, sizeof value);
    return nm_buffer_append_varint(out, field->type == SIGNED ? nm_zigzag((int64_t)value) : value, err);
}

/* The body's length comes before it but is known after it: the room of the longest length is kept free and closed. */
static void insert_length(nm_buffer *out, size_t length_at)
{
    size_t body_at = length_at + NM_VARINT_BYTES_MAX;
    size_t body_bytes = out->len - body_at;
    size_t length_bytes = nm_put_varint(out->data + length_at, body_bytes);

    memmove(out->data + length_at + length_bytes, out->data + body_at, body_bytes);
    out->len = length_at + length_bytes + body_bytes;
}

nm_status nm_definition_encode(const nm_definition *definition, nm_buffer *out, nm_error *err)
{
    const field_layout *field = fields_of(definition->kind);
    size_t before = out->len;

    if (field == NULL || definition->id == 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "definition %llu of kind %llu cannot be written",
                       (unsigned long long)definition->id, (unsigned long long)definition->kind);

    nm_status status = nm_buffer_append_varint(out, definition->kind, err);
    size_t length_at = out->len;
    if (status == NM_OK)
        status = nm_buffer_reserve(out, NM_VARINT_BYTES_MAX, err);
    if (status == NM_OK) {
        out->len += NM_VARINT_BYTES_MAX;
        status = nm_buffer_append_varint(out, definition->id, err);
    }
    for (; status == NM_OK && field->type != 0; field++)
        status = encode_field(definition, field, out, err);
    if (status == NM_OK)
        insert_length(out, length_at);
    else
        out->len = before;
    return status;
}

static void decode_field(nm_cursor *cursor, const field_layout *field, nm_definition *out)
{
    void *place = (char *)out + field->offset;
    uint64_t value;

    if (field->type == LATER && nm_cursor_left(cursor) == 0)
        return;
    value = nm_read_varint(cursor);

    if (field->type == BYTES) {
        nm_bytes bytes = nm_read_bytes(cursor, value);
        memcpy(place, &bytes, sizeof bytes);
        return;
    }
    if (field->type == SIGNED)
        value = (uint64_t)nm_unzigzag(value);
    memcpy(place, &value, sizeof value);
}

bool nm_definition_decode(nm_cursor *cursor, nm_definition *out, bool *is_known)
{
    memset(out, 0, sizeof *out);
    out->kind = nm_read_varint(cursor);

    const field_layout *field = fields_of(out->kind);
    nm_bytes body = nm_read_bytes(cursor, nm_read_varint(cursor));
    nm_cursor inside = nm_cursor_over(body.data, body.len);

    *is_known = field != NULL;
    if (cursor->is_bad || field == NULL)
        return !cursor->is_bad;
    out->id = nm_read_varint(&inside);
    for (; field->type != 0; field++)
        decode_field(&inside, field, out);
    if (inside.is_bad || out->id == 0)
        cursor->is_bad = true;
    return !cursor->is_bad;
}

/* ---- References ---- */

uint64_t *nm_definition_reference(nm_definition *definition, size_t index, nm_definition_kind *kind)
{
    const field_layout *field = fields_of(definition->kind);

    for (; field != NULL && field->type != 0; field++) {
        if (field->refers_to == 0)
            continue;
        if (index-- > 0)
            continue;
        *kind = field->refers_to;
        return (uint64_t *)((char *)definition + field->offset);
    }
    return NULL;
}

const nm_event_reference nm_event_references[NM_EVENT_REFERENCES] = {
    {NM_FIELD_THREAD, NM_DEFINE_THREAD},   {NM_FIELD_HEAP, NM_DEFINE_HEAP},     {NM_FIELD_STACK, NM_DEFINE_STACK},
    {NM_FIELD_NAME, NM_DEFINE_STRING},     {NM_FIELD_DEVICE, NM_DEFINE_DEVICE}, {NM_FIELD_POOL, NM_DEFINE_HEAP},
    {NM_FIELD_PROCESS, NM_DEFINE_PROCESS},
};

nm_definition_kind nm_event_number_kind(const nm_event *event)
{
    switch (event->kind) {
    case NM_EVENT_COPY:
        return NM_DEFINE_DEVICE;
    case NM_EVENT_PROCESS_END:
    case NM_EVENT_MEMORY_SAMPLE:
        return NM_DEFINE_PROCESS;
    case NM_EVENT_OBJECTS:
        return event->thread_id == 0 ? NM_DEFINE_PROCESS : 0;
    default:
        return 0;
    }
}

/* ---- Session ---- */

typedef struct session_text {
    char *text;
    size_t room; /* with the zero byte */
} session_text;

#define SESSION_TEXTS 4

/* The texts of a session in their order on disk. */
static void texts_of(nm_session *session, session_text texts[SESSION_TEXTS])
{
    texts[0] = (session_text){session->ring_folder, sizeof session->ring_folder};
    texts[1] = (session_text){session->host, sizeof session->host};
    texts[2] = (session_text){session->boot_id, sizeof session->boot_id};
    texts[3] = (session_text){session->tool_version, sizeof session->tool_version};
}

nm_status nm_session_encode(const nm_session *session, nm_buffer *out, nm_error *err)
{
    nm_session copy = *session;
    session_text texts[SESSION_TEXTS];
    nm_status status = nm_buffer_append_varint(out, nm_zigzag(session->start_realtime_ns), err);

    texts_of(&copy, texts);
    if (status == NM_OK)
        status = nm_buffer_append_varint(out, session->stacks, err);
    for (int i = 0; status == NM_OK && i < SESSION_TEXTS; i++) {
        size_t len = strnlen(texts[i].text, texts[i].room - 1);

        status = nm_buffer_append_varint(out, len, err);
        if (status == NM_OK)
            status = nm_buffer_append(out, texts[i].text, len, err);
    }
    if (status == NM_OK)
        status = nm_buffer_append_varint(out, session->stack_depth, err);
    return status;
}

bool nm_session_decode(nm_bytes record, nm_session *out)
{
    nm_cursor cursor = nm_cursor_over(record.data, record.len);
    session_text texts[SESSION_TEXTS];

    memset(out, 0, sizeof *out);
    texts_of(out, texts);
    out->start_realtime_ns = nm_unzigzag(nm_read_varint(&cursor));
    out->stacks = nm_read_varint(&cursor);
    for (int i = 0; i < SESSION_TEXTS; i++) {
        nm_bytes text = nm_read_bytes(&cursor, nm_read_varint(&cursor));

        if (cursor.is_bad || text.len >= texts[i].room)
            return false;
        if (text.len > 0)
            memcpy(texts[i].text, text.data, text.len);
    }
    if (nm_cursor_left(&cursor) > 0)
        out->stack_depth = nm_read_varint(&cursor);
    return !cursor.is_bad;
}
