/* SPDX-License-Identifier: Apache-2.0
 *
 * zlib hands out pieces of any length; base64 wants groups of three bytes, so up to two wait for the next piece.
 */
#include "page/block.h"

#include <string.h>

#define PIECE_BYTES 16384

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void write_group(nm_page_block *block)
{
    uint32_t bits = (uint32_t)block->group[0] << 16 | (uint32_t)block->group[1] << 8 | block->group[2];

    for (unsigned i = 0; i < 4; i++)
        putc(i > block->group_len ? '=' : alphabet[bits >> (18 - 6 * i) & 63], block->out);
    block->group_len = 0;
    memset(block->group, 0, sizeof block->group);
}

static void write_base64(nm_page_block *block, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        block->group[block->group_len++] = bytes[i];
        if (block->group_len == 3)
            write_group(block);
    }
}

/* Deflates what is at hand, until zlib wants more or, when finishing, has no more. */
static nm_status run_deflater(nm_page_block *block, int flush, nm_error *err)
{
    uint8_t piece[PIECE_BYTES];
    int code;

    do {
        block->deflater.next_out = piece;
        block->deflater.avail_out = sizeof piece;
        code = deflate(&block->deflater, flush);
        if (code == Z_STREAM_ERROR)
            return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "cannot be compressed");
        write_base64(block, piece, sizeof piece - block->deflater.avail_out);
    } while (block->deflater.avail_out == 0);
    return NM_OK;
}

nm_status nm_page_block_begin(nm_page_block *block, FILE *out, nm_error *err)
{
    *block = (nm_page_block){.out = out};
    if (deflateInit2(&block->deflater, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    return NM_OK;
}

nm_status nm_page_block_put(nm_page_block *block, const void *bytes, size_t len, nm_error *err)
{
    const uint8_t *next = bytes;
    nm_status status = NM_OK;

    while (len > 0 && status == NM_OK) {
        size_t taken = len < UINT32_MAX / 2 ? len : UINT32_MAX / 2;

        block->deflater.next_in = (z_const Bytef *)next;
        block->deflater.avail_in = (uInt)taken;
        status = run_deflater(block, Z_NO_FLUSH, err);
        next += taken;
        len -= taken;
    }
    return status;
}

nm_status nm_page_block_end(nm_page_block *block, nm_error *err)
{
    nm_status status;

    block->deflater.next_in = Z_NULL;
    block->deflater.avail_in = 0;
    status = run_deflater(block, Z_FINISH, err);
    if (status == NM_OK && block->group_len > 0)
        write_group(block);
    deflateEnd(&block->deflater);
    return status;
}
