/* SPDX-License-Identifier: Apache-2.0
 *
 * What happens to blocks, put in as rows come, and read in the order in which it happened. Few bytes for a block that
 * comes and goes: entries are sorted in parts, and each part is packed; reading puts the parts together and gives back
 * what has been read.
 */
#ifndef NM_WHATIF_JOURNAL_H
#define NM_WHATIF_JOURNAL_H

#include "base/buffer.h"

typedef enum nm_journal_kind { /* at equal places: in this order, and those of a kind in the order of their rows */
                               NM_JOURNAL_FREED = 0, /* value: 1 where it had been given up before */
                               NM_JOURNAL_FREE_REQUESTED, /* value: 0; or 1 more than the block's, where that is not live then */
                               NM_JOURNAL_ALLOCATED, /* value: what the block is like */
                               NM_JOURNAL_MOMENTARY, /* the same; it ended where it began, and is there to say where it lay */
                               NM_JOURNAL_CONTRARY, /* the same; it ended before it began */
} nm_journal_kind;

#define NM_JOURNAL_VALUE_MAX ((UINT32_C(1) << 29) - 2)

typedef struct nm_journal_entry {
    uint64_t place;      /* in the order of events */
    uint64_t segment_id; /* of blocks that begin: what they lie in; 0: not known */
    uint32_t row;        /* the block */
    uint32_t kind : 3, value : 29;
} nm_journal_entry;

typedef struct nm_journal_part nm_journal_part;

typedef struct nm_journal {          /* a zeroed one is empty */
    nm_journal_entry *fresh, *other; /* owned; not yet sorted, and room to sort them */
    size_t fresh_count;
    struct {
        nm_journal_part *items; /* owned */
        size_t count, capacity;
    } parts;
    uint32_t *heap; /* owned; of parts that are being read, the one with the least entry first */
    size_t heap_count;
    uint64_t entry_count, begun_count; /* of all kinds; of those that begin */
} nm_journal;

nm_status nm_journal_put(nm_journal *journal, const nm_journal_entry *entry, nm_error *err);

typedef nm_status nm_journal_take(void *context, const nm_journal_entry *entry, nm_error *err);

/* Gives all entries that say how a block begins, in no order, to `take`. Nothing is put behind it. */
nm_status nm_journal_each_begun(nm_journal *journal, nm_journal_take *take, void *context, nm_error *err);

/* Begins to read what is to be read once, in its order; `nm_journal_next` is false at the end. */
nm_status nm_journal_begin(nm_journal *journal, nm_error *err);
bool nm_journal_next(nm_journal *journal, nm_journal_entry *entry);

void nm_journal_free(nm_journal *journal);

#endif
