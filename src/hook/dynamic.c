/* SPDX-License-Identifier: Apache-2.0
 *
 * dlsym, dlopen and dlclose in front of the loader's own: a program that looks CANN's functions up in a library that it
 * opened itself finds the hooks, and what it opens later is looked at (rebind.h).
 *
 * The loader takes the address that its functions return to for the caller: what RTLD_NEXT and RTLD_DEFAULT mean, where
 * a library is searched for, and which one a name's error speaks of, all follow from it. So whatever depends on it is
 * handed on by a jump, with the stack as it came (dynamic_entry.c). Only a lookup by handle, and the opening
 * of a library by its path, are called from here.
 *
 * Our own name dlsym hides the loader's from this very library, so that is asked for by dlvsym, which nobody stands in
 * front of; at the first call, since other libraries' constructors run before ours.
 */
#include "hook/dynamic.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hook/library.h"
#include "hook/notes.h"
#include "hook/operators.h"
#include "hook/rebind.h"
#include "hook/runtime.h"
#include "record/libc.h"
#include "record/record.h"

#define HIDDEN          __attribute__((visibility("hidden")))
#define EXPORTED        __attribute__((visibility("default")))
#define STAGE_BYTES_MAX 256 /* of an operator's name */
#define FIRST_STAGE     "GetWorkspaceSize"
#define LATER_VERSION   "GLIBC_2.34"
#define LIBC            "libc.so.6"

typedef void *find_function(void *handle, const char *name);
typedef void *open_function(const char *name, int flags);
typedef int close_function(void *handle);
typedef int info_function(void *handle, int request, void *out);
typedef int symbol_function(const void *address, Dl_info *info, void **extra, int flags);

typedef struct nm_answer { /* of the C part of an entry: both words in registers */
    void *value;
    uintptr_t is_given; /* 0: hand the call on */
} nm_answer;

/* Next in line behind our names: the loader's functions, or another tool's. The entries in assembly jump there. */
HIDDEN find_function *nm_dynamic_next_dlsym;
HIDDEN open_function *nm_dynamic_next_dlopen;
static close_function *next_dlclose;

/* The loader's own. */
static find_function *own_dlsym;
static open_function *own_dlopen;
static close_function *own_dlclose;
static info_function *own_dlinfo;

static _Atomic bool has_deep_binding;

HIDDEN void nm_dynamic_resolve(void);
HIDDEN nm_answer nm_dynamic_answer(void *handle, const char *name, const void *caller);
HIDDEN uintptr_t nm_dynamic_is_called(const char *name, int flags);
HIDDEN void *nm_dynamic_dlopen(const char *name, int flags);
EXPORTED int dlclose(void *library);

/* ---- The loader ---------------------------------------------------------------------------------------------------- */

void nm_dynamic_resolve(void)
{
    find_function *found;

    /* relaxed: every thread finds the same, and functions need nothing else. */
    if (__atomic_load_n(&nm_dynamic_next_dlsym, __ATOMIC_RELAXED) != NULL || nm_libc_dlvsym == NULL)
        return;
    found = (find_function *)nm_libc_dlvsym(RTLD_NEXT, "dlsym", NM_LIBC_FIRST);
    if (found == NULL)
        found = (find_function *)nm_libc_dlvsym(RTLD_NEXT, "dlsym", LATER_VERSION);
    if (found == NULL)
        return;
    own_dlopen = (open_function *)nm_libc_dlvsym(RTLD_NEXT, "dlopen", NM_LIBC_FIRST);
    own_dlclose = (close_function *)nm_libc_dlvsym(RTLD_NEXT, "dlclose", NM_LIBC_FIRST);
    own_dlinfo = (info_function *)found(RTLD_NEXT, "dlinfo");
    own_dlsym = found;
    next_dlclose = (close_function *)found(RTLD_NEXT, "dlclose");
    __atomic_store_n(&nm_dynamic_next_dlopen, (open_function *)found(RTLD_NEXT, "dlopen"), __ATOMIC_RELAXED);
    __atomic_store_n(&nm_dynamic_next_dlsym, (find_function *)found(RTLD_NEXT, "dlsym"), __ATOMIC_RELEASE);
}

static bool is_ready(void)
{
    /* acquire: pairs with the release in nm_dynamic_resolve. */
    if (__atomic_load_n(&nm_dynamic_next_dlsym, __ATOMIC_ACQUIRE) == NULL)
        nm_dynamic_resolve();
    return nm_dynamic_next_dlsym != NULL;
}

void *nm_dynamic_find(void *handle, const char *name)
{
    return is_ready() ? own_dlsym(handle, name) : NULL;
}

void *nm_dynamic_hold(const char *path)
{
    if (!is_ready() || own_dlopen == NULL || own_dlclose == NULL)
        return NULL;
    return own_dlopen(path[0] != 0 ? path : NULL, RTLD_LAZY | RTLD_NOLOAD);
}

void nm_dynamic_release(void *handle)
{
    own_dlclose(handle);
}

uintptr_t nm_dynamic_base(void *handle)
{
    struct link_map *map = NULL;

    return own_dlinfo != NULL && own_dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != NULL ? map->l_addr : 0;
}

bool nm_dynamic_is_entry(const void *function)
{
    symbol_function *find = (symbol_function *)nm_dynamic_find(RTLD_NEXT, "dladdr1");
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;

    return find != NULL && find(function, &info, (void **)&symbol, RTLD_DL_SYMENT) != 0 && symbol != NULL &&
           info.dli_saddr == function && symbol->st_shndx == SHN_UNDEF;
}

void nm_dynamic_forget_error(void)
{
    nm_dynamic_find(RTLD_NEXT, "dlsym"); /* what succeeds leaves no error */
}

bool nm_dynamic_has_deep_binding(void)
{
    /* relaxed: set by the thread that goes on to open the library. */
    return atomic_load_explicit(&has_deep_binding, memory_order_relaxed);
}

void *nm_dynamic_hook(const char *name)
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

bool nm_dynamic_is_own(const char *name, const void *function)
{
    void *first = is_ready() ? nm_libc_dlvsym(RTLD_NEXT, name, NM_LIBC_FIRST) : NULL;
    nm_library home;

    /* By its module: a function of libc may have an address for each of its versions. */
    return first != NULL && (first == function || (nm_library_find(first, &home) && nm_library_has(&home, function)));
}

/* ---- Lookups ------------------------------------------------------------------------------------------------------- */

static bool may_be_canns(const char *name)
{
    return name != NULL && (strncmp(name, "acl", 3) == 0 || strncmp(name, "hal", 3) == 0);
}

bool nm_dynamic_is_operator(void *handle, const char *name)
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
    return nm_dynamic_find(handle, first_stage) != NULL;
}

/* Another tool's dlsym behind ours knows its own lookups by where they come from. */
static bool is_next_tools(const void *caller)
{
    nm_library library;

    return nm_dynamic_next_dlsym != own_dlsym && nm_library_find((void *)nm_dynamic_next_dlsym, &library) &&
           nm_library_has(&library, caller);
}

/* A lookup by handle. Our own lookups come first and the program's last, so that dlerror speaks of it. */
static nm_answer answer_handle(void *handle, const char *name, const void *caller, int saved_errno)
{
    bool is_operator = nm_dynamic_is_operator(handle, name);
    nm_answer answer = {NULL, 1};
    void *wrapped = NULL;

    errno = saved_errno;
    answer.value = nm_dynamic_next_dlsym(handle, name);
    saved_errno = errno;
    if (answer.value != NULL && is_operator)
        wrapped = nm_dynamic_is_entry(answer.value) ? NULL : nm_operator_wrap(name, answer.value);
    else if (answer.value != NULL && answer.value != nm_runtime_hook(name))
        wrapped = nm_runtime_lead(name, answer.value, caller);
    else if (answer.value != NULL)
        answer.is_given = nm_runtime_show(name); /* a handle of the program, whose scope has us; hidden: once more */
    if (wrapped != NULL)
        answer.value = wrapped;
    nm_notes_tell();
    errno = saved_errno;
    return answer;
}

/* The scope of the library that calls, without what everybody has; NULL for the program. It is not held: the caller runs
 * in it. */
static void *scope_of(const void *caller)
{
    nm_library library;
    void *handle;

    if (!nm_library_find(caller, &library) || library.path == NULL || library.path[0] == 0)
        return NULL;
    handle = nm_dynamic_hold(library.path);
    if (handle != NULL)
        nm_dynamic_release(handle);
    return handle;
}

/* An operator, or NULL: they have no names of ours, so they have to be looked up to be wrapped. */
static void *default_operator(const char *name, void *scope)
{
    void *found = NULL;

    if (nm_dynamic_is_operator(RTLD_DEFAULT, name))
        found = nm_dynamic_find(RTLD_DEFAULT, name);
    else if (scope != NULL && nm_dynamic_is_operator(scope, name))
        found = nm_dynamic_find(scope, name);
    return found != NULL && !nm_dynamic_is_entry(found) ? nm_operator_wrap(name, found) : NULL;
}

/* A function that we stand in front of, in a library that the caller alone sees; NULL: the loader finds the right one, our
 * hook, a tool's in front of us, or none. */
static void *default_function(const char *name, void *scope, const void *caller)
{
    bool is_everybodys = nm_runtime_show(name);
    void *found = NULL;

    if (scope != NULL && (!is_everybodys || nm_dynamic_has_deep_binding()))
        found = nm_dynamic_find(scope, name);
    return found != NULL ? nm_runtime_lead(name, found, caller) : NULL;
}

/* RTLD_DEFAULT: what everybody has and what the caller's own library has, which only a jump gets right. So the loader is
 * asked, unless the answer is certain and would lead past us. */
static nm_answer answer_default(const char *name, const void *caller)
{
    void *scope = scope_of(caller);
    nm_answer answer = {NULL, 0};

    if (strncmp(name, "aclnn", 5) == 0)
        answer.value = default_operator(name, scope);
    if (answer.value == NULL && nm_runtime_hook(name) != NULL)
        answer.value = default_function(name, scope, caller);
    answer.is_given = answer.value != NULL;
    return answer;
}

/* Of names that cannot be ours the loader is asked by the program itself. */
nm_answer nm_dynamic_answer(void *handle, const char *name, const void *caller)
{
    nm_answer answer = {NULL, 0};
    int saved_errno = errno;

    if (!is_ready() || nm_record_is_privileged())
        return answer;
    nm_rebind_due();
    nm_record_lookup();
    if (may_be_canns(name) && !is_next_tools(caller)) {
        if (handle != RTLD_DEFAULT)
            return answer_handle(handle, name, caller, saved_errno);
        answer = answer_default(name, caller);
    }
    errno = saved_errno;
    return answer;
}

/* ---- Opening and closing ------------------------------------------------------------------------------------------- */

/* Where a library is found by its name alone follows from the caller's own search path, a $ORIGIN is the caller's, and a
 * caller with an old-style search path hands it on to what the library needs: all that is handed on. */
uintptr_t nm_dynamic_is_called(const char *name, int flags)
{
    int saved_errno = errno;
    bool is_called = false;

    if (is_ready() && !nm_record_is_privileged()) {
        nm_rebind_due();
        if ((flags & RTLD_NOLOAD) == 0)
            nm_record_load();             /* before, where we do not see the end of it */
        if ((flags & RTLD_DEEPBIND) != 0) /* relaxed: see nm_dynamic_has_deep_binding. */
            atomic_store_explicit(&has_deep_binding, true, memory_order_relaxed);
        is_called = nm_dynamic_next_dlopen != NULL && name != NULL && strchr(name, '/') != NULL &&
                    strchr(name, '$') == NULL && !nm_rebind_has_search_path();
        if (!is_called && name != NULL)
            nm_rebind_later();
    }
    errno = saved_errno;
    return is_called;
}

void *nm_dynamic_dlopen(const char *name, int flags)
{
    void *library = nm_dynamic_next_dlopen(name, flags);
    int saved_errno = errno;

    if (library != NULL) {
        nm_rebind_new();
        nm_record_load();
    }
    errno = saved_errno;
    return library;
}

/* Its caller does not matter to the loader. */
int dlclose(void *library)
{
    int saved_errno = errno;
    int result;

    if (!is_ready() || next_dlclose == NULL)
        return -1; /* without a loader nobody can have opened anything */
    nm_rebind_due();
    errno = saved_errno;
    result = next_dlclose(library);
    saved_errno = errno;
    nm_rebind_forget();
    nm_record_unload();
    errno = saved_errno;
    return result;
}
