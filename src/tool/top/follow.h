/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace of a recording that goes on, read as it comes. Only files are read: the recorder is not asked, and does not
 * notice. Whether it still runs drain/state.h says.
 *
 *     top_follow_open(path, NULL, &follow, err);
 *     while (top_follow_next(follow, &record, err) == NM_OK) ...     NM_END: no more for now
 *     top_follow_look(follow, err);                                  has it ended?
 *     top_follow_close(follow);
 */
#ifndef NM_TOOL_TOP_FOLLOW_H
#define NM_TOOL_TOP_FOLLOW_H

#include "drain/state.h"
#include "source/source.h"

typedef struct top_follow top_follow;

/* Either a path or a process id. NM_END: the file is empty so far. *name (owned by the caller) is the trace's path, set once it
 * is known. */
nm_status top_follow_open(const char *path, const char *pid, char **name, top_follow **out, nm_error *err);

/* Another one, at the last part there is, for one that is outrun. NM_END: it is empty so far. */
nm_status top_follow_restart(const top_follow *old, top_follow **out, nm_error *err);
void top_follow_close(top_follow *follow); /* NULL is fine */

/* The next record; NM_END: no more is there yet, or at all. */
nm_status top_follow_next(top_follow *follow, nm_record *out, nm_error *err);

/* After NM_END: goes on to the next part, and finds out whether the recording still runs. *has_more: what was still to come
 * is there now, since it has ended, or since a part has begun: read on. */
nm_status top_follow_look(top_follow *follow, bool *has_more, nm_error *err);
nm_state top_follow_state(const top_follow *follow);

/* The next part was dropped before it was read: it is to be begun again. */
bool top_follow_is_outrun(const top_follow *follow);

/* Nothing more will come. Where it cannot be seen whether the recording still runs, that is never said. */
bool top_follow_is_over(const top_follow *follow);

void top_follow_summary(const top_follow *follow, nm_source_summary_data *out);

/* How much of what is there has been read, 0 to 1. */
double top_follow_progress(const top_follow *follow);

#endif
