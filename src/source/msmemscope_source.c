/* SPDX-License-Identifier: Apache-2.0
 *
 * The source for dumps of msMemScope and of msLeaks before it. Rows of the driver ("HAL") are the memory of modules of CANN, in
 * which the pools of frameworks lie; a pool is what one kind of row of a process says of a device.
 *
 * A free names its block by the address alone: its size has a sign in one dialect and is another one in the next, and its device may be missing. What
 * nobody saw allocated is memory from before. How much more there was a pool's first row states ("used", "total"), and so does each
 * row behind it what must come out: where it does not, rows are missing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/spoken.h"
#include "base/tree.h"
#include "source/csv_rows.h"
#include "source/msmemscope_rows.h"
#include "source/source.h"

#define ERROR_OOM_NPU     207001               /* ACL_ERROR_RT_MEMORY_ALLOCATION */
#define SEGMENT_BYTES     (UINT64_C(2) << 20)  /* what segments of a pool begin at */
#define APART_BYTES_MAX   (UINT64_C(20) << 20) /* a segment of a pool is no longer */
#define FAR_ADDRESS       (UINT64_C(1) << 62)  /* no memory is there: of what has a size and no place */
#define FAR_BYTES         (UINT64_C(1) << 44)  /* for each heap */
#define FAR_HEAPS_MAX     4096
#define HEAPS_MAX         16384 /* pools and modules of processes and devices: a real dump has some 100 */
#define OPEN_RANGES_MAX   64    /* how far up a thread's open ranges the begin of an end is looked for */
#define SAMPLE_AGE_NS_MAX INT64_C(10000000000)
#define NONE              UINT32_MAX

typedef struct dump_heap {
    uint32_t process; /* index */
    int16_t device, module;
    nm_msmemscope_store store;
    nm_tree live; /* dump_block; of the driver's memory the device has them */
    /* Of a pool: */
    bool has_first, has_apart;
    bool is_total_odd;                 /* what it states to have is less than what it states to use */
    int64_t used_before, total_before; /* its first row: blocks, and segments, from before. NM_MSMEMSCOPE_UNKNOWN */
    int64_t last_total;
    int64_t live_bytes, from_before_bytes;    /* of rows; of blocks from before whose free is there */
    int64_t segment_bytes;                    /* of live memory of the driver with a block of this pool in it */
    uint64_t used_odd_count, total_odd_count; /* of rows that state what does not come out */
    uint64_t apart_begin, apart_end;          /* has_apart: where blocks lie in no memory of the driver */
} dump_heap;

typedef struct dump_block {
    nm_tree_node node; /* key and end of its range */
    uint32_t row, heap;
    uint32_t pool; /* of the driver: the heap whose block it has had; NONE */
    uint32_t next; /* of the driver: the one before it of the device; NONE */
} dump_block;

typedef struct dump_range {
    uint32_t thread, name, below; /* index, string, index of the one it lies in; NONE */
    bool is_user;
} dump_range;

typedef struct dump_device {
    uint32_t process;
    int16_t ordinal;
    nm_tree driver;    /* dump_block: what is live */
    uint32_t last;     /* dump_block of the driver: the last that came; NONE */
    int64_t sample_ns; /* of the last; INT64_MIN: none */
    int64_t free_bytes, total_bytes;
} dump_device;

typedef struct dump_source {
    nm_source base;
    nm_gathered *gathered;
    nm_msmemscope_rows rows;
    uint64_t size_bytes;
    int64_t begin_ns;
    nm_map heap_of, device_of, block_of, step_of;
    struct {
        dump_heap *items;
        size_t count, capacity;
    } heaps;
    struct {
        dump_device *items;
        size_t count, capacity;
    } devices;
    dump_block *blocks; /* a row that allocates has one; they stay in their place */
    size_t block_count;
    struct {
        dump_range *items;
        size_t count, capacity;
    } ranges;
    uint32_t *innermost; /* of each thread: index in ranges; NONE */
    int64_t order;
    bool has_malloc, has_free, has_sample, has_failure, has_odd, is_gap_odd;
} dump_source;

/* ---- Events ---- */

static nm_event event_at(const dump_source *source, const nm_msmemscope_row *row, nm_event_kind kind)
{
    return (nm_event){.kind = kind, .time_ns = row->time_ns - source->begin_ns, .thread_id = (uint64_t)row->thread + 1};
}

static nm_status give(dump_source *source, const nm_event *event, nm_error *err)
{
    return nm_gathered_event(source->gathered, source->order++, event, err);
}

static nm_status intern(dump_source *source, const char *text, uint64_t *number, nm_error *err)
{
    return nm_gathered_string(source->gathered, (nm_bytes){(const uint8_t *)text, strlen(text)}, number, err);
}

/* ---- Devices and heaps ---- */

static uint32_t process_of(const dump_source *source, const nm_msmemscope_row *row)
{
    return source->rows.threads.items[row->thread].process;
}

static nm_status find_device(dump_source *source, uint32_t process, int16_t ordinal, dump_device **out, nm_error *err)
{
    uint64_t number = 0;
    nm_status status = nm_array_grow(&source->devices.items, &source->devices.capacity, source->devices.count + 1,
                                     sizeof *source->devices.items, err);

    if (status == NM_OK)
        status = nm_map_number(&source->device_of, (nm_key){process, (uint64_t)ordinal}, &number, err);
    if (status != NM_OK)
        return status;
    if (number == source->devices.count)
        source->devices.items[source->devices.count++] =
            (dump_device){.process = process, .ordinal = ordinal, .last = NONE, .sample_ns = INT64_MIN};
    *out = &source->devices.items[number];
    return NM_OK;
}

static bool is_on_device(nm_msmemscope_store store)
{
    return store <= NM_MSMEMSCOPE_WORKSPACE;
}

static bool is_pool(nm_msmemscope_store store)
{
    return store >= NM_MSMEMSCOPE_PTA && store <= NM_MSMEMSCOPE_OTHER_POOL;
}

/* Where it is not said it is the first. */
static int16_t ordinal_of(const nm_msmemscope_row *row)
{
    return row->device >= 0 ? row->device : 0;
}

static nm_status find_heap(dump_source *source, uint32_t process, nm_msmemscope_store store, int16_t device,
                           int16_t module, uint32_t *heap, nm_error *err)
{
    nm_key key = {(uint64_t)process << 8 | (uint64_t)store, (uint64_t)(uint16_t)device << 16 | (uint16_t)module};
    uint64_t number = 0;
    dump_device *unused;
    nm_status status = nm_array_grow(&source->heaps.items, &source->heaps.capacity, source->heaps.count + 1,
                                     sizeof *source->heaps.items, err);

    if (status == NM_OK)
        status = nm_map_number(&source->heap_of, key, &number, err);
    if (status == NM_OK && number == HEAPS_MAX)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, nm_spoken("this dump tells of more than %d pools and modules"),
                       HEAPS_MAX);
    if (status == NM_OK && number == source->heaps.count) {
        source->heaps.items[source->heaps.count++] = (dump_heap){.process = process,
                                                                 .device = device,
                                                                 .module = module,
                                                                 .store = store,
                                                                 .used_before = NM_MSMEMSCOPE_UNKNOWN,
                                                                 .total_before = NM_MSMEMSCOPE_UNKNOWN,
                                                                 .last_total = NM_MSMEMSCOPE_UNKNOWN};
        if (is_on_device(store))
            status = find_device(source, process, device, &unused, err);
    }
    *heap = (uint32_t)number;
    return status;
}

static int16_t place_of(const nm_msmemscope_row *row)
{
    return is_on_device((nm_msmemscope_store)row->store) ? ordinal_of(row) : NM_MSMEMSCOPE_HOST;
}

static nm_status heap_of_row(dump_source *source, const nm_msmemscope_row *row, uint32_t *heap, nm_error *err)
{
    return find_heap(source, process_of(source, row), row->store, place_of(row), row->module, heap, err);
}

/* ---- Blocks ---- */

static nm_key key_of(uint32_t process, nm_msmemscope_store store, int16_t device, uint64_t address)
{
    return (nm_key){(uint64_t)process << 16 | (uint64_t)store << 8 | (uint8_t)device, address};
}

static dump_block *block_at(const dump_source *source, uint32_t process, nm_msmemscope_store store, int16_t device,
                            uint64_t address)
{
    const uint64_t *found = nm_map_get(&source->block_of, key_of(process, store, device, address));

    return found == NULL ? NULL : &source->blocks[*found];
}

/* What the row frees: on whatever device, and of the host too, where it does not say which. */
static dump_block *find_block(const dump_source *source, const nm_msmemscope_row *row)
{
    uint32_t process = process_of(source, row);
    dump_block *found = block_at(source, process, row->store, place_of(row), row->address);

    for (int16_t device = 0; found == NULL && row->device < 0 && device < NM_MSMEMSCOPE_DEVICES_MAX; device++)
        found = block_at(source, process, row->store, device, row->address);
    return found != NULL || row->store != NM_MSMEMSCOPE_HAL
               ? found
               : block_at(source, process, NM_MSMEMSCOPE_PINNED, NM_MSMEMSCOPE_HOST, row->address);
}

/* Of all modules of a device: pools lie in the memory of any. NULL: it is none. */
static dump_device *device_of(const dump_source *source, const dump_heap *heap)
{
    const uint64_t *number = nm_map_get(&source->device_of, (nm_key){heap->process, (uint64_t)heap->device});

    return number == NULL ? NULL : &source->devices.items[*number];
}

static nm_tree *driver_of(dump_source *source, const dump_heap *heap)
{
    dump_device *device = device_of(source, heap);

    return device == NULL ? NULL : &device->driver;
}

static nm_tree *live_of(dump_source *source, uint32_t heap)
{
    dump_heap *found = &source->heaps.items[heap];

    return found->store == NM_MSMEMSCOPE_HAL ? driver_of(source, found) : &found->live;
}

static const nm_msmemscope_row *row_of(const dump_source *source, const dump_block *block)
{
    return &source->rows.rows.items[block->row];
}

/* Stops where it would pass what a number holds: rows may say anything. */
static void add_bytes(int64_t *sum, int64_t more)
{
    int64_t added;

    if (!__builtin_add_overflow(*sum, more, &added))
        *sum = added;
}

static void end_block(dump_source *source, dump_block *block)
{
    dump_heap *heap = &source->heaps.items[block->heap];
    int64_t size = row_of(source, block)->size;

    nm_map_remove(&source->block_of, key_of(heap->process, heap->store, heap->device, row_of(source, block)->address),
                  NULL);
    add_bytes(&heap->live_bytes, -size);
    nm_tree_remove(live_of(source, block->heap), &block->node);
    if (block->pool != NONE)
        add_bytes(&source->heaps.items[block->pool].segment_bytes, -size);
}

static nm_event end_event(dump_source *source, const nm_msmemscope_row *row, const dump_block *block)
{
    nm_event event = event_at(source, row, NM_EVENT_FREE);

    event.heap_id = (uint64_t)block->heap + 1;
    event.address = row_of(source, block)->address;
    event.stack_id = row->stack;
    return event;
}

static uint64_t end_of(const nm_msmemscope_row *row)
{
    return row->address + (uint64_t)row->size < row->address ? UINT64_MAX : row->address + (uint64_t)row->size;
}

/* Which memory of the driver the pool's block lies in: it is the pool's from then on. */
static void claim(dump_source *source, uint32_t pool, const nm_msmemscope_row *row)
{
    dump_heap *heap = &source->heaps.items[pool];
    nm_tree *driver = driver_of(source, heap);
    nm_tree_node *node = driver == NULL ? NULL : nm_tree_holding(driver, row->address);
    dump_block *segment = node == NULL ? NULL : NM_TREE_ITEM(node, dump_block, node);

    if (segment != NULL && segment->pool == NONE) {
        segment->pool = pool;
        add_bytes(&heap->segment_bytes, row_of(source, segment)->size);
    } else if (segment == NULL) {
        uint64_t end = end_of(row);

        heap->apart_begin = !heap->has_apart || row->address < heap->apart_begin ? row->address : heap->apart_begin;
        heap->apart_end = !heap->has_apart || end > heap->apart_end ? end : heap->apart_end;
        heap->has_apart = true;
    }
}

/* ---- What a pool states ---- */

/* What there was before the first row that states it. Before that row is counted. */
static void begin_used(dump_heap *heap, const nm_msmemscope_row *row)
{
    int64_t size = row->size == NM_MSMEMSCOPE_UNKNOWN ? 0 : row->size < 0 ? -row->size : row->size;

    heap->used_before = row->used + (row->kind == NM_MSMEMSCOPE_MALLOC ? -size : size);
    add_bytes(&heap->used_before, -heap->live_bytes);
    heap->used_before = heap->used_before < 0 ? 0 : heap->used_before;
}

/* When it is counted: the first says what there was before, each other one what must have come out. */
static void compare_stated(dump_heap *heap, const nm_msmemscope_row *row)
{
    if (!is_pool(heap->store))
        return;
    if (row->used != NM_MSMEMSCOPE_UNKNOWN && heap->has_first)
        heap->used_odd_count += row->used - heap->used_before != heap->live_bytes;
    if (row->total == NM_MSMEMSCOPE_UNKNOWN || heap->is_total_odd)
        return;
    if (heap->total_before == NM_MSMEMSCOPE_UNKNOWN) {
        heap->total_before = row->total;
        add_bytes(&heap->total_before, -heap->segment_bytes);
    }
    heap->total_odd_count += heap->total_before < 0 || row->total - heap->total_before != heap->segment_bytes;
}

static void begin_stated(dump_heap *heap, const nm_msmemscope_row *row)
{
    if (!is_pool(heap->store) || heap->has_first || row->used == NM_MSMEMSCOPE_UNKNOWN)
        return;
    heap->has_first = true;
    begin_used(heap, row);
}

/* A pool that ever states to have less than it uses means something else by that. */
static nm_status judge_totals(dump_source *source, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < source->rows.rows.count && status == NM_OK; i++) {
        const nm_msmemscope_row *row = &source->rows.rows.items[i];
        uint32_t heap = 0;

        if (row->kind > NM_MSMEMSCOPE_FREE || !is_pool(row->store) || row->total == NM_MSMEMSCOPE_UNKNOWN ||
            row->used <= row->total)
            continue;
        status = heap_of_row(source, row, &heap, err);
        if (status == NM_OK)
            source->heaps.items[heap].is_total_odd = true;
    }
    return status;
}

static nm_status give_total(dump_source *source, const nm_msmemscope_row *row, uint32_t number, nm_error *err)
{
    dump_heap *heap = &source->heaps.items[number];
    nm_event event = event_at(source, row, NM_EVENT_RESERVED);

    if (!is_pool(heap->store) || heap->is_total_odd || row->total < 0 || row->total == heap->last_total)
        return NM_OK;
    heap->last_total = row->total;
    event.heap_id = (uint64_t)number + 1;
    event.block_bytes = (uint64_t)row->total;
    return give(source, &event, err);
}

/* Where the memory of the driver is seen it tells by itself. Less than before: the pool gave some back in between, and may have grown. */
static uint64_t hit_of(dump_source *source, uint32_t number, const nm_msmemscope_row *row)
{
    const dump_heap *heap = &source->heaps.items[number];
    bool is_stated = is_pool(heap->store) && !heap->is_total_odd && row->total >= 0 && heap->last_total >= 0;

    if (!is_stated || row->total < heap->last_total || nm_tree_holding(driver_of(source, heap), row->address) != NULL)
        return 0;
    return row->total > heap->last_total ? NM_FLAG_MISS : NM_FLAG_HIT;
}

/* ---- Rows of memory ---- */

/* Of a pool: which part of it; there are none that are told. */
static uint64_t policy_of(const dump_source *source, uint32_t heap)
{
    return is_pool(source->heaps.items[heap].store) || source->heaps.items[heap].store == NM_MSMEMSCOPE_WORKSPACE
               ? 0
               : NM_POLICY_UNKNOWN;
}

static nm_status begin_block(dump_source *source, uint32_t number, uint32_t heap, nm_error *err)
{
    const nm_msmemscope_row *row = &source->rows.rows.items[number];
    dump_block *block = &source->blocks[source->block_count];
    nm_key key = key_of(process_of(source, row), row->store, source->heaps.items[heap].device, row->address);
    nm_status status = nm_map_put(&source->block_of, key, source->block_count, err);

    if (status != NM_OK)
        return status;
    *block = (dump_block){.row = number, .heap = heap, .pool = NONE, .next = NONE};
    if (row->store == NM_MSMEMSCOPE_HAL) {
        dump_device *device = device_of(source, &source->heaps.items[heap]);

        block->next = device->last;
        device->last = (uint32_t)source->block_count;
    }
    source->block_count++;
    add_bytes(&source->heaps.items[heap].live_bytes, row->size);
    block->node.key = row->address;
    block->node.value = end_of(row);
    nm_tree_insert(live_of(source, heap), &block->node);
    if (is_pool(row->store))
        claim(source, heap, row);
    return NM_OK;
}

static nm_event alloc_event(dump_source *source, const nm_msmemscope_row *row, uint32_t heap)
{
    nm_event event = event_at(source, row, NM_EVENT_ALLOC);

    event.heap_id = (uint64_t)heap + 1;
    event.address = row->address;
    event.block_bytes = (uint64_t)row->size;
    event.stack_id = row->stack;
    event.name_id = row->category;
    event.policy = policy_of(source, heap);
    event.flags = hit_of(source, heap, row);
    return event;
}

/* What lies where this one comes is gone: its free is not in the file. */
static nm_status replace(dump_source *source, const nm_msmemscope_row *row, uint32_t heap, nm_error *err)
{
    nm_tree *live = live_of(source, heap);
    nm_status status = NM_OK;

    while (status == NM_OK) {
        nm_tree_node *node = nm_tree_holding(live, row->address);

        node = node != NULL ? node : nm_tree_ceiling(live, row->address);
        if (node == NULL || node->key >= end_of(row))
            break;
        dump_block *old = NM_TREE_ITEM(node, dump_block, node);
        nm_event event = end_event(source, row, old);
        end_block(source, old);
        source->has_odd = true;
        status = give(source, &event, err);
    }
    return status;
}

static nm_status take_malloc(dump_source *source, uint32_t number, nm_error *err)
{
    const nm_msmemscope_row *row = &source->rows.rows.items[number];
    uint32_t heap = 0;
    nm_status status = heap_of_row(source, row, &heap, err);

    source->has_malloc = true;
    if (status == NM_OK)
        status = replace(source, row, heap, err);
    if (status != NM_OK)
        return status;
    nm_event event = alloc_event(source, row, heap);
    begin_stated(&source->heaps.items[heap], row);
    status = give_total(source, row, heap, err);
    if (status == NM_OK)
        status = give(source, &event, err);
    if (status == NM_OK)
        status = begin_block(source, number, heap, err);
    if (status == NM_OK)
        compare_stated(&source->heaps.items[heap], row);
    return status;
}

static nm_event baseline_event(const dump_source *source, uint32_t heap, uint64_t address, uint64_t size_bytes)
{
    return (nm_event){.kind = NM_EVENT_ALLOC,
                      .time_ns = NM_NO_TIME,
                      .flags = NM_FLAG_BASELINE,
                      .heap_id = (uint64_t)heap + 1,
                      .address = address,
                      .block_bytes = size_bytes,
                      .policy = policy_of(source, heap)};
}

/* Of a block from before. What a free of the driver states is not its size, so that there nothing is known of it. */
static nm_status free_from_before(dump_source *source, const nm_msmemscope_row *row, uint32_t heap, nm_error *err)
{
    uint64_t size = row->size < 0 ? -(uint64_t)row->size : (uint64_t)row->size;
    nm_event before = baseline_event(source, heap, row->address, size), event = event_at(source, row, NM_EVENT_FREE);
    nm_status status;

    if (!is_pool(row->store) || row->size == NM_MSMEMSCOPE_UNKNOWN || row->size == 0)
        return NM_OK;
    event.heap_id = (uint64_t)heap + 1;
    event.address = row->address;
    event.stack_id = row->stack;
    status = nm_gathered_event(source->gathered, 0, &before, err);
    add_bytes(&source->heaps.items[heap].from_before_bytes, (int64_t)size);
    add_bytes(&source->heaps.items[heap].live_bytes, -(int64_t)size);
    return status == NM_OK ? give(source, &event, err) : status;
}

static nm_status take_free(dump_source *source, uint32_t number, nm_error *err)
{
    const nm_msmemscope_row *row = &source->rows.rows.items[number];
    dump_block *block = find_block(source, row);
    uint32_t heap = block == NULL ? 0 : block->heap;
    nm_status status = block == NULL ? heap_of_row(source, row, &heap, err) : NM_OK;

    source->has_free = true;
    if (status != NM_OK)
        return status;
    begin_stated(&source->heaps.items[heap], row);
    if (block == NULL) {
        status = free_from_before(source, row, heap, err);
    } else {
        nm_event event = end_event(source, row, block);

        status = give(source, &event, err);
        end_block(source, block);
    }
    if (status == NM_OK)
        status = give_total(source, row, heap, err);
    compare_stated(&source->heaps.items[heap], row);
    return status;
}

/* ---- Ranges ---- */

static nm_status give_range(dump_source *source, const nm_msmemscope_row *row, uint32_t index, bool is_end,
                            nm_error *err)
{
    nm_event event = event_at(source, row, is_end ? NM_EVENT_RANGE_END : NM_EVENT_RANGE_BEGIN);

    event.number = (int64_t)index + 1;
    if (is_end)
        event.thread_id = (uint64_t)source->ranges.items[index].thread + 1;
    else {
        event.name_id = row->name;
        event.detail = row->is_user ? NM_RANGE_USER : NM_RANGE_OPERATOR;
        event.flags = row->stream != NM_MSMEMSCOPE_UNKNOWN ? NM_FLAG_STREAM : 0;
        event.stream = row->stream != NM_MSMEMSCOPE_UNKNOWN ? (uint64_t)row->stream : 0;
    }
    return give(source, &event, err);
}

static nm_status begin_range(dump_source *source, const nm_msmemscope_row *row, nm_error *err)
{
    uint32_t index = (uint32_t)source->ranges.count;
    nm_status status = nm_array_grow(&source->ranges.items, &source->ranges.capacity, source->ranges.count + 1,
                                     sizeof *source->ranges.items, err);

    if (status != NM_OK)
        return status;
    source->ranges.items[source->ranges.count++] =
        (dump_range){row->thread, row->name, source->innermost[row->thread], row->is_user};
    source->innermost[row->thread] = index;
    return give_range(source, row, index, false, err);
}

/* The innermost open range of the thread that this ends: the name of an operator says which; one of mstx may have any. */
static uint32_t find_range(const dump_source *source, const nm_msmemscope_row *row)
{
    uint32_t index = source->innermost[row->thread];

    for (unsigned i = 0; index != NONE && i < OPEN_RANGES_MAX; i++) {
        const dump_range *range = &source->ranges.items[index];

        if (range->is_user == row->is_user && (row->is_user || range->name == row->name))
            return index;
        index = range->below;
    }
    return NONE;
}

/* What began inside of it has ended unseen. */
static nm_status end_range(dump_source *source, const nm_msmemscope_row *row, nm_error *err)
{
    uint32_t index = find_range(source, row), at = source->innermost[row->thread];
    nm_status status = NM_OK;

    if (index == NONE)
        return NM_OK;
    for (bool is_last = false; status == NM_OK && !is_last;) {
        is_last = at == index;
        status = give_range(source, row, at, true, err);
        at = source->ranges.items[at].below;
        source->innermost[row->thread] = at;
    }
    return status;
}

static nm_status take_launch(dump_source *source, const nm_msmemscope_row *row, nm_error *err)
{
    nm_status status = begin_range(source, row, err);
    uint32_t index = source->innermost[row->thread];

    if (status != NM_OK)
        return status;
    source->innermost[row->thread] = source->ranges.items[index].below;
    return give_range(source, row, index, true, err);
}

/* ---- The rest ---- */

static nm_status take_step(dump_source *source, const nm_msmemscope_row *row, nm_error *err)
{
    nm_event event = event_at(source, row, NM_EVENT_STEP);
    nm_key key = {0, process_of(source, row)};
    const uint64_t *known = nm_map_get(&source->step_of, key);
    uint64_t number = known == NULL ? 1 : *known + 1;
    nm_status status = nm_map_put(&source->step_of, key, number, err);

    event.number = (int64_t)number;
    if (status == NM_OK)
        status = give(source, &event, err);
    return status == NM_OK ? begin_range(source, row, err) : status;
}

static nm_status take_mark(dump_source *source, const nm_msmemscope_row *row, nm_error *err)
{
    nm_event event = event_at(source, row, NM_EVENT_MARK);

    event.name_id = row->name;
    return give(source, &event, err);
}

static nm_status take_sample(dump_source *source, const nm_msmemscope_row *row, nm_error *err)
{
    nm_event event = event_at(source, row, NM_EVENT_MEMORY_SAMPLE);
    dump_device *device = NULL;
    nm_status status = find_device(source, process_of(source, row), ordinal_of(row), &device, err);

    if (status != NM_OK)
        return status;
    source->has_sample = true;
    device->sample_ns = row->time_ns;
    device->free_bytes = row->used;
    device->total_bytes = row->total;
    event.device_id = (uint64_t)(device - source->devices.items) + 1;
    event.detail = NM_MEMORY_HBM;
    event.free_bytes = (uint64_t)row->used;
    event.total_bytes = (uint64_t)row->total;
    return give(source, &event, err);
}

/* A request that the driver refused; what the device had is what was told of it last. */
static nm_status take_failure(dump_source *source, const nm_msmemscope_row *row, nm_error *err)
{
    nm_event event = event_at(source, row, NM_EVENT_ALLOC_FAILED);
    dump_device *device = NULL;
    uint32_t heap = 0;
    nm_status status = find_heap(source, process_of(source, row), NM_MSMEMSCOPE_HAL, ordinal_of(row),
                                 NM_MSMEMSCOPE_NO_MODULE, &heap, err);

    if (status == NM_OK)
        status = find_device(source, process_of(source, row), ordinal_of(row), &device, err);
    if (status != NM_OK)
        return status;
    source->has_failure = true;
    event.heap_id = (uint64_t)heap + 1;
    event.requested_bytes = row->size > 0 ? (uint64_t)row->size : 0;
    event.stack_id = row->stack;
    event.policy = NM_POLICY_UNKNOWN;
    event.error_code = ERROR_OOM_NPU;
    if (device->sample_ns != INT64_MIN && row->time_ns - device->sample_ns <= SAMPLE_AGE_NS_MAX) {
        event.free_bytes = (uint64_t)device->free_bytes;
        event.total_bytes = (uint64_t)device->total_bytes;
        event.flags = NM_FLAG_FREE_KNOWN;
    }
    return give(source, &event, err);
}

static nm_status take_row(dump_source *source, uint32_t number, nm_error *err)
{
    const nm_msmemscope_row *row = &source->rows.rows.items[number];

    switch ((nm_msmemscope_kind)row->kind) {
    case NM_MSMEMSCOPE_MALLOC:
        return take_malloc(source, number, err);
    case NM_MSMEMSCOPE_FREE:
        return take_free(source, number, err);
    case NM_MSMEMSCOPE_BEGIN:
        return begin_range(source, row, err);
    case NM_MSMEMSCOPE_END:
        return end_range(source, row, err);
    case NM_MSMEMSCOPE_LAUNCH:
        return take_launch(source, row, err);
    case NM_MSMEMSCOPE_STEP:
        return take_step(source, row, err);
    case NM_MSMEMSCOPE_SAMPLE:
        return take_sample(source, row, err);
    case NM_MSMEMSCOPE_FAILED:
        return take_failure(source, row, err);
    case NM_MSMEMSCOPE_MARK:
    default:
        return take_mark(source, row, err);
    }
}

/* ---- What was there before ---- */

/* Is memory of the driver that was seen on the device anywhere in [begin, end)? */
static bool is_taken(const dump_source *source, const dump_heap *pool, uint64_t begin, uint64_t end)
{
    uint32_t at = device_of(source, pool)->last;

    for (; at != NONE; at = source->blocks[at].next)
        if (source->blocks[at].node.key < end && source->blocks[at].node.value > begin)
            return true;
    return false;
}

/* Where a pool's segments from before lie: around its blocks for which no memory was seen. 0: it cannot be said. */
static uint64_t place_of_segment(dump_source *source, uint32_t number)
{
    const dump_heap *heap = &source->heaps.items[number];
    uint64_t size = (uint64_t)heap->total_before, begin = heap->apart_begin & ~(SEGMENT_BYTES - 1);

    if (!heap->has_apart)
        return number < FAR_HEAPS_MAX && size < FAR_BYTES ? FAR_ADDRESS + number * FAR_BYTES : 0;
    return heap->apart_end > begin && heap->apart_end - begin <= size && size < FAR_BYTES &&
                   !is_taken(source, heap, begin, begin + size)
               ? begin
               : 0;
}

/* Where blocks lie for which no memory was seen, and nothing says how much there was: as much as they need. */
static uint64_t place_apart(const dump_source *source, const dump_heap *heap, uint64_t *size)
{
    uint64_t begin = heap->apart_begin & ~(SEGMENT_BYTES - 1);

    *size = heap->apart_end - begin + (-heap->apart_end & (SEGMENT_BYTES - 1));
    return heap->has_apart && *size <= APART_BYTES_MAX && !is_taken(source, heap, begin, begin + *size) ? begin : 0;
}

static nm_status give_segment(dump_source *source, const dump_heap *pool, uint64_t place, uint64_t size, bool is_empty,
                              nm_error *err)
{
    uint32_t driver = 0;
    nm_status status =
        find_heap(source, pool->process, NM_MSMEMSCOPE_HAL, pool->device, NM_MSMEMSCOPE_NO_MODULE, &driver, err);

    if (status != NM_OK)
        return status;
    nm_event event = baseline_event(source, driver, place, size);
    event.flags |= is_empty ? NM_FLAG_SEGMENT : 0; /* no block will tell whose it is */
    return nm_gathered_event(source->gathered, 0, &event, err);
}

/* Blocks from before whose free is not in the file, as one: inside of the segment if there is room, else in one of its own. */
static nm_status give_rest(dump_source *source, uint32_t number, uint64_t segment, nm_error *err)
{
    const dump_heap heap = source->heaps.items[number];
    int64_t rest = heap.has_first ? heap.used_before - heap.from_before_bytes : 0;
    uint64_t size = (uint64_t)rest, end = segment + (uint64_t)heap.total_before, far = FAR_ADDRESS + number * FAR_BYTES;
    uint64_t place = !heap.has_apart                      ? segment
                     : segment == 0                       ? 0
                     : end - heap.apart_end >= size       ? end - size
                     : heap.apart_begin - segment >= size ? segment
                                                          : 0;
    nm_status status = NM_OK;

    if (rest <= 0 || size >= FAR_BYTES || number >= FAR_HEAPS_MAX)
        return NM_OK;
    if (place == 0)
        status = give_segment(source, &heap, far, size, false, err);
    nm_event event = baseline_event(source, number, place == 0 ? far : place, size);
    return status == NM_OK ? nm_gathered_event(source->gathered, 0, &event, err) : status;
}

/* What the pool had when its first row was written. */
static nm_status give_before(dump_source *source, uint32_t number, nm_error *err)
{
    const dump_heap heap = source->heaps.items[number];
    bool has_segments = !heap.is_total_odd && heap.total_odd_count == 0 && heap.total_before > 0;
    uint64_t segment = has_segments ? place_of_segment(source, number) : 0;
    nm_status status = NM_OK;

    source->has_odd = source->has_odd || heap.used_odd_count > 0;
    source->is_gap_odd = source->is_gap_odd || heap.is_total_odd || heap.total_odd_count > 0 ||
                         (has_segments && segment == 0) || (!has_segments && heap.has_apart);
    uint64_t apart_bytes = 0, apart = segment == 0 ? place_apart(source, &heap, &apart_bytes) : 0;
    if (apart != 0)
        status = give_segment(source, &heap, apart, apart_bytes, false, err);
    if (segment != 0)
        status = give_segment(source, &heap, segment, (uint64_t)heap.total_before,
                              !heap.has_apart && heap.used_before <= heap.from_before_bytes, err);
    return status == NM_OK ? give_rest(source, number, segment, err) : status;
}

/* ---- Definitions ---- */

/* Which processes are known from their begin: those whose file has it, and whose pools all say what they held before. */
static nm_status find_begins(dump_source *source, bool **is_known, nm_error *err)
{
    size_t count = source->rows.processes.count;
    bool *has_pool = calloc(count, sizeof *has_pool);

    *is_known = calloc(count, sizeof **is_known);
    if (has_pool == NULL || *is_known == NULL) {
        free(has_pool);
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    }
    for (size_t i = 0; i < count; i++)
        (*is_known)[i] = source->rows.processes.items[i].has_begin;
    for (size_t i = 0; i < source->heaps.count; i++) {
        const dump_heap *heap = &source->heaps.items[i];

        if (!is_pool(heap->store))
            continue;
        (*is_known)[heap->process] = heap->has_first && (!has_pool[heap->process] || (*is_known)[heap->process]);
        has_pool[heap->process] = true;
    }
    free(has_pool);
    return NM_OK;
}

static nm_status define_programs(dump_source *source, nm_error *err)
{
    bool *is_known = NULL;
    nm_status status = find_begins(source, &is_known, err);

    for (size_t i = 0; i < source->rows.processes.count && status == NM_OK; i++) {
        nm_definition process = {.kind = NM_DEFINE_PROCESS, .id = i + 1};

        process.process.pid = source->rows.processes.items[i].pid;
        process.process.rank = process.process.local_rank = process.process.world_size = NM_UNKNOWN_NUMBER;
        process.process.run_mode = NM_UNKNOWN_NUMBER;
        process.process.begin_ns = NM_NO_TIME;
        process.process.is_late = !is_known[i];
        status = nm_gathered_define(source->gathered, &process, err);
    }
    free(is_known);
    for (size_t i = 0; i < source->rows.threads.count && status == NM_OK; i++) {
        nm_definition thread = {.kind = NM_DEFINE_THREAD, .id = i + 1};

        thread.thread.process_id = (uint64_t)source->rows.threads.items[i].process + 1;
        thread.thread.tid = source->rows.threads.items[i].tid;
        status = nm_gathered_define(source->gathered, &thread, err);
    }
    return status;
}

static nm_status define_devices(dump_source *source, nm_error *err)
{
    nm_definition device = {.kind = NM_DEFINE_DEVICE};
    nm_status status = intern(source, "npu", &device.device.device_kind, err);

    for (size_t i = 0; i < source->devices.count && status == NM_OK; i++) {
        device.id = i + 1;
        device.device.process_id = (uint64_t)source->devices.items[i].process + 1;
        device.device.ordinal = source->devices.items[i].ordinal;
        device.device.physical_ordinal = NM_UNKNOWN_NUMBER;
        device.device.capacity_bytes = (uint64_t)source->devices.items[i].total_bytes;
        status = nm_gathered_define(source->gathered, &device, err);
    }
    return status;
}

static const struct {
    const char *name;
    nm_heap_level level;
} stores[NM_MSMEMSCOPE_STORES] = {
    [NM_MSMEMSCOPE_HAL] = {"device memory", NM_LEVEL_DRIVER},
    [NM_MSMEMSCOPE_PTA] = {"caching pool", NM_LEVEL_POOL},
    [NM_MSMEMSCOPE_ATB] = {"ATB pool", NM_LEVEL_POOL},
    [NM_MSMEMSCOPE_MINDSPORE] = {"MindSpore pool", NM_LEVEL_POOL},
    [NM_MSMEMSCOPE_OTHER_POOL] = {"other pool", NM_LEVEL_POOL},
    [NM_MSMEMSCOPE_WORKSPACE] = {"workspace", NM_LEVEL_WORKSPACE},
    [NM_MSMEMSCOPE_PINNED] = {"pinned memory", NM_LEVEL_PINNED},
    [NM_MSMEMSCOPE_HOST_MEMORY] = {"host memory", NM_LEVEL_HOST},
};

static nm_status define_heaps(dump_source *source, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < source->heaps.count && status == NM_OK; i++) {
        const dump_heap *heap = &source->heaps.items[i];
        const uint64_t *device = nm_map_get(&source->device_of, (nm_key){heap->process, (uint64_t)heap->device});
        nm_definition definition = {.kind = NM_DEFINE_HEAP, .id = i + 1};

        definition.heap.process_id = (uint64_t)heap->process + 1;
        definition.heap.device_id = device == NULL ? 0 : *device + 1;
        definition.heap.level = stores[heap->store].level;
        definition.heap.size_basis = NM_BASIS_BLOCK;
        definition.heap.module_id = heap->module == NM_MSMEMSCOPE_NO_MODULE ? 0 : (uint64_t)heap->module;
        status = intern(source, stores[heap->store].name, &definition.heap.name, err);
        if (status == NM_OK)
            status = nm_gathered_define(source->gathered, &definition, err);
    }
    return status;
}

/* One for each pool of which what is stated is not what comes out. */
static nm_status give_notes(dump_source *source, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < source->heaps.count && status == NM_OK; i++) {
        const dump_heap *heap = &source->heaps.items[i];
        nm_event note = {.kind = NM_EVENT_NOTE,
                         .time_ns = NM_NO_TIME,
                         .detail = NM_NOTE_OTHER_TOTAL,
                         .number = (int64_t)heap->used_odd_count};

        if (heap->used_odd_count == 0)
            continue;
        note.thread_id = (uint64_t)source->rows.processes.items[heap->process].first_thread + 1;
        status = intern(source, stores[heap->store].name, &note.name_id, err);
        if (status == NM_OK)
            status = nm_gathered_event(source->gathered, INT64_MIN, &note, err);
    }
    return status;
}

/* ---- Life ---- */

static nm_status begin(dump_source *source, nm_error *err)
{
    size_t malloc_count = 0;

    for (size_t i = 0; i < source->rows.rows.count; i++)
        malloc_count += source->rows.rows.items[i].kind == NM_MSMEMSCOPE_MALLOC;
    source->begin_ns = source->rows.rows.items[0].time_ns;
    source->blocks = malloc((malloc_count + 1) * sizeof *source->blocks);
    source->innermost = malloc((source->rows.threads.count + 1) * sizeof *source->innermost);
    if (source->blocks == NULL || source->innermost == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    memset(source->innermost, 0xff, (source->rows.threads.count + 1) * sizeof *source->innermost);
    return judge_totals(source, err);
}

/* What each row says, in their order; then, of all of them, what there was before. */
static nm_status gather(dump_source *source, nm_error *err)
{
    nm_status status = begin(source, err);

    for (size_t i = 0; i < source->rows.rows.count && status == NM_OK; i++)
        status = take_row(source, (uint32_t)i, err);
    for (size_t i = 0, count = source->heaps.count; i < count && status == NM_OK; i++)
        if (is_pool(source->heaps.items[i].store))
            status = give_before(source, (uint32_t)i, err);
    if (status == NM_OK)
        status = give_notes(source, err);
    if (status == NM_OK)
        status = define_programs(source, err);
    if (status == NM_OK)
        status = define_devices(source, err);
    if (status == NM_OK)
        status = define_heaps(source, err);
    if (status == NM_OK)
        nm_gathered_sort(source->gathered);
    return status;
}

static void source_close(nm_source *base)
{
    dump_source *source = (dump_source *)base;

    nm_gathered_free(source->gathered);
    nm_msmemscope_rows_free(&source->rows);
    nm_map_free(&source->heap_of);
    nm_map_free(&source->device_of);
    nm_map_free(&source->block_of);
    nm_map_free(&source->step_of);
    free(source->heaps.items);
    free(source->devices.items);
    free(source->blocks);
    free(source->ranges.items);
    free(source->innermost);
    free(source);
}

/* From `database`, or where that is NULL from the text. Both are the caller's. */
static nm_status open_dump(nm_input *input, nm_foreign_tables *database, nm_source **out, nm_error *err)
{
    dump_source *source = calloc(1, sizeof *source);
    nm_status status;

    *out = NULL;
    if (source == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    source->base.type = &nm_msmemscope_source_type;
    source->size_bytes = nm_input_size(input);
    status = nm_gathered_new(&source->gathered, err);
    if (status == NM_OK)
        status = database == NULL ? nm_msmemscope_read_csv(input, source->gathered, &source->rows, err)
                                  : nm_msmemscope_read_database(database, source->gathered, &source->rows, err);
    if (status == NM_OK)
        status = gather(source, err);
    if (status == NM_OK)
        *out = &source->base;
    else
        source_close(&source->base);
    return status;
}

static nm_status source_open(int fd, nm_bytes head, nm_source **out, nm_error *err)
{
    nm_input *input = NULL;
    nm_status status = nm_input_open(fd, head, &input, err);

    *out = NULL;
    if (status == NM_OK)
        status = open_dump(input, NULL, out, err);
    nm_input_close(input);
    return status;
}

static nm_status source_open_database(nm_input *input, nm_foreign_tables *database, nm_source **out, nm_error *err)
{
    nm_status status = open_dump(input, database, out, err);

    nm_foreign_tables_close(database);
    nm_input_close(input);
    return status;
}

static bool source_matches(nm_bytes head)
{
    return nm_csv_has_columns(head, nm_msmemscope_columns);
}

static nm_status source_next(nm_source *base, nm_record *out, nm_error *err)
{
    return nm_gathered_next(((dump_source *)base)->gathered, out, err);
}

static nm_status source_rewind(nm_source *base, nm_error *err)
{
    (void)err;
    nm_gathered_rewind(((dump_source *)base)->gathered);
    return NM_OK;
}

/* Where rows are missing, frees may be. */
static nm_carries carries_of(const dump_source *source)
{
    nm_grade books = !source->has_malloc ? NM_GRADE_NONE : source->has_odd ? NM_GRADE_ESTIMATE : NM_GRADE_EXACT;

    return (nm_carries){
        .leak = source->has_free ? books : NM_GRADE_NONE,
        .peak = source->has_free || books == NM_GRADE_NONE ? books : NM_GRADE_ESTIMATE,
        .fragmentation = books == NM_GRADE_EXACT && source->is_gap_odd ? NM_GRADE_ESTIMATE : books,
        .hits = books,
        .device = source->has_sample ? NM_GRADE_ESTIMATE : NM_GRADE_NONE,
        .failure = source->has_failure ? NM_GRADE_EXACT : NM_GRADE_NONE,
    };
}

static void source_summary(const nm_source *base, nm_source_summary_data *out)
{
    const dump_source *source = (const dump_source *)base;
    uint64_t event_count = nm_gathered_event_count(source->gathered);

    *out = (nm_source_summary_data){
        .kind = "msMemScope dump",
        .order_kind = NM_ORDER_CLOCK,
        .carries = carries_of(source),
        .start_realtime_ns = source->begin_ns,
        .events_seen = event_count + source->rows.odd_count,
        .events_ingested = event_count,
        .events_damaged = source->rows.odd_count,
        .bytes_cut = source->rows.cut_bytes,
        .is_loss_exact = true,
        .is_finished = !source->rows.is_cut,
        .is_complete = !source->rows.is_cut && source->rows.odd_count == 0,
    };
}

/* All of it is read when it is opened. */
static uint64_t source_position(const nm_source *base)
{
    return ((const dump_source *)base)->size_bytes;
}

const nm_source_type nm_msmemscope_source_type = {
    .name = "msMemScope dump",
    .is_unpacking = true,
    .matches = source_matches,
    .open = source_open,
    .tables = nm_msmemscope_tables,
    .open_database = source_open_database,
    .next = source_next,
    .summary = source_summary,
    .position = source_position,
    .close = source_close,
    .rewind = source_rewind,
};
