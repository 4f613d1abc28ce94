/* SPDX-License-Identifier: Apache-2.0
 *
 * A set of identifiers that count from 1, one bit each: which rows are there, and which are named by others.
 */
#ifndef NM_BASE_ID_SET_H
#define NM_BASE_ID_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define NM_ID_SET_ID_MAX (1ull << 32) /* half a GiB of bits */

typedef struct nm_id_set {
    uint64_t *words; /* owned; a zeroed set is an empty one */
    size_t capacity;
} nm_id_set;

/* NM_ERR_LIMIT above NM_ID_SET_ID_MAX. */
nm_status nm_id_set_add_far(nm_id_set *set, uint64_t id, nm_error *err); /* for nm_id_set_add: where no word is yet */
static inline nm_status nm_id_set_add(nm_id_set *set, uint64_t id, nm_error *err)
{
    if (id > NM_ID_SET_ID_MAX || id / 64 >= set->capacity)
        return nm_id_set_add_far(set, id, err);
    set->words[id / 64] |= 1ull << (id % 64);
    return NM_OK;
}
static inline bool nm_id_set_has(const nm_id_set *set, uint64_t id)
{
    return id / 64 < set->capacity && (set->words[id / 64] >> (id % 64) & 1) != 0;
}

/* The smallest id that is in `part` and not in `whole`; 0 when there is none. */
uint64_t nm_id_set_missing(const nm_id_set *part, const nm_id_set *whole);
void nm_id_set_free(nm_id_set *set);

#endif
