/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces: made of text, and changed so that their checksums are right: fields of its events and definitions, bytes of its blocks' contents, whole blocks, headers.
 */
#ifndef NM_TESTS_FUZZ_TRACE_CHANGE_H
#define NM_TESTS_FUZZ_TRACE_CHANGE_H

#include "base/buffer.h"
#include "base/error.h"

/* A fuzz_target.from_text: of a text trace (support/text_trace.h). */
nm_status fuzz_trace_of_text(const char *text, nm_buffer *out, nm_error *err);

/* The blocks of a trace in which they begin: fills up to `count` offsets of the first ones, and gives how many there are of them. */
size_t fuzz_trace_blocks(nm_bytes trace, size_t *offsets, size_t count);

/* A fuzz_target.mutate. 0: it cannot be changed so. */
size_t fuzz_change_trace(uint8_t *data, size_t len, size_t room, unsigned seed);

#endif
