/* SPDX-License-Identifier: Apache-2.0
 *
 * Who freed what is no more: for passes that need it.
 */
#ifndef NM_ANALYSIS_FREE_HISTORY_H
#define NM_ANALYSIS_FREE_HISTORY_H

#include "replay/pass.h"

/* How memory ended. */
typedef struct nm_freed {
    uint64_t address; /* its begin */
    uint64_t allocation_id, heap_id, thread_id, stack_id;
    int64_t seq;
} nm_freed;

typedef enum nm_freed_where { NM_FREED_IN_POOL, NM_FREED_IN_DRIVER, NM_FREED_ANYWHERE } nm_freed_where;

/* The last end of device memory that held the address, in *out until the next call; NULL: none that is remembered.
 * Anywhere: a block's before that of the driver's memory around it. */
nm_status nm_free_history_find(nm_run *run, const nm_process *process, nm_freed_where where, uint64_t address,
                               const nm_freed **out, nm_error *err);

#endif
