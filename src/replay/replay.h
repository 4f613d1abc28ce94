/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a stream of records once, in order, and gives rows to a sink. Keeps in memory what is live, and per stack its
 * value as of the last peak: never the events. An allocation's row is written when it ends; what is live at the end of
 * the stream is written by nm_replay_finish.
 *
 *     nm_replay *replay = NULL;
 *     nm_replay_new(&sink, &replay, err);
 *     for each record:  nm_replay_record(replay, &record, err);
 *     nm_replay_finish(replay, err);
 *     nm_replay_free(replay);
 */
#ifndef NM_REPLAY_REPLAY_H
#define NM_REPLAY_REPLAY_H

#include "replay/rows.h"
#include "trace/event.h"

typedef struct nm_replay nm_replay;

nm_status nm_replay_new(const nm_sink *sink, nm_replay **out, nm_error *err); /* copies *sink */
nm_status nm_replay_record(nm_replay *replay, const nm_record *record, nm_error *err);
nm_status nm_replay_finish(nm_replay *replay, nm_error *err);
void nm_replay_free(nm_replay *replay); /* NULL is fine */

#endif
