/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers in text, read strictly: digits alone, nothing before or behind them, and no more than the caller's bound.
 * What strtoull would let pass (spaces, signs, a rest) is none.
 */
#include "base/number.h"

#include <errno.h>
#include <stdlib.h>

bool nm_number_read(const char *text, uint64_t most, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == 0 && errno == 0 && *number <= most;
}
