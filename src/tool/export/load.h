/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-export: a database, or one that npumem-ingest makes of a trace or a snapshot and that is gone at the end.
 */
#ifndef NM_TOOL_EXPORT_LOAD_H
#define NM_TOOL_EXPORT_LOAD_H

#include <limits.h>
#include <stdbool.h>

#include "store/foreign.h"

typedef struct export_input {
    nm_foreign *database;
    char folder[PATH_MAX]; /* that the temporary database lies in; empty where there is none */
    int folder_fd;         /* owned, then */
    bool is_partial;       /* npumem-ingest said that something of it is missing */
} export_input;

/* `path` "-" is standard input. NM_ERR_IO where npumem-ingest failed: it has said why, and *is_said is true. */
nm_status export_input_open(const char *path, export_input *out, bool *is_said, nm_error *err);
void export_input_close(export_input *input);

#endif
