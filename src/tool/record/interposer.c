/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's own table of symbols is read; it is not loaded. The file may be anybody's: each length is held against what
 * the file has.
 */
#include "tool/record/interposer.h"

#include <elf.h>
#include <string.h>

#include "base/buffer.h"
#include "base/door.h"
#include "base/io.h"

#define LIBRARY_BYTES_MAX ((size_t)512 << 20)

static const char *const asked_first[] = {"dlsym", "InitInjectionMstx"};

static bool has_range(const nm_buffer *file, uint64_t offset, uint64_t bytes)
{
    return offset <= file->len && bytes <= file->len - offset;
}

/* Is the text at `offset` of the table one of those? */
static bool is_asked_first(const nm_buffer *file, const Elf64_Shdr *strings, uint64_t offset)
{
    bool is_found = false;

    for (size_t i = 0; i < sizeof asked_first / sizeof *asked_first && !is_found; i++) {
        size_t bytes = strlen(asked_first[i]) + 1;

        is_found = offset <= strings->sh_size && bytes <= strings->sh_size - offset &&
                   memcmp(file->data + strings->sh_offset + offset, asked_first[i], bytes) == 0;
    }
    return is_found;
}

static bool look_at_symbols(const nm_buffer *file, const Elf64_Shdr *symbols, const Elf64_Shdr *strings)
{
    bool is_found = false;

    if (!has_range(file, symbols->sh_offset, symbols->sh_size) ||
        !has_range(file, strings->sh_offset, strings->sh_size))
        return false;
    for (uint64_t i = 0; i < symbols->sh_size / sizeof(Elf64_Sym) && !is_found; i++) {
        Elf64_Sym symbol;

        memcpy(&symbol, file->data + symbols->sh_offset + i * sizeof symbol, sizeof symbol);
        is_found = symbol.st_shndx != SHN_UNDEF && ELF64_ST_BIND(symbol.st_info) != STB_LOCAL &&
                   is_asked_first(file, strings, symbol.st_name);
    }
    return is_found;
}

static bool look_at_file(const nm_buffer *file)
{
    bool is_found = false;
    Elf64_Ehdr elf;

    if (file->len < sizeof elf || memcmp(file->data, ELFMAG, SELFMAG) != 0 || file->data[EI_CLASS] != ELFCLASS64)
        return false;
    memcpy(&elf, file->data, sizeof elf);
    if (elf.e_shentsize != sizeof(Elf64_Shdr) ||
        !has_range(file, elf.e_shoff, (uint64_t)elf.e_shnum * sizeof(Elf64_Shdr)))
        return false;
    for (size_t i = 0; i < elf.e_shnum && !is_found; i++) {
        Elf64_Shdr symbols, strings;

        memcpy(&symbols, file->data + elf.e_shoff + i * sizeof symbols, sizeof symbols);
        if (symbols.sh_type != SHT_DYNSYM || symbols.sh_link >= elf.e_shnum)
            continue;
        memcpy(&strings, file->data + elf.e_shoff + symbols.sh_link * sizeof strings, sizeof strings);
        is_found = look_at_symbols(file, &symbols, &strings);
    }
    return is_found;
}

bool record_is_asked_first(const char *path)
{
    nm_buffer file = {0};
    struct stat info;
    int fd = -1;
    bool is_found = nm_door_open_file(path, &fd, &info, NULL) == NM_OK &&
                    nm_io_read_all(fd, LIBRARY_BYTES_MAX, &file, NULL) == NM_OK && look_at_file(&file);

    if (fd >= 0)
        nm_io_close(fd);
    nm_buffer_free(&file);
    return is_found;
}
