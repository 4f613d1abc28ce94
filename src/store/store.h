/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds a database beside the place where it will stand, from the rows that a replay gives, and puts it there whole or
 * not at all.
 *
 *     nm_store_open("run.db", &options, &store, err);        run.db.PID.tmp, with the tables
 *     nm_replay_new(nm_store_sink(store), &replay, err); ... the rows
 *     nm_store_finish(store, &input, err);                   definitions, sites, indexes, views, findings, checks
 *     nm_store_db(store): answers, CSV
 *     nm_store_publish(store, err);                          run.db
 *     nm_store_close(store);                                 without publish: nothing is left
 *
 * Several inputs: each is such a store of its own, a part, that is merged into one (NM_STORE_MERGED) and closed.
 *
 *     nm_store_open("job.db", &merged, &store, err);
 *     nm_store_open("job.db.1", &part, &one, err); ... nm_store_finish(one, &input, err);
 *     nm_store_seal(one, &path, err);
 *     nm_store_merge_part(store, path, &origin, err);        or nm_store_merge_file(store, "a.db", ...)
 *     nm_store_finish_merged(store, err);
 *
 * NM_ERR_WRITE, of any of these and of the sink, names the database that was to be; but not a part or a scratch, which lie
 * beside an output that the caller knows.
 */
#ifndef NM_STORE_STORE_H
#define NM_STORE_STORE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "rows/sink.h"
#include "sites/frame_names.h"
#include "store/merge.h"
#include "store/redact_text.h"
#include "store/retention.h"
#include "store/threshold.h"

typedef struct nm_store nm_store;

typedef enum nm_store_role {
    NM_STORE_WHOLE,  /* of one input */
    NM_STORE_PART,   /* of one of several: tables alone, never published */
    NM_STORE_MERGED, /* of all of them: has no sink */
} nm_store_role;

typedef struct nm_store_options {
    nm_store_role role;
    nm_retention retention; /* of the inputs: no more than that */
    const nm_window_bounds
        *window; /* of NM_RETENTION_WINDOW, whose store is of one input; borrowed until nm_store_open returns */
    int64_t server_minutes; /* so long a process without steps has to run to be judged; 0: as table minimum has it */
    const nm_thresholds *thresholds; /* borrowed until nm_store_open returns; NULL: the schema's */
    bool adopts_thresholds;          /* of the databases that are merged; otherwise theirs have to be the same */
    bool is_plain;                   /* every row by INSERT: store/bulk/bulk.h */
    bool is_forced;                  /* replace what stands at the output's name */
    bool is_scratch;                 /* never published: nothing has to be free but the temporary name */
    bool is_redacted;                /* hosts, users, paths and arguments are replaced: redact.h */
    int input_fd;                    /* to refuse an output that is the input; -1: unknown */
    nm_bytes site_rules;             /* text of --site-rules, or empty; borrowed until nm_store_open returns */
    const nm_frame_namer *namer;     /* is asked while the store is finished; borrowed; NULL: nobody */
} nm_store_options;

/*
 * Would nm_store_open accept this output? NM_ERR_EXISTS: it is there and not forced, or a journal of another database
 * lies beside it, or it is no regular file. NM_ERR_USAGE: it is the input.
 */
nm_status nm_store_check_output(const char *path, const nm_store_options *options, nm_error *err);

/* NM_ERR_FORMAT: a bad site rule; err->offset is its place in the rules. Also sweeps what dead runs left behind. */
nm_status nm_store_open(const char *path, const nm_store_options *options, nm_store **out, nm_error *err);

/* Borrowed; its context is the store. */
const nm_sink *nm_store_sink(nm_store *store);

/* With NM_RETENTION_WINDOW: the event of which rows come next. NM_ERR_USAGE: the window ends before it begins. */
nm_status nm_store_event(nm_store *store, int64_t seq, int64_t ns, nm_error *err);

/* `input` as its source has it: what the load knows itself it fills in. NM_ERR_USAGE: the window has not begun. */
nm_status nm_store_finish(nm_store *store, const nm_input_row *input, nm_error *err);

/* Ends the writing of a finished part. *path is its file, which stays until it is closed; borrowed until then. */
nm_status nm_store_seal(nm_store *part, const char **path, nm_error *err);

/* Adds a part that is sealed, of this process or of another. `origin`: which of several it is (repeats.h). */
nm_status nm_store_merge_part(nm_store *store, const char *path, const nm_merge_origin *origin, nm_error *err);

/* Adds a database that an npumem-ingest of this version made. NM_ERR_FORMAT: it is none, or damaged. `origin` NULL: it is the
 * only one. */
nm_status nm_store_merge_file(nm_store *store, const char *path, const nm_merge_origin *origin, nm_error *err);

/* The same with the caller's own choice of how much of it is taken. */
nm_status nm_store_merge_with(nm_store *store, const char *path, const nm_merge_options *options, nm_error *err);

/* In place of nm_store_finish: indexes, views, checks. */
nm_status nm_store_finish_merged(nm_store *store, nm_error *err);

/* The finished database, for reading. Borrowed; gone after publish or close. */
sqlite3 *nm_store_db(nm_store *store);

/* References to what the input never defined; they are NULL in the database. */
uint64_t nm_store_unknown_references(const nm_store *store);

/* What came of the frames without names; after nm_store_finish. */
const nm_frame_name_counts *nm_store_name_counts(const nm_store *store);

nm_status nm_store_publish(nm_store *store, nm_error *err);

/* In place of that: the finished file, open for reading, which has no name from then on. *fd is the caller's. */
nm_status nm_store_take(nm_store *store, int *fd, nm_error *err);

/* Replaces in a text, a line, what was replaced in a redacted database, by the same names (redact_text.h). What is met for the
 * first time is known from then on. After nm_store_finish, of a store that was opened to be redacted. */
nm_status nm_store_redact(nm_store *store, nm_redact_role role, nm_bytes text, nm_buffer *out, nm_error *err);

void nm_store_close(nm_store *store); /* NULL is fine */

#endif
