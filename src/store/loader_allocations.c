/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocations: what the end of the load needs of them, and which of their rows are kept.
 */
#include <string.h>

#include "store/loader_values.h"

/* Which stacks allocate from which heap, and for whom: for sites/wrapper.c and sites/attribution.c. */
static nm_status note_stack(nm_loader *loader, const nm_allocation_row *row, nm_error *err)
{
    bool is_operator = row->operation_id != 0 && row->operation_kind == NM_RANGE_OPERATOR;
    nm_stack_use use = {.operator_name = is_operator ? nm_loader_number(loader, row->operation_name) : 0,
                        .thread_id = row->thread_id};

    if (row->stack_id == 0)
        return NM_OK;
    return nm_stack_uses_add(&loader->stack_uses, (nm_key){row->heap_id, row->stack_id}, &use, err);
}

/* The same of a stack that only sums are left of (npumem-record --keep): it counts among its heap's, for nobody in
 * particular. */
nm_status nm_loader_note_summed_stack(nm_loader *loader, const nm_site_total_row *row, nm_error *err)
{
    nm_key key = {row->heap_id, row->stack_id};
    nm_stack_use use = {.operator_name = NM_ATTRIBUTION_MIXED, .thread_id = NM_ATTRIBUTION_MIXED};

    if (row->stack_id == 0 || nm_map_get(&loader->stack_uses.by_stack, key) != NULL)
        return NM_OK;
    return nm_stack_uses_add(&loader->stack_uses, key, &use, err);
}

/* What is outstanding is summed up from its rows: store/prune.c takes them away again where there are to be none. */
static nm_retention_choice judge(const nm_loader *loader, const nm_allocation_row *row)
{
    if (loader->retention == NM_RETENTION_LIVE)
        return nm_retention_judge(&loader->retained, row);
    return loader->retention == NM_RETENTION_ALL || nm_allocation_is_kept(row) ? NM_RETENTION_WRITE : NM_RETENTION_DROP;
}

nm_status nm_loader_place_allocation(nm_loader *loader, const nm_allocation_row *row, int64_t **values, nm_error *err)
{
    nm_retention_choice choice = judge(loader, row);
    nm_status status = NM_OK;

    if (choice == NM_RETENTION_WRITE)
        status = nm_bulk_next(loader->bulks[NM_ROW_ALLOCATION], values, err);
    else if (choice == NM_RETENTION_WAIT)
        status = nm_retention_wait(&loader->retained, row, values, err);
    if (status == NM_OK && choice != NM_RETENTION_DROP && loader->retention != NM_RETENTION_ALL)
        status = nm_retention_need_segment(&loader->retained, row->segment_id, err);
    return status;
}

nm_status nm_loader_write_waiting(nm_loader *loader, nm_error *err)
{
    const nm_retention_rows *rows = &loader->retained;
    nm_bulk *bulk = loader->bulks[NM_ROW_ALLOCATION];
    nm_status status = NM_OK;

    for (size_t i = 0; i < rows->count; i++)
        for (size_t j = 0; j < rows->heaps[i].count && status == NM_OK; j++) {
            const nm_waiting_row *row = &rows->heaps[i].items[j];
            const nm_definition *heap = nm_definition_find(&loader->definitions.heaps, row->heap_id);
            int64_t *values = NULL;

            if (!nm_retention_is_live(rows, row, heap == NULL ? 0 : heap->heap.device_id))
                continue;
            status = nm_bulk_next(bulk, &values, err);
            if (status == NM_OK)
                memcpy(values, row->values, nm_bulk_columns(bulk) * sizeof *values);
        }
    return status;
}

nm_status nm_loader_note_allocation(nm_loader *loader, const nm_allocation_row *row, nm_error *err)
{
    nm_status status = nm_id_set_add(&loader->allocation_ids, row->allocation_id, err);

    nm_loader_note_last(&loader->left_out.last_allocation_id, row->allocation_id);
    loader->left_out.allocation_count++;
    return status == NM_OK ? note_stack(loader, row, err) : status;
}
