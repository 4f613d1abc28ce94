/* SPDX-License-Identifier: Apache-2.0
 *
 * A run of npumem-ingest, and how one of its inputs is read into a database: source, replay and store are connected here.
 */
#ifndef NM_TOOL_INGEST_LOAD_H
#define NM_TOOL_INGEST_LOAD_H

#include <stdio.h>

#include "drain/state.h"
#include "replay/replay.h"
#include "report/csv.h"
#include "source/claims.h"
#include "source/source.h"
#include "steps/anchor.h"
#include "store/foreign.h"
#include "tool/common/inputs.h"
#include "tool/common/progress.h"
#include "tool/ingest/options.h"
#include "tool/ingest/page.h"
#include "tool/ingest/symbols.h"

typedef struct ingest {
    const ingest_options *options;
    const char *subject; /* the file that an error is about */
    tool_inputs inputs;
    char *output_path; /* owned */
    nm_buffer site_rules;
    ingest_symbols *symbols;        /* NULL: none asked for */
    nm_store *store;                /* NULL: answers of a database that is there */
    nm_foreign *database;           /* that one */
    sqlite3 *db;                    /* borrowed; what is finished, for its answers */
    struct ingest_workers *workers; /* of several inputs */
    nm_csv *csv;
    ingest_page page;
    nm_progress progress;
    nm_frame_name_counts name_counts; /* of all inputs */
    int64_t row_event_count;          /* events of which all rows were loaded */
    bool is_whole;
    bool is_settled; /* the names of what was written are on the disk, too */
    char *screen;    /* owned: what goes to standard output once all is in place, */
    size_t screen_bytes;
    char *losses; /* and to standard error */
    size_t losses_bytes;
    FILE *losses_file;
    char *repeats; /* the same of what was left out because it is there again */
    size_t repeats_bytes;
    FILE *repeats_file;

    /* Of the input at hand. */
    const tool_input *input;
    int input_fd;         /* -1: the input is `files` */
    nm_trace_files files; /* empty: the input is `input_fd` */
    nm_source *source;
    nm_store *part; /* where its rows go: `store`, or one of its own */
    nm_replay *replay;
    nm_claims *claims; /* reads `source` */
    nm_anchor *anchor; /* NULL: steps are not looked for */
    uint64_t record_count;
    nm_progress_slot *slot; /* where a worker says how far it is (workers.h), or NULL */
    int64_t first_seq, last_seq;
    nm_state state; /* of a trace, when its rings were looked at */
} ingest;

/* Where one of several inputs goes first. The caller's to free; NULL: no memory. */
char *ingest_part_path(const ingest *run, size_t index);

/* What messages call an input: its file, or what all of its files have in common. Borrowed. */
const char *ingest_input_name(const tool_input *input);

/* Of run->input, which the caller has set: run->input_fd or run->files. */
nm_status ingest_open_input(ingest *run, nm_error *err);

/* The next input, up to its first record, unless it has to be copied first. */
nm_status ingest_begin_input(ingest *run, const tool_input *input, nm_error *err);

/* Reads the input that has begun into run->part, which the caller has opened, and finishes that. */
nm_status ingest_load_input(ingest *run, nm_error *err);

/* After it, whether it was loaded or not; nothing when there is none. */
void ingest_end_input(ingest *run);

#endif
