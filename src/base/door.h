/* SPDX-License-Identifier: Apache-2.0
 *
 * The one door to the names of the file system, outside the recorded program (record/ has rules and system calls of its own).
 *
 * A path that the user gave is resolved as usual, links and all, and once: to a descriptor of the folder that it stands in, and
 * its name there. A link of that very name is followed to what is read, and to what is written where it is the user's or root's. Every name that we derive is one in a folder that is open (an `int folder`): it is opened there without
 * following a link, judged by what the descriptor says, and acted on there. So whoever may write to that folder, and exchanges
 * what lies in it between two calls, never leads us into another.
 *
 * What is swept, removed by a rule, obeyed or believed must be ours (nm_trust_is_ours). What is only read may be anybody's.
 *
 * Descriptors are given back by nm_io_close. A result below 0 leaves the reason in errno. A test over the sources
 * (tests/tool/meta/door.sh) holds all others to this.
 */
#ifndef NM_BASE_DOOR_H
#define NM_BASE_DOOR_H

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"

/* ---- Paths of the user: links are followed -------------------------------------------------------------------------- */

bool nm_door_look(const char *path, struct stat *info); /* false: it is not there, or hidden; errno says why */
bool nm_door_is_same(const char *a, const char *b);     /* both are there, and one file */

/* Does it lead to what is of this type (S_IFREG, S_IFDIR, ...)? Only for what is decided by that alone: what is opened then is
 * judged again. */
bool nm_door_leads_to(const char *path, mode_t type);

bool nm_door_allows(const char *path, int rights); /* F_OK, R_OK, W_OK, X_OK, as access(2) */

/* The path without links, as realpath(3). */
bool nm_door_resolve(const char *path, char resolved[PATH_MAX]);

/* Opens a regular file to read it, without waiting for anything. Else NM_ERR_FORMAT, "not a file". */
nm_status nm_door_open_file(const char *path, int *fd, struct stat *info, nm_error *err);

/* To be read as by fopen, which waits for the writer of a pipe. NULL: errno. */
FILE *nm_door_stream(const char *path);

/* The folder that `path` stands in, and its name there: borrowed from `path`; "." where that ends with a slash. */
int nm_door_folder_of(const char *path, const char **name);

int nm_door_folder(const char *path); /* the folder itself; NULL and "" lead nowhere */

/* What is in the folder. To be read and closed by readdir and closedir. NULL: errno. */
DIR *nm_door_list(const char *path);

/* Removes a file (or a link itself) that is known by its path alone. 0, or -1. */
int nm_door_remove(const char *path);

/* The same of one that is open: whatever else the path leads to by now stays. */
void nm_door_take_back(const char *path, int fd);

/* Opens what the user named, to be written to: what is there, or a link's target, where the link is the user's or root's. One of
 * somebody else's, who may have put it there: NM_ERR_EXISTS. *is_link: it was opened through one. */
nm_status nm_door_open_named(int folder, const char *name, int flags, mode_t mode, bool *is_link, int *fd,
                             nm_error *err);

/* A new folder STEM-XXXXXX, for the user alone, in the temporary folder (nm_io_temporary_folder). Gives its path, and the folder itself, open. */
nm_status nm_door_make_temporary(const char *stem, char path[PATH_MAX], int *folder, nm_error *err);

/* ---- What is handed over: open by one who has judged it, and opened anew by another, whatever its name leads to by then ---- */

#define NM_DOOR_HANDED_BYTES 32

/* Holds what `path` is below the open folder, to be handed over; "" is the folder itself. No link is followed, nothing waited for, and
 * nothing can be read by it. -1: errno; ELOOP where there is a link. */
int nm_door_hold_below(int folder, const char *path);

/* The path of a descriptor, for this process and those that inherit it. */
void nm_door_hand(int fd, char path[NM_DOOR_HANDED_BYTES]);

bool nm_door_is_handed(const char *path); /* it is such a path, or one below it */

/* To be added to the flags of what is only read: below a folder that was handed over no link is followed. */
int nm_door_read_flags(const char *path);

/* A child that runs another program keeps what this path is of. May be called between fork and exec. */
void nm_door_keep_handed(const char *path);

/* The name to show: of what was handed over the one that it has now. In `name`, or `path` itself. */
const char *nm_door_name(const char *path, char name[PATH_MAX]);

/* ---- Names in an open folder: links are not followed ---------------------------------------------------------------- */

/* Opens with O_CLOEXEC and O_NOFOLLOW. NM_ERR_EXISTS, with O_EXCL: it is there. */
nm_status nm_door_open_at(int folder, const char *name, int flags, mode_t mode, int *fd, nm_error *err);

int nm_door_folder_at(int folder, const char *name); /* a folder in it, to be listed, too */

bool nm_door_look_at(int folder, const char *name, struct stat *info); /* a link itself */

/* But this follows one: for what lies in a folder of the user's and is only read. */
bool nm_door_leads_to_at(int folder, const char *name, mode_t type);

/* Does the name stand for the file that is open as `fd`, now? */
bool nm_door_is_at(int folder, const char *name, int fd);

/* What is in it, from the beginning, whatever else reads there. */
DIR *nm_door_list_at(int folder);

int nm_door_make_folder_at(int folder, const char *name, mode_t mode);

/* Moves a name to another folder or name. NM_ERR_EXISTS, without `is_forced`: something is there by now. */
nm_status nm_door_move(int from_folder, const char *from, int to_folder, const char *to, bool is_forced, nm_error *err);

/* Removes a file, a link itself. */
int nm_door_remove_at(int folder, const char *name);

/* Empties the open folder, so many levels deep (1: of files; 0: not at all), and stays in it. May be called by a signal's handler. */
void nm_door_empty(int folder, unsigned levels);

/* Empties the folder NAME, if it is the one that is open as `fd`, and removes it when nothing is left. For handlers, too. */
void nm_door_remove_folder_at(int folder, const char *name, int fd, unsigned levels);

#endif
