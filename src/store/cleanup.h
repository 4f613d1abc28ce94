/* SPDX-License-Identifier: Apache-2.0
 *
 * Files and folders that must not outlive an interrupted program: what is on the list is removed when SIGINT, SIGTERM or
 * SIGHUP ends it. One list for the process; every function blocks those signals while it changes the list.
 */
#ifndef NM_STORE_CLEANUP_H
#define NM_STORE_CLEANUP_H

#include "base/error.h"

/* Takes over the three signals, but for those that the program was started with ignored. */
void nm_cleanup_install(void);

/* A name in an open folder: of a file or an empty folder; or, with `own_fd`, of the open folder that is to be emptied before.
 * Both descriptors stay the caller's, and open until the name is forgotten. */
nm_status nm_cleanup_add(int folder, const char *name, int own_fd, nm_error *err);

void nm_cleanup_forget(int folder, const char *name); /* it has been published, or is gone */
/* In a new process: what is on the list is its parent's. */
void nm_cleanup_disown(void);

void nm_cleanup_remove(int folder, const char *name); /* at once, and forget */

#endif
