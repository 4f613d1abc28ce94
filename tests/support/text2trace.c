/* SPDX-License-Identifier: Apache-2.0
 *
 * text2trace IN.txt OUT.zst [EVENTS_PER_BLOCK [STACK_DEPTH [START_NS]]]: writes a text trace (text_trace.h) as a trace file, so that
 * tests can give npumem-ingest an input whose every event can be read in the test. The file is finished; it has no rings.
 * With STACK_DEPTH its stacks are said to be native ones, walked as deep as that (0: not known); time 0 is START_NS, nanoseconds since 1970.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/io.h"
#include "support/text_trace.h"
#include "trace/block.h"
#include "trace/ring.h"

#define EVENTS_PER_BLOCK_DEFAULT 1000

static nm_status seal_block(nm_trace_writer *writer, uint32_t flags, int fd, nm_error *err)
{
    nm_bytes block;
    nm_status status = nm_trace_writer_seal(writer, flags, &block, err);

    return status == NM_OK ? nm_io_write(fd, block.data, block.len, err) : status;
}

static nm_status write_records(nm_text_trace *text, nm_trace_writer *writer, uint32_t block_events, int fd,
                               nm_error *err)
{
    nm_record record;
    nm_status status;

    while ((status = nm_text_trace_next(text, &record, err)) == NM_OK) {
        if (record.kind == NM_RECORD_DEFINITION)
            status = nm_trace_writer_define(writer, &record.definition, err);
        else
            status = nm_trace_writer_event(writer, &record.event, err);
        if (status == NM_OK && nm_trace_writer_event_count(writer) >= block_events)
            status = seal_block(writer, 0, fd, err);
        if (status != NM_OK)
            return status;
    }
    return seal_block(writer, NM_BLOCK_FINAL, fd, err);
}

static nm_status convert(const char *in_path, const char *out_path, uint32_t block_events, uint32_t stack_depth,
                         int64_t start_ns, nm_error *err)
{
    nm_session session = {.host = "host",
                          .tool_version = NPUMEM_PROJECT_VERSION,
                          .stack_depth = stack_depth,
                          .start_realtime_ns = start_ns};
    nm_buffer buffer = {0};
    nm_text_trace *text = NULL;
    nm_trace_writer *writer = NULL;
    int in_fd = -1;
    int out_fd = -1;

    if (stack_depth > 0)
        session.stacks = NM_STACKS_NATIVE;
    nm_status status = nm_io_open(in_path, O_RDONLY, 0, &in_fd, err);

    if (status == NM_OK)
        status = nm_io_read_all(in_fd, 64u << 20, &buffer, err);
    if (status == NM_OK)
        status = nm_buffer_append(&buffer, "", 1, err);
    if (status == NM_OK)
        status = nm_text_trace_open((const char *)buffer.data, &text, err);
    if (status == NM_OK) { /* different texts are different recordings */
        uint64_t checksum = nm_checksum(buffer.data, buffer.len);

        memcpy(session.trace_id, &checksum, sizeof checksum);
        status = nm_trace_writer_new(&session, &writer, err);
    }
    if (status == NM_OK)
        status = nm_io_open(out_path, O_WRONLY | O_CREAT | O_TRUNC, 0644, &out_fd, err);
    if (status == NM_OK)
        status = write_records(text, writer, block_events, out_fd, err);
    nm_io_close(out_fd);
    nm_io_close(in_fd);
    nm_trace_writer_free(writer);
    nm_text_trace_close(text);
    nm_buffer_free(&buffer);
    return status;
}

int main(int argc, char **argv)
{
    nm_error err = {0};
    unsigned long block_events = argc > 3 ? strtoul(argv[3], NULL, 10) : EVENTS_PER_BLOCK_DEFAULT;
    unsigned long stack_depth = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
    int64_t start_ns = argc > 5 ? strtoll(argv[5], NULL, 10) : 0;

    if (argc < 3 || argc > 6 || block_events == 0 || block_events > NM_BLOCK_EVENTS_MAX) {
        fprintf(stderr, "usage: text2trace IN.txt OUT.zst [EVENTS_PER_BLOCK [STACK_DEPTH [START_NS]]]\n");
        return 2;
    }
    if (convert(argv[1], argv[2], (uint32_t)block_events, (uint32_t)stack_depth, start_ns, &err) != NM_OK) {
        fprintf(stderr, "text2trace: %s: %s\n", argv[1], err.text);
        return 1;
    }
    return 0;
}
