/* SPDX-License-Identifier: Apache-2.0
 *
 * An array in pieces: one that grows as a whole would be there twice while it is copied, and leave holes behind.
 */
#include "store/step_changes.h"

#include <stdlib.h>

#include "base/buffer.h"

static nm_status add_chunk(nm_step_changes *changes, nm_error *err)
{
    nm_status status = nm_array_grow(&changes->chunks, &changes->chunk_capacity, changes->chunk_count + 1,
                                     sizeof *changes->chunks, err);
    nm_step_site_row *chunk = status == NM_OK ? malloc(NM_STEP_CHANGES_CHUNK * sizeof *chunk) : NULL;

    if (status != NM_OK)
        return status;
    if (chunk == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    changes->chunks[changes->chunk_count++] = chunk;
    return NM_OK;
}

nm_status nm_step_changes_add(nm_step_changes *changes, const nm_step_site_row *row, nm_error *err)
{
    bool is_full = changes->count == changes->chunk_count * NM_STEP_CHANGES_CHUNK;
    nm_status status = is_full ? add_chunk(changes, err) : NM_OK;

    if (status == NM_OK)
        *nm_step_change(changes, changes->count++) = *row;
    return status;
}

void nm_step_changes_free(nm_step_changes *changes)
{
    for (size_t i = 0; i < changes->chunk_count; i++)
        free(changes->chunks[i]);
    free(changes->chunks);
    *changes = (nm_step_changes){0};
}
