/* SPDX-License-Identifier: Apache-2.0
 *
 * Open addressing, linear probing, at most three quarters full. A slot is half of its hash above its number, so that the table
 * grows without a look at keys.
 */
#include "base/slots.h"

#include <assert.h>
#include <stdlib.h>

static void put(nm_slots *slots, uint64_t slot)
{
    size_t at = (size_t)(slot >> 32) & (slots->capacity - 1);

    while (slots->items[at] != 0)
        at = (at + 1) & (slots->capacity - 1);
    slots->items[at] = slot;
}

static nm_status grow(nm_slots *slots, nm_error *err)
{
    nm_slots larger = {.count = slots->count, .capacity = slots->capacity == 0 ? 16 : slots->capacity * 2};

    larger.items = calloc(larger.capacity, sizeof *larger.items);
    if (larger.items == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory at %zu items", slots->count);
    for (size_t i = 0; i < slots->capacity; i++)
        if (slots->items[i] != 0)
            put(&larger, slots->items[i]);
    free(slots->items);
    *slots = larger;
    return NM_OK;
}

nm_status nm_slots_add(nm_slots *slots, uint64_t hash, uint32_t number, nm_error *err)
{
    nm_status status = slots->count + 1 > slots->capacity / 4 * 3 ? grow(slots, err) : NM_OK;

    assert(number != 0);
    if (status != NM_OK)
        return status;
    put(slots, (hash ^ hash >> 32) << 32 | number);
    slots->count++;
    return NM_OK;
}

void nm_slots_free(nm_slots *slots)
{
    free(slots->items);
    *slots = (nm_slots){0};
}
