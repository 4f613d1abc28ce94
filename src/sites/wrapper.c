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
    const uint64_t *frame = nm_map_get(&walk->definitions->frames.by_id, (nm_key){0, node_at(walk, node)->frame_id});

    return frame == NULL ? SIZE_MAX : walk->sites->frames[*frame].same;
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
        const uint64_t *parent =
            nm_map_get(&walk->definitions->stacks.by_id, (nm_key){0, node_at(walk, node)->parent_id});
        if (parent == NULL)
            return SIZE_MAX;
        node = (size_t)*parent;
    }
    return SIZE_MAX;
}

static nm_status count_one(nm_map *counts, uint64_t key, size_t *distinct, uint64_t *count, nm_error *err)
{
    uint64_t *there = nm_map_get(counts, (nm_key){0, key});

    if (there != NULL) {
        *count = ++*there;
        return NM_OK;
    }
    ++*distinct;
    *count = 1;
    return nm_map_put(counts, (nm_key){0, key}, 1, err);
}

static nm_status look_at_parting(const stack_walk *walk, stack_parting *out, nm_error *err)
{
    nm_map functions = {0}, places = {0};
    nm_status status = NM_OK;
    uint64_t count;

    *out = (stack_parting){0};
    for (size_t i = 0; i < walk->count && status == NM_OK; i++) {
        uint64_t function = function_of(walk, walk->at[i]);

        status = count_one(&places, place_of(walk, walk->at[i]), &out->frame_count, &count, err);
        if (status == NM_OK)
            status = count_one(&functions, function, &out->function_count, &count, err);
        if (status == NM_OK && count > out->held) {
            out->held = count;
            out->function = function;
        }
    }
    nm_map_free(&functions);
    nm_map_free(&places);
    return status;
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
static nm_status count_inside(const stack_walk *walk, uint64_t function, size_t *inside, nm_error *err)
{
    nm_map places = {0};
    nm_status status = NM_OK;
    uint64_t count;

    *inside = 0;
    for (size_t i = 0; i < walk->count && status == NM_OK; i++)
        if (function_of(walk, walk->at[i]) == function)
            status = count_one(&places, place_of(walk, walk->at[i]), inside, &count, err);
    nm_map_free(&places);
    return status;
}

/* Walks until the stacks part; *is_found says whether what was passed are wrappers. */
static nm_status walk_chain(stack_walk *walk, bool *is_found, nm_error *err)
{
    size_t total = walk->count;
    stack_parting parting;
    nm_status status = look_at_parting(walk, &parting, err);

    *is_found = false;
    while (status == NM_OK && parting.function != 0 && walk->chain_length < CHAIN_MAX &&
           parting.held * SHARE_DENOMINATOR >= total * SHARE_NUMERATOR) {
        status = count_inside(walk, parting.function, &walk->inside[walk->chain_length], err);
        walk->chain[walk->chain_length++] = parting.function;
        follow(walk, parting.function);
        if (status == NM_OK)
            status = look_at_parting(walk, &parting, err);
    }
    *is_found = walk->chain_length > 0 && walk->count > 0 && parting.function_count >= CALLERS_MIN;
    for (size_t i = 0; i < walk->chain_length; i++)
        *is_found = *is_found && walk->inside[i] < parting.frame_count;
    return status;
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
    const uint64_t *node = nm_map_get(&walk->definitions->stacks.by_id, (nm_key){0, stack_id});
    size_t begin = node == NULL ? SIZE_MAX : step_outwards(walk, (size_t)*node, 0);

    if (begin == SIZE_MAX)
        return NM_OK;
    nm_status status = nm_array_grow(&walk->at, &walk->capacity, walk->count + 1, sizeof *walk->at, err);
    if (status == NM_OK)
        walk->at[walk->count++] = begin;
    return status;
}

static int compare_keys(const void *a, const void *b)
{
    const nm_key *x = a, *y = b;

    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return (x->low > y->low) - (x->low < y->low);
}

/* The keys in order: heap after heap. The caller frees *out. */
static nm_status sort_keys(const nm_map *heap_stacks, nm_key **out, nm_error *err)
{
    size_t count = 0, at = 0;

    *out = calloc(heap_stacks->count + 1, sizeof **out);
    if (*out == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    while (nm_map_next(heap_stacks, &at, &(*out)[count], NULL))
        count++;
    qsort(*out, count, sizeof **out, compare_keys);
    return NM_OK;
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

/* `keys` are the stacks of one heap. */
static nm_status walk_heap(const nm_definitions *definitions, const nm_key *keys, size_t count, const nm_sites *sites,
                           const nm_wrapper_taker *taker, nm_error *err)
{
    stack_walk walk = {.definitions = definitions, .sites = sites};
    nm_status status = NM_OK;
    bool is_found = false;

    for (size_t i = 0; i < count && status == NM_OK; i++)
        status = add_stack(&walk, keys[i].low, err);
    if (status == NM_OK && walk.count >= CALLERS_MIN)
        status = walk_chain(&walk, &is_found, err);
    for (size_t i = 0; is_found && i < walk.chain_length && status == NM_OK; i++) {
        nm_bytes name = nm_definitions_text(definitions, walk.chain[i]);

        if (!is_in_chain(&walk, name, i))
            status = give_wrapper(taker, keys[0].high, name, err);
    }
    free(walk.at);
    return status;
}

nm_status nm_wrappers_find(const nm_definitions *definitions, const nm_map *heap_stacks, const nm_sites *sites,
                           const nm_wrapper_taker *taker, nm_error *err)
{
    nm_key *keys = NULL;
    nm_status status = sort_keys(heap_stacks, &keys, err);

    for (size_t first = 0, end; status == NM_OK && first < heap_stacks->count; first = end) {
        for (end = first; end < heap_stacks->count && keys[end].high == keys[first].high;)
            end++;
        if (nm_definition_find(&definitions->heaps, keys[first].high) != NULL)
            status = walk_heap(definitions, keys + first, end - first, sites, taker, err);
    }
    free(keys);
    return status;
}
