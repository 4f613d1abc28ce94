/* SPDX-License-Identifier: Apache-2.0
 *
 * The free ranges of a pool at a moment, by part and size, and the blocks between them. The present is in the trees, and
 * looking at all of it costs as much as there is: moments.c keeps that in proportion to the events. The peak, and when the pool
 * held most, are put together at the end, from what was there then and still is, and from what has ended since: an event costs
 * the same, however often they rise. The end may be as the source lists it.
 */
#include "analysis/passes.h"

#include <stdlib.h>

#include "analysis/blockers.h"
#include "analysis/moments.h"
#include "base/buffer.h"
#include "base/number.h"
#include "replay/lookup.h"
#include "replay/pass.h"
#include "replay/sub_pool.h"

enum { NEED_MOMENTS };

#define CLASS_COUNT       64
#define BLOCKERS_MAX      64 /* stacks of a pool at its peak and at the end; one more row has all the rest */
#define BLOCKERS_AT_MARKS 16 /* the same at marks and failures, of which there may be many */

/* What was there at a moment of a pool and has ended since: with what is still there it makes up the moment. */
typedef struct gone_set {
    uint64_t epoch; /* of the pool at that moment; if it had a later one since, they are void */
    nm_segments_then segments;
    nm_blocks_then blocks;
} gone_set;

/* What a source's own list says of a pool at the end. */
typedef struct listed_state {
    bool is_known;
    nm_segments_then segments;
    nm_blocks_then blocks;
    nm_segments_then gaps;
} listed_state;

typedef struct heap_room {
    gone_set at_peak, at_reserve;
    listed_state listed;
} heap_room;

static heap_room *room_of(const nm_run *run, const nm_heap *pool)
{
    return nm_heap_room(run, pool);
}

/* ---- What was there ---------------------------------------------------------------------------------------------- */

static nm_status add_segment(nm_segments_then *list, const nm_segment_then *segment, nm_error *err)
{
    nm_status status = nm_array_grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items, err);

    if (status == NM_OK)
        list->items[list->count++] = *segment;
    return status;
}

static nm_status add_block(nm_blocks_then *list, const nm_block_then *block, nm_error *err)
{
    nm_status status = nm_array_grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items, err);

    if (status == NM_OK)
        list->items[list->count++] = *block;
    return status;
}

/* At that moment it may have been in another part of the pool. */
static const nm_sub_pool *part_at(const nm_live *range, uint64_t epoch)
{
    return range->old_part != NULL && range->old_epoch >= epoch ? range->old_part : range->part;
}

static nm_segment_then segment_of(const nm_live *range, uint64_t epoch)
{
    return (nm_segment_then){
        .from = range->node.key,
        .to = range->node.value,
        .part = part_at(range, epoch),
        .driver = range->heap,
        .stream = range->row.stream,
        .has_stream = range->row.has_stream,
        .is_mapped = range->is_mapped,
    };
}

static nm_block_then block_of(const nm_live *block)
{
    const nm_live_row *row = &block->row;

    return (nm_block_then){
        .from = block->node.key,
        .to = block->node.value,
        .allocation_id = row->allocation_id,
        .stack_id = nm_live_stack(block),
        .alloc_seq = block->is_baseline ? NM_NO_SEQ : block->birth_seq,
        .alloc_ns = row->alloc_ns,
        .waste_bytes = nm_sub_pool_block_waste(row->requested_bytes, row->block_bytes),
        .part = block->part,
        .is_baseline = block->is_baseline,
        .is_covering = block->is_covering,
    };
}

/* What went before that moment is not wanted any more. */
static void begin_anew(gone_set *gone, uint64_t epoch)
{
    if (gone->epoch == epoch)
        return;
    gone->epoch = epoch;
    gone->segments.count = 0;
    gone->blocks.count = 0;
}

static nm_status add_gone_segment(gone_set *gone, uint64_t epoch, const nm_live *range, nm_error *err)
{
    nm_segment_then segment;

    if (range->begin_epoch >= epoch)
        return NM_OK;
    begin_anew(gone, epoch);
    segment = segment_of(range, epoch);
    return add_segment(&gone->segments, &segment, err);
}

static nm_status add_gone_block(gone_set *gone, uint64_t epoch, const nm_live *block, nm_error *err)
{
    nm_block_then then;

    if (block->begin_epoch >= epoch)
        return NM_OK;
    begin_anew(gone, epoch);
    then = block_of(block);
    return add_block(&gone->blocks, &then, err);
}

/* It is about to end, or to be cut: it may have been there at either moment. */
static nm_status lose_segment(const nm_run *run, const nm_live *range, nm_error *err)
{
    const nm_heap *pool = range->owner;
    heap_room *room = room_of(run, pool);
    nm_status status = add_gone_segment(&room->at_peak, pool->peak_epoch, range, err);

    return status == NM_OK ? add_gone_segment(&room->at_reserve, pool->reserve_epoch, range, err) : status;
}

static nm_status lose_block(const nm_run *run, const nm_live *block, nm_error *err)
{
    const nm_heap *pool = block->heap;
    heap_room *room = room_of(run, pool);
    nm_status status = NM_OK;

    if (!nm_is_pool(pool))
        return NM_OK;
    status = add_gone_block(&room->at_peak, pool->peak_epoch, block, err);
    return status == NM_OK ? add_gone_block(&room->at_reserve, pool->reserve_epoch, block, err) : status;
}

/* ---- A picture of a moment --------------------------------------------------------------------------------------- */

typedef struct size_class {
    uint64_t gap_count, free_bytes, largest_bytes;
} size_class;

typedef struct part_tally {
    const nm_sub_pool *part;
    nm_sub_pool_figures figures;
    uint64_t waste_bytes, unknown_waste_count;
    size_class classes[CLASS_COUNT]; /* by the power of two */
} part_tally;

typedef struct picture {
    nm_segments_then segments;  /* owned; in order of address once it is sorted */
    nm_blocks_then blocks;      /* those that are covering */
    nm_blocks_then overlapping; /* the others, and empty ones: they are in nobody's way, but have sizes */
    part_tally *parts;          /* owned */
    size_t part_count;
    bool has_figures;     /* those of the parts come from it; else they have been written */
    size_t blocker_limit; /* stacks with rows of their own */
} picture;

static void free_picture(picture *seen)
{
    free(seen->segments.items);
    free(seen->blocks.items);
    free(seen->overlapping.items);
    free(seen->parts);
}

static nm_status make_tallies(const nm_heap *pool, picture *seen, nm_error *err)
{
    seen->parts = nm_replay_allocate((pool->part_count + 1) * sizeof *seen->parts, err);
    if (seen->parts == NULL)
        return NM_ERR_MEMORY;
    for (const nm_sub_pool *part = pool->parts; part != NULL; part = part->next)
        seen->parts[seen->part_count++].part = part;
    return NM_OK;
}

static part_tally *tally_of(picture *seen, const nm_sub_pool *part)
{
    for (size_t i = 0; i < seen->part_count; i++)
        if (seen->parts[i].part == part)
            return &seen->parts[i];
    return NULL;
}

static nm_status put_block(picture *seen, const nm_block_then *block, nm_error *err)
{
    return add_block(block->is_covering && block->from < block->to ? &seen->blocks : &seen->overlapping, block, err);
}

/* What is there now, and was before `epoch` already. */
static nm_status see_live(const nm_heap *pool, uint64_t epoch, picture *seen, nm_error *err)
{
    nm_status status = NM_OK;

    for (nm_tree_node *node = nm_tree_first(&pool->arena->ranges); node != NULL && status == NM_OK;
         node = nm_tree_next(node)) {
        const nm_live *range = NM_TREE_ITEM(node, nm_live, node);
        nm_segment_then segment;

        if (range->owner != pool || range->begin_epoch >= epoch)
            continue;
        segment = segment_of(range, epoch);
        status = add_segment(&seen->segments, &segment, err);
    }
    for (nm_tree_node *node = nm_tree_first(&pool->blocks); node != NULL && status == NM_OK;
         node = nm_tree_next(node)) {
        const nm_live *block = NM_TREE_ITEM(node, nm_live, node);
        nm_block_then then = block_of(block);

        if (block->begin_epoch < epoch)
            status = put_block(seen, &then, err);
    }
    return status;
}

static nm_status see_gone(const gone_set *gone, uint64_t epoch, picture *seen, nm_error *err)
{
    nm_status status = NM_OK;

    if (gone->epoch != epoch)
        return NM_OK;
    for (size_t i = 0; i < gone->segments.count && status == NM_OK; i++)
        status = add_segment(&seen->segments, &gone->segments.items[i], err);
    for (size_t i = 0; i < gone->blocks.count && status == NM_OK; i++)
        status = put_block(seen, &gone->blocks.items[i], err);
    return status;
}

static int compare_segments(const void *left, const void *right)
{
    const nm_segment_then *a = left;
    const nm_segment_then *b = right;

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

static int compare_blocks(const void *left, const void *right)
{
    const nm_block_then *a = left;
    const nm_block_then *b = right;

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->allocation_id < b->allocation_id ? -1 : a->allocation_id > b->allocation_id;
}

/* Only a stream that contradicts itself has segments over each other: what two have is the first one's. */
static void part_segments(nm_segments_then *list)
{
    uint64_t end = 0;
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++) {
        nm_segment_then segment = list->items[i];

        segment.from = segment.from > end ? segment.from : end;
        if (segment.from >= segment.to)
            continue;
        end = segment.to;
        list->items[count++] = segment;
    }
    list->count = count;
}

/* The same of blocks: such as a source lists over each other. */
static void part_blocks(nm_blocks_then *list)
{
    uint64_t end = 0;
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++) {
        nm_block_then block = list->items[i];

        block.from = block.from > end ? block.from : end;
        if (block.from >= block.to)
            continue;
        end = block.to;
        list->items[count++] = block;
    }
    list->count = count;
}

static void sort(picture *seen)
{
    if (seen->segments.count > 0)
        qsort(seen->segments.items, seen->segments.count, sizeof *seen->segments.items, compare_segments);
    if (seen->blocks.count > 0)
        qsort(seen->blocks.items, seen->blocks.count, sizeof *seen->blocks.items, compare_blocks);
    part_segments(&seen->segments);
    part_blocks(&seen->blocks);
}

/* ---- Figures of it ----------------------------------------------------------------------------------------------- */

static void count_gap(part_tally *tally, uint64_t bytes)
{
    size_class *class;

    if (tally == NULL || bytes == 0)
        return;
    class = &tally->classes[nm_log2(bytes)];
    class->gap_count++;
    nm_sum_add(&class->free_bytes, bytes);
    if (bytes > class->largest_bytes)
        class->largest_bytes = bytes;
    tally->figures.gap_count++;
    if (bytes > tally->figures.largest_free_bytes)
        tally->figures.largest_free_bytes = bytes;
}

/* As nm_sub_pool_is_joined. */
static bool is_joined(const nm_segment_then *left, const nm_segment_then *right)
{
    return left != NULL && left->to == right->from && left->is_mapped && right->is_mapped &&
           left->driver == right->driver && left->part == right->part && left->has_stream == right->has_stream &&
           left->stream == right->stream;
}

typedef struct open_gap { /* may go on in the next segment */
    const nm_segment_then *segment;
    uint64_t bytes;
} open_gap;

static void close_gap(picture *seen, open_gap *gap)
{
    if (gap->bytes > 0)
        count_gap(tally_of(seen, gap->segment->part), gap->bytes);
    gap->bytes = 0;
}

static void add_gap(picture *seen, open_gap *gap, const nm_segment_then *segment, uint64_t from, uint64_t to)
{
    bool goes_on = gap->bytes > 0 && from == segment->from && is_joined(gap->segment, segment);

    if (!goes_on)
        close_gap(seen, gap);
    gap->bytes = goes_on ? nm_add_saturated(gap->bytes, to - from) : to - from;
    gap->segment = segment;
}

/* The free ranges of a segment, and what is free and stuck in it. A gap at its end stays open. */
static void look_into(picture *seen, const nm_segment_then *segment, open_gap *gap)
{
    part_tally *tally = tally_of(seen, segment->part);
    uint64_t at = segment->from;
    uint64_t free_bytes = 0;
    bool is_empty = true;

    for (size_t i = nm_blockers_first(&seen->blocks, segment->from);
         i < seen->blocks.count && seen->blocks.items[i].from < segment->to; i++) {
        const nm_block_then *block = &seen->blocks.items[i];

        is_empty = false;
        if (block->from > at) {
            add_gap(seen, gap, segment, at, block->from);
            free_bytes += block->from - at;
        }
        close_gap(seen, gap);
        at = block->to > at ? block->to : at;
    }
    if (at < segment->to) {
        add_gap(seen, gap, segment, at, segment->to);
        free_bytes += segment->to - at;
    }
    if (tally == NULL)
        return;
    nm_sum_add(&tally->figures.reserved_bytes, segment->to - segment->from);
    nm_sum_add(&tally->figures.free_bytes, free_bytes);
    if (!is_empty)
        nm_sum_add(&tally->figures.stuck_bytes, free_bytes);
}

static void count_waste(picture *seen, const nm_blocks_then *blocks)
{
    for (size_t i = 0; i < blocks->count; i++) {
        const nm_block_then *block = &blocks->items[i];
        part_tally *tally = block->part == NULL ? NULL : tally_of(seen, block->part);

        if (tally == NULL)
            continue;
        tally->unknown_waste_count += block->waste_bytes == NM_UNKNOWN_NUMBER;
        if (block->waste_bytes != NM_UNKNOWN_NUMBER)
            nm_sum_add(&tally->waste_bytes, (uint64_t)block->waste_bytes);
    }
}

/* `listed`: the free ranges as the source lists them; NULL: what the blocks leave. */
static void add_up(picture *seen, const nm_segments_then *listed)
{
    open_gap gap = {0};

    for (size_t i = 0; i < seen->segments.count; i++)
        look_into(seen, &seen->segments.items[i], &gap);
    close_gap(seen, &gap);
    count_waste(seen, &seen->blocks);
    count_waste(seen, &seen->overlapping);
    for (size_t i = 0; i < seen->part_count; i++) {
        part_tally *tally = &seen->parts[i];

        tally->figures.waste_bytes = nm_sub_pool_waste(tally->waste_bytes, tally->unknown_waste_count);
        if (listed == NULL)
            continue;
        tally->figures.gap_count = tally->figures.largest_free_bytes = 0;
        for (unsigned power = 0; power < CLASS_COUNT; power++)
            tally->classes[power] = (size_class){0};
    }
    for (size_t i = 0; listed != NULL && i < listed->count; i++)
        count_gap(tally_of(seen, listed->items[i].part), listed->items[i].to - listed->items[i].from);
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static nm_status write_part(const nm_run *run, uint64_t moment_id, const nm_sub_pool *part,
                            const nm_sub_pool_figures *figures, nm_error *err)
{
    nm_part_sample_row row = {.moment_id = moment_id, .part_id = part->row.part_id, .figures = *figures};

    if (figures->reserved_bytes == 0 || !run->replay->sink.wants[NM_ROW_PART_SAMPLE])
        return NM_OK;
    return nm_give_part_sample(&run->replay->sink, &row, err);
}

static nm_status write_gaps(const nm_run *run, uint64_t moment_id, const nm_heap *pool, const part_tally *tally,
                            nm_error *err)
{
    nm_status status = NM_OK;

    for (unsigned power = 0; power < CLASS_COUNT && status == NM_OK && run->replay->sink.wants[NM_ROW_GAP]; power++) {
        const size_class *class = &tally->classes[power];
        nm_gap_row row = {
            .moment_id = moment_id,
            .heap_id = pool->id,
            .part_id = tally->part->row.part_id,
            .class_bytes = UINT64_C(1) << power,
            .gap_count = class->gap_count,
            .free_bytes = class->free_bytes,
            .largest_bytes = class->largest_bytes,
        };

        if (class->gap_count > 0)
            status = nm_give_gap(&run->replay->sink, &row, err);
    }
    return status;
}

static nm_status write_picture(const nm_run *run, uint64_t moment_id, const nm_heap *pool, const picture *seen,
                               nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < seen->part_count && status == NM_OK; i++) {
        if (seen->has_figures)
            status = write_part(run, moment_id, seen->parts[i].part, &seen->parts[i].figures, err);
        if (status == NM_OK)
            status = write_gaps(run, moment_id, pool, &seen->parts[i], err);
    }
    if (status != NM_OK)
        return status;
    return nm_blockers_write(&run->replay->sink, moment_id, pool, &seen->segments, &seen->blocks, seen->blocker_limit,
                             err);
}

/* ---- Moments ----------------------------------------------------------------------------------------------------- */

/* At the present one so many stacks have rows of their own; 0: neither gaps nor blockers. */
static nm_status write_now(const nm_run *run, uint64_t moment_id, const nm_heap *pool, size_t blocker_limit,
                           nm_error *err)
{
    picture seen = {.blocker_limit = blocker_limit};
    nm_status status = NM_OK;

    for (const nm_sub_pool *part = pool->parts; part != NULL && status == NM_OK; part = part->next) {
        nm_sub_pool_figures figures = nm_sub_pool_figures_of(part);

        status = write_part(run, moment_id, part, &figures, err);
    }
    if (status != NM_OK || blocker_limit == 0)
        return status;
    status = make_tallies(pool, &seen, err);
    if (status == NM_OK)
        status = see_live(pool, UINT64_MAX, &seen, err);
    if (status == NM_OK) {
        sort(&seen);
        add_up(&seen, NULL);
        status = write_picture(run, moment_id, pool, &seen, err);
    }
    free_picture(&seen);
    return status;
}

/* A moment that was when the pool had come to `epoch`. */
static nm_status write_then(const nm_run *run, uint64_t moment_id, const nm_heap *pool, uint64_t epoch,
                            const gone_set *gone, nm_error *err)
{
    picture seen = {.has_figures = true, .blocker_limit = BLOCKERS_MAX};
    nm_status status = make_tallies(pool, &seen, err);

    if (status == NM_OK)
        status = see_live(pool, epoch, &seen, err);
    if (status == NM_OK)
        status = see_gone(gone, epoch, &seen, err);
    if (status == NM_OK) {
        sort(&seen);
        add_up(&seen, NULL);
        status = write_picture(run, moment_id, pool, &seen, err);
    }
    free_picture(&seen);
    return status;
}

static nm_status write_end(const nm_run *run, uint64_t moment_id, const nm_heap *pool, nm_error *err)
{
    const listed_state *state = &room_of(run, pool)->listed;
    picture seen = {.has_figures = true, .blocker_limit = BLOCKERS_MAX};
    nm_status status;

    if (!state->is_known)
        return write_now(run, moment_id, pool, BLOCKERS_MAX, err);
    status = make_tallies(pool, &seen, err);
    for (size_t i = 0; i < state->segments.count && status == NM_OK; i++)
        status = add_segment(&seen.segments, &state->segments.items[i], err);
    for (size_t i = 0; i < state->blocks.count && status == NM_OK; i++)
        status = put_block(&seen, &state->blocks.items[i], err);
    if (status == NM_OK) {
        sort(&seen);
        add_up(&seen, &state->gaps);
        status = write_picture(run, moment_id, pool, &seen, err);
    }
    free_picture(&seen);
    return status;
}

/* The pools of a process (NULL: of all) as they are, at the mark or the failure that was told last. */
static nm_status take_moment(const nm_run *run, const nm_process *only, nm_error *err)
{
    const nm_run *moments = run->needs[NEED_MOMENTS];
    const nm_process *process = only != NULL ? only : run->replay->first_process;
    nm_status status = NM_OK;

    for (; process != NULL && status == NM_OK; process = only != NULL ? NULL : process->next) {
        const nm_heap *heap = nm_moments_has_figures(moments, process) ? process->heaps : NULL;

        for (; heap != NULL && status == NM_OK; heap = heap->next_of_process)
            if (nm_is_pool(heap))
                status = write_now(run, nm_moments_last(moments), heap,
                                   nm_moments_has_detail(moments, heap) ? BLOCKERS_AT_MARKS : 0, err);
    }
    return status;
}

static nm_status end(const nm_run *run, nm_error *err)
{
    const nm_run *moments = run->needs[NEED_MOMENTS];
    nm_status status = NM_OK;

    for (const nm_heap *heap = run->replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next)
        if (nm_is_pool(heap) && nm_moments_peak_of(moments, heap) != 0)
            status = write_then(run, nm_moments_peak_of(moments, heap), heap, heap->peak_epoch,
                                &room_of(run, heap)->at_peak, err);
    for (const nm_heap *heap = run->replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next)
        if (nm_is_pool(heap))
            status = write_end(run, nm_moments_end(moments), heap, err);
    for (const nm_heap *heap = run->replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next)
        if (nm_moments_reserve_of(moments, heap) != 0)
            status = write_then(run, nm_moments_reserve_of(moments, heap), heap, heap->reserve_epoch,
                                &room_of(run, heap)->at_reserve, err);
    return status;
}

/* ---- The state that a source lists ------------------------------------------------------------------------------- */

static uint64_t end_of(const nm_event *event)
{
    return event->block_bytes > UINT64_MAX - event->address ? UINT64_MAX : event->address + event->block_bytes;
}

static nm_status list_segment(const nm_change *change, listed_state *state, nm_error *err)
{
    nm_segment_then segment = {
        .from = change->context->event->address,
        .to = end_of(change->context->event),
        .part = change->part,
        .is_mapped = change->live != NULL && change->live->is_mapped,
    };

    return add_segment(&state->segments, &segment, err);
}

/* What is known of it: its birth from the events, its place and stack from the list where they do not say. */
static nm_status list_block(const nm_run *run, const nm_change *change, listed_state *state, nm_error *err)
{
    const nm_event *event = change->context->event;
    nm_block_then block = {.alloc_seq = NM_NO_SEQ, .alloc_ns = NM_NO_TIME, .is_baseline = true};

    if (change->live != NULL)
        block = block_of(change->live);
    block.from = event->address;
    block.to = end_of(event);
    block.waste_bytes = nm_sub_pool_block_waste(event->requested_bytes, event->block_bytes);
    block.part = change->part;
    block.is_covering = true;
    if (block.stack_id == 0 && nm_replay_knows_stack(run->replay, event->stack_id))
        block.stack_id = event->stack_id;
    return add_block(&state->blocks, &block, err);
}

static nm_status list_gap(const nm_change *change, listed_state *state, nm_error *err)
{
    const nm_event *event = change->context->event;
    nm_segment_then gap = {.from = event->address, .to = end_of(event), .part = change->part};

    return add_segment(&state->gaps, &gap, err);
}

static nm_status list(const nm_run *run, const nm_change *change, nm_error *err)
{
    const nm_event *event = change->context->event;
    listed_state *state = &room_of(run, change->heap)->listed;

    state->is_known = true;
    if (event->kind == NM_EVENT_STATE_SEGMENT)
        return list_segment(change, state, err);
    return event->flags & NM_FLAG_IDLE ? list_gap(change, state, err) : list_block(run, change, state, err);
}

/* ---- The pass ------------------------------------------------------------------------------------------------------ */

static nm_status take_end(nm_run *run, const nm_change *change, nm_error *err)
{
    return lose_block(run, change->live, err);
}

static nm_status take_segment_out(nm_run *run, const nm_change *change, nm_error *err)
{
    return lose_segment(run, change->live, err);
}

static nm_status take_mark(nm_run *run, const nm_change *change, nm_error *err)
{
    return take_moment(run, change->context->process, err);
}

static nm_status take_listed(nm_run *run, const nm_change *change, nm_error *err)
{
    return list(run, change, err);
}

static nm_status take_stream_end(nm_run *run, const nm_change *change, nm_error *err)
{
    (void)change;
    return end(run, err);
}

static void release(nm_run *run)
{
    for (const nm_heap *heap = run->replay->first_heap; heap != NULL; heap = heap->next) {
        heap_room *room = room_of(run, heap);

        free(room->at_peak.segments.items);
        free(room->at_peak.blocks.items);
        free(room->at_reserve.segments.items);
        free(room->at_reserve.blocks.items);
        free(room->listed.segments.items);
        free(room->listed.blocks.items);
        free(room->listed.gaps.items);
    }
}

static const nm_pass *const needs[] = {[NEED_MOMENTS] = &nm_moments_pass, NULL};

const nm_pass nm_fragments_pass = {
    .name = "fragments",
    .gives = {[NM_ROW_PART_SAMPLE] = true, [NM_ROW_GAP] = true, [NM_ROW_BLOCKER] = true},
    .needs = needs,
    .wants = {[NM_CHANGE_ENDING] = take_end,
              [NM_CHANGE_SEGMENT_OUT] = take_segment_out,
              [NM_CHANGE_MARKED] = take_mark,
              [NM_CHANGE_FAILED] = take_mark,
              [NM_CHANGE_LISTED] = take_listed,
              [NM_CHANGE_END] = take_stream_end},
    .room = {[NM_OWNER_HEAP] = sizeof(heap_room)},
    .release = release,
};
