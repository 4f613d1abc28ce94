/* SPDX-License-Identifier: Apache-2.0
 *
 * The loader says nothing when it drops LD_PRELOAD, and a static program has no loader. So the file is looked at: its bits,
 * and the head of the ELF file, or of the interpreter that a script names.
 */
#include "drain/loadable.h"

#include <elf.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/door.h"
#include "base/io.h"
#include "base/own_path.h"

#define SCRIPT_DEPTH_MAX 4    /* the kernel goes no deeper */
#define HEAD_BYTES       8192 /* program headers lie right behind the first one */

typedef struct file_head {
    size_t len;
    char bytes[HEAD_BYTES + 1]; /* and a zero behind them */
} file_head;

static bool read_head(const char *path, file_head *head)
{
    struct stat info;
    int fd = -1;
    bool is_read = nm_door_open_file(path, &fd, &info, NULL) == NM_OK;

    head->len = 0;
    is_read = is_read && nm_io_read(fd, head->bytes, HEAD_BYTES, &head->len, NULL) == NM_OK;
    if (fd >= 0)
        nm_io_close(fd);
    head->bytes[head->len] = 0;
    return is_read;
}

/* The path between "#!" and the next blank takes the place of the script's. */
static bool follow_script(const file_head *head, char path[PATH_MAX])
{
    if (strncmp(head->bytes, "#!", 2) != 0)
        return false;
    const char *begin = head->bytes + 2 + strspn(head->bytes + 2, " \t");
    int len = (int)strcspn(begin, " \t\r\n");

    return len > 0 && snprintf(path, PATH_MAX, "%.*s", len, begin) < PATH_MAX;
}

/* The name of the loader that the file asks for; "" where it asks for none, "?" where that cannot be read. */
static const char *loader_of(const file_head *head, const Elf64_Ehdr *elf)
{
    for (size_t i = 0; i < elf->e_phnum; i++) {
        uint64_t at = elf->e_phoff + i * sizeof(Elf64_Phdr);
        Elf64_Phdr part;

        if (at > head->len || sizeof part > head->len - at)
            return "?";
        memcpy(&part, head->bytes + at, sizeof part);
        if (part.p_type == PT_INTERP)
            return part.p_offset < head->len ? head->bytes + part.p_offset : "?";
    }
    return "";
}

static nm_loadable judge_elf(const file_head *head)
{
    char own_path[PATH_MAX];
    file_head own;
    Elf64_Ehdr elf, own_elf;

    if (head->len < sizeof elf || memcmp(head->bytes, ELFMAG, SELFMAG) != 0)
        return NM_LOADABLE;
    memcpy(&elf, head->bytes, sizeof elf);
    if (nm_own_path(own_path) && read_head(own_path, &own) && own.len >= sizeof own_elf) {
        memcpy(&own_elf, own.bytes, sizeof own_elf);
        if (elf.e_ident[EI_CLASS] != own_elf.e_ident[EI_CLASS] || elf.e_machine != own_elf.e_machine)
            return NM_LOADABLE_OTHER_MACHINE;
    }
    const char *loader = loader_of(head, &elf);

    if (loader[0] == 0)
        return NM_LOADABLE_STATIC;
    return strstr(loader, "/ld-linux") == NULL && loader[0] == '/' ? NM_LOADABLE_OTHER_LIBC : NM_LOADABLE;
}

/* More rights than the caller's; root has them all, and is told the same by the loader. */
static nm_loadable judge_rights(const char *path)
{
    struct stat info;

    if (nm_door_look(path, &info) && (((info.st_mode & S_ISUID) != 0 && info.st_uid != getuid()) ||
                                      ((info.st_mode & S_ISGID) != 0 && info.st_gid != getgid())))
        return NM_LOADABLE_RAISED;
    return getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0 ? NM_LOADABLE_CAPABLE : NM_LOADABLE;
}

bool nm_loadable_judge(const char *program, nm_loadable *out)
{
    char path[PATH_MAX];
    file_head head;
    bool is_file = snprintf(path, sizeof path, "%s", program) < (int)sizeof path && read_head(path, &head);

    for (int i = 0; is_file && i < SCRIPT_DEPTH_MAX && follow_script(&head, path); i++)
        is_file = read_head(path, &head);
    *out = is_file ? judge_elf(&head) : NM_LOADABLE;
    if (is_file && *out == NM_LOADABLE)
        *out = judge_rights(path);
    return is_file;
}
