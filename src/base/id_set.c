/* SPDX-License-Identifier: Apache-2.0
 *
 * One bit an identifier, in words that grow to the largest one that was put in; an identifier over the limit is refused
 * before anything is allocated. A difference is looked for a word at a time.
 */
#include "base/id_set.h"

#include <stdlib.h>

#include "base/buffer.h"

nm_status nm_id_set_add_far(nm_id_set *set, uint64_t id, nm_error *err)
{
    size_t word = (size_t)(id / 64);
    nm_status status;

    if (id > NM_ID_SET_ID_MAX)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "identifier %llu is over the limit", (unsigned long long)id);
    status = nm_array_grow(&set->words, &set->capacity, word + 1, sizeof *set->words, err);
    if (status == NM_OK)
        set->words[word] |= 1ull << (id % 64);
    return status;
}

uint64_t nm_id_set_missing(const nm_id_set *part, const nm_id_set *whole)
{
    for (size_t word = 0; word < part->capacity; word++) {
        uint64_t missing = part->words[word] & ~(word < whole->capacity ? whole->words[word] : 0);

        if (missing != 0)
            return word * 64 + (uint64_t)__builtin_ctzll(missing);
    }
    return 0;
}

void nm_id_set_free(nm_id_set *set)
{
    free(set->words);
    *set = (nm_id_set){0};
}
