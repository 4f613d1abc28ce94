/* SPDX-License-Identifier: Apache-2.0
 *
 * What has become of a recording, decided here and nowhere else: from its trace (is its last block there?), from the lock on
 * that file (drain/output.h: held as long as the recorder lives, which every user can see who may read the file), and from
 * its rings. A copy of a trace has no lock; its state is that of the recording it was copied of, as far as the rings tell.
 */
#ifndef NM_DRAIN_STATE_H
#define NM_DRAIN_STATE_H

#include "drain/folder.h"
#include "trace/block.h"

#define NM_BOOT_ID_BYTES sizeof((nm_session *)NULL)->boot_id

typedef enum nm_state {
    NM_STATE_ENDED,     /* its last block is there; or the input is no recording, and whole by itself */
    NM_STATE_RECOVERED, /* so it is, made of what a dead recorder had left in its rings */
    NM_STATE_RUNNING,   /* its recorder lives: what is there is what was so far */
    NM_STATE_KILLED,    /* its recorder does not; its rings are there. A recorded process may go on, and fill them */
    NM_STATE_CUT,       /* recorded here, and neither a last block nor rings are left */
    NM_STATE_UNSEEN, /* without a last block; recorded on another machine, or through a pipe: nothing here tells more */
    NM_STATE_UNREADABLE, /* without a last block and a lock; its rings are another user's, so nothing tells more */
} nm_state;

/* The word in input.state of a database. */
const char *nm_state_word(nm_state state);

/* What there is to say of a recording without an end, for a line in English: "still recording: figures so far". */
const char *nm_state_reason(nm_state state);

/* The same by the word; of what is none, NULL. */
const char *nm_state_reason_of(const char *word);

/* The session that the first whole block near the file's beginning tells of. False: there is none, or it is no file. */
bool nm_state_find_session(int fd, nm_session *out);

/* Which start of this machine it is; "" where /proc does not tell. */
void nm_state_read_boot_id(char boot_id[NM_BOOT_ID_BYTES]);

/* False: the session is known to be of another machine, or of before this one was started. */
bool nm_state_is_of_this_boot(const nm_session *session);

/* A copy of the recording's session file, closed by nm_folder_close: NM_STATE_KILLED, for whether the recorder lives is not
 * looked at. Otherwise what takes the place of it, and nothing is to be closed. */
nm_state nm_state_open_rings(const nm_session *session, nm_folder *out);

/*
 * Of a trace whose last block has not been met. `fd` is its file, or its last part; `session` NULL: not known. A look at the
 * lock is a system call; where that tells nothing, and no process is the recorder, its heartbeat is waited for a little.
 * Whoever reads the file to its end behind this and meets the last block knows better.
 */
nm_state nm_state_look(const nm_session *session, int fd);

#endif
