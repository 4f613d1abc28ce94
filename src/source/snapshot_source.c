/* SPDX-License-Identifier: Apache-2.0
 *
 * The source for memory snapshots of PyTorch and torch_npu. While it is opened the file is read: that checks it whole, collects
 * names, the state at the end and the annotations, finds out what the baseline was, and keeps the entries of the trace
 * (snapshot_kept.h). Where these are too many, the file is read again for them. An input that cannot be read twice is copied
 * to an unlinked file first.
 *
 * Numbers: strings, frames and stacks as the tables number them; one process; device n of those that occur is n, its
 * heaps are 3n - 2 (driver), 3n - 1 (pool) and 3n (workspace). Host memory counts as the last of them, with a heap 3n - 1 of
 * pinned memory. No thread: a snapshot names none.
 *
 * Every entry of a trace takes one seq. The traces of several devices are one stream, in the order of their times, each in its own
 * order; for that their entries are kept. Where one has no time nobody knows what came between what: each device is a process
 * of its own, and a seq is a place in the file. What is no entry takes none: the
 * baseline, the state at the end, and the external annotations, which carry the seq of the entry they stand in front of
 * (of no entry after the last; ranges that were over before the first, while memory was in use, are left out). Three
 * entries that describe a workspace block at the time of writing are entries too, but nothing that happened: they give a
 * baseline allocation, and at their place nothing. An entry whose action is unknown becomes a mark with the action's name.
 * An `annotate` entry is a range that ends where it begins.
 *
 * Where blocks of a device lie outside of all its segments, the file contradicts itself: the blocks are delivered, and of
 * segments nothing is, so that what is made of both (reserved memory, fragmentation, misses) is not known.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "source/input.h"
#include "source/snapshot_baseline.h"
#include "source/snapshot_kept.h"
#include "source/snapshot_reader.h"
#include "source/source.h"

#define ERROR_OOM_NPU   207001 /* ACL_ERROR_RT_MEMORY_ALLOCATION */
#define ERROR_OOM_GPU   2      /* cudaErrorMemoryAllocation */
#define PROTOCOL_BYTE   0x80
#define PROTOCOLS_LATER 16 /* a first byte of this many protocols is taken for a pickle */

typedef enum dialect { DIALECT_UNKNOWN, DIALECT_TORCH, DIALECT_CUDA, DIALECT_NPU } dialect;

/* What is delivered, in this order. */
typedef enum phase {
    PHASE_STRINGS,
    PHASE_FRAMES,
    PHASE_STACKS,
    PHASE_PROCESS,
    PHASE_DEVICES,
    PHASE_BASELINE,
    PHASE_NOTES,
    PHASE_ENTRIES,
    PHASE_STATE,
    PHASE_END,
} phase;

typedef struct merged_entry {
    nm_snapshot_entry entry;
    int64_t time_us; /* no less than that of the one before it in its trace */
    size_t place;    /* in the file */
} merged_entry;

typedef struct snapshot_source {
    nm_source base;
    nm_input *input;

    nm_snapshot_tables tables;
    nm_snapshot_state_list list;
    nm_snapshot_baseline baseline;
    nm_snapshot_kept kept;
    nm_snapshot_reader *reader; /* once it is open: NULL where the entries are kept */
    dialect dialect;
    uint64_t entry_count; /* found by the first pass */
    int64_t base_us;      /* of time 0 */
    bool has_times;
    size_t string_count, stack_count; /* found by the first pass */
    struct {
        uint32_t *items; /* device number -> n, 0 where the device does not occur */
        size_t count, capacity;
    } devices;
    bool is_apart, is_merged; /* several traces: without times, or one stream of them all */
    struct {
        merged_entry *items; /* owned; filled when the first is asked for */
        size_t count, capacity;
    } merged;
    size_t merged_at;
    uint32_t process_count;
    uint32_t name_kind, name_driver, name_pool, name_workspace, name_pinned; /* strings */

    phase phase;
    size_t at;       /* in the phase: what comes next */
    size_t block_at; /* PHASE_STATE: in the segment */
    unsigned part;   /* PHASE_DEVICES: of the device */
    size_t annotation_at;
    uint64_t seq;            /* of the next entry */
    uint64_t pinned_bytes;   /* of torch's pool of pinned memory: in its segments */
    uint64_t blocks_outside; /* delivered: in none of the segments that the file speaks of */
    nm_snapshot_entry entry;
    bool has_entry, is_second_half; /* `entry` waits; its first half has been delivered */
} snapshot_source;

typedef nm_status deliver(snapshot_source *source, nm_record *out, nm_error *err);

/* ---- Definitions ------------------------------------------------------------------------------------------------- */

static nm_status next_string(snapshot_source *source, nm_record *out, nm_error *err)
{
    (void)err;
    if (source->at >= source->string_count)
        return NM_END;
    out->definition.kind = NM_DEFINE_STRING;
    out->definition.id = ++source->at;
    out->definition.string = nm_strings_get(&source->tables.strings, (uint32_t)source->at);
    return NM_OK;
}

static nm_status next_frame(snapshot_source *source, nm_record *out, nm_error *err)
{
    (void)err;
    if (source->at >= source->tables.frames.count)
        return NM_END;
    const nm_snapshot_frame *frame = &source->tables.frames.items[source->at++];
    out->definition.kind = NM_DEFINE_FRAME;
    out->definition.id = source->at;
    out->definition.frame.function = frame->function;
    out->definition.frame.file = frame->file;
    out->definition.frame.line = frame->line;
    return NM_OK;
}

static nm_status next_stack(snapshot_source *source, nm_record *out, nm_error *err)
{
    (void)err;
    if (source->at >= source->stack_count)
        return NM_END;
    const nm_snapshot_stack *stack = &source->tables.stacks.items[source->at++];
    out->definition.kind = NM_DEFINE_STACK;
    out->definition.id = source->at;
    out->definition.stack.parent_id = stack->parent;
    out->definition.stack.frame_id = stack->frame;
    return NM_OK;
}

static nm_status next_process(snapshot_source *source, nm_record *out, nm_error *err)
{
    (void)err;
    if (source->at++ >= source->process_count)
        return NM_END;
    out->definition.kind = NM_DEFINE_PROCESS;
    out->definition.id = source->at;
    out->definition.process.pid = NM_UNKNOWN_NUMBER;
    out->definition.process.rank = NM_UNKNOWN_NUMBER;
    out->definition.process.local_rank = NM_UNKNOWN_NUMBER;
    out->definition.process.world_size = NM_UNKNOWN_NUMBER;
    out->definition.process.run_mode = NM_UNKNOWN_NUMBER;
    out->definition.process.begin_ns = NM_NO_TIME;
    return NM_OK;
}

static uint64_t heap_of(const snapshot_source *source, uint32_t device, nm_heap_level level)
{
    uint64_t number = source->devices.items[device];

    return 3 * number - (level == NM_LEVEL_DRIVER ? 2 : level == NM_LEVEL_POOL ? 1 : 0);
}

static uint64_t process_of(const snapshot_source *source, uint32_t device)
{
    return source->is_apart && device != NM_SNAPSHOT_HOST ? source->devices.items[device] : 1;
}

static void define_device(const snapshot_source *source, uint32_t device, nm_definition *out)
{
    out->kind = NM_DEFINE_DEVICE;
    out->id = source->devices.items[device];
    out->device.process_id = process_of(source, device);
    out->device.ordinal = device;
    out->device.physical_ordinal = NM_UNKNOWN_NUMBER;
    out->device.device_kind = source->name_kind;
}

static void define_heap(const snapshot_source *source, uint32_t device, nm_heap_level level, nm_definition *out)
{
    out->kind = NM_DEFINE_HEAP;
    out->id = heap_of(source, device, level);
    out->heap.process_id = process_of(source, device);
    out->heap.device_id = device == NM_SNAPSHOT_HOST ? 0 : source->devices.items[device];
    out->heap.level = device == NM_SNAPSHOT_HOST ? NM_LEVEL_PINNED : level;
    out->heap.name = device == NM_SNAPSHOT_HOST ? source->name_pinned
                     : level == NM_LEVEL_DRIVER ? source->name_driver
                     : level == NM_LEVEL_POOL   ? source->name_pool
                                                : source->name_workspace;
    out->heap.size_basis = level == NM_LEVEL_DRIVER ? NM_BASIS_BLOCK : NM_BASIS_REQUESTED;
    if (out->heap.level == NM_LEVEL_POOL && !source->list.has_cut_settings)
        out->heap.block_cut =
            source->dialect == DIALECT_CUDA || source->dialect == DIALECT_TORCH ? NM_CUT_TORCH : NM_CUT_TORCH_NPU;
}

/* For each device that occurs: itself, its driver heap, its pool, and its workspace if it has one. */
static nm_status next_device(snapshot_source *source, nm_record *out, nm_error *err)
{
    static const nm_heap_level levels[] = {NM_LEVEL_DRIVER, NM_LEVEL_POOL, NM_LEVEL_WORKSPACE};

    (void)err;
    while (source->at < source->devices.count) {
        uint32_t device = (uint32_t)source->at;
        const nm_baseline_device *info = &source->baseline.devices.items[device];
        unsigned part = source->part++;

        if (device == NM_SNAPSHOT_HOST && info->is_used && part < 2)
            continue;
        if (!info->is_used || part > 3 || (part == 3 && !info->has_workspace)) {
            source->at++;
            source->part = 0;
            continue;
        }
        if (part == 0)
            define_device(source, device, &out->definition);
        else
            define_heap(source, device, levels[part - 1], &out->definition);
        return NM_OK;
    }
    return NM_END;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static int64_t time_of(const snapshot_source *source, bool has_time, int64_t time_us)
{
    return has_time ? (time_us - source->base_us) * 1000 : NM_NO_TIME;
}

/* Is what the file says of the device's segments to be left out? */
static bool is_contradictory(const snapshot_source *source, uint32_t device)
{
    return source->baseline.devices.items[device].is_contradictory;
}

static void count_outside(snapshot_source *source, uint32_t device, uint64_t address)
{
    source->blocks_outside += nm_snapshot_baseline_is_outside(&source->baseline, device, address);
}

static bool is_pool_segment(const nm_baseline_item *item)
{
    return item->kind == NM_BASELINE_SEGMENT || item->kind == NM_BASELINE_MAPPED;
}

/* Of torch's pool of pinned memory: what it then holds, as it were its own word. Segments of the host are no device's. */
static nm_event pinned_event(snapshot_source *source, uint64_t seq, int64_t time_ns, uint64_t more_bytes,
                             uint64_t less_bytes)
{
    source->pinned_bytes = nm_subtract_saturated(nm_add_saturated(source->pinned_bytes, more_bytes), less_bytes);
    return (nm_event){
        .kind = NM_EVENT_RESERVED,
        .seq = seq,
        .time_ns = time_ns,
        .heap_id = heap_of(source, NM_SNAPSHOT_HOST, NM_LEVEL_POOL),
        .block_bytes = source->pinned_bytes,
    };
}

static nm_status next_baseline(snapshot_source *source, nm_record *out, nm_error *err)
{
    const nm_baseline_item *item;

    (void)err;
    do {
        if (source->at >= source->baseline.items.count)
            return NM_END;
        item = &source->baseline.items.items[source->at++];
    } while (is_pool_segment(item) && is_contradictory(source, item->device));

    out->kind = NM_RECORD_EVENT;
    if (item->device == NM_SNAPSHOT_HOST && is_pool_segment(item)) {
        out->event = pinned_event(source, 0, NM_NO_TIME, item->size_bytes, 0);
        out->event.flags = NM_FLAG_BASELINE;
        return NM_OK;
    }
    bool is_driver = item->kind <= NM_BASELINE_WORKSPACE_SEGMENT;
    if (item->kind == NM_BASELINE_BLOCK)
        count_outside(source, item->device, item->address);
    bool is_workspace = item->kind == NM_BASELINE_WORKSPACE;
    nm_heap_level level = is_driver ? NM_LEVEL_DRIVER : is_workspace ? NM_LEVEL_WORKSPACE : NM_LEVEL_POOL;
    out->event = (nm_event){
        .kind = item->kind == NM_BASELINE_MAPPED ? NM_EVENT_MAP : NM_EVENT_ALLOC,
        .time_ns = NM_NO_TIME,
        .flags = NM_FLAG_BASELINE | (item->has_stream ? NM_FLAG_STREAM : 0) |
                 (is_pool_segment(item) ? NM_FLAG_SEGMENT : 0) | (item->is_pending ? NM_FLAG_PENDING : 0),
        .heap_id = heap_of(source, item->device, level),
        .address = item->address,
        .requested_bytes = item->kind == NM_BASELINE_MAPPED ? 0 : item->size_bytes,
        .block_bytes = item->block_bytes,
        .stack_id = item->stack,
        .stream = item->stream,
        .policy = is_driver || item->device == NM_SNAPSHOT_HOST ? NM_POLICY_UNKNOWN : item->pool,
    };
    return NM_OK;
}

/* What the file holds beyond what is known of such files. */
static nm_status next_note(snapshot_source *source, nm_record *out, nm_error *err)
{
    (void)err;
    if (source->at++ > 0 || source->list.unknown_count == 0)
        return NM_END;
    out->kind = NM_RECORD_EVENT;
    out->event = (nm_event){.kind = NM_EVENT_NOTE,
                            .time_ns = NM_NO_TIME,
                            .name_id = source->list.unknown_part,
                            .detail = NM_NOTE_UNREAD_PART,
                            .number = source->list.unknown_count};
    return NM_OK;
}

/* How the actions of a trace are called here; those that are not listed are marks. */
static const struct {
    nm_event_kind kind;
    nm_heap_level level;
    bool has_requested, has_block; /* size goes there */
    uint64_t flags;
} actions[] = {
    [NM_SNAPSHOT_ALLOC] = {NM_EVENT_ALLOC, NM_LEVEL_POOL, true, false, 0},
    [NM_SNAPSHOT_FREE_REQUESTED] = {NM_EVENT_FREE_REQUESTED, NM_LEVEL_POOL, false, false, 0},
    [NM_SNAPSHOT_FREE_COMPLETED] = {NM_EVENT_FREE, NM_LEVEL_POOL, false, false, 0},
    [NM_SNAPSHOT_FREE] = {NM_EVENT_FREE, NM_LEVEL_POOL, false, false, 0},
    [NM_SNAPSHOT_SEGMENT_ALLOC] = {NM_EVENT_ALLOC, NM_LEVEL_DRIVER, true, true, NM_FLAG_SEGMENT},
    [NM_SNAPSHOT_SEGMENT_FREE] = {NM_EVENT_FREE, NM_LEVEL_DRIVER, false, false, 0},
    [NM_SNAPSHOT_SEGMENT_MAP] = {NM_EVENT_MAP, NM_LEVEL_DRIVER, false, true, NM_FLAG_SEGMENT},
    [NM_SNAPSHOT_SEGMENT_UNMAP] = {NM_EVENT_UNMAP, NM_LEVEL_DRIVER, false, true, 0},
    [NM_SNAPSHOT_OOM] = {NM_EVENT_ALLOC_FAILED, NM_LEVEL_POOL, true, false, 0},
    [NM_SNAPSHOT_WORKSPACE] = {0, 0, false, false, 0},
};

static int64_t oom_code(const snapshot_source *source)
{
    return source->dialect == DIALECT_NPU    ? ERROR_OOM_NPU
           : source->dialect == DIALECT_CUDA ? ERROR_OOM_GPU
                                             : NM_UNKNOWN_NUMBER;
}

static nm_event event_of(const snapshot_source *source, const nm_snapshot_entry *entry)
{
    nm_event_kind kind = actions[entry->action].kind;
    nm_event event = {
        .seq = source->seq,
        .kind = kind != NM_EVENT_NONE ? kind : NM_EVENT_MARK,
        .time_ns = time_of(source, entry->has_time, entry->time_us),
    };

    if (kind == NM_EVENT_NONE) {
        event.name_id = entry->action_text;
        return event;
    }
    event.flags = actions[entry->action].flags | (entry->has_stream ? NM_FLAG_STREAM : 0);
    event.heap_id = heap_of(source, entry->device, actions[entry->action].level);
    event.address = kind == NM_EVENT_ALLOC_FAILED ? 0 : entry->address;
    event.requested_bytes = actions[entry->action].has_requested ? entry->size_bytes : 0;
    event.block_bytes = actions[entry->action].has_block ? entry->size_bytes : 0;
    event.stack_id = entry->stack;
    event.name_id = kind == NM_EVENT_ALLOC ? entry->category : 0;
    event.stream = entry->stream;
    if (actions[entry->action].level == NM_LEVEL_DRIVER || entry->device == NM_SNAPSHOT_HOST)
        event.policy = NM_POLICY_UNKNOWN; /* a pool's number is something else */
    else if (actions[entry->action].level == NM_LEVEL_POOL && actions[entry->action].has_requested)
        event.policy = entry->pool;
    if (kind == NM_EVENT_ALLOC_FAILED) {
        event.free_bytes = entry->device_free_bytes;
        event.flags |= entry->has_device_free ? NM_FLAG_FREE_KNOWN : 0;
        event.error_code = oom_code(source);
    }
    return event;
}

static nm_event range_event(const snapshot_source *source, bool is_end, uint64_t name, uint32_t device, int64_t number)
{
    bool is_known = device < source->devices.count && source->devices.items[device] != 0;

    return (nm_event){
        .seq = source->seq,
        .kind = is_end ? NM_EVENT_RANGE_END : NM_EVENT_RANGE_BEGIN,
        .name_id = is_end ? 0 : name,
        .number = number,
        .detail = is_end ? 0 : NM_RANGE_ANNOTATION,
        .device_id = is_known ? source->devices.items[device] : 0,
    };
}

static nm_event annotation_event(const snapshot_source *source, const nm_snapshot_annotation *annotation)
{
    nm_event event = range_event(source, annotation->is_end, annotation->name, annotation->device, annotation->number);

    event.time_ns = time_of(source, annotation->has_time, annotation->time_us);
    return event;
}

/* Is the next annotation to be delivered before the entry that waits? They are in order of device and time, or of time alone, as
 * the entries are; without times there is no place for them but the end. */
static bool annotation_comes_first(snapshot_source *source)
{
    while (source->annotation_at < source->list.annotations.count &&
           source->list.annotations.items[source->annotation_at].is_left_out)
        source->annotation_at++;
    if (source->annotation_at >= source->list.annotations.count)
        return false;
    if (!source->has_entry)
        return true;

    const nm_snapshot_annotation *annotation = &source->list.annotations.items[source->annotation_at];
    if (!source->entry.has_time || !annotation->has_time)
        return false;
    if (!source->is_merged && annotation->device != source->entry.device)
        return annotation->device < source->entry.device;
    return annotation->time_us <= source->entry.time_us;
}

static int compare_merged(const void *left, const void *right)
{
    const merged_entry *a = left;
    const merged_entry *b = right;

    if (a->time_us != b->time_us)
        return a->time_us < b->time_us ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

/* In the order of the file. */
static nm_status next_of_file(snapshot_source *source, nm_snapshot_entry *entry, nm_error *err)
{
    if (source->reader != NULL)
        return nm_snapshot_reader_next(source->reader, entry, err);
    return nm_snapshot_kept_next(&source->kept, entry) ? NM_OK : NM_END;
}

/* How far the file has been read, or where it would be. */
static uint64_t position_of(const snapshot_source *source)
{
    if (source->reader != NULL)
        return nm_snapshot_reader_offset(source->reader);
    return source->kept.bytes.len == 0 ? nm_input_size(source->input)
                                       : (uint64_t)((double)nm_input_size(source->input) * (double)source->kept.at /
                                                    (double)source->kept.bytes.len);
}

/* Reads all entries, and puts them in order: traces stand one behind the other. NM_END: it is done. */
static nm_status merge_entries(snapshot_source *source, nm_error *err)
{
    merged_entry next = {0};
    nm_status status;

    while ((status = next_of_file(source, &next.entry, err)) == NM_OK) {
        size_t count = source->merged.count;
        const merged_entry *last = count == 0 ? NULL : &source->merged.items[count - 1];
        bool is_same = last != NULL && last->entry.device == next.entry.device;

        next.time_us = is_same && last->time_us > next.entry.time_us ? last->time_us : next.entry.time_us;
        next.place = count;
        status = nm_array_grow(&source->merged.items, &source->merged.capacity, count + 1, sizeof next, err);
        if (status != NM_OK)
            return status;
        source->merged.items[source->merged.count++] = next;
    }
    if (status == NM_END && source->merged.count > 0)
        qsort(source->merged.items, source->merged.count, sizeof next, compare_merged);
    return status;
}

static nm_status next_in_order(snapshot_source *source, nm_error *err)
{
    nm_status status = NM_END;

    if (!source->is_merged)
        return next_of_file(source, &source->entry, err);
    if (source->merged.items == NULL)
        status = merge_entries(source, err);
    if (status == NM_END && source->merged_at < source->merged.count) {
        source->entry = source->merged.items[source->merged_at++].entry;
        return NM_OK;
    }
    return status;
}

static nm_status read_entry(snapshot_source *source, nm_error *err)
{
    nm_status status = next_in_order(source, err);

    if (status == NM_END && source->seq != source->entry_count)
        return nm_fail(err, NM_ERR_FORMAT, nm_input_size(source->input), "the file changed while it was read");
    if (status != NM_OK)
        return status == NM_END ? NM_OK : status;
    if (source->seq >= source->entry_count || source->tables.stacks.count != source->stack_count ||
        source->tables.strings.count != source->string_count || source->entry.device >= source->devices.count ||
        source->devices.items[source->entry.device] == 0)
        return nm_fail(err, NM_ERR_FORMAT, position_of(source), "the file changed while it was read");
    source->has_entry = true;
    return NM_OK;
}

/* An `annotate` entry: two events at one place. */
static nm_event annotate_event(snapshot_source *source)
{
    const nm_snapshot_entry *entry = &source->entry;
    int64_t number = (int64_t)(source->list.annotations.count + 1 + source->seq);
    nm_event event = range_event(source, source->is_second_half, entry->action_text, entry->device, number);

    event.time_ns = time_of(source, entry->has_time, entry->time_us);
    source->is_second_half = !source->is_second_half;
    return event;
}

static bool is_of_segment(const nm_snapshot_entry *entry)
{
    return actions[entry->action].kind != NM_EVENT_NONE && actions[entry->action].level == NM_LEVEL_DRIVER;
}

static nm_event entry_event(snapshot_source *source)
{
    const nm_snapshot_entry *entry = &source->entry;

    if (entry->action == NM_SNAPSHOT_ANNOTATE)
        return annotate_event(source);
    if (entry->device != NM_SNAPSHOT_HOST || !is_of_segment(entry))
        return event_of(source, entry);
    bool is_more = entry->action == NM_SNAPSHOT_SEGMENT_ALLOC || entry->action == NM_SNAPSHOT_SEGMENT_MAP;

    return pinned_event(source, source->seq, time_of(source, entry->has_time, entry->time_us),
                        is_more ? entry->size_bytes : 0, is_more ? 0 : entry->size_bytes);
}

static nm_status next_entry(snapshot_source *source, nm_record *out, nm_error *err)
{
    nm_status status = NM_OK;

    out->kind = NM_RECORD_EVENT;
    while (status == NM_OK) {
        if (!source->has_entry)
            status = read_entry(source, err);
        if (status == NM_OK && annotation_comes_first(source)) {
            out->event = annotation_event(source, &source->list.annotations.items[source->annotation_at++]);
            return NM_OK;
        }
        if (status != NM_OK || !source->has_entry)
            break;

        bool is_silent = source->entry.is_workspace ||
                         (is_of_segment(&source->entry) && is_contradictory(source, source->entry.device));
        if (source->entry.action == NM_SNAPSHOT_ALLOC && !source->entry.is_workspace)
            count_outside(source, source->entry.device, source->entry.address);
        out->event = entry_event(source);
        if (source->is_second_half)
            return NM_OK;
        source->has_entry = false;
        source->seq++;
        if (!is_silent)
            return NM_OK;
    }
    return status != NM_OK ? status : NM_END;
}

/* ---- The state at the end ---------------------------------------------------------------------------------------- */

static nm_event segment_event(const snapshot_source *source, const nm_snapshot_segment *segment)
{
    uint64_t occupied = 0;

    for (size_t i = 0; i < segment->block_count; i++) {
        const nm_snapshot_block *block = &source->list.blocks.items[segment->first_block + i];
        occupied += block->state != NM_SNAPSHOT_INACTIVE ? block->size_bytes : 0;
    }
    return (nm_event){
        .kind = NM_EVENT_STATE_SEGMENT,
        .address = segment->address,
        .block_bytes = segment->total_bytes,
        .size_bytes = occupied,
        .stack_id = segment->stack,
    };
}

static nm_event block_event(const nm_snapshot_block *block)
{
    return (nm_event){
        .kind = NM_EVENT_STATE_BLOCK,
        .flags = block->state == NM_SNAPSHOT_INACTIVE  ? NM_FLAG_IDLE
                 : block->state == NM_SNAPSHOT_PENDING ? NM_FLAG_PENDING
                                                       : 0,
        .address = block->address,
        .block_bytes = block->size_bytes,
        .requested_bytes = block->state == NM_SNAPSHOT_INACTIVE ? 0 : block->requested_bytes, /* idle: of its past */
        .stack_id = block->stack,
    };
}

static bool is_unbelieved(const snapshot_source *source, const nm_snapshot_segment *segment)
{
    return segment->device == NM_SNAPSHOT_HOST || (!segment->is_workspace && is_contradictory(source, segment->device));
}

/* Each segment, and after it its blocks. Both name the heap that the blocks belong to. */
static nm_status next_state(snapshot_source *source, nm_record *out, nm_error *err)
{
    (void)err;
    while (source->at < source->list.segments.count && is_unbelieved(source, &source->list.segments.items[source->at]))
        source->at++;
    if (source->at >= source->list.segments.count)
        return NM_END;

    const nm_snapshot_segment *segment = &source->list.segments.items[source->at];
    nm_event event = source->block_at == 0
                         ? segment_event(source, segment)
                         : block_event(&source->list.blocks.items[segment->first_block + source->block_at - 1]);
    event.seq = source->seq;
    event.time_ns = NM_NO_TIME;
    event.heap_id = heap_of(source, segment->device, segment->is_workspace ? NM_LEVEL_WORKSPACE : NM_LEVEL_POOL);
    event.policy = segment->pool;
    event.stream = segment->stream;
    event.flags |= segment->has_stream ? NM_FLAG_STREAM : 0;
    if (source->block_at++ >= segment->block_count) {
        source->at++;
        source->block_at = 0;
    }
    out->kind = NM_RECORD_EVENT;
    out->event = event;
    return NM_OK;
}

static nm_status source_next(nm_source *base, nm_record *out, nm_error *err)
{
    static deliver *const phases[PHASE_END] = {next_string,   next_frame, next_stack, next_process, next_device,
                                               next_baseline, next_note,  next_entry, next_state};
    snapshot_source *source = (snapshot_source *)base;

    while (source->phase < PHASE_END) {
        *out = (nm_record){.kind = NM_RECORD_DEFINITION};
        nm_status status = phases[source->phase](source, out, err);
        if (status != NM_END)
            return status;
        source->phase++;
        source->at = 0;
    }
    return NM_END;
}

/* ---- The first pass ---------------------------------------------------------------------------------------------- */

static int compare_times(const void *left, const void *right)
{
    const nm_snapshot_annotation *a = left;
    const nm_snapshot_annotation *b = right;

    if (a->time_us != b->time_us)
        return a->time_us < b->time_us ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static int compare_devices(const void *left, const void *right)
{
    const nm_snapshot_annotation *a = left;
    const nm_snapshot_annotation *b = right;

    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return compare_times(left, right);
}

/*
 * Was the range over before the first entry of its device, with memory there that nobody saw allocated? The ring of
 * entries has wrapped, then, and that of the annotations has not: of a step in which all that happened is lost, sums
 * and slopes would take it for one in which nothing did.
 */
static bool ended_before_all(const snapshot_source *source, const nm_snapshot_annotation *end)
{
    if (end->device >= source->baseline.devices.count)
        return false;

    const nm_baseline_device *device = &source->baseline.devices.items[end->device];
    return device->has_baseline && device->has_first && end->has_time && end->time_us <= device->first_us;
}

/*
 * Puts the annotations in order and pairs them: an END belongs to the latest START of its device and name that is not
 * paired yet, and gets its number. The file's own order decides between equal times.
 */
static nm_status order_annotations(snapshot_source *source, nm_error *err)
{
    nm_snapshot_annotation *items = source->list.annotations.items;
    size_t count = source->list.annotations.count;
    nm_map open = {0}; /* (device, name) -> 1 + index of the latest START not paired */
    uint32_t *outer = calloc(count + 1, sizeof *outer);
    nm_status status = outer != NULL ? NM_OK : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");

    for (size_t i = 0; i < count && status == NM_OK; i++)
        items[i].number = (uint32_t)(i + 1);
    if (count > 0 && status == NM_OK)
        qsort(items, count, sizeof *items, source->is_merged ? compare_times : compare_devices);
    for (size_t i = 0; i < count && status == NM_OK; i++) {
        nm_key key = {items[i].device, items[i].name};
        uint64_t *latest = nm_map_get(&open, key);

        items[i].number = (uint32_t)(i + 1);
        if (!items[i].is_end) {
            outer[i] = latest != NULL ? (uint32_t)*latest : 0;
            status = nm_map_put(&open, key, i + 1, err);
        } else if (latest != NULL && *latest != 0) {
            items[i].number = (uint32_t)*latest;
            items[i].is_left_out = items[*latest - 1].is_left_out = ended_before_all(source, &items[i]);
            *latest = outer[*latest - 1];
        }
    }
    free(outer);
    nm_map_free(&open);
    return status;
}

static void note_time(snapshot_source *source, bool has_time, int64_t time_us)
{
    if (has_time && (!source->has_times || time_us < source->base_us))
        source->base_us = time_us;
    source->has_times = source->has_times || has_time;
}

static bool has_one_of(const snapshot_source *source, uint32_t string, const char *const texts[2])
{
    const char *text = (const char *)nm_strings_get(&source->tables.strings, string).data;

    return text != NULL && (strstr(text, texts[0]) != NULL || strstr(text, texts[1]) != NULL);
}

/* Whose code the frames are of. Code of torch.cuda is there with torch_npu too, so that its own goes before. */
static dialect dialect_of_frames(const snapshot_source *source)
{
    static const char *const npu_functions[2] = {"c10_npu::", "at_npu::"};
    static const char *const npu_files[2] = {"/torch_npu/", "torch_npu/csrc"};
    static const char *const cuda_functions[2] = {"c10::cuda::", "at::cuda::"};
    static const char *const cuda_files[2] = {"/torch/cuda/", "CUDACachingAllocator"};
    dialect found = DIALECT_UNKNOWN;

    for (size_t i = 0; i < source->tables.frames.count; i++) {
        const nm_snapshot_frame *frame = &source->tables.frames.items[i];

        if (has_one_of(source, frame->function, npu_functions) || has_one_of(source, frame->file, npu_files))
            return DIALECT_NPU;
        if (has_one_of(source, frame->function, cuda_functions) || has_one_of(source, frame->file, cuda_files))
            found = DIALECT_CUDA;
    }
    return found;
}

/* What the frames say goes before the settings, and these before what the file leaves out: torch_npu writes neither times
 * nor settings, but old versions of torch did not either; these wrote the history of blocks, which torch_npu never did. */
static dialect find_dialect(const snapshot_source *source, bool has_workspace)
{
    dialect of_frames = dialect_of_frames(source);

    if (has_workspace)
        return DIALECT_NPU;
    if (of_frames != DIALECT_UNKNOWN)
        return of_frames;
    if (source->list.has_npu_settings || source->list.has_cuda_settings)
        return source->list.has_npu_settings ? DIALECT_NPU : DIALECT_CUDA;
    if (source->list.has_history)
        return DIALECT_CUDA;
    if (source->list.has_settings)
        return DIALECT_TORCH;
    return source->entry_count > 0 && !source->has_times ? DIALECT_NPU : DIALECT_UNKNOWN;
}

static nm_status first_pass(snapshot_source *source, nm_error *err)
{
    nm_snapshot_entry entry;
    bool has_workspace = false;
    nm_status status = nm_snapshot_reader_new(nm_input_fd(source->input), nm_input_size(source->input), &source->tables,
                                              &source->list, &source->reader, err);

    while (status == NM_OK && (status = nm_snapshot_reader_next(source->reader, &entry, err)) == NM_OK) {
        source->entry_count++;
        has_workspace = has_workspace || entry.action == NM_SNAPSHOT_WORKSPACE;
        note_time(source, entry.has_time, entry.time_us);
        status = nm_snapshot_baseline_entry(&source->baseline, &entry, err);
        if (status == NM_OK)
            status = nm_snapshot_kept_add(&source->kept, &entry, err);
    }
    nm_snapshot_reader_free(source->reader);
    source->reader = NULL;
    if (status != NM_END)
        return status;

    source->dialect = find_dialect(source, has_workspace);
    if (!source->has_times && source->list.annotations.count > 0)
        for (size_t i = 0; i < source->list.annotations.count; i++)
            note_time(source, source->list.annotations.items[i].has_time, source->list.annotations.items[i].time_us);
    return nm_snapshot_baseline_finish(&source->baseline, &source->list, err);
}

/* Are there several traces, and are they one stream? */
static void find_order(snapshot_source *source)
{
    size_t trace_count = 0, device_count = 0, used_count = 0;
    bool has_untimed = false;

    for (size_t i = 0; i < source->baseline.devices.count; i++) {
        const nm_baseline_device *device = &source->baseline.devices.items[i];

        trace_count += device->entry_count > 0;
        device_count += device->entry_count > 0 && i != NM_SNAPSHOT_HOST;
        used_count += device->is_used && i != NM_SNAPSHOT_HOST;
        has_untimed = has_untimed || device->has_untimed;
    }
    source->is_merged = trace_count > 1 && !has_untimed;
    source->is_apart = device_count > 1 && has_untimed;
    source->process_count = source->is_apart ? (uint32_t)used_count : 1;
}

static nm_status number_devices(snapshot_source *source, nm_error *err)
{
    uint32_t number = 0;
    nm_status status = nm_array_grow(&source->devices.items, &source->devices.capacity, source->baseline.devices.count,
                                     sizeof *source->devices.items, err);

    if (status != NM_OK)
        return status;
    find_order(source);
    source->devices.count = source->baseline.devices.count;
    for (size_t i = 0; i < source->devices.count; i++)
        source->devices.items[i] = source->baseline.devices.items[i].is_used ? ++number : 0;
    return NM_OK;
}

static nm_status intern(snapshot_source *source, const char *text, uint32_t *number, nm_error *err)
{
    return nm_strings_intern(&source->tables.strings, (nm_bytes){(const uint8_t *)text, strlen(text)}, number, err);
}

static nm_status make_names(snapshot_source *source, nm_error *err)
{
    const char *kind = source->dialect == DIALECT_NPU ? "npu" : source->dialect == DIALECT_CUDA ? "gpu" : "device";
    nm_status status = intern(source, kind, &source->name_kind, err);

    if (status == NM_OK)
        status = intern(source, "device memory", &source->name_driver, err);
    if (status == NM_OK)
        status = intern(source, "caching pool", &source->name_pool, err);
    if (status == NM_OK)
        status = intern(source, "workspace", &source->name_workspace, err);
    if (status == NM_OK)
        status = intern(source, "pinned memory", &source->name_pinned, err);
    source->string_count = source->tables.strings.count;
    source->stack_count = source->tables.stacks.count;
    return status;
}

/* Goes to the first entry of the file. */
static nm_status begin_entries(snapshot_source *source, nm_error *err)
{
    nm_snapshot_reader_free(source->reader);
    source->reader = NULL;
    nm_snapshot_kept_rewind(&source->kept);
    return source->kept.is_dropped ? nm_snapshot_reader_new(nm_input_fd(source->input), nm_input_size(source->input),
                                                            &source->tables, NULL, &source->reader, err)
                                   : NM_OK;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static bool source_matches(nm_bytes head)
{
    return head.len >= 2 && head.data[0] == PROTOCOL_BYTE && head.data[1] >= 2 && head.data[1] < PROTOCOLS_LATER;
}

static void source_close(nm_source *base)
{
    snapshot_source *source = (snapshot_source *)base;

    nm_snapshot_reader_free(source->reader);
    nm_snapshot_tables_free(&source->tables);
    nm_snapshot_state_list_free(&source->list);
    nm_snapshot_baseline_free(&source->baseline);
    nm_snapshot_kept_free(&source->kept);
    free(source->devices.items);
    free(source->merged.items);
    nm_input_close(source->input);
    free(source);
}

static nm_status source_open(int fd, nm_bytes head, nm_source **out, nm_error *err)
{
    snapshot_source *source = calloc(1, sizeof *source);

    *out = NULL;
    if (source == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    source->base.type = &nm_snapshot_source_type;

    nm_status status = nm_input_open(fd, head, &source->input, err);
    if (status == NM_OK)
        status = nm_input_unpack(source->input, err);
    if (status == NM_OK)
        status = nm_snapshot_tables_init(&source->tables, err);
    if (status == NM_OK)
        status = first_pass(source, err);
    if (status == NM_OK)
        status = number_devices(source, err);
    if (status == NM_OK)
        status = make_names(source, err);
    if (status == NM_OK)
        status = order_annotations(source, err);
    if (status == NM_OK)
        status = begin_entries(source, err);
    if (status != NM_OK) {
        source_close(&source->base);
        return status;
    }
    *out = &source->base;
    return NM_OK;
}

static nm_status source_rewind(nm_source *base, nm_error *err)
{
    snapshot_source *source = (snapshot_source *)base;

    source->phase = PHASE_STRINGS;
    source->at = source->block_at = source->annotation_at = 0;
    source->part = 0;
    source->seq = 0;
    source->merged_at = 0;
    source->blocks_outside = 0;
    source->pinned_bytes = 0;
    source->has_entry = source->is_second_half = false;
    return begin_entries(source, err);
}

/* Of one stream of several devices the one that has most to tell. */
static uint64_t busiest_device(const snapshot_source *source)
{
    uint64_t most = 0, number = 0;

    for (size_t i = 0; source->is_merged && i < source->devices.count && i < NM_SNAPSHOT_HOST; i++)
        if (source->baseline.devices.items[i].entry_count > most) {
            most = source->baseline.devices.items[i].entry_count;
            number = source->devices.items[i];
        }
    return number;
}

static void source_summary(const nm_source *base, nm_source_summary_data *out)
{
    const snapshot_source *source = (const snapshot_source *)base;

    *out = (nm_source_summary_data){
        .kind = source->dialect == DIALECT_NPU ? "torch_npu snapshot" : "torch snapshot",
        .order_kind = source->is_merged ? NM_ORDER_CLOCK : NM_ORDER_FILE,
        .carries = NM_CARRIES_ALL,
        .step_device_id = busiest_device(source),
        .start_realtime_ns = source->has_times ? source->base_us * 1000 : NM_NO_TIME,
        .events_seen = source->entry_count,
        .events_ingested = source->seq,
        .is_finished = true,
        .is_loss_exact = true,
        .is_complete = source->blocks_outside == 0,
        .blocks_outside = source->blocks_outside,
    };
    snprintf(out->recording_id, sizeof out->recording_id, "%016" PRIx64 "%016" PRIx64,
             nm_checksum_end(&source->list.sum), nm_input_size(source->input));
}

static uint64_t source_position(const nm_source *base)
{
    return position_of((const snapshot_source *)base);
}

const nm_source_type nm_snapshot_source_type = {
    .name = "snapshot",
    .is_unpacking = true,
    .matches = source_matches,
    .open = source_open,
    .next = source_next,
    .summary = source_summary,
    .position = source_position,
    .close = source_close,
    .rewind = source_rewind,
};
