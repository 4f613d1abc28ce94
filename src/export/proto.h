/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages in the wire format of protocol buffers, written field by field: numbers, texts, packed lists, and messages
 * within messages, each made in a writer of its own first. No schema: the field's number says it, and a field that is left
 * out has its default.
 *
 *     nm_proto_text(&line, 2, "a.py");
 *     nm_proto_message(&location, 4, &line);        and nm_proto_clear(&line) before the next one
 *     status = nm_proto_end(&location, err);        what went wrong on the way, once
 */
#ifndef NM_EXPORT_PROTO_H
#define NM_EXPORT_PROTO_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

typedef struct nm_proto {
    nm_buffer bytes;  /* the message so far */
    nm_status status; /* NM_ERR_MEMORY: it was out, and the message is not whole */
} nm_proto;           /* a zeroed one is an empty message */

/* Field numbers are 1 to 2^29 - 1, and not checked. Nothing is left out: a 0 is written as one. */
void nm_proto_uint(nm_proto *message, uint32_t field, uint64_t value); /* uint32, uint64, bool, enum */
void nm_proto_int(nm_proto *message, uint32_t field, int64_t value);   /* int32, int64: ten bytes below 0 */
void nm_proto_bytes(nm_proto *message, uint32_t field, const void *data, size_t len);
void nm_proto_text(nm_proto *message, uint32_t field, const char *text);
void nm_proto_message(nm_proto *message, uint32_t field, const nm_proto *inner);

/* A repeated field of integers, packed. */
void nm_proto_packed(nm_proto *message, uint32_t field, const int64_t *values, size_t count);

nm_status nm_proto_end(const nm_proto *message, nm_error *err); /* NM_ERR_MEMORY: it is not whole */
void nm_proto_clear(nm_proto *message);                         /* empty again; its room stays */
void nm_proto_free(nm_proto *message);

#endif
