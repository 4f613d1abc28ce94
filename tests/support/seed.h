/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a test that draws at random begins. Unless told otherwise it is the same each time: a change is judged by the same
 * cases before and after. NPUMEM_SEED=NUMBER repeats another run, NPUMEM_SEED=random looks for new ones.
 */
#ifndef TESTS_SUPPORT_SEED_H
#define TESTS_SUPPORT_SEED_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Below 2^32. Prints it, for the one who has to repeat it. */
static inline uint64_t seed_of_test(uint64_t usual)
{
    const char *given = getenv("NPUMEM_SEED");
    uint64_t seed = usual;

    if (given != NULL && strcmp(given, "random") == 0)
        seed = ((uint64_t)time(NULL) * 1000003 + (uint64_t)getpid()) % (UINT64_C(1) << 32);
    else if (given != NULL)
        seed = strtoull(given, NULL, 0) % (UINT64_C(1) << 32);
    printf("NPUMEM_SEED=%" PRIu64 "\n", seed);
    fflush(stdout);
    return seed;
}

#endif
