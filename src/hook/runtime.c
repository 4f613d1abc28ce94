/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the real functions behind the hooks; see runtime.h.
 */
#include "hook/runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "record/libc.h"

nm_runtime nm_real;

typedef struct nm_name {
    const char *name;
    size_t offset; /* of its pointer in nm_runtime */
} nm_name;

static const nm_name names[] = {
#define NAME(name, parameters) {#name, offsetof(nm_runtime, name)},
    NM_HOOKED_FUNCTIONS(NAME) NM_USED_FUNCTIONS(NAME) NAME(dlclose, )
#undef NAME
};

/* What programs load, the first that is there. */
static const char *const libraries[] = {"libascendcl.so", "libacl_rt.so"};

/* Fills what is still missing from `library`, a handle or RTLD_NEXT. */
static void find_in(void *library)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void **place = (void **)((char *)&nm_real + names[i].offset);

        /* relaxed: whoever finds it finds the same. */
        if (__atomic_load_n(place, __ATOMIC_RELAXED) == NULL)
            __atomic_store_n(place, nm_libc_dlsym(library, names[i].name), __ATOMIC_RELAXED);
    }
}

/* A runtime that was opened RTLD_LOCAL is behind nobody, so RTLD_NEXT does not see it; by its name it is found, if it is
 * loaded. The handle is kept: the functions stay as long as they can be called. */
static void find_in_opened(void)
{
    if (nm_libc_dlopen == NULL)
        return;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        void *library = nm_libc_dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);

        if (library != NULL)
            find_in(library);
    }
}

void nm_runtime_find(void)
{
    int saved_errno = errno;

    if (nm_libc_dlsym == NULL) /* a glibc before 2.34 and a program without libdl: it can have no CANN */
        return;
    find_in(RTLD_NEXT);
    if (__atomic_load_n(&nm_real.aclrtMalloc, __ATOMIC_RELAXED) == NULL) /* relaxed: as above */
        find_in_opened();
    errno = saved_errno;
}

__attribute__((constructor)) static void find_at_load(void)
{
    nm_runtime_find();
}
