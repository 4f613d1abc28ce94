/* SPDX-License-Identifier: Apache-2.0
 *
 * What operations did step by step, values in the order of the columns of schema/069_operation.sql.
 */
#include "store/loader_values.h"

nm_status nm_loader_take_step_operation(void *context, const nm_step_operation_row *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_insert *insert = &loader->inserts[NM_TABLE_OPERATION_STEP_SUM];

    nm_insert_id(insert, nm_loader_process(loader, row->process_id));
    nm_insert_id(insert, nm_loader_heap(loader, row->heap_id));
    nm_insert_int(insert, row->generation);
    nm_insert_int(insert, row->number);
    nm_insert_int(insert, row->is_rest ? NM_NULL : (int64_t)row->kind);
    nm_insert_bytes(insert, nm_loader_text(loader, row->is_rest ? 0 : row->name));
    nm_insert_int(insert, (int64_t)row->name_count);
    nm_insert_int(insert, (int64_t)row->allocation_count);
    nm_insert_int(insert, (int64_t)row->allocated_bytes);
    nm_insert_int(insert, (int64_t)row->freed_count);
    nm_insert_int(insert, (int64_t)row->freed_bytes);
    nm_insert_int(insert, (int64_t)row->run_count);
    nm_insert_int(insert, row->run_count == 0 ? NM_NULL : (int64_t)row->max_rise_bytes);
    nm_insert_int(insert, (int64_t)row->doubtful_count);
    nm_insert_int(insert, (int64_t)row->workspace_count);
    nm_insert_int(insert, (int64_t)row->workspace_bytes);
    nm_insert_id(insert, row->workspace_block_bytes);
    return nm_insert_end(insert, err);
}
