/* SPDX-License-Identifier: Apache-2.0
 *
 * Advice for who writes a pool: which sizes are freed and asked for again, and which block sizes would serve them with the
 * least memory.
 */
#ifndef NM_WHATIF_ADVISE_H
#define NM_WHATIF_ADVISE_H

#include "whatif/settings.h"
#include "whatif/workload.h"

typedef struct nm_size_use { /* one size, rounded as the caching allocator does */
    uint64_t bytes;
    uint64_t request_count;
    uint64_t again_count;     /* requests that found a freed block of this very size waiting */
    uint64_t most_live_count; /* at once */
    uint64_t live_at_end_count;
} nm_size_use;

typedef struct nm_block_class {
    uint64_t bytes;
    uint64_t block_count; /* that are needed: the most that were live at once */
} nm_block_class;

typedef struct nm_advice {
    nm_size_use *sizes; /* owned; by bytes asked for in all, most first */
    size_t size_count;
    uint64_t request_count, again_count;
    nm_block_class classes[NM_BUCKET_CLASSES_MAX]; /* ascending */
    size_t class_count;
    uint64_t pool_bytes;      /* of all their blocks */
    uint64_t peak_live_bytes; /* of rounded blocks: no pool is smaller */
} nm_advice;

/* At most `class_max` block sizes. */
nm_status nm_advise(const nm_workload *workload, size_t class_max, nm_advice *advice, nm_error *err);
void nm_advice_free(nm_advice *advice);

#endif
