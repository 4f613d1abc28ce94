/* SPDX-License-Identifier: Apache-2.0
 *
 * What an ELF file is, from its headers and notes: a few small reads, each bounded, of files that nobody has checked.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "symbol/folders.h"

#define SECTIONS_MAX   65536
#define SEGMENTS_MAX   1024
#define NOTE_BYTES_MAX 4096 /* of a section or segment of notes: the build id is among the first */

typedef struct elf_reader {
    int fd;
    uint64_t file_bytes;
    Elf64_Ehdr header;
} elf_reader;

static bool read_at(const elf_reader *reader, uint64_t offset, void *out, size_t len)
{
    if (offset > reader->file_bytes || len > reader->file_bytes - offset)
        return false;
    return pread(reader->fd, out, len, (off_t)offset) == (ssize_t)len;
}

/* ---- Notes --------------------------------------------------------------------------------------------------------- */

static uint64_t round_up(uint64_t value)
{
    return (value + 3) & ~UINT64_C(3);
}

/* Looks for the build id in notes; false: it is not there, or the notes are broken. */
static bool take_notes(const uint8_t *notes, size_t len, nm_symbol_identity *out)
{
    Elf64_Nhdr note;

    for (uint64_t at = 0; at + sizeof note <= len;) {
        memcpy(&note, notes + at, sizeof note);
        uint64_t name_at = at + sizeof note;
        uint64_t value_at = name_at + round_up(note.n_namesz); /* lengths have 32 bits: no overflow */

        if (value_at + note.n_descsz > len)
            return false;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes + name_at, "GNU", 4) == 0 &&
            note.n_descsz > 0 && note.n_descsz <= sizeof out->build_id) {
            memcpy(out->build_id, notes + value_at, note.n_descsz);
            out->build_id_bytes = note.n_descsz;
            return true;
        }
        at = value_at + round_up(note.n_descsz);
    }
    return false;
}

static bool read_notes(const elf_reader *reader, uint64_t offset, uint64_t bytes, nm_symbol_identity *out)
{
    uint8_t notes[NOTE_BYTES_MAX];
    size_t len = bytes < sizeof notes ? (size_t)bytes : sizeof notes;

    return out->build_id_bytes > 0 || (read_at(reader, offset, notes, len) && take_notes(notes, len, out));
}

/* ---- Headers ------------------------------------------------------------------------------------------------------- */

static bool read_section(const elf_reader *reader, uint64_t index, Elf64_Shdr *out)
{
    uint64_t offset = reader->header.e_shoff + index * sizeof *out;

    return reader->header.e_shoff != 0 && reader->header.e_shentsize == sizeof *out &&
           offset >= reader->header.e_shoff && read_at(reader, offset, out, sizeof *out);
}

static bool is_named(const elf_reader *reader, const Elf64_Shdr *names, const Elf64_Shdr *section, const char *name)
{
    char text[16] = "";
    size_t len = strlen(name) + 1;

    return section->sh_name < names->sh_size && read_at(reader, names->sh_offset + section->sh_name, text, len) &&
           memcmp(text, name, len) == 0;
}

/* How many sections there are, and where their names are: large numbers stand in the first section's header. */
static uint64_t count_sections(const elf_reader *reader, Elf64_Shdr *names)
{
    Elf64_Shdr first;
    uint64_t names_at = reader->header.e_shstrndx;
    uint64_t count = reader->header.e_shnum;

    if (!read_section(reader, 0, &first))
        return 0;
    if (names_at == SHN_XINDEX)
        names_at = first.sh_link;
    if (count == 0)
        count = first.sh_size;
    if (names_at >= count || !read_section(reader, names_at, names))
        *names = (Elf64_Shdr){0};
    return count < SECTIONS_MAX ? count : SECTIONS_MAX;
}

static void look_at_sections(const elf_reader *reader, nm_symbol_identity *out)
{
    Elf64_Shdr section, names;
    uint64_t count = count_sections(reader, &names);

    for (uint64_t i = 0; i < count && read_section(reader, i, &section); i++) {
        if (section.sh_type == SHT_NOTE)
            read_notes(reader, section.sh_offset, section.sh_size, out);
        else if (section.sh_type == SHT_SYMTAB && out->worth < 1)
            out->worth = 1;
        else if (section.sh_type == SHT_PROGBITS && (is_named(reader, &names, &section, ".debug_info") ||
                                                     is_named(reader, &names, &section, ".zdebug_info")))
            out->worth = 2;
    }
}

static void look_at_segments(const elf_reader *reader, nm_symbol_identity *out)
{
    Elf64_Phdr segment;
    uint64_t count = reader->header.e_phnum < SEGMENTS_MAX ? reader->header.e_phnum : SEGMENTS_MAX;

    if (reader->header.e_phentsize != sizeof segment || reader->header.e_phoff > reader->file_bytes)
        return;
    for (uint64_t i = 0; i < count; i++) {
        if (!read_at(reader, reader->header.e_phoff + i * sizeof segment, &segment, sizeof segment))
            return;
        if (segment.p_type == PT_NOTE)
            read_notes(reader, segment.p_offset, segment.p_filesz, out);
    }
}

static bool is_native(const Elf64_Ehdr *header)
{
    static const uint16_t one = 1;
    uint8_t order = *(const uint8_t *)&one == 1 ? ELFDATA2LSB : ELFDATA2MSB;

    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
           header->e_ident[EI_DATA] == order;
}

nm_status nm_symbol_identify(const char *path, nm_symbol_identity *out, nm_error *err)
{
    /* Not blocking: a pipe under this name would never open. */
    elf_reader reader = {.fd = -1};
    struct stat info;
    nm_status status = nm_io_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, &reader.fd, err);

    *out = (nm_symbol_identity){0};
    if (status != NM_OK)
        return status;
    status = NM_END;
    if (fstat(reader.fd, &info) == 0 && S_ISREG(info.st_mode)) {
        reader.file_bytes = (uint64_t)info.st_size;
        if (read_at(&reader, 0, &reader.header, sizeof reader.header) && is_native(&reader.header)) {
            look_at_sections(&reader, out);
            look_at_segments(&reader, out);
            status = out->build_id_bytes > 0 ? NM_OK : NM_END;
            if (reader.header.e_shoff > reader.file_bytes)
                status = nm_fail(err, NM_ERR_FORMAT, reader.file_bytes, "an ELF file without its end");
        }
    }
    close(reader.fd);
    return status;
}
