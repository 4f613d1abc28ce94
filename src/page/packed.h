/* SPDX-License-Identifier: Apache-2.0
 *
 * What a block is drawn from, in 28 bytes: of so many that they cannot all be kept, so that the file need not be read once more. What
 * does not fit into that (events, addresses or sizes beyond its bounds, or too many blocks) makes it give up, and whoever draws reads again.
 */
#ifndef NM_PAGE_PACKED_H
#define NM_PAGE_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define NM_PAGE_PACKED_MAX 12000000 /* blocks: a third of a gigabyte */

typedef struct nm_page_packed_block nm_page_packed_block;

typedef struct nm_page_packed {
    nm_page_packed_block **pieces; /* owned, and each of them */
    size_t piece_count, piece_capacity;
    size_t count;
    int64_t base; /* event: births are from there on */
    bool is_given_up;
} nm_page_packed;

typedef struct nm_page_unpacked {
    size_t place; /* of the heap */
    int64_t born, life, address, size_bytes, stack_id;
} nm_page_unpacked;

/* In a zeroed one; to be freed on failure too. */
nm_status nm_page_packed_add(nm_page_packed *packed, const nm_page_unpacked *block, nm_error *err);
nm_page_unpacked nm_page_packed_get(const nm_page_packed *packed, size_t index);
void nm_page_packed_free(nm_page_packed *packed);

#endif
