/* SPDX-License-Identifier: Apache-2.0
 *
 * What a loaded module imports, read from its own tables in memory. Every table and text is checked to lie in the module's
 * loaded segments before it is read.
 */
#ifndef NM_HOOK_ELF_H
#define NM_HOOK_ELF_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct nm_elf_table {
    const ElfW(Rela) * entries;
    size_t count;
} nm_elf_table;

/* A module, borrowed from the loader: valid as long as it is loaded. */
typedef struct nm_elf {
    uintptr_t base;
    const ElfW(Phdr) * segments;
    unsigned segment_count;
    const ElfW(Sym) * symbols;
    const char *strings;
    size_t strings_bytes;
    size_t import_end;        /* symbols from here on are not imported */
    nm_elf_table relocations; /* those that bind names, or all */
    nm_elf_table calls;       /* of the table for calls */
    bool has_search_path;     /* DT_RPATH, and no DT_RUNPATH */
} nm_elf;

/* False: there is nothing that it could import, or its tables cannot be read. `is_program`: the executable itself, whose
 * imports may stand anywhere among its symbols. */
bool nm_elf_read(const struct dl_phdr_info *info, bool is_program, nm_elf *out);

/* The name of an imported symbol, ended inside the table; NULL: not imported, or not readable. */
const char *nm_elf_import(const nm_elf *elf, size_t index);

/* True: the module goes on without it. */
bool nm_elf_is_weak(const nm_elf *elf, size_t index);

/* The word that a relocation binds to a function's address: for calls (*is_call), in the table of globals, or a pointer in
 * data. NULL: it is of another kind, or lies where the module may not be written. */
uintptr_t *nm_elf_slot(const nm_elf *elf, const ElfW(Rela) * relocation, bool *is_call);

static inline size_t nm_elf_symbol(const ElfW(Rela) * relocation)
{
    return (size_t)(relocation->r_info >> 32);
}

/* True: the address lies in the module. */
bool nm_elf_has(const nm_elf *elf, uintptr_t address);

/* What the loader has made read-only after it bound the names; begin == end: nothing. */
void nm_elf_sealed(const nm_elf *elf, uintptr_t *begin, uintptr_t *end);

#endif
