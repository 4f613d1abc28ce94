/* SPDX-License-Identifier: Apache-2.0
 *
 * A count of the process's captures that have begun and not ended. Whose stream each is knows acl_graph.c; this is what
 * every other hook asks, so it knows no hook, takes no lock and asks nobody.
 */
#include "hook/capture.h"

#include <stdatomic.h>
#include <stdint.h>

static _Atomic int32_t open_count;

bool nm_capture_is_open(void)
{
    return atomic_load_explicit(&open_count, memory_order_relaxed) != 0; /* relaxed: the program orders its own calls */
}

void nm_capture_begin(void)
{
    atomic_fetch_add_explicit(&open_count, 1, memory_order_relaxed); /* relaxed: as above */
}

void nm_capture_end(void)
{
    int32_t count = atomic_load_explicit(&open_count, memory_order_relaxed); /* relaxed: as above */

    while (count > 0 && !atomic_compare_exchange_weak_explicit(&open_count, &count, count - 1, memory_order_relaxed,
                                                               memory_order_relaxed))
        ;
}

void nm_capture_end_all(void)
{
    atomic_store_explicit(&open_count, 0, memory_order_relaxed); /* relaxed: as above */
}
