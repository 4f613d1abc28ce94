/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace is read once, block by block, into tables by kind and number; what a definition only points to is copied. A
 * number is defined again in the writer when something refers to it, with whatever it refers to itself, so that what is
 * appended to a long trace stays as small as what was found. A damaged block only makes less known.
 */
#include "drain/known.h"

#include <stdlib.h>
#include <string.h>

#include "trace/codec.h"

void nm_known_fini(nm_known *known)
{
    for (size_t i = 0; i < known->ring_count; i++)
        free(known->rings[i].ranges);
    for (size_t i = 0; i < known->table_count; i++) {
        nm_stack_table_free(&known->stack_tables[i].stacks);
        nm_stack_table_free(&known->stack_tables[i].python_frames);
    }
    free(known->rings);
    free(known->stack_tables);
    free(known->items);
    free(known->aliases);
    nm_buffer_free(&known->texts);
    nm_map_free(&known->index);
    nm_map_free(&known->ring_index);
    nm_map_free(&known->ended);
    nm_map_free(&known->tables);
}

/* ---- Blocks -------------------------------------------------------------------------------------------------------- */

/* The next block from *at on whose whole length is there. */
static bool find_block(nm_bytes trace, size_t *at, uint64_t *vain_bytes, nm_block_header *header)
{
    nm_status status = NM_OK;

    while (*at < trace.len && status != NM_END) {
        status = nm_block_find(trace, at, vain_bytes, header);
        if (status == NM_OK && header->block_bytes <= trace.len - *at)
            return true;
        *at += status != NM_END;
    }
    return false;
}

void nm_known_scan(nm_known *known, nm_bytes trace)
{
    nm_block_header header;
    uint64_t vain_bytes = 0;

    known->last_ns = NM_NO_TIME;
    for (size_t at = 0; find_block(trace, &at, &vain_bytes, &header); at += header.block_bytes) {
        known->has_gap |= header.block_index != known->block_count;
        known->has_block = true;
        known->is_final = (header.flags & NM_BLOCK_FINAL) != 0;
        known->block_count = header.block_index + 1;
        known->next_seq = header.first_seq + header.event_count;
        known->trace_bytes = at + header.block_bytes;
        if (header.last_ns > known->last_ns)
            known->last_ns = header.last_ns;
    }
}

/* ---- Definitions and events ---------------------------------------------------------------------------------------- */

nm_known_definition *nm_known_find(const nm_known *known, nm_definition_kind kind, uint64_t id)
{
    uint64_t *index = nm_map_get(&known->index, (nm_key){kind, id});

    return index == NULL ? NULL : &known->items[*index];
}

nm_bytes nm_known_text(const nm_known *known, uint64_t string_id)
{
    const nm_known_definition *found = nm_known_find(known, NM_DEFINE_STRING, string_id);

    return found == NULL ? (nm_bytes){0} : (nm_bytes){known->texts.data + found->text_at, found->definition.string.len};
}

static nm_status keep_alias(nm_known *known, const nm_definition *alias, nm_error *err)
{
    nm_status status =
        nm_array_grow(&known->aliases, &known->alias_capacity, known->alias_count + 1, sizeof *known->aliases, err);

    if (status == NM_OK)
        known->aliases[known->alias_count++] = *alias;
    return status;
}

/* What a definition only points to; NULL: nothing. */
static nm_bytes *borrowed_bytes(nm_definition *definition)
{
    if (definition->kind == NM_DEFINE_STRING)
        return &definition->string;
    return definition->kind == NM_DEFINE_MODULE ? &definition->module.build_id : NULL;
}

static nm_status find_ring(nm_known *known, uint64_t ring_id, nm_known_ring **out, nm_error *err)
{
    *out = nm_known_find_ring(known, ring_id);
    if (*out != NULL)
        return NM_OK;
    nm_status status =
        nm_array_grow(&known->rings, &known->ring_capacity, known->ring_count + 1, sizeof *known->rings, err);
    if (status == NM_OK)
        status = nm_map_put(&known->ring_index, (nm_key){0, ring_id}, known->ring_count, err);
    if (status == NM_OK) {
        *out = &known->rings[known->ring_count++];
        **out = (nm_known_ring){.ring_id = ring_id};
    }
    return status;
}

static nm_status keep_owner(nm_known *known, const nm_definition *thread, nm_error *err)
{
    nm_known_ring *ring = NULL;
    nm_status status = thread->thread.ring_id == 0 ? NM_END : find_ring(known, thread->thread.ring_id, &ring, err);

    if (status == NM_OK && thread->id > ring->thread_id)
        ring->thread_id = thread->id;
    return status == NM_END ? NM_OK : status;
}

static nm_status keep_definition(nm_known *known, const nm_definition *definition, nm_error *err)
{
    nm_known_definition *place = nm_known_find(known, definition->kind, definition->id);
    nm_status status = NM_OK;

    if (definition->id > known->last_ids[definition->kind])
        known->last_ids[definition->kind] = definition->id;
    if (place == NULL) {
        status = nm_array_grow(&known->items, &known->capacity, known->count + 1, sizeof *known->items, err);
        if (status == NM_OK)
            status = nm_map_put(&known->index, (nm_key){definition->kind, definition->id}, known->count, err);
        if (status != NM_OK)
            return status;
        place = &known->items[known->count++];
    }
    *place = (nm_known_definition){.definition = *definition};
    nm_bytes *borrowed = borrowed_bytes(&place->definition);
    if (borrowed != NULL) {
        place->text_at = known->texts.len;
        status = nm_buffer_append(&known->texts, borrowed->data, borrowed->len, err);
        borrowed->data = NULL;
    }
    return status == NM_OK && definition->kind == NM_DEFINE_THREAD ? keep_owner(known, definition, err) : status;
}

nm_known_ring *nm_known_find_ring(const nm_known *known, uint64_t ring_id)
{
    uint64_t *index = nm_map_get(&known->ring_index, (nm_key){0, ring_id});

    return index == NULL ? NULL : &known->rings[*index];
}

/* The ring of a thread; NM_END when the trace does not say. */
static nm_status find_ring_of(nm_known *known, uint64_t thread_id, nm_known_ring **out, nm_error *err)
{
    const nm_known_definition *thread = nm_known_find(known, NM_DEFINE_THREAD, thread_id);

    return thread == NULL ? NM_END : find_ring(known, thread->definition.thread.ring_id, out, err);
}

static nm_status keep_event(nm_known *known, const nm_event *event, nm_error *err)
{
    nm_known_ring *ring;
    nm_status status = NM_OK;

    /* A part says all losses so far again. */
    if (event->kind == NM_EVENT_KEYFRAME && event->detail == NM_KEYFRAME_BEGIN)
        for (size_t i = 0; i < known->ring_count; i++)
            known->rings[i].said_drops = 0;

    known->has_pause |= event->kind == NM_EVENT_PAUSE;
    if (event->kind == NM_EVENT_PROCESS_END)
        status = nm_map_put(&known->ended, (nm_key){0, (uint64_t)event->number}, 1, err);
    if (event->kind == NM_EVENT_LOSS && event->detail == NM_LOSS_RING_FULL) {
        status = find_ring_of(known, event->thread_id, &ring, err);
        if (status == NM_OK)
            ring->said_drops += (uint64_t)event->number;
    }
    return status == NM_END ? NM_OK : status;
}

static nm_status keep_ranges(nm_known *known, const nm_block_header *header, nm_error *err)
{
    nm_status status = NM_OK;

    for (uint32_t i = 0; i < header->range_count && status == NM_OK; i++) {
        nm_block_range range = nm_block_range_at(header, i);
        nm_known_ring *ring = NULL;

        status = find_ring_of(known, range.thread_id, &ring, err);
        if (status == NM_OK)
            status = nm_array_grow(&ring->ranges, &ring->range_capacity, ring->range_count + 1, sizeof range, err);
        if (status == NM_OK) {
            ring->ranges[ring->range_count++] = range;
            if (range.last_position >= ring->end && range.last_position < UINT64_MAX)
                ring->end = range.last_position + 1;
        }
        if (status == NM_END)
            status = NM_OK;
    }
    return status;
}

static nm_status keep_pending(nm_known *known, nm_block_reader *reader, nm_error *err)
{
    nm_block_pending pending;
    nm_known_ring *ring = NULL;
    nm_status status = NM_OK;

    while (status == NM_OK && nm_block_reader_next_pending(reader, &pending) == NM_OK) {
        status = find_ring(known, pending.ring_id, &ring, err);
        if (status == NM_OK) {
            ring->pending = pending;
            ring->pending_index = known->last_index;
        }
    }
    return status;
}

const nm_block_pending *nm_known_pending(const nm_known *known, const nm_known_ring *ring)
{
    bool is_current =
        ring->pending_index == known->last_index && ring->pending.event_count + ring->pending.dropped_count > 0;

    return is_current ? &ring->pending : NULL;
}

static nm_status read_block(nm_known *known, nm_block_reader *reader, nm_bytes block, const nm_block_header *header,
                            nm_error *err)
{
    nm_record record;
    nm_status status = nm_block_reader_open(reader, block, header, err);

    if (status == NM_ERR_FORMAT) {
        known->has_gap = true;
        return NM_OK; /* damaged: the reader of the trace counts it */
    }
    if (status != NM_OK)
        return status;
    known->last_index = header->block_index;
    known->session = *nm_block_reader_session(reader);
    while (status == NM_OK && (status = nm_block_reader_next(reader, &record, err)) == NM_OK) {
        if (record.kind == NM_RECORD_EVENT)
            status = keep_event(known, &record.event, err);
        else if (record.definition.kind == NM_DEFINE_ALIAS)
            status = keep_alias(known, &record.definition, err);
        else
            status = keep_definition(known, &record.definition, err);
    }
    if (status == NM_END)
        status = keep_ranges(known, header, err);
    return status == NM_OK ? keep_pending(known, reader, err) : status;
}

static int by_position(const void *left, const void *right)
{
    uint64_t a = ((const nm_block_range *)left)->first_position, b = ((const nm_block_range *)right)->first_position;

    return (a > b) - (a < b);
}

/* How each thread calls its stacks and Python frames: later aliases hold. */
static nm_status build_tables(nm_known *known, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < known->alias_count && status == NM_OK; i++) {
        const nm_definition *alias = &known->aliases[i];

        uint64_t kind = alias->alias.local_id & ~(uint64_t)UINT32_MAX;

        if (kind != 0 && kind != NM_ALIAS_FRAME)
            continue;
        uint64_t *index = nm_map_get(&known->tables, (nm_key){0, alias->alias.thread_id});
        size_t at = index != NULL ? *index : known->table_count;
        if (index == NULL) {
            status =
                nm_array_grow(&known->stack_tables, &known->table_capacity, at + 1, sizeof *known->stack_tables, err);
            if (status == NM_OK)
                status = nm_map_put(&known->tables, (nm_key){0, alias->alias.thread_id}, at, err);
            if (status != NM_OK)
                return status;
            known->stack_tables[known->table_count++] = (nm_known_table){0};
        }
        status =
            nm_stack_table_set(kind == 0 ? &known->stack_tables[at].stacks : &known->stack_tables[at].python_frames,
                               alias->alias.local_id & UINT32_MAX, alias->id, err);
    }
    return status;
}

nm_status nm_known_read(nm_known *known, nm_bytes trace, nm_error *err)
{
    nm_block_reader *reader = NULL;
    nm_block_header header;
    uint64_t vain_bytes = 0;
    nm_status status = nm_block_reader_new(&reader, err);

    for (size_t at = 0; status == NM_OK && find_block(trace, &at, &vain_bytes, &header); at += header.block_bytes)
        status = read_block(known, reader, (nm_bytes){trace.data + at, trace.len - at}, &header, err);
    nm_block_reader_free(reader);
    for (size_t i = 0; i < known->ring_count; i++)
        if (known->rings[i].range_count > 0)
            qsort(known->rings[i].ranges, known->rings[i].range_count, sizeof *known->rings[i].ranges, by_position);
    return status == NM_OK ? build_tables(known, err) : status;
}

/* ---- Recalling ----------------------------------------------------------------------------------------------------- */

static nm_status define_again(nm_known *known, nm_trace_writer *writer, nm_known_definition *found, nm_error *err)
{
    nm_definition definition = found->definition;

    nm_bytes *borrowed = borrowed_bytes(&definition);
    if (borrowed != NULL)
        borrowed->data = known->texts.data + found->text_at;
    return nm_trace_writer_define(writer, &definition, err);
}

/* What it names of other kinds. No deeper than a stack's frame's module's process's names. */
static nm_status recall_others(nm_known *known, nm_trace_writer *writer, nm_known_definition *found, nm_error *err)
{
    nm_definition_kind named;
    nm_status status = NM_OK;

    for (size_t i = 0; status == NM_OK; i++) {
        uint64_t *reference = nm_definition_reference(&found->definition, i, &named);
        if (reference == NULL)
            break;
        if (named != found->definition.kind)
            status = nm_known_recall(known, writer, named, *reference, err);
    }
    return status;
}

/* A stack's caller, what a frame was inlined into; a process's parents are a chain that its own numbers end. */
static uint64_t next_in_chain(const nm_definition *definition)
{
    if (definition->kind == NM_DEFINE_STACK)
        return definition->stack.parent_id;
    return definition->kind == NM_DEFINE_FRAME ? definition->frame.inlined_in : 0;
}

/* Chains in a loop: they may be long. Outermost first, as definitions come before their use. */
nm_status nm_known_recall(nm_known *known, nm_trace_writer *writer, nm_definition_kind kind, uint64_t id, nm_error *err)
{
    struct {
        uint64_t *items;
        size_t count, capacity;
    } chain = {0};
    nm_known_definition *found;
    nm_status status = NM_OK;

    while (status == NM_OK && (found = nm_known_find(known, kind, id)) != NULL && !found->is_recalled) {
        found->is_recalled = true;
        status = nm_array_grow(&chain.items, &chain.capacity, chain.count + 1, sizeof *chain.items, err);
        if (status == NM_OK)
            chain.items[chain.count++] = id;
        id = next_in_chain(&found->definition);
    }
    while (status == NM_OK && chain.count > 0) {
        found = nm_known_find(known, kind, chain.items[--chain.count]);
        status = recall_others(known, writer, found, err);
        if (status == NM_OK)
            status = define_again(known, writer, found, err);
    }
    free(chain.items);
    return status;
}
