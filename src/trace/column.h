/* SPDX-License-Identifier: Apache-2.0
 *
 * One column of a block: the values of one field, in the order of the events that have it. Five encodings; the writer
 * takes what promises to be smallest after zstd. Values of more than one byte are split into planes (all lowest bytes,
 * then all second bytes, ...): the noise of the low bytes then does not spoil what is regular in the high ones.
 */
#ifndef NM_TRACE_COLUMN_H
#define NM_TRACE_COLUMN_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/map.h"

typedef enum nm_encoding {                             /* the number stands in trace files */
                           NM_ENCODING_CONSTANT = 0,   /* value */
                           NM_ENCODING_RUNS = 1,       /* (value, length) until all are there */
                           NM_ENCODING_PLANES = 2,     /* width, planes of the values */
                           NM_ENCODING_DELTA = 3,      /* first value, width, planes of zigzag differences (first: 0) */
                           NM_ENCODING_DICTIONARY = 4, /* count, entries as zigzag differences, planes of indexes */
                           NM_ENCODING_COUNT
} nm_encoding;

#define NM_DICTIONARY_ENTRIES_MAX  65536

/* Upper bound of what nm_column_write appends for `count` values. */
#define NM_COLUMN_BYTES_MAX(count) ((count)*8 + 32)

/* What the writer keeps between columns, so that it does not allocate for each: a zeroed one is ready. */
typedef struct nm_column_scratch {
    uint64_t *entries; /* a dictionary being tried, in order of first appearance */
    uint16_t *indexes; /* of each value in it */
    uint32_t *slots;   /* hash table of entry numbers + 1 */
    size_t entry_capacity, index_capacity, slot_capacity;
} nm_column_scratch;

void nm_column_scratch_free(nm_column_scratch *scratch);

/* Appends encoding, length and data; count > 0. */
nm_status nm_column_write(const uint64_t *values, size_t count, nm_column_scratch *scratch, nm_buffer *out,
                          nm_error *err);

/* Reads the values one by one, without memory of its own but for a dictionary. */
typedef struct nm_column_reader {
    uint8_t encoding; /* nm_encoding */
    uint8_t width;    /* bytes of a value in planes */
    size_t count;     /* values in all */
    size_t at;        /* values given */
    uint64_t value;   /* constant, run, or the last one (delta) */
    uint64_t run_left;
    nm_cursor runs;
    const uint8_t *planes;
    uint64_t *entries; /* owned; kept from block to block */
    size_t entry_count, entry_capacity;
} nm_column_reader;

/*
 * Takes a column of `count` values and checks that every one of them can be read: NM_ERR_FORMAT with `offset` when not.
 * `data` stays borrowed.
 */
nm_status nm_column_open(nm_column_reader *reader, uint64_t encoding, nm_bytes data, size_t count, uint64_t offset,
                         nm_error *err);

/* The next value; at most `count` times. */
uint64_t nm_column_next(nm_column_reader *reader);

void nm_column_reader_free(nm_column_reader *reader);

#endif
