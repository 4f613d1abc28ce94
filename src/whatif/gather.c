/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows come as allocations end, not in the order of their begin: nothing is looked up in another row here.
 */
#include "whatif/gather.h"

#include <stdlib.h>
#include <string.h>

enum { EMPTYING_STRING = 1, EMPTYING_FRAME };
enum { CALL_PARENT = 1, CALL_FRAME, CALL_INLINED_IN };

#define TEXT_BYTES_MAX  512 /* longer strings are no names of what matters here */
#define STACK_DEPTH_MAX 1024

/* ---- Definitions ------------------------------------------------------------------------------------------------- */

static bool is_noted(const nm_gather *gather, uint64_t kind, uint64_t id)
{
    const uint64_t *found = id == 0 ? NULL : nm_map_get(&gather->emptying, (nm_key){kind, id});

    return found != NULL && *found != 0;
}

/* The name, and no longer one: empty_cache_locked is what a pool calls on its own behalf, too. */
static bool has_name(nm_bytes text, const char *name)
{
    const uint8_t *end = text.data + text.len;
    const uint8_t *at = memmem(text.data, text.len, name, strlen(name));

    for (; at != NULL; at = memmem(at, (size_t)(end - at), name, strlen(name))) {
        at += strlen(name);
        if (at == end || !(*at == '_' || (*at >= 'a' && *at <= 'z') || (*at >= '0' && *at <= '9')))
            return true;
    }
    return false;
}

/* Keeps the string if it may be a name. */
static nm_status take_string(nm_gather *gather, const nm_definition *row, nm_error *err)
{
    nm_status status = NM_OK;

    if (row->string.len == 0 || row->string.len >= TEXT_BYTES_MAX)
        return NM_OK;
    if (has_name(row->string, "empty_cache") || has_name(row->string, "emptyCache"))
        status = nm_map_put(&gather->emptying, (nm_key){EMPTYING_STRING, row->id}, 1, err);
    if (status == NM_OK)
        status = nm_map_put(&gather->text_of, (nm_key){0, row->id}, gather->text.len + 1, err);
    if (status == NM_OK)
        status = nm_buffer_append(&gather->text, row->string.data, row->string.len, err);
    return status == NM_OK ? nm_buffer_append(&gather->text, "", 1, err) : status;
}

/* The text of the string; "" where it is not known. */
static const char *text_of(const nm_gather *gather, uint64_t id)
{
    const uint64_t *offset = id == 0 ? NULL : nm_map_get(&gather->text_of, (nm_key){0, id});

    return offset == NULL ? "" : (const char *)gather->text.data + (*offset - 1);
}

static void copy_text(char *out, size_t size, const char *text)
{
    size_t len = strnlen(text, size - 1);

    memcpy(out, text, len);
    out[len] = 0;
}

/* Index of what has the id: the one it has, or a new last one. */
static nm_status index_of(nm_map *map, uint64_t id, size_t *count, size_t *index, nm_error *err)
{
    const uint64_t *found = nm_map_get(map, (nm_key){0, id});

    if (found != NULL) {
        *index = (size_t)*found;
        return NM_OK;
    }
    if (*count >= UINT32_MAX - 1)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "more than 4 billion heaps or processes");
    *index = (*count)++;
    return nm_map_put(map, (nm_key){0, id}, *index, err);
}

static nm_status take_process(nm_gather *gather, const nm_definition *row, nm_error *err)
{
    size_t index = 0;
    nm_status status = nm_array_grow(&gather->processes.items, &gather->processes.capacity, gather->processes.count + 1,
                                     sizeof *gather->processes.items, err);

    if (status == NM_OK)
        status = index_of(&gather->process_of, row->id, &gather->processes.count, &index, err);
    if (status != NM_OK)
        return status;
    nm_gather_process *process = &gather->processes.items[index];

    process->process_id = row->id;
    process->pid = row->process.pid;
    process->rank = row->process.rank;
    process->is_late = row->process.is_late != 0;
    return NM_OK;
}

static nm_status take_device(nm_gather *gather, const nm_definition *row, nm_error *err)
{
    size_t index = 0;
    nm_status status = nm_array_grow(&gather->devices.items, &gather->devices.capacity, gather->devices.count + 1,
                                     sizeof *gather->devices.items, err);

    if (status == NM_OK)
        status = index_of(&gather->device_of, row->id, &gather->devices.count, &index, err);
    if (status != NM_OK)
        return status;
    nm_gather_device *device = &gather->devices.items[index];
    const char *kind = text_of(gather, row->device.device_kind);

    device->device_id = row->id;
    device->number = nm_shown_device(row);
    device->capacity_bytes = row->device.capacity_bytes;
    device->is_npu = strcmp(kind, "npu") == 0;
    device->is_gpu = strcmp(kind, "gpu") == 0;
    device->is_named = kind[0] != 0;
    return NM_OK;
}

static nm_status take_heap(nm_gather *gather, const nm_definition *row, nm_error *err)
{
    size_t index = 0;
    nm_status status = nm_array_grow(&gather->heaps.items, &gather->heaps.capacity, gather->heaps.count + 1,
                                     sizeof *gather->heaps.items, err);

    if (status == NM_OK)
        status = index_of(&gather->heap_of, row->id, &gather->heaps.count, &index, err);
    if (status != NM_OK)
        return status;
    nm_gather_heap *heap = &gather->heaps.items[index];

    heap->heap_id = row->id;
    heap->process_id = row->heap.process_id;
    heap->device_id = row->heap.device_id;
    heap->level = (nm_heap_level)row->heap.level;
    copy_text(heap->name, sizeof heap->name, text_of(gather, row->heap.name));
    return NM_OK;
}

static void take_attribute(nm_gather *gather, const nm_definition *row)
{
    const char *name = text_of(gather, row->attribute.name);
    const uint64_t *index = nm_map_get(&gather->process_of, (nm_key){0, row->attribute.process_id});

    if (index == NULL || row->attribute.source != NM_ATTRIBUTE_ENVIRONMENT)
        return;
    nm_gather_process *process = &gather->processes.items[*index];
    char *conf = strcmp(name, "PYTORCH_NPU_ALLOC_CONF") == 0    ? process->npu_conf
                 : strcmp(name, "PYTORCH_CUDA_ALLOC_CONF") == 0 ? process->cuda_conf
                 : strcmp(name, "PYTORCH_ALLOC_CONF") == 0      ? process->any_conf
                                                                : NULL;

    if (conf != NULL)
        copy_text(conf, NM_GATHER_CONF_BYTES, text_of(gather, row->attribute.value));
}

/* It may come again, with its name. */
static nm_status take_frame(nm_gather *gather, const nm_definition *row, nm_error *err)
{
    bool is_emptying = is_noted(gather, EMPTYING_STRING, row->frame.function);
    nm_status status = NM_OK;

    if (is_emptying || is_noted(gather, EMPTYING_FRAME, row->id))
        status = nm_map_put(&gather->emptying, (nm_key){EMPTYING_FRAME, row->id}, is_emptying, err);
    if (status == NM_OK && row->frame.inlined_in != 0)
        status = nm_map_put(&gather->calls, (nm_key){CALL_INLINED_IN, row->id}, row->frame.inlined_in, err);
    return status;
}

static nm_status take_stack(nm_gather *gather, const nm_definition *row, nm_error *err)
{
    nm_status status = nm_map_put(&gather->calls, (nm_key){CALL_PARENT, row->id}, row->stack.parent_id, err);

    return status == NM_OK ? nm_map_put(&gather->calls, (nm_key){CALL_FRAME, row->id}, row->stack.frame_id, err)
                           : status;
}

static uint64_t call_of(const nm_gather *gather, uint64_t kind, uint64_t id)
{
    const uint64_t *found = nm_map_get(&gather->calls, (nm_key){kind, id});

    return found == NULL ? 0 : *found;
}

uint64_t nm_gather_frame(const nm_gather *gather, uint64_t stack_id)
{
    return stack_id == 0 ? 0 : call_of(gather, CALL_FRAME, stack_id);
}

uint64_t nm_gather_caller(const nm_gather *gather, uint64_t stack_id)
{
    return nm_gather_frame(gather, call_of(gather, CALL_PARENT, stack_id));
}

bool nm_gather_is_emptying(const nm_gather *gather, uint64_t stack_id)
{
    int left = STACK_DEPTH_MAX; /* whatever refers to itself */

    for (; stack_id != 0 && left > 0; stack_id = call_of(gather, CALL_PARENT, stack_id))
        for (uint64_t frame_id = call_of(gather, CALL_FRAME, stack_id); frame_id != 0 && left-- > 0;
             frame_id = call_of(gather, CALL_INLINED_IN, frame_id))
            if (is_noted(gather, EMPTYING_FRAME, frame_id))
                return true;
    return false;
}

static nm_status take_definition(nm_gather *gather, const nm_definition *row, nm_error *err)
{
    switch ((nm_definition_kind)row->kind) {
    case NM_DEFINE_STRING:
        return take_string(gather, row, err);
    case NM_DEFINE_PROCESS:
        return take_process(gather, row, err);
    case NM_DEFINE_DEVICE:
        return take_device(gather, row, err);
    case NM_DEFINE_HEAP:
        return take_heap(gather, row, err);
    case NM_DEFINE_FRAME:
        return take_frame(gather, row, err);
    case NM_DEFINE_STACK:
        return take_stack(gather, row, err);
    case NM_DEFINE_ATTRIBUTE:
        take_attribute(gather, row);
        return NM_OK;
    default:
        return NM_OK;
    }
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static nm_gather_heap *heap_of(nm_gather *gather, uint64_t heap_id, uint32_t *index)
{
    const uint64_t *found = heap_id == 0 ? NULL : nm_map_get(&gather->heap_of, (nm_key){0, heap_id});

    if (found == NULL)
        return NULL;
    *index = (uint32_t)*found;
    return &gather->heaps.items[*found];
}

/* A small number for a large one: from 1. */
static nm_status number_of(nm_map *map, uint64_t value, uint32_t *number, nm_error *err)
{
    const uint64_t *found = nm_map_get(map, (nm_key){0, value});

    if (found != NULL) {
        *number = (uint32_t)*found;
        return NM_OK;
    }
    if (map->count >= UINT32_MAX - 1)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "more than 4 billion streams");
    *number = (uint32_t)map->count + 1;
    return nm_map_put(map, (nm_key){0, value}, *number, err);
}

static nm_status add_row(nm_gather_rows *rows, const nm_gather_row *row, nm_error *err)
{
    nm_status status = nm_array_grow(&rows->items, &rows->capacity, rows->count + 1, sizeof *rows->items, err);

    if (status == NM_OK)
        rows->items[rows->count++] = *row;
    return status;
}

static uint64_t place_of(int64_t seq)
{
    return (uint64_t)seq ^ UINT64_C(1) << 63;
}

nm_gather_like nm_gather_like_of(const nm_gather *gather, uint32_t number)
{
    nm_gather_like like;

    memcpy(&like, nm_strings_get(&gather->likes, number).data, sizeof like);
    return like;
}

static nm_status put_begin(nm_gather *gather, const nm_gather_row *row, nm_error *err)
{
    nm_journal_entry entry = {
        .place = place_of(row->alloc_seq),
        .segment_id = row->segment_id,
        .row = row->row,
        .kind = row->free_seq == row->alloc_seq                                ? NM_JOURNAL_MOMENTARY
                : row->free_seq != NM_NO_SEQ && row->free_seq < row->alloc_seq ? NM_JOURNAL_CONTRARY
                                                                               : NM_JOURNAL_ALLOCATED,
        .value = row->like,
    };

    return nm_journal_put(&gather->journal, &entry, err);
}

static nm_status put_end(nm_gather *gather, const nm_gather_row *row, nm_error *err)
{
    int64_t asked = row->free_requested_seq;
    bool is_odd = asked != NM_NO_SEQ && ((row->alloc_seq != NM_NO_SEQ && asked <= row->alloc_seq) ||
                                         (row->free_seq != NM_NO_SEQ && asked >= row->free_seq));
    nm_journal_entry entry = {.place = place_of(asked), .row = row->row, .kind = NM_JOURNAL_FREE_REQUESTED};
    nm_status status = NM_OK;

    entry.value = is_odd ? row->like + 1 : 0;
    if (asked != NM_NO_SEQ)
        status = nm_journal_put(&gather->journal, &entry, err);
    entry.place = place_of(row->free_seq);
    entry.kind = NM_JOURNAL_FREED;
    entry.value = asked != NM_NO_SEQ;
    return status == NM_OK && row->free_seq != NM_NO_SEQ ? nm_journal_put(&gather->journal, &entry, err) : status;
}

/* A block of a pool or a workspace. */
static nm_status take_block(nm_gather *gather, nm_gather_row *row, nm_error *err)
{
    nm_gather_like common = {row->requested_bytes, row->block_bytes, row->heap,
                             row->stream,          row->pool,        row->is_exported};
    nm_status status =
        nm_strings_intern(&gather->likes, (nm_bytes){(const uint8_t *)&common, sizeof common}, &row->like, err);

    if (status != NM_OK)
        return status;
    if (gather->block_count >= UINT32_MAX - 1 || row->like > NM_JOURNAL_VALUE_MAX)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "more than 4 billion allocations");
    row->row = gather->block_count++;
    status = row->alloc_seq == NM_NO_SEQ ? add_row(&gather->baseline, row, err) : put_begin(gather, row, err);
    bool is_momentary = row->alloc_seq != NM_NO_SEQ && row->free_seq == row->alloc_seq;
    return status == NM_OK && !is_momentary ? put_end(gather, row, err) : status;
}

static nm_status take_allocation(nm_gather *gather, const nm_allocation_row *row, nm_error *err)
{
    nm_gather_row kept = {
        .alloc_seq = row->alloc_seq,
        .free_seq = row->free_seq,
        .free_requested_seq = row->free_requested_seq,
        .address = row->address,
        .requested_bytes = row->requested_bytes,
        .block_bytes = row->block_bytes,
        .allocation_id = row->allocation_id,
        .segment_id = row->segment_id,
        .is_segment = row->is_segment,
        .is_mapped = row->is_mapped,
        .is_exported = row->is_exported,
        .is_remainder = row->split_from_id != 0 && row->alloc_seq != NM_NO_SEQ,
        .stack_id = row->stack_id,
        .free_stack_id = row->free_stack_id,
    };
    nm_gather_heap *heap = heap_of(gather, row->heap_id, &kept.heap);
    nm_status status = NM_OK;

    if (heap == NULL ||
        (heap->level != NM_LEVEL_POOL && heap->level != NM_LEVEL_WORKSPACE && heap->level != NM_LEVEL_DRIVER))
        return NM_OK;
    heap->block_count++;
    if (row->has_stream)
        status = number_of(&gather->stream_of, row->stream, &kept.stream, err);
    if (status == NM_OK && row->private_pool != 0)
        status = number_of(&gather->pool_of, row->private_pool, &kept.pool, err);
    if (status != NM_OK)
        return status;
    return heap->level == NM_LEVEL_DRIVER ? add_row(&gather->ranges, &kept, err) : take_block(gather, &kept, err);
}

static nm_status take_failure(nm_gather *gather, const nm_failure_row *row, nm_error *err)
{
    nm_gather_failure kept = {.seq = row->seq, .requested_bytes = row->requested_bytes, .stack_id = row->stack_id};
    nm_status status = NM_OK;

    if (heap_of(gather, row->heap_id, &kept.heap) == NULL)
        return NM_OK;
    if (row->has_stream)
        status = number_of(&gather->stream_of, row->stream, &kept.stream, err);
    if (status == NM_OK)
        status = nm_array_grow(&gather->failures.items, &gather->failures.capacity, gather->failures.count + 1,
                               sizeof *gather->failures.items, err);
    if (status == NM_OK)
        gather->failures.items[gather->failures.count++] = kept;
    return status;
}

static nm_status take_step(nm_gather *gather, const nm_step_row *row, nm_error *err)
{
    nm_status status = nm_array_grow(&gather->steps.items, &gather->steps.capacity, gather->steps.count + 1,
                                     sizeof *gather->steps.items, err);

    if (status == NM_OK)
        gather->steps.items[gather->steps.count++] = (nm_gather_step){row->process_id, row->begin_seq};
    return status;
}

static void take_heap_total(nm_gather *gather, const nm_heap_total_row *row)
{
    uint32_t index;
    nm_gather_heap *heap = heap_of(gather, row->heap_id, &index);

    if (heap == NULL)
        return;
    heap->peak_bytes = row->peak_bytes;
    heap->has_reserved = row->reserved_source == NM_RESERVED_SEGMENTS;
    heap->peak_reserved_bytes = row->peak_reserved_bytes;
    heap->reserved_bytes = row->reserved_bytes;
}

static void take_hit(nm_gather *gather, const nm_hit_row *row)
{
    uint32_t index;
    nm_gather_heap *heap = heap_of(gather, row->heap_id, &index);

    if (heap != NULL) {
        heap->served_count += row->allocation_count;
        heap->miss_count += row->miss_count;
    }
}

static void take_baseline(nm_gather *gather, const nm_baseline_row *row)
{
    gather->has_unknown_baseline = row->kind == NM_BASELINE_UNKNOWN;
}

static void take_pause(nm_gather *gather, const nm_pause_row *row)
{
    const uint64_t *index = nm_map_get(&gather->process_of, (nm_key){0, row->process_id});

    if (index != NULL && !row->is_memory_told)
        gather->processes.items[*index].has_pause = true;
}

/* What the device says that it has, where its definition does not. */
static void take_memory_sample(nm_gather *gather, const nm_memory_sample_row *row)
{
    const uint64_t *index = nm_map_get(&gather->device_of, (nm_key){0, row->device_id});

    if (index != NULL && row->kind == NM_MEMORY_HBM && gather->devices.items[*index].capacity_bytes == 0)
        gather->devices.items[*index].capacity_bytes = row->total_bytes;
}

static nm_status take_row(void *context, nm_row_kind kind, const void *row, nm_error *err)
{
    switch (kind) {
    case NM_ROW_DEFINITION:
        return take_definition(context, row, err);
    case NM_ROW_ALLOCATION:
        return take_allocation(context, row, err);
    case NM_ROW_FAILURE:
        return take_failure(context, row, err);
    case NM_ROW_STEP:
        return take_step(context, row, err);
    case NM_ROW_HEAP_TOTAL:
        take_heap_total(context, row);
        return NM_OK;
    case NM_ROW_HIT:
        take_hit(context, row);
        return NM_OK;
    case NM_ROW_BASELINE:
        take_baseline(context, row);
        return NM_OK;
    case NM_ROW_PAUSE:
        take_pause(context, row);
        return NM_OK;
    case NM_ROW_MEMORY_SAMPLE:
        take_memory_sample(context, row);
        return NM_OK;
    default:
        return NM_OK; /* not wanted */
    }
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

nm_status nm_gather_new(nm_gather **out, nm_error *err)
{
    nm_gather *gather = calloc(1, sizeof *gather);

    *out = gather;
    if (gather == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    gather->sink = (nm_sink){
        .context = gather,
        .row = take_row,
        .wants =
            {
                [NM_ROW_DEFINITION] = true,
                [NM_ROW_ALLOCATION] = true,
                [NM_ROW_FAILURE] = true,
                [NM_ROW_STEP] = true,
                [NM_ROW_HEAP_TOTAL] = true,
                [NM_ROW_HIT] = true,
                [NM_ROW_BASELINE] = true,
                [NM_ROW_PAUSE] = true,
                [NM_ROW_MEMORY_SAMPLE] = true,
            },
    };
    return NM_OK;
}

void nm_gather_free(nm_gather *gather)
{
    if (gather == NULL)
        return;
    free(gather->processes.items);
    free(gather->devices.items);
    free(gather->heaps.items);
    free(gather->baseline.items);
    nm_journal_free(&gather->journal);
    nm_strings_free(&gather->likes);
    free(gather->ranges.items);
    free(gather->failures.items);
    free(gather->steps.items);
    nm_map_free(&gather->process_of);
    nm_map_free(&gather->device_of);
    nm_map_free(&gather->heap_of);
    nm_map_free(&gather->stream_of);
    nm_map_free(&gather->pool_of);
    nm_map_free(&gather->text_of);
    nm_map_free(&gather->emptying);
    nm_map_free(&gather->calls);
    nm_buffer_free(&gather->text);
    free(gather);
}

const nm_sink *nm_gather_sink(nm_gather *gather)
{
    return &gather->sink;
}

const nm_gather_process *nm_gather_process_of(const nm_gather *gather, const nm_gather_heap *heap)
{
    const uint64_t *index = nm_map_get(&gather->process_of, (nm_key){0, heap->process_id});

    return index == NULL ? NULL : &gather->processes.items[*index];
}

size_t nm_gather_largest_pool(const nm_gather *gather)
{
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < gather->heaps.count; i++) {
        const nm_gather_heap *heap = &gather->heaps.items[i];

        if (heap->level == NM_LEVEL_POOL && heap->block_count > 0 &&
            (best == SIZE_MAX || heap->peak_bytes > gather->heaps.items[best].peak_bytes))
            best = i;
    }
    return best;
}
