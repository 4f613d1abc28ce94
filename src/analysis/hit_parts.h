/* SPDX-License-Identifier: Apache-2.0
 *
 * How often a pool served requests, by part of the recording: parts of 2^n events each, of which n goes up when there are
 * too many.
 */
#ifndef NM_ANALYSIS_HIT_PARTS_H
#define NM_ANALYSIS_HIT_PARTS_H

#include "replay/state.h"

typedef struct nm_hit_parts { /* of a pool; a zeroed one is empty */
    nm_hit_part_row *items;   /* owned; in order of begin_seq, and there in the order in which they first came */
    size_t count, capacity;
    unsigned shift; /* a part has 2^shift events */
} nm_hit_parts;

nm_status nm_hit_parts_add(nm_hit_parts *parts, const nm_live *request, int bucket, nm_error *err);
nm_status nm_hit_parts_give(const nm_hit_parts *parts, const nm_sink *sink, nm_error *err);
void nm_hit_parts_free(nm_hit_parts *parts); /* leaves it empty and usable */

#endif
