/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens a library of calls (calls.c) in the way that it is told, and runs it: by its path, or by its name alone, which is
 * found by this program's own search path. Built with CALLS_LINKED it is linked to the library instead.
 *
 *     open_calls LIBRARY global|local|deepbind|lazy|lazy-deepbind
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"

#define ROUND_COUNT 9

#ifdef CALLS_LINKED
int main(void)
{
    return calls_run(ROUND_COUNT);
}
#else
static int flags_of(const char *way)
{
    int flags = strncmp(way, "lazy", 4) == 0 ? RTLD_LAZY : RTLD_NOW;

    if (strstr(way, "deepbind") != NULL)
        flags |= RTLD_DEEPBIND;
    return strcmp(way, "global") == 0 ? flags | RTLD_GLOBAL : flags;
}

int main(int argc, char **argv)
{
    __typeof__(&calls_run) run = NULL;
    void *library;

    if (argc != 3)
        return 2;
    library = dlopen(argv[1], flags_of(argv[2]));
    if (library != NULL)
        *(void **)&run = dlsym(library, "calls_run");
    if (run == NULL) {
        fprintf(stderr, "open_calls: %s\n", dlerror());
        return 2;
    }
    return run(ROUND_COUNT);
}
#endif
