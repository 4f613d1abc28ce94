/* SPDX-License-Identifier: Apache-2.0
 *
 * Filling and growth of the process's table of rules; see unwind_cache.h.
 */
#include "record/unwind_cache.h"

#include "record/system.h"

static nm_unwind_entry first_level[1u << NM_UNWIND_CACHE_FIRST_BITS]; /* also where there is no memory */

nm_unwind_level nm_unwind_levels[NM_UNWIND_CACHE_LEVELS] = {{.entries = first_level}};
_Atomic uint32_t nm_unwind_cache_level;

static uint32_t entry_count(uint32_t level)
{
    return 1u << (NM_UNWIND_CACHE_FIRST_BITS + 2 * level);
}

/* The entries of a level, made if need be; NULL: no memory. Of two threads that make them one keeps its own. */
static nm_unwind_entry *make_level(uint32_t level)
{
    /* acquire, here and below: zeroed by another thread. */
    nm_unwind_entry *entries = atomic_load_explicit(&nm_unwind_levels[level].entries, memory_order_acquire);
    nm_unwind_entry *none = NULL, *made;
    size_t bytes = entry_count(level) * sizeof *entries;

    if (entries != NULL)
        return entries;
    made = nm_system_memory(bytes);
    if (made == NULL)
        return NULL;
    /* release: pairs with the loads. */
    if (atomic_compare_exchange_strong_explicit(&nm_unwind_levels[level].entries, &none, made, memory_order_acq_rel,
                                                memory_order_acquire))
        return made;
    nm_system_unmap(made, bytes);
    return none;
}

static uint32_t level_to_fill(void)
{
    uint32_t level = atomic_load_explicit(&nm_unwind_cache_level, memory_order_acquire); /* acquire: as in find */
    /* relaxed: a count, to grow by. */
    bool is_full =
        atomic_load_explicit(&nm_unwind_levels[level].used_count, memory_order_relaxed) >= entry_count(level) / 2;

    if (!is_full || level + 1 == NM_UNWIND_CACHE_LEVELS || make_level(level + 1) == NULL)
        return level;
    /* release: who sees the level sees its entries. A second thread that comes late stores the same. */
    atomic_compare_exchange_strong_explicit(&nm_unwind_cache_level, &level, level + 1, memory_order_release,
                                            memory_order_relaxed);
    return level + 1;
}

/* relaxed, all: see find. */
void nm_unwind_cache_put(uint64_t key, nm_unwind_rule rule)
{
    uint32_t level = level_to_fill();
    nm_unwind_entry *entries = make_level(level), *older;

    entries += nm_unwind_place(key, level);
    older = entries + 1;
    atomic_store_explicit(&older->rule, atomic_load_explicit(&entries->rule, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(&older->check, atomic_load_explicit(&entries->check, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(&entries->rule, rule, memory_order_relaxed);
    atomic_store_explicit(&entries->check, nm_unwind_check(key, rule), memory_order_relaxed);
    atomic_fetch_add_explicit(&nm_unwind_levels[level].used_count, 1, memory_order_relaxed);
}
