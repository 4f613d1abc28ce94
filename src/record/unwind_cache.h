/* SPDX-License-Identifier: Apache-2.0
 *
 * The rules that were found, for all threads of the process: a table without a lock. An entry is a rule, and its key XORed with
 * what a multiplication makes of the rule, so that the halves of two writers make no entry at all, and a handler may look into the middle of anything. The key is
 * the place in the code and the generation of the modules: what lies elsewhere now is never found again. It grows as it is used,
 * to 168 KiB; what is pushed out is described again.
 */
#ifndef NM_RECORD_UNWIND_CACHE_H
#define NM_RECORD_UNWIND_CACHE_H

#include <stdatomic.h>
#include <stddef.h>

#include "record/machine.h"
#include "record/unwind_rule.h"

#define NM_UNWIND_CACHE_LEVELS     3
#define NM_UNWIND_CACHE_FIRST_BITS 9 /* entries of level 0, as a power of two; each level has four times as many */

typedef struct nm_unwind_entry {
    _Atomic uint64_t check, rule; /* check 0 and rule 0: empty, since no key is 0 */
} nm_unwind_entry;

typedef struct nm_unwind_level {
    nm_unwind_entry *_Atomic entries; /* NULL: not needed yet; the first is always there */
    _Atomic uint32_t used_count;      /* put here, some over others */
} nm_unwind_level;

extern nm_unwind_level nm_unwind_levels[NM_UNWIND_CACHE_LEVELS];
extern _Atomic uint32_t nm_unwind_cache_level; /* the one that is used; older ones stay as they are */

static inline uint64_t nm_unwind_key(uintptr_t pc, uint64_t generation)
{
    return pc + generation * UINT64_C(0x9e3779b97f4a7c15);
}

static inline uint64_t nm_unwind_check(uint64_t key, nm_unwind_rule rule)
{
    return key ^ rule * UINT64_C(0xff51afd7ed558ccd);
}

/* Two entries, one behind the other, that may hold the key. */
static inline size_t nm_unwind_place(uint64_t key, uint32_t level)
{
    unsigned bits = NM_UNWIND_CACHE_FIRST_BITS - 1 + 2 * level;

    return (size_t)(key * UINT64_C(0xd6e8feb86659fd93) >> (64 - bits)) * 2;
}

/* False: not there. */
static inline bool nm_unwind_cache_find(uint64_t key, nm_unwind_rule *rule)
{
    /* acquire: pairs with the release of who made the level. */
    uint32_t level = atomic_load_explicit(&nm_unwind_cache_level, memory_order_acquire);
    const nm_unwind_entry *entries =
        atomic_load_explicit(&nm_unwind_levels[level].entries, memory_order_acquire); /* acquire: zeroed before */

    entries += nm_unwind_place(key, level);
    for (unsigned i = 0; i < 2; i++) {
        /* relaxed: halves that do not belong together are no entry. */
        *rule = atomic_load_explicit(&entries[i].rule, memory_order_relaxed);
        if (nm_likely(atomic_load_explicit(&entries[i].check, memory_order_relaxed) == nm_unwind_check(key, *rule)))
            return true;
    }
    return false;
}

void nm_unwind_cache_put(uint64_t key, nm_unwind_rule rule);

#endif
