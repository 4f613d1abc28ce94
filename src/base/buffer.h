/* SPDX-License-Identifier: Apache-2.0
 *
 * A growing array of bytes, and by nm_array_* a growing array of anything. Growth doubles, so appending is constant
 * time on average. Used outside the recorded program only: it calls malloc.
 */
#ifndef NM_BASE_BUFFER_H
#define NM_BASE_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

typedef struct nm_buffer {
    uint8_t *data; /* owned; NULL while empty */
    size_t len;    /* bytes in use */
    size_t cap;    /* bytes there */
} nm_buffer;

/* All return NM_ERR_MEMORY when memory is out, and leave the buffer as it was. */
nm_status nm_buffer_reserve(nm_buffer *buffer, size_t extra_bytes, nm_error *err); /* room for len + extra_bytes */
nm_status nm_buffer_append(nm_buffer *buffer, const void *data, size_t len, nm_error *err);
nm_status nm_buffer_append_varint(nm_buffer *buffer, uint64_t value, nm_error *err);
void nm_buffer_free(nm_buffer *buffer); /* leaves it empty and usable */

/* For nm_array_grow: there is no room. */
nm_status nm_array_enlarge(void *items, size_t *capacity, size_t count_needed, size_t item_bytes, nm_error *err);

/*
 * A typed array is a struct {T *items; size_t count; size_t capacity;}. nm_array_grow grows it to hold one more:
 *
 *     struct { nm_row *items; size_t count; size_t capacity; } rows = {0};
 *     if ((status = nm_array_grow(&rows.items, &rows.capacity, rows.count + 1, sizeof *rows.items, err)) == NM_OK)
 *         rows.items[rows.count++] = row;
 *
 * `items` is the address of the array's pointer. New room is zeroed.
 */
static inline nm_status nm_array_grow(void *items, size_t *capacity, size_t count_needed, size_t item_bytes,
                                      nm_error *err)
{
    return count_needed <= *capacity ? NM_OK : nm_array_enlarge(items, capacity, count_needed, item_bytes, err);
}

#endif
