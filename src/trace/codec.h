/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a block, shared by its writer and its reader: header, session record, definitions. Each part is written
 * and read by one file, so that docs/trace-format.md has one place to be checked against.
 */
#ifndef NM_TRACE_CODEC_H
#define NM_TRACE_CODEC_H

#include <stdbool.h>

#include "base/buffer.h"
#include "trace/block.h"

/* ---- Header (header.c) ---- */

#define NM_HEADER_FRAME_BYTES    8  /* magic and content size of the skippable frame, before the header */
#define NM_HEADER_FIXED_BYTES    96 /* of the header, before its ranges; this version writes exactly these */
#define NM_HEADER_RANGE_BYTES    24 /* of one range, as this version writes it */
#define NM_HEADER_CHECKSUM_BYTES 8

/* Offsets in the header. */
enum {
    NM_HEADER_SIGNATURE = 0,
    NM_HEADER_MAJOR = 8,
    NM_HEADER_MINOR = 10,
    NM_HEADER_FLAGS = 12,
    NM_HEADER_TRACE_ID = 16,
    NM_HEADER_BLOCK_INDEX = 32,
    NM_HEADER_FIRST_SEQ = 40,
    NM_HEADER_FIRST_NS = 48,
    NM_HEADER_LAST_NS = 56,
    NM_HEADER_EVENT_COUNT = 64,
    NM_HEADER_RAW_BYTES = 68,
    NM_HEADER_FRAME_CHECKSUM = 72,
    NM_HEADER_DATA_BYTES = 80,
    NM_HEADER_RANGE_COUNT = 84,
    NM_HEADER_RANGES_OFFSET = 88,
    NM_HEADER_RANGE_SIZE = 92,
};

/* Length of a header with that many ranges, its checksum included. */
size_t nm_header_bytes(uint32_t range_count);

/* Writes the header with its checksum to `out`, which has room for nm_header_bytes(header->range_count). */
void nm_header_write(const nm_block_header *header, uint8_t *out);

/* Is `copy`, the header inside the data frame, the header of the block? Both have their whole length; what is not known
 * inside (data bytes, frame checksum) is 0 there. */
bool nm_header_is_copy(nm_bytes copy, nm_bytes header);

/* ---- Session record and definitions (definition.c) ---- */

nm_status nm_session_encode(const nm_session *session, nm_buffer *out, nm_error *err);

/* Fills all but trace_id from the whole record. False: the bytes are wrong. */
bool nm_session_decode(nm_bytes record, nm_session *out);

/* Appends kind, length and body. NM_ERR_USAGE for a kind that does not exist or the number 0. */
nm_status nm_definition_encode(const nm_definition *definition, nm_buffer *out, nm_error *err);

/* Reads one definition; what it borrows points into the cursor's bytes. False: the bytes are wrong. A kind that this
 * version does not know is passed over: *is_known says so. */
bool nm_definition_decode(nm_cursor *cursor, nm_definition *out, bool *is_known);

/* The `index`-th number in the definition that names another one, and the kind of what it names; NULL past the last. */
uint64_t *nm_definition_reference(nm_definition *definition, size_t index, nm_definition_kind *kind);

/* What fields of an event name, whatever its kind: 0 where it has none. */
typedef struct nm_event_reference {
    uint8_t field; /* nm_field */
    uint8_t kind;  /* nm_definition_kind */
} nm_event_reference;

#define NM_EVENT_REFERENCES 7
extern const nm_event_reference nm_event_references[NM_EVENT_REFERENCES];

/* Besides them, what its `number` names; 0: nothing. */
nm_definition_kind nm_event_number_kind(const nm_event *event);

#endif
