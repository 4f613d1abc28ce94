/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of handles; see handles.h. A chain of chunks, each four times the one before. A slot belongs for good to the
 * key that was first written into it, so two threads that come with one key meet in one slot, and a key that is not among
 * the slots it may have in a chunk can only be in the next chunk if none of them was free. The value says what is known.
 */
#include "hook/handles.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#define FIRST_SLOT_BITS 10 /* of the chunk that is always there */
#define CHUNK_COUNT     11 /* the last has 2^30 slots */
#define PROBE_COUNT     32 /* slots that one key may have in a chunk, next to each other */
#define KIND_SHIFT      60
#define NO_KEY          0

typedef struct slot {
    _Atomic uint64_t key; /* NO_KEY: nobody's yet */
    _Atomic uint64_t value;
} slot;

static slot first_chunk[1 << FIRST_SLOT_BITS];
static _Atomic(slot *) chunks[CHUNK_COUNT] = {first_chunk};

static size_t slot_bits_of(size_t chunk)
{
    return FIRST_SLOT_BITS + 2 * chunk;
}

/* The chunk, made by whoever comes first; NULL: no memory. The program's errno stays. */
static slot *make_chunk(size_t chunk)
{
    size_t bytes = sizeof(slot) << slot_bits_of(chunk);
    int saved_errno = errno;
    slot *found = NULL,
         *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (made == MAP_FAILED) {
        errno = saved_errno;
        return NULL;
    }
    /* release: pairs with the acquire in find; a mapped chunk is all zero. */
    if (!atomic_compare_exchange_strong_explicit(&chunks[chunk], &found, made, memory_order_acq_rel,
                                                 memory_order_acquire)) {
        munmap(made, bytes);
        made = found;
    }
    errno = saved_errno;
    return made;
}

/* User-space addresses leave the highest bits free. */
static uint64_t key_of(nm_handle_kind kind, uint64_t handle)
{
    uint64_t key = handle ^ (uint64_t)kind << KIND_SHIFT;

    return key != NO_KEY ? key : UINT64_MAX;
}

/* Is the slot the key's, or becomes it when `is_wanted`? *is_free: it is nobody's, and stays so. */
static bool is_slot_of(slot *one, uint64_t key, bool is_wanted, bool *is_free)
{
    /* relaxed: a key never changes once it is there, and a value that is not yet there reads as nothing. */
    uint64_t owner = atomic_load_explicit(&one->key, memory_order_relaxed);

    if (owner == NO_KEY && is_wanted &&
        atomic_compare_exchange_strong_explicit(&one->key, &owner, key, memory_order_relaxed, memory_order_relaxed))
        return true;
    *is_free = owner == NO_KEY;
    return owner == key;
}

/* The value of the key; NULL: it has none, and none could be made. */
static _Atomic uint64_t *find(uint64_t key, bool is_wanted)
{
    for (size_t chunk = 0; chunk < CHUNK_COUNT; chunk++) {
        /* acquire: pairs with the release in make_chunk. */
        slot *slots = atomic_load_explicit(&chunks[chunk], memory_order_acquire);
        size_t bits = slot_bits_of(chunk), first = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits));
        bool is_free = false;

        if (slots == NULL && is_wanted)
            slots = make_chunk(chunk);
        if (slots == NULL)
            return NULL;
        for (size_t step = 0; step < PROBE_COUNT && !is_free; step++) {
            slot *one = &slots[(first + step) & (((size_t)1 << bits) - 1)];

            if (is_slot_of(one, key, is_wanted, &is_free))
                return &one->value;
        }
        if (is_free)
            return NULL;
    }
    return NULL;
}

/* acquire and release below: whoever is given a handle by another thread sees what that one set, as with the handle. */

uint64_t nm_handles_get(nm_handle_kind kind, uint64_t handle)
{
    _Atomic uint64_t *value = find(key_of(kind, handle), false);

    return value == NULL ? 0 : atomic_load_explicit(value, memory_order_acquire);
}

uint64_t nm_handles_set(nm_handle_kind kind, uint64_t handle, uint64_t value)
{
    _Atomic uint64_t *place = find(key_of(kind, handle), value != 0);

    return place == NULL ? 0 : atomic_exchange_explicit(place, value, memory_order_acq_rel);
}

void nm_handles_add(nm_handle_kind kind, uint64_t handle)
{
    _Atomic uint64_t *value = find(key_of(kind, handle), true);

    if (value != NULL)
        atomic_fetch_add_explicit(value, 1, memory_order_acq_rel);
}

bool nm_handles_take(nm_handle_kind kind, uint64_t handle)
{
    _Atomic uint64_t *value = find(key_of(kind, handle), false);
    uint64_t count = value == NULL ? 0 : atomic_load_explicit(value, memory_order_acquire);

    while (count != 0)
        if (atomic_compare_exchange_weak_explicit(value, &count, count - 1, memory_order_acq_rel, memory_order_acquire))
            return true;
    return false;
}
