/* SPDX-License-Identifier: Apache-2.0
 *
 * A field is a varint of its number and kind, and its value: a varint, or a length and so many bytes. A length stands before
 * what it counts, which is why an inner message is whole before it is put into the outer one. Failures are kept until
 * nm_proto_end: messages have many fields, and the one thing that can go wrong is memory.
 */
#include "export/proto.h"

#include <string.h>

#define KIND_VARINT 0
#define KIND_LENGTH 2

static void put(nm_proto *message, const void *data, size_t len)
{
    if (message->status == NM_OK && len > 0)
        message->status = nm_buffer_append(&message->bytes, data, len, NULL);
}

static void put_varint(nm_proto *message, uint64_t value)
{
    uint8_t bytes[NM_VARINT_BYTES_MAX];

    put(message, bytes, nm_put_varint(bytes, value));
}

static void put_key(nm_proto *message, uint32_t field, unsigned kind)
{
    put_varint(message, (uint64_t)field << 3 | kind);
}

void nm_proto_uint(nm_proto *message, uint32_t field, uint64_t value)
{
    put_key(message, field, KIND_VARINT);
    put_varint(message, value);
}

void nm_proto_int(nm_proto *message, uint32_t field, int64_t value)
{
    nm_proto_uint(message, field, (uint64_t)value);
}

void nm_proto_bytes(nm_proto *message, uint32_t field, const void *data, size_t len)
{
    put_key(message, field, KIND_LENGTH);
    put_varint(message, len);
    put(message, data, len);
}

void nm_proto_text(nm_proto *message, uint32_t field, const char *text)
{
    nm_proto_bytes(message, field, text, strlen(text));
}

void nm_proto_message(nm_proto *message, uint32_t field, const nm_proto *inner)
{
    if (message->status == NM_OK)
        message->status = inner->status;
    nm_proto_bytes(message, field, inner->bytes.data, inner->bytes.len);
}

void nm_proto_packed(nm_proto *message, uint32_t field, const int64_t *values, size_t count)
{
    uint8_t bytes[NM_VARINT_BYTES_MAX];
    size_t len = 0;

    for (size_t i = 0; i < count; i++)
        len += nm_put_varint(bytes, (uint64_t)values[i]);
    put_key(message, field, KIND_LENGTH);
    put_varint(message, len);
    for (size_t i = 0; i < count; i++)
        put_varint(message, (uint64_t)values[i]);
}

nm_status nm_proto_end(const nm_proto *message, nm_error *err)
{
    return message->status == NM_OK ? NM_OK : nm_fail(err, message->status, NM_NO_OFFSET, "out of memory");
}

void nm_proto_clear(nm_proto *message)
{
    message->bytes.len = 0;
    message->status = NM_OK;
}

void nm_proto_free(nm_proto *message)
{
    nm_buffer_free(&message->bytes);
    message->status = NM_OK;
}
