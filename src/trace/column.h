/* SPDX-License-Identifier: Apache-2.0
 *
 * One column of a block: the values of one field, in the order of the events that have it. Five encodings; the writer
 * takes the one that is smallest after zstd. Values of more than one byte are split into planes (all lowest bytes, then
 * all second bytes, ...): the noise of the low bytes then does not spoil what is regular in the high ones.
 */
#ifndef NM_TRACE_COLUMN_H
#define NM_TRACE_COLUMN_H

#include "base/buffer.h"

typedef enum nm_encoding {                           /* the number stands in trace files */
                           NM_ENCODING_CONSTANT = 0, /* value */
                           NM_ENCODING_RUNS = 1,     /* (value, length) until all are there */
                           NM_ENCODING_PLANES = 2,   /* width, planes of the values */
                           NM_ENCODING_DELTA = 3,    /* first value, width, planes of zigzag differences, by kind */
                           NM_ENCODING_BACK = 4, /* width, planes of distances to the same value before, new values */
                           NM_ENCODING_COUNT
} nm_encoding;

#define NM_BACK_DISTANCE_MAX       65535 /* values; what was there longer ago is written again */

/* Upper bound of what nm_column_write appends for `count` values. */
#define NM_COLUMN_BYTES_MAX(count) ((count)*8 + 32)

/* What the writer keeps between columns, so that it does not allocate for each. */
typedef struct nm_column_writer nm_column_writer;

nm_status nm_column_writer_new(nm_column_writer **out, nm_error *err);
void nm_column_writer_free(nm_column_writer *writer); /* NULL is fine */

/* Which events the values belong to. Differences of times are stored kind by kind: a free follows its like at another
 * pace than an allocation. */
typedef struct nm_column_events {
    const uint64_t *kinds; /* of all events of the block, as places in its list of kinds */
    size_t count;          /* of events; 0: the column is not of events (the kinds themselves) */
    uint64_t members;      /* bit n: events of the n-th kind have a value here */
} nm_column_events;

#define NM_BLOCK_KINDS_MAX 64 /* in a block's list */

/* What a field's columns were best written as so far. All zero: nothing is known. */
typedef struct nm_column_habit {
    uint8_t encoding;                 /* nm_encoding, in planes */
    uint8_t value_width, delta_width; /* of the column that it was found for, in bytes */
    uint8_t trust; /* so many columns are written so before the others are tried again; doubles when it was right */
    uint8_t left;  /* of these */
} nm_column_habit;

/* Appends encoding, length and data; count > 0. `habit` is the field's own, and moves on. */
nm_status nm_column_write(nm_column_writer *writer, const uint64_t *values, size_t count, nm_column_events events,
                          nm_column_habit *habit, nm_buffer *out, nm_error *err);

/* The same where it is known that all values are this one. */
nm_status nm_column_write_constant(nm_column_writer *writer, uint64_t value, nm_buffer *out, nm_error *err);

/* Offsets in `out` behind planes that were written since the last reset: zstd does better when what follows gets
 * statistics of its own. Ascending; borrowed until the next write. */
const size_t *nm_column_cuts(const nm_column_writer *writer, size_t *count);
void nm_column_reset_cuts(nm_column_writer *writer);

/* Reads the values in order, without memory of its own but for the values that BACK may reach. */
typedef struct nm_column_reader {
    uint8_t encoding; /* nm_encoding */
    uint8_t width;    /* bytes of a value in planes */
    size_t count;     /* values in all */
    size_t at;        /* values given */
    uint64_t value;   /* constant, run, or the last one (delta) */
    uint64_t run_left;
    nm_cursor more; /* runs, or new values */
    const uint8_t *planes;
    uint64_t *seen; /* owned; the last values, a ring; kept from block to block */
    size_t seen_capacity, seen_mask;
    uint32_t places[NM_BLOCK_KINDS_MAX]; /* DELTA: where the next value of each kind stands in the planes */
} nm_column_reader;

/*
 * Takes a column and checks that every one of its values can be read: NM_ERR_FORMAT with `offset` when not. counts[n] of
 * them are of events of the n-th kind. `data` stays borrowed.
 */
nm_status nm_column_open(nm_column_reader *reader, unsigned encoding, nm_bytes data,
                         const uint32_t counts[NM_BLOCK_KINDS_MAX], uint64_t offset, nm_error *err);

/* The next `count` values, in the order of their events; kinds[i]: of the i-th one's event, as a place in the block's list,
 * if the column needs that. In all at most as many as open() was told. */
void nm_column_read(nm_column_reader *reader, const uint8_t *kinds, size_t count, uint64_t *values);

static inline bool nm_column_needs_kinds(const nm_column_reader *reader)
{
    return reader->encoding == NM_ENCODING_DELTA;
}

/* Have all events the same value? It is in *value, and need not be read. */
static inline bool nm_column_is_constant(const nm_column_reader *reader, uint64_t *value)
{
    *value = reader->value;
    return reader->encoding == NM_ENCODING_CONSTANT;
}

void nm_column_reader_free(nm_column_reader *reader);

#endif
