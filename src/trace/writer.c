/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds blocks. Events go straight into one array per field. Definitions are kept, encoded, for the writer's life: an
 * event that uses one that does not stand in two blocks of the current group (processes, threads, devices and heaps: in
 * the current block) brings it, and all it names, into the block again. Two, so that what one damaged block held stands in
 * another, which is no later than its use.
 */
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "base/checksum.h"
#include "base/map.h"
#include "trace/codec.h"
#include "trace/column.h"

#define ZSTD_LEVEL      3
#define ZSTD_WINDOW_LOG 22 /* at most 4 MiB: what any reader is ready to give */
#define NEVER           UINT64_MAX
#define SEEN_IDS_MAX    (1u << 22) /* numbers above it are looked up each time */

typedef struct kept_definition { /* a definition */
    size_t body_at;              /* into `bodies`: as nm_definition_encode made it */
    uint32_t body_bytes;
    uint8_t kind;         /* nm_definition_kind */
    uint8_t copy_count;   /* in the group of that block */
    uint64_t block_index; /* of the last block that it was written to, or NEVER */
} kept_definition;

typedef struct walk_step { /* of the walk that writes a definition behind all that it names */
    size_t kept_index;
    bool is_expanded;
} walk_step;

typedef struct value_list {
    uint64_t *values; /* where all are the same none stands here */
    size_t count, capacity;
    size_t same_count; /* so many of the first are `first` */
    uint64_t first;
    nm_column_habit habit;
} value_list;

typedef struct field_list { /* of a kind: which columns its events go to, from where in an event */
    uint8_t count;          /* 0: not worked out yet */
    uint8_t fields[NM_FIELD_COUNT];
    uint16_t offsets[NM_FIELD_COUNT];
    size_t room; /* as long as the block has no more events than this, all these columns have room for one more */
} field_list;

typedef struct seen_list { /* by number: the last block, as block_stamp, for which bring() has seen to it */
    uint32_t *stamps;
    size_t capacity;
} seen_list;

struct nm_trace_writer {
    nm_session session;
    ZSTD_CCtx *zstd;

    nm_map kept_by_id; /* (kind, id) -> index into `kept` */
    kept_definition *kept;
    size_t kept_count, kept_capacity;
    nm_buffer bodies;
    walk_step *steps;
    size_t step_count, step_capacity;

    /* The block under construction. */
    uint64_t block_index, first_seq;
    uint32_t event_count;
    int64_t first_ns, last_ns;
    nm_buffer definitions;
    size_t value_count; /* in all columns */
    value_list kinds;   /* indexes into kind_table */
    value_list columns[NM_FIELD_COUNT];
    field_list lists[NM_EVENT_KIND_MAX + 1];
    uint8_t kind_table[NM_EVENT_KIND_MAX + 1], kind_place[NM_EVENT_KIND_MAX + 1]; /* place: index + 1, or 0 */
    unsigned kind_count;
    nm_buffer ranges;
    nm_map range_by_thread;
    nm_buffer pending;
    uint32_t block_stamp; /* of the block, for seen */
    seen_list seen[NM_DEFINE_KIND_MAX + 1];

    nm_column_writer *column_writer;
    nm_buffer raw, block;

    nm_trace_observer *observer; /* or NULL */
    void *observer_context;
    void (*breathe)(void *context); /* or NULL */
    void *breathe_context;
};

nm_status nm_trace_writer_new(const nm_session *session, nm_trace_writer **out, nm_error *err)
{
    nm_trace_writer *writer = calloc(1, sizeof *writer);
    nm_status status = NM_OK;

    *out = NULL;
    if (writer != NULL)
        writer->zstd = ZSTD_createCCtx();
    if (writer == NULL || writer->zstd == NULL)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory at a trace writer");
    if (status == NM_OK)
        status = nm_column_writer_new(&writer->column_writer, err);
    if (status != NM_OK) {
        nm_trace_writer_free(writer);
        return status;
    }
    writer->session = *session;
    writer->first_ns = writer->last_ns = NM_NO_TIME;
    writer->block_stamp = 1;
    *out = writer;
    return NM_OK;
}

void nm_trace_writer_free(nm_trace_writer *writer)
{
    if (writer == NULL)
        return;
    ZSTD_freeCCtx(writer->zstd);
    nm_map_free(&writer->kept_by_id);
    free(writer->kept);
    nm_buffer_free(&writer->bodies);
    free(writer->steps);
    nm_buffer_free(&writer->definitions);
    free(writer->kinds.values);
    for (int i = 0; i < NM_FIELD_COUNT; i++)
        free(writer->columns[i].values);
    for (int i = 0; i <= NM_DEFINE_KIND_MAX; i++)
        free(writer->seen[i].stamps);
    nm_buffer_free(&writer->ranges);
    nm_map_free(&writer->range_by_thread);
    nm_buffer_free(&writer->pending);
    nm_column_writer_free(writer->column_writer);
    nm_buffer_free(&writer->raw);
    nm_buffer_free(&writer->block);
    free(writer);
}

void nm_trace_writer_resume(nm_trace_writer *writer, uint64_t block_index, uint64_t first_seq)
{
    writer->block_index = block_index;
    writer->first_seq = first_seq;
    writer->block_stamp++;
}

void nm_trace_writer_observe(nm_trace_writer *writer, nm_trace_observer *observer, void *context)
{
    writer->observer = observer;
    writer->observer_context = context;
}

void nm_trace_writer_breathe(nm_trace_writer *writer, void (*breathe)(void *context), void *context)
{
    writer->breathe = breathe;
    writer->breathe_context = context;
}

uint64_t nm_trace_writer_block_index(const nm_trace_writer *writer)
{
    return writer->block_index;
}

uint32_t nm_trace_writer_event_count(const nm_trace_writer *writer)
{
    return writer->event_count;
}

bool nm_trace_writer_has_content(const nm_trace_writer *writer)
{
    return writer->event_count > 0 || writer->definitions.len > 0;
}

uint64_t nm_trace_writer_seq(const nm_trace_writer *writer)
{
    return writer->first_seq + writer->event_count;
}

/* Would the block's content stay under the limit with so many more values and bytes? The bound holds for any values. */
static nm_status check_room(const nm_trace_writer *writer, size_t more_values, size_t more_bytes, nm_error *err)
{
    size_t bytes = NM_COLUMN_BYTES_MAX(writer->value_count + more_values) +
                   (NM_FIELD_COUNT + 1) * NM_COLUMN_BYTES_MAX(0) + writer->definitions.len + writer->ranges.len +
                   writer->pending.len + more_bytes + 4096;

    if (bytes <= NM_BLOCK_RAW_BYTES_MAX)
        return NM_OK;
    return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "a block of %u events is full", writer->event_count);
}

/* ---- Definitions ---- */

static uint64_t group_begin(const nm_trace_writer *writer)
{
    return writer->block_index - writer->block_index % NM_BLOCK_WINDOW;
}

/* What every event needs to be understood at all stands in each block that uses it; the rest in two of a group. */
static bool is_needed(const nm_trace_writer *writer, const kept_definition *kept, bool is_used_directly)
{
    bool is_scope = kept->kind == NM_DEFINE_PROCESS || kept->kind == NM_DEFINE_THREAD ||
                    kept->kind == NM_DEFINE_DEVICE || kept->kind == NM_DEFINE_HEAP;

    if (kept->block_index == NEVER || kept->block_index < group_begin(writer))
        return true;
    return kept->block_index < writer->block_index &&
           ((is_scope && is_used_directly) || kept->copy_count < NM_BLOCK_COPIES);
}

static void count_copy(const nm_trace_writer *writer, kept_definition *kept)
{
    bool is_first = kept->block_index == NEVER || kept->block_index < group_begin(writer);

    kept->copy_count = is_first ? 1 : kept->copy_count < NM_BLOCK_COPIES ? kept->copy_count + 1 : NM_BLOCK_COPIES;
    kept->block_index = writer->block_index;
}

/* Pushes the definition if it does not stand where it is needed. One that was never given stays unknown. */
static nm_status push(nm_trace_writer *writer, uint64_t kind, uint64_t id, bool is_used_directly, nm_error *err)
{
    uint64_t *index = id == 0 ? NULL : nm_map_get(&writer->kept_by_id, (nm_key){kind, id});

    if (index == NULL || !is_needed(writer, &writer->kept[*index], is_used_directly))
        return NM_OK;

    nm_status status =
        nm_array_grow(&writer->steps, &writer->step_capacity, writer->step_count + 1, sizeof *writer->steps, err);
    if (status == NM_OK) {
        count_copy(writer, &writer->kept[*index]);
        writer->steps[writer->step_count++] = (walk_step){(size_t)*index, false};
    }
    return status;
}

/* Pushes what the definition names. A process's parent is not what its events need: twice in a group is enough. */
static nm_status push_references(nm_trace_writer *writer, const kept_definition *kept, nm_error *err)
{
    nm_cursor cursor = nm_cursor_over(writer->bodies.data + kept->body_at, kept->body_bytes);
    nm_definition definition;
    nm_definition_kind kind;
    bool is_known, is_direct = kept->kind != NM_DEFINE_PROCESS;
    nm_status status = NM_OK;

    nm_definition_decode(&cursor, &definition, &is_known);
    for (size_t i = 0; status == NM_OK; i++) {
        const uint64_t *id = nm_definition_reference(&definition, i, &kind);

        if (id == NULL)
            break;
        status = push(writer, kind, *id, is_direct, err);
    }
    return status;
}

/* Writes what has been pushed, each definition behind those that it names. A stack can be deep: no recursion. */
static nm_status write_pushed(nm_trace_writer *writer, nm_error *err)
{
    nm_status status = NM_OK;

    while (status == NM_OK && writer->step_count > 0) {
        walk_step *top = &writer->steps[writer->step_count - 1];
        const kept_definition *kept = &writer->kept[top->kept_index];

        if (!top->is_expanded) {
            top->is_expanded = true;
            status = push_references(writer, kept, err);
            continue;
        }
        status = check_room(writer, 0, kept->body_bytes, err);
        if (status == NM_OK)
            status = nm_buffer_append(&writer->definitions, writer->bodies.data + kept->body_at, kept->body_bytes, err);
        if (status == NM_OK)
            writer->step_count--;
    }
    /* After a failure nothing that was pushed counts as written. */
    for (; writer->step_count > 0; writer->step_count--)
        writer->kept[writer->steps[writer->step_count - 1].kept_index].block_index = NEVER;
    return status;
}

static nm_status bring(nm_trace_writer *writer, uint64_t kind, uint64_t id, nm_error *err)
{
    nm_status status = push(writer, kind, id, true, err);
    return status == NM_OK && writer->step_count > 0 ? write_pushed(writer, err) : status;
}

/* Gives the body at the end of `bodies` (from body_at) to the definition. False: it is there already, unchanged. */
static nm_status keep(nm_trace_writer *writer, uint64_t kind, uint64_t id, size_t body_at, nm_error *err)
{
    size_t body_bytes = writer->bodies.len - body_at;
    uint64_t *index = nm_map_get(&writer->kept_by_id, (nm_key){kind, id});

    if (index != NULL) {
        kept_definition *old = &writer->kept[*index];
        const uint8_t *bodies = writer->bodies.data;

        if (old->body_bytes == body_bytes && memcmp(bodies + old->body_at, bodies + body_at, body_bytes) == 0) {
            writer->bodies.len = body_at;
            return NM_OK;
        }
        *old = (kept_definition){body_at, (uint32_t)body_bytes, (uint8_t)kind, 0, NEVER};
        return NM_OK;
    }

    nm_status status =
        nm_array_grow(&writer->kept, &writer->kept_capacity, writer->kept_count + 1, sizeof *writer->kept, err);
    if (status == NM_OK)
        status = nm_map_put(&writer->kept_by_id, (nm_key){kind, id}, writer->kept_count, err);
    if (status == NM_OK)
        writer->kept[writer->kept_count++] = (kept_definition){body_at, (uint32_t)body_bytes, (uint8_t)kind, 0, NEVER};
    return status;
}

/* How a ring called a thing is of use only until the ring is drained: written once, not kept. */
static nm_status write_alias(nm_trace_writer *writer, const nm_definition *definition, nm_error *err)
{
    static const uint8_t owner_kind[] = {NM_DEFINE_THREAD, NM_DEFINE_PROCESS, NM_DEFINE_PROCESS, NM_DEFINE_THREAD};
    static const uint8_t named_kind[] = {NM_DEFINE_STACK, NM_DEFINE_HEAP, NM_DEFINE_DEVICE, NM_DEFINE_FRAME};
    uint64_t place = definition->alias.local_id / NM_ALIAS_HEAP; /* 0: a stack, then heap, device, frame */

    if (place >= sizeof named_kind)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "an alias of no known kind");
    nm_status status = check_room(writer, 0, 64, err);
    if (status == NM_OK)
        status = bring(writer, owner_kind[place], definition->alias.thread_id, err);
    if (status == NM_OK)
        status = bring(writer, named_kind[place], definition->id, err);
    return status == NM_OK ? nm_definition_encode(definition, &writer->definitions, err) : status;
}

nm_status nm_trace_writer_define(nm_trace_writer *writer, const nm_definition *definition, nm_error *err)
{
    if (definition->kind == NM_DEFINE_ALIAS)
        return write_alias(writer, definition, err);

    size_t body_at = writer->bodies.len;
    nm_status status = nm_definition_encode(definition, &writer->bodies, err);

    if (status == NM_OK && writer->bodies.len - body_at > NM_BLOCK_RAW_BYTES_MAX / 2)
        status = nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "a definition of %zu bytes is over the limit",
                         writer->bodies.len - body_at);
    if (status == NM_OK)
        status = keep(writer, definition->kind, definition->id, body_at, err);
    if (status != NM_OK)
        writer->bodies.len = body_at;
    if (status == NM_OK)
        status = bring(writer, definition->kind, definition->id, err);
    if (status == NM_OK && writer->observer != NULL)
        writer->observer(writer->observer_context,
                         &(nm_record){.kind = NM_RECORD_DEFINITION, .definition = *definition});
    return status;
}

nm_status nm_trace_writer_repeat(nm_trace_writer *writer, uint64_t kinds, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < writer->kept_count && status == NM_OK; i++) {
        kept_definition *kept = &writer->kept[i];

        if ((kinds >> kept->kind & 1) == 0 || !is_needed(writer, kept, true))
            continue;
        status =
            nm_array_grow(&writer->steps, &writer->step_capacity, writer->step_count + 1, sizeof *writer->steps, err);
        if (status != NM_OK)
            break;
        count_copy(writer, kept);
        writer->steps[writer->step_count++] = (walk_step){i, false};
        status = write_pushed(writer, err);
    }
    return status;
}

/* ---- Events ---- */

static uint64_t value_of(const nm_event *event, nm_field field)
{
    return *(const uint64_t *)((const char *)event + nm_event_field_offsets[field]);
}

/* What bring() has seen to stays so until the block ends: whoever defines it anew brings it himself. */
static inline bool is_seen(const nm_trace_writer *writer, nm_definition_kind kind, uint64_t id)
{
    const seen_list *seen = &writer->seen[kind];

    return id == 0 || (id < seen->capacity && seen->stamps[id] == writer->block_stamp);
}

static nm_status note_seen(nm_trace_writer *writer, nm_definition_kind kind, uint64_t id, nm_error *err)
{
    seen_list *seen = &writer->seen[kind];
    size_t before = seen->capacity;

    if (id >= SEEN_IDS_MAX)
        return NM_OK;
    nm_status status = nm_array_grow(&seen->stamps, &seen->capacity, (size_t)id + 1, sizeof *seen->stamps, err);
    if (status != NM_OK)
        return status;
    if (seen->capacity > before)
        memset(seen->stamps + before, 0, (seen->capacity - before) * sizeof *seen->stamps);
    seen->stamps[id] = writer->block_stamp;
    return NM_OK;
}

static nm_status bring_unseen(nm_trace_writer *writer, nm_definition_kind kind, uint64_t id, nm_error *err)
{
    nm_status status = is_seen(writer, kind, id) ? NM_END : bring(writer, kind, id, err);

    if (status == NM_END)
        return NM_OK;
    return status == NM_OK ? note_seen(writer, kind, id, err) : status;
}

/* nm_event_references and nm_event_number_kind in one look: nearly always there is nothing to bring. */
static inline bool uses_only_seen(const nm_trace_writer *writer, const nm_event *event, uint64_t fields)
{
    return is_seen(writer, NM_DEFINE_THREAD, event->thread_id) && is_seen(writer, NM_DEFINE_HEAP, event->heap_id) &&
           ((fields >> NM_FIELD_STACK & 1) == 0 || is_seen(writer, NM_DEFINE_STACK, event->stack_id)) &&
           (event->name_id | event->device_id | event->pool_id | event->process_id) == 0 &&
           (event->number == 0 || nm_event_number_kind(event) == 0);
}

static nm_status bring_what_it_uses(nm_trace_writer *writer, const nm_event *event, uint64_t fields, nm_error *err)
{
    nm_definition_kind kind = nm_event_number_kind(event);
    nm_status status = NM_OK;

    for (size_t i = 0; status == NM_OK && i < NM_EVENT_REFERENCES; i++) {
        const nm_event_reference *reference = &nm_event_references[i];

        if (reference->kind == NM_DEFINE_STACK && (fields >> NM_FIELD_STACK & 1) == 0)
            continue;
        status = bring_unseen(writer, reference->kind, value_of(event, reference->field), err);
    }
    if (status == NM_OK && kind != 0 && event->number != 0)
        status = bring_unseen(writer, kind, (uint64_t)event->number, err);
    return status;
}

static void list_fields(field_list *list, uint64_t fields)
{
    for (uint64_t left = fields; left != 0; left &= left - 1) {
        unsigned field = (unsigned)__builtin_ctzll(left);

        list->fields[list->count] = (uint8_t)field;
        list->offsets[list->count++] = nm_event_field_offsets[field];
    }
}

/* A column never has more values than the block has events: so room is asked for seldom, and for all columns of the kind. */
static nm_status reserve_columns(nm_trace_writer *writer, field_list *list, uint64_t fields, nm_error *err)
{
    size_t wanted = (size_t)writer->event_count + 1, room = SIZE_MAX;
    nm_status status = nm_array_grow(&writer->kinds.values, &writer->kinds.capacity, wanted, sizeof(uint64_t), err);

    if (list->count == 0)
        list_fields(list, fields);
    for (unsigned i = 0; status == NM_OK && i < list->count; i++) {
        value_list *column = &writer->columns[list->fields[i]];

        status = nm_array_grow(&column->values, &column->capacity, wanted, sizeof(uint64_t), err);
        room = column->capacity < room ? column->capacity : room;
    }
    if (status == NM_OK)
        list->room = room < writer->kinds.capacity ? room : writer->kinds.capacity;
    return status;
}

static void spell_out(value_list *column)
{
    for (size_t i = 0; i < column->same_count; i++)
        column->values[i] = column->first;
}

/* Most columns have one value in all of a block: those are counted. */
static inline void add_value(value_list *column, uint64_t value)
{
    size_t at = column->count++;

    if (at == column->same_count) {
        if (at == 0)
            column->first = value;
        if (value == column->first) {
            column->same_count++;
            return;
        }
        spell_out(column);
    }
    column->values[at] = value;
}

static void store(nm_trace_writer *writer, const nm_event *event, const field_list *list)
{
    if (writer->kind_place[event->kind] == 0) {
        writer->kind_table[writer->kind_count++] = (uint8_t)event->kind;
        writer->kind_place[event->kind] = (uint8_t)writer->kind_count;
    }
    writer->kinds.values[writer->kinds.count++] = writer->kind_place[event->kind] - 1u;
    for (unsigned i = 0; i < list->count; i++)
        add_value(&writer->columns[list->fields[i]], *(const uint64_t *)((const char *)event + list->offsets[i]));
    writer->value_count += list->count + 1u;
    writer->event_count++;
}

static void note_time(nm_trace_writer *writer, int64_t time_ns)
{
    if (time_ns == NM_NO_TIME)
        return;
    if (writer->first_ns == NM_NO_TIME || time_ns < writer->first_ns)
        writer->first_ns = time_ns;
    if (writer->last_ns == NM_NO_TIME || time_ns > writer->last_ns)
        writer->last_ns = time_ns;
}

nm_status nm_trace_writer_event(nm_trace_writer *writer, const nm_event *event, nm_error *err)
{
    uint64_t fields = event->kind <= NM_EVENT_KIND_MAX ? nm_event_fields(event->kind) : 0;

    if (fields == 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "an event of kind %llu cannot be written",
                       (unsigned long long)event->kind);
    if (writer->event_count >= NM_BLOCK_EVENTS_MAX)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "a block of %u events is full", writer->event_count);

    field_list *list = &writer->lists[event->kind];
    nm_status status = check_room(writer, NM_FIELD_COUNT + 1, 0, err);
    if (status == NM_OK && !uses_only_seen(writer, event, fields))
        status = bring_what_it_uses(writer, event, fields, err);
    if (status == NM_OK && writer->event_count >= list->room)
        status = reserve_columns(writer, list, fields, err);
    if (status != NM_OK)
        return status;
    store(writer, event, list);
    note_time(writer, event->time_ns);
    if (writer->observer != NULL) {
        nm_record record = {.kind = NM_RECORD_EVENT, .event = *event};

        record.event.seq = nm_trace_writer_seq(writer) - 1;
        writer->observer(writer->observer_context, &record);
    }
    return NM_OK;
}

nm_status nm_trace_writer_position(nm_trace_writer *writer, nm_block_range range, nm_error *err)
{
    uint64_t *index = nm_map_get(&writer->range_by_thread, (nm_key){0, range.thread_id});
    uint8_t *last = index == NULL ? NULL : writer->ranges.data + *index * NM_HEADER_RANGE_BYTES;
    uint8_t bytes[NM_HEADER_RANGE_BYTES];

    /* The map remembers earlier blocks too: what it says is checked. */
    if (last != NULL && (*index + 1) * NM_HEADER_RANGE_BYTES <= writer->ranges.len &&
        nm_get_u64(last) == range.thread_id && nm_get_u64(last + 16) + 1 == range.first_position) {
        nm_put_u64(last + 16, range.last_position);
        return NM_OK;
    }
    if (nm_header_bytes((uint32_t)(writer->ranges.len / NM_HEADER_RANGE_BYTES) + 1) > NM_BLOCK_HEADER_BYTES_MAX)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "a block header is full");

    nm_put_u64(bytes, range.thread_id);
    nm_put_u64(bytes + 8, range.first_position);
    nm_put_u64(bytes + 16, range.last_position);
    nm_status status = nm_map_put(&writer->range_by_thread, (nm_key){0, range.thread_id},
                                  writer->ranges.len / NM_HEADER_RANGE_BYTES, err);
    return status == NM_OK ? nm_buffer_append(&writer->ranges, bytes, sizeof bytes, err) : status;
}

nm_status nm_trace_writer_pending(nm_trace_writer *writer, const nm_block_pending *pending, nm_error *err)
{
    const uint64_t fields[] = {pending->ring_id, pending->tail_position,
                               pending->read_position - pending->tail_position, pending->event_count,
                               pending->dropped_count};
    nm_status status = check_room(writer, 0, sizeof fields / sizeof *fields * NM_VARINT_BYTES_MAX, err);

    for (size_t i = 0; i < sizeof fields / sizeof *fields && status == NM_OK; i++)
        status = nm_buffer_append_varint(&writer->pending, fields[i], err);
    return status;
}

/* ---- Sealing ---- */

static nm_status append_kinds(nm_trace_writer *writer, nm_error *err)
{
    nm_status status = nm_buffer_append_varint(&writer->raw, writer->kind_count, err);

    for (unsigned i = 0; status == NM_OK && i < writer->kind_count; i++) {
        status = nm_buffer_append_varint(&writer->raw, writer->kind_table[i], err);
        if (status == NM_OK)
            status = nm_buffer_append_varint(&writer->raw, nm_event_fields(writer->kind_table[i]), err);
    }
    if (status == NM_OK && writer->kinds.count > 0)
        status = nm_column_write(writer->column_writer, writer->kinds.values, writer->kinds.count,
                                 (nm_column_events){0}, &writer->kinds.habit, &writer->raw, err);
    return status;
}

static nm_column_events events_with(const nm_trace_writer *writer, unsigned field)
{
    nm_column_events events = {writer->kinds.values, writer->kinds.count, 0};

    for (unsigned i = 0; i < writer->kind_count; i++)
        events.members |= (nm_event_fields(writer->kind_table[i]) >> field & 1) << i;
    return events;
}

static nm_status append_columns(nm_trace_writer *writer, nm_error *err)
{
    unsigned column_count = 0;

    for (int i = 0; i < NM_FIELD_COUNT; i++)
        column_count += writer->columns[i].count > 0;
    nm_status status = nm_buffer_append_varint(&writer->raw, column_count, err);
    for (unsigned i = 0; status == NM_OK && i < NM_FIELD_COUNT; i++) {
        value_list *column = &writer->columns[i];

        if (column->count == 0)
            continue;
        if (writer->breathe != NULL)
            writer->breathe(writer->breathe_context);
        status = nm_buffer_append(&writer->raw, &(uint8_t){(uint8_t)i}, 1, err);
        if (status == NM_OK)
            status = column->same_count == column->count
                         ? nm_column_write_constant(writer->column_writer, column->first, &writer->raw, err)
                         : nm_column_write(writer->column_writer, column->values, column->count, events_with(writer, i),
                                           &column->habit, &writer->raw, err);
    }
    return status;
}

static nm_status append_section(nm_buffer *out, nm_bytes section, nm_error *err)
{
    nm_status status = nm_buffer_append_varint(out, section.len, err);
    return status == NM_OK ? nm_buffer_append(out, section.data, section.len, err) : status;
}

/* The data frame's content, but for the header's values. */
static nm_status build_raw(nm_trace_writer *writer, size_t header_bytes, nm_error *err)
{
    nm_buffer session = {0};
    nm_status status = nm_session_encode(&writer->session, &session, err);

    writer->raw.len = 0;
    nm_column_reset_cuts(writer->column_writer);
    if (status == NM_OK)
        status = nm_buffer_reserve(&writer->raw, header_bytes, err);
    if (status == NM_OK) {
        writer->raw.len = header_bytes;
        status = append_section(&writer->raw, (nm_bytes){session.data, session.len}, err);
    }
    if (status == NM_OK)
        status = append_section(&writer->raw, (nm_bytes){writer->definitions.data, writer->definitions.len}, err);
    if (status == NM_OK)
        status = append_kinds(writer, err);
    if (status == NM_OK)
        status = append_columns(writer, err);
    if (status == NM_OK)
        status = append_section(&writer->raw, (nm_bytes){writer->pending.data, writer->pending.len}, err);
    nm_buffer_free(&session);
    return status;
}

static void set_up_zstd(ZSTD_CCtx *zstd, size_t content_bytes)
{
    ZSTD_CCtx_reset(zstd, ZSTD_reset_session_and_parameters);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_windowLog, ZSTD_WINDOW_LOG);
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_setPledgedSrcSize(zstd, content_bytes);
}

/* Compresses `raw` behind `before` bytes of `block`. Each plane ends a zstd block, so that the next gets a Huffman table
 * of its own. */
static nm_status compress(nm_trace_writer *writer, size_t before, nm_error *err)
{
    size_t cut_count;
    const size_t *cuts = nm_column_cuts(writer->column_writer, &cut_count);
    size_t room = ZSTD_compressBound(writer->raw.len) + (cut_count + 1) * 16;
    nm_status status = nm_buffer_reserve(&writer->block, room, err);

    if (status != NM_OK)
        return status;
    set_up_zstd(writer->zstd, writer->raw.len);
    ZSTD_outBuffer out = {writer->block.data + before, writer->block.cap - before, 0};
    ZSTD_inBuffer in = {writer->raw.data, 0, 0};
    size_t left = 0;
    for (size_t i = 0; i <= cut_count && left == 0; i++) {
        in.size = i < cut_count ? cuts[i] : writer->raw.len;
        left = ZSTD_compressStream2(writer->zstd, &out, &in, i < cut_count ? ZSTD_e_flush : ZSTD_e_end);
    }
    if (left != 0) /* an error: there is room for all */
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "zstd cannot compress a block: %s",
                       ZSTD_isError(left) ? ZSTD_getErrorName(left) : "no room");
    writer->block.len = before + out.pos;
    return NM_OK;
}

static void begin_next_block(nm_trace_writer *writer)
{
    writer->block_index++;
    writer->first_seq += writer->event_count;
    writer->event_count = 0;
    writer->first_ns = writer->last_ns = NM_NO_TIME;
    writer->definitions.len = 0;
    writer->ranges.len = 0;
    writer->pending.len = 0;
    writer->value_count = 0;
    writer->kinds.count = 0;
    for (int i = 0; i < NM_FIELD_COUNT; i++)
        writer->columns[i].count = writer->columns[i].same_count = 0;
    memset(writer->kind_place, 0, sizeof writer->kind_place);
    writer->kind_count = 0;
    writer->block_stamp++;
}

nm_status nm_trace_writer_seal(nm_trace_writer *writer, uint32_t flags, nm_bytes *block, nm_error *err)
{
    nm_block_header header = {
        .version_minor = NM_TRACE_VERSION_MINOR,
        .flags = flags,
        .block_index = writer->block_index,
        .first_seq = writer->first_seq,
        .event_count = writer->event_count,
        .first_ns = writer->first_ns,
        .last_ns = writer->last_ns,
        .range_count = (uint32_t)(writer->ranges.len / NM_HEADER_RANGE_BYTES),
        .ranges = {writer->ranges.data, writer->ranges.len},
    };
    size_t header_bytes = nm_header_bytes(header.range_count);
    size_t before = NM_HEADER_FRAME_BYTES + header_bytes;

    memcpy(header.trace_id, writer->session.trace_id, sizeof header.trace_id);
    writer->block.len = 0;
    nm_status status = build_raw(writer, header_bytes, err);
    if (status == NM_OK && writer->raw.len > NM_BLOCK_RAW_BYTES_MAX)
        status = nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "a block of %zu bytes is over the limit", writer->raw.len);
    if (status == NM_OK) {
        header.raw_bytes = (uint32_t)writer->raw.len;
        nm_header_write(&header, writer->raw.data);
        status = nm_buffer_reserve(&writer->block, before, err);
    }
    if (status == NM_OK)
        writer->block.len = before;
    if (status == NM_OK)
        status = compress(writer, before, err);
    if (status != NM_OK)
        return status;

    header.frame_bytes = (uint32_t)(writer->block.len - before);
    header.frame_checksum = nm_checksum(writer->block.data + before, header.frame_bytes);
    nm_put_u32(writer->block.data, NM_BLOCK_MAGIC);
    nm_put_u32(writer->block.data + 4, (uint32_t)header_bytes);
    nm_header_write(&header, writer->block.data + NM_HEADER_FRAME_BYTES);
    *block = (nm_bytes){writer->block.data, writer->block.len};
    begin_next_block(writer);
    return NM_OK;
}
