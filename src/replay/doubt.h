/* SPDX-License-Identifier: Apache-2.0
 *
 * What a stream with holes can still say. Where events of a process were lost, or a pause hid them, what seems misuse may
 * only be a hole, and what seems live may be gone.
 */
#ifndef NM_REPLAY_DOUBT_H
#define NM_REPLAY_DOUBT_H

#include "replay/state.h"

/* Were events of the process lost, or of nobody knows whom? The process may be NULL. */
static inline bool nm_doubt_has_loss(const nm_replay *replay, const nm_process *process)
{
    return replay->has_loss || (process != NULL && process->has_loss);
}

/* Is the event's own place in the order not certain, or the stream before it not whole? */
bool nm_doubt_of_event(const nm_replay *replay, const nm_context *context);
bool nm_doubt_of_live(const nm_replay *replay, const nm_live *live); /* may its end be among what was lost? */

/* May it have changed, or ended, in a pause of which nothing is known? */
bool nm_doubt_may_have_changed(const nm_process *process, int64_t since_seq);
bool nm_doubt_may_have_gone(const nm_live *live);

/* Has the process memory that nobody has seen it allocate? NULL: no. */
bool nm_doubt_has_unseen_memory(const nm_process *process);

/* Events were lost, of the process or (NULL) of any: up to `seq`, and up to `until_ns` or NM_NO_TIME. */
nm_status nm_doubt_lose(nm_replay *replay, nm_process *process, int64_t seq, int64_t until_ns, nm_error *err);

#endif
