/* SPDX-License-Identifier: Apache-2.0
 *
 * Events wait in a queue while the first of them made driver memory that is unclaimed: live, and with no block in it yet.
 * Only such memory is known here, by the addresses of its process and device. Where none waits, events pass through. Until a device
 * of a process has a pool at all, what waits is not looked for by address: a program without pools would pay for that with each call.
 */
#include "source/claims.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/tree.h"

typedef struct claim_arena { /* one device of one process */
    uint64_t process_id, device_id;
    bool has_pool; /* until then no range is in `unclaimed` */
    nm_tree unclaimed;
    struct claim_arena *next; /* of the process */
} claim_arena;

typedef struct claim_heap {
    claim_arena *arena;
    bool is_driver, is_pool;
} claim_heap;

typedef struct claim_range { /* driver memory whose event waits */
    nm_tree_node node;       /* its value is the address behind the last byte */
    claim_arena *arena;      /* that it is unclaimed in, or may be while that has no pool; NULL: no more */
    uint64_t number;         /* of its event */
    struct claim_range *next;
} claim_range;

struct nm_claims {
    nm_source *source;
    nm_map heaps;     /* number -> claim_heap */
    nm_map threads;   /* number -> process */
    nm_map arenas;    /* (process, device) -> claim_arena */
    nm_map processes; /* number -> its first claim_arena */
    nm_event *events; /* a circle of `capacity`, a power of two: those with numbers from first_number on */
    size_t capacity;
    uint64_t first_number, next_number;
    claim_range *first, **last; /* in the order of their events; unclaimed or not */
    nm_status end;              /* what the source said last, where that was not NM_OK */
};

nm_status nm_claims_new(nm_source *source, nm_claims **out, nm_error *err)
{
    nm_claims *claims = calloc(1, sizeof *claims);

    if (claims == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    claims->source = source;
    claims->last = &claims->first;
    *out = claims;
    return NM_OK;
}

void nm_claims_free(nm_claims *claims)
{
    if (claims == NULL)
        return;
    while (claims->first != NULL) {
        claim_range *first = claims->first;

        claims->first = first->next;
        free(first);
    }
    nm_map_free_pointers(&claims->heaps);
    nm_map_free_pointers(&claims->arenas);
    nm_map_free(&claims->processes);
    nm_map_free(&claims->threads);
    free(claims->events);
    free(claims);
}

/* ---- Heaps and devices ---- */

static nm_status find_arena(nm_claims *claims, uint64_t process_id, uint64_t device_id, claim_arena **out,
                            nm_error *err)
{
    nm_key key = {process_id, device_id};
    nm_status status;

    *out = nm_map_pointer(&claims->arenas, key);
    if (*out != NULL)
        return NM_OK;
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    **out = (claim_arena){.process_id = process_id, .device_id = device_id};
    status = nm_map_put(&claims->arenas, key, (uintptr_t)*out, err);
    if (status != NM_OK) {
        free(*out);
        return status;
    }
    (*out)->next = nm_map_pointer(&claims->processes, (nm_key){0, process_id});
    return nm_map_put(&claims->processes, (nm_key){0, process_id}, (uintptr_t)*out, err);
}

static claim_heap *find_heap(const nm_claims *claims, uint64_t id)
{
    return id == 0 ? NULL : nm_map_pointer(&claims->heaps, (nm_key){0, id});
}

/* ---- Memory that comes, is cut, and goes ---- */

static claim_range *range_of(nm_tree_node *node)
{
    return node == NULL ? NULL : NM_TREE_ITEM(node, claim_range, node);
}

static uint64_t behind(uint64_t address, uint64_t bytes)
{
    return address + bytes < address ? UINT64_MAX : address + bytes;
}

static uint64_t end_of(const nm_event *event)
{
    uint64_t bytes = event->block_bytes != 0 ? event->block_bytes : event->requested_bytes;

    if ((event->flags & NM_FLAG_TOTAL) != 0 || bytes == 0)
        bytes = 1; /* how large it is is not said */
    return behind(event->address, bytes);
}

/* The first that is unclaimed and holds something of [from, to), or NULL. */
static claim_range *find_range(const claim_arena *arena, uint64_t from, uint64_t to)
{
    nm_tree_node *node = nm_tree_holding(&arena->unclaimed, from);

    if (node == NULL)
        node = nm_tree_ceiling(&arena->unclaimed, from);
    return node == NULL || node->key >= to ? NULL : range_of(node);
}

/* It waits no more. */
static void settle(claim_range *range)
{
    if (range->arena->has_pool)
        nm_tree_remove(&range->arena->unclaimed, &range->node);
    range->arena = NULL;
}

/* What lies in [from, to) all or in part is gone, or something else is there now. */
static void end_ranges(claim_arena *arena, uint64_t from, uint64_t to)
{
    for (claim_range *at = find_range(arena, from, to); at != NULL; at = find_range(arena, from, to))
        settle(at);
}

static nm_event *event_of(const nm_claims *claims, uint64_t number)
{
    return &claims->events[number & (claims->capacity - 1)];
}

static nm_status take_range(nm_claims *claims, claim_arena *arena, const nm_event *event, nm_error *err)
{
    claim_range *new_range;

    if (arena->has_pool)
        end_ranges(arena, event->address, end_of(event));
    if ((event->flags & NM_FLAG_SEGMENT) != 0)
        return NM_OK;
    new_range = malloc(sizeof *new_range);
    if (new_range == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    *new_range = (claim_range){
        .node = {.key = event->address, .value = end_of(event)}, .arena = arena, .number = claims->next_number};
    if (arena->has_pool)
        nm_tree_insert(&arena->unclaimed, &new_range->node);
    *claims->last = new_range;
    claims->last = &new_range->next;
    return NM_OK;
}

static void take_block(nm_claims *claims, claim_arena *arena, const nm_event *block)
{
    uint64_t to = end_of(block);

    for (claim_range *at = find_range(arena, block->address, to); at != NULL;
         at = find_range(arena, block->address, to)) {
        nm_event *event = event_of(claims, at->number);

        event->pool_id = block->heap_id;
        event->pool_stream = block->stream;
        event->private_pool = block->policy;
        event->flags |= (block->flags & NM_FLAG_STREAM) != 0 ? NM_FLAG_POOL_STREAM : 0;
        settle(at);
    }
}

static claim_arena *arenas_of_thread(const nm_claims *claims, uint64_t thread_id)
{
    const uint64_t *process_id = nm_map_get(&claims->threads, (nm_key){0, thread_id});

    return process_id == NULL ? NULL : nm_map_pointer(&claims->processes, (nm_key){0, *process_id});
}

/* `only`: as if there were no other; NULL: of all. */
static void take_free(const nm_claims *claims, const nm_event *event, const claim_heap *heap, const claim_arena *only)
{
    uint64_t bytes = event->kind == NM_EVENT_UNMAP && event->block_bytes != 0 ? event->block_bytes : 1;
    claim_arena *at = heap != NULL ? heap->arena : arenas_of_thread(claims, event->thread_id);

    for (; at != NULL; at = heap != NULL ? NULL : at->next)
        if (only == NULL || at == only)
            end_ranges(at, event->address, behind(event->address, bytes));
}

static void take_reset(const nm_claims *claims, const nm_event *event, const claim_arena *only)
{
    for (claim_arena *at = arenas_of_thread(claims, event->thread_id); at != NULL; at = at->next)
        if ((event->device_id == 0 || event->device_id == at->device_id) && (only == NULL || at == only))
            end_ranges(at, 0, UINT64_MAX);
}

static bool frees_driver_memory(const nm_event *event, const claim_heap *heap)
{
    if (event->heap_id != 0)
        return heap != NULL && heap->is_driver;
    return event->kind == NM_EVENT_UNMAP || event->detail == NM_FREE_ANY || event->detail == NM_FREE_DEVICE;
}

static bool makes_driver_memory(const nm_event *event, const claim_heap *heap)
{
    return (event->kind == NM_EVENT_ALLOC || event->kind == NM_EVENT_MAP) && heap != NULL && heap->is_driver;
}

/* What goes by the event. `only`: see take_free. */
static void take_end(const nm_claims *claims, const nm_event *event, const claim_heap *heap, const claim_arena *only)
{
    if (event->kind == NM_EVENT_RESET)
        take_reset(claims, event, only);
    else if ((event->kind == NM_EVENT_FREE || event->kind == NM_EVENT_UNMAP) && frees_driver_memory(event, heap))
        take_free(claims, event, heap, only);
}

/* What the event says of driver memory, before it has a place in the queue. */
static nm_status observe(nm_claims *claims, const nm_event *event, nm_error *err)
{
    bool is_birth = event->kind == NM_EVENT_ALLOC || event->kind == NM_EVENT_MAP;

    if (nm_event_is_repeat(event) || (!is_birth && claims->first == NULL))
        return NM_OK;
    const claim_heap *heap = find_heap(claims, event->heap_id);
    if (makes_driver_memory(event, heap))
        return take_range(claims, heap->arena, event, err);
    if (claims->first == NULL)
        return NM_OK;
    if (is_birth && heap != NULL && heap->is_pool)
        take_block(claims, heap->arena, event);
    else
        take_end(claims, event, heap, NULL);
    return NM_OK;
}

/* The arena's first pool: what it may claim of what waits is what has come and not gone since. */
static void begin_claims(nm_claims *claims, claim_arena *arena)
{
    claim_range *at = claims->first;

    arena->has_pool = true;
    for (uint64_t number = claims->first_number; number < claims->next_number; number++) {
        const nm_event *event = event_of(claims, number);
        const claim_heap *heap = find_heap(claims, event->heap_id);

        while (at != NULL && at->number < number)
            at = at->next;
        if (nm_event_is_repeat(event))
            continue;
        if (!makes_driver_memory(event, heap)) {
            take_end(claims, event, heap, arena);
        } else if (heap->arena == arena) {
            end_ranges(arena, event->address, end_of(event));
            if (at != NULL && at->number == number)
                nm_tree_insert(&arena->unclaimed, &at->node);
        }
    }
}

/* ---- Definitions ---- */

/* A heap that is defined again stays what it was: so does the replay's. */
static nm_status define_heap(nm_claims *claims, const nm_definition *definition, nm_error *err)
{
    claim_heap *new_heap;
    nm_status status;

    if (find_heap(claims, definition->id) != NULL)
        return NM_OK;
    new_heap = calloc(1, sizeof *new_heap);
    if (new_heap == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    new_heap->is_driver = definition->heap.level == NM_LEVEL_DRIVER;
    new_heap->is_pool = definition->heap.level == NM_LEVEL_POOL || definition->heap.level == NM_LEVEL_WORKSPACE;
    status = find_arena(claims, definition->heap.process_id, definition->heap.device_id, &new_heap->arena, err);
    if (status == NM_OK)
        status = nm_map_put(&claims->heaps, (nm_key){0, definition->id}, (uintptr_t)new_heap, err);
    if (status != NM_OK)
        free(new_heap);
    else if (new_heap->is_pool && !new_heap->arena->has_pool)
        begin_claims(claims, new_heap->arena);
    return status;
}

static nm_status define(nm_claims *claims, const nm_definition *definition, nm_error *err)
{
    if (definition->kind == NM_DEFINE_HEAP)
        return define_heap(claims, definition, err);
    if (definition->kind == NM_DEFINE_THREAD)
        return nm_map_put(&claims->threads, (nm_key){0, definition->id}, definition->thread.process_id, err);
    return NM_OK;
}

/* ---- The queue ---- */

static nm_status grow(nm_claims *claims, nm_error *err)
{
    size_t capacity = claims->capacity == 0 ? 64 : 2 * claims->capacity;
    nm_event *events = calloc(capacity, sizeof *events);

    if (events == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    for (uint64_t number = claims->first_number; number < claims->next_number; number++)
        events[number & (capacity - 1)] = *event_of(claims, number);
    free(claims->events);
    claims->events = events;
    claims->capacity = capacity;
    return NM_OK;
}

static nm_status put(nm_claims *claims, const nm_event *event, nm_error *err)
{
    nm_status status = claims->next_number - claims->first_number < claims->capacity ? NM_OK : grow(claims, err);

    if (status == NM_OK)
        *event_of(claims, claims->next_number++) = *event;
    return status;
}

/* Takes the oldest event out of the queue, if it need not wait. */
static bool take(nm_claims *claims, nm_event *out)
{
    uint64_t waiting_count = claims->next_number - claims->first_number;
    claim_range *oldest = claims->first;

    if (waiting_count == 0)
        return false;
    if (oldest != NULL && oldest->number == claims->first_number) {
        if (oldest->arena != NULL && waiting_count < NM_CLAIMS_AHEAD && claims->end == NM_OK)
            return false;
        if (oldest->arena != NULL)
            settle(oldest);
        claims->first = oldest->next;
        if (claims->first == NULL)
            claims->last = &claims->first;
        free(oldest);
    }
    *out = *event_of(claims, claims->first_number++);
    return true;
}

/* Gives a definition in *out and says so, or puts an event into the queue: where none waits and it need not, into *out. */
static nm_status read_on(nm_claims *claims, nm_record *out, bool *is_given, nm_error *err)
{
    nm_status status = claims->end = nm_source_next(claims->source, out, err);

    if (status != NM_OK)
        return status;
    if (out->kind == NM_RECORD_DEFINITION) {
        *is_given = true;
        return define(claims, &out->definition, err);
    }
    status = observe(claims, &out->event, err);
    *is_given = claims->first == NULL && claims->first_number == claims->next_number;
    return status == NM_OK && !*is_given ? put(claims, &out->event, err) : status;
}

nm_status nm_claims_next(nm_claims *claims, nm_record *out, nm_error *err)
{
    nm_status status = NM_OK;
    bool is_given = false;

    while (status == NM_OK && !is_given) {
        if (take(claims, &out->event)) {
            out->kind = NM_RECORD_EVENT;
            return NM_OK;
        }
        status = claims->end == NM_OK ? read_on(claims, out, &is_given, err) : claims->end;
        if (status == NM_END && claims->first_number < claims->next_number)
            status = NM_OK;
    }
    return status;
}
