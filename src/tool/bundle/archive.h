/* SPDX-License-Identifier: Apache-2.0
 *
 * A tar (ustar) written as it comes, compressed by zstd or not. The same members give the same bytes: they have no owner, and
 * the time that the caller says. A member beyond 8 GiB has its size as GNU tar, libarchive and Python write and read it.
 *
 *     archive_open(stdout, true, seconds, &archive, err);
 *     archive_add(archive, "folder/a.txt", text, err); archive_add_file(archive, "folder/b", fd, err);
 *     archive_end(archive, err);
 *     archive_free(archive);
 */
#ifndef NM_TOOL_BUNDLE_ARCHIVE_H
#define NM_TOOL_BUNDLE_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/error.h"

typedef struct archive archive;

/* `out` is borrowed. `time_seconds`: of all members, since 1970. */
nm_status archive_open(FILE *out, bool is_compressed, int64_t time_seconds, archive **made, nm_error *err);

/* Names are the caller's own, at most 99 bytes. */
nm_status archive_add(archive *a, const char *name, nm_bytes content, nm_error *err);

/* From the file's begin to its end. */
nm_status archive_add_file(archive *a, const char *name, int fd, nm_error *err);

/* The end of the archive, which is then with `out`: flushed. */
nm_status archive_end(archive *a, nm_error *err);

void archive_free(archive *a); /* NULL is fine */

#endif
