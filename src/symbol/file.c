/* SPDX-License-Identifier: Apache-2.0
 *
 * One ELF file through libdwfl's offline reader: the function that holds an address, its line, and what is inlined
 * there. libdw believes what a file says, so a file that may be anybody's is read by apart.c in a process of its own.
 * Names are demangled by the C++ library if there is one, looked for once.
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

/* A program that is linked statically brings it along: there the C++ runtime of another libc must not be loaded. */
extern demangle_function __cxa_demangle __attribute__((weak));

static demangle_function *demangler;
static pthread_once_t demangler_once = PTHREAD_ONCE_INIT;

/* The C++ runtime is there wherever a C++ program is; where it is not, names stay as they are. It is never unloaded. */
static void load_demangler(void)
{
    demangler = __cxa_demangle;
#ifndef NM_SYMBOL_PLAIN_NAMES
    void *library = demangler != NULL ? NULL : dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);

    if (library == NULL && demangler == NULL)
        library = dlopen("libc++abi.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library != NULL)
        *(void **)&demangler = dlsym(library, "__cxa_demangle");
#endif
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

static char *join_path(const char *folder, const char *path)
{
    char *joined = NULL;

    if (path[0] == '/' || folder == NULL)
        return strdup(path);
    return asprintf(&joined, "%s/%s", folder, path) < 0 ? NULL : joined;
}

/* A path as the compiler wrote it, made whole. */
static char *whole_path(Dwarf_Die *unit, const char *path)
{
    Dwarf_Attribute attribute;

    return path == NULL ? NULL : join_path(dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute)), path);
}

static void find_line(Dwarf_Die *unit, Dwarf_Addr address, nm_symbol *out)
{
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);
    int number = 0;

    if (line == NULL || dwarf_lineno(line, &number) != 0)
        return;
    out->file = whole_path(unit, dwarf_linesrc(line, NULL, NULL));
    out->line = out->file != NULL && number > 0 ? (uint64_t)number : 0;
}

/* Where the inlined function was called. */
static void find_call(Dwarf_Die *unit, Dwarf_Die *inlined, nm_symbol *out)
{
    Dwarf_Attribute attribute;
    Dwarf_Files *files = NULL;
    Dwarf_Word file = 0, line = 0;
    size_t count = 0;

    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count)
        return;
    out->file = whole_path(unit, dwarf_filesrc(files, file, NULL, NULL));
    if (out->file != NULL && dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) == 0)
        out->line = line;
}

/* Its author, or the compiler, says that it is no place of its own: a wrapper (gnu::artificial), as debuggers take it. */
static bool is_artificial(Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    bool is_so = false;

    return dwarf_tag(function) == DW_TAG_inlined_subroutine &&
           dwarf_formflag(dwarf_attr_integrate(function, DW_AT_artificial, &attribute), &is_so) == 0 && is_so;
}

/* Puts a function into the list, and the next one's place behind it. In a full list it takes the last one's place. */
static bool push_function(Dwarf_Die *unit, Dwarf_Die *function, nm_symbol_list *list)
{
    const char *name = linkage_name(function);
    nm_symbol *symbol = &list->items[list->count];

    if (is_artificial(function)) { /* the place is where it was called */
        free(symbol->file);
        *symbol = (nm_symbol){0};
        find_call(unit, function, symbol);
        return true;
    }
    symbol->function = name == NULL ? NULL : demangle(name);
    list->count++;
    if (dwarf_tag(function) == DW_TAG_subprogram)
        return false;
    if (list->count == NM_SYMBOL_DEPTH_MAX) {
        list->count--;
        free(symbol->function);
        free(symbol->file);
        *symbol = (nm_symbol){0};
    }
    find_call(unit, function, &list->items[list->count]);
    return true;
}

/* The functions around the address, outwards. dwarf_getscopes leads from an inlined function to where it was written, not
 * to where it was called: the way outwards is dwarf_getscopes_die's. */
static void find_functions(Dwarf_Die *unit, Dwarf_Addr address, nm_symbol_list *list)
{
    Dwarf_Die *scopes = NULL, *around = NULL;
    int count = dwarf_getscopes(unit, address, &scopes);

    count = count > 0 ? dwarf_getscopes_die(&scopes[0], &around) : 0;
    for (int i = 0; i < count; i++) {
        int tag = dwarf_tag(&around[i]);

        if ((tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) && !push_function(unit, &around[i], list))
            break;
    }
    if (list->count > 0 && list->count < NM_SYMBOL_DEPTH_MAX && list->items[list->count].file != NULL)
        list->count++; /* the way ended before a function that is not inlined: of that one only the call is known */
    free(around);
    free(scopes);
}

void nm_symbol_file_find(nm_symbol_file *file, uint64_t offset, nm_symbol_list *out)
{
    GElf_Addr address = file->origin + offset;
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = find_unit(file, address, &bias);

    *out = (nm_symbol_list){.items = calloc(NM_SYMBOL_DEPTH_MAX, sizeof *out->items)};
    if (out->items == NULL)
        return;
    if (unit != NULL) {
        find_line(unit, address - bias, &out->items[0]);
        find_functions(unit, address - bias, out);
    }
    if (out->count == 0)
        out->count = 1;
    if (out->items[out->count - 1].function == NULL) {
        const char *name = dwfl_module_addrname(file->module, address);
        out->items[out->count - 1].function = name == NULL ? NULL : demangle(name);
    }
    if (out->count == 1 && out->items[0].function == NULL && out->items[0].file == NULL)
        nm_symbol_list_clear(out);
}

void nm_symbol_list_clear(nm_symbol_list *list)
{
    for (size_t i = 0; list->items != NULL && i < NM_SYMBOL_DEPTH_MAX; i++) {
        free(list->items[i].function);
        free(list->items[i].file);
    }
    free(list->items);
    *list = (nm_symbol_list){0};
}

nm_bytes nm_symbol_file_build_id(nm_symbol_file *file)
{
    const unsigned char *bits = NULL;
    GElf_Addr address;
    int len = dwfl_module_build_id(file->module, &bits, &address);

    return len > 0 ? (nm_bytes){bits, (size_t)len} : (nm_bytes){0};
}
