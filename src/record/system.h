/* SPDX-License-Identifier: Apache-2.0
 *
 * The few services of the kernel that the recorder uses, by system call: they leave errno alone, are no cancellation
 * points and may be called from a signal handler. A negative result is -errno. Used in slow paths only.
 */
#ifndef NM_RECORD_SYSTEM_H
#define NM_RECORD_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NM_PATH_BYTES_MAX   4096
#define NM_FOLDER_BYTES_MAX 256 /* of the session's folder: a signal handler's stack may be small */
#define NM_FILE_BYTES_MAX   (NM_FOLDER_BYTES_MAX + 32)

int nm_system_open(const char *path, int flags);
long nm_system_read(int fd, void *data, size_t len);
long nm_system_size(int fd); /* bytes of a file */
void nm_system_close(int fd);
void nm_system_unlink(const char *path);
void nm_system_link(const char *target, const char *path); /* a symbolic one */

/* Does the program have rights that whoever started it has not (setuid, setgid, capabilities of its file)? Then nothing of
 * that one's is believed: no environment, no folder, no other program. Fixed when the program starts. */
bool nm_system_is_privileged(void);

/* By the rules of base/trust.h: an open file or folder that is this user's own; a folder, and the one that the absolute
 * `path` lies in, that is safe. 0; -EPERM: it is not; else -errno: nobody can tell. */
long nm_system_check_own(int fd, unsigned type);
long nm_system_check_folder(const char *path);
long nm_system_check_parent(const char *path);

/* Private zeroed memory, NULL when there is none; touched pages alone count. */
void *nm_system_memory(size_t len);
void nm_system_forget(void *memory, size_t len); /* the pages read as zero again */
void nm_system_unmap(void *memory, size_t len);

/* Maps `len` bytes of a file for reading and writing, every page present; NULL on failure. */
void *nm_system_map(int fd, size_t len);

/* What the file system of the folder has left for this user; UINT64_MAX: not known. */
uint64_t nm_system_free_bytes(const char *folder);

/* Makes a file of exactly `len` bytes, the first of them allocated, and maps it. Fails when the name exists. No descriptor
 * stays open and no file is left on failure. Never raises SIGXFSZ. */
long nm_system_make(const char *path, size_t first_len, size_t len, void **memory);

int64_t nm_system_now_ns(void); /* CLOCK_MONOTONIC */
void nm_system_sleep_us(unsigned us);
int nm_system_pid(void);
int nm_system_parent_pid(void);
size_t nm_system_read_link(const char *path, char *text, size_t limit); /* bytes, at most limit; 0 on failure */
size_t nm_system_stack_limit(void); /* how far a main thread's stack may grow, SIZE_MAX: without limit */
int nm_system_tid(void);

#define NM_THREAD_NAME_BYTES 16
void nm_system_thread_name(char name[NM_THREAD_NAME_BYTES]); /* of the calling thread; always terminated */

/* Blocks every signal of the thread and returns the mask to restore. */
uint64_t nm_system_block_signals(void);
void nm_system_restore_signals(uint64_t mask);

/* Lets the kernel write any eight bytes there, so that the page has memory. False: it can have none. */
bool nm_system_touch(void *address);

/* Can these eight bytes be read? Asks the kernel, in one system call that changes nothing. */
bool nm_system_is_readable(const void *address);

/* Whole content of a small file, at most `limit` bytes; the number of bytes, 0 on failure. */
size_t nm_system_slurp(const char *path, char *data, size_t limit);

#endif
