/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the tables that the loader left in memory, by the module's program headers. A module may be built by anything,
 * so no offset and no count is believed: each is compared with the loaded segments before it is followed, and text must
 * end inside them. Nothing is written and nothing kept: rebind.c decides what to do with a slot.
 */
#include "hook/elf.h"

#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#define RELOCATION_CALL    R_X86_64_JUMP_SLOT
#define RELOCATION_GLOBAL  R_X86_64_GLOB_DAT
#define RELOCATION_POINTER R_X86_64_64
#else
#define RELOCATION_CALL    R_AARCH64_JUMP_SLOT
#define RELOCATION_GLOBAL  R_AARCH64_GLOB_DAT
#define RELOCATION_POINTER R_AARCH64_ABS64
#endif

/* What the dynamic section says, by tag: the few that are needed. */
typedef struct elf_dynamic {
    uintptr_t symbols, strings, gnu_hash, hash, relocations, calls;
    size_t strings_bytes, relocations_bytes, relative_count, calls_bytes;
    bool has_rpath, has_runpath, has_rela_calls;
} elf_dynamic;

/* ---- Segments ------------------------------------------------------------------------------------------------------ */

/* The loaded segment with all of [address, address + bytes). */
static const ElfW(Phdr) * segment_of(const nm_elf *elf, uintptr_t address, size_t bytes)
{
    for (unsigned i = 0; i < elf->segment_count; i++) {
        const ElfW(Phdr) *segment = &elf->segments[i];
        uintptr_t offset = address - elf->base - segment->p_vaddr;

        if (segment->p_type == PT_LOAD && offset < segment->p_memsz && bytes <= segment->p_memsz - offset)
            return segment;
    }
    return NULL;
}

/* `alignment`: of what is read there. */
static bool is_readable(const nm_elf *elf, uintptr_t address, size_t bytes, size_t alignment)
{
    const ElfW(Phdr) *segment = segment_of(elf, address, bytes);

    return segment != NULL && (segment->p_flags & PF_R) != 0 && address % alignment == 0;
}

bool nm_elf_has(const nm_elf *elf, uintptr_t address)
{
    return segment_of(elf, address, 1) != NULL;
}

void nm_elf_sealed(const nm_elf *elf, uintptr_t *begin, uintptr_t *end)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    *begin = *end = 0;
    for (unsigned i = 0; i < elf->segment_count; i++) {
        const ElfW(Phdr) *segment = &elf->segments[i];
        uintptr_t at = elf->base + segment->p_vaddr;

        if (segment->p_type != PT_GNU_RELRO || !is_readable(elf, at, segment->p_memsz, 1))
            continue;
        *begin = at & -page;
        *end = (at + segment->p_memsz) & -page;
    }
    if (*end < *begin)
        *end = *begin;
}

/* ---- Tables -------------------------------------------------------------------------------------------------------- */

/* The loader turns these offsets into addresses where it may write to the section. */
static uintptr_t address_of(const nm_elf *elf, uintptr_t value)
{
    return value < elf->base ? elf->base + value : value;
}

static void read_entry(const nm_elf *elf, const ElfW(Dyn) * entry, elf_dynamic *out)
{
    uintptr_t value = entry->d_un.d_val;

    switch (entry->d_tag) {
    case DT_SYMTAB:
        out->symbols = address_of(elf, value);
        break;
    case DT_STRTAB:
        out->strings = address_of(elf, value);
        break;
    case DT_STRSZ:
        out->strings_bytes = value;
        break;
    case DT_GNU_HASH:
        out->gnu_hash = address_of(elf, value);
        break;
    case DT_HASH:
        out->hash = address_of(elf, value);
        break;
    case DT_RELA:
        out->relocations = address_of(elf, value);
        break;
    case DT_RELASZ:
        out->relocations_bytes = value;
        break;
    case DT_RELACOUNT:
        out->relative_count = value;
        break;
    case DT_JMPREL:
        out->calls = address_of(elf, value);
        break;
    case DT_PLTRELSZ:
        out->calls_bytes = value;
        break;
    case DT_PLTREL:
        out->has_rela_calls = value == DT_RELA;
        break;
    case DT_RPATH:
        out->has_rpath = true;
        break;
    case DT_RUNPATH:
        out->has_runpath = true;
        break;
    default:
        break;
    }
}

static bool read_dynamic(const nm_elf *elf, elf_dynamic *out)
{
    *out = (elf_dynamic){0};
    for (unsigned i = 0; i < elf->segment_count; i++) {
        const ElfW(Phdr) *segment = &elf->segments[i];
        const ElfW(Dyn) *entries = (const ElfW(Dyn) *)(elf->base + segment->p_vaddr);

        if (segment->p_type != PT_DYNAMIC || !is_readable(elf, (uintptr_t)entries, segment->p_memsz, sizeof(uintptr_t)))
            continue;
        for (size_t k = 0; k < segment->p_memsz / sizeof *entries && entries[k].d_tag != DT_NULL; k++)
            read_entry(elf, &entries[k], out);
        return true;
    }
    return false;
}

/* How many symbols may be imports. A table of hashes has the symbols that others look up, which stand behind the others;
 * only the program's own may have imports among them. */
static size_t count_imports(const nm_elf *elf, const elf_dynamic *dynamic, bool is_program)
{
    const uint32_t *hash = (const uint32_t *)dynamic->gnu_hash;
    size_t end = 0;

    if (dynamic->hash != 0 && is_readable(elf, dynamic->hash, 2 * sizeof *hash, sizeof *hash))
        end = ((const uint32_t *)dynamic->hash)[1];
    if (dynamic->gnu_hash != 0 && !is_program && is_readable(elf, dynamic->gnu_hash, 4 * sizeof *hash, sizeof *hash))
        end = hash[1];
    if (end == 0 &&
        dynamic->strings > dynamic->symbols) /* no table says it: linkers put the texts behind the symbols */
        end = (dynamic->strings - dynamic->symbols) / sizeof(ElfW(Sym));
    return end;
}

static nm_elf_table table_at(const nm_elf *elf, uintptr_t address, size_t bytes)
{
    nm_elf_table table = {(const ElfW(Rela) *)address, bytes / sizeof(ElfW(Rela))};

    if (address == 0 || !is_readable(elf, address, bytes, sizeof address))
        table.count = 0;
    return table;
}

bool nm_elf_read(const struct dl_phdr_info *info, bool is_program, nm_elf *out)
{
    elf_dynamic dynamic;

    *out = (nm_elf){.base = info->dlpi_addr, .segments = info->dlpi_phdr, .segment_count = info->dlpi_phnum};
    if (!read_dynamic(out, &dynamic))
        return false;
    out->has_search_path = dynamic.has_rpath && !dynamic.has_runpath;
    out->symbols = (const ElfW(Sym) *)dynamic.symbols;
    out->strings = (const char *)dynamic.strings;
    out->strings_bytes = dynamic.strings_bytes;
    out->import_end = count_imports(out, &dynamic, is_program);
    out->relocations = table_at(out, dynamic.relocations, dynamic.relocations_bytes);
    if (dynamic.relative_count <= out->relocations.count) {
        out->relocations.entries += dynamic.relative_count;
        out->relocations.count -= dynamic.relative_count;
    }
    if (dynamic.has_rela_calls)
        out->calls = table_at(out, dynamic.calls, dynamic.calls_bytes);
    return out->import_end > 0 && out->import_end <= UINT32_MAX &&
           is_readable(out, dynamic.symbols, out->import_end * sizeof *out->symbols, sizeof(uintptr_t)) &&
           is_readable(out, dynamic.strings, out->strings_bytes, 1);
}

/* ---- Entries ------------------------------------------------------------------------------------------------------- */

const char *nm_elf_import(const nm_elf *elf, size_t index)
{
    const ElfW(Sym) *symbol = &elf->symbols[index];

    if (symbol->st_shndx != SHN_UNDEF || symbol->st_name == 0 || symbol->st_name >= elf->strings_bytes)
        return NULL;
    if (memchr(elf->strings + symbol->st_name, 0, elf->strings_bytes - symbol->st_name) == NULL)
        return NULL;
    return elf->strings + symbol->st_name;
}

bool nm_elf_is_weak(const nm_elf *elf, size_t index)
{
    return ELF64_ST_BIND(elf->symbols[index].st_info) == STB_WEAK;
}

uintptr_t *nm_elf_slot(const nm_elf *elf, const ElfW(Rela) * relocation, bool *is_call)
{
    uint32_t type = (uint32_t)relocation->r_info;
    uintptr_t address = elf->base + relocation->r_offset;
    const ElfW(Phdr) *segment = segment_of(elf, address, sizeof address);

    *is_call = type == RELOCATION_CALL;
    if (!*is_call && type != RELOCATION_GLOBAL && (type != RELOCATION_POINTER || relocation->r_addend != 0))
        return NULL;
    if (segment == NULL || (segment->p_flags & PF_W) == 0 || address % sizeof address != 0)
        return NULL;
    return (uintptr_t *)address;
}
