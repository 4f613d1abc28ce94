/* SPDX-License-Identifier: Apache-2.0
 *
 * What a source delivers, kept in arrays and as one line of text for each event, for tests to compare. A line is
 *
 *     seq KIND heap=1 at=0x1000 requested=256 block=512 stack=inner<outer stream=7 pool=1 t=1000 ...
 *
 * with the fields that are not 0; seq is "base" for the baseline and "end" for the state at the end.
 */
#ifndef TESTS_SUPPORT_SNAPSHOT_LOG_H
#define TESTS_SUPPORT_SNAPSHOT_LOG_H

#include "base/buffer.h"
#include "source/source.h"

typedef struct source_log {
    nm_status status; /* NM_END when all went well */
    nm_error err;
    nm_source_summary_data summary;
    struct {
        nm_definition *items;
        size_t count, capacity;
    } definitions; /* but for strings */
    struct {
        nm_event *items;
        size_t count, capacity;
    } events;
    char *strings[4096]; /* by number */
    nm_buffer text;      /* the lines, ended by a zero byte */
} source_log;

/* Opens what is in `fd` with the snapshot source and reads it to the end or the first failure. */
void source_log_read(source_log *log, int fd);
void source_log_read_bytes(source_log *log, const void *bytes, size_t len);
void source_log_free(source_log *log);

const nm_definition *source_log_find(const source_log *log, nm_definition_kind kind, uint64_t id); /* or NULL */

#endif
