/* SPDX-License-Identifier: Apache-2.0
 *
 * What the targets share. Files are made once and filled anew for each input: that is cheaper than to make them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/io.h"
#include "fuzz/target.h"

#define SLOTS           8
#define FOLDER_TEMPLATE "%s/npumem_fuzz_XXXXXX"

static fuzz_target *targets;
bool fuzz_is_thorough;

void fuzz_targets_add(fuzz_target *target)
{
    target->next = targets;
    targets = target;
}

const fuzz_target *fuzz_target_find(const char *name)
{
    for (const fuzz_target *target = targets; name != NULL && target != NULL; target = target->next)
        if (strcmp(target->name, name) == 0)
            return target;
    fprintf(stderr, "targets:");
    for (const fuzz_target *target = targets; target != NULL; target = target->next)
        fprintf(stderr, " %s", target->name);
    fprintf(stderr, "\n");
    return NULL;
}

static bool ends_with(const char *text, const char *end)
{
    size_t text_len = strlen(text), end_len = strlen(end);

    return text_len >= end_len && strcmp(text + text_len - end_len, end) == 0;
}

nm_status fuzz_read_seed(const fuzz_target *target, const char *path, nm_buffer *out, nm_error *err)
{
    nm_buffer text = {0};
    int fd = -1;
    nm_status status = nm_io_open(path, O_RDONLY, 0, &fd, err);

    if (status == NM_OK)
        status = nm_io_read_all(fd, FUZZ_INPUT_BYTES_MAX, &text, err);
    nm_io_close(fd);
    if (status == NM_OK && (target->from_text == NULL || !ends_with(path, ".txt")))
        status = nm_buffer_append(out, text.data, text.len, err);
    else if (status == NM_OK && (status = nm_buffer_append(&text, "", 1, err)) == NM_OK)
        status = target->from_text((const char *)text.data, out, err);
    nm_buffer_free(&text);
    return status;
}

bool fuzz_is_one_of(nm_bytes input, unsigned count)
{
    return fuzz_is_thorough || nm_checksum(input.data, input.len) % count == 0;
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t len, size_t room) __attribute__((weak));

size_t fuzz_mutate_bytes(uint8_t *data, size_t len, size_t room)
{
    return LLVMFuzzerMutate == NULL ? 0 : LLVMFuzzerMutate(data, len, room);
}

/* ---- What holds of every reader ---- */

void fuzz_fail(const char *what, const char *file, int line, const char *detail)
{
    fprintf(stderr, "%s:%d: %s%s%s\n", file, line, what, detail == NULL ? "" : ": ", detail == NULL ? "" : detail);
    abort();
}

void fuzz_check_status(nm_status status, const nm_error *err)
{
    if (status == NM_OK || status == NM_END)
        return;
    FUZZ_REQUIRE(status >= NM_ERR_FORMAT && status <= NM_ERR_WRITE);
    FUZZ_REQUIRE(err->status == status);
    FUZZ_REQUIRE(memchr(err->text, 0, sizeof err->text) != NULL);
    FUZZ_REQUIRE(err->text[0] != 0 && strpbrk(err->text, "\n\r") == NULL);
}

/* ---- Files ---- */

int fuzz_file_of(nm_bytes bytes, unsigned slot)
{
    static int fds[SLOTS];

    FUZZ_REQUIRE(slot < SLOTS);
    if (fds[slot] == 0)
        fds[slot] = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_REQUIRE(fds[slot] > 0 && ftruncate(fds[slot], 0) == 0);
    FUZZ_REQUIRE(pwrite(fds[slot], bytes.data, bytes.len, 0) == (ssize_t)bytes.len);
    FUZZ_REQUIRE(lseek(fds[slot], 0, SEEK_SET) == 0);
    return fds[slot];
}

static char folder[256];

static void remove_folder(void)
{
    char command[sizeof folder + 16];

    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        fprintf(stderr, "cannot remove %s\n", folder);
}

const char *fuzz_folder(void)
{
    const char *above = getenv("NPUMEM_FUZZ_FOLDER");

    if (folder[0] != 0)
        return folder;
    above = above != NULL ? above : access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof folder, FOLDER_TEMPLATE, above);
    FUZZ_REQUIRE(mkdtemp(folder) != NULL);
    atexit(remove_folder);
    return folder;
}

void fuzz_write_file(const char *path, nm_bytes bytes)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    FUZZ_REQUIRE(fd >= 0 && write(fd, bytes.data, bytes.len) == (ssize_t)bytes.len);
    close(fd);
}
