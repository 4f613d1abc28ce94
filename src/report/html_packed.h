/* SPDX-License-Identifier: Apache-2.0
 *
 * What a block is drawn from, in 28 bytes: of so many that they cannot all be kept, so that the file need not be read once more. What
 * does not fit into that (events, addresses or sizes beyond its bounds, or too many blocks) makes it give up, and whoever draws reads again.
 */
#ifndef NM_REPORT_HTML_PACKED_H
#define NM_REPORT_HTML_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define NM_HTML_PACKED_MAX 12000000 /* blocks: a third of a gigabyte */

typedef struct nm_html_packed_block nm_html_packed_block;

typedef struct nm_html_packed {
    nm_html_packed_block **pieces; /* owned, and each of them */
    size_t piece_count, piece_capacity;
    size_t count;
    int64_t base; /* event: births are from there on */
    bool is_given_up;
} nm_html_packed;

typedef struct nm_html_unpacked {
    size_t place; /* of the heap */
    int64_t born, life, address, size_bytes, stack_id;
} nm_html_unpacked;

/* In a zeroed one; to be freed on failure too. */
nm_status nm_html_packed_add(nm_html_packed *packed, const nm_html_unpacked *block, nm_error *err);
nm_html_unpacked nm_html_packed_get(const nm_html_packed *packed, size_t index);
void nm_html_packed_free(nm_html_packed *packed);

#endif
