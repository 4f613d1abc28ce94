/* SPDX-License-Identifier: Apache-2.0 */
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
