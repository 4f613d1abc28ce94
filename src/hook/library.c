/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks through the loader's list of shared objects: at their segments for an address, at their file names for CANN's. What
 * is found is copied while the list stands still, its path into the arena, since the object may be unloaded the moment after.
 * Nothing here may be called from a hook that runs under the loader's own lock.
 */
#include "hook/library.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

#include "hook/arena.h"

/* How the files begin that hold the functions we stand in front of. */
static const char *const cann_names[] = {"libascendcl", "libacl_",        "libascend_hal", "libruntime",
                                         "libopapi",    "libaclnn",       "libnnopbase",   "libhccl",
                                         "libhcomm",    "libms_tools_ext"};

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

bool nm_library_is_cann_path(const char *path)
{
    const char *name = last_part(path);

    for (size_t i = 0; i < sizeof cann_names / sizeof *cann_names; i++) {
        if (strncmp(name, cann_names[i], strlen(cann_names[i])) == 0)
            return true;
    }
    return false;
}

typedef struct library_search {
    uintptr_t address;
    nm_library *out;
} library_search;

static int compare_module(struct dl_phdr_info *info, size_t size, void *context)
{
    library_search *search = context;
    uintptr_t begin = UINTPTR_MAX, end = 0;
    bool is_found = false;

    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + segment->p_vaddr;

        if (segment->p_type != PT_LOAD)
            continue;
        begin = at < begin ? at : begin;
        end = at + segment->p_memsz > end ? at + segment->p_memsz : end;
        is_found = is_found || search->address - at < segment->p_memsz;
    }
    if (!is_found)
        return 0;
    search->out->begin = begin;
    search->out->end = end;
    search->out->is_cann = nm_library_is_cann_path(info->dlpi_name);
    search->out->path = nm_arena_intern(info->dlpi_name);
    return 1;
}

bool nm_library_find(const void *address, nm_library *out)
{
    library_search search = {(uintptr_t)address, out};

    return dl_iterate_phdr(compare_module, &search) != 0;
}

static int compare_name(struct dl_phdr_info *info, size_t size, void *context)
{
    const char *name = context;

    (void)size;
    return strncmp(last_part(info->dlpi_name), name, strlen(name)) == 0;
}

bool nm_library_is_loaded(const char *name)
{
    return dl_iterate_phdr(compare_name, (void *)(uintptr_t)name) != 0;
}
