/* SPDX-License-Identifier: Apache-2.0
 *
 * Which files and folders are believed, because nobody but their user (and root) can have made them or can put others in
 * their place. One rule for the program beside the recording and for what runs inside the recorded one: pure functions of
 * what stat gave, so that each asks the kernel in its own way. No heap, no system call; errno stays.
 */
#ifndef NM_BASE_TRUST_H
#define NM_BASE_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Is it a file or folder (type: S_IFREG, S_IFDIR) that is `user`'s and closed to everybody else? A file has no second name. */
bool nm_trust_is_own(const struct stat *info, mode_t type, uid_t user);

/* Is it a folder in which nobody but `user` and root can put something in the place of what is `user`'s: one of the two owns
 * it, and it is writable by nobody else, or sticky? */
bool nm_trust_is_safe_folder(const char *path, const struct stat *info, uid_t user);

/* May it be swept, obeyed or believed: is it `user`'s or root's, and not everybody's to write to, unless sticky? */
bool nm_trust_is_ours(const struct stat *info, uid_t user);

/* The folder that `path` lies in ("." where it names none). False: it does not fit. */
bool nm_trust_parent(const char *path, char *parent, size_t parent_bytes);

#endif
