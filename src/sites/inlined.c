/* SPDX-License-Identifier: Apache-2.0
 *
 * The stacks that are made stand behind all others, and a stack of the trace keeps its number: only who its caller is
 * changes. How many there may be is bounded, for a file may claim long chains for every frame.
 */
#include "sites/inlined.h"

#define STACKS_PER_STACK_MAX 8     /* on average: what a hostile trace can make us add */
#define STACKS_MIN           65536 /* that much is always allowed */

/* The frames that `frame_id` was inlined into, outwards. */
static size_t find_chain(const nm_definitions *definitions, uint64_t frame_id, uint64_t chain[NM_INLINED_DEPTH_MAX])
{
    const nm_frame *frame = nm_frame_find(definitions, frame_id);
    size_t count = 0;

    while (frame != NULL && frame->frame.inlined_in != 0 && count < NM_INLINED_DEPTH_MAX) {
        uint64_t caller_id = frame->frame.inlined_in;

        frame = nm_frame_find(definitions, caller_id);
        if (frame != NULL)
            chain[count++] = caller_id;
    }
    return count;
}

static nm_status expand_stack(nm_definitions *definitions, size_t index, nm_error *err)
{
    uint64_t chain[NM_INLINED_DEPTH_MAX];
    size_t count = find_chain(definitions, definitions->stacks.items[index].frame_id, chain);
    uint64_t parent_id = definitions->stacks.items[index].parent_id;
    nm_status status = NM_OK;

    while (status == NM_OK && count > 0) {
        status = nm_definitions_append_stack(definitions, parent_id, chain[--count], &parent_id, err);
        if (status == NM_OK)
            definitions->stacks.items[definitions->stacks.count - 1].walk = definitions->stacks.items[index].walk;
    }
    if (status == NM_OK)
        definitions->stacks.items[index].parent_id = parent_id;
    return status;
}

nm_status nm_inlined_expand(nm_definitions *definitions, nm_error *err)
{
    size_t count = definitions->stacks.count;
    size_t count_max = STACKS_MIN + count * (STACKS_PER_STACK_MAX + 1);
    nm_status status = NM_OK;

    for (size_t index = 0; status == NM_OK && index < count && definitions->stacks.count < count_max; index++)
        status = expand_stack(definitions, index, err);
    return status == NM_END ? NM_OK : status;
}
