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
    const char *file; /* the database: what was named, or in `folder` */
    char *own_file;   /* owned; NULL: the former */
    nm_foreign *database;
    char folder[PATH_MAX]; /* that the temporary database lies in; empty where there is none */
    int folder_fd;         /* owned, then */
    bool is_partial;       /* npumem-ingest said that something of it is missing */
} export_input;

/* `path`, which is borrowed, "-" is standard input. `is_redacted`: a database, too, is loaded, by npumem-ingest --redact. NM_ERR_IO where
 * npumem-ingest failed: it has said why, and *is_said is true. */
nm_status export_input_load(const char *path, bool is_redacted, export_input *out, bool *is_said, nm_error *err);

/* Opens the database, once more if it was shut. */
nm_status export_input_open(export_input *input, bool reads_events, nm_error *err);
void export_input_shut(export_input *input);
void export_input_close(export_input *input);

#endif
