/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks at each library once, after it was loaded; see rebind.h. Under the loader's list the new ones are sorted out: which
 * import something that we stand in front of. Those are then held by a handle of their own, one after the other, which
 * waits for a loader that is still at work on them in another thread, and keeps them from being unloaded; and their words
 * are changed by compare-and-swap, since names that are bound late are bound at any time.
 *
 * A word is changed only where it is certain what it leads to: the very function behind our hook, one of CANN's, or the
 * loader's own. Whatever leads into another library stays: it is a tool, which has its place, or a library with functions
 * of its own under such names, and what those call is seen where they call it.
 *
 * Only one thread does it; others go on without waiting, for they may hold what the first one waits for.
 */
#include "hook/rebind.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "hook/elf.h"
#include "hook/library.h"
#include "hook/linker.h"
#include "hook/notes.h"
#include "hook/operators.h"
#include "hook/runtime.h"
#include "record/machine.h"
#include "record/record.h"

#define MODULES_MAX    16384
#define PATH_BYTES_MAX 4096
#define WANTED_MAX     256 /* imports that are looked for at a time */

/* A module that was seen, by what the loader keeps of it. */
typedef struct seen_module {
    uintptr_t base;
    const ElfW(Phdr) * segments;
    bool is_waiting; /* to be looked at */
} seen_module;

/* What the thread that has the lock works with. */
static struct work {
    _Atomic int owner; /* process of the thread that is at work; 0: none */
    size_t seen_count;
    seen_module seen[MODULES_MAX]; /* in the loader's order, which new modules end */
    nm_elf elf;                    /* the module at hand */
    char path[PATH_BYTES_MAX];
    size_t wanted_count;
    struct wanted {
        size_t index; /* of the symbol */
        const char *name;
        bool is_weak;
    } wanted[WANTED_MAX];
    uintptr_t sealed_begin; /* of the module: read-only since its names were bound */
    uintptr_t sealed_end;
    bool is_unsealed; /* and may be written at the moment */
    bool is_unseen;   /* some of its calls could not be led through the hooks */
} work;

static _Atomic bool is_due_always; /* libraries come without our seeing when */
static _Atomic bool has_waiting;   /* modules that were listed and not looked at */
static _Atomic bool has_search_path;
static _Atomic uint64_t last_adds; /* the loader's count of libraries loaded, when we last looked */
static _Atomic uint64_t last_subs; /* and of those unloaded */

bool nm_rebind_has_search_path(void)
{
    return atomic_load_explicit(&has_search_path, memory_order_relaxed); /* relaxed: a flag */
}

/* ---- The lock ------------------------------------------------------------------------------------------------------ */

/* Never waits. A child does not inherit the thread that had it. */
static bool try_lock(void)
{
    int pid = (int)nm_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
    int owner = atomic_load_explicit(&work.owner, memory_order_relaxed); /* relaxed: decided below. */

    /* acquire: pairs with the release in unlock. */
    return owner != pid && atomic_compare_exchange_strong_explicit(&work.owner, &owner, pid, memory_order_acquire,
                                                                   memory_order_relaxed);
}

static void unlock(void)
{
    atomic_store_explicit(&work.owner, 0, memory_order_release); /* release: pairs with the acquire in try_lock. */
}

/* ---- What is new --------------------------------------------------------------------------------------------------- */

/* Our hook of that name, or NULL. In the usual order of binding they come before what stands behind them by themselves. */
static void *hook_of(const char *name)
{
    void *hook;

    if (!nm_linker_has_deep_binding())
        return NULL;
    hook = nm_linker_hook(name);
    return hook != NULL ? hook : nm_runtime_hook(name);
}

/* Quickly: most imports of most libraries are others. */
static bool may_be_wanted(const char *name)
{
    return strncmp(name, "acl", 3) == 0 || strncmp(name, "hal", 3) == 0 || strncmp(name, "Hccl", 4) == 0 ||
           name[0] == 'd' || name[0] == '_';
}

static bool is_wanted(const nm_elf *elf, size_t index, const char *name)
{
    if (!may_be_wanted(name))
        return false;
    return strncmp(name, "aclnn", 5) == 0 || hook_of(name) != NULL ||
           (nm_elf_is_weak(elf, index) && nm_runtime_hook(name) != NULL);
}

static bool imports_wanted(const nm_elf *elf)
{
    for (size_t i = 1; i < elf->import_end; i++) {
        const char *name = nm_elf_import(elf, i);

        if (name != NULL && is_wanted(elf, i, name))
            return true;
    }
    return false;
}

/* What is to be known of a module that is new. True: it has imports to lead through the hooks. */
static bool judge(const struct dl_phdr_info *info)
{
    bool is_program = info->dlpi_name == NULL || info->dlpi_name[0] == 0;
    nm_elf elf;
    bool is_read = nm_elf_read(info, is_program, &elf);

    if (!is_program && nm_library_is_cann_path(info->dlpi_name)) /* relaxed: flags */
        nm_runtime_count_cann();
    if (!is_program && elf.has_search_path)
        atomic_store_explicit(&has_search_path, true, memory_order_relaxed);
    return is_read && !nm_elf_has(&elf, (uintptr_t)&work) && imports_wanted(&elf);
}

typedef struct walk {
    size_t place;  /* in the order of what was seen */
    bool is_taken; /* work.path is the first module that waits */
} walk;

/* Makes room for a module at `place`; what the loader no longer has is dropped. */
static bool find_seen(const struct dl_phdr_info *info, size_t place)
{
    size_t at = place;

    while (at < work.seen_count && (work.seen[at].base != info->dlpi_addr || work.seen[at].segments != info->dlpi_phdr))
        at++;
    if (at == work.seen_count)
        return false;
    memmove(&work.seen[place], &work.seen[at], (work.seen_count - at) * sizeof *work.seen);
    work.seen_count -= at - place;
    return true;
}

static void add_seen(const struct dl_phdr_info *info, size_t place)
{
    memmove(&work.seen[place + 1], &work.seen[place], (work.seen_count - place) * sizeof *work.seen);
    work.seen_count++;
    work.seen[place] = (seen_module){info->dlpi_addr, info->dlpi_phdr, judge(info)};
}

/* Remembers the module by its path alone: nothing else of it is valid once the list is let go. */
static void take(const struct dl_phdr_info *info, seen_module *module, walk *at)
{
    size_t len = strnlen(info->dlpi_name, sizeof work.path);

    module->is_waiting = false;
    at->is_taken = len < sizeof work.path;
    if (at->is_taken)
        memcpy(work.path, info->dlpi_name, len + 1);
}

static int visit(struct dl_phdr_info *info, size_t size, void *context)
{
    walk *at = context;

    (void)size;
    /* relaxed: numbers to compare with. */
    atomic_store_explicit(&last_adds, info->dlpi_adds, memory_order_relaxed);
    atomic_store_explicit(&last_subs, info->dlpi_subs, memory_order_relaxed);
    if (!find_seen(info, at->place)) {
        if (work.seen_count == MODULES_MAX)
            return 1;
        add_seen(info, at->place);
        if (work.seen[at->place].is_waiting) /* relaxed: a flag */
            atomic_store_explicit(&has_waiting, true, memory_order_relaxed);
    }
    if (work.seen[at->place].is_waiting && !at->is_taken)
        take(info, &work.seen[at->place], at);
    at->place++;
    return 0;
}

static void list_modules(walk *at)
{
    dl_iterate_phdr(visit, at);
    if (at->place < work.seen_count && work.seen_count < MODULES_MAX)
        work.seen_count = at->place;
}

/* Brings the list up to date and takes the first module that waits; false: none does. */
static bool take_next(void)
{
    walk at = {0};

    list_modules(&at);
    return at.is_taken;
}

/* ---- One word ------------------------------------------------------------------------------------------------------ */

/* The word leads back into its own module: its name is bound at the first call. */
static bool is_late(bool is_call, uintptr_t value)
{
    return is_call && nm_elf_has(&work.elf, value);
}

/* Where a call that is bound late goes, as the loader would bind it: NULL if that is not certain. */
static void *late_hook(const char *name, void *hook)
{
    /* Bound in the usual order it comes to our hook, or to a tool in front of us, by itself. */
    return nm_linker_has_deep_binding() && nm_linker_find(RTLD_DEFAULT, name) == hook ? hook : NULL;
}

static void *bound_hook(const char *name, void *hook, const void *function)
{
    const void *real = nm_runtime_real(name);
    nm_library behind, library;

    if (nm_linker_hook(name) != NULL)
        return nm_linker_is_own(name, function) ? hook : NULL;
    if (function == real)
        return hook;
    if (real == NULL || !nm_library_find(real, &behind) || !nm_library_find(function, &library) || !library.is_cann)
        return NULL;
    if (!behind.is_cann) /* a tool would get calls that do not come to it without us */
        work.is_unseen = true;
    return behind.is_cann ? hook : NULL;
}

/* The operator that a word of `name` leads to, as the loader would bind it if that is still to be done. NULL: it is not
 * certain, or calls go by an entry that is looked at by itself. */
static void *operator_behind(void *handle, const char *name, bool is_bound_late, uintptr_t value)
{
    void *found = (void *)value;

    if (is_bound_late) {
        found = nm_linker_find(RTLD_DEFAULT, name);
        if (found != NULL && nm_linker_is_entry(found))
            found = nm_linker_find(RTLD_NEXT, name);
        if (found == NULL)
            found = nm_linker_find(handle, name);
    }
    return found != NULL && !nm_linker_is_entry(found) ? found : NULL;
}

/* What a word of `name` that holds `value` should hold; NULL: it stays. */
static void *target_of(void *handle, const char *name, bool is_bound_late, uintptr_t value)
{
    void *hook = hook_of(name);
    void *found;

    if (hook != NULL && (uintptr_t)hook != value)
        return is_bound_late ? late_hook(name, hook) : bound_hook(name, hook, (const void *)value);
    if (hook != NULL || !(nm_linker_is_operator(RTLD_DEFAULT, name) || nm_linker_is_operator(handle, name)))
        return NULL;
    found = operator_behind(handle, name, is_bound_late, value);
    return found != NULL ? nm_operator_wrap(name, found) : NULL;
}

/* Opens or closes the part of the module that has been read-only since its names were bound. */
static bool seal(int protection)
{
    return nm_call(SYS_mprotect, (long)work.sealed_begin, (long)(work.sealed_end - work.sealed_begin), protection, 0, 0,
                   0) == 0;
}

static bool may_write(uintptr_t slot)
{
    if (work.is_unsealed || slot < work.sealed_begin || slot >= work.sealed_end)
        return true;
    work.is_unsealed = seal(PROT_READ | PROT_WRITE);
    return work.is_unsealed;
}

static void write_slot(uintptr_t *slot, uintptr_t value, uintptr_t target)
{
    /* relaxed: the address of a function. A word that changed meanwhile was bound or set by the program. */
    if (!may_write((uintptr_t)slot) ||
        !__atomic_compare_exchange_n(slot, &value, target, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        work.is_unseen = true;
}

/* A program that asks for the address of a function that its CANN may lack, by a weak reference, has got our hook's. */
static bool is_lacking(void *handle, const struct wanted *wanted, uintptr_t value)
{
    return wanted->is_weak && value == (uintptr_t)nm_runtime_hook(wanted->name) && !nm_runtime_show(wanted->name) &&
           nm_linker_find(handle, wanted->name) == NULL;
}

static void lead_slot(void *handle, const struct wanted *wanted, uintptr_t *slot, bool is_call)
{
    uintptr_t value = __atomic_load_n(slot, __ATOMIC_RELAXED); /* relaxed: see write_slot. */
    void *target;

    if (value == 0 || (!is_call && nm_elf_has(&work.elf, value)))
        return;
    if (is_lacking(handle, wanted, value)) {
        write_slot(slot, value, 0);
        return;
    }
    target = target_of(handle, wanted->name, is_late(is_call, value), value);
    if (target != NULL && (uintptr_t)target != value)
        write_slot(slot, value, (uintptr_t)target);
}

/* ---- One module ---------------------------------------------------------------------------------------------------- */

static const struct wanted *find_wanted(size_t index)
{
    size_t low = 0, high = work.wanted_count;

    if (high == 0 || index < work.wanted[0].index || index > work.wanted[high - 1].index)
        return NULL;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (work.wanted[middle].index == index)
            return &work.wanted[middle];
        if (work.wanted[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void lead_table(void *handle, const nm_elf_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct wanted *wanted = find_wanted(nm_elf_symbol(&table->entries[i]));
        bool is_call;
        uintptr_t *slot = wanted != NULL ? nm_elf_slot(&work.elf, &table->entries[i], &is_call) : NULL;

        if (slot != NULL)
            lead_slot(handle, wanted, slot, is_call);
    }
}

/* Gathers imports from symbol `from` on; where the next round begins. */
static size_t gather_wanted(size_t from)
{
    work.wanted_count = 0;
    for (; from < work.elf.import_end && work.wanted_count < WANTED_MAX; from++) {
        const char *name = nm_elf_import(&work.elf, from);

        if (name != NULL && is_wanted(&work.elf, from, name))
            work.wanted[work.wanted_count++] = (struct wanted){from, name, nm_elf_is_weak(&work.elf, from)};
    }
    return from;
}

static int read_module(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    if (info->dlpi_addr != *(const uintptr_t *)context)
        return 0;
    return nm_elf_read(info, work.path[0] == 0, &work.elf) ? 1 : 2;
}

static void lead_words(void *handle)
{
    work.is_unsealed = work.is_unseen = false;
    nm_elf_sealed(&work.elf, &work.sealed_begin, &work.sealed_end);
    for (size_t from = 1; from < work.elf.import_end;) {
        from = gather_wanted(from);
        lead_table(handle, &work.elf.calls);
        lead_table(handle, &work.elf.relocations);
    }
    if (work.is_unsealed)
        seal(PROT_READ);
    if (work.is_unseen)
        nm_notes_add(NM_NOTE_UNSEEN_LIBRARY, work.path);
}

/* While it is held it stays, and so does all that is read of it. */
static void lead_module(void)
{
    void *handle = nm_linker_hold(work.path);
    uintptr_t base;

    if (handle == NULL)
        return;
    base = nm_linker_base(handle);
    if (dl_iterate_phdr(read_module, &base) == 1)
        lead_words(handle);
    nm_linker_release(handle);
}

/* ---- The calls ----------------------------------------------------------------------------------------------------- */

static int compare_counts(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size, (void)context;
    /* relaxed: numbers. */
    return info->dlpi_adds != atomic_load_explicit(&last_adds, memory_order_relaxed) ? 1 : 2;
}

static bool has_new(void)
{
    return atomic_load_explicit(&has_waiting, memory_order_relaxed) || /* relaxed: a flag */
           dl_iterate_phdr(compare_counts, NULL) == 1;
}

void nm_rebind_new(void)
{
    uint32_t known_count;
    bool has_more;

    if (!has_new())
        return;
    if (!try_lock()) {
        nm_rebind_later();
        return;
    }
    /* relaxed: a count and a flag, written under the lock. */
    known_count = nm_runtime_cann_count();
    has_more = take_next();
    if (nm_runtime_cann_count() != known_count)
        nm_runtime_find();
    while (has_more) {
        lead_module();
        has_more = take_next();
    }
    atomic_store_explicit(&has_waiting, false, memory_order_relaxed);
    unlock();
    nm_linker_forget_error();
}

void nm_rebind_later(void)
{
    atomic_store_explicit(&is_due_always, true, memory_order_relaxed); /* relaxed: a flag */
}

void nm_rebind_due(void)
{
    if (atomic_load_explicit(&is_due_always, memory_order_relaxed)) /* relaxed: a flag */
        nm_rebind_new();
}

static int compare_unloads(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size, (void)context;
    /* relaxed: numbers. */
    return info->dlpi_subs != atomic_load_explicit(&last_subs, memory_order_relaxed) ? 1 : 2;
}

void nm_rebind_forget(void)
{
    walk at = {.is_taken = true}; /* to list, no more */

    if (dl_iterate_phdr(compare_unloads, NULL) != 1)
        return;
    nm_runtime_forget();
    if (!try_lock())
        return;
    list_modules(&at);
    unlock();
}

/* ---- At load ------------------------------------------------------------------------------------------------------- */

__attribute__((constructor)) static void find_at_load(void)
{
    int saved_errno = errno;

    nm_runtime_find();
    if (!nm_record_is_privileged())
        nm_rebind_new();
    errno = saved_errno;
}
