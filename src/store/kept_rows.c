/* SPDX-License-Identifier: Apache-2.0
 *
 * An array in pieces: one that grows as a whole would be there twice while it is copied, and leave holes behind.
 */
#include "store/kept_rows.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

static nm_status add_chunk(nm_kept_rows *list, nm_error *err)
{
    nm_status status =
        nm_array_grow(&list->chunks, &list->chunk_capacity, list->chunk_count + 1, sizeof *list->chunks, err);
    uint8_t *chunk = status == NM_OK ? malloc(NM_KEPT_ROWS_CHUNK * list->row_bytes) : NULL;

    if (status != NM_OK)
        return status;
    if (chunk == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    list->chunks[list->chunk_count++] = chunk;
    return NM_OK;
}

nm_status nm_kept_rows_add(nm_kept_rows *list, const void *row, nm_error *err)
{
    bool is_full = list->count == list->chunk_count * NM_KEPT_ROWS_CHUNK;
    nm_status status = is_full ? add_chunk(list, err) : NM_OK;

    if (status == NM_OK)
        memcpy(nm_kept_rows_at(list, list->count++), row, list->row_bytes);
    return status;
}

nm_status nm_kept_rows_order(nm_kept_rows *list, int (*compare)(const void *left, const void *right, void *list),
                             uint32_t **order, nm_error *err)
{
    *order = list->count > UINT32_MAX ? NULL : malloc((list->count + 1) * sizeof **order);
    if (*order == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    for (size_t i = 0; i < list->count; i++)
        (*order)[i] = (uint32_t)i;
    qsort_r(*order, list->count, sizeof **order, compare, list);
    return NM_OK;
}

void nm_kept_rows_free(nm_kept_rows *list)
{
    for (size_t i = 0; i < list->chunk_count; i++)
        free(list->chunks[i]);
    free(list->chunks);
    *list = (nm_kept_rows){.row_bytes = list->row_bytes};
}
