/* SPDX-License-Identifier: Apache-2.0
 *
 * Names on the disk: may an output stand there, which name does it have while it is built, and how it gets its place.
 */
#ifndef NM_STORE_PUBLISH_H
#define NM_STORE_PUBLISH_H

#include <stdbool.h>

#include "base/error.h"

/* See nm_store_check_output. */
nm_status nm_output_check(const char *path, bool is_forced, int input_fd, nm_error *err);

/* Removes PATH.PID.tmp, files and folders of files, of programs that are no more. Failure is silent: they only waste room. */
void nm_output_sweep(const char *path);

/* PATH.PID.tmp of this process. Owned by the caller: free(). */
nm_status nm_output_temporary(const char *path, char **out, nm_error *err);

/* A file without a name in the folder of the temporary file, of whose name it may be for a moment. *fd is the caller's. */
nm_status nm_output_scratch(const char *temporary, int *fd, nm_error *err);

/* Syncs the temporary file and gives it its name; on failure that has not happened. Without `is_forced` a file that has come
 * to stand there meanwhile stays: NM_ERR_EXISTS. */
nm_status nm_output_publish(const char *temporary, const char *path, bool is_forced, nm_error *err);

/* Then: syncs the folder. On failure the file stands all the same, as the error says. */
nm_status nm_output_settle(const char *path, nm_error *err);

/* Removes a folder and the files in it, one level deep. */
void nm_output_remove_folder(const char *path);

#endif
