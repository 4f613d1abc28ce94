/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces. An input is a trace file as it lies; of NAME.txt one is made as by text2trace, with so few events a block that there are several. It is
 * changed by what it is made of (trace_change.h): bytes of a file under checksums would be refused for ever.
 */
#include <string.h>

#include "base/checksum.h"
#include "drain/state.h"
#include "fuzz/load.h"
#include "fuzz/target.h"
#include "fuzz/trace_change.h"
#include "support/text_trace.h"
#include "trace/block.h"

#define BLOCK_EVENTS 8
#define PARTS        3

static nm_status seal(nm_trace_writer *writer, uint32_t flags, nm_buffer *out, nm_error *err)
{
    nm_bytes block;
    nm_status status = nm_trace_writer_seal(writer, flags, &block, err);

    return status == NM_OK ? nm_buffer_append(out, block.data, block.len, err) : status;
}

static nm_status write_records(nm_text_trace *text, nm_trace_writer *writer, nm_buffer *out, nm_error *err)
{
    nm_record record;
    nm_status status;

    while ((status = nm_text_trace_next(text, &record, err)) == NM_OK) {
        status = record.kind == NM_RECORD_DEFINITION ? nm_trace_writer_define(writer, &record.definition, err)
                                                     : nm_trace_writer_event(writer, &record.event, err);
        if (status == NM_OK && nm_trace_writer_event_count(writer) >= BLOCK_EVENTS)
            status = seal(writer, 0, out, err);
        if (status != NM_OK)
            return status;
    }
    return status == NM_END ? seal(writer, NM_BLOCK_FINAL, out, err) : status;
}

nm_status fuzz_trace_of_text(const char *text, nm_buffer *out, nm_error *err)
{
    nm_session session = {.host = "host", .tool_version = "0", .stack_depth = 16};
    nm_text_trace *trace = NULL;
    nm_trace_writer *writer = NULL;
    uint64_t checksum = nm_checksum((const uint8_t *)text, strlen(text));
    nm_status status = nm_text_trace_open(text, &trace, err);

    memcpy(session.trace_id, &checksum, sizeof checksum);
    if (status == NM_OK)
        status = nm_trace_writer_new(&session, &writer, err);
    if (status == NM_OK)
        status = write_records(trace, writer, out, err);
    nm_trace_writer_free(writer);
    nm_text_trace_close(trace);
    return status;
}

/* Also what looks at a trace without reading all of it. */
static void load_trace(nm_bytes input)
{
    int fd = fuzz_file_of(input, 1);
    nm_session session;
    nm_block_header header;
    uint64_t vain = 0;

    nm_state_find_session(fd, &session);
    for (size_t at = 0; at < input.len && nm_block_find(input, &at, &vain, &header) == NM_OK; at++)
        FUZZ_REQUIRE(at < input.len);
    fuzz_load_bytes(input, &nm_trace_source_type);
}

/* The parts of a recording that is kept in several files: a block is in the first, the second, or the rest. */
static void load_parts(nm_bytes input)
{
    size_t offsets[PARTS], count = fuzz_trace_blocks(input, offsets, PARTS);
    int fds[PARTS];

    for (size_t i = 0; i < count; i++) {
        size_t from = i == 0 ? 0 : offsets[i], to = i + 1 < count ? offsets[i + 1] : input.len;

        fds[i] = fuzz_file_of((nm_bytes){input.data + from, to - from}, (unsigned)i);
    }
    if (count > 0)
        fuzz_load(fds, count, fuzz_is_one_of(input, FUZZ_STORED_OF), (nm_bytes){0});
}

FUZZ_TARGET(trace_parts, .run = load_parts, .from_text = fuzz_trace_of_text, .mutate = fuzz_change_trace)
FUZZ_TARGET(trace, .run = load_trace, .from_text = fuzz_trace_of_text, .mutate = fuzz_change_trace)
