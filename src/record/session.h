/* SPDX-License-Identifier: Apache-2.0
 *
 * The process's part in a recording: joins a session, joins again in a fork child at its first event, and says how the
 * process ended.
 */
#ifndef NM_RECORD_SESSION_H
#define NM_RECORD_SESSION_H

#include <stdbool.h>

#include "record/state.h"

/* 1 unless NPUMEM=off stands in the environment. */
bool nm_session_is_allowed(void);

/* The output of the host's recording that the environment asks for (host.h), borrowed from it; NULL: it asks for none. */
const char *nm_session_host_output(void);

/* Maps FOLDER/session, makes the process's file and begins to record. False: not a session of this layout, or no room;
 * nothing has changed then. Not for use by two threads at once. */
bool nm_session_join(const char *folder);

/* In a fork child, with signals blocked: joins the parent's session as a process of its own. False: another thread is at
 * it, or it failed. */
bool nm_session_join_after_fork(void);

/* Reads the environment's ranks again: at the first event, since programs set them late. */
void nm_session_note_ranks(void);

/* Says how the process ends; the first call counts. A vfork child, and a process that has not joined, say nothing. */
void nm_session_note_end(unsigned end_kind, int64_t end_status);

#endif
