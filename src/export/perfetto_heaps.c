/* SPDX-License-Identifier: Apache-2.0
 *
 * Profiles of heaps. A reader adds up the profiles of a heap up to the moment that is looked at, each less the one before it:
 * what a stack has allocated and freed must never become less. So what was live of it at one moment and no more at the next is
 * freed between them, and what came is allocated; what it did between moments is not told.
 *
 * What was live at each moment is kept of each heap and stack, and put in the order of time: the peaks of heaps lie at other
 * places than marks do. Readers take frames of one name for one, and stacks of the same frames: so does this, or they would
 * take one stack's sum for that of another.
 */
#include "export/perfetto.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/shown.h"
#include "export/profile_heaps.sql.h"
#include "export/profile_live.h"
#include "export/profile_moments.sql.h"
#include "export/profile_places.sql.h"
#include "export/profile_stacks.sql.h"
#include "report/stacks.h"

#define MOMENTS_MAX 18 /* the peak, the end, and marks */
#define NO_STACK    UINT32_MAX

enum { PROFILE_PROCESSES = 5, PROFILE_CONTINUED, PROFILE_INDEX };
enum { DUMP_PID = 1, DUMP_SAMPLE, DUMP_TIME = 9, DUMP_HEAP = 11 };
enum { SAMPLE_STACK = 1, SAMPLE_ALLOCATED, SAMPLE_FREED, SAMPLE_ALLOC_COUNT = 5, SAMPLE_FREE_COUNT };
enum { INTERNED_FUNCTION = 5, INTERNED_FRAME, INTERNED_STACK, INTERNED_PATH = 17, INTERNED_MAPPING = 19 };
enum { MAPPING_PATH = 7 };
enum { FRAME_FUNCTION = 2, FRAME_MAPPING };
enum { FLAG_CLEARED = 1, FLAG_NEEDED = 2 };

static const char baseline_name[] = "(baseline)", no_stack_name[] = "(no stack)", cut_name[] = "(callers are missing)";

typedef struct live_row {
    int64_t heap_id, ns;
    uint32_t moment, stack; /* numbers; NO_STACK: the heap's own row, so that it has one */
    int64_t live_count, live_bytes;
} live_row;

typedef struct stack_sum {
    int64_t live_count, live_bytes, alloc_count, alloc_bytes, free_count, free_bytes;
    int64_t now_count, now_bytes; /* of the moment at hand, as far as it has been read */
    bool is_met;                  /* of the heap at hand: its frames have been written */
} stack_sum;

typedef struct heaps {
    nm_perfetto *p;
    nm_stacks *stacks;
    nm_strings lists; /* each stack: the numbers of its names, the outermost first; a stack's number is its list's */
    nm_map numbers;   /* (is_baseline, stack_id or NM_NULL) -> the same */
    uint32_t *names;  /* of the stack at hand: numbers among the texts of the stacks */
    size_t name_count, name_capacity;
    struct {
        live_row *items;
        size_t count, capacity;
    } rows;
    stack_sum *sums;     /* a stack's, by its number; of the heap at hand */
    bool *is_written;    /* of each name, for the heap at hand */
    sqlite3_stmt *place; /* of a heap: its process and name */
    nm_proto interned, sample, list;
    uint32_t sequence;
    uint64_t index; /* of the profile in its sequence */
    uint32_t frames[NM_STACKS_FRAMES_MAX];
} heaps;

/* ---- What was live ------------------------------------------------------------------------------------------------- */

static nm_status add_row(heaps *h, live_row row, nm_error *err)
{
    nm_status status = nm_array_grow(&h->rows.items, &h->rows.capacity, h->rows.count + 1, sizeof *h->rows.items, err);

    if (status == NM_OK)
        h->rows.items[h->rows.count++] = row;
    return status;
}

static nm_status add_name(heaps *h, uint32_t name, nm_error *err)
{
    nm_status status = nm_array_grow(&h->names, &h->name_capacity, h->name_count + 1, sizeof *h->names, err);

    if (status == NM_OK)
        h->names[h->name_count++] = name;
    return status;
}

static nm_status add_own_name(heaps *h, const char *text, nm_error *err)
{
    uint32_t name = 0;
    nm_status status =
        nm_strings_intern(nm_stacks_strings(h->stacks), (nm_bytes){(const uint8_t *)text, strlen(text)}, &name, err);

    return status == NM_OK ? add_name(h, name, err) : status;
}

/* The names of a stack, the outermost first. */
static nm_status list_names(heaps *h, int64_t stack_id, bool is_baseline, nm_error *err)
{
    size_t frame_count;
    const nm_stacks_frame *all = nm_stacks_frames(h->stacks, &frame_count);
    bool is_cut = false;
    size_t count =
        stack_id == NM_NULL ? 0 : nm_stacks_walk(h->stacks, stack_id, h->p->export->is_raw, h->frames, &is_cut);
    nm_status status = NM_OK;

    h->name_count = 0;
    if (is_cut)
        status = add_own_name(h, cut_name, err);
    if (status == NM_OK && count == 0)
        status = add_own_name(h, is_baseline ? baseline_name : no_stack_name, err);
    for (size_t i = count; status == NM_OK && i > 0; i--)
        status = all[h->frames[i - 1]].label == 0 ? add_own_name(h, "??", err)
                                                  : add_name(h, all[h->frames[i - 1]].label, err);
    return status;
}

static nm_status number_stack(heaps *h, int64_t stack_id, bool is_baseline, uint32_t *number, nm_error *err)
{
    nm_key key = {stack_id == NM_NULL && is_baseline, (uint64_t)stack_id};
    const uint64_t *known = nm_map_get(&h->numbers, key);
    nm_status status;

    if (known != NULL) {
        *number = (uint32_t)*known;
        return NM_OK;
    }
    status = list_names(h, stack_id, is_baseline, err);
    if (status == NM_OK)
        status = nm_strings_intern(&h->lists, (nm_bytes){(const uint8_t *)h->names, h->name_count * sizeof *h->names},
                                   number, err);
    return status == NM_OK ? nm_map_put(&h->numbers, key, *number, err) : status;
}

static nm_status read_heaps(heaps *h, const nm_named_moment *moment, uint32_t number, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_profile_heaps_row row;
    nm_status status = nm_profile_heaps_ask(h->p->export->db, moment->word, &rows, err);

    while (status == NM_OK && nm_profile_heaps_next(rows, &row))
        status = add_row(h, (live_row){.heap_id = row.heap_id, .ns = row.ns, .moment = number, .stack = NO_STACK}, err);
    return nm_question_end(rows, status, err);
}

static nm_status add_live(heaps *h, live_row live, int64_t stack_id, bool is_baseline, nm_error *err)
{
    nm_status status = number_stack(h, stack_id, is_baseline, &live.stack, err);

    return status == NM_OK ? add_row(h, live, err) : status;
}

/* Of a moment of which sums are kept, and no rows of allocations. */
static nm_status read_kept(heaps *h, const nm_named_moment *moment, uint32_t number, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_profile_stacks_row row;
    nm_status status = nm_profile_stacks_ask(h->p->export->db, moment->word, false, &rows, err);

    while (status == NM_OK && nm_profile_stacks_next(rows, &row))
        status = add_live(h,
                          (live_row){.heap_id = row.heap_id,
                                     .ns = row.ns,
                                     .moment = number,
                                     .live_count = row.live_count,
                                     .live_bytes = row.live_bytes},
                          NM_NUMBER_OF(&row, stack_id), row.is_baseline, err);
    return nm_question_end(rows, status, err);
}

static nm_status take_sums(heaps *h, const nm_profile_live *live, uint32_t number, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < live->sums.count && status == NM_OK; i++) {
        const nm_profile_sum *sum = &live->sums.items[i];

        if (sum->moment == number)
            status = add_live(h,
                              (live_row){.heap_id = sum->heap_id,
                                         .ns = sum->shown_ns,
                                         .moment = number,
                                         .live_count = sum->live_count,
                                         .live_bytes = sum->live_bytes},
                              sum->stack_id, sum->is_baseline, err);
    }
    return status;
}

typedef struct moments {
    nm_named_moment items[MOMENTS_MAX];
    char *words[MOMENTS_MAX]; /* owned; what they borrow */
    uint32_t count;
    nm_profile_live live;
} moments;

/* A moment that the database does not tell of is left out. */
static nm_status add_moment(heaps *h, moments *all, const char *word, nm_error *err)
{
    nm_named_moment *moment = &all->items[all->count];
    char *copy = strdup(word);
    nm_status status = copy == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                                    : nm_moment_find(h->p->export->db, copy, moment, err);

    if (status == NM_ERR_USAGE || copy == NULL) {
        free(copy);
        return copy == NULL ? status : NM_OK;
    }
    all->words[all->count] = copy;
    if (status == NM_OK && moment->has_rows)
        status = nm_profile_live_add(&all->live, h->p->export->db, moment->word, all->count, err);
    all->count++;
    return status;
}

static nm_status find_moments(heaps *h, moments *all, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_profile_moments_row row;
    nm_status status = nm_profile_moments_ask(h->p->export->db, MOMENTS_MAX, &rows, err);

    while (status == NM_OK && all->count < MOMENTS_MAX && nm_profile_moments_next(rows, &row))
        status = add_moment(h, all, row.moment, err);
    return nm_question_end(rows, status, err);
}

static nm_status read_moments(heaps *h, nm_error *err)
{
    moments *all = calloc(1, sizeof *all);
    nm_status status =
        all == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : find_moments(h, all, err);

    if (status == NM_OK)
        status = nm_profile_live_read(&all->live, h->p->export->db, err);
    for (uint32_t i = 0; status == NM_OK && i < all->count; i++) {
        status = read_heaps(h, &all->items[i], i, err);
        if (status == NM_OK)
            status = all->items[i].has_rows ? take_sums(h, &all->live, i, err) : read_kept(h, &all->items[i], i, err);
    }
    for (uint32_t i = 0; all != NULL && i < all->count; i++)
        free(all->words[i]);
    if (all != NULL)
        nm_profile_live_free(&all->live);
    free(all);
    return status;
}

static int compare_rows(const void *left, const void *right)
{
    const live_row *a = left, *b = right;

    if (a->heap_id != b->heap_id)
        return a->heap_id < b->heap_id ? -1 : 1;
    if (a->ns != b->ns)
        return a->ns < b->ns ? -1 : 1;
    if (a->moment != b->moment)
        return a->moment < b->moment ? -1 : 1;
    return (a->stack > b->stack) - (a->stack < b->stack);
}

/* ---- Texts, frames and stacks -------------------------------------------------------------------------------------- */

/* A packet of the heap's own sequence, in which what is interned stays. */
static void begin_packet(heaps *h, int64_t ns, bool is_first)
{
    nm_perfetto_begin(h->p, h->sequence, ns);
    nm_proto_uint(&h->p->packet, NM_PACKET_FLAGS, is_first ? FLAG_CLEARED | FLAG_NEEDED : FLAG_NEEDED);
}

static void add_frame(heaps *h, uint32_t name)
{
    nm_perfetto *p = h->p;
    nm_bytes text = nm_strings_get(nm_stacks_strings(h->stacks), name);

    if (h->is_written[name])
        return;
    h->is_written[name] = true;
    nm_proto_clear(&p->part);
    nm_proto_uint(&p->part, 1, name);
    nm_proto_bytes(&p->part, 2, text.data, text.len);
    nm_proto_message(&h->interned, INTERNED_FUNCTION, &p->part);
    nm_proto_clear(&p->part);
    nm_proto_uint(&p->part, 1, name);
    nm_proto_uint(&p->part, FRAME_FUNCTION, name);
    nm_proto_uint(&p->part, FRAME_MAPPING, 1);
    nm_proto_message(&h->interned, INTERNED_FRAME, &p->part);
}

/* The stack and what it is made of, into h->interned. */
static void add_stack(heaps *h, uint32_t number)
{
    nm_bytes list = nm_strings_get(&h->lists, number);

    if (h->sums[number].is_met)
        return;
    h->sums[number].is_met = true;
    nm_proto_clear(&h->list);
    nm_proto_uint(&h->list, 1, number);
    for (size_t at = 0; at < list.len; at += sizeof(uint32_t)) {
        uint32_t name;

        memcpy(&name, list.data + at, sizeof name);
        add_frame(h, name);
        nm_proto_uint(&h->list, 2, name);
    }
    nm_proto_message(&h->interned, INTERNED_STACK, &h->list);
}

/* The one mapping: readers want frames to have one. */
static void add_mapping(heaps *h)
{
    nm_perfetto *p = h->p;

    nm_proto_clear(&p->part);
    nm_proto_uint(&p->part, 1, 1);
    nm_proto_text(&p->part, 2, "program");
    nm_proto_message(&h->interned, INTERNED_PATH, &p->part);
    nm_proto_clear(&p->part);
    nm_proto_uint(&p->part, 1, 1);
    nm_proto_uint(&p->part, MAPPING_PATH, 1);
    nm_proto_message(&h->interned, INTERNED_MAPPING, &p->part);
}

/* ---- Profiles ------------------------------------------------------------------------------------------------------ */

/* From what was live of the stack at the moment before to what is now. */
static void move_sum(stack_sum *sum)
{
    int64_t more_count = sum->now_count - sum->live_count, more_bytes = sum->now_bytes - sum->live_bytes;

    *(more_count > 0 ? &sum->alloc_count : &sum->free_count) += llabs(more_count);
    *(more_bytes > 0 ? &sum->alloc_bytes : &sum->free_bytes) += llabs(more_bytes);
    sum->live_count = sum->now_count;
    sum->live_bytes = sum->now_bytes;
    sum->now_count = sum->now_bytes = 0;
}

static void add_sample(heaps *h, uint32_t number)
{
    const stack_sum *sum = &h->sums[number];

    nm_proto_clear(&h->sample);
    nm_proto_uint(&h->sample, SAMPLE_STACK, number);
    nm_proto_uint(&h->sample, SAMPLE_ALLOCATED, (uint64_t)sum->alloc_bytes);
    nm_proto_uint(&h->sample, SAMPLE_FREED, (uint64_t)sum->free_bytes);
    nm_proto_uint(&h->sample, SAMPLE_ALLOC_COUNT, (uint64_t)sum->alloc_count);
    nm_proto_uint(&h->sample, SAMPLE_FREE_COUNT, (uint64_t)sum->free_count);
    nm_proto_message(&h->p->inner, DUMP_SAMPLE, &h->sample);
}

/* p->inner is the dump so far: of which process and heap. */
static nm_status put_profile(heaps *h, const live_row *rows, size_t count, nm_error *err)
{
    nm_perfetto *p = h->p;
    bool is_first = h->index == 0;

    nm_proto_clear(&h->interned);
    if (is_first)
        add_mapping(h);
    for (size_t i = 0; i < count; i++) {
        stack_sum *sum = rows[i].stack == NO_STACK ? NULL : &h->sums[rows[i].stack];

        if (sum == NULL)
            continue;
        add_stack(h, rows[i].stack);
        sum->now_count += rows[i].live_count; /* of all that look alike */
        sum->now_bytes += rows[i].live_bytes;
    }
    for (uint32_t number = 1; number <= h->lists.count; number++)
        if (h->sums[number].is_met) {
            move_sum(&h->sums[number]);
            add_sample(h, number);
        }
    nm_proto_uint(&p->inner, DUMP_TIME, (uint64_t)rows->ns);
    nm_proto_clear(&p->part);
    nm_proto_message(&p->part, PROFILE_PROCESSES, &p->inner);
    nm_proto_uint(&p->part, PROFILE_INDEX, h->index++);
    begin_packet(h, rows->ns, is_first);
    nm_proto_message(&p->packet, NM_PACKET_PROFILE, &p->part);
    nm_proto_message(&p->packet, NM_PACKET_INTERNED, &h->interned);
    nm_proto_clear(&p->part);
    return nm_perfetto_put(p, err);
}

static nm_status begin_dump(heaps *h, int64_t heap_id, nm_error *err)
{
    char shown[NM_PERFETTO_NAME_BYTES];
    nm_profile_places_row row;

    nm_profile_places_bind(h->place, heap_id);
    if (!nm_profile_places_next(h->place, &row))
        return nm_db_fail(h->p->export->db, err);
    nm_proto_clear(&h->p->inner);
    nm_proto_uint(&h->p->inner, DUMP_PID, (uint64_t)row.pid);
    nm_proto_text(&h->p->inner, DUMP_HEAP, nm_shown_text(shown, sizeof shown, row.name));
    return NM_OK;
}

static void begin_heap(heaps *h)
{
    h->sequence++;
    h->index = 0;
    memset(h->sums, 0, (h->lists.count + 1) * sizeof *h->sums);
    memset(h->is_written, 0, nm_stacks_strings(h->stacks)->count + 1);
}

static nm_status put_rows(heaps *h, nm_error *err)
{
    const live_row *rows = h->rows.items;
    nm_status status = NM_OK;

    for (size_t from = 0, to; status == NM_OK && from < h->rows.count; from = to) {
        for (to = from + 1;
             to < h->rows.count && rows[to].heap_id == rows[from].heap_id && rows[to].moment == rows[from].moment; to++)
            ;
        if (from == 0 || rows[from].heap_id != rows[from - 1].heap_id)
            begin_heap(h);
        status = begin_dump(h, rows[from].heap_id, err);
        if (status == NM_OK)
            status = put_profile(h, &rows[from], to - from, err);
    }
    return status;
}

static nm_status make_room(heaps *h, nm_error *err)
{
    h->sums = calloc(h->lists.count + 1, sizeof *h->sums);
    h->is_written = calloc(nm_stacks_strings(h->stacks)->count + 1, sizeof *h->is_written);
    if (h->sums == NULL || h->is_written == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    qsort(h->rows.items, h->rows.count, sizeof *h->rows.items, compare_rows);
    return NM_OK;
}

static void close_all(heaps *h)
{
    sqlite3_finalize(h->place);
    nm_stacks_close(h->stacks);
    nm_map_free(&h->numbers);
    nm_proto_free(&h->interned);
    nm_proto_free(&h->sample);
    nm_proto_free(&h->list);
    nm_strings_free(&h->lists);
    free(h->names);
    free(h->rows.items);
    free(h->sums);
    free(h->is_written);
    free(h);
}

nm_status nm_perfetto_put_heaps(nm_perfetto *p, nm_error *err)
{
    heaps *h = calloc(1, sizeof *h);
    nm_status status;

    if (h == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    h->p = p;
    h->sequence = NM_PERFETTO_HEAP_SEQUENCES - 1;
    status = nm_stacks_open(p->export->db, &h->stacks, err);
    if (status == NM_OK)
        status = nm_profile_places_ask(p->export->db, NM_NULL, &h->place, err);
    if (status == NM_OK)
        status = read_moments(h, err);
    if (status == NM_OK && h->rows.count > 0)
        status = make_room(h, err);
    if (status == NM_OK)
        status = put_rows(h, err);
    close_all(h);
    return status;
}
