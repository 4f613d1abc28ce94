/* SPDX-License-Identifier: Apache-2.0
 *
 * A list that others have a part in: what stands in LD_PRELOAD already stays, in its order, and ours goes behind it, so that
 * what comes to us is what comes to CANN: an interposer in front of us may make one call into others. Before ours stays what
 * it has always been; behind it goes only who would be asked in our stead. Our own library, under either of its names, is
 * taken out of the list.
 */
#include "tool/record/preload.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tool/record/interposer.h"

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

/* Is the entry to be behind ours? One without a path is found by the loader, in folders of its own. */
static bool goes_behind(const char *entry, size_t len)
{
    char path[PATH_MAX];

    if (len >= sizeof path || memchr(entry, '/', len) == NULL)
        return false;
    memcpy(path, entry, len);
    path[len] = 0;
    return record_is_asked_first(path);
}

/* Appends the entries of the list that go behind ours, or those that do not, but for our own. */
static char *append_others(char *end, const char *others, bool are_behind)
{
    for (const char *at = others; at != NULL && *at != 0;) {
        size_t len = strcspn(at, PRELOAD_SEPARATORS);

        if (len > 0 && !is_own_library(at, len) && goes_behind(at, len) == are_behind) {
            if (are_behind)
                *end++ = ':';
            end = mempcpy(end, at, len);
            if (!are_behind)
                *end++ = ':';
        }
        at += len + strspn(at + len, PRELOAD_SEPARATORS);
    }
    return end;
}

/* Ours comes once: a recording inside another may want it under its other name. */
char *record_preload_value(const char *library)
{
    const char *others = getenv("LD_PRELOAD");
    char *value = malloc(strlen(library) + (others == NULL ? 0 : strlen(others)) + 3);
    char *end;

    if (value == NULL)
        return NULL;
    end = append_others(value, others, false);
    end = stpcpy(end, library);
    end = append_others(end, others, true);
    *end = 0;
    return value;
}
