/* SPDX-License-Identifier: Apache-2.0
 *
 * Pieces of the same size, so that nothing is moved when more comes. A birth of 0 is before the first event, a life of the largest number has
 * no end, a stack of 0 is none.
 */
#include "page/packed.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "store/database.h"

#define PIECE_BLOCKS 65536
#define HIGH_BITS    48

struct nm_page_packed_block {
    uint32_t born, life, address, size_bytes, stack;
    uint16_t address_high, size_high, place;
};

static bool has_bits(int64_t value, int bits)
{
    return value >= 0 && (uint64_t)value >> bits == 0;
}

/* Lives that have no end, and births before the first event, are not counted from the base. */
static bool fits(const nm_page_packed *packed, const nm_page_unpacked *block)
{
    int64_t from_base = (int64_t)((uint64_t)block->born - (uint64_t)packed->base);

    return packed->count < NM_PAGE_PACKED_MAX && block->place <= UINT16_MAX && has_bits(block->address, HIGH_BITS) &&
           has_bits(block->size_bytes, HIGH_BITS) && (block->stack_id == NM_NULL || has_bits(block->stack_id, 32)) &&
           (block->born < 0 || (has_bits(from_base, 32) && from_base < UINT32_MAX)) &&
           (block->life == NM_NULL || (has_bits(block->life, 32) && block->life < UINT32_MAX));
}

static nm_status grow(nm_page_packed *packed, nm_error *err)
{
    nm_status status =
        nm_array_grow(&packed->pieces, &packed->piece_capacity, packed->piece_count + 1, sizeof *packed->pieces, err);

    if (status != NM_OK)
        return status;
    packed->pieces[packed->piece_count] = malloc(PIECE_BLOCKS * sizeof **packed->pieces);
    if (packed->pieces[packed->piece_count] == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    packed->piece_count++;
    return NM_OK;
}

nm_status nm_page_packed_add(nm_page_packed *packed, const nm_page_unpacked *block, nm_error *err)
{
    nm_status status = NM_OK;

    if (packed->is_given_up)
        return NM_OK;
    if (packed->count == 0)
        packed->base = block->born < 0 ? 0 : block->born;
    if (!fits(packed, block)) {
        nm_page_packed_free(packed);
        packed->is_given_up = true;
        return NM_OK;
    }
    if (packed->count == packed->piece_count * PIECE_BLOCKS)
        status = grow(packed, err);
    if (status != NM_OK)
        return status;
    packed->pieces[packed->count / PIECE_BLOCKS][packed->count % PIECE_BLOCKS] = (nm_page_packed_block){
        .born = block->born < 0 ? 0 : (uint32_t)(block->born - packed->base) + 1,
        .life = block->life == NM_NULL ? UINT32_MAX : (uint32_t)block->life,
        .address = (uint32_t)block->address,
        .address_high = (uint16_t)(block->address >> 32),
        .size_bytes = (uint32_t)block->size_bytes,
        .size_high = (uint16_t)(block->size_bytes >> 32),
        .stack = block->stack_id == NM_NULL ? 0 : (uint32_t)block->stack_id,
        .place = (uint16_t)block->place,
    };
    packed->count++;
    return NM_OK;
}

nm_page_unpacked nm_page_packed_get(const nm_page_packed *packed, size_t index)
{
    const nm_page_packed_block *block = &packed->pieces[index / PIECE_BLOCKS][index % PIECE_BLOCKS];

    return (nm_page_unpacked){
        .place = block->place,
        .born = block->born == 0 ? -1 : packed->base + (int64_t)block->born - 1,
        .life = block->life == UINT32_MAX ? NM_NULL : (int64_t)block->life,
        .address = (int64_t)((uint64_t)block->address_high << 32 | block->address),
        .size_bytes = (int64_t)((uint64_t)block->size_high << 32 | block->size_bytes),
        .stack_id = block->stack == 0 ? NM_NULL : (int64_t)block->stack,
    };
}

void nm_page_packed_free(nm_page_packed *packed)
{
    for (size_t i = 0; i < packed->piece_count; i++)
        free(packed->pieces[i]);
    free(packed->pieces);
    *packed = (nm_page_packed){0};
}
