/* SPDX-License-Identifier: Apache-2.0
 *
 * Our own name dlsym hides the loader's from this very library, so that is asked for by dlvsym, which nobody stands in
 * front of; at the first call, since other libraries' constructors run before ours.
 */
#include "hook/linker.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hook/library.h"
#include "record/libc.h"

#define STAGE_BYTES_MAX 256 /* of an operator's name */
#define FIRST_STAGE     "GetWorkspaceSize"
#define LATER_VERSION   "GLIBC_2.34"

typedef int info_function(void *handle, int request, void *out);
typedef int symbol_function(const void *address, Dl_info *info, void **extra, int flags);

nm_linker_dlsym *nm_linker_next_dlsym;
nm_linker_dlopen *nm_linker_next_dlopen;
nm_linker_dlclose *nm_linker_next_dlclose;

/* The loader's own. */
static nm_linker_dlsym *own_dlsym;
static nm_linker_dlopen *own_dlopen;
static nm_linker_dlclose *own_dlclose;
static info_function *own_dlinfo;

static _Atomic bool has_deep_binding;

void nm_linker_resolve(void)
{
    nm_linker_dlsym *found;

    /* relaxed: every thread finds the same, and functions need nothing else. */
    if (__atomic_load_n(&nm_linker_next_dlsym, __ATOMIC_RELAXED) != NULL || nm_libc_dlvsym == NULL)
        return;
    found = (nm_linker_dlsym *)nm_libc_dlvsym(RTLD_NEXT, "dlsym", NM_LIBC_FIRST);
    if (found == NULL)
        found = (nm_linker_dlsym *)nm_libc_dlvsym(RTLD_NEXT, "dlsym", LATER_VERSION);
    if (found == NULL)
        return;
    own_dlopen = (nm_linker_dlopen *)nm_libc_dlvsym(RTLD_NEXT, "dlopen", NM_LIBC_FIRST);
    own_dlclose = (nm_linker_dlclose *)nm_libc_dlvsym(RTLD_NEXT, "dlclose", NM_LIBC_FIRST);
    own_dlinfo = (info_function *)found(RTLD_NEXT, "dlinfo");
    own_dlsym = found;
    nm_linker_next_dlclose = (nm_linker_dlclose *)found(RTLD_NEXT, "dlclose");
    __atomic_store_n(&nm_linker_next_dlopen, (nm_linker_dlopen *)found(RTLD_NEXT, "dlopen"), __ATOMIC_RELAXED);
    __atomic_store_n(&nm_linker_next_dlsym, (nm_linker_dlsym *)found(RTLD_NEXT, "dlsym"), __ATOMIC_RELEASE);
}

bool nm_linker_is_ready(void)
{
    /* acquire: pairs with the release in nm_linker_resolve. */
    if (__atomic_load_n(&nm_linker_next_dlsym, __ATOMIC_ACQUIRE) == NULL)
        nm_linker_resolve();
    return nm_linker_next_dlsym != NULL;
}

void *nm_linker_find(void *handle, const char *name)
{
    return nm_linker_is_ready() ? own_dlsym(handle, name) : NULL;
}

void *nm_linker_hold(const char *path)
{
    if (!nm_linker_is_ready() || own_dlopen == NULL || own_dlclose == NULL)
        return NULL;
    return own_dlopen(path[0] != 0 ? path : NULL, RTLD_LAZY | RTLD_NOLOAD);
}

void nm_linker_release(void *handle)
{
    own_dlclose(handle);
}

uintptr_t nm_linker_base(void *handle)
{
    struct link_map *map = NULL;

    return own_dlinfo != NULL && own_dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != NULL ? map->l_addr : 0;
}

bool nm_linker_is_entry(const void *function)
{
    symbol_function *find = (symbol_function *)nm_linker_find(RTLD_NEXT, "dladdr1");
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;

    return find != NULL && find(function, &info, (void **)&symbol, RTLD_DL_SYMENT) != 0 && symbol != NULL &&
           info.dli_saddr == function && symbol->st_shndx == SHN_UNDEF;
}

void nm_linker_forget_error(void)
{
    nm_linker_find(RTLD_NEXT, "dlsym"); /* what succeeds leaves no error */
}

bool nm_linker_has_deep_binding(void)
{
    /* relaxed: set by the thread that goes on to open the library. */
    return atomic_load_explicit(&has_deep_binding, memory_order_relaxed);
}

void nm_linker_bind_deep(void)
{
    atomic_store_explicit(&has_deep_binding, true, memory_order_relaxed); /* relaxed: see above */
}

void *nm_linker_hook(const char *name)
{
    static const struct {
        const char *name;
        void *hook;
    } hooks[] = {{"dlsym", (void *)dlsym},
                 {"dlopen", (void *)dlopen},
                 {"dlclose", (void *)dlclose},
                 {"_exit", (void *)_exit},
                 {"_Exit", (void *)_Exit}};

    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++) {
        if (strcmp(hooks[i].name, name) == 0)
            return hooks[i].hook;
    }
    return NULL;
}

bool nm_linker_is_own(const char *name, const void *function)
{
    void *first = nm_linker_is_ready() ? nm_libc_dlvsym(RTLD_NEXT, name, NM_LIBC_FIRST) : NULL;
    nm_library home;

    /* By its module: a function of libc may have an address for each of its versions. */
    return first != NULL && (first == function || (nm_library_find(first, &home) && nm_library_has(&home, function)));
}

bool nm_linker_is_operator(void *handle, const char *name)
{
    static const char suffix[] = FIRST_STAGE;
    char first_stage[STAGE_BYTES_MAX];
    size_t len = strlen(name), suffix_len = sizeof suffix - 1;

    if (strncmp(name, "aclnn", 5) != 0 || len + sizeof suffix > sizeof first_stage)
        return false;
    if (len >= suffix_len && strcmp(name + len - suffix_len, suffix) == 0)
        return false;
    memcpy(first_stage, name, len);
    memcpy(first_stage + len, suffix, sizeof suffix);
    return nm_linker_find(handle, first_stage) != NULL;
}

bool nm_linker_is_next_tools(const void *caller)
{
    nm_library library;

    return nm_linker_next_dlsym != own_dlsym && nm_library_find((void *)nm_linker_next_dlsym, &library) &&
           nm_library_has(&library, caller);
}
