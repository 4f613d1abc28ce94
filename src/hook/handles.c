/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of handles; see handles.h. A slot belongs to whoever turns its value from free to taken; its key is written
 * while it is taken, so that a reader sees a key only together with a value of it.
 */
#include "hook/handles.h"

#include <stdatomic.h>
#include <stddef.h>

#define SLOT_COUNT  4096
#define PROBE_COUNT 64 /* slots that are looked at for one handle */
#define FREE        0
#define TAKEN       1
#define VALUE_FIRST 2 /* a value v is stored as v + VALUE_FIRST */

typedef struct slot {
    _Atomic uint64_t key;
    _Atomic uint64_t value;
} slot;

static slot slots[SLOT_COUNT];

/* User-space addresses leave the highest bits free. */
static uint64_t key_of(nm_handle_kind kind, uint64_t handle)
{
    return handle ^ (uint64_t)kind << 60;
}

static slot *slot_at(uint64_t key, size_t step)
{
    return &slots[((key * UINT64_C(0x9e3779b97f4a7c15) >> 52) + step) % SLOT_COUNT];
}

static slot *find(uint64_t key)
{
    for (size_t step = 0; step < PROBE_COUNT; step++) {
        slot *one = slot_at(key, step);

        /* acquire: pairs with the release in put; the key is the value's. */
        if (atomic_load_explicit(&one->value, memory_order_acquire) >= VALUE_FIRST &&
            atomic_load_explicit(&one->key, memory_order_relaxed) == key)
            return one;
    }
    return NULL;
}

static void put(uint64_t key, uint64_t value)
{
    for (size_t step = 0; step < PROBE_COUNT; step++) {
        slot *one = slot_at(key, step);
        uint64_t before = FREE;

        /* relaxed: the key is written by whoever takes the slot. */
        if (!atomic_compare_exchange_strong_explicit(&one->value, &before, TAKEN, memory_order_relaxed,
                                                     memory_order_relaxed))
            continue;
        atomic_store_explicit(&one->key, key, memory_order_relaxed);
        /* release: pairs with the acquire in find. */
        atomic_store_explicit(&one->value, value + VALUE_FIRST, memory_order_release);
        return;
    }
}

uint64_t nm_handles_get(nm_handle_kind kind, uint64_t handle)
{
    slot *one = find(key_of(kind, handle));

    /* relaxed: the handle is in one call at a time. */
    return one == NULL ? 0 : atomic_load_explicit(&one->value, memory_order_relaxed) - VALUE_FIRST;
}

void nm_handles_set(nm_handle_kind kind, uint64_t handle, uint64_t value)
{
    uint64_t key = key_of(kind, handle);
    slot *one = find(key);

    if (one == NULL && value != 0)
        put(key, value);
    else if (one != NULL) /* release: pairs with the acquire in find */
        atomic_store_explicit(&one->value, value == 0 ? FREE : value + VALUE_FIRST, memory_order_release);
}
