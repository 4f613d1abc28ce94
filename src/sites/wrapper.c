/* SPDX-License-Identifier: Apache-2.0
 *
 * All stacks of a heap are walked outwards together, one function at a time, as long as one function holds nearly all of
 * them. Where they part, what was passed is the heap's wrappers, if the parting shows that many call it: a step function
 * of which every line allocates also holds all stacks, but is called from few places.
 */
#include "sites/wrapper.h"

#include <stdlib.h>
#include <string.h>

#define CHAIN_MAX         16  /* functions of a chain of wrappers */
#define STEPS_MAX         256 /* frames passed on the way to the next function: bounds what a hostile input can cost */
#define CALLERS_MIN       3   /* distinct functions at the parting: with fewer it may well be the program's own shape */
#define SHARE_NUMERATOR   3   /* a wrapper holds three quarters of a heap's stacks */
#define SHARE_DENOMINATOR 4

typedef struct stack_walk {
    const nm_definitions *definitions;
    const nm_sites *sites;
    size_t *at; /* per stack that is still walked: index of the stack node it has come to */
    size_t count, capacity;
    uint32_t *in_function,
        *at_place;             /* borrowed; while they are counted, by number of the function and by place; else 0 */
    uint64_t chain[CHAIN_MAX]; /* functions passed */
    size_t inside[CHAIN_MAX];  /* places inside each of them */
    size_t chain_length;
} stack_walk;

typedef struct stack_parting {
    uint64_t function; /* that holds most stacks */
    size_t held;       /* by it */
    size_t function_count, frame_count;
} stack_parting;

static const nm_stack_node *node_at(const stack_walk *walk, size_t index)
{
    return &walk->definitions->stacks.items[index];
}

/* The index of the stack node's frame among the places, or SIZE_MAX. */
static size_t place_of(const stack_walk *walk, size_t node)
{
    size_t frame = nm_id_map_find(&walk->definitions->frames.by_id, node_at(walk, node)->frame_id);

    return frame == NM_ID_MAP_NONE ? SIZE_MAX : walk->sites->frames[frame].same;
}

static uint64_t function_of(const stack_walk *walk, size_t node)
{
    size_t place = place_of(walk, node);

    return place == SIZE_MAX ? 0 : walk->definitions->frames.items[place].frame.function;
}

static bool is_plumbing_at(const stack_walk *walk, size_t node)
{
    return !nm_sites_is_candidate(walk->sites, node);
}

/* The next node outwards that is neither plumbing nor in `function`; SIZE_MAX when there is none near. */
static size_t step_outwards(const stack_walk *walk, size_t node, uint64_t function)
{
    for (int steps = 0; steps < STEPS_MAX; steps++) {
        if (!is_plumbing_at(walk, node) && function_of(walk, node) != function)
            return node;
        node = nm_id_map_find(&walk->definitions->stacks.by_id, node_at(walk, node)->parent_id);
        if (node == NM_ID_MAP_NONE)
            return SIZE_MAX;
    }
    return SIZE_MAX;
}

/* A place that is not known stands behind all others. */
static uint32_t *place_count_of(const stack_walk *walk, size_t node)
{
    size_t place = place_of(walk, node);

    return &walk->at_place[place == SIZE_MAX ? walk->sites->frame_count : place];
}

static size_t count_one(uint32_t *count, size_t *distinct)
{
    *distinct += *count == 0;
    return ++*count;
}

static void stop_counting(const stack_walk *walk)
{
    for (size_t i = 0; i < walk->count; i++) {
        *place_count_of(walk, walk->at[i]) = 0;
        walk->in_function[function_of(walk, walk->at[i])] = 0;
    }
}

static stack_parting look_at_parting(const stack_walk *walk)
{
    stack_parting out = {0};

    for (size_t i = 0; i < walk->count; i++) {
        uint64_t function = function_of(walk, walk->at[i]);
        size_t count = count_one(&walk->in_function[function], &out.function_count);

        count_one(place_count_of(walk, walk->at[i]), &out.frame_count);
        if (count > out.held) {
            out.held = count;
            out.function = function;
        }
    }
    stop_counting(walk);
    return out;
}

/* Keeps the stacks that are in `function` and moves them to its callers. */
static void follow(stack_walk *walk, uint64_t function)
{
    size_t kept = 0;

    for (size_t i = 0; i < walk->count; i++) {
        if (function_of(walk, walk->at[i]) != function)
            continue;
        size_t next = step_outwards(walk, walk->at[i], function);
        if (next != SIZE_MAX)
            walk->at[kept++] = next;
    }
    walk->count = kept;
}

/* How many places inside `function` the stacks come from. */
static size_t count_inside(const stack_walk *walk, uint64_t function)
{
    size_t inside = 0;

    for (size_t i = 0; i < walk->count; i++)
        if (function_of(walk, walk->at[i]) == function)
            count_one(place_count_of(walk, walk->at[i]), &inside);
    stop_counting(walk);
    return inside;
}

/* Walks until the stacks part; is what was passed wrappers? */
static bool walk_chain(stack_walk *walk)
{
    size_t total = walk->count;
    stack_parting parting = look_at_parting(walk);

    while (parting.function != 0 && walk->chain_length < CHAIN_MAX &&
           parting.held * SHARE_DENOMINATOR >= total * SHARE_NUMERATOR) {
        walk->inside[walk->chain_length] = count_inside(walk, parting.function);
        walk->chain[walk->chain_length++] = parting.function;
        follow(walk, parting.function);
        parting = look_at_parting(walk);
    }
    bool is_found = walk->chain_length > 0 && walk->count > 0 && parting.function_count >= CALLERS_MIN;
    for (size_t i = 0; i < walk->chain_length; i++)
        is_found = is_found && walk->inside[i] < parting.frame_count;
    return is_found;
}

/* ---- All heaps ---- */

/* The function's name as a pattern that matches it alone. */
static nm_status append_escaped(nm_buffer *out, nm_bytes name, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < name.len && status == NM_OK; i++) {
        char one[3] = {'[', (char)name.data[i], ']'};
        bool is_special = name.data[i] == '*' || name.data[i] == '?' || name.data[i] == '[';
        status = nm_buffer_append(out, is_special ? one : &one[1], is_special ? 3 : 1, err);
    }
    return status;
}

static nm_status give_wrapper(const nm_wrapper_taker *taker, uint64_t heap_id, nm_bytes name, nm_error *err)
{
    nm_buffer pattern = {0};
    nm_status status = append_escaped(&pattern, name, err);

    if (status == NM_OK)
        status = taker->take(taker->context, heap_id, (nm_bytes){pattern.data, pattern.len}, err);
    nm_buffer_free(&pattern);
    return status;
}

static nm_status add_stack(stack_walk *walk, uint64_t stack_id, nm_error *err)
{
    size_t node = nm_id_map_find(&walk->definitions->stacks.by_id, stack_id);
    size_t begin = node == NM_ID_MAP_NONE ? SIZE_MAX : step_outwards(walk, node, 0);

    if (begin == SIZE_MAX)
        return NM_OK;
    nm_status status = nm_array_grow(&walk->at, &walk->capacity, walk->count + 1, sizeof *walk->at, err);
    if (status == NM_OK)
        walk->at[walk->count++] = begin;
    return status;
}

/* Functions that call each other are passed more than once. */
static bool is_in_chain(const stack_walk *walk, nm_bytes name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        nm_bytes other = nm_definitions_text(walk->definitions, walk->chain[i]);

        if (other.len == name.len && memcmp(other.data, name.data, name.len) == 0)
            return true;
    }
    return false;
}

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The stacks by their numbers: who holds most of them is said of the first of several. */
static nm_status add_stacks(stack_walk *walk, const nm_id_map *stacks, nm_error *err)
{
    uint64_t *ids = calloc(stacks->count + 1, sizeof *ids);
    nm_status status = ids != NULL ? NM_OK : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    size_t count = 0, at = 0;

    while (status == NM_OK && nm_id_map_next(stacks, &at, &ids[count]))
        count++;
    if (count > 0 && stacks->far.count > 0)
        qsort(ids, count, sizeof *ids, compare_numbers);
    for (size_t i = 0; i < count && status == NM_OK; i++)
        status = add_stack(walk, ids[i], err);
    free(ids);
    return status;
}

static nm_status walk_heap(stack_walk *walk, const struct nm_stacks_of_heap *heap, const nm_wrapper_taker *taker,
                           nm_error *err)
{
    nm_status status = add_stacks(walk, &heap->stacks, err);
    bool is_found = status == NM_OK && walk->count >= CALLERS_MIN && walk_chain(walk);

    for (size_t i = 0; is_found && i < walk->chain_length && status == NM_OK; i++) {
        nm_bytes name = nm_definitions_text(walk->definitions, walk->chain[i]);

        if (!is_in_chain(walk, name, i))
            status = give_wrapper(taker, heap->heap_id, name, err);
    }
    free(walk->at);
    return status;
}

static int compare_heaps(const void *a, const void *b)
{
    return compare_numbers(&(*(const struct nm_stacks_of_heap *const *)a)->heap_id,
                           &(*(const struct nm_stacks_of_heap *const *)b)->heap_id);
}

nm_status nm_wrappers_find(const nm_definitions *definitions, const nm_heap_stacks *heap_stacks, const nm_sites *sites,
                           const nm_wrapper_taker *taker, nm_error *err)
{
    const struct nm_stacks_of_heap **heaps = calloc(heap_stacks->count + 1, sizeof(struct nm_stacks_of_heap *));
    uint32_t *in_function = calloc(definitions->strings.count + 1, sizeof *in_function);
    uint32_t *at_place = calloc(sites->frame_count + 1, sizeof *at_place);
    nm_status status = heaps != NULL && in_function != NULL && at_place != NULL
                           ? NM_OK
                           : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");

    for (size_t i = 0; status == NM_OK && i < heap_stacks->count; i++)
        heaps[i] = &heap_stacks->items[i];
    if (status == NM_OK)
        qsort(heaps, heap_stacks->count, sizeof *heaps, compare_heaps);
    for (size_t i = 0; status == NM_OK && i < heap_stacks->count; i++) {
        stack_walk walk = {
            .definitions = definitions, .sites = sites, .in_function = in_function, .at_place = at_place};

        if (nm_definition_find(&definitions->heaps, heaps[i]->heap_id) != NULL)
            status = walk_heap(&walk, heaps[i], taker, err);
    }
    free(heaps);
    free(in_function);
    free(at_place);
    return status;
}
