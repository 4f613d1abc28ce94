/* SPDX-License-Identifier: Apache-2.0
 *
 * A table of sums over rows, by what its declaration says: which rows belong together (the key) and what is known of them
 * (the measures). All sums of the house that are taken while rows come are such declarations; see copies.c for one.
 *
 *     nm_sum_table table = {.sum = &nm_sum_of_copies};
 *     nm_sum_table_add(&table, &nm_sum_of_copies.feeds[0], names, row, err); ... each row
 *     for (size_t i = 0; i < table.count; i++) nm_sum_table_at(&table, i) ...    in the order in which keys first came
 *     nm_sum_table_free(&table);
 *
 * Memory grows with distinct keys.
 */
#ifndef NM_SUMS_TABLE_H
#define NM_SUMS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "rows/rows.h"
#include "sites/definitions.h"

#define NM_SUM_BYTES_MAX     512        /* of the row of a sum */
#define NM_SUM_KEY_BYTES_MAX 64         /* of its key */
#define NM_SUM_SKIP          UINT32_MAX /* the row counts nowhere */
#define NM_SUM_SEVERAL       UINT64_MAX /* NM_SUMMED_SAME: rows do not agree */

typedef enum nm_summed_kind {
    NM_SUMMED_COUNT,      /* how many rows */
    NM_SUMMED_SUM,        /* of `from`; stops at NM_SUM_MAX */
    NM_SUMMED_DIFFERENCE, /* of `from` less `other`, two times, where that is positive; stops at NM_SUM_MAX */
    NM_SUMMED_PRODUCT,    /* of `from` times `other`, in 128 bits; stops at the largest number */
    NM_SUMMED_MAX,        /* the largest `from` that is more than 0 */
    NM_SUMMED_MAX_SIGNED, /* the largest `from`, NM_NO_TIME where none came */
    NM_SUMMED_MIN_SIGNED, /* the smallest `from` but NM_NO_SEQ, which is NM_NO_TIME; that where no other came */
    NM_SUMMED_LAST,       /* `from` of the last row */
    NM_SUMMED_SAME,       /* `from` if all rows agree on it (0: none came), else NM_SUM_SEVERAL */
    NM_SUMMED_RECORD,     /* as MAX, and to_other becomes the row's `other`, its place: of equal ones the first place.
                              NM_NO_SEQ where none came; a first row of 0 counts, too */
    NM_SUMMED_OF_RECORD,  /* `from` of the row that the RECORD before it in the list took */
} nm_summed_kind;

typedef struct nm_sum_measure {
    nm_summed_kind kind;
    uint32_t when;         /* facts that must all hold of a row; 0: any row */
    uint16_t from, other;  /* NM_CELL of the row that is told */
    uint16_t to, to_other; /* NM_CELL of the sum */
} nm_sum_measure;

/* Where a 64-bit field stands; does not compile for another one. */
#define NM_CELL(type, field)                                                                                           \
    (uint16_t)(offsetof(type, field) + 0 * sizeof(char[sizeof(((type *)0)->field) == sizeof(uint64_t) ? 1 : -1]))
/* The same of a field of 128 bits, for NM_SUMMED_PRODUCT. */
#define NM_WIDE_CELL(type, field)                                                                                      \
    (uint16_t)(offsetof(type, field) + 0 * sizeof(char[sizeof(((type *)0)->field) == 2 * sizeof(uint64_t) ? 1 : -1]))

/* An array of them, for the last fields of a feed (NM_SUM_TAKEN of measures.h stands behind the array) and for those of a
 * declaration. */
#define NM_SUM_MEASURES(array) (array), sizeof(array) / sizeof(array)[0], taken_##array
#define NM_FEEDS(array)        .feeds = (array), .feed_count = sizeof(array) / sizeof(array)[0]

typedef struct nm_sum_feed { /* one kind of row that is summed */
    nm_row_kind kind;
    /* Fills the key of a sum whose key is zeroed, and says as bits, which are the declaration's own, what holds of the row;
     * or NM_SUM_SKIP. `definitions` are those that came before the row. */
    uint32_t (*classify)(const nm_definitions *definitions, const void *row, void *key);
    const nm_sum_measure *measures;
    size_t measure_count;
    void (*take)(const void *row, uint32_t facts, void *sum); /* adds the row to a sum, as the measures say */
} nm_sum_feed;

typedef struct nm_sum { /* a declaration */
    const char *name;   /* of its table in schema/ */
    nm_row_kind gives;  /* a struct of fields of 64 or 128 bits, the key first */
    size_t row_bytes, key_bytes;
    const nm_sum_feed *feeds;
    size_t feed_count;
    bool (*is_empty)(const void *sum); /* says nothing and gets no row; NULL: none is */
} nm_sum;

typedef struct nm_sum_table {
    const nm_sum *sum; /* borrowed; the rest zeroed: an empty one */
    nm_buffer items;   /* owned; the sums */
    size_t count;
    size_t recent, before; /* the last one used, and the last other one */
    uint32_t *slots;       /* owned; index of an item plus one, 0: none */
    size_t slot_count;     /* a power of two, or 0 */
    uint64_t secret[2];
} nm_sum_table;

/* NM_ERR_LIMIT: there are more than 2^31 keys. */
nm_status nm_sum_table_add(nm_sum_table *table, const nm_sum_feed *feed, const nm_definitions *definitions,
                           const void *row, nm_error *err);

const void *nm_sum_table_at(const nm_sum_table *table, size_t index);

void nm_sum_table_free(nm_sum_table *table); /* leaves it empty and usable */

#endif
