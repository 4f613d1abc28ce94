/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the real functions behind the hooks, and says where a hook may stand in for one; see runtime.h. New hooks add
 * their names to the lists there, and nothing here.
 *
 * The real function is the next one behind this library. Where that is CANN's, leading a call through the hook changes
 * nothing but that we see it. Where another tool stands in between, it keeps its place, and is never given our hook for
 * the function that it calls behind itself: it would call us, and we it, without end.
 */
#include "hook/runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#include "hook/library.h"
#include "hook/linker.h"
#include "hook/notes.h"
#include "hook/visibility.h"
#include "record/record.h"

nm_runtime nm_real;

typedef struct nm_name {
    const char *name;
    size_t len;
    size_t offset; /* of its pointer in nm_runtime */
    void *hook;    /* NULL: called, not hooked */
} nm_name;

static const nm_name names[] = {
#define HOOKED(name, parameters) {#name, sizeof #name - 1, offsetof(nm_runtime, name), (void *)(uintptr_t)name},
#define USED(name, parameters)   {#name, sizeof #name - 1, offsetof(nm_runtime, name), NULL},
    NM_HOOKED_FUNCTIONS(HOOKED) NM_HOOKED_MAKERS(HOOKED) NM_HOOKED_ENDS(HOOKED) NM_USED_FUNCTIONS(USED)
#undef HOOKED
#undef USED
};

#define NAME_COUNT (sizeof names / sizeof *names)

/* What programs load that RTLD_NEXT may not see. */
static const char *const libraries[] = {"libascendcl.so", "libacl_rt.so",          "libascend_hal.so",
                                        "libacl_mdl.so",  "libacl_op_executor.so", "libacl_op_compiler.so",
                                        "libnnopbase.so", "libopapi.so",           "libhccl.so"};

/* How many libraries had been loaded when a name was last missed, plus one. */
static uint64_t missed[NAME_COUNT];

/* Hooks that lookups do not find. */
static bool is_hidden[NAME_COUNT];

static uint32_t cann_count;

void nm_runtime_count_cann(void)
{
    __atomic_fetch_add(&cann_count, 1, __ATOMIC_RELAXED); /* relaxed: a count */
}

uint32_t nm_runtime_cann_count(void)
{
    return __atomic_load_n(&cann_count, __ATOMIC_RELAXED); /* relaxed: a count */
}

static const nm_name *find_name(const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < NAME_COUNT; i++) {
        if (names[i].len == len && memcmp(names[i].name, name, len) == 0)
            return &names[i];
    }
    return NULL;
}

static void **place_of(const nm_name *known)
{
    return (void **)((char *)&nm_real + known->offset);
}

static void *real_of(const nm_name *known)
{
    return __atomic_load_n(place_of(known), __ATOMIC_RELAXED); /* relaxed: a function needs nothing else. */
}

/* Keeps `function` unless there is one; the one that is kept. */
static void *keep(const nm_name *known, void *function)
{
    void *kept = NULL;

    /* relaxed: see real_of. */
    if (function == NULL ||
        __atomic_compare_exchange_n(place_of(known), &kept, function, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return function;
    return kept;
}

/* ---- Finding ------------------------------------------------------------------------------------------------------- */

/* Fills what is still missing from `library`, a handle or RTLD_NEXT; true when something is missing still. */
static bool find_in(void *library)
{
    bool is_missing = false;

    for (size_t i = 0; i < NAME_COUNT; i++) {
        if (real_of(&names[i]) == NULL && keep(&names[i], nm_linker_find(library, names[i].name)) == NULL)
            is_missing = true;
    }
    return is_missing;
}

/* False: hidden. */
static bool show(const nm_name *known)
{
    bool wish = nm_linker_find(RTLD_NEXT, known->name) == NULL;
    bool *state = &is_hidden[known - names];

    /* relaxed: done twice it is done. */
    if (__atomic_load_n(state, __ATOMIC_RELAXED) != wish && nm_visibility_set_hidden(known->hook, wish))
        __atomic_store_n(state, wish, __ATOMIC_RELAXED);
    return !__atomic_load_n(state, __ATOMIC_RELAXED);
}

static int find_cann(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    return nm_library_is_cann_path(info->dlpi_name);
}

/* A runtime that was opened RTLD_LOCAL is behind nobody, so RTLD_NEXT does not see it; by its name it is found, if it is
 * loaded. It is not held: when the program closes it, it goes. */
static void find_in_opened(void)
{
    if (dl_iterate_phdr(find_cann, NULL) == 0)
        return;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        void *library = nm_library_is_loaded(libraries[i]) ? nm_linker_hold(libraries[i]) : NULL;

        if (library == NULL)
            continue;
        find_in(library);
        nm_linker_release(library);
    }
    nm_runtime_forget(); /* the program may have closed one of them meanwhile */
}

/* False: it is CANN's, or of the library that was looked at last. */
static bool note_tool(const void *function, nm_library *library)
{
    if (nm_library_has(library, function) || !nm_library_find(function, library) || library->is_cann)
        return false;
    if (library->path != NULL)
        nm_notes_add(NM_NOTE_OTHER_TOOL, library->path);
    return true;
}

/* Notes who stands between us and CANN; without any CANN there is nothing to stand in front of. And who stands in front of
 * our dlsym: the lookups of programs do not come to us then. */
static void note_tools(void)
{
    nm_library library = {0};
    const void *first = nm_linker_find(RTLD_DEFAULT, "dlsym");

    if (nm_runtime_cann_count() == 0)
        return;
    for (size_t i = 0; i < NAME_COUNT; i++) {
        if (real_of(&names[i]) != NULL && note_tool(real_of(&names[i]), &library))
            nm_record_expect_tool();
    }
    if (first != NULL && first != nm_linker_hook("dlsym"))
        note_tool(first, &library);
}

void nm_runtime_find(void)
{
    int saved_errno = errno;

    if (find_in(RTLD_NEXT))
        find_in_opened();
    for (size_t i = 0; i < NAME_COUNT; i++) {
        if (__atomic_load_n(&is_hidden[i], __ATOMIC_RELAXED)) /* relaxed: see show */
            show(&names[i]);
    }
    note_tools();
    nm_linker_forget_error();
    errno = saved_errno;
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    *(uint64_t *)context = info->dlpi_adds + 1;
    return 1;
}

bool nm_runtime_look(const char *name)
{
    const nm_name *known = find_name(name);
    uint64_t *last_miss = &missed[known - names];
    uint64_t load_count = 0;

    nm_record_begin();
    dl_iterate_phdr(count_loads, &load_count);
    /* relaxed: looked for twice, it is missed twice. */
    if (__atomic_load_n(last_miss, __ATOMIC_RELAXED) == load_count)
        return false;
    nm_runtime_find();
    if (real_of(known) != NULL)
        return true;
    __atomic_store_n(last_miss, load_count, __ATOMIC_RELAXED);
    nm_notes_add(NM_NOTE_MISSING_FUNCTION, name);
    nm_notes_tell();
    return false;
}

/* ---- Leading calls through the hooks ------------------------------------------------------------------------------- */

void *nm_runtime_hook(const char *name)
{
    const nm_name *known = find_name(name);

    return known != NULL ? known->hook : NULL;
}

void *nm_runtime_real(const char *name)
{
    const nm_name *known = find_name(name);

    return known != NULL ? real_of(known) : NULL;
}

bool nm_runtime_show(const char *name)
{
    return show(find_name(name));
}

/* Another library than CANN may have a function of that name for itself: it is ours to know only when nothing else is. */
static void *adopt(const nm_name *known, void *function)
{
    nm_library library;

    if (!nm_library_find(function, &library) || !library.is_cann)
        nm_runtime_find();
    return keep(known, function);
}

static bool may_lead(void *real, void *function, const void *caller)
{
    nm_library home, other;

    if (!nm_library_find(real, &home) || nm_library_has(&home, caller))
        return false; /* who has the function itself looks for the one behind it */
    if (function != real && (!nm_library_find(function, &other) || !other.is_cann))
        return false;
    return home.is_cann || (nm_record_is_on() && !nm_record_is_inside(__builtin_frame_address(0)));
}

void *nm_runtime_lead(const char *name, void *function, const void *caller)
{
    const nm_name *known = find_name(name);
    void *real;

    if (known == NULL || known->hook == NULL || function == known->hook || nm_linker_is_entry(function))
        return function;
    real = real_of(known);
    if (real == NULL)
        real = adopt(known, function);
    return may_lead(real, function, caller) ? known->hook : function;
}

/* ---- Unloading ----------------------------------------------------------------------------------------------------- */

typedef struct loaded_functions {
    void *functions[NAME_COUNT];
    bool is_loaded[NAME_COUNT];
} loaded_functions;

static int mark_loaded(struct dl_phdr_info *info, size_t size, void *context)
{
    loaded_functions *marks = context;

    (void)size;
    for (unsigned k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[k];

        for (size_t i = 0; i < NAME_COUNT && segment->p_type == PT_LOAD; i++) {
            if ((uintptr_t)marks->functions[i] - info->dlpi_addr - segment->p_vaddr < segment->p_memsz)
                marks->is_loaded[i] = true;
        }
    }
    return 0;
}

void nm_runtime_forget(void)
{
    loaded_functions marks = {0};

    for (size_t i = 0; i < NAME_COUNT; i++)
        marks.functions[i] = real_of(&names[i]);
    dl_iterate_phdr(mark_loaded, &marks);
    for (size_t i = 0; i < NAME_COUNT; i++) {
        if (!marks.is_loaded[i]) /* relaxed: see real_of. Another may have been found meanwhile. */
            __atomic_compare_exchange_n(place_of(&names[i]), &marks.functions[i], NULL, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED);
    }
}
