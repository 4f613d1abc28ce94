/* SPDX-License-Identifier: Apache-2.0
 *
 * Capacity doubles from 256 bytes on, and a size that could overflow is refused before realloc sees it. Growth that
 * fails leaves buffer and array as they were, so that a caller can report it and release what it has. Nothing here may
 * run inside the recorded program.
 */
#include "base/buffer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

nm_status nm_buffer_reserve(nm_buffer *buffer, size_t extra_bytes, nm_error *err)
{
    assert(buffer->len <= buffer->cap);
    if (extra_bytes <= buffer->cap - buffer->len)
        return NM_OK;
    if (extra_bytes > SIZE_MAX / 4 || buffer->cap > SIZE_MAX / 4)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "a buffer of %zu more bytes is too large", extra_bytes);

    size_t cap = buffer->cap < 256 ? 256 : buffer->cap * 2;
    while (cap - buffer->len < extra_bytes)
        cap *= 2;

    uint8_t *data = realloc(buffer->data, cap);
    if (data == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory at %zu bytes", cap);
    buffer->data = data;
    buffer->cap = cap;
    return NM_OK;
}

nm_status nm_buffer_append(nm_buffer *buffer, const void *data, size_t len, nm_error *err)
{
    nm_status status = nm_buffer_reserve(buffer, len, err);

    if (status == NM_OK && len > 0) {
        memcpy(buffer->data + buffer->len, data, len);
        buffer->len += len;
    }
    return status;
}

nm_status nm_buffer_append_varint(nm_buffer *buffer, uint64_t value, nm_error *err)
{
    nm_status status = nm_buffer_reserve(buffer, NM_VARINT_BYTES_MAX, err);

    if (status == NM_OK)
        buffer->len += nm_put_varint(buffer->data + buffer->len, value);
    return status;
}

void nm_buffer_free(nm_buffer *buffer)
{
    free(buffer->data);
    *buffer = (nm_buffer){0};
}

nm_status nm_array_enlarge(void *items, size_t *capacity, size_t count_needed, size_t item_bytes, nm_error *err)
{
    if (count_needed > SIZE_MAX / 2 / item_bytes)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "an array of %zu items is too large", count_needed);

    size_t wanted = *capacity < 8 ? 8 : *capacity * 2;
    if (wanted < count_needed)
        wanted = count_needed;

    void *old;
    memcpy(&old, items, sizeof old);
    uint8_t *grown = realloc(old, wanted * item_bytes);
    if (grown == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory at %zu items", wanted);
    memset(grown + *capacity * item_bytes, 0, (wanted - *capacity) * item_bytes);
    memcpy(items, &grown, sizeof grown);
    *capacity = wanted;
    return NM_OK;
}
