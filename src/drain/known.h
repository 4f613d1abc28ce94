/* SPDX-License-Identifier: Apache-2.0
 *
 * What a trace says already, as far as a recovery needs it to go on behind its end: definitions, how rings call things,
 * which positions of which ring stand in it, which losses and ends have been said.
 */
#ifndef NM_DRAIN_KNOWN_H
#define NM_DRAIN_KNOWN_H

#include "drain/ring_merge.h"

typedef struct nm_known_definition {
    nm_definition definition; /* texts: `data` is empty, see text_at */
    size_t text_at;           /* of a string: into texts */
    bool is_recalled;         /* given to the new writer already */
} nm_known_definition;

typedef struct nm_known_ring {
    uint64_t ring_id;
    uint64_t thread_id; /* the last that is known to own it; 0: none */
    uint64_t said_drops;
    uint64_t end;             /* behind the last position that stands in the trace */
    nm_block_pending pending; /* as the block says whose index is pending_index; meaningful if that is the last */
    uint64_t pending_index;
    bool is_found;          /* by the recovery */
    nm_block_range *ranges; /* owned; by position once nm_known_read is done */
    size_t range_count, range_capacity;
} nm_known_ring;

typedef struct nm_known_table { /* what one thread calls things */
    nm_stack_table stacks, python_frames;
} nm_known_table;

typedef struct nm_known {
    nm_session session;
    uint64_t block_count; /* index of the next block */
    uint64_t next_seq;
    int64_t last_ns;      /* largest stamp, or NM_NO_TIME */
    uint64_t trace_bytes; /* behind the last whole block */
    bool is_final;
    bool has_block;
    bool has_gap;        /* a block is damaged, or the first parts are not there */
    bool has_pause;      /* some process was paused */
    uint64_t last_index; /* of the last block that could be read */

    nm_known_definition *items; /* owned */
    size_t count, capacity;
    nm_map index; /* (kind, id) -> index in items */
    nm_buffer texts;
    nm_definition *aliases; /* owned; in the order of the trace */
    size_t alias_count, alias_capacity;
    uint64_t last_ids[NM_DEFINE_KIND_MAX + 1]; /* largest number of each kind */

    nm_known_ring *rings; /* owned */
    size_t ring_count, ring_capacity;
    nm_map ring_index;            /* ring_id -> index in rings */
    nm_map ended;                 /* process -> 1 */
    nm_map tables;                /* thread -> index in stack_tables */
    nm_known_table *stack_tables; /* owned until taken */
    size_t table_count, table_capacity;
} nm_known;

/* Walks the headers alone: trace_bytes, is_final, block_count, next_seq. */
void nm_known_scan(nm_known *known, nm_bytes trace);

/* Reads all that can be read. A damaged block is passed over: what it said is not known. */
nm_status nm_known_read(nm_known *known, nm_bytes trace, nm_error *err);
void nm_known_fini(nm_known *known);

nm_known_definition *nm_known_find(const nm_known *known, nm_definition_kind kind, uint64_t id);
nm_known_ring *nm_known_find_ring(const nm_known *known, uint64_t ring_id);

/* What the ring held when the last block was written; NULL: nothing. */
const nm_block_pending *nm_known_pending(const nm_known *known, const nm_known_ring *ring);
nm_bytes nm_known_text(const nm_known *known, uint64_t string_id);

/* Defines the thing again for `writer`, with all that it names, unless that was done before. Unknown numbers are fine. */
nm_status nm_known_recall(nm_known *known, nm_trace_writer *writer, nm_definition_kind kind, uint64_t id,
                          nm_error *err);

#endif
