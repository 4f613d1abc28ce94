/* SPDX-License-Identifier: Apache-2.0
 *
 * Strings with one hash are told apart by comparing them.
 */
#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/map.h"

nm_bytes nm_strings_get(const nm_strings *strings, uint32_t number)
{
    if (number == 0 || number > strings->count)
        return (nm_bytes){0};

    size_t begin = strings->offsets[number - 1];
    size_t end = number == strings->count ? strings->text.len : strings->offsets[number];
    return (nm_bytes){strings->text.data + begin, end - begin - 1};
}

static nm_status add(nm_strings *strings, nm_bytes bytes, uint64_t hash, nm_error *err)
{
    nm_status status =
        nm_array_grow(&strings->offsets, &strings->capacity, strings->count + 1, sizeof *strings->offsets, err);

    if (status == NM_OK)
        status = nm_buffer_reserve(&strings->text, bytes.len + 1, err);
    if (status == NM_OK)
        status = nm_slots_add(&strings->by_hash, hash, (uint32_t)strings->count + 1, err);
    if (status != NM_OK)
        return status;

    strings->offsets[strings->count++] = strings->text.len;
    if (bytes.len > 0)
        memcpy(strings->text.data + strings->text.len, bytes.data, bytes.len);
    strings->text.data[strings->text.len + bytes.len] = 0;
    strings->text.len += bytes.len + 1;
    return NM_OK;
}

static uint64_t hash_of(nm_bytes bytes)
{
    return nm_checksum_seeded(bytes.data, bytes.len, nm_map_secret());
}

/* Its number, or 0. */
static uint32_t find(const nm_strings *strings, nm_bytes bytes, uint64_t hash)
{
    nm_probe probe = nm_slots_begin(&strings->by_hash, hash);
    uint32_t number;

    while ((number = nm_slots_next(&strings->by_hash, &probe)) != 0) {
        nm_bytes there = nm_strings_get(strings, number);
        if (there.len == bytes.len && (bytes.len == 0 || memcmp(there.data, bytes.data, bytes.len) == 0))
            return number;
    }
    return 0;
}

uint32_t nm_strings_find(const nm_strings *strings, nm_bytes bytes)
{
    return find(strings, bytes, hash_of(bytes));
}

nm_status nm_strings_intern(nm_strings *strings, nm_bytes bytes, uint32_t *number, nm_error *err)
{
    uint64_t hash = hash_of(bytes);

    *number = find(strings, bytes, hash);
    if (*number != 0)
        return NM_OK;
    if (strings->count >= UINT32_MAX - 1)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "more than 4 billion distinct strings");
    nm_status status = add(strings, bytes, hash, err);
    *number = (uint32_t)strings->count;
    return status;
}

void nm_strings_free(nm_strings *strings)
{
    nm_slots_free(&strings->by_hash);
    nm_buffer_free(&strings->text);
    free(strings->offsets);
    *strings = (nm_strings){0};
}
