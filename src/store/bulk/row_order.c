/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells lie one after the other in the order in which they came; beside them stand their ids and places, and only these
 * are put in order (digit by digit, without comparing). A cell tells its own length, so a run in the file is nothing but
 * its cells. Runs are merged by a heap of what each has next.
 */
#include "store/bulk/row_order.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/io.h"
#include "store/publish.h"

#define DIGIT_BITS         11
#define DIGIT_COUNT        (1u << DIGIT_BITS)
#define WRITE_BYTES        (1u << 18)
#define MERGE_MEMORY_BYTES (64u << 20) /* for reading all runs, unless there are so many that each has the least */
#define READ_BYTES_LEAST   (4u * NM_CELL_BYTES_MAX)
#define READ_BYTES_MOST    (1u << 18)

typedef struct cell_place {
    int64_t row_id;
    uint32_t offset; /* of its cell */
    uint32_t len;
} cell_place;

typedef struct row_run {
    uint64_t offset, end_offset; /* of what is still to be read, in the file */
    uint8_t *data;               /* owned; what was read; NULL: of the rows in memory */
    size_t at, len, capacity;
    size_t place_index; /* of the rows in memory */
    nm_cell next;
} row_run;

struct nm_row_order {
    const char *beside; /* borrowed */
    size_t memory_bytes;
    nm_buffer cells;
    struct {
        cell_place *items;
        size_t count, capacity;
    } places;
    cell_place *other; /* as many as places.capacity, while they are put in order */
    int file;          /* -1: everything is in memory */
    uint64_t file_bytes;
    struct {
        row_run *items;
        size_t count, capacity;
    } runs;
};

nm_status nm_row_order_new(const char *beside, size_t memory_bytes, nm_row_order **out, nm_error *err)
{
    nm_row_order *order = calloc(1, sizeof *order);

    *out = order;
    if (order == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    order->beside = beside;
    order->memory_bytes = memory_bytes < UINT32_MAX / 2 ? memory_bytes : UINT32_MAX / 2;
    order->file = -1;
    return NM_OK;
}

void nm_row_order_free(nm_row_order *order)
{
    if (order == NULL)
        return;
    for (size_t i = 0; i < order->runs.count; i++)
        free(order->runs.items[i].data);
    free(order->runs.items);
    free(order->places.items);
    free(order->other);
    nm_buffer_free(&order->cells);
    nm_io_close(order->file);
    free(order);
}

/* ---- In order ---------------------------------------------------------------------------------------------------- */

static bool is_ascending(const cell_place *items, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (items[i - 1].row_id >= items[i].row_id)
            return false;
    return true;
}

/* One digit of all numbers, counted from `first`. */
static void order_by_digit(const cell_place *from, cell_place *to, size_t count, int64_t first, unsigned shift)
{
    uint32_t starts[DIGIT_COUNT] = {0};
    uint32_t sum = 0;

    for (size_t i = 0; i < count; i++)
        starts[((uint64_t)from[i].row_id - (uint64_t)first) >> shift & (DIGIT_COUNT - 1)]++;
    for (size_t digit = 0; digit < DIGIT_COUNT; digit++) {
        uint32_t digit_count = starts[digit];

        starts[digit] = sum;
        sum += digit_count;
    }
    for (size_t i = 0; i < count; i++)
        to[starts[((uint64_t)from[i].row_id - (uint64_t)first) >> shift & (DIGIT_COUNT - 1)]++] = from[i];
}

static nm_status put_in_order(nm_row_order *order, nm_error *err)
{
    size_t count = order->places.count;

    if (is_ascending(order->places.items, count))
        return NM_OK;
    int64_t first = order->places.items[0].row_id, last = first;
    for (size_t i = 1; i < count; i++) {
        int64_t row_id = order->places.items[i].row_id;

        first = row_id < first ? row_id : first;
        last = row_id > last ? row_id : last;
    }
    free(order->other);
    order->other = malloc(order->places.capacity * sizeof *order->other);
    if (order->other == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    uint64_t range = (uint64_t)last - (uint64_t)first;
    for (unsigned shift = 0; shift < 64 && range >> shift != 0; shift += DIGIT_BITS) {
        cell_place *ordered = order->other;

        order_by_digit(order->places.items, ordered, count, first, shift);
        order->other = order->places.items;
        order->places.items = ordered;
    }
    return NM_OK;
}

static nm_cell cell_of(const nm_row_order *order, const cell_place *place)
{
    return (nm_cell){place->row_id, order->cells.data + place->offset, place->len};
}

/* ---- To the file ------------------------------------------------------------------------------------------------- */

static nm_status write_cells(nm_row_order *order, nm_error *err)
{
    nm_buffer out = {0};
    nm_status status = nm_buffer_reserve(&out, WRITE_BYTES + NM_CELL_BYTES_MAX, err);

    for (size_t i = 0; i < order->places.count && status == NM_OK; i++) {
        nm_cell cell = cell_of(order, &order->places.items[i]);

        memcpy(out.data + out.len, cell.data, cell.len);
        out.len += cell.len;
        order->file_bytes += cell.len;
        if (out.len < WRITE_BYTES && i + 1 < order->places.count)
            continue;
        status = nm_io_write(order->file, out.data, out.len, err);
        out.len = 0;
    }
    nm_buffer_free(&out);
    return status;
}

/* What is in memory becomes a run of the file. */
static nm_status write_run(nm_row_order *order, nm_error *err)
{
    uint64_t offset = order->file_bytes;
    nm_status status = put_in_order(order, err);

    if (status == NM_OK && order->file < 0)
        status = nm_output_scratch(order->beside, &order->file, err);
    if (status == NM_OK)
        status = nm_array_grow(&order->runs.items, &order->runs.capacity, order->runs.count + 1,
                               sizeof *order->runs.items, err);
    if (status == NM_OK)
        status = write_cells(order, err);
    if (status != NM_OK)
        return status;
    order->runs.items[order->runs.count++] = (row_run){.offset = offset, .end_offset = order->file_bytes};
    order->places.count = 0;
    order->cells.len = 0;
    return NM_OK;
}

nm_status nm_row_order_add(nm_row_order *order, const int64_t *values, size_t column_count, nm_error *err)
{
    nm_status status = NM_OK;

    if (order->cells.len + NM_CELL_ROOM > order->memory_bytes && order->places.count > 0)
        status = write_run(order, err);
    if (status == NM_OK && order->cells.cap - order->cells.len < NM_CELL_ROOM)
        status = nm_buffer_reserve(&order->cells, NM_CELL_ROOM, err);
    if (status == NM_OK && order->places.count == order->places.capacity)
        status = nm_array_grow(&order->places.items, &order->places.capacity, order->places.count + 1,
                               sizeof *order->places.items, err);
    if (status != NM_OK)
        return status;
    nm_cell cell = nm_cell_write(order->cells.data + order->cells.len, values, column_count);
    size_t offset = (size_t)(cell.data - order->cells.data);
    order->places.items[order->places.count++] = (cell_place){cell.row_id, (uint32_t)offset, (uint32_t)cell.len};
    order->cells.len = offset + cell.len;
    return NM_OK;
}

/* ---- Merged ------------------------------------------------------------------------------------------------------ */

/* Moves what is left to the front, and reads on. */
static nm_status read_on(nm_row_order *order, row_run *run, nm_error *err)
{
    uint64_t left = run->end_offset - run->offset;

    memmove(run->data, run->data + run->at, run->len - run->at);
    run->len -= run->at;
    run->at = 0;
    size_t room = run->capacity - run->len;
    size_t wanted = left < room ? (size_t)left : room;
    nm_status status = nm_io_read_at(order->file, run->data + run->len, wanted, run->offset, err);
    run->len += wanted;
    run->offset += wanted;
    return status;
}

/* NM_END: no more. */
static nm_status next_cell(nm_row_order *order, row_run *run, nm_error *err)
{
    nm_status status = NM_OK;

    if (run->data == NULL) {
        if (run->place_index == order->places.count)
            return NM_END;
        run->next = cell_of(order, &order->places.items[run->place_index++]);
        return NM_OK;
    }
    if (run->len - run->at < NM_CELL_BYTES_MAX && run->offset < run->end_offset)
        status = read_on(order, run, err);
    if (status == NM_OK && run->at == run->len)
        return NM_END;
    if (status == NM_OK) {
        run->next = nm_cell_read(run->data + run->at);
        run->at += run->next.len;
    }
    return status;
}

static void sink_down(row_run **heap, size_t count, size_t at)
{
    row_run *moved = heap[at];

    for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && heap[child + 1]->next.row_id < heap[child]->next.row_id)
            child++;
        if (moved->next.row_id <= heap[child]->next.row_id)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* The run with the least next row stands first. */
static nm_status merge(nm_row_order *order, row_run **heap, size_t count, nm_take_cell *take, void *context,
                       nm_error *err)
{
    nm_status status = NM_OK;
    int64_t last = INT64_MIN; /* NM_NULL, which no row has */

    while (count > 0 && status == NM_OK) {
        const nm_cell *cell = &heap[0]->next;

        if (cell->row_id <= last)
            return nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET, "two rows have the id %" PRId64, cell->row_id);
        last = cell->row_id;
        status = take(context, cell, err);
        if (status == NM_OK)
            status = next_cell(order, heap[0], err);
        if (status == NM_END) {
            status = NM_OK;
            heap[0] = heap[--count];
        }
        if (count > 0)
            sink_down(heap, count, 0);
    }
    return status;
}

static nm_status open_run(nm_row_order *order, row_run *run, size_t read_bytes, nm_error *err)
{
    if (run->end_offset > 0) {
        run->data = calloc(1, read_bytes + NM_CELL_HEAD_BYTES); /* the head of the last cell may be read past its end */
        run->capacity = read_bytes;
        if (run->data == NULL)
            return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    }
    return next_cell(order, run, err);
}

nm_status nm_row_order_each(nm_row_order *order, nm_take_cell *take, void *context, nm_error *err)
{
    nm_status status = put_in_order(order, err);

    if (status == NM_OK)
        status = nm_array_grow(&order->runs.items, &order->runs.capacity, order->runs.count + 1,
                               sizeof *order->runs.items, err);
    if (status != NM_OK)
        return status;
    order->runs.items[order->runs.count++] = (row_run){0}; /* what is in memory */
    size_t run_count = order->runs.count, heap_count = 0;
    size_t read_bytes = MERGE_MEMORY_BYTES / run_count;
    row_run **heap = malloc(run_count * sizeof(row_run *));

    read_bytes = read_bytes > READ_BYTES_MOST ? READ_BYTES_MOST : read_bytes;
    read_bytes = read_bytes < READ_BYTES_LEAST ? READ_BYTES_LEAST : read_bytes;
    if (heap == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    for (size_t i = 0; i < run_count && status == NM_OK; i++) {
        status = open_run(order, &order->runs.items[i], read_bytes, err);
        if (status == NM_OK)
            heap[heap_count++] = &order->runs.items[i];
        else if (status == NM_END)
            status = NM_OK;
    }
    for (size_t at = heap_count / 2; at-- > 0;)
        sink_down(heap, heap_count, at);
    if (status == NM_OK)
        status = merge(order, heap, heap_count, take, context, err);
    free(heap);
    return status;
}
