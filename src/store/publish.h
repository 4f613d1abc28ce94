/* SPDX-License-Identifier: Apache-2.0
 *
 * Names on the disk: may an output stand there, and the draft that it is until it gets its place: PATH.PID.tmp in the folder to
 * which the path led when the draft was begun.
 */
#ifndef NM_STORE_PUBLISH_H
#define NM_STORE_PUBLISH_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

typedef struct nm_draft { /* a zeroed one: none */
    char *path;           /* owned: where it is to stand */
    char *temporary_path; /* owned: for who opens by name alone, as SQLite does. NULL: none */
    int folder;           /* that both stand in; owned */
    int fd;               /* owned: the file, or the folder of files */
    int mark_fd;          /* owned: the lock that says that the draft has a living owner; of a file, the file */
    bool is_folder;
} nm_draft;

/* See nm_store_check_output. */
nm_status nm_output_check(const char *path, bool is_forced, int input_fd, nm_error *err);

/* Removes drafts of PATH, files and folders of files, of programs that are no more, if they are this user's or root's. Failure
 * is silent: they only waste room. */
void nm_output_sweep(const char *path);

/* Sweeps, and makes a draft, which is removed if a signal ends the program (store/cleanup.h): an empty file, which is locked, or
 * an empty folder. Ended by nm_draft_end, whatever is returned. */
nm_status nm_draft_begin(const char *path, nm_draft *out, nm_error *err);
nm_status nm_draft_begin_folder(const char *path, nm_draft *out, nm_error *err);

/* To write the file by; the caller's to close. NULL: errno. */
FILE *nm_draft_stream(const nm_draft *draft);

/* A new file in the folder, to be written. NULL: errno. */
FILE *nm_draft_file(const nm_draft *draft, const char *name);

/* A file without a name in the folder of the draft, of whose name it may be for a moment. *fd is the caller's. */
nm_status nm_output_scratch(const char *temporary, int *fd, nm_error *err);

/* Syncs the file and gives it its name; on failure that has not happened. Without `is_forced` a file that has come to stand
 * there meanwhile stays: NM_ERR_EXISTS. */
nm_status nm_draft_publish(nm_draft *draft, bool is_forced, nm_error *err);

/* Moves files of the folder to the folder PATH, which is made where it is not there. Without `is_forced` what has come to stand
 * there meanwhile stays: NM_ERR_EXISTS. */
nm_status nm_draft_publish_files(nm_draft *draft, char *const *names, size_t count, bool is_forced, nm_error *err);

/* Removes what has not got its place. */
void nm_draft_end(nm_draft *draft);

/* Then: syncs the folder. On failure the file stands all the same, as the error says. */
nm_status nm_output_settle(const char *path, nm_error *err);

#endif
