/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of the sink that takes allocations: what is summed over them, and which of their rows are kept.
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

static bool has_policy(const nm_loader *loader, uint64_t heap_id)
{
    uint64_t level = nm_loader_level(loader, heap_id);

    return level == NM_LEVEL_DRIVER || level == NM_LEVEL_PHYSICAL || level == NM_LEVEL_REGISTERED;
}

/* Nobody freed it: what a reset ended is outstanding, too, if it was the last word on its device, which is known later. */
static bool is_kept(const nm_allocation_row *row)
{
    return row->end_kind == NM_END_NONE || row->end_kind == NM_END_RESET;
}

static int64_t *fill_allocation(nm_loader *loader, const nm_allocation_row *row, int64_t *value)
{
    *value++ = (int64_t)row->allocation_id;
    *value++ = nm_id_or_null(nm_loader_heap(loader, row->heap_id));
    *value++ = nm_id_or_null(row->segment_id);
    *value++ = nm_id_or_null(nm_loader_thread(loader, row->thread_id));
    *value++ = nm_id_or_null(row->operation_id);
    *value++ = nm_id_or_null(nm_loader_stack(loader, row->stack_id));
    *value++ = row->has_stream ? (int64_t)row->stream : NM_NULL;
    *value++ = has_policy(loader, row->heap_id) ? nm_policy_or_null(row->policy) : NM_NULL;
    *value++ = (int64_t)row->address;
    *value++ = (int64_t)row->size_bytes;
    *value++ = nm_id_or_null(row->requested_bytes);
    *value++ = nm_id_or_null(row->block_bytes);
    *value++ = row->alloc_seq;
    *value++ = row->alloc_ns;
    *value++ = nm_id_or_null(row->cost_ns);
    *value++ = row->free_requested_seq;
    *value++ = row->free_seq;
    *value++ = row->free_ns;
    *value++ = nm_id_or_null(nm_loader_thread(loader, row->free_thread_id));
    *value++ = nm_id_or_null(nm_loader_stack(loader, row->free_stack_id));
    *value++ = (int64_t)row->end_kind;
    *value++ = (int64_t)row->live_bytes;
    *value++ = row->is_miss;
    *value++ = nm_id_or_null(row->split_from_id);
    *value++ = row->is_segment;
    *value++ = row->is_doubtful;
    *value++ = is_kept(row) ? row->generation : NM_NULL;
    *value++ = nm_id_or_null(row->private_pool);
    *value++ = row->operation_source == NM_SOURCE_NONE ? NM_NULL : (int64_t)row->operation_source;
    *value++ = row->is_exported;
    *value++ = row->is_mapped;
    *value++ = nm_id_or_null(row->graph_id);
    return value;
}

/* What is outstanding is summed up from its rows: store/prune.c takes them away again where there are to be none. */
static nm_retention_choice judge(const nm_loader *loader, const nm_allocation_row *row)
{
    if (loader->retention == NM_RETENTION_LIVE)
        return nm_retention_judge(&loader->retained, row);
    return loader->retention == NM_RETENTION_ALL || is_kept(row) ? NM_RETENTION_WRITE : NM_RETENTION_DROP;
}

/* The row as values: into the table, among those that wait, or nowhere; unknown references are counted in any case. */
static nm_status place_allocation(nm_loader *loader, const nm_allocation_row *row, nm_error *err)
{
    int64_t dropped[NM_RETENTION_COLUMNS_MAX], *values = dropped;
    nm_retention_choice choice = judge(loader, row);
    nm_status status = NM_OK;

    if (choice == NM_RETENTION_WRITE)
        status = nm_bulk_next(loader->allocations, &values, err);
    else if (choice == NM_RETENTION_WAIT)
        status = nm_retention_wait(&loader->retained, row, &values, err);
    if (status == NM_OK && choice != NM_RETENTION_DROP && loader->retention != NM_RETENTION_ALL)
        status = nm_retention_need_segment(&loader->retained, row->segment_id, err);
    if (status == NM_OK)
        nm_bulk_end(loader->allocations, values, fill_allocation(loader, row, values));
    return status;
}

nm_status nm_loader_write_waiting(nm_loader *loader, nm_error *err)
{
    const nm_retention_rows *rows = &loader->retained;
    nm_status status = NM_OK;

    for (size_t i = 0; i < rows->count; i++)
        for (size_t j = 0; j < rows->heaps[i].count && status == NM_OK; j++) {
            const nm_waiting_row *row = &rows->heaps[i].items[j];
            const nm_definition *heap = nm_definition_find(&loader->definitions.heaps, row->heap_id);
            int64_t *values = NULL;

            if (!nm_retention_is_live(rows, row, heap == NULL ? 0 : heap->heap.device_id))
                continue;
            status = nm_bulk_next(loader->allocations, &values, err);
            if (status == NM_OK)
                memcpy(values, row->values, nm_bulk_columns(loader->allocations) * sizeof *values);
        }
    return status;
}

nm_status nm_loader_take_allocation(void *context, const nm_allocation_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_status status = nm_id_set_add(&loader->allocation_ids, row->allocation_id, err);

    nm_loader_note_last(&loader->last.allocation_id, row->allocation_id);
    loader->last.allocation_count++;
    if (status == NM_OK)
        status = nm_loader_name_allocation(loader, row->segment_id, err);
    if (status == NM_OK)
        status = nm_loader_name_allocation(loader, row->split_from_id, err);
    if (status == NM_OK)
        status = nm_loader_name_operation(loader, row->operation_id, err);
    if (status == NM_OK)
        status = note_stack(loader, row, err);
    return status == NM_OK ? place_allocation(loader, row, err) : status;
}
