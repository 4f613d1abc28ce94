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

/* Paths are removed in the reverse order of their adding: a folder first, then its files. */
nm_status nm_cleanup_add(const char *path, nm_error *err);

void nm_cleanup_forget(const char *path); /* it has been published, or is gone */
/* In a new process: what is on the list is its parent's. */
void nm_cleanup_disown(void);

void nm_cleanup_remove(const char *path); /* unlink or rmdir, and forget */

#endif
