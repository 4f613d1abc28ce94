/* SPDX-License-Identifier: Apache-2.0
 *
 * Two strings with one 64-bit hash are told apart by comparing them; the second gets the next probe number.
 */
#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"

nm_bytes nm_strings_get(const nm_strings *strings, uint32_t number)
{
    if (number == 0 || number > strings->count)
        return (nm_bytes){0};

    size_t begin = strings->offsets[number - 1];
    size_t end = number == strings->count ? strings->text.len : strings->offsets[number];
    return (nm_bytes){strings->text.data + begin, end - begin - 1};
}

static nm_status add(nm_strings *strings, nm_bytes bytes, nm_key key, nm_error *err)
{
    nm_status status =
        nm_array_grow(&strings->offsets, &strings->capacity, strings->count + 1, sizeof *strings->offsets, err);

    if (status == NM_OK)
        status = nm_buffer_reserve(&strings->text, bytes.len + 1, err);
    if (status == NM_OK)
        status = nm_map_put(&strings->by_hash, key, strings->count + 1, err);
    if (status != NM_OK)
        return status;

    strings->offsets[strings->count++] = strings->text.len;
    if (bytes.len > 0)
        memcpy(strings->text.data + strings->text.len, bytes.data, bytes.len);
    strings->text.data[strings->text.len + bytes.len] = 0;
    strings->text.len += bytes.len + 1;
    return NM_OK;
}

/* Its number, or 0 and in *key where it belongs. */
static uint32_t find(const nm_strings *strings, nm_bytes bytes, nm_key *key)
{
    *key = (nm_key){0, nm_checksum_seeded(bytes.data, bytes.len, nm_map_secret())};
    for (uint64_t *found; (found = nm_map_get(&strings->by_hash, *key)) != NULL; key->high++) {
        nm_bytes there = nm_strings_get(strings, (uint32_t)*found);
        if (there.len == bytes.len && (bytes.len == 0 || memcmp(there.data, bytes.data, bytes.len) == 0))
            return (uint32_t)*found;
    }
    return 0;
}

uint32_t nm_strings_find(const nm_strings *strings, nm_bytes bytes)
{
    nm_key key;

    return find(strings, bytes, &key);
}

nm_status nm_strings_intern(nm_strings *strings, nm_bytes bytes, uint32_t *number, nm_error *err)
{
    nm_key key;

    *number = find(strings, bytes, &key);
    if (*number != 0)
        return NM_OK;
    if (strings->count >= UINT32_MAX - 1)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "more than 4 billion distinct strings");
    nm_status status = add(strings, bytes, key, err);
    *number = (uint32_t)strings->count;
    return status;
}

void nm_strings_free(nm_strings *strings)
{
    nm_map_free(&strings->by_hash);
    nm_buffer_free(&strings->text);
    free(strings->offsets);
    *strings = (nm_strings){0};
}
