/* SPDX-License-Identifier: Apache-2.0
 *
 * How near two words are is how many letters are to be put in, left out or replaced to make one of the other. A short word
 * is near to many, so it has to be nearer.
 */
#include "tool/common/nearest.h"

#include <string.h>

#define LENGTH_MAX 31 /* a longer word is near to nothing */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t row[LENGTH_MAX + 1];

    for (size_t j = 0; j <= b_length; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t corner = row[0];

        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t replaced = corner + (a[i - 1] != b[j - 1]);

            corner = row[j];
            row[j] = smaller(replaced, smaller(row[j], row[j - 1]) + 1);
        }
    }
    return row[b_length];
}

nearest nearest_begin(const char *word, size_t length)
{
    return (nearest){.word = word, .length = length, .distance = length < 4 ? 2 : 3};
}

void nearest_offer(nearest *search, const char *candidate)
{
    size_t length = strlen(candidate);

    if (search->length > LENGTH_MAX || length > LENGTH_MAX)
        return;
    size_t found = distance(search->word, search->length, candidate, length);
    if (found < search->distance) {
        search->found = candidate;
        search->distance = found;
    }
}
