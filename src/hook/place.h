/* SPDX-License-Identifier: Apache-2.0
 *
 * Whose code an address is. Takes the loader's list for a moment (the lock of dl_iterate_phdr, under which nothing else is
 * ever taken), so any place outside of the hooks of memory may ask.
 */
#ifndef NM_HOOK_PLACE_H
#define NM_HOOK_PLACE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct nm_place {
    uintptr_t begin; /* of the module that the address lies in */
    uintptr_t end;
    bool is_cann;     /* its file's name is one of CANN's */
    const char *path; /* as the loader names it, empty: the program; kept. NULL: no room */
} nm_place;

/* False: the address lies in no module that the loader knows. */
bool nm_place_find(const void *address, nm_place *out);

static inline bool nm_place_has(const nm_place *place, const void *address)
{
    return (uintptr_t)address >= place->begin && (uintptr_t)address < place->end;
}

/* Is a library with that file name, or that and a version behind it, loaded? Asks the list of what is, where dlopen with
 * RTLD_NOLOAD would look for the file in every folder that it knows. */
bool nm_place_is_loaded(const char *name);

/* By the last part of a path. */
bool nm_place_is_cann_path(const char *path);

#endif
