/* SPDX-License-Identifier: Apache-2.0
 *
 * The free ranges in segments.
 */
#ifndef NM_REPLAY_GAPS_H
#define NM_REPLAY_GAPS_H

#include "replay/state.h"

/* Takes [from, to) out of the gaps; *taken_bytes is what was free of it. */
nm_status nm_gaps_take(nm_gaps *gaps, uint64_t from, uint64_t to, uint64_t *taken_bytes, nm_error *err);

/* Makes [from, to) free. It joins a gap that ends or begins there where the caller says that none lies between two
 * segments. *given_bytes is what was not free before. */
nm_status nm_gaps_give(nm_gaps *gaps, uint64_t from, uint64_t to, bool joins_left, bool joins_right,
                       uint64_t *given_bytes, nm_error *err);
uint64_t nm_gaps_free_bytes_in(const nm_gaps *gaps, uint64_t from, uint64_t to);
uint64_t nm_gaps_before(const nm_gaps *gaps, uint64_t to); /* free without a break up to `to` */
void nm_gaps_free(nm_gaps *gaps);
size_t nm_gaps_item_bytes(void); /* of the slab */

#endif
