/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps where the stream has holes, and says what they make uncertain. A loss of nobody knows whom is everybody's.
 */
#include "replay/doubt.h"

#include "replay/graph.h"
#include "replay/pass.h"

bool nm_doubt_of_event(const nm_replay *replay, const nm_context *context)
{
    return (context->event->flags & NM_FLAG_LATE) != 0 || nm_doubt_has_loss(replay, context->process);
}

bool nm_doubt_may_have_changed(const nm_process *process, int64_t since_seq)
{
    return process->is_paused || (process->has_unknown_pause && since_seq <= process->unknown_pause_seq);
}

bool nm_doubt_may_have_gone(const nm_live *live)
{
    return nm_doubt_may_have_changed(live->heap->process, live->birth_seq);
}

bool nm_doubt_has_unseen_memory(const nm_process *process)
{
    return process != NULL && (process->is_late || process->is_paused || process->has_unknown_pause);
}

bool nm_doubt_of_live(const nm_replay *replay, const nm_live *live)
{
    const nm_process *process = live->heap->process;
    const nm_live_row *row = &live->row;
    bool has_time = row->alloc_ns != NM_NO_TIME;

    if (live->is_late)
        return true;
    if (process->has_loss &&
        (live->birth_seq <= process->loss_seq || (has_time && row->alloc_ns <= process->loss_until_ns)))
        return true;
    return replay->has_loss &&
           (live->birth_seq <= replay->loss_seq || (has_time && row->alloc_ns <= replay->loss_until_ns));
}

/* ---- Loss ---- */

static void note_loss(bool *has_loss, int64_t *last_seq, int64_t *last_ns, int64_t seq, int64_t until_ns)
{
    *has_loss = true;
    if (seq > *last_seq)
        *last_seq = seq;
    if (until_ns > *last_ns)
        *last_ns = until_ns;
}

nm_status nm_doubt_lose(nm_replay *replay, nm_process *process, int64_t seq, int64_t until_ns, nm_error *err)
{
    if (process == NULL) {
        note_loss(&replay->has_loss, &replay->loss_seq, &replay->loss_until_ns, seq, until_ns);
        for (const nm_process *any = replay->first_process; any != NULL; any = any->next)
            nm_graphs_lose(any);
    } else {
        note_loss(&process->has_loss, &process->loss_seq, &process->loss_until_ns, seq, until_ns);
        nm_graphs_lose(process);
    }
    return NM_TELL(replay, NM_CHANGE_LOST, err, .process = process);
}
