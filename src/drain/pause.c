/* SPDX-License-Identifier: Apache-2.0
 *
 * A process's reasons are a set of bits that only events change, in their order; paused is who has any. What may be
 * written is then a matter of the event's kind alone. Nothing is buffered: what is withheld goes to the keeper of the
 * live set at once.
 */
#include "drain/pause.h"

#include <stdlib.h>

#include "base/buffer.h"

void nm_pause_init(nm_pause *pause, const nm_ring_session *session)
{
    *pause = (nm_pause){
        /* relaxed: the drain alone writes it. */
        .session_reasons = atomic_load_explicit(&session->is_paused, memory_order_relaxed) & NM_PAUSED_ALL,
        .from_step = session->from_step,
        .to_step = session->to_step,
    };
    pause->is_used = pause->session_reasons != 0 || pause->from_step > INT64_MIN || pause->to_step < INT64_MAX;
}

void nm_pause_fini(nm_pause *pause)
{
    nm_map_free(&pause->index);
    free(pause->processes);
}

uint32_t nm_pause_reasons(const nm_pause *pause, uint64_t process)
{
    const uint64_t *known = nm_map_get(&pause->index, (nm_key){0, process});

    if (known != NULL)
        return pause->processes[*known].reasons;
    return pause->session_reasons | (pause->from_step > INT64_MIN ? NM_PAUSED_BY_STEPS : 0);
}

nm_pause_process *nm_pause_of(nm_pause *pause, uint64_t process, nm_error *err)
{
    const uint64_t *known = nm_map_get(&pause->index, (nm_key){0, process});
    nm_pause_process made = {.number = process, .reasons = nm_pause_reasons(pause, process)};

    if (known != NULL)
        return &pause->processes[*known];
    if (nm_array_grow(&pause->processes, &pause->capacity, pause->count + 1, sizeof *pause->processes, err) != NM_OK ||
        nm_map_put(&pause->index, (nm_key){0, process}, pause->count, err) != NM_OK)
        return NULL;
    pause->processes[pause->count] = made;
    return &pause->processes[pause->count++];
}

uint32_t nm_pause_reasons_after(const nm_pause *pause, uint32_t reasons, uint64_t kind, uint64_t detail, int64_t number)
{
    if (kind == NM_EVENT_STEP)
        return number < pause->from_step || number > pause->to_step ? reasons | NM_PAUSED_BY_STEPS
                                                                    : reasons & ~(uint32_t)NM_PAUSED_BY_STEPS;
    if (kind == NM_EVENT_PAUSE)
        return detail == NM_PAUSE_BEGIN ? reasons | NM_PAUSED_BY_PROGRAM
                                        : reasons & ~(uint32_t)(NM_PAUSED_BY_PROGRAM | NM_PAUSED_AT_START);
    return reasons;
}

bool nm_pause_is_catch_up_due(const nm_pause *pause, uint32_t reasons, uint64_t kind, uint64_t detail, int64_t number)
{
    if (pause->pauser == NULL || reasons == 0)
        return false;
    if (kind == NM_EVENT_ALLOC_FAILED || (kind == NM_EVENT_MARK && detail != 0))
        return true;
    return nm_pause_reasons_after(pause, reasons, kind, detail, number) == 0;
}

nm_pause_verdict nm_pause_judge(const nm_pause *pause, uint32_t reasons, const nm_event *event, bool is_snapshot)
{
    bool is_memory =
        event->kind <= NM_EVENT_EXPORT && event->kind != NM_EVENT_ALLOC_FAILED && event->kind != NM_EVENT_RESERVED;
    bool is_detail = event->kind == NM_EVENT_COPY || event->kind == NM_EVENT_RANGE_BEGIN ||
                     event->kind == NM_EVENT_RANGE_END || event->kind == NM_EVENT_STREAM_CALL ||
                     (event->kind == NM_EVENT_MARK && !is_snapshot);

    if (pause->is_recovery)
        return is_memory && (event->flags & NM_FLAG_PAUSED) != 0 ? NM_PAUSE_FORGET : NM_PAUSE_WRITE;
    if (reasons == 0)
        return NM_PAUSE_WRITE;
    if (is_detail)
        return NM_PAUSE_FORGET;
    return is_memory && pause->pauser != NULL ? NM_PAUSE_WITHHOLD : NM_PAUSE_WRITE;
}
