/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes on their way into a page: deflated without header (zlib's raw format, which browsers call deflate-raw) and written in
 * base64, as they come. Nothing that HTML knows is among the characters of base64, so a block needs no escaping.
 *
 *     nm_page_block_begin(&block, out, err);
 *     nm_page_block_put(&block, bytes, len, err);      any number of times
 *     nm_page_block_end(&block, err);                  also after a failure: it gives back what begin took
 */
#ifndef NM_PAGE_BLOCK_H
#define NM_PAGE_BLOCK_H

#include <stdint.h>
#include <stdio.h>
#include <zlib.h>

#include "base/error.h"

typedef struct nm_page_block {
    FILE *out; /* borrowed */
    z_stream deflater;
    uint8_t group[3]; /* bytes that wait for a whole group of base64 */
    unsigned group_len;
} nm_page_block;

nm_status nm_page_block_begin(nm_page_block *block, FILE *out, nm_error *err);
nm_status nm_page_block_put(nm_page_block *block, const void *bytes, size_t len, nm_error *err);
nm_status nm_page_block_end(nm_page_block *block, nm_error *err);

#endif
