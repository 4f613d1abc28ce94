/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rows may have been live at a moment, or born between two, so that a question about that reads few of them. Of each heap
 * the numbers of rows are cut into parts, and of a part is known between which places and times its rows were born and ended.
 * One that lives long would stretch its part over the whole recording, so it is listed by itself instead. How long is long
 * goes up when the list grows: what has lived shorter then counts in its part after all. Any such choice is right, for a part
 * holds what the list does not; the choice is about how much is read.
 */
#include <stdlib.h>

#include "base/buffer.h"
#include "base/map.h"
#include "sums/pass.h"

#define PART_BITS   12    /* of the number of a row */
#define LONG_EVENTS 16384 /* at first */
#define LIST_SHARE  64    /* one in so many rows may be listed, */
#define LIST_COUNT  4096  /* and so many more */

#define NEVER       INT64_MAX
#define ALL_LONG    (-1) /* place of the last end of a part whose rows are all in the list: before all moments */

typedef struct long_life {
    uint64_t part, allocation_id;
    int64_t alloc_seq, alloc_ns;
    int64_t end_seq, end_ns; /* or NEVER */
} long_life;

typedef struct births {
    nm_map numbers;           /* (heap_id, number of the part) -> place in `parts` */
    nm_birth_part_row *parts; /* owned; NEVER: no end */
    size_t capacity;
    uint64_t recent;
    long_life *list; /* owned */
    size_t list_count, list_capacity;
    int64_t long_events;
    uint64_t row_count;
} births;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static uint64_t first_of(uint64_t allocation_id)
{
    return ((allocation_id - 1) >> PART_BITS << PART_BITS) + 1;
}

static nm_status find_part(births *all, const nm_allocation_row *row, uint64_t *out, nm_error *err)
{
    uint64_t first_id = first_of(row->allocation_id), number = all->recent;
    nm_status status = NM_OK;

    if (all->numbers.count > 0 && all->parts[number].first_id == first_id &&
        all->parts[number].heap_id == row->heap_id) {
        *out = number;
        return NM_OK;
    }
    size_t count = all->numbers.count;
    status = nm_map_number(&all->numbers, (nm_key){row->heap_id, first_id}, &number, err);
    if (status == NM_OK)
        status = nm_array_grow(&all->parts, &all->capacity, number + 1, sizeof *all->parts, err);
    if (status != NM_OK)
        return status;
    if (number == count)
        all->parts[number] = (nm_birth_part_row){.heap_id = row->heap_id,
                                                 .first_id = first_id,
                                                 .first_seq = NEVER,
                                                 .last_seq = NM_NO_SEQ,
                                                 .first_ns = NEVER,
                                                 .end_seq = ALL_LONG,
                                                 .end_ns = INT64_MIN};
    *out = all->recent = number;
    return NM_OK;
}

/* In events; of what never ended more than any. */
static int64_t events_between(int64_t alloc_seq, int64_t end_seq)
{
    return end_seq == NEVER ? NEVER : end_seq - most(alloc_seq, -1);
}

static void add_end(nm_birth_part_row *part, int64_t end_seq, int64_t end_ns)
{
    part->end_seq = most(part->end_seq, end_seq);
    part->end_ns = most(part->end_ns, end_ns);
}

/* What is not long any more counts in its part, until there is room in the list. */
static void shorten(births *all)
{
    while (all->list_count > all->row_count / LIST_SHARE + LIST_COUNT) {
        size_t kept = 0;

        all->long_events = all->long_events > NEVER / 4 ? NEVER : all->long_events * 4;
        for (size_t i = 0; i < all->list_count; i++) {
            const long_life *life = &all->list[i];

            if (all->long_events < NEVER && events_between(life->alloc_seq, life->end_seq) >= all->long_events)
                all->list[kept++] = *life;
            else
                add_end(&all->parts[life->part], life->end_seq, life->end_ns);
        }
        all->list_count = kept;
    }
}

static nm_status list(births *all, uint64_t part, const nm_allocation_row *row, int64_t end_seq, int64_t end_ns,
                      nm_error *err)
{
    nm_status status = nm_array_grow(&all->list, &all->list_capacity, all->list_count + 1, sizeof *all->list, err);

    if (status == NM_OK) {
        all->list[all->list_count++] =
            (long_life){part, row->allocation_id, row->alloc_seq, row->alloc_ns, end_seq, end_ns};
        shorten(all);
    }
    return status;
}

/* A time that is not known is as early, or as late, as can be. */
static nm_status take_allocation(void *room, const void *told, nm_error *err)
{
    births *all = room;
    const nm_allocation_row *row = told;
    bool is_over = row->end_kind != NM_END_NONE && row->free_seq != NM_NO_SEQ;
    int64_t end_seq = is_over ? row->free_seq : NEVER;
    int64_t end_ns = is_over && row->free_ns != NM_NO_TIME ? row->free_ns : NEVER;
    uint64_t number = 0;
    nm_status status = find_part(all, row, &number, err);

    if (status != NM_OK)
        return status;
    nm_birth_part_row *part = &all->parts[number];
    part->last_id = part->last_id > row->allocation_id ? part->last_id : row->allocation_id;
    part->first_seq = least(part->first_seq, row->alloc_seq);
    part->last_seq = most(part->last_seq, row->alloc_seq);
    part->first_ns = least(part->first_ns, row->alloc_ns);
    part->cost_count += row->cost_ns != 0;
    all->row_count++;
    if (all->long_events == 0)
        all->long_events = LONG_EVENTS;
    if (all->long_events < NEVER && events_between(row->alloc_seq, end_seq) >= all->long_events)
        return list(all, number, row, end_seq, end_ns, err);
    add_end(part, end_seq, end_ns);
    return NM_OK;
}

static nm_status give(const nm_birth_part_row *part, const nm_sink *sink, nm_error *err)
{
    nm_birth_part_row row = *part;

    if (row.end_seq == ALL_LONG)
        row.end_ns = row.first_ns;
    row.end_seq = row.end_seq == NEVER ? NM_NO_SEQ : row.end_seq;
    row.end_ns = row.end_ns == NEVER ? NM_NO_TIME : row.end_ns;
    return nm_give_birth_part(sink, &row, err);
}

static nm_status give_long(const nm_birth_part_row *part, const long_life *life, const nm_sink *sink, nm_error *err)
{
    nm_birth_part_row row = {.heap_id = part->heap_id,
                             .is_long = true,
                             .first_id = life->allocation_id,
                             .last_id = life->allocation_id,
                             .first_seq = life->alloc_seq,
                             .last_seq = life->alloc_seq,
                             .first_ns = life->alloc_ns,
                             .end_seq = life->end_seq,
                             .end_ns = life->end_ns};

    return give(&row, sink, err);
}

static nm_status finish(const void *room, const nm_sink *sink, nm_error *err)
{
    const births *all = room;
    nm_status status = NM_OK;

    for (size_t i = 0; i < all->numbers.count && status == NM_OK; i++)
        status = give(&all->parts[i], sink, err);
    for (size_t i = 0; i < all->list_count && status == NM_OK; i++)
        status = give_long(&all->parts[all->list[i].part], &all->list[i], sink, err);
    return status;
}

static void release(void *room)
{
    births *all = room;

    free(all->parts);
    free(all->list);
    nm_map_free(&all->numbers);
}

const nm_row_pass nm_births = {NM_ROW_ALLOCATION, sizeof(births), take_allocation, finish, release};
