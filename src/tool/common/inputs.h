/* SPDX-License-Identifier: Apache-2.0
 *
 * What the operands of npumem-ingest and npumem-whatif name: the parts of one recording are one input, however they are
 * named, and so are the files of one run of a profiler; any other file is an input of its own. A folder without traces of its own is
 * all that can be read in it.
 */
#ifndef NM_TOOL_COMMON_INPUTS_H
#define NM_TOOL_COMMON_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "source/source.h"
#include "tool/common/logs.h"
#include "tool/common/progress.h"
#include "trace/files.h"

typedef struct tool_input {
    char *name;   /* as table input and messages call it; owned */
    char **paths; /* its files, or the one operand; owned */
    size_t path_count, path_capacity;
    uint64_t *
        begins; /* of a trace that was looked into: the first block's index of each of its files; of a run: which part it is; owned */
    size_t begin_capacity;
    uint8_t trace_id[16];       /* of a trace that was looked into */
    bool is_trace;              /* was looked into, and is one */
    bool is_database;           /* that npumem wrote */
    char *run;                  /* of a profiler's run: the folder that its files are in; owned. Else NULL */
    const nm_source_type *type; /* of a run */
    bool is_run_database;       /* another tool's */
    bool is_left_out;
    size_t repeat_count;           /* files that are there again: left out, */
    char *repeat_path, *kept_path; /* the first of them, and what it repeats; owned, or NULL */
} tool_input;

typedef struct tool_inputs {
    tool_input *items; /* in the order in which the operands name them first */
    size_t count, capacity;
    tool_logs logs; /* those that were looked into: of a folder, or of several operands the silent ones */
} tool_inputs;

/* A single operand that is a file or '-' is not looked into, for it may be a pipe. *subject is the operand that an error is
 * about. */
nm_status tool_inputs_find(const char *const *operands, size_t operand_count, tool_inputs *out, const char **subject,
                           nm_error *err);

/* Of files that begin with the same block of a recording one stays, the one of which more can be read. Says of each input which
 * of its files were left out, and what of a database is in none of them, a line each; and which logs. */
void tool_inputs_say_repeats(const tool_inputs *inputs, const char *program, FILE *out);

/* The line that says of `name` that so many of its recordings are in `kept` too, and not taken again. */
void tool_say_repeat(const char *program, const char *name, const char *kept, int64_t recording_count, int64_t of_count,
                     FILE *out);

/* Either *fd, or with -1 in it *files. A database is opened too, so that it is known to be there. */
nm_status tool_input_open(const tool_input *input, int *fd, nm_trace_files *files, nm_error *err);

/* The records of what tool_input_open has given, from the first one. */
nm_status tool_input_source(int fd, const nm_trace_files *files, nm_source **out, nm_error *err);

/* From here on `progress` shows how far an input is read that a source reads while it is opened; NULL: no more. */
void tool_inputs_show(nm_progress *progress);

/* Back to the first record. *is_new: *source is another one, opened anew; it is NULL after a failure. */
nm_status tool_input_again(int fd, const nm_trace_files *files, nm_source **source, bool *is_new, nm_error *err);

/* The rank that the name of an input's file tells: "snapshot_rank3.pickle", "run.rank-12.zst"; else a folder that it is in, called just
 * "rank_3", or as torchrun names its logs "attempt_0/3". False: none tells it. */
bool tool_input_rank(const char *name, int64_t *rank);

void tool_inputs_free(tool_inputs *inputs);

#endif
