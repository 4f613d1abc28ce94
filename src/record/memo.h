/* SPDX-License-Identifier: Apache-2.0
 *
 * What a thread remembers of its last walks: for a frame, the places on the stack that a walk has read, and a sum over what
 * stood in them. All are read from known addresses, at once, where a walk waits for one after the other; if the sum is the
 * same, so would be the walk, and its hash is known. Four walks a set; a deep one takes the room of two, or of all. It grows as it is
 * used, to 62 KiB.
 */
#ifndef NM_RECORD_MEMO_H
#define NM_RECORD_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/machine.h"

#define NM_MEMO_WAYS       4
#define NM_MEMO_PLACES     56  /* of a walk in one slot */
#define NM_MEMO_PLACES_TWO 120 /* in two */
#define NM_MEMO_PLACES_MAX 248 /* in four */
#define NM_MEMO_LEVELS     2

typedef struct nm_memo_slot {
    uint64_t sum, hash;
    uint16_t places[NM_MEMO_PLACES]; /* in words from the frame on */
} nm_memo_slot;

typedef struct nm_memo_set {
    volatile uintptr_t frames[NM_MEMO_WAYS]; /* 0: none; written last, so that a handler never finds half of one */
    uint32_t kinds[NM_MEMO_WAYS];            /* generation of the modules * 2, and 1 above Python */
    uint8_t counts[NM_MEMO_WAYS];            /* of places; more than NM_MEMO_PLACES: it goes on in the next slots */
    uint8_t next;                            /* to be replaced */
    uint8_t unused[11];
    nm_memo_slot slots[NM_MEMO_WAYS];
} nm_memo_set;

typedef struct nm_memo {
    nm_memo_set *levels[NM_MEMO_LEVELS]; /* NULL: not needed yet */
    volatile uint32_t level;
    uint32_t evicted_count;              /* walks of this generation that others have replaced, in this level */
    uint32_t wait_count;                 /* walks that are not kept, until memory is asked for again */
    uint16_t places[NM_MEMO_PLACES_MAX]; /* of the walk that is being made */
} nm_memo;

extern const uint64_t nm_memo_factors[NM_MEMO_PLACES_MAX];
extern const uint32_t nm_memo_set_counts[NM_MEMO_LEVELS];

static inline uint32_t nm_memo_kind(uint64_t generation, bool is_above_python)
{
    return (uint32_t)generation << 1 | is_above_python;
}

__attribute__((no_sanitize("address", "thread"))) static inline nm_memo_set *nm_memo_set_of(const nm_memo *memo,
                                                                                            uintptr_t frame)
{
    uint32_t level = memo->level;
    uint64_t mixed = (frame ^ ((const uintptr_t *)frame)[1] * 31) * UINT64_C(0x9e3779b97f4a7c15) >> 32;

    return memo->levels[level] == NULL ? NULL : memo->levels[level] + (mixed * nm_memo_set_counts[level] >> 32);
}

/* The sum over what stands in `count` places, of which none is behind `word_count` words; 1: one is. A handler may exchange
 * the slot while we are in it: then the sum is wrong, but nothing is read outside of the stack. */
__attribute__((no_sanitize("address", "thread"))) static inline uint64_t
nm_memo_sum(uintptr_t frame, const uint16_t *places, unsigned count, uintptr_t word_count)
{
    const uintptr_t *words = (const uintptr_t *)frame;
    uint64_t sum = 0;

    for (unsigned i = 0; i < count; i++) {
        uintptr_t place = places[i];

        if (nm_unlikely(place >= word_count))
            return 1;
        sum += words[place] * nm_memo_factors[i];
    }
    return sum;
}

/* The hash of the walk from `frame` on, whose stack ends at `end`; 0: not known. */
__attribute__((no_sanitize("address", "thread"))) static inline uint64_t
nm_memo_find(const nm_memo *memo, uintptr_t frame, uintptr_t end, uint32_t kind)
{
    const nm_memo_set *set = nm_memo_set_of(memo, frame);

    if (nm_unlikely(set == NULL))
        return 0;
    for (unsigned i = 0; i < NM_MEMO_WAYS; i++) {
        const nm_memo_slot *slot = &set->slots[i];

        if (set->frames[i] != frame || set->kinds[i] != kind)
            continue;
        if (nm_memo_sum(frame, slot->places, set->counts[i], (end - frame) / sizeof(uintptr_t)) == slot->sum)
            return slot->hash;
    }
    return 0;
}

/* Not from a handler that interrupted it in the same thread. */
void nm_memo_put(nm_memo *memo, uintptr_t frame, uint32_t kind, const uint16_t *places, unsigned count, uint64_t sum,
                 uint64_t hash);

/* For another thread. */
void nm_memo_clear(nm_memo *memo);

#endif
