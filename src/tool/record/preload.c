/* SPDX-License-Identifier: Apache-2.0
 *
 * A list that others have a part in: what stands in LD_PRELOAD already stays, in its order, behind ours. Only our own
 * library, under either of its names, is taken out of it.
 */
#include "tool/record/preload.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PRELOAD_SEPARATORS ": " /* ld.so(8) */

/* One of the names of the library that is preloaded, whichever. */
static bool is_own_library(const char *path, size_t len)
{
    static const char *const names[] = {"libnpumem_hook.so", "libnpumem_libascend_kernel_hook.so"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t name_len = strlen(names[i]);

        if (len > name_len && path[len - name_len - 1] == '/' && memcmp(path + len - name_len, names[i], name_len) == 0)
            return true;
    }
    return false;
}

/* Ours comes first: it has to see a call before another interposer does. And it comes once: a recording inside another
 * may want it under its other name. */
char *record_preload_value(const char *library)
{
    const char *others = getenv("LD_PRELOAD");
    char *value = malloc(strlen(library) + (others == NULL ? 0 : strlen(others)) + 2);
    char *end;

    if (value == NULL)
        return NULL;
    end = stpcpy(value, library);
    for (const char *at = others; at != NULL && *at != 0;) {
        size_t len = strcspn(at, PRELOAD_SEPARATORS);

        if (len > 0 && !is_own_library(at, len)) {
            *end++ = ':';
            end = mempcpy(end, at, len);
        }
        at += len + strspn(at + len, PRELOAD_SEPARATORS);
    }
    *end = 0;
    return value;
}
