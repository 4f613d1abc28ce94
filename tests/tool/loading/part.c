/* SPDX-License-Identifier: Apache-2.0
 *
 * One of several libraries that answer to the same name, loading_who, and look names up and open libraries for the
 * program probe.c: what they find depends on whose code the loader takes for the caller. PART is its name.
 */
#include "part.h"

#include <dlfcn.h>

#define TEXT_OF(value)   #value
#define TEXT(value)      TEXT_OF(value)
#define JOIN(part, verb) part##_##verb
#define NAME(part, verb) JOIN(part, verb)
#define EXPORT           __attribute__((visibility("default")))

EXPORT const char *loading_who(void);
EXPORT part_look NAME(PART, look);
EXPORT part_open NAME(PART, open);

const char *loading_who(void)
{
    return TEXT(PART);
}

void *NAME(PART, look)(void *handle, const char *name)
{
    void *found = dlsym(handle, name);

    __asm__ volatile("" : "+r"(found)); /* a call, not a jump: the caller is this library */
    return found;
}

void *NAME(PART, open)(const char *name, int flags)
{
    void *handle = dlopen(name, flags);

    __asm__ volatile("" : "+r"(handle));
    return handle;
}
