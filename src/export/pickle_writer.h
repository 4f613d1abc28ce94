/* SPDX-License-Identifier: Apache-2.0
 *
 * A Python pickle (protocol 4), written as it comes: nothing of it is kept but the numbers of what stands in it once and is
 * named again. Data alone: dictionaries, lists, texts, whole numbers, truths and pairs, with the opcodes that viewers of
 * memory snapshots know.
 *
 *     nm_pickle_begin(&w, out);
 *     nm_pickle_dict(&w);
 *     nm_pickle_word(&w, "blocks");                              a key, and then its value
 *     nm_pickle_list(&w, &list);
 *     nm_pickle_item(&w, &list); nm_pickle_int(&w, 1);           each item
 *     nm_pickle_list_end(&w, &list);
 *     nm_pickle_dict_end(&w);
 *     status = nm_pickle_end(&w, err);                           what went wrong on the way, once
 */
#ifndef NM_EXPORT_PICKLE_WRITER_H
#define NM_EXPORT_PICKLE_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/map.h"
#include "base/strings.h"

#define NM_PICKLE_RECENT 64

typedef struct nm_pickle_writer {
    FILE *out;           /* borrowed; the caller looks at ferror */
    nm_strings words;    /* those that have been written */
    uint32_t *word_memo; /* their numbers, by the word's own and from 1 */
    size_t word_capacity;
    struct {
        const char *text;
        uint32_t number;
    } recent[NM_PICKLE_RECENT]; /* words by where they lie: most values of a snapshot have a word before them */
    uint32_t memo_count;
    nm_status status;
} nm_pickle_writer;

typedef struct nm_pickle_list_state {
    uint32_t item_count; /* since the last time that items were put into the list */
} nm_pickle_list_state;

void nm_pickle_begin(nm_pickle_writer *w, FILE *out);
nm_status nm_pickle_end(nm_pickle_writer *w, nm_error *err); /* NM_ERR_MEMORY: it is not whole */
void nm_pickle_writer_fini(nm_pickle_writer *w);

void nm_pickle_dict(nm_pickle_writer *w);
void nm_pickle_dict_end(nm_pickle_writer *w); /* of one with a pair at least */

/* Items go into their list a thousand at a time, so that no reader has to hold more of them elsewhere. */
void nm_pickle_list(nm_pickle_writer *w, nm_pickle_list_state *list);
void nm_pickle_item(nm_pickle_writer *w, nm_pickle_list_state *list);
void nm_pickle_list_end(nm_pickle_writer *w, nm_pickle_list_state *list);

void nm_pickle_word(nm_pickle_writer *w,
                    const char *text); /* a constant; written once and named from then on: for few */
void nm_pickle_text(nm_pickle_writer *w, const char *text); /* UTF-8 */
void nm_pickle_int(nm_pickle_writer *w, int64_t value);
void nm_pickle_address(nm_pickle_writer *w, uint64_t value);
void nm_pickle_truth(nm_pickle_writer *w, bool value);
void nm_pickle_pair(nm_pickle_writer *w, int64_t first, int64_t second); /* a tuple */

/* Gives what has just been written a number, by which it can be named from now on. */
uint32_t nm_pickle_keep(nm_pickle_writer *w);
void nm_pickle_name(nm_pickle_writer *w, uint32_t number);

#endif
