/* SPDX-License-Identifier: Apache-2.0
 *
 * The source for memory_block.csv of MindSpore's memory tracker: a row is a block, from the operation of the pools that made it to the
 * one that freed it. Times are the numbers of operations and nothing else. Its cells are not quoted: of those behind a name with a
 * comma nothing is known, so that only what stands before names must be right.
 *
 * What a pool has in use a row may state ("actual_used_memory"): more than its blocks, at the first row, was there before;
 * a later difference says that rows are missing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/tree.h"
#include "source/csv_rows.h"
#include "source/gathered.h"
#include "source/source.h"

#define NEVER_MIN   INT64_C(9000000000000000000) /* INT64_MAX; a spreadsheet rounds it */
#define FIGURE_MAX  (INT64_C(1) << 46)           /* no memory is larger */
#define FAR_ADDRESS (UINT64_C(1) << 62)          /* no memory is there: of what has a size and no place */
#define FAR_BYTES   (UINT64_C(1) << 46)          /* for each heap */
#define HEAPS_MAX   4096
#define UNKNOWN     INT64_MIN

enum { BEGIN, END, ADDRESS, STREAM, POOL, SIZE, USED, PEAK, TYPE, TASK, NODE, GRAPH, PYTHON, COLUMNS };

static const char *const columns[COLUMNS] = {
    "start_time_stamp",   "end_time_stamp",     "device_addr", "stream_id", "pool_type", "size",
    "actual_used_memory", "actual_peak_memory", "type",        "task_name", "node_name", "graph_name",
    "python_stack"};
static const char *const needed[] = {"start_time_stamp", "end_time_stamp", "device_addr", "size", NULL};

typedef struct block {
    nm_tree_node node;          /* where it is; of its heap's live ones */
    int64_t begin, end;         /* operations; end: INT64_MAX where it has none */
    int64_t size, used, stream; /* used, stream: or UNKNOWN */
    int64_t peak;               /* what the pool has reached at most, with gaps; 0: not stated */
    uint64_t address, place;    /* place: number of its row */
    uint32_t heap, stack, category;
    bool is_live;
} block;

typedef struct heap {
    uint64_t name;
    nm_tree live;
    int64_t live_bytes, before_bytes; /* UNKNOWN: no row has stated it so far */
    uint64_t odd_count;               /* of rows that state what does not come out */
} heap;

typedef struct mindspore_source {
    nm_source base;
    nm_gathered *gathered;
    uint64_t size_bytes, row_count, damaged_count, cut_bytes;
    struct {
        block *items;
        size_t count, capacity;
    } blocks;
    struct {
        heap *items;
        size_t count, capacity;
    } heaps;
    nm_map heap_of;
    int64_t order;
    bool is_cut, is_odd;
} mindspore_source;

/* ---- Rows ---- */

static nm_bytes text_of(const char *text)
{
    return (nm_bytes){(const uint8_t *)text, strlen(text)};
}

/* What stands between `key` and `stop`; text goes on behind it. False: it does not begin with `key`, or there is no `stop`: of '|'
 * the end is one. */
static bool take_part(nm_bytes *text, const char *key, char stop, nm_bytes *part)
{
    size_t skip = strlen(key), end;

    if (text->len < skip || memcmp(text->data, key, skip) != 0)
        return false;
    const uint8_t *found = memchr(text->data + skip, stop, text->len - skip);
    if (found == NULL && stop != '|')
        return false;
    end = found == NULL ? text->len : (size_t)(found - text->data);
    *part = (nm_bytes){text->data + skip, end - skip};
    *text = found == NULL ? (nm_bytes){0} : (nm_bytes){found + 1, text->len - end - 1};
    return true;
}

static nm_status push_frame(mindspore_source *source, nm_bytes function, nm_bytes file, nm_bytes line, uint64_t *stack,
                            nm_error *err)
{
    nm_cell digits = {.kind = NM_CELL_TEXT, .text = line};
    uint64_t function_id = 0, file_id = 0, frame = 0;
    int64_t number = 0;
    nm_status status = nm_gathered_string(source->gathered, function, &function_id, err);

    if (!nm_cell_get(&digits, 1, &number) || number < 0 || number > INT32_MAX)
        number = 0;
    if (status == NM_OK)
        status = nm_gathered_string(source->gathered, file, &file_id, err);
    if (status == NM_OK)
        status = nm_gathered_frame(source->gathered, function_id, file_id, (uint64_t)number, &frame, err);
    return status == NM_OK ? nm_gathered_stack(source->gathered, *stack, frame, stack, err) : status;
}

/* "File:F;Line:N;Function:f|" a frame, from the outermost inwards; where not all of it is, the operator is the only frame. */
static nm_status find_stack(mindspore_source *source, const nm_cell *cells, uint64_t *stack, nm_error *err)
{
    nm_bytes text = nm_cell_text(&cells[PYTHON]), node = nm_cell_text(&cells[NODE]), file, line, function;
    nm_status status = NM_OK;

    *stack = 0;
    while (status == NM_OK && take_part(&text, "File:", ';', &file) && take_part(&text, "Line:", ';', &line) &&
           take_part(&text, "Function:", '|', &function))
        status = push_frame(source, function, file, line, stack, err);
    *stack = text.len > 0 ? 0 : *stack;
    node = node.len > 0 ? node : nm_cell_text(&cells[TASK]);
    return status == NM_OK && *stack == 0 && node.len > 0
               ? push_frame(source, node, nm_cell_text(&cells[GRAPH]), (nm_bytes){0}, stack, err)
               : status;
}

/* Where nothing is said of a block that the next operation frees, it was the workspace of one. */
static nm_status find_category(mindspore_source *source, const nm_cell *cells, block *item, nm_error *err)
{
    nm_bytes type = nm_cell_text(&cells[TYPE]);
    uint64_t category = 0;
    nm_status status;

    if (type.len == 0 && item->end - item->begin == 1)
        type = text_of("workspace");
    else if (nm_cell_is(&cells[TYPE], "Other"))
        type.len = 0;
    status = nm_gathered_string(source->gathered, type, &category, err);
    item->category = (uint32_t)category;
    return status;
}

static nm_status find_heap(mindspore_source *source, const nm_cell *cells, block *item, nm_error *err)
{
    nm_bytes pool = nm_cell_text(&cells[POOL]);
    uint64_t name = 0, number = 0;
    nm_status status =
        nm_gathered_string(source->gathered, pool.len > 0 ? pool : text_of("MindSpore pool"), &name, err);

    if (status == NM_OK)
        status = nm_array_grow(&source->heaps.items, &source->heaps.capacity, source->heaps.count + 1,
                               sizeof *source->heaps.items, err);
    if (status == NM_OK)
        status = nm_map_number(&source->heap_of, (nm_key){0, name}, &number, err);
    if (status == NM_OK && number >= HEAPS_MAX)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "more than %d pools", HEAPS_MAX);
    if (status == NM_OK && number == source->heaps.count)
        source->heaps.items[source->heaps.count++] = (heap){.name = name, .before_bytes = UNKNOWN};
    item->heap = (uint32_t)number;
    return status;
}

static int64_t figure(const nm_cell *cell, int64_t otherwise)
{
    int64_t value;

    return nm_cell_get(cell, 1, &value) && value >= 0 && value <= FIGURE_MAX ? value : otherwise;
}

static bool read_block(const nm_cell *cells, block *item)
{
    item->size = figure(&cells[SIZE], 0);
    item->used = figure(&cells[USED], UNKNOWN);
    item->peak = figure(&cells[PEAK], 0);
    item->stream = figure(&cells[STREAM], UNKNOWN);
    item->end = item->end >= NEVER_MIN ? INT64_MAX : item->end;
    return nm_cell_get_address(&cells[ADDRESS], &item->address) && item->address != 0 &&
           item->address < FAR_ADDRESS - FIGURE_MAX && item->size > 0 && item->begin >= 0 && item->begin < NEVER_MIN &&
           item->end > item->begin;
}

static nm_status take_row(mindspore_source *source, const nm_cell *cells, nm_error *err)
{
    block item = {.place = source->row_count++};
    uint64_t stack = 0;
    bool has_times = nm_cell_get(&cells[BEGIN], 1, &item.begin) && nm_cell_get(&cells[END], 1, &item.end);
    nm_status status;

    if (has_times && item.begin == -1 && item.end == -1) /* a part of another block */
        return NM_OK;
    if (!has_times || !read_block(cells, &item)) {
        source->damaged_count++;
        return NM_OK;
    }
    status = find_heap(source, cells, &item, err);
    if (status == NM_OK)
        status = find_category(source, cells, &item, err);
    if (status == NM_OK)
        status = find_stack(source, cells, &stack, err);
    if (status == NM_OK)
        status =
            nm_array_grow(&source->blocks.items, &source->blocks.capacity, source->blocks.count + 1, sizeof item, err);
    item.stack = (uint32_t)stack;
    if (status == NM_OK)
        source->blocks.items[source->blocks.count++] = item;
    return status;
}

static nm_status read_rows(mindspore_source *source, nm_input *input, nm_error *err)
{
    nm_csv_rows *rows = NULL;
    const nm_cell *cells;
    nm_status status = nm_csv_rows_open(input, columns, COLUMNS, &rows, err);

    while (status == NM_OK && (status = nm_csv_rows_next(rows, &cells, err)) == NM_OK)
        status = take_row(source, cells, err);
    if (status == NM_END) {
        status = NM_OK;
        source->is_cut = nm_csv_rows_is_cut(rows);
        if (source->is_cut && nm_csv_rows_offset(rows) < source->size_bytes)
            source->cut_bytes = source->size_bytes - nm_csv_rows_offset(rows);
        if (source->blocks.count == 0)
            status = nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "memory_block.csv of MindSpore without a block");
    }
    nm_csv_rows_close(rows);
    return status;
}

/* ---- Events ---- */

static int compare_begins(const void *left, const void *right)
{
    const block *a = left, *b = right;

    return a->begin != b->begin ? (a->begin > b->begin) - (a->begin < b->begin)
                                : (a->place > b->place) - (a->place < b->place);
}

static int compare_ends(const void *left, const void *right)
{
    const block *a = *(block *const *)left, *b = *(block *const *)right;

    return a->end != b->end ? (a->end > b->end) - (a->end < b->end) : (a->place > b->place) - (a->place < b->place);
}

static nm_event event_of(const block *item, nm_event_kind kind)
{
    return (nm_event){.kind = kind,
                      .time_ns = NM_NO_TIME,
                      .thread_id = 1,
                      .heap_id = (uint64_t)item->heap + 1,
                      .address = item->address};
}

static nm_status end_block(mindspore_source *source, block *item, nm_error *err)
{
    heap *of = &source->heaps.items[item->heap];
    nm_event event = event_of(item, NM_EVENT_FREE);

    item->is_live = false;
    of->live_bytes -= item->size;
    nm_tree_remove(&of->live, &item->node);
    return nm_gathered_event(source->gathered, source->order++, &event, err);
}

/* What lies where this one comes is gone: the file does not say when. */
static nm_status replace(mindspore_source *source, const block *item, nm_error *err)
{
    nm_tree *live = &source->heaps.items[item->heap].live;
    nm_status status = NM_OK;

    while (status == NM_OK) {
        nm_tree_node *node = nm_tree_holding(live, item->address);

        node = node != NULL ? node : nm_tree_ceiling(live, item->address);
        if (node == NULL || node->key >= item->address + (uint64_t)item->size)
            break;
        source->is_odd = true;
        status = end_block(source, NM_TREE_ITEM(node, block, node), err);
    }
    return status;
}

static void compare_stated(mindspore_source *source, const block *item)
{
    heap *of = &source->heaps.items[item->heap];
    bool is_odd = item->peak > 0 && item->peak < of->live_bytes;

    if (item->used != UNKNOWN && of->before_bytes == UNKNOWN)
        of->before_bytes = item->used > of->live_bytes ? item->used - of->live_bytes : 0;
    is_odd = is_odd || (item->used != UNKNOWN && item->used != of->before_bytes + of->live_bytes);
    of->odd_count += is_odd;
    source->is_odd = source->is_odd || is_odd;
}

static nm_status begin_block(mindspore_source *source, block *item, nm_error *err)
{
    heap *of = &source->heaps.items[item->heap];
    nm_event event = event_of(item, NM_EVENT_ALLOC);
    nm_status status = replace(source, item, err);

    event.block_bytes = (uint64_t)item->size;
    event.stack_id = item->stack;
    event.name_id = item->category;
    event.flags = item->stream != UNKNOWN ? NM_FLAG_STREAM : 0;
    event.stream = item->stream != UNKNOWN ? (uint64_t)item->stream : 0;
    if (status == NM_OK)
        status = nm_gathered_event(source->gathered, source->order++, &event, err);
    item->node.key = item->address;
    item->node.value = item->address + (uint64_t)item->size;
    item->is_live = true;
    nm_tree_insert(&of->live, &item->node);
    of->live_bytes += item->size;
    compare_stated(source, item);
    return status;
}

/* Both orders at once; of one operation, which makes one event, what is freed comes first. */
static nm_status replay(mindspore_source *source, nm_error *err)
{
    size_t count = source->blocks.count, ended = 0;
    block **ends = malloc(count * sizeof *ends);
    nm_status status = NM_OK;

    if (ends == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    qsort(source->blocks.items, count, sizeof *source->blocks.items, compare_begins);
    for (size_t i = 0; i < count; i++)
        ends[i] = &source->blocks.items[i];
    qsort(ends, count, sizeof *ends, compare_ends);
    for (size_t i = 0; i <= count && status == NM_OK; i++) {
        int64_t now = i < count ? source->blocks.items[i].begin : INT64_MAX - 1;

        for (; status == NM_OK && ended < count && ends[ended]->end <= now; ended++)
            if (ends[ended]->is_live)
                status = end_block(source, ends[ended], err);
        if (status == NM_OK && i < count)
            status = begin_block(source, &source->blocks.items[i], err);
    }
    free(ends);
    return status;
}

/* What a pool had before its first row, and what it states otherwise. */
static nm_status give_before(mindspore_source *source, uint32_t number, nm_error *err)
{
    const heap *of = &source->heaps.items[number];
    block all = {.heap = number, .address = FAR_ADDRESS + number * FAR_BYTES};
    nm_event before = event_of(&all, NM_EVENT_ALLOC);
    nm_event note = {.kind = NM_EVENT_NOTE,
                     .time_ns = NM_NO_TIME,
                     .thread_id = 1,
                     .detail = NM_NOTE_OTHER_TOTAL,
                     .name_id = of->name,
                     .number = (int64_t)of->odd_count};
    nm_status status = NM_OK;

    before.thread_id = 0;
    before.flags = NM_FLAG_BASELINE;
    before.block_bytes = of->before_bytes > 0 ? (uint64_t)of->before_bytes : 0;
    if (of->before_bytes > 0)
        status = nm_gathered_event(source->gathered, 0, &before, err);
    return status == NM_OK && of->odd_count > 0 ? nm_gathered_event(source->gathered, INT64_MIN, &note, err) : status;
}

/* ---- Definitions ---- */

static nm_status define_program(mindspore_source *source, nm_error *err)
{
    nm_definition process = {.kind = NM_DEFINE_PROCESS, .id = 1}, thread = {.kind = NM_DEFINE_THREAD, .id = 1},
                  device = {.kind = NM_DEFINE_DEVICE, .id = 1};
    nm_status status;

    process.process.pid = process.process.rank = process.process.local_rank = process.process.world_size =
        process.process.run_mode = NM_UNKNOWN_NUMBER;
    process.process.begin_ns = NM_NO_TIME;
    for (size_t i = 0; i < source->heaps.count; i++)
        process.process.is_late |= source->heaps.items[i].before_bytes > 0;
    thread.thread.process_id = device.device.process_id = 1;
    device.device.physical_ordinal = NM_UNKNOWN_NUMBER; /* which one it is nothing says: the first */
    status = nm_gathered_string(source->gathered, text_of("npu"), &device.device.device_kind, err);
    if (status == NM_OK)
        status = nm_gathered_define(source->gathered, &process, err);
    if (status == NM_OK)
        status = nm_gathered_define(source->gathered, &thread, err);
    return status == NM_OK ? nm_gathered_define(source->gathered, &device, err) : status;
}

static nm_status gather(mindspore_source *source, nm_error *err)
{
    nm_status status = replay(source, err);

    if (status == NM_OK)
        status = define_program(source, err);
    for (uint32_t i = 0; i < source->heaps.count && status == NM_OK; i++) {
        nm_definition definition = {.kind = NM_DEFINE_HEAP, .id = i + 1};

        definition.heap.process_id = definition.heap.device_id = 1;
        definition.heap.level = NM_LEVEL_POOL;
        definition.heap.size_basis = NM_BASIS_BLOCK;
        definition.heap.name = source->heaps.items[i].name;
        status = nm_gathered_define(source->gathered, &definition, err);
        if (status == NM_OK)
            status = give_before(source, i, err);
    }
    if (status == NM_OK)
        nm_gathered_sort(source->gathered);
    return status;
}

/* ---- Life ---- */

static bool source_matches(nm_bytes head)
{
    return nm_csv_has_columns(head, needed);
}

static void source_close(nm_source *base)
{
    mindspore_source *source = (mindspore_source *)base;

    nm_gathered_free(source->gathered);
    nm_map_free(&source->heap_of);
    free(source->blocks.items);
    free(source->heaps.items);
    free(source);
}

static nm_status source_open(int fd, nm_bytes head, nm_source **out, nm_error *err)
{
    mindspore_source *source = calloc(1, sizeof *source);
    nm_input *input = NULL;
    nm_status status;

    *out = NULL;
    if (source == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    source->base.type = &nm_mindspore_source_type;
    status = nm_input_open(fd, head, &input, err);
    if (status == NM_OK)
        status = nm_gathered_new(&source->gathered, err);
    if (status == NM_OK) {
        source->size_bytes = nm_input_size(input);
        status = read_rows(source, input, err);
    }
    if (status == NM_OK)
        status = gather(source, err);
    nm_input_close(input);
    if (status == NM_OK)
        *out = &source->base;
    else
        source_close(&source->base);
    return status;
}

static nm_status source_next(nm_source *base, nm_record *out, nm_error *err)
{
    return nm_gathered_next(((mindspore_source *)base)->gathered, out, err);
}

static nm_status source_rewind(nm_source *base, nm_error *err)
{
    (void)err;
    nm_gathered_rewind(((mindspore_source *)base)->gathered);
    return NM_OK;
}

/* What a pool has reserved is not told: neither what it serves without the driver nor what lies idle in it. */
static void source_summary(const nm_source *base, nm_source_summary_data *out)
{
    const mindspore_source *source = (const mindspore_source *)base;
    uint64_t event_count = nm_gathered_event_count(source->gathered);
    nm_grade books = source->is_odd || source->damaged_count > 0 ? NM_GRADE_ESTIMATE : NM_GRADE_EXACT;

    *out = (nm_source_summary_data){
        .kind = "MindSpore memory_block.csv",
        .order_kind = NM_ORDER_FILE,
        .carries = {.leak = books, .peak = books},
        .start_realtime_ns = NM_NO_TIME,
        .detail_begin_ns = NM_NO_TIME,
        .events_seen = event_count + source->damaged_count,
        .events_ingested = event_count,
        .events_damaged = source->damaged_count,
        .bytes_cut = source->cut_bytes,
        .is_loss_exact = true,
        .is_finished = !source->is_cut,
        .is_complete = !source->is_cut && source->damaged_count == 0,
    };
}

/* All of it is read when it is opened. */
static uint64_t source_position(const nm_source *base)
{
    return ((const mindspore_source *)base)->size_bytes;
}

const nm_source_type nm_mindspore_source_type = {
    .name = "MindSpore memory_block.csv",
    .is_unpacking = true,
    .matches = source_matches,
    .open = source_open,
    .next = source_next,
    .summary = source_summary,
    .position = source_position,
    .close = source_close,
    .rewind = source_rewind,
};
