/* SPDX-License-Identifier: Apache-2.0
 *
 * The loader says nothing when it drops LD_PRELOAD, and a static program has no loader. So the file is looked at: its bits,
 * and the head of the ELF file, or of the interpreter that a script names. What remains is a program that could have
 * loaded the recorder. If that ended as the loader ends a program that it cannot put together, a library is missing;
 * otherwise its environment was changed on the way.
 */
#include "tool/record/unseen.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/door.h"
#include "base/io.h"
#include "base/own_path.h"
#include "base/shown.h"
#include "base/spoken.h"

#define SCRIPT_DEPTH_MAX   4    /* the kernel goes no deeper */
#define HEAD_BYTES         8192 /* program headers lie right behind the first one */
#define EXIT_OF_THE_LOADER 127

typedef enum unseen_reason {
    UNSEEN_UNKNOWN,
    UNSEEN_STATIC,
    UNSEEN_RAISED,
    UNSEEN_CAPABLE,
    UNSEEN_OTHER_LIBC,
    UNSEEN_OTHER_MACHINE,
    UNSEEN_INCOMPLETE,
} unseen_reason;

static const char *const sentences[] = {
    [UNSEEN_UNKNOWN] = "could have loaded the recorder, but LD_PRELOAD did not reach it, or the library cannot be read "
                       "there: put npumem-record behind what changes the environment (env -i, sudo, a container)",
    [UNSEEN_STATIC] = "is static, so that nothing can be loaded into it: link it without -static",
    [UNSEEN_RAISED] = "is setuid or setgid, so that the loader drops LD_PRELOAD: record a copy without that bit",
    [UNSEEN_CAPABLE] = "has file capabilities, so that the loader drops LD_PRELOAD: record a copy without them",
    [UNSEEN_OTHER_LIBC] = "is built for another libc than glibc: build it for glibc",
    [UNSEEN_OTHER_MACHINE] = "is built for another kind of processor: use the npumem that is built for that",
    [UNSEEN_INCOMPLETE] =
        "did not begin: the loader did not find a library that it needs, or a function in one (its line "
        "says which): LD_LIBRARY_PATH says where it is, or a run path, as `pkg-config --libs npumem` has",
};

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

static bool is_program(const char *path)
{
    return nm_door_leads_to(path, S_IFREG) && nm_door_allows(path, X_OK);
}

/* As execvp finds it. */
static bool find_program(const char *name, char path[PATH_MAX])
{
    const char *folders = getenv("PATH");
    bool is_found = false;

    if (strchr(name, '/') != NULL)
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && is_program(path);
    for (const char *at = folders == NULL ? "/bin:/usr/bin" : folders; at != NULL && !is_found;) {
        int len = (int)strcspn(at, ":");

        is_found =
            snprintf(path, PATH_MAX, "%.*s%s%s", len, at, len > 0 ? "/" : "./", name) < PATH_MAX && is_program(path);
        at = at[len] == ':' ? at + len + 1 : NULL;
    }
    return is_found;
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

static unseen_reason judge_elf(const file_head *head)
{
    char own_path[PATH_MAX];
    file_head own;
    Elf64_Ehdr elf, own_elf;

    if (head->len < sizeof elf || memcmp(head->bytes, ELFMAG, SELFMAG) != 0)
        return UNSEEN_UNKNOWN;
    memcpy(&elf, head->bytes, sizeof elf);
    if (nm_own_path(own_path) && read_head(own_path, &own) && own.len >= sizeof own_elf) {
        memcpy(&own_elf, own.bytes, sizeof own_elf);
        if (elf.e_ident[EI_CLASS] != own_elf.e_ident[EI_CLASS] || elf.e_machine != own_elf.e_machine)
            return UNSEEN_OTHER_MACHINE;
    }
    const char *loader = loader_of(head, &elf);

    if (loader[0] == 0)
        return UNSEEN_STATIC;
    return strstr(loader, "/ld-linux") == NULL && loader[0] == '/' ? UNSEEN_OTHER_LIBC : UNSEEN_UNKNOWN;
}

/* More rights than the caller's; root has them all, and is told the same by the loader. */
static unseen_reason judge_rights(const char *path)
{
    struct stat info;

    if (nm_door_look(path, &info) && (((info.st_mode & S_ISUID) != 0 && info.st_uid != getuid()) ||
                                      ((info.st_mode & S_ISGID) != 0 && info.st_gid != getgid())))
        return UNSEEN_RAISED;
    return getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0 ? UNSEEN_CAPABLE : UNSEEN_UNKNOWN;
}

static unseen_reason judge(const char *name)
{
    char path[PATH_MAX];
    file_head head;
    bool is_file = find_program(name, path) && read_head(path, &head);

    for (int i = 0; is_file && i < SCRIPT_DEPTH_MAX && follow_script(&head, path); i++)
        is_file = read_head(path, &head);
    if (!is_file)
        return UNSEEN_UNKNOWN;
    unseen_reason reason = judge_elf(&head);
    return reason != UNSEEN_UNKNOWN ? reason : judge_rights(path);
}

void record_unseen_explain(const char *name, int exit_status, char *out, size_t size)
{
    char shown[128];
    unseen_reason reason = judge(name);

    if (reason == UNSEEN_UNKNOWN && exit_status == EXIT_OF_THE_LOADER)
        reason = UNSEEN_INCOMPLETE;
    snprintf(out, size, "%s %s", nm_shown_text(shown, sizeof shown, name), nm_spoken(sentences[reason]));
}
