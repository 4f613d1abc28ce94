/* SPDX-License-Identifier: Apache-2.0
 *
 * The system's own calls behind nm_io, and loops around them: no caller ever sees EINTR or half a write. Each failure
 * is said with errno's words where it is met. Memory is taken only for what is read whole, and never more than the
 * caller's bound. Nothing here may run inside the recorded program.
 */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int system_open(const char *path, int flags, mode_t mode)
{
    return open(path, flags, mode);
}

static int system_openat(int folder, const char *name, int flags, mode_t mode)
{
    return openat(folder, name, flags, mode);
}

nm_io_calls nm_io = {system_open, read,   write,         fsync,    close,     fdatasync, fallocate,
                     pread,       pwrite, system_openat, unlinkat, renameat2, mkdirat};

static nm_status judge_open(int fd, int flags, nm_error *err)
{
    bool is_output = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;

    if (fd >= 0)
        return NM_OK;
    if (errno == EEXIST)
        return nm_fail(err, NM_ERR_EXISTS, NM_NO_OFFSET, "is already there");
    nm_fail_errno(err, errno, "cannot open");
    if (is_output && err != NULL)
        err->status = NM_ERR_WRITE;
    return is_output ? NM_ERR_WRITE : NM_ERR_IO;
}

nm_status nm_io_open(const char *path, int flags, mode_t mode, int *fd, nm_error *err)
{
    do
        *fd = nm_io.open(path, flags | O_CLOEXEC, mode);
    while (*fd < 0 && errno == EINTR);
    return judge_open(*fd, flags, err);
}

nm_status nm_io_open_at(int folder, const char *name, int flags, mode_t mode, int *fd, nm_error *err)
{
    do
        *fd = nm_io.openat(folder, name, flags | O_CLOEXEC, mode);
    while (*fd < 0 && errno == EINTR);
    return judge_open(*fd, flags, err);
}

nm_status nm_io_read(int fd, void *data, size_t len, size_t *got, nm_error *err)
{
    *got = 0;
    while (*got < len) {
        ssize_t count = nm_io.read(fd, (char *)data + *got, len - *got);

        if (count == 0)
            break;
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return nm_fail_errno(err, errno, "cannot read");
        *got += (size_t)count;
    }
    return NM_OK;
}

nm_status nm_io_read_all(int fd, size_t max_bytes, nm_buffer *out, nm_error *err)
{
    nm_status status = NM_OK;
    size_t got = 1;

    while (status == NM_OK && got > 0) {
        status = nm_buffer_reserve(out, 65536, err);
        if (status == NM_OK)
            status = nm_io_read(fd, out->data + out->len, out->cap - out->len, &got, err);
        if (status == NM_OK)
            out->len += got;
        if (status == NM_OK && out->len > max_bytes)
            status = nm_fail(err, NM_ERR_LIMIT, max_bytes, "is larger than %zu bytes", max_bytes);
    }
    return status;
}

nm_status nm_io_write(int fd, const void *data, size_t len, nm_error *err)
{
    for (size_t done = 0; done < len;) {
        ssize_t count = nm_io.write(fd, (const char *)data + done, len - done);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return nm_fail_write(err, errno);
        done += (size_t)count;
    }
    return NM_OK;
}

nm_status nm_io_read_at(int fd, void *data, size_t len, uint64_t offset, nm_error *err)
{
    for (size_t done = 0; done < len;) {
        ssize_t count = nm_io.pread(fd, (char *)data + done, len - done, (off_t)(offset + done));

        if (count == 0)
            return nm_fail(err, NM_ERR_IO, offset + done, "ends too early");
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return nm_fail_errno(err, errno, "cannot read");
        done += (size_t)count;
    }
    return NM_OK;
}

nm_status nm_io_write_at(int fd, const void *data, size_t len, uint64_t offset, nm_error *err)
{
    for (size_t done = 0; done < len;) {
        ssize_t count = nm_io.pwrite(fd, (const char *)data + done, len - done, (off_t)(offset + done));

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return nm_fail_write(err, errno);
        done += (size_t)count;
    }
    return NM_OK;
}

const char *nm_io_temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");

    return folder == NULL || folder[0] != '/' ? "/tmp" : folder;
}

nm_status nm_io_open_temporary(int *fd, nm_error *err)
{
    char path[PATH_MAX];
    const char *folder = nm_io_temporary_folder();

    *fd = -1;
    if (snprintf(path, sizeof path, "%s/npumem-XXXXXX", folder) >= (int)sizeof path)
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "the path of the temporary folder is too long");
    *fd = mkostemp(path, O_CLOEXEC);
    if (*fd < 0)
        return nm_name_written(nm_fail_write(err, errno), folder, err);
    unlink(path);
    return NM_OK;
}

nm_status nm_io_copy(int from, int to, uint64_t most_bytes, uint64_t *copied_bytes, nm_error *err)
{
    enum { CHUNK_BYTES = 1 << 18 };
    uint8_t *chunk = malloc(CHUNK_BYTES);
    size_t got = 1;
    nm_status status = chunk != NULL ? NM_OK : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");

    *copied_bytes = 0;
    while (status == NM_OK && got > 0 && *copied_bytes < most_bytes) {
        uint64_t left = most_bytes - *copied_bytes;

        status = nm_io_read(from, chunk, left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES, &got, err);
        if (status == NM_OK)
            status = nm_io_write(to, chunk, got, err);
        *copied_bytes += status == NM_OK ? got : 0;
    }
    free(chunk);
    return status;
}

nm_status nm_io_sync(int fd, nm_error *err)
{
    return nm_io.fsync(fd) == 0 ? NM_OK : nm_fail_errno(err, errno, "cannot sync");
}

nm_status nm_io_sync_folder(const char *path, nm_error *err)
{
    char folder[PATH_MAX];
    int fd = -1;

    if (snprintf(folder, sizeof folder, "%s", path) >= (int)sizeof folder)
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "path is too long");
    nm_status status = nm_io_open(dirname(folder), O_RDONLY, 0, &fd, err);
    if (status == NM_OK)
        status = nm_io_sync(fd, err);
    nm_io_close(fd);
    return status;
}

uint64_t nm_io_data_end(int fd, uint64_t size_bytes)
{
    off_t before = lseek(fd, 0, SEEK_CUR), end = 0, data;

    if (before < 0)
        return size_bytes;
    errno = 0;
    while ((uint64_t)end < size_bytes && (data = lseek(fd, end, SEEK_DATA)) >= 0 &&
           (data = lseek(fd, data, SEEK_HOLE)) > end)
        end = data;
    bool is_told = (uint64_t)end >= size_bytes || errno == ENXIO; /* nothing but a hole is left */
    lseek(fd, before, SEEK_SET);
    return is_told && (uint64_t)end < size_bytes ? (uint64_t)end : size_bytes;
}

uint64_t nm_io_skip_hole(int fd)
{
    off_t before = lseek(fd, 0, SEEK_CUR);
    off_t data = before < 0 ? before : lseek(fd, before, SEEK_DATA);

    if (before >= 0 && data < 0 && errno == ENXIO)
        data = lseek(fd, 0, SEEK_END);
    return before >= 0 && data > before ? (uint64_t)(data - before) : 0;
}

/* The lowest number is given out first, so that each gets its own. Opened the wrong way round, for use to fail. */
void nm_io_hold_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) < 0)
            return;
}

void nm_io_close(int fd)
{
    if (fd >= 0)
        nm_io.close(fd);
}
