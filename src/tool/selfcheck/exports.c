/* SPDX-License-Identifier: Apache-2.0
 *
 * The libraries' own tables are read, none is loaded. A name speaks of memory by the words in it; questions and settings are
 * left out, and so is what only libraries of CANN call of each other (...Impl).
 */
#include "tool/selfcheck/exports.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/io.h"
#include "base/spoken.h"
#include "tool/common/versions.h"
#include "tool/selfcheck/figures.h"
#include "tool/selfcheck/text.h"

#define LIBRARY_BYTES_MAX ((size_t)512 << 20)
#define LIBRARIES_MAX     32
#define SHOWN_MAX         20
#define SOURCES_LINE      "\n# CANN: "

/* Names borrow from the libraries' bytes. */
typedef struct name_list {
    const char **items;
    size_t count, capacity;
} name_list;

typedef struct exports {
    nm_buffer files[LIBRARIES_MAX]; /* owned */
    char names[LIBRARIES_MAX][NAME_MAX + 1];
    size_t library_count;
    name_list known, new_ones;
    nm_buffer versions;   /* owned: "CANN 8.5.0, driver 25.5.0" */
    nm_buffer unreadable; /* owned: lines */
} exports;

/* ---- Names --------------------------------------------------------------------------------------------------------- */

static bool has_one_of(const char *name, const char *const *words)
{
    while (*words != NULL && strstr(name, *words) == NULL)
        words++;
    return *words != NULL;
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_public(const char *name)
{
    size_t len = strlen(name);

    if (len > 4 && strcmp(name + len - 4, "Impl") == 0)
        return false;
    if (strncmp(name, "acl", 3) == 0)
        return strncmp(name, "aclnn", 5) != 0; /* operators */
    return ((strncmp(name, "hal", 3) == 0 || strncmp(name, "drv", 3) == 0) && is_upper(name[3])) ||
           (strncmp(name, "rt", 2) == 0 && is_upper(name[2]));
}

static bool is_of_memory(const char *name)
{
    static const char *const words[] = {
        "Malloc",    "Alloc",     "Free",         "Memcpy",         "MemCpy",    "Memset",   "Copy",  "Map",
        "Unmap",     "Pool",      "HostRegister", "HostUnregister", "MemReg",    "MemUnReg", "Shmem", "Prefetch",
        "MemCreate", "MemImport", "MemExport",    "MemRelease",     "MemRetain", NULL};
    static const char *const questions[] = {"Get",         "Set",    "Query",        "CreateDesc",
                                            "DestroyDesc", "ToDesc", "Capabilities", NULL};

    return has_one_of(name, words) && !has_one_of(name, questions);
}

/* Its line in the list, or that of all that begin so. */
static bool is_listed(const char *name)
{
    for (const char *line = selfcheck_list[0].text; line != NULL && *line != 0;) {
        size_t len = strcspn(line, " *\n");

        if (line[0] != '#' && strncmp(name, line, len) == 0 && (line[len] == '*' || name[len] == 0))
            return true;
        line = strchr(line, '\n');
        line += line != NULL;
    }
    return false;
}

static bool is_in(const name_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], name) == 0)
            return true;
    return false;
}

static void take_name(exports *found, const char *name)
{
    name_list *list;

    if (!is_public(name) || !is_of_memory(name))
        return;
    list = is_listed(name) ? &found->known : &found->new_ones;
    if (is_in(list, name) ||
        nm_array_grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items, NULL) != NM_OK)
        return;
    list->items[list->count++] = name;
}

/* ---- A library ----------------------------------------------------------------------------------------------------- */

static bool has_range(const nm_buffer *file, uint64_t offset, uint64_t bytes)
{
    return offset <= file->len && bytes <= file->len - offset;
}

static void take_symbols(exports *found, const nm_buffer *file, const Elf64_Shdr *symbols, const Elf64_Shdr *strings)
{
    uint64_t count = symbols->sh_size / sizeof(Elf64_Sym);
    const char *text;

    if (!has_range(file, symbols->sh_offset, symbols->sh_size) || strings->sh_size == 0 ||
        !has_range(file, strings->sh_offset, strings->sh_size))
        return;
    text = (const char *)file->data + strings->sh_offset;
    if (text[strings->sh_size - 1] != 0)
        return;
    for (uint64_t i = 0; i < count; i++) {
        Elf64_Sym symbol;

        memcpy(&symbol, file->data + symbols->sh_offset + i * sizeof symbol, sizeof symbol);
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && ELF64_ST_BIND(symbol.st_info) != STB_LOCAL &&
            symbol.st_shndx != SHN_UNDEF && symbol.st_name < strings->sh_size)
            take_name(found, text + symbol.st_name);
    }
}

/* False: it is no library of this machine's kind, or has no table of what it exports. */
static bool take_file(exports *found, const nm_buffer *file)
{
    bool has_table = false;
    Elf64_Ehdr head;

    if (file->len < sizeof head)
        return false;
    memcpy(&head, file->data, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_shentsize != sizeof(Elf64_Shdr) ||
        !has_range(file, head.e_shoff, (uint64_t)head.e_shnum * sizeof(Elf64_Shdr)))
        return false;
    for (unsigned i = 0; i < head.e_shnum; i++) {
        Elf64_Shdr symbols, strings;

        memcpy(&symbols, file->data + head.e_shoff + i * sizeof symbols, sizeof symbols);
        if (symbols.sh_type != SHT_DYNSYM || symbols.sh_link >= head.e_shnum)
            continue;
        memcpy(&strings, file->data + head.e_shoff + symbols.sh_link * sizeof strings, sizeof strings);
        take_symbols(found, file, &symbols, &strings);
        has_table = true;
    }
    return has_table;
}

static void take_version(exports *found, const char *path)
{
    char version[RECORD_VERSION_BYTES], line[RECORD_VERSION_BYTES + 32];
    const char *name = record_versions_of(path, version);

    if (name == NULL)
        return;
    snprintf(line, sizeof line, "%s %s", name, version);
    if (found->versions.len == 0 || memmem(found->versions.data, found->versions.len, line, strlen(line)) == NULL)
        selfcheck_say(&found->versions, "%s%s", found->versions.len == 0 ? "" : ", ", line);
}

/* Which of a program's libraries are CANN's, and called by programs. */
static bool is_of_cann(const char *name)
{
    static const char *const names[] = {"libascendcl.so", "libacl_", "libascend_hal.so", "libruntime.so"};
    bool is_one = false;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is_one |= strncmp(name, names[i], strlen(names[i])) == 0;
    return is_one;
}

static bool is_taken(const exports *found, const char *name)
{
    for (size_t i = 0; i < found->library_count; i++)
        if (strcmp(found->names[i], name) == 0)
            return true;
    return found->library_count == LIBRARIES_MAX;
}

static void take_library(exports *found, const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    nm_buffer *file = &found->files[found->library_count];
    struct stat info;
    nm_error err = {0};
    int fd = -1;
    nm_status status;

    if (!is_of_cann(name) || is_taken(found, name))
        return;
    status = nm_door_open_file(path, &fd, &info, &err);
    if (status == NM_OK)
        status = nm_io_read_all(fd, LIBRARY_BYTES_MAX, file, &err);
    nm_io_close(fd);
    if (status != NM_OK || !take_file(found, file)) {
        selfcheck_say(&found->unreadable, "  cannot be read: %s%s%s\n", path, status == NM_OK ? "" : ": ",
                      status == NM_OK ? "" : err.text);
        nm_buffer_free(file);
        return;
    }
    snprintf(found->names[found->library_count++], NAME_MAX + 1, "%s", name);
    take_version(found, path);
}

/* And those that lie beside it: a program loads what it needs. */
static void take_folder_of(exports *found, const char *library)
{
    char path[PATH_MAX];
    int len = (int)(strrchr(library, '/') - library);
    struct dirent *entry;
    DIR *folder;

    snprintf(path, sizeof path, "%.*s/", len, library);
    folder = nm_door_list(path);
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        size_t name_len = strlen(entry->d_name);

        if (name_len > 3 && strcmp(entry->d_name + name_len - 3, ".so") == 0 &&
            snprintf(path, sizeof path, "%.*s/%s", len, library, entry->d_name) < (int)sizeof path)
            take_library(found, path);
    }
    if (folder != NULL)
        closedir(folder);
}

static void take_libraries(exports *found, const char *output)
{
    char path[SELFCHECK_TEXT_BYTES];

    for (const char *at = output; selfcheck_next(&at, "library", path);)
        if (path[0] == '/')
            take_library(found, path);
    for (const char *at = output; selfcheck_next(&at, "library", path);)
        if (path[0] == '/' && is_of_cann(strrchr(path, '/') + 1))
            take_folder_of(found, path);
}

/* ---- What is said -------------------------------------------------------------------------------------------------- */

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static void say_new(exports *found, nm_buffer *out)
{
    name_list *names = &found->new_ones;

    selfcheck_say(out, "%zu not in the list: what %s with memory may be unseen\n", names->count,
                  nm_spoken(names->count == 1 ? "it does" : "they do"));
    qsort(names->items, names->count, sizeof *names->items, compare_names);
    for (size_t i = 0; i < names->count && i < SHOWN_MAX; i++)
        selfcheck_say(out, "    new: %s\n", names->items[i]);
    if (names->count > SHOWN_MAX)
        selfcheck_say(out, "    and %zu more\n", names->count - SHOWN_MAX);
}

static void say_all(exports *found, nm_buffer *out)
{
    const char *sources = strstr(selfcheck_list[0].text, SOURCES_LINE);
    int len = sources == NULL ? 0 : (int)strcspn(sources + strlen(SOURCES_LINE), "\n");

    selfcheck_say(out, "\nFunctions of memory, against the list of CANN's %.*s\n", len,
                  sources == NULL ? "" : sources + strlen(SOURCES_LINE));
    if (found->library_count > 0)
        selfcheck_say(out, "  installed: %.*s\n", found->versions.len > 0 ? (int)found->versions.len : INT_MAX,
                      found->versions.len > 0 ? (const char *)found->versions.data : nm_spoken("version not known"));
    else
        selfcheck_say(out, "  no library of CANN was seen\n");
    if (found->unreadable.len > 0)
        selfcheck_say(out, "%.*s", (int)found->unreadable.len, (const char *)found->unreadable.data);
    if (found->library_count == 0)
        return;
    selfcheck_say(out, "  %zu exported by %zu librar%s, ", found->known.count + found->new_ones.count,
                  found->library_count, nm_spoken(found->library_count == 1 ? "y" : "ies"));
    if (found->new_ones.count == 0)
        selfcheck_say(out, "all of them in the list\n");
    else
        say_new(found, out);
}

size_t selfcheck_say_exports(const char *output, nm_buffer *out)
{
    exports *found = calloc(1, sizeof *found);
    size_t new_count;

    if (found == NULL)
        return 0;
    take_libraries(found, output);
    say_all(found, out);
    new_count = found->new_ones.count;
    for (size_t i = 0; i < found->library_count; i++)
        nm_buffer_free(&found->files[i]);
    nm_buffer_free(&found->versions);
    nm_buffer_free(&found->unreadable);
    free(found->known.items);
    free(found->new_ones.items);
    free(found);
    return new_count;
}
