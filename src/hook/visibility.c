/* SPDX-License-Identifier: Apache-2.0
 *
 * An exported name has an entry in the table of versions beside its symbol. The loader skips, when it looks up for dlsym, a
 * name whose version has a number of 2 or more and is not the default one (bit 15); when it binds a reference without a
 * version, only from 3 on. So version 2, not the default, is found by the linked program and not by dlsym. One entry of
 * this library's own table is changed for that, in its private copy of the page.
 */
#include "hook/visibility.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hook/linker.h"
#include "record/machine.h"

#define VERSION_SHOWN  1
#define VERSION_HIDDEN (0x8000 | 2)

typedef int find_symbol(const void *address, Dl_info *info, void **extra, int flags);

static uintptr_t table_at(uintptr_t base, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == tag)
            return entry->d_un.d_ptr < base ? base + entry->d_un.d_ptr : entry->d_un.d_ptr;
    }
    return 0;
}

/* NULL: the loader does not know the function by its exact address. */
static uint16_t *version_of(const void *function)
{
    find_symbol *find = (find_symbol *)nm_linker_find(RTLD_NEXT, "dladdr1");
    const ElfW(Sym) *symbol = NULL;
    uintptr_t symbols, versions;
    Dl_info info;

    if (find == NULL || find(function, &info, (void **)&symbol, RTLD_DL_SYMENT) == 0 || symbol == NULL ||
        info.dli_saddr != function)
        return NULL;
    symbols = table_at((uintptr_t)info.dli_fbase, DT_SYMTAB);
    versions = table_at((uintptr_t)info.dli_fbase, DT_VERSYM);
    if (symbols == 0 || versions == 0)
        return NULL;
    return (uint16_t *)versions + ((uintptr_t)symbol - symbols) / sizeof *symbol;
}

bool nm_visibility_set_hidden(const void *function, bool is_hidden)
{
    uint16_t *version = version_of(function);
    uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t page = (uintptr_t)version & -page_bytes;
    uint16_t before = is_hidden ? VERSION_SHOWN : VERSION_HIDDEN;

    /* The library is linked so that no code lies on these pages. The page stays writable: another thread may be about to
     * write to it. */
    if (version == NULL || nm_call(SYS_mprotect, (long)page, (long)page_bytes, PROT_READ | PROT_WRITE, 0, 0, 0) != 0)
        return false;
    /* relaxed: a number. */
    __atomic_compare_exchange_n(version, &before, is_hidden ? VERSION_HIDDEN : VERSION_SHOWN, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
    return true;
}
