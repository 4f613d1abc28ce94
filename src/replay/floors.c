/* SPDX-License-Identifier: Apache-2.0
 *
 * What each stack held at least, minute by minute, in a process without steps: a server. Traffic comes and goes; what a leak
 * adds does not go, so that the least of a stretch of time rises. What graphs hold is left out (graph.c). A stack's floor is told when it has changed. Long runs tell
 * fewer and fewer windows, as growth.c does with steps; then the least since the last one that was told counts.
 */
#include "replay/floors.h"

#include "replay/growth.h"
#include "replay/lookup.h"

#define WINDOW_NS INT64_C(60000000000)

void nm_floors_change(nm_heap *heap, nm_site *site, uint64_t before_bytes)
{
    if (site == &heap->baseline_site)
        return;
    if (!site->is_in_window) {
        site->is_in_window = true;
        site->floor_bytes = before_bytes;
        site->next_in_window = heap->first_in_window;
        heap->first_in_window = site;
    }
    if (nm_graph_not_of(site->live_bytes, site->graph_bytes) < site->floor_bytes)
        site->floor_bytes = nm_graph_not_of(site->live_bytes, site->graph_bytes);
}

/* Stays in the list while its floor may be another in the next window without an event. */
static nm_status end_window(nm_replay *replay, nm_heap *heap, int64_t window, nm_error *err)
{
    nm_site **link = &heap->first_in_window;
    nm_status status = NM_OK;

    while (*link != NULL && status == NM_OK) {
        nm_site *site = *link;
        nm_site_floor_row row = {heap->id, site->stack_id, window, site->floor_bytes};

        if (site->floor_bytes != site->told_floor_bytes)
            status = nm_give_site_floor(&replay->sink, &row, err);
        site->told_floor_bytes = site->floor_bytes;
        site->floor_bytes = nm_graph_not_of(site->live_bytes, site->graph_bytes);
        if (site->floor_bytes == site->told_floor_bytes) {
            site->is_in_window = false;
            *link = site->next_in_window;
        } else {
            link = &site->next_in_window;
        }
    }
    return status;
}

static nm_status end_of_process(nm_replay *replay, const nm_process *process, int64_t window, nm_error *err)
{
    nm_status status = NM_OK;

    for (nm_heap *heap = process->heaps; heap != NULL && status == NM_OK; heap = heap->next_of_process)
        status = end_window(replay, heap, window, err);
    return status;
}

nm_status nm_floors_pass(nm_replay *replay, nm_process *process, int64_t now_ns, nm_error *err)
{
    int64_t window = now_ns / WINDOW_NS;
    nm_status status = NM_OK;

    if (!replay->sink.wants[NM_ROW_SITE_FLOOR] || process->step_count > 0 || now_ns < 0 || window <= process->window)
        return NM_OK;
    if (process->window > 0 || process->has_window) {
        if (nm_growth_is_sampled((uint64_t)process->window))
            status = end_of_process(replay, process, process->window, err);
        if (status == NM_OK && window > process->window + 1) /* nothing happened in those between */
            status = end_of_process(replay, process, process->window + 1, err);
    }
    process->has_window = true;
    process->window = window;
    return status;
}

nm_status nm_floors_finish(nm_replay *replay, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_process *process = replay->first_process; process != NULL && status == NM_OK; process = process->next)
        if (replay->sink.wants[NM_ROW_SITE_FLOOR] && process->has_window && process->step_count == 0)
            status = end_of_process(replay, process, process->window, err);
    return status;
}
