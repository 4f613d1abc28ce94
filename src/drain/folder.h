/* SPDX-License-Identifier: Apache-2.0
 *
 * The folder that a recorded program and the drain share (trace/ring.h says what is in it): made, found again, removed.
 * What the drain reads is mapped; a recovery copies instead, so that a file which is cut meanwhile cannot hurt it.
 */
#ifndef NM_DRAIN_FOLDER_H
#define NM_DRAIN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "trace/ring.h"

#define NM_FOLDER_PATH_BYTES 256

typedef struct nm_folder_options {
    nm_stack_mode stack_mode;
    uint32_t stack_depth; /* 1 to NM_RING_STACK_DEPTH_MAX */
    nm_on_full on_full;
    bool starts_paused;
    bool is_live_set_known;     /* what is live is kept while the recording is paused (nm_pauser) */
    bool is_sampled;            /* host memory is told */
    bool has_from_step;         /* nothing but memory is recorded before from_step, */
    bool has_to_step;           /* nor from the step behind to_step on; see nm_ring_session */
    int64_t from_step, to_step; /* then */
    uint64_t ring_bytes;        /* rounded up to a power of two between NM_RING_BYTES_MIN and NM_RING_BYTES_MAX */
} nm_folder_options;

typedef struct nm_folder {
    char path[NM_FOLDER_PATH_BYTES];
    int fd;                   /* the folder, open while there is a session; owned */
    nm_ring_session *session; /* mapped (drain) or copied (recovery) */
    bool is_copy;             /* not mapped: for a recovery */
    size_t session_bytes;     /* of a copy */
} nm_folder;

/* A new folder name below the first of: `wanted` (may be NULL), /dev/shm, $TMPDIR, /tmp that is local, writable and has
 * room for `room_bytes`. NM_ERR_IO when there is none. */
nm_status nm_folder_choose(const char *wanted, uint64_t room_bytes, char path[NM_FOLDER_PATH_BYTES], nm_error *err);

/* Makes the folder (0700) and its session file, not yet calibrated (nm_clock_start). *out is closed by nm_folder_close. */
nm_status nm_folder_create(const char *path, const nm_folder_options *options, nm_folder *out, nm_error *err);

/* Copies the session of an existing folder. NM_ERR_FORMAT when it is not ours. */
nm_status nm_folder_open_copy(const char *path, nm_folder *out, nm_error *err);

void nm_folder_close(nm_folder *folder); /* leaves the files */

/* Removes the session's files and the folder, if it is this user's own; what else lies there stays. */
void nm_folder_remove(const char *path);

/* Makes FOLDER/trial, a session like FOLDER's own, for a trial run: what becomes of it does not touch the recording. Closed
 * by nm_folder_close and removed with FOLDER, if not before. */
nm_status nm_folder_create_trial(const nm_folder *folder, nm_folder *out, nm_error *err);

/* Could a program make a ring here, if only a short one? Leaves nothing. */
nm_status nm_folder_try_ring(const nm_folder *folder, nm_error *err);

/* Processes that could not join and have left a link that says so; *why is the error number of one. *is_gone: the folder is
 * not there any more, or cannot be looked into. */
uint64_t nm_folder_count_refused(const nm_folder *folder, int *why, bool *is_gone);

bool nm_folder_has_refused(const nm_folder *folder, uint64_t pid); /* has this one left such a link? */

void nm_folder_remove_file(const nm_folder *folder, char prefix, uint64_t number);

/*
 * Gives the bytes of file `prefix`.`number` (prefix 'p', 'r' or, of a copy, 's'): mapped shared and writable, or in a copy when the folder
 * is one. NM_END: not there, shorter than `min_bytes`, or not to be had now. Give it back with nm_folder_unmap.
 */
nm_status nm_folder_map(const nm_folder *folder, char prefix, uint64_t number, size_t min_bytes, void **data,
                        size_t *bytes, nm_error *err);
void nm_folder_unmap(const nm_folder *folder, void *data, size_t bytes);

#endif
