/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs that --selfcheck runs, one after the other: in a folder of their own, which goes with all that they leave in it,
 * with what they print kept.
 */
#ifndef NM_TOOL_SELFCHECK_RUN_H
#define NM_TOOL_SELFCHECK_RUN_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>

#include "base/buffer.h"

typedef struct selfcheck_place {
    char folder[PATH_MAX]; /* "": not made */
    int folder_fd;         /* owned, then */
    sigset_t mask_before;  /* the signals that are waited for here are blocked meanwhile */
    int ended_by;          /* signal that asks npumem-record itself to end; 0: none */
} selfcheck_place;

typedef struct selfcheck_run {
    int exit_status; /* as a shell has it: 128 and the signal's number for one that was killed; 127: not found */
    bool is_too_long;
    int64_t wall_ns;
    nm_buffer out, err; /* owned texts, zero-terminated; at most a mebibyte of each */
} selfcheck_run;

/* Makes the folder, in $TMPDIR or /tmp. */
nm_status selfcheck_place_open(selfcheck_place *place, nm_error *err);
void selfcheck_place_close(selfcheck_place *place); /* with all that is in it */

/* FOLDER/name; cut off where it would be too long. */
void selfcheck_path(const selfcheck_place *place, const char *name, char path[PATH_MAX]);

/*
 * Runs `arguments` (NULL at the end; the program by PATH or path) in the folder, with `library_folder` (or NULL) before
 * LD_LIBRARY_PATH. Waits at most ten minutes, and while no signal asks npumem-record to end: then all that it started is
 * ended. *out is to be freed, or used again, whatever is returned; NM_ERR_IO: no process could be had.
 */
nm_status selfcheck_run_program(selfcheck_place *place, const char *const *arguments, const char *library_folder,
                                selfcheck_run *out, nm_error *err);
void selfcheck_run_free(selfcheck_run *run);

/* A file of the folder, zero-terminated; empty when it cannot be read. */
void selfcheck_read(const selfcheck_place *place, const char *name, nm_buffer *out);

#endif
