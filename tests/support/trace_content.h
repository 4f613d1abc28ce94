/* SPDX-License-Identifier: Apache-2.0
 *
 * All that a trace says, in memory: its events in order, and what their numbers mean.
 */
#ifndef TESTS_SUPPORT_TRACE_CONTENT_H
#define TESTS_SUPPORT_TRACE_CONTENT_H

#include <stdbool.h>

#include "trace/block.h"

typedef struct trace_content {
    nm_event *events;
    size_t event_count, event_capacity;
    nm_definition *definitions; /* texts and build ids are copies */
    size_t definition_count, definition_capacity;
    nm_block_range *ranges;
    size_t range_count, range_capacity;
    size_t block_count;
    uint32_t last_flags; /* of the last block */
    size_t whole_bytes;  /* behind the last whole block */
    nm_session session;
} trace_content;

/* Aborts on a damaged block or a gap in seq; a cut end is left out. */
void trace_content_read(trace_content *content, nm_bytes trace);
void trace_content_read_file(trace_content *content, const char *path);
void trace_content_free(trace_content *content);

/* The last definition of that kind and number, or NULL. */
const nm_definition *trace_content_find(const trace_content *content, nm_definition_kind kind, uint64_t id);
bool trace_content_text_is(const trace_content *content, uint64_t string_id, const char *text);

/* The whole file. Free `data`. */
nm_bytes trace_load(const char *path);

#endif
