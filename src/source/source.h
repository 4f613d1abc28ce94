/* SPDX-License-Identifier: Apache-2.0
 *
 * A source turns one input file, whatever its format, into the stream of trace/event.h: definitions before their first
 * use, events in their order. It is recognised by content, never by name. To add a format: write NAME_source.c with one
 * nm_source_type and put it into the table in source.c.
 *
 *     nm_source *source = NULL;
 *     nm_status status = nm_source_open(fd, &source, err);
 *     while (status == NM_OK && (status = nm_source_next(source, &record, err)) == NM_OK)
 *         ...
 *     if (status == NM_END)
 *         nm_source_summary(source, &summary);
 *     nm_source_close(source);
 */
#ifndef NM_SOURCE_SOURCE_H
#define NM_SOURCE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "source/foreign_rows.h"
#include "trace/block.h"
#include "trace/event.h"

typedef struct nm_source nm_source;

typedef enum nm_order_kind {
    NM_ORDER_CLOCK = 1, /* by time stamps of one clock: a recorded trace */
    NM_ORDER_FILE = 2,  /* by place in the file: a snapshot */
} nm_order_kind;

#define NM_RECORDING_ID_BYTES 33 /* 32 hexadecimal digits and the zero byte */

/* How far a kind of input goes towards an answer. */
typedef enum nm_grade {
    NM_GRADE_NONE = 0,     /* it says nothing of it */
    NM_GRADE_CURVE = 1,    /* amounts from time to time, of nothing by itself */
    NM_GRADE_ESTIMATE = 2, /* some of what is needed: an answer is never firm */
    NM_GRADE_EXACT = 3,
    NM_GRADE_COUNT
} nm_grade;

typedef struct nm_carries {
    nm_grade leak, peak, fragmentation, hits, device, failure, misuse;
} nm_carries;

#define NM_CARRIES_ALL                                                                                                 \
    ((nm_carries){NM_GRADE_EXACT, NM_GRADE_EXACT, NM_GRADE_EXACT, NM_GRADE_EXACT, NM_GRADE_EXACT, NM_GRADE_EXACT,      \
                  NM_GRADE_EXACT})

/* What is known of the input. Final after NM_END. events_seen = ingested + dropped + damaged + unrecovered + unkept. */
typedef struct nm_source_summary_data {
    const char *kind; /* "trace", "torch snapshot", ...; static */
    nm_order_kind order_kind;
    nm_carries carries;
    char recording_id[NM_RECORDING_ID_BYTES]; /* the same of all that is of one recording; "": not known */
    uint64_t
        step_device_id; /* several devices tell of one loop, and no thread does: that which says where steps begin; 0: all */
    int64_t start_realtime_ns;   /* wall clock of time 0, ns since 1970, or NM_NO_TIME */
    uint64_t native_depth;       /* frames that a native stack has unless it begins or breaks off before; 0: not known,
                                    or no callers were asked for */
    uint64_t events_seen;        /* that happened, as far as the input knows */
    uint64_t events_ingested;    /* delivered; a LOSS record, a baseline or state record is no event and not counted */
    uint64_t events_dropped;     /* lost in the program: full rings */
    uint64_t events_damaged;     /* lost in the file: blocks that could not be read */
    uint64_t events_unrecovered; /* known to have been in a ring that could not be read */
    uint64_t events_unkept;      /* before the first part that is there: only sums of them are. Not counted as a loss */
    uint64_t events_late;        /* delivered, with an uncertain place in the order */
    uint64_t events_without_stack; /* delivered, but the block that defined their stack was lost */
    uint64_t bytes_cut;            /* at the end, part of no whole block, and not found again in the rings */
    uint64_t bytes_damaged;        /* before the end, part of no block that could be read */
    uint64_t processes_unjoined;   /* that wanted to be recorded and could not: what they did is in no count */
    uint64_t blocks_damaged;       /* known to be missing */
    uint64_t blocks_repeated;      /* there twice, or out of order: left out */
    uint64_t blocks_foreign;       /* of another recording: left out, part of bytes_damaged */
    uint64_t
        blocks_outside; /* delivered, and in none of the segments that the input speaks of: it contradicts itself */
    int64_t
        detail_begin_ns; /* when the first part that is there begins, or NM_NO_TIME: it is the recording's beginning */
    bool is_late_begin;  /* it is not */
    bool is_loss_exact;  /* the counts of lost events are; else there may be more */
    bool has_unseen;     /* a process may have run unrecorded, whether it is counted in processes_unjoined or not */
    bool is_finished;    /* its last block is there (or the file is whole by itself) */
    bool is_recovered;   /* then: it was made of what a dead recorder had left in its rings */
    bool is_complete;    /* finished and nothing lost */
} nm_source_summary_data;

#define NM_SOURCE_PART_BESIDE 64

typedef struct nm_source_type {
    const char *name;
    bool
        is_unpacking; /* what it reads may be inside of a gzip file: `matches` is asked of that, `open` gets the file as it lies */
    /* Does the input begin like this format? `head` is its first bytes: at most NM_SOURCE_HEAD_BYTES, fewer if it is shorter. */
    bool is_guess;                  /* what begins so may be anything: in a folder it is passed over */
    bool (*matches)(nm_bytes head); /* NULL: only databases are of this type */
    /* `fd` is borrowed, at its start; it may be a pipe, so `head` is what has been read from it already. */
    nm_status (*open)(int fd, nm_bytes head, nm_source **out, nm_error *err);
    /* NULL: an input of this type is one file. Else which of the files of one run begins so, from 1 (0: none), from NM_SOURCE_PART_BESIDE on
     * one that says nothing by itself; such files, in any order, are one input. The descriptors are borrowed, at their starts. */
    unsigned (*part)(nm_bytes head);
    nm_status (*open_parts)(const int *fds, size_t fd_count, nm_source **out, nm_error *err);
    /* A database is of this type where it has one of these tables (NULL ends them); `matches` and `open` are not asked then. */
    const char *const *tables;
    /* Both are the source's from here on, also where this fails. */
    nm_status (*open_database)(nm_input *input, nm_foreign_tables *database, nm_source **out, nm_error *err);
    nm_status (*next)(nm_source *source, nm_record *out, nm_error *err); /* NM_END after the last */
    void (*summary)(const nm_source *source, nm_source_summary_data *out);
    /* Bytes of the input consumed so far, for a progress bar; the caller knows the size. */
    uint64_t (*position)(const nm_source *source);
    void (*close)(nm_source *source);
    /* Begins again before the first record. NULL: only a source that is opened anew can do that. */
    nm_status (*rewind)(nm_source *source, nm_error *err);
} nm_source_type;

struct nm_source { /* the head of every source's own struct */
    const nm_source_type *type;
};

#define NM_SOURCE_HEAD_BYTES 4096

/* Does an input that begins with `head` (as for `matches`) have a format that is read? NM_ERR_FORMAT, and what it seems to
 * be: not. */
nm_status nm_source_recognise(nm_bytes head, nm_error *err);

/* What would read a file. */
typedef struct nm_source_seen {
    const nm_source_type *type; /* NULL: nothing would */
    unsigned part;              /* of which of several files it is; 0: it is whole by itself */
    bool is_database;           /* SQLite's */
} nm_source_seen;

/* Looks at the file that `fd` reads (borrowed, at its start; then it is anywhere). What is not read is no error. */
nm_status nm_source_look(int fd, nm_source_seen *out, nm_error *err);

/* Is it a text that would be read as a log? */
bool nm_source_is_log(nm_bytes head);

/* Opens the input that `fd` reads (borrowed; a file or a pipe). NM_ERR_FORMAT when no format matches. */
nm_status nm_source_open(int fd, nm_source **out, nm_error *err);

/* The same where its first bytes have been read: `head` (as for `matches`). */
nm_status nm_source_open_behind(int fd, nm_bytes head, nm_source **out, nm_error *err);

/* Can what begins so be rewound also where it comes through a pipe? */
bool nm_source_rereads(nm_bytes head);

/* The same for the parts of one recording, in their order (trace/files.h): one trace; or for the files of one run of another tool. */
nm_status nm_source_open_parts(const int *fds, size_t fd_count, nm_source **out, nm_error *err);
nm_status nm_source_next(nm_source *source, nm_record *out, nm_error *err);
void nm_source_summary(const nm_source *source, nm_source_summary_data *out);
uint64_t nm_source_position(const nm_source *source);
void nm_source_close(nm_source *source); /* NULL is fine */

/* Begins again before the first record. False in *is_done: it cannot; open a new one, at the start of the input. */
nm_status nm_source_rewind(nm_source *source, bool *is_done, nm_error *err);

extern const nm_source_type nm_trace_source_type;
extern const nm_source_type nm_snapshot_source_type;
extern const nm_source_type nm_ascend_profiler_source_type;
extern const nm_source_type nm_kineto_source_type;
extern const nm_source_type nm_msmemscope_source_type;
extern const nm_source_type nm_mindspore_source_type;
extern const nm_source_type nm_log_source_type;

/* `fds` is copied; the descriptors are borrowed. */
nm_status nm_trace_source_open_parts(const int *fds, size_t fd_count, nm_bytes head, nm_source **out, nm_error *err);

/*
 * A trace that is still being written, from where `fd` (borrowed) is, behind `head`. Until it is settled NM_END of
 * nm_source_next says that no whole block more is there yet: it may be called again. What is cut, or begins no block, is
 * waited for and not counted. NM_BLOCK_FINAL shows in the summary's is_finished.
 */
nm_status nm_trace_source_open_growing(int fd, nm_bytes head, nm_source **out, nm_error *err);

/* The next part of the recording (borrowed), which goes on where the one before it ends: that one is whole now. */
nm_status nm_trace_source_grow(nm_source *source, int fd, nm_error *err);

/* Nothing more comes: from here on it is read to its end like any other trace. */
void nm_trace_source_settle(nm_source *source);

/* What the first block that could be read says of the recording (borrowed); NULL: none could be read yet, or it is no trace. */
const nm_session *nm_trace_source_session(const nm_source *source);

/*
 * Gives a trace source what was found in the rings of its recording: whole blocks, as the drain would have written them
 * after the last one of the file. Read after the file's end. `tail` is copied; an empty one says that what rings held then,
 * and what is cut of a block, is still to come. Other sources: NM_ERR_USAGE. `events_unrecovered` are those that no LOSS event
 * of the blocks states.
 */
nm_status nm_trace_source_add_tail(nm_source *source, nm_bytes tail, uint64_t events_unrecovered, nm_error *err);

#endif
