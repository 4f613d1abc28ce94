/* SPDX-License-Identifier: Apache-2.0
 *
 * What the loader does with a row beside writing it (row_write.c does that) and telling the sums of it: what the end of
 * the load needs to know. One small function a kind that needs it.
 */
#include "store/loader_rows.h"

#include "store/row_write.h"
#include "store/verdicts/site_lifetimes.h"

typedef nm_status note_row(nm_loader *loader, const void *row, nm_error *err);

static nm_status note_definition(nm_loader *loader, const void *row, nm_error *err)
{
    return nm_definitions_add(&loader->definitions, row, err);
}

static nm_status note_baseline(nm_loader *loader, const void *row, nm_error *err)
{
    (void)err;
    loader->baseline = *(const nm_baseline_row *)row;
    return NM_OK;
}

static nm_status note_process_end(nm_loader *loader, const void *given, nm_error *err)
{
    const nm_process_end_row *row = given;
    nm_status status = nm_array_grow(&loader->process_ends.items, &loader->process_ends.capacity,
                                     loader->process_ends.count + 1, sizeof *row, err);

    nm_window_process_end(&loader->retained.window, row->process_id);
    if (status == NM_OK)
        status = nm_map_put(&loader->process_end_of, (nm_key){0, row->process_id}, loader->process_ends.count, err);
    if (status == NM_OK)
        loader->process_ends.items[loader->process_ends.count++] = *row;
    return status;
}

static nm_status note_step_site(nm_loader *loader, const void *given, nm_error *err)
{
    nm_step_site_row row = *(const nm_step_site_row *)given;

    row.heap_id = nm_loader_heap(loader, row.heap_id);
    row.stack_id = nm_loader_stack(loader, row.stack_id);
    return nm_kept_rows_add(&loader->verdict_rows.step_changes, &row, err);
}

static nm_status note_lifetime(nm_loader *loader, const void *given, nm_error *err)
{
    nm_lifetime_row row = *(const nm_lifetime_row *)given;

    row.heap_id = nm_loader_heap(loader, row.heap_id);
    row.stack_id = nm_loader_stack(loader, row.stack_id);
    return nm_lifetimes_keep(&loader->verdict_rows.lifetimes, &row, err);
}

/* Which stacks allocate from which heap: for sites/wrapper.c. */
static nm_status note_stack(nm_loader *loader, uint64_t heap_id, uint64_t stack_id, nm_error *err)
{
    size_t number;

    return stack_id == 0 ? NM_OK : nm_heap_stacks_number(&loader->heap_stacks, heap_id, stack_id, &number, err);
}

static nm_status note_allocation(nm_loader *loader, const void *given, nm_error *err)
{
    const nm_allocation_row *row = given;
    nm_status status = nm_id_set_add(&loader->allocation_ids, row->allocation_id, err);

    nm_loader_note_last(&loader->left_out.last_allocation_id, row->allocation_id);
    loader->left_out.allocation_count++;
    if (status == NM_OK && nm_allocation_is_kept(row))
        status = nm_sum_table_add(&loader->verdict_rows.outstanding, nm_sum_of_outstanding.feeds, &loader->definitions,
                                  row, err);
    return status == NM_OK ? note_stack(loader, row->heap_id, row->stack_id, err) : status;
}

static nm_status note_copy(nm_loader *loader, const void *given, nm_error *err)
{
    const nm_copy_row *row = given;

    (void)err;
    nm_loader_note_last(&loader->left_out.last_copy_id, row->copy_id);
    return NM_OK;
}

static nm_status note_operation(nm_loader *loader, const void *given, nm_error *err)
{
    const nm_operation_row *row = given;

    nm_loader_note_last(&loader->left_out.last_operation_id, row->operation_id);
    return nm_id_set_add(&loader->operation_ids, row->operation_id, err);
}

static nm_status note_workspace(nm_loader *loader, const void *given, nm_error *err)
{
    const nm_workspace_row *row = given;

    (void)err;
    nm_loader_note_last(&loader->left_out.last_workspace_id, row->workspace_id);
    return NM_OK;
}

static nm_status note_stream_call(nm_loader *loader, const void *given, nm_error *err)
{
    const nm_stream_call_row *row = given;

    (void)err;
    nm_loader_note_last(&loader->left_out.last_stream_call_id, row->stream_call_id);
    return NM_OK;
}

/* As of an allocation, of a stack that only sums are left of (npumem-record --keep). */
static nm_status note_site_total(nm_loader *loader, const void *given, nm_error *err)
{
    const nm_site_total_row *row = given;

    return note_stack(loader, row->heap_id, row->stack_id, err);
}

static nm_status note_step_begin(nm_loader *loader, const void *row, nm_error *err)
{
    return nm_window_step(&loader->retained.window, row, err);
}

static nm_status note_moment(nm_loader *loader, const void *given, nm_error *err)
{
    const nm_moment_row *row = given;

    if (row->kind == NM_MOMENT_MARK && loader->retained.retention == NM_RETENTION_WINDOW)
        nm_window_mark(&loader->retained.window, nm_loader_text(loader, row->name));
    return nm_retention_moment(&loader->retained, row, err);
}

static nm_status note_device_sample(nm_loader *loader, const void *row, nm_error *err)
{
    return nm_retention_device(&loader->retained, row, err);
}

static nm_status note_heap_total(nm_loader *loader, const void *given, nm_error *err)
{
    const nm_heap_total_row *row = given;

    return nm_retention_heap_peak(&loader->retained, row->heap_id, row->peak_seq, err);
}

static nm_status note_category(nm_loader *loader, const void *row, nm_error *err)
{
    (void)err;
    loader->category = *(const nm_category_row *)row;
    return NM_OK;
}

static note_row *const notes[NM_ROW_KINDS] = {
    [NM_ROW_DEFINITION] = note_definition,   [NM_ROW_BASELINE] = note_baseline,
    [NM_ROW_PROCESS_END] = note_process_end, [NM_ROW_STEP_BEGIN] = note_step_begin,
    [NM_ROW_CATEGORY] = note_category,       [NM_ROW_STEP_SITE] = note_step_site,
    [NM_ROW_ALLOCATION] = note_allocation,   [NM_ROW_COPY] = note_copy,
    [NM_ROW_OPERATION] = note_operation,     [NM_ROW_WORKSPACE] = note_workspace,
    [NM_ROW_STREAM_CALL] = note_stream_call, [NM_ROW_SITE_TOTAL] = note_site_total,
    [NM_ROW_MOMENT] = note_moment,           [NM_ROW_DEVICE_SAMPLE] = note_device_sample,
    [NM_ROW_HEAP_TOTAL] = note_heap_total,   [NM_ROW_LIFETIME] = note_lifetime,
};

nm_status nm_loader_take(void *context, nm_row_kind kind, const void *row, nm_error *err)
{
    nm_loader *loader = context;
    nm_status status = nm_sums_row(loader->sums, kind, row, err);

    if (status == NM_OK && notes[kind] != NULL)
        status = notes[kind](loader, row, err);
    if (status == NM_OK)
        status = nm_row_write(loader, kind, row, err);
    return status == NM_OK ? NM_OK : nm_name_written(status, loader->output_path, err);
}
