/* SPDX-License-Identifier: Apache-2.0
 *
 * The way in. The library of mstx (and every library that has compiled mstx into itself) asks at its first call for the
 * first InitInjectionMstx that its loader finds, and gives it tables of functions to fill: ours are put there. Who would
 * have been asked without us is asked by us, with tables of our own, from which our functions call it: msprof's, for one,
 * records marks as before. Its tables are one set for the process, because its functions are.
 *
 * What a newer library has beyond the functions known here goes to the next tool directly.
 */
#include "hook/mstx.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hook/library.h"
#include "hook/linker.h"
#include "hook/notes.h"
#include "record/record.h"

#define INIT_NAME      "InitInjectionMstx"
#define INJECTION_PATH "MSTX_INJECTION_PATH"
#define TORCH_NAME     "libtorch_npu.so"
#define GATE_NAME      "libascend_kernel_hook.so" /* see npumem-record's --no-pool-events */

/* Of the next tool: the slots that it fills, and the table that it gets, of them and of what is not known here. */
typedef struct tables {
    nm_mstx_pointer slots[NM_MSTX_ID_MAX + 1];
    nm_mstx_pointer *entries[NM_MSTX_ID_MAX + 1];
    unsigned size; /* ids below it are there; 0: the library has no such module */
} tables;

static tables next_tables[NM_MSTX_MODULE_MAX + 1];

/* The library's that asked last: for modules that are not known here. */
static nm_mstx_get_table *last_get;

static bool was_asked;           /* by some library */
static bool has_other_injection; /* which is asked instead of us */

nm_mstx_pointer nm_mstx_next(int module, int id)
{
    /* acquire: a function is called after what its tool did before it was set. */
    return __atomic_load_n(&next_tables[module].slots[id], __ATOMIC_ACQUIRE);
}

void nm_mstx_on_get_tool_id(uint64_t *tool)
{
    nm_mstx_get_tool_id *next = NM_MSTX_NEXT(get_tool_id);

    if (next != NULL)
        next(tool);
}

/* ---- The library's tables ------------------------------------------------------------------------------------------ */

/* Ours by module and id; NULL: not known here. */
static nm_mstx_pointer const *own_functions(int module)
{
#define OWN(its_module, id, name, result, parameters) [its_module][id] = (nm_mstx_pointer)nm_mstx_on_##name,
    static nm_mstx_pointer const functions[NM_MSTX_MODULE_MAX + 1][NM_MSTX_ID_MAX + 1] = {NM_MSTX_FUNCTIONS(OWN)};
#undef OWN

    return functions[module];
}

/* What the library says is believed only where it gives a table: how it says that it has none differs. */
static unsigned get_table(nm_mstx_get_table *get, int module, nm_mstx_table *table)
{
    unsigned size = 0;

    *table = NULL;
    get(module, table, &size);
    if (*table == NULL)
        return 0;
    return size <= NM_MSTX_ID_MAX ? size : NM_MSTX_ID_MAX + 1;
}

static void fill_table(nm_mstx_get_table *get, int module)
{
    nm_mstx_pointer const *own = own_functions(module);
    nm_mstx_table table;
    unsigned size = get_table(get, module, &table);

    for (unsigned id = 1; id < size; id++) {
        if (own[id] != NULL && table[id] != NULL) /* relaxed: the library publishes it after we have returned */
            __atomic_store_n(table[id], own[id], __ATOMIC_RELAXED);
    }
}

/* ---- The next tool's tables ---------------------------------------------------------------------------------------- */

/* Stores only what differs: several libraries may ask at once, and all of them offer the same. */
#define OFFER(place, value)                                                                                            \
    do {                                                                                                               \
        if (__atomic_load_n(&(place), __ATOMIC_RELAXED) != (value))                                                    \
            __atomic_store_n(&(place), (value), __ATOMIC_RELAXED);                                                     \
    } while (0)

static void prepare_offer(nm_mstx_get_table *get, int module)
{
    nm_mstx_pointer const *own = own_functions(module);
    tables *next = &next_tables[module];
    nm_mstx_table table;
    unsigned size = get_table(get, module, &table);

    for (unsigned id = 1; id < size; id++) {
        nm_mstx_pointer *entry = table[id] != NULL && own[id] != NULL ? &next->slots[id] : table[id];

        OFFER(next->entries[id], entry);
    }
    OFFER(next->size, size);
}

static int give_table(int module, nm_mstx_table *table, unsigned *size)
{
    nm_mstx_get_table *get = __atomic_load_n(&last_get, __ATOMIC_RELAXED);

    if (table == NULL || size == NULL)
        return NM_MSTX_FAIL;
    if (module < 1 || module > NM_MSTX_MODULE_MAX)
        return get(module, table, size);
    *size = __atomic_load_n(&next_tables[module].size, __ATOMIC_RELAXED);
    if (*size == 0)
        return NM_MSTX_FAIL;
    *table = next_tables[module].entries;
    return NM_MSTX_SUCCESS;
}

/* ---- The next tool ------------------------------------------------------------------------------------------------- */

/* A library that was opened out of everybody's sight is not behind us; the one that asks may yet have it in its own.
 * msprof's are known by name. */
static nm_mstx_init *find_opened(void)
{
    static const char *const libraries[] = {"libprofapi.so", "libmsprofiler.so"};

    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        /* For good: its functions are called. */
        void *library = nm_library_is_loaded(libraries[i]) ? nm_linker_hold(libraries[i]) : NULL;
        void *found = library != NULL ? nm_linker_find(library, INIT_NAME) : NULL;

        if (found != NULL && found != (void *)InitInjectionMstx)
            return (nm_mstx_init *)found;
    }
    return NULL;
}

/* Looked for anew each time: it may have come meanwhile. The library that asks us has just looked a name up itself. */
static nm_mstx_init *find_next(void)
{
    void *found = nm_linker_find(RTLD_NEXT, INIT_NAME);

    return found != NULL ? (nm_mstx_init *)found : find_opened();
}

/* A tool that fails has no function called: so it is with the library, which then forgets all that was set. */
static void forget_next(void)
{
    for (int module = 1; module <= NM_MSTX_MODULE_MAX; module++) {
        for (int id = 0; id <= NM_MSTX_ID_MAX; id++)
            __atomic_store_n(&next_tables[module].slots[id], NULL, __ATOMIC_RELAXED);
    }
}

static void hand_on(nm_mstx_get_table *get)
{
    static bool has_succeeded; /* once: what it set then stays */
    nm_mstx_init *next = find_next();

    if (next == NULL)
        return;
    __atomic_store_n(&last_get, get, __ATOMIC_RELAXED);
    for (int module = 1; module <= NM_MSTX_MODULE_MAX; module++)
        prepare_offer(get, module);
    if (next(give_table) == NM_MSTX_SUCCESS)
        __atomic_store_n(&has_succeeded, true, __ATOMIC_RELAXED);
    else if (!__atomic_load_n(&has_succeeded, __ATOMIC_RELAXED))
        forget_next();
}

int InitInjectionMstx(nm_mstx_get_table *get)
{
    int saved_errno = errno;

    if (get == NULL || get == give_table) /* ours: the next tool handed it back to us */
        return NM_MSTX_SUCCESS;
    if (nm_record_is_privileged()) {
        nm_mstx_init *next = find_next();

        return next != NULL ? next(get) : NM_MSTX_FAIL;
    }
    __atomic_store_n(&was_asked, true, __ATOMIC_RELAXED);
    hand_on(get);
    nm_linker_forget_error();
    for (int module = 1; module <= NM_MSTX_MODULE_MAX; module++)
        fill_table(get, module);
    errno = saved_errno;
    return NM_MSTX_SUCCESS;
}

/* ---- What is not seen ---------------------------------------------------------------------------------------------- */

/* Where the path names nothing that can be opened, the library asks us all the same. */
__attribute__((constructor)) static void look_for_other_injection(void)
{
    const char *path = secure_getenv(INJECTION_PATH);
    void *library = path != NULL ? nm_linker_hold(path) : NULL;

    if (path == NULL || (library != NULL && nm_linker_find(library, INIT_NAME) == (void *)InitInjectionMstx))
        return;
    has_other_injection = true;
    nm_notes_add(NM_NOTE_NO_POOL_EVENTS, INJECTION_PATH " names another tool, which is told instead");
}

static const char *why_no_pool(void)
{
    const char *preload = secure_getenv("LD_PRELOAD");

    if (preload == NULL || strstr(preload, GATE_NAME) == NULL)
        return "torch_npu: recorded with --no-pool-events";
    if (!was_asked)
        return "torch_npu: its library of mstx is not there, or asks for no tool";
    return "torch_npu: it made no domain for its pools";
}

/* At the end, since a domain may be made late. In a program of torch_npu alone: others have no such pool. No file is looked
 * for: a program may end in a sandbox that kills for that. */
__attribute__((destructor)) static void tell_what_was_not_seen(void)
{
    if (!nm_record_has_joined() || nm_mstx_has_pool() || (has_other_injection && !was_asked))
        return;
    if (nm_library_is_loaded(TORCH_NAME))
        nm_record_note(NM_NOTE_NO_POOL_EVENTS, 0, why_no_pool());
}
