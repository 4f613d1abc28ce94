/* SPDX-License-Identifier: Apache-2.0
 *
 * Files, outside the recorded program. Every call is retried on EINTR and made whole on a short read or write, and goes
 * through nm_io, a table of system calls that tests replace to make each one fail in turn.
 */
#ifndef NM_BASE_IO_H
#define NM_BASE_IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/error.h"

typedef struct nm_io_calls {
    int (*open)(const char *path, int flags, mode_t mode);
    ssize_t (*read)(int fd, void *data, size_t len);
    ssize_t (*write)(int fd, const void *data, size_t len);
    int (*fsync)(int fd);
    int (*close)(int fd);
    int (*fdatasync)(int fd);
    int (*fallocate)(int fd, int mode, off_t offset, off_t len);
    ssize_t (*pread)(int fd, void *data, size_t len, off_t offset);
    ssize_t (*pwrite)(int fd, const void *data, size_t len, off_t offset);
    int (*openat)(int folder, const char *name, int flags, mode_t mode); /* these four for base/door.c */
    int (*unlinkat)(int folder, const char *name, int flags);
    int (*renameat2)(int from_folder, const char *from, int to_folder, const char *to, unsigned flags);
    int (*mkdirat)(int folder, const char *name, mode_t mode);
} nm_io_calls;

extern nm_io_calls nm_io; /* the system's own calls, unless a test has put others there */

/* Opens with O_CLOEXEC what the user named; what we derive is opened by nm_door_open_at. *fd is the caller's to close with
 * nm_io_close. NM_ERR_WRITE: it was to be made. */
nm_status nm_io_open(const char *path, int flags, mode_t mode, int *fd, nm_error *err);
nm_status nm_io_open_at(int folder, const char *name, int flags, mode_t mode, int *fd,
                        nm_error *err); /* follows links */

/* Reads until `len` bytes or the end of the file; *got says how many. */
nm_status nm_io_read(int fd, void *data, size_t len, size_t *got, nm_error *err);

/* Appends everything that is left in fd to *out; NM_ERR_LIMIT past `max_bytes`. */
nm_status nm_io_read_all(int fd, size_t max_bytes, nm_buffer *out, nm_error *err);

/* NM_ERR_WRITE: it could not. Who knows what is written there gives the error its name. */
nm_status nm_io_write(int fd, const void *data, size_t len, nm_error *err);

/* The same at an offset, which leaves the file's own position alone. NM_ERR_IO, too: the file ends before `len` bytes. */
nm_status nm_io_read_at(int fd, void *data, size_t len, uint64_t offset, nm_error *err);
nm_status nm_io_write_at(int fd, const void *data, size_t len, uint64_t offset, nm_error *err);

/* $TMPDIR where that is an absolute path, or /tmp. Borrowed. */
const char *nm_io_temporary_folder(void);

/* A file without a name in the temporary folder: gone when it is closed. */
nm_status nm_io_open_temporary(int *fd, nm_error *err);

/* Appends what is left in `from` to `to`, but no more than `most_bytes`; *copied_bytes says how much that was. */
nm_status nm_io_copy(int from, int to, uint64_t most_bytes, uint64_t *copied_bytes, nm_error *err);

/* Writes the file's data to the disk. */
nm_status nm_io_sync(int fd, nm_error *err);

/* Where the data of a file of `size_bytes` ends: behind that, a sparse file has a hole. `size_bytes` where its file system
 * does not tell. The file's own position stays. */
uint64_t nm_io_data_end(int fd, uint64_t size_bytes);

/* Passes over the hole that the file's position is in: how many bytes of nothing; 0: it is data, or no file. */
uint64_t nm_io_skip_hole(int fd);

/* Syncs the folder of the file, so that a new name survives a power cut. */
nm_status nm_io_sync_folder(const char *path, nm_error *err);

/* Gives standard streams that are closed a file that takes and gives nothing, so that no file opened later gets their numbers
 * and what is printed. A program executed later finds them closed. For the beginning of main. */
void nm_io_hold_standard_streams(void);

void nm_io_close(int fd); /* fd < 0 is fine */

#endif
