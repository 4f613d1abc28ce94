/* SPDX-License-Identifier: Apache-2.0
 *
 * One ELF file through libdwfl's offline reader.
 */
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/symbol.h"

struct nm_symbol_file {
    Dwfl *dwfl;
    Dwfl_Module *module;
    GElf_Addr origin; /* libdwfl's address of file offset 0 */
};

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
};

/* ---- Demangling ---------------------------------------------------------------------------------------------------- */

typedef char *demangle_function(const char *mangled, char *buffer, size_t *length, int *status);

static demangle_function *demangler;
static pthread_once_t demangler_once = PTHREAD_ONCE_INIT;

/* The C++ runtime is there wherever a C++ program is; where it is not, names stay as they are. It is never unloaded. */
static void load_demangler(void)
{
    void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);

    if (library == NULL)
        library = dlopen("libc++abi.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library != NULL)
        *(void **)&demangler = dlsym(library, "__cxa_demangle");
}

static char *demangle(const char *name)
{
    int status = -1;
    char *plain = NULL;

    pthread_once(&demangler_once, load_demangler);
    if (demangler != NULL && strncmp(name, "_Z", 2) == 0)
        plain = demangler(name, NULL, NULL, &status);
    return plain != NULL ? plain : strdup(name);
}

/* ---- Opening ------------------------------------------------------------------------------------------------------- */

static bool find_origin(nm_symbol_file *file)
{
    GElf_Addr bias = 0;
    Elf *elf = dwfl_module_getelf(file->module, &bias);
    size_t count = 0;

    if (elf == NULL || elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;

        if (gelf_getphdr(elf, (int)i, &header) == NULL || header.p_type != PT_LOAD)
            continue;
        file->origin = bias + header.p_vaddr - header.p_offset;
        return true;
    }
    return false;
}

nm_status nm_symbol_file_open(const char *path, nm_symbol_file **out, nm_error *err)
{
    nm_symbol_file *file = calloc(1, sizeof *file);

    *out = NULL;
    if (file == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory at a symbol file");
    file->dwfl = dwfl_begin(&callbacks);
    if (file->dwfl != NULL) {
        dwfl_report_begin(file->dwfl);
        file->module = dwfl_report_offline(file->dwfl, "", path, -1);
        dwfl_report_end(file->dwfl, NULL, NULL);
    }
    if (file->module == NULL || !find_origin(file)) {
        nm_symbol_file_free(file);
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "no ELF file to read names from");
    }
    *out = file;
    return NM_OK;
}

void nm_symbol_file_free(nm_symbol_file *file)
{
    if (file == NULL)
        return;
    if (file->dwfl != NULL)
        dwfl_end(file->dwfl);
    free(file);
}

/* ---- Finding ------------------------------------------------------------------------------------------------------- */

/* The compilation unit of an address, also where the compiler made no table of address ranges (clang). */
static Dwarf_Die *find_unit(nm_symbol_file *file, GElf_Addr address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(file->module, address, bias);

    if (unit != NULL)
        return unit;
    while ((unit = dwfl_module_nextcu(file->module, unit, bias)) != NULL)
        if (dwarf_haspc(unit, address - *bias) > 0)
            return unit;
    return NULL;
}

static const char *linkage_name(Dwarf_Die *die)
{
    static const unsigned names[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name};
    Dwarf_Attribute attribute;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *name = dwarf_formstring(dwarf_attr_integrate(die, names[i], &attribute));
        if (name != NULL)
            return name;
    }
    return dwarf_diename(die);
}

/* The innermost function around the address, inlined or not. */
static char *find_function(Dwarf_Die *unit, Dwarf_Addr address)
{
    Dwarf_Die *scopes = NULL;
    int count = dwarf_getscopes(unit, address, &scopes);
    const char *name = NULL;

    for (int i = 0; i < count && name == NULL; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
            name = linkage_name(&scopes[i]);
    }
    char *plain = name == NULL ? NULL : demangle(name);
    free(scopes);
    return plain;
}

static char *join_path(const char *folder, const char *path)
{
    char *joined = NULL;

    if (path[0] == '/' || folder == NULL)
        return strdup(path);
    return asprintf(&joined, "%s/%s", folder, path) < 0 ? NULL : joined;
}

static void find_line(Dwarf_Die *unit, Dwarf_Addr address, nm_symbol *out)
{
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);
    Dwarf_Attribute attribute;
    int number = 0;

    if (line == NULL || dwarf_lineno(line, &number) != 0)
        return;
    const char *path = dwarf_linesrc(line, NULL, NULL);
    if (path == NULL)
        return;
    out->file = join_path(dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute)), path);
    out->line = number > 0 ? (uint64_t)number : 0;
}

void nm_symbol_file_find(nm_symbol_file *file, uint64_t offset, nm_symbol *out)
{
    GElf_Addr address = file->origin + offset;
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = find_unit(file, address, &bias);

    *out = (nm_symbol){0};
    if (unit != NULL) {
        out->function = find_function(unit, address - bias);
        find_line(unit, address - bias, out);
    }
    if (out->function == NULL) {
        const char *name = dwfl_module_addrname(file->module, address);
        out->function = name == NULL ? NULL : demangle(name);
    }
}

void nm_symbol_clear(nm_symbol *symbol)
{
    free(symbol->function);
    free(symbol->file);
    *symbol = (nm_symbol){0};
}

nm_bytes nm_symbol_file_build_id(nm_symbol_file *file)
{
    const unsigned char *bits = NULL;
    GElf_Addr address;
    int len = dwfl_module_build_id(file->module, &bits, &address);

    return len > 0 ? (nm_bytes){bits, (size_t)len} : (nm_bytes){0};
}
