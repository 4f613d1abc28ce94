/* SPDX-License-Identifier: Apache-2.0
 *
 * What of the rows of a load goes to no table: how what was live of each stack changed from step to step. The loader keeps it
 * until stacks have their sites; then it is added up (verdicts/site_steps.h).
 */
#ifndef NM_STORE_STEP_CHANGES_H
#define NM_STORE_STEP_CHANGES_H

#include <stddef.h>

#include "rows/rows.h"

#define NM_STEP_CHANGES_CHUNK 4096

/* In pieces, which stay where they are: they may be many, and grow beside everything else that a load keeps. */
typedef struct nm_step_changes {
    nm_step_site_row **chunks; /* owned, each of NM_STEP_CHANGES_CHUNK; in the order of steps */
    size_t chunk_count, chunk_capacity, count;
} nm_step_changes;

static inline nm_step_site_row *nm_step_change(const nm_step_changes *changes, size_t index)
{
    return &changes->chunks[index / NM_STEP_CHANGES_CHUNK][index % NM_STEP_CHANGES_CHUNK];
}

nm_status nm_step_changes_add(nm_step_changes *changes, const nm_step_site_row *row, nm_error *err);
void nm_step_changes_free(nm_step_changes *changes);

#endif
