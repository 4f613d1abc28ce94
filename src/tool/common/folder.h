/* SPDX-License-Identifier: Apache-2.0
 *
 * What is in a folder that can be read: every file in it and in the folders below, known by what is in it.
 */
#ifndef NM_TOOL_COMMON_FOLDER_H
#define NM_TOOL_COMMON_FOLDER_H

#include "source/source.h"

#define TOOL_FOLDER_DEPTH_MAX   16     /* folders in folders: what is deeper is not looked at */
#define TOOL_FOLDER_ENTRIES_MAX 100000 /* in all of them */

typedef struct tool_folder_file {
    char *path; /* owned */
    nm_source_seen seen;
} tool_folder_file;

typedef struct tool_folder {
    tool_folder_file *items; /* by their paths */
    size_t count, capacity;
    size_t entry_count;
    bool has_run; /* it is, or holds, a folder that the Ascend PyTorch Profiler or msprof makes */
} tool_folder;

/* No link is followed but `path` itself, no pipe is opened, what begins with a dot is passed over, and so are databases that npumem
 * wrote. NM_ERR_LIMIT: too much is in it. */
nm_status tool_folder_find(const char *path, tool_folder *out, nm_error *err);
void tool_folder_free(tool_folder *folder);

#endif
