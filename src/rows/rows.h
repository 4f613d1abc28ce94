/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows: what the replay gives, and sums over that. rows.def declares them; here are their structs, which come of it, and
 * the enums in them. sink.h says how they are given. What no value says is 0 (an id), NM_NO_TIME, NM_NO_SEQ or
 * NM_UNKNOWN_NUMBER, and NULL in the database. A row owns nothing. What it borrows, the bytes of a TEXT and of a
 * definition's string, is there until the call that gives the row returns: who keeps the row for longer copies them.
 */
#ifndef NM_ROWS_ROWS_H
#define NM_ROWS_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "rows/kinds.h"
#include "trace/event.h"

#define NM_NO_SEQ INT64_MIN

typedef enum nm_allocation_end { /* table end_kind: freed, unmapped, reset, replaced, none */
                                 NM_END_NONE = 0,
                                 NM_END_FREED = 1,
                                 NM_END_UNMAPPED = 2,
                                 NM_END_RESET = 3,
                                 NM_END_REPLACED = 4,
} nm_allocation_end;

/* How it is known which operation an allocation belongs to. The innermost open range of the thread comes first, of
 * whatever kind; where there was none, the first operator that ran with its workspace in the block. */
typedef enum nm_operation_source {
    NM_SOURCE_NONE = 0,      /* the operation is not known */
    NM_SOURCE_THREAD = 1,    /* made by a thread inside the operation's open range */
    NM_SOURCE_WORKSPACE = 2, /* the operator's workspace, allocated by the thread that ran it */
    NM_SOURCE_QUEUE = 3,     /* the same, allocated by another thread (a task queue lay between): see workspace.c */
} nm_operation_source;

typedef enum nm_graph_end {
    NM_GRAPH_LIVES = 0,
    NM_GRAPH_DESTROYED = 1,
    NM_GRAPH_RESET = 2,  /* its device was */
    NM_GRAPH_FAILED = 3, /* its capture did not end well: there never was one */
} nm_graph_end;

/* What memory is for. */
typedef enum nm_category {
    NM_CATEGORY_UNKNOWN = 0,
    NM_CATEGORY_WEIGHT = 1,
    NM_CATEGORY_GRADIENT = 2,
    NM_CATEGORY_OPTIMIZER_STATE = 3,
    NM_CATEGORY_ACTIVATION = 4, /* made in forward, for backward */
    NM_CATEGORY_KV_CACHE = 5,
    NM_CATEGORY_WORKSPACE = 6,
    NM_CATEGORY_COMMUNICATION = 7,
    NM_CATEGORY_GRAPH = 8,     /* made in a capture */
    NM_CATEGORY_TEMPORARY = 9, /* made and gone within one part of an iteration */
    NM_CATEGORY_INPUT = 10,    /* told alone */
    NM_CATEGORY_SEGMENT = 11,  /* driver memory of a pool: what its blocks are, the pool's rows say */
    NM_CATEGORY_OWN = 12,      /* told, in a word of the program's own */
} nm_category;

/* The number that stands in the database (table z_category): odd where it was inferred. */
static inline uint64_t nm_category_id(nm_category category, bool is_estimate)
{
    return (uint64_t)category * 2 + is_estimate;
}

typedef enum nm_out_of_memory_outcome {
    NM_OUTCOME_UNKNOWN = 0,   /* events of the thread were lost before it was known */
    NM_OUTCOME_RECOVERED = 1, /* the same request was served then, or later on as much in smaller ones */
    NM_OUTCOME_FATAL = 2,     /* it was not */
    NM_OUTCOME_OPEN = 3,      /* the stream ended first */
} nm_out_of_memory_outcome;

typedef enum nm_step_source {
    NM_STEP_MARKED = 1,   /* the program said so */
    NM_STEP_INFERRED = 2, /* nm_replay_begin_step */
} nm_step_source;

typedef enum nm_anchor_kind {                       /* how it is known where the steps of a process begin: anchor.h */
                              NM_ANCHOR_NONE = 0,   /* it is not: no place recurs as iterations would */
                              NM_ANCHOR_MARKED = 1, /* the program says it, so nothing was looked for */
                              NM_ANCHOR_SITE = 2,   /* where the place (a stack) allocates */
                              NM_ANCHOR_RANGE = 3,  /* where the range of that name begins */
                              NM_ANCHOR_OPTIMIZER = 4, /* where the first allocation follows those of an optimizer that
                                                         came after a backward pass */
                              NM_ANCHOR_GRAPH = 5,     /* where a graph is executed after what was executed before was
                                                      waited for */
} nm_anchor_kind;

#define NM_LIFETIME_BUCKETS 64

typedef enum nm_moment_kind {
    NM_MOMENT_PEAK = 1,
    NM_MOMENT_END = 2,
    NM_MOMENT_MARK = 3,
    NM_MOMENT_FAILURE = 4,
    NM_MOMENT_DEVICE_PEAK = 5,
    NM_MOMENT_RESERVE = 6,
} nm_moment_kind;

/* What blocks were given beyond what was asked for, where that is not told but bounded. */
typedef struct nm_rounding {
    uint64_t min_bytes, max_bytes;
} nm_rounding;

/* By the size of the segment alone, as PyTorch's caching allocators choose it. */
typedef enum nm_segment_kind {
    NM_SEGMENT_SMALL = 1,      /* exactly 2 MiB: for requests of up to 1 MiB */
    NM_SEGMENT_LARGE = 2,      /* 10 MiB or more, a multiple of 2 MiB: for larger ones */
    NM_SEGMENT_EXPANDABLE = 3, /* mapped: it grows and shrinks, whatever it is for */
    NM_SEGMENT_OTHER = 4,
} nm_segment_kind;

typedef struct nm_sub_pool_figures {
    uint64_t reserved_bytes, free_bytes, largest_free_bytes, stuck_bytes, gap_count;
    int64_t waste_bytes; /* NM_UNKNOWN_NUMBER: some block's two sizes are not both known */
} nm_sub_pool_figures;

typedef enum nm_anomaly_kind {
    NM_ANOMALY_FREE_UNKNOWN = 1,       /* free of memory never allocated */
    NM_ANOMALY_DOUBLE_FREE = 2,        /* free of memory that is freed already */
    NM_ANOMALY_WRONG_FREE = 3,         /* aclrtFree of host memory, aclrtFreeHost of device memory */
    NM_ANOMALY_COPY_PAST_END = 4,      /* a copy runs past the end of an allocation, or past its own limit */
    NM_ANOMALY_USE_AFTER_FREE = 5,     /* a copy reads or writes memory that is freed */
    NM_ANOMALY_OVERLAP = 6,            /* an allocation at an address that is live */
    NM_ANOMALY_UNMAP_UNKNOWN = 7,      /* unmap of a range that is not mapped */
    NM_ANOMALY_ZERO_SIZE = 8,          /* an allocation of no bytes was asked for */
    NM_ANOMALY_UNREGISTER_UNKNOWN = 9, /* unregister of memory that is not registered */
    NM_ANOMALY_STREAM_KEPT = 10,       /* a stream that its process never destroyed, told at its exit */
    NM_ANOMALY_COPY_UNALLOCATED = 11,  /* a copy reads or writes device memory that is not allocated */
} nm_anomaly_kind;

typedef enum nm_reserved_source {                           /* where a pool's reserved bytes come from */
                                  NM_RESERVED_UNKNOWN = 0,  /* no segment was ever seen, and the pool said nothing */
                                  NM_RESERVED_SEGMENTS = 1, /* driver memory that carried its blocks */
                                  NM_RESERVED_STATED = 2,   /* no segment was ever seen: what the pool states */
} nm_reserved_source;

/* Why a pool had to grow: the words of table z_miss_cause, whose comment in schema/pool_miss.sql is the definition. */
typedef enum nm_miss_cause {
    NM_MISS_UNKNOWN = 0,
    NM_MISS_COLD = 1,
    NM_MISS_GROWTH = 2,
    NM_MISS_AFTER_FLUSH = 3,
    NM_MISS_PENDING_FREE = 4,
    NM_MISS_FRAGMENTATION = 5,
    NM_MISS_MAX = NM_MISS_FRAGMENTATION,
} nm_miss_cause;

typedef enum nm_reuse_kind { NM_REUSE_SIZE = 0, NM_REUSE_ADDRESS = 1, NM_REUSE_KINDS = 2 } nm_reuse_kind;
typedef enum nm_reuse_measure { NM_REUSE_ALLOCATIONS = 0, NM_REUSE_BYTES = 1, NM_REUSE_MEASURES = 2 } nm_reuse_measure;

typedef enum nm_baseline {                          /* what was live before the first event */
                           NM_BASELINE_NONE = 0,    /* nothing: all is recorded since each process began */
                           NM_BASELINE_KNOWN = 1,   /* the input tells it */
                           NM_BASELINE_UNKNOWN = 2, /* some process ran before its recording began */
} nm_baseline;

/* ---- Rows: rows.def says what is in them --------------------------------------------------------------------------- */

typedef nm_definition nm_definition_row;

#define ROW(name, NAME, table, writer) typedef struct nm_##name##_row {
#define MEMBER(kind, name)             NM_KIND_TYPE(kind) name;
#define END(name, writer)                                                                                              \
    }                                                                                                                  \
    nm_##name##_row;
#include "rows/rows.def"

typedef enum nm_row_kind {
#define ROW(name, NAME, table, writer) NM_ROW_##NAME,
#define RECORD(name, NAME)             NM_ROW_##NAME,
#include "rows/rows.def"
    NM_ROW_KINDS
} nm_row_kind;

/* How many columns the table of a kind has: NM_COLUMNS_OF_ALLOCATION. */
/* clang-format off */
#define ROW(name, NAME, table, writer)        enum { NM_COLUMNS_OF_##NAME = 0
#define COLUMN(kind, column, path, condition) + 1
#define COMPUTED(name, column)                + 1
#define END(name, writer)                     };
#include "rows/rows.def"
/* clang-format on */

#define NM_ROW_COLUMNS_MAX 64 /* no kind has more: rows.c */

typedef struct nm_row_column {
    const char *name;
    nm_column_kind kind;
    uint16_t offset, bytes;           /* of its member in the row */
    uint16_t flag_offset, flag_bytes; /* of the member that says whether there is something to say; 0, 0: none does */
} nm_row_column;

/* That of a member of row_type. */
#define NM_ROW_COLUMN(kind, column, path)                                                                              \
#column, NM_KIND_FACTS(kind), offsetof(row_type, path), sizeof(((row_type *)0)->path)

typedef struct nm_row_table {
    const char *name;    /* NULL: rows of the kind go to no table */
    const char *columns; /* their names in order, a space after each */
    bool is_large;       /* more rows than anything else, all of integers */
    size_t row_bytes;
    const nm_row_column *(*list)(void); /* the columns; the last has no name */
    uint64_t (*nulls)(const void *row); /* a bit a column: by its condition the row says nothing there */
} nm_row_table;

extern const nm_row_table nm_row_tables[NM_ROW_KINDS];

/* Nobody freed it, as far as is known when it is written: it is outstanding, or a reset of its device ended it. */
static inline bool nm_allocation_is_kept(const nm_allocation_row *row)
{
    return row->end_kind == NM_END_NONE || row->end_kind == NM_END_RESET;
}

#endif
