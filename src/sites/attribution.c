/* SPDX-License-Identifier: Apache-2.0
 *
 * A stack is one thing for all heaps and processes, so what each of them says of it is merged first: what they agree
 * on counts, all else is mixed. Then each stack is judged by itself, the most telling word first: a node, an operator,
 * a thread.
 */
#include "sites/attribution.h"

#include <stdlib.h>
#include <string.h>

#include "sites/autograd.h"
#include "sites/cut.h"

/* ---- Uses ---- */

static void mix(uint64_t *value, uint64_t other)
{
    if (*value != other)
        *value = NM_ATTRIBUTION_MIXED;
}

nm_status nm_stack_uses_add(nm_stack_uses *uses, nm_key heap_and_stack, const nm_stack_use *use, nm_error *err)
{
    const uint64_t *known = nm_map_get(&uses->by_stack, heap_and_stack);

    if (known != NULL) {
        mix(&uses->items[*known].operator_name, use->operator_name);
        mix(&uses->items[*known].thread_id, use->thread_id);
        return NM_OK;
    }
    nm_status status = nm_array_grow(&uses->items, &uses->capacity, uses->count + 1, sizeof *use, err);
    if (status == NM_OK)
        status = nm_map_put(&uses->by_stack, heap_and_stack, uses->count, err);
    if (status == NM_OK)
        uses->items[uses->count++] = *use;
    return status;
}

void nm_stack_uses_free(nm_stack_uses *uses)
{
    nm_map_free(&uses->by_stack);
    free(uses->items);
    *uses = (nm_stack_uses){0};
}

/* ---- Attributions ---- */

typedef struct attribution_search {
    const nm_stack_uses *uses;
    const nm_definitions *definitions;
    const nm_sites *sites;
    nm_map python_processes;
    uint64_t *operators;    /* owned; by index of the stack: numbers of their names */
    bool *is_used;          /* owned; by a process that runs Python */
    uint64_t *thread_names; /* owned; numbers of strings: of the threads of any process that used it */
} attribution_search;

static uint64_t process_of(const attribution_search *search, uint64_t heap_id)
{
    const nm_definition *heap = nm_definition_find(&search->definitions->heaps, heap_id);

    return heap == NULL ? 0 : heap->heap.process_id;
}

static const uint64_t *stack_of(const attribution_search *search, nm_key key)
{
    return nm_map_get(&search->definitions->stacks.by_id, (nm_key){0, key.low});
}

static nm_status find_processes(attribution_search *search, nm_error *err)
{
    nm_status status = NM_OK;
    nm_key key;
    uint64_t use;

    for (size_t at = 0; status == NM_OK && nm_map_next(&search->uses->by_stack, &at, &key, &use);) {
        const uint64_t *stack = stack_of(search, key);

        if (stack != NULL && search->sites->stacks[*stack].line != 0)
            status = nm_map_put(&search->python_processes, (nm_key){0, process_of(search, key.high)}, 1, err);
    }
    return status;
}

/* Threads of one name are one: a pool of them runs the same code. */
static void merge_thread(attribution_search *search, size_t stack, uint64_t thread_id)
{
    const nm_definition *thread = nm_definition_find(&search->definitions->threads, thread_id);
    uint64_t name = thread == NULL || thread->thread.name == 0 ? NM_ATTRIBUTION_MIXED : thread->thread.name;

    if (search->thread_names[stack] == 0)
        search->thread_names[stack] = name;
    mix(&search->thread_names[stack], name);
}

/* A stack is one thing for all heaps and processes. */
static void merge_uses(attribution_search *search)
{
    nm_key key;
    uint64_t use;

    for (size_t at = 0; nm_map_next(&search->uses->by_stack, &at, &key, &use);) {
        const uint64_t *stack = stack_of(search, key);

        if (stack != NULL)
            merge_thread(search, *stack, search->uses->items[use].thread_id);
        if (stack == NULL || nm_map_get(&search->python_processes, (nm_key){0, process_of(search, key.high)}) == NULL)
            continue;
        if (search->is_used[*stack]) {
            mix(&search->operators[*stack], search->uses->items[use].operator_name);
        } else {
            search->operators[*stack] = search->uses->items[use].operator_name;
            search->is_used[*stack] = true;
        }
    }
}

static nm_attribution constant_attribution(nm_attribution_kind kind, const char *name)
{
    return (nm_attribution){kind, {(const uint8_t *)name, strlen(name)}};
}

/* Of a backward pass that runs no Python. A node goes before all other frames: what is called in it is the framework. */
static nm_attribution backward_attribution(const attribution_search *search, const nm_stack_frames *frames)
{
    if (frames->python != 0)
        return (nm_attribution){0};
    if (frames->node != 0) {
        const nm_definition *frame = &search->definitions->frames.items[frames->node - 1];
        const char *name = nm_site_function(search->definitions, frame);
        size_t length;

        nm_autograd_of(name, &length);
        return (nm_attribution){NM_ATTRIBUTION_BACKWARD, {(const uint8_t *)name, length}};
    }
    if (frames->has_engine && frames->located == 0)
        return constant_attribution(NM_ATTRIBUTION_BACKWARD, NM_AUTOGRAD_NAME);
    return (nm_attribution){0};
}

static nm_attribution thread_attribution(const attribution_search *search, size_t stack)
{
    uint64_t number = search->thread_names[stack];
    nm_bytes name = number == NM_ATTRIBUTION_MIXED ? (nm_bytes){0} : nm_definitions_text(search->definitions, number);

    if (name.len >= strlen(NM_AUTOGRAD_THREAD) &&
        memcmp(name.data, NM_AUTOGRAD_THREAD, strlen(NM_AUTOGRAD_THREAD)) == 0)
        return constant_attribution(NM_ATTRIBUTION_BACKWARD, NM_AUTOGRAD_NAME);
    if (search->definitions->stacks.items[stack].walk == NM_WALK_CUT)
        return (nm_attribution){NM_ATTRIBUTION_CUT, name};
    return name.len == 0 ? (nm_attribution){0} : (nm_attribution){NM_ATTRIBUTION_THREAD, name};
}

static nm_attribution attribution_of(const attribution_search *search, size_t stack)
{
    uint64_t operator_name = search->operators[stack];
    const nm_stack_frames *frames = &search->sites->stacks[stack];
    size_t site = search->definitions->stacks.items[stack].site;
    nm_attribution backward = backward_attribution(search, frames);
    bool is_node = backward.kind != NM_ATTRIBUTION_NONE && frames->node != 0;
    bool is_operator = operator_name != 0 && operator_name != NM_ATTRIBUTION_MIXED;
    bool has_site = site != 0 && !search->sites->frames[site - 1].is_plumbing;

    if (is_node || frames->line != 0)
        return backward;
    if (frames->is_compiled)
        return constant_attribution(NM_ATTRIBUTION_COMPILED, NM_COMPILED_NAME);
    if (is_operator && search->is_used[stack])
        return (nm_attribution){NM_ATTRIBUTION_OPERATOR, nm_definitions_text(search->definitions, operator_name)};
    if (backward.kind != NM_ATTRIBUTION_NONE || has_site)
        return backward;
    return search->is_used[stack] || search->definitions->stacks.items[stack].walk != NM_WALK_UNKNOWN
               ? thread_attribution(search, stack)
               : backward;
}

nm_status nm_attributions_find(const nm_stack_uses *uses, const nm_definitions *definitions, const nm_sites *sites,
                               nm_attribution **out, nm_error *err)
{
    size_t count = definitions->stacks.count;
    attribution_search search = {.uses = uses, .definitions = definitions, .sites = sites};
    nm_status status = NM_OK;

    *out = calloc(count + 1, sizeof **out);
    search.operators = calloc(count + 1, sizeof *search.operators);
    search.is_used = calloc(count + 1, sizeof *search.is_used);
    search.thread_names = calloc(count + 1, sizeof *search.thread_names);
    if (*out == NULL || search.operators == NULL || search.is_used == NULL || search.thread_names == NULL)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK)
        status = find_processes(&search, err);
    if (status == NM_OK)
        merge_uses(&search);
    for (size_t i = 0; i < count && status == NM_OK; i++)
        (*out)[i] = attribution_of(&search, i);
    nm_map_free(&search.python_processes);
    free(search.operators);
    free(search.is_used);
    free(search.thread_names);
    return status;
}
