/* SPDX-License-Identifier: Apache-2.0
 *
 * What the operands of npumem-ingest name: the parts of one recording are one input, however they are named; any other file
 * is an input of its own.
 */
#ifndef NM_TOOL_COMMON_INPUTS_H
#define NM_TOOL_COMMON_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "source/source.h"
#include "trace/files.h"

typedef struct ingest_input {
    char *name;   /* as table input and messages call it; owned */
    char **paths; /* its files, or the one operand; owned */
    size_t path_count, path_capacity;
    uint8_t trace_id[16]; /* of a trace that was looked into */
    bool is_trace;        /* was looked into, and is one */
    bool is_database;
} ingest_input;

typedef struct ingest_inputs {
    ingest_input *items; /* in the order in which the operands name them first */
    size_t count, capacity;
} ingest_inputs;

/* A single operand that is a file or '-' is not looked into, for it may be a pipe. *subject is the operand that an error is
 * about. */
nm_status ingest_inputs_find(const char *const *operands, size_t operand_count, ingest_inputs *out,
                             const char **subject, nm_error *err);

/* Either *fd, or with -1 in it *files. A database is opened too, so that it is known to be there. */
nm_status ingest_input_open(const ingest_input *input, int *fd, nm_trace_files *files, nm_error *err);

/* The records of what ingest_input_open has given, from the first one. */
nm_status ingest_input_source(int fd, const nm_trace_files *files, nm_source **out, nm_error *err);

/* Back to the first record. *is_new: *source is another one, opened anew; it is NULL after a failure. */
nm_status ingest_input_again(int fd, const nm_trace_files *files, nm_source **source, bool *is_new, nm_error *err);

/* The rank that the name of an input's file tells: "snapshot_rank3.pickle", "run.rank-12.zst". False: it tells none. */
bool ingest_input_rank(const char *name, int64_t *rank);

void ingest_inputs_free(ingest_inputs *inputs);

#endif
