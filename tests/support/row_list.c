/* SPDX-License-Identifier: Apache-2.0 */
#include "support/row_list.h"

#include <stdlib.h>

#include "analysis/passes.h"
#include "base/buffer.h"
#include "replay/replay.h"
#include "support/text_trace.h"

static nm_status keep_row(void *context, nm_row_kind kind, const void *row, nm_error *err)
{
    nm_row_list *list = context;
    nm_status status = NM_OK;

    switch (kind) {
#define KEEP(name, NAME)                                                                                               \
    case NM_ROW_##NAME:                                                                                                \
        status = nm_array_grow(&list->name.items, &list->name.capacity, list->name.count + 1, sizeof(nm_##name##_row), \
                               err);                                                                                   \
        if (status == NM_OK)                                                                                           \
            list->name.items[list->name.count++] = *(const nm_##name##_row *)row;                                      \
        break;
#define ROW(name, NAME, table, writer) KEEP(name, NAME)
#define RECORD(name, NAME)             KEEP(name, NAME)
#include "rows/rows.def"
    case NM_ROW_KINDS:
        break;
    }
    return status;
}

nm_sink nm_row_list_sink(nm_row_list *list)
{
    return nm_sink_of_all(list, keep_row);
}

void nm_row_list_free(nm_row_list *list)
{
#define ROW(name, NAME, table, writer) free(list->name.items);
#define RECORD(name, NAME)             free(list->name.items);
#include "rows/rows.def"
    *list = (nm_row_list){0};
}

nm_status nm_row_list_replay(nm_row_list *list, const char *text, nm_error *err)
{
    nm_sink sink = nm_row_list_sink(list);
    nm_text_trace *trace = NULL;
    nm_replay *replay = NULL;
    nm_record record;
    nm_status status = nm_text_trace_open(text, &trace, err);

    if (status == NM_OK)
        status = nm_replay_new(&sink, nm_passes, &replay, err);
    while (status == NM_OK && (status = nm_text_trace_next(trace, &record, err)) == NM_OK)
        status = nm_replay_record(replay, &record, err);
    if (status == NM_END)
        status = nm_replay_finish(replay, err);
    nm_replay_free(replay);
    nm_text_trace_close(trace);
    return status;
}

const nm_allocation_row *nm_row_list_allocation(const nm_row_list *list, uint64_t allocation_id)
{
    for (size_t i = 0; i < list->allocation.count; i++)
        if (list->allocation.items[i].allocation_id == allocation_id)
            return &list->allocation.items[i];
    return NULL;
}

const nm_heap_total_row *nm_row_list_total(const nm_row_list *list, uint64_t heap_id)
{
    for (size_t i = 0; i < list->heap_total.count; i++)
        if (list->heap_total.items[i].heap_id == heap_id)
            return &list->heap_total.items[i];
    return NULL;
}

const nm_hit_row *nm_row_list_hit(const nm_row_list *list, uint64_t heap_id, int bucket)
{
    for (size_t i = 0; i < list->hit.count; i++)
        if (list->hit.items[i].heap_id == heap_id && list->hit.items[i].bucket == bucket)
            return &list->hit.items[i];
    return NULL;
}

const nm_fragmentation_row *nm_row_list_figures(const nm_row_list *list, nm_moment_kind kind, size_t n,
                                                uint64_t heap_id)
{
    uint64_t moment_id = 0;

    for (size_t i = 0; i < list->moment.count && moment_id == 0; i++) {
        const nm_moment_row *moment = &list->moment.items[i];

        if (moment->kind != kind ||
            ((kind == NM_MOMENT_PEAK || kind == NM_MOMENT_RESERVE) && moment->heap_id != heap_id))
            continue;
        if (n-- == 0)
            moment_id = moment->moment_id;
    }
    for (size_t i = 0; i < list->fragmentation.count; i++)
        if (list->fragmentation.items[i].moment_id == moment_id && list->fragmentation.items[i].heap_id == heap_id)
            return &list->fragmentation.items[i];
    return NULL;
}

const nm_peak_stack_row *nm_row_list_peak_stack(const nm_row_list *list, uint64_t heap_id, uint64_t stack_id,
                                                bool is_baseline)
{
    for (size_t i = 0; i < list->peak_stack.count; i++) {
        const nm_peak_stack_row *row = &list->peak_stack.items[i];

        if (row->heap_id == heap_id && row->stack_id == stack_id && row->is_baseline == is_baseline)
            return row;
    }
    return NULL;
}
