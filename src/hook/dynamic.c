/* SPDX-License-Identifier: Apache-2.0
 *
 * dlsym, dlopen and dlclose in front of the loader's own: a program that looks CANN's functions up in a library that it
 * opened itself finds the hooks, and what it opens later is looked at (rebind.h).
 *
 * The loader takes the address that its functions return to for the caller: what RTLD_NEXT and RTLD_DEFAULT mean, where
 * a library is searched for, and which one a name's error speaks of, all follow from it. So whatever depends on it is
 * handed on by a jump, with the stack as it came (dynamic_entry.c). Only a lookup by handle, and the opening
 * of a library by its path, are called from here.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "hook/library.h"
#include "hook/linker.h"
#include "hook/notes.h"
#include "hook/operators.h"
#include "hook/rebind.h"
#include "hook/runtime.h"
#include "record/record.h"

#define HIDDEN   __attribute__((visibility("hidden")))
#define EXPORTED __attribute__((visibility("default")))

typedef struct nm_answer { /* of the C part of an entry: both words in registers */
    void *value;
    uintptr_t is_given; /* 0: hand the call on */
} nm_answer;

HIDDEN nm_answer nm_dynamic_answer(void *handle, const char *name, const void *caller);
HIDDEN uintptr_t nm_dynamic_is_called(const char *name, int flags);
HIDDEN void *nm_dynamic_dlopen(const char *name, int flags);
EXPORTED int dlclose(void *library);

/* ---- Lookups ------------------------------------------------------------------------------------------------------- */

static bool may_be_canns(const char *name)
{
    return name != NULL &&
           (strncmp(name, "acl", 3) == 0 || strncmp(name, "hal", 3) == 0 || strncmp(name, "Hccl", 4) == 0);
}

/* A lookup by handle. Our own lookups come first and the program's last, so that dlerror speaks of it. */
static nm_answer answer_handle(void *handle, const char *name, const void *caller, int saved_errno)
{
    bool is_operator = nm_linker_is_operator(handle, name);
    nm_answer answer = {NULL, 1};
    void *wrapped = NULL;

    errno = saved_errno;
    answer.value = nm_linker_next_dlsym(handle, name);
    saved_errno = errno;
    if (answer.value != NULL && is_operator)
        wrapped = nm_linker_is_entry(answer.value) ? NULL : nm_operator_wrap(name, answer.value);
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
    handle = nm_linker_hold(library.path);
    if (handle != NULL)
        nm_linker_release(handle);
    return handle;
}

/* An operator, or NULL: they have no names of ours, so they have to be looked up to be wrapped. */
static void *default_operator(const char *name, void *scope)
{
    void *found = NULL;

    if (nm_linker_is_operator(RTLD_DEFAULT, name))
        found = nm_linker_find(RTLD_DEFAULT, name);
    else if (scope != NULL && nm_linker_is_operator(scope, name))
        found = nm_linker_find(scope, name);
    return found != NULL && !nm_linker_is_entry(found) ? nm_operator_wrap(name, found) : NULL;
}

/* A function that we stand in front of, in a library that the caller alone sees; NULL: the loader finds the right one, our
 * hook, a tool's in front of us, or none. */
static void *default_function(const char *name, void *scope, const void *caller)
{
    bool is_everybodys = nm_runtime_show(name);
    void *found = NULL;

    if (scope != NULL && (!is_everybodys || nm_linker_has_deep_binding()))
        found = nm_linker_find(scope, name);
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

    if (!nm_linker_is_ready() || nm_record_is_privileged())
        return answer;
    nm_rebind_due();
    nm_record_lookup();
    if (may_be_canns(name) && !nm_linker_is_next_tools(caller)) {
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

    if (nm_linker_is_ready() && !nm_record_is_privileged()) {
        nm_rebind_due();
        if ((flags & RTLD_NOLOAD) == 0)
            nm_record_load(); /* before, where we do not see the end of it */
        if ((flags & RTLD_DEEPBIND) != 0)
            nm_linker_bind_deep();
        is_called = nm_linker_next_dlopen != NULL && name != NULL && strchr(name, '/') != NULL &&
                    strchr(name, '$') == NULL && !nm_rebind_has_search_path();
        if (!is_called && name != NULL)
            nm_rebind_later();
    }
    errno = saved_errno;
    return is_called;
}

void *nm_dynamic_dlopen(const char *name, int flags)
{
    void *library = nm_linker_next_dlopen(name, flags);
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

    if (!nm_linker_is_ready() || nm_linker_next_dlclose == NULL)
        return -1; /* without a loader nobody can have opened anything */
    nm_rebind_due();
    errno = saved_errno;
    result = nm_linker_next_dlclose(library);
    saved_errno = errno;
    nm_rebind_forget();
    nm_record_unload();
    errno = saved_errno;
    return result;
}
