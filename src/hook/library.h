/* SPDX-License-Identifier: Apache-2.0
 *
 * The shared object that an address lies in, and whether one is loaded and CANN's. Takes the loader's list for a moment (the lock of dl_iterate_phdr, under which nothing else is
 * ever taken), so any place outside of the hooks of memory may ask.
 */
#ifndef NM_HOOK_LIBRARY_H
#define NM_HOOK_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

typedef struct nm_library {
    uintptr_t begin; /* of the module that the address lies in */
    uintptr_t end;
    bool is_cann;     /* its file's name is one of CANN's */
    const char *path; /* as the loader names it, empty: the program; kept. NULL: no room */
} nm_library;

/* False: the address lies in no module that the loader knows. */
bool nm_library_find(const void *address, nm_library *out);

static inline bool nm_library_has(const nm_library *library, const void *address)
{
    return (uintptr_t)address >= library->begin && (uintptr_t)address < library->end;
}

/* Is a library with that file name, or that and a version behind it, loaded? Asks the list of what is, where dlopen with
 * RTLD_NOLOAD would look for the file in every folder that it knows. */
bool nm_library_is_loaded(const char *name);

/* By the last part of a path. */
bool nm_library_is_cann_path(const char *path);

#endif
