/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of enums whose column is a text (kind WORD): nm_graph_end_words of nm_graph_end, and so on.
 */
#ifndef NM_ROWS_WORDS_H
#define NM_ROWS_WORDS_H

#include <stddef.h>

typedef struct nm_words {
    const char *const *texts; /* by number; NULL: it has no word */
    size_t count;
} nm_words;

extern const nm_words nm_graph_end_words;
extern const nm_words nm_out_of_memory_outcome_words;
extern const nm_words nm_step_source_words;
extern const nm_words nm_anchor_kind_words;
extern const nm_words nm_size_basis_words;
extern const nm_words nm_reserved_source_words;
extern const nm_words nm_process_end_words;
extern const nm_words nm_baseline_words;

const char *nm_word(const nm_words *words, unsigned number); /* NULL: it has none */

/* The number of a word; 0 where there is no such one. */
unsigned nm_word_number(const nm_words *words, const char *word);

#endif
