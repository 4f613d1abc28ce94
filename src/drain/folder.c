/* SPDX-License-Identifier: Apache-2.0
 *
 * A folder is made only where nobody else can put another in its place (base/trust.h), by a name that nobody can guess,
 * and on a file system whose pages two processes share. Files are preallocated, since a mapping of a sparse one would
 * kill the program on a full disk. Only files with the names of a ring folder are ever removed.
 */
#include "drain/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/door.h"
#include "base/io.h"
#include "base/trust.h"

#define FILE_NAME_BYTES 32
#define TRIAL_FOLDER    "trial"
#define FILE_BYTES_MAX  ((size_t)NM_RING_BYTES_MAX + NM_RING_HEADER_BYTES)

/* Longest waits of the program for room: a drain that is alive is back within some milliseconds even on a busy machine. */
#define WAIT_EVENT_US   100000
#define WAIT_SECOND_US  250000

/* A mapping shared by two processes is only coherent where one kernel holds the pages. */
static bool is_local(int folder)
{
    /* Numbers of statfs(2), as older kernel headers do not have all their names. */
    static const uint32_t refused[] = {0x6969 /* NFS */,
                                       0x517b /* SMB */,
                                       0xff534d42 /* CIFS */,
                                       0xfe534d42 /* SMB 2 */,
                                       0x65735546 /* FUSE */,
                                       0x5346414f /* AFS */,
                                       0x73757245 /* Coda */,
                                       0x01021997 /* 9P */,
                                       0x00c36400 /* Ceph */,
                                       0x0bd00bd0 /* Lustre */,
                                       0x47504653 /* GPFS */};
    struct statfs info;

    if (fstatfs(folder, &info) != 0)
        return false;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if ((uint32_t)info.f_type == refused[i])
            return false;
    return true;
}

static bool has_room(int folder, uint64_t room_bytes)
{
    struct statfs info;

    return fstatfs(folder, &info) == 0 && (uint64_t)info.f_bavail * (uint64_t)info.f_bsize >= room_bytes;
}

static bool is_safe(int folder, const char *path)
{
    struct stat info;

    return folder >= 0 && fstat(folder, &info) == 0 && nm_trust_is_safe_folder(path, &info, geteuid());
}

/* The folder that `path` is to be in, where nobody else can put another in its place; and its name there. -1: it is not. */
static int open_safe_parent(const char *path, const char **name)
{
    char parent[NM_FOLDER_PATH_BYTES];
    int folder = nm_door_folder_of(path, name);

    if (nm_trust_parent(path, parent, sizeof parent) && is_safe(folder, parent))
        return folder;
    nm_io_close(folder);
    return -1;
}

/* The folder itself, no link to it, and this user's alone. -1: it is not. */
static int open_own_folder(int parent, const char *name)
{
    struct stat info;
    int fd = parent < 0 ? -1 : nm_door_folder_at(parent, name);

    if (fd >= 0 && (fstat(fd, &info) != 0 || !nm_trust_is_own(&info, S_IFDIR, geteuid()))) {
        nm_io_close(fd);
        fd = -1;
    }
    return fd;
}

static bool is_usable(const char *path, uint64_t room_bytes)
{
    int folder = path != NULL && path[0] == '/' ? nm_door_folder(path) : -1;
    bool is_so = folder >= 0 && nm_door_allows(path, W_OK | X_OK) && is_local(folder) && has_room(folder, room_bytes) &&
                 is_safe(folder, path);

    nm_io_close(folder);
    return is_so;
}

/* It is there, and others can write to it. */
static bool is_unsafe(const char *path)
{
    int folder = nm_door_folder(path);
    bool is_so = nm_door_allows(path, F_OK) && !is_safe(folder, path);

    nm_io_close(folder);
    return is_so;
}

nm_status nm_folder_choose(const char *wanted, uint64_t room_bytes, char path[NM_FOLDER_PATH_BYTES], nm_error *err)
{
    const char *places[] = {wanted, "/dev/shm", getenv("TMPDIR"), "/tmp"};
    uint64_t name = 0;

    if (wanted != NULL && is_unsafe(wanted))
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET,
                       "the ring folder must be this user's or root's, and others must not write to it");
    if (wanted != NULL && !is_usable(wanted, room_bytes))
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET,
                       "the ring folder must be an absolute path, local, writable and with %llu bytes free",
                       (unsigned long long)room_bytes);
    if (getrandom(&name, sizeof name, 0) != sizeof name)
        return nm_fail_errno(err, errno, "cannot get random bytes");

    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (is_usable(places[i], room_bytes) && snprintf(path, NM_FOLDER_PATH_BYTES, "%s/npumem-%016llx", places[i],
                                                         (unsigned long long)name) < NM_FOLDER_PATH_BYTES)
            return NM_OK;
    return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "no local, writable folder with room for the rings");
}

static uint64_t round_ring_bytes(uint64_t bytes)
{
    uint64_t rounded = NM_RING_BYTES_MIN;

    while (rounded < bytes && rounded < NM_RING_BYTES_MAX)
        rounded *= 2;
    return rounded;
}

static void fill_session(nm_ring_session *session, const nm_folder_options *options, const uint8_t trace_id[16])
{
    *session = (nm_ring_session){
        .session_bytes = sizeof *session,
        .stack_mode = options->stack_mode,
        .stack_depth = options->stack_depth,
        .on_full = options->on_full,
        .wait_event_us = WAIT_EVENT_US,
        .wait_second_us = WAIT_SECOND_US,
        .ring_bytes = round_ring_bytes(options->ring_bytes),
        .drain_pid = getpid(),
        .is_paused = options->starts_paused ? NM_PAUSED_AT_START : 0,
        .from_step = options->has_from_step ? options->from_step : INT64_MIN,
        .to_step = options->has_to_step ? options->to_step : INT64_MAX,
        .is_live_set_known = options->is_live_set_known,
        .is_sampled = options->is_sampled,
    };
    memcpy(session->trace_id, trace_id, sizeof session->trace_id);
    session->magic = NM_RING_SESSION_MAGIC;
}

/* Preallocates: a sparse file on a full file system would kill whoever writes to its mapping. */
static nm_status map_new_session(int folder, nm_ring_session **out, nm_error *err)
{
    int fd;
    nm_status status = nm_door_open_at(folder, NM_RING_SESSION_FILE, O_RDWR | O_CREAT | O_EXCL, 0600, &fd, err);

    if (status != NM_OK)
        return status;
    int failure = posix_fallocate(fd, 0, sizeof(nm_ring_session));
    void *data = MAP_FAILED;
    if (failure == 0)
        data = mmap(NULL, sizeof(nm_ring_session), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (failure != 0 || data == MAP_FAILED)
        status = nm_fail_errno(err, failure != 0 ? failure : errno, "cannot make the session file");
    else
        *out = data;
    nm_io_close(fd);
    return status;
}

static void remove_session(int parent, const char *name);

/* Makes the folder and maps its session file, which is still empty. */
static nm_status make_session(int parent, const char *name, nm_folder *out, nm_error *err)
{
    nm_status status;

    if (nm_door_make_folder_at(parent, name, 0700) != 0)
        return nm_fail_errno(err, errno, "cannot make the ring folder");
    out->fd = open_own_folder(parent, name);
    status = out->fd >= 0 ? map_new_session(out->fd, &out->session, err)
                          : nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "cannot open the ring folder");
    if (status != NM_OK) {
        nm_io_close(out->fd);
        remove_session(parent, name);
    }
    return status;
}

nm_status nm_folder_create(const char *path, const nm_folder_options *options, nm_folder *out, nm_error *err)
{
    uint8_t trace_id[16];
    const char *name;
    nm_status status;

    *out = (nm_folder){0};
    if (snprintf(out->path, sizeof out->path, "%s", path) >= (int)sizeof out->path)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "the ring folder's path is too long");
    if (getrandom(trace_id, sizeof trace_id, 0) != sizeof trace_id)
        return nm_fail_errno(err, errno, "cannot get random bytes");
    int parent = open_safe_parent(path, &name);
    if (parent < 0)
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "others can write to where the ring folder is to be");
    status = make_session(parent, name, out, err);
    nm_io_close(parent);
    if (status == NM_OK)
        fill_session(out->session, options, trace_id);
    return status;
}

nm_status nm_folder_create_trial(const nm_folder *folder, nm_folder *out, nm_error *err)
{
    nm_status status;

    *out = (nm_folder){0};
    if (snprintf(out->path, sizeof out->path, "%.*s/" TRIAL_FOLDER, (int)sizeof out->path, folder->path) >=
        (int)sizeof out->path)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "the ring folder's path is too long");
    status = make_session(folder->fd, TRIAL_FOLDER, out, err);
    if (status == NM_OK)
        memcpy(out->session, folder->session, sizeof *out->session);
    return status;
}

/* Reads what is data of the file to its place in `data`; what is a hole stays untouched memory. */
static nm_status read_data(int fd, uint8_t *data, size_t bytes, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t at = 0; at < bytes && status == NM_OK;) {
        off_t from = lseek(fd, (off_t)at, SEEK_DATA);
        off_t to = from < 0 ? from : lseek(fd, from, SEEK_HOLE);
        size_t got = 0;

        if (from < 0 && errno == ENXIO) /* a hole to the end */
            return NM_OK;
        at = from < 0 ? at : (size_t)from; /* a file system that does not tell: all is data */
        size_t end = to > from && (size_t)to < bytes ? (size_t)to : bytes;
        if (at >= end || lseek(fd, (off_t)at, SEEK_SET) < 0)
            return NM_OK;
        status = nm_io_read(fd, data + at, end - at, &got, err);
        if (got < end - at) /* it has become shorter */
            return status;
        at = end;
    }
    return status;
}

/* Reads a whole file of a session, refusing links and what is not ours to read. Memory follows what the file holds, not
 * how long it is said to be. */
static nm_status copy_file(int folder, const char *name, size_t min_bytes, void **data, size_t *bytes, nm_error *err)
{
    struct stat info;
    int fd;

    if (nm_door_open_at(folder, name, O_RDONLY | O_NONBLOCK, 0, &fd, err) != NM_OK)
        return NM_END;
    nm_status status = NM_END;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && (size_t)info.st_size >= min_bytes &&
        (size_t)info.st_size <= FILE_BYTES_MAX) {
        *bytes = (size_t)info.st_size;
        *data = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        status = *data == MAP_FAILED ? nm_fail_errno(err, errno, "cannot copy a ring") : NM_OK;
        if (status == NM_OK && (status = read_data(fd, *data, *bytes, err)) != NM_OK)
            munmap(*data, *bytes);
    }
    nm_io_close(fd);
    return status;
}

nm_status nm_folder_open_copy(const char *path, nm_folder *out, nm_error *err)
{
    const char *name;
    void *data = NULL;
    size_t bytes = 0;

    *out = (nm_folder){.is_copy = true};
    if (snprintf(out->path, sizeof out->path, "%s", path) >= (int)sizeof out->path)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "the ring folder's path is too long");
    int parent = open_safe_parent(path, &name);
    out->fd = open_own_folder(parent, name);
    nm_io_close(parent);
    if (out->fd < 0)
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "the ring folder is not there or not this user's");
    if (copy_file(out->fd, NM_RING_SESSION_FILE, sizeof(nm_ring_session), &data, &bytes, err) != NM_OK) {
        nm_io_close(out->fd);
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "the ring folder has no session file");
    }

    out->session = data;
    out->session_bytes = bytes;
    if (out->session->magic != NM_RING_SESSION_MAGIC || out->session->session_bytes != sizeof(nm_ring_session)) {
        nm_folder_close(out);
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "the session file is of another version");
    }
    return NM_OK;
}

void nm_folder_close(nm_folder *folder)
{
    if (folder->session == NULL)
        return;
    nm_folder_unmap(folder, folder->session, folder->is_copy ? folder->session_bytes : sizeof(nm_ring_session));
    nm_io_close(folder->fd);
    folder->session = NULL;
}

static bool is_numbered_file(const char *name)
{
    return (name[0] == 'p' || name[0] == 'r' || name[0] == NM_RING_SPILL_PREFIX || name[0] == NM_RING_REFUSED_PREFIX) &&
           name[1] == '.' && name[2] != 0 && name[2 + strspn(name + 2, "0123456789")] == 0;
}

static void remove_files(int folder)
{
    DIR *list = nm_door_list_at(folder);
    struct dirent *entry;

    while (list != NULL && (entry = readdir(list)) != NULL)
        if (is_numbered_file(entry->d_name) || strcmp(entry->d_name, NM_RING_SESSION_FILE) == 0 ||
            strcmp(entry->d_name, NM_RING_CONTROL_FILE) == 0)
            nm_door_remove_at(folder, entry->d_name);
    if (list != NULL)
        closedir(list);
}

/* With a trial's that it may hold. */
static void remove_session(int parent, const char *name)
{
    int fd = open_own_folder(parent, name), trial = open_own_folder(fd, TRIAL_FOLDER);

    if (trial >= 0) {
        remove_files(trial);
        nm_door_remove_folder_at(fd, TRIAL_FOLDER, trial, 0);
    }
    if (fd >= 0) {
        remove_files(fd);
        nm_door_remove_folder_at(parent, name, fd, 0);
    }
    nm_io_close(trial);
    nm_io_close(fd);
}

void nm_folder_remove(const char *path)
{
    const char *name;
    int parent = nm_door_folder_of(path, &name);

    remove_session(parent, name);
    nm_io_close(parent);
}

/* By its path, as a program would look for it. */
static DIR *list_by_path(const nm_folder *folder)
{
    const char *name;
    int parent = nm_door_folder_of(folder->path, &name), fd = parent < 0 ? -1 : nm_door_folder_at(parent, name);
    DIR *list = fd < 0 ? NULL : nm_door_list_at(fd);

    nm_io_close(fd);
    nm_io_close(parent);
    return list;
}

uint64_t nm_folder_count_refused(const nm_folder *folder, int *why, bool *is_gone)
{
    DIR *listed = list_by_path(folder);
    char target[32] = "";
    struct dirent *entry;
    uint64_t count = 0;

    *is_gone = listed == NULL;
    if (listed == NULL)
        return 0;
    while (errno = 0, (entry = readdir(listed)) != NULL) {
        if (entry->d_name[0] != NM_RING_REFUSED_PREFIX || !is_numbered_file(entry->d_name))
            continue;
        count++;
        if (readlinkat(dirfd(listed), entry->d_name, target, sizeof target - 1) > 0)
            *why = atoi(target);
    }
    *is_gone = errno != 0;
    closedir(listed);
    return count;
}

static void file_name(char prefix, uint64_t number, char name[FILE_NAME_BYTES])
{
    snprintf(name, FILE_NAME_BYTES, "%c.%llu", prefix, (unsigned long long)number);
}

bool nm_folder_has_refused(const nm_folder *folder, uint64_t pid)
{
    char name[FILE_NAME_BYTES];
    struct stat info;

    file_name(NM_RING_REFUSED_PREFIX, pid, name);
    return nm_door_look_at(folder->fd, name, &info);
}

void nm_folder_remove_file(const nm_folder *folder, char prefix, uint64_t number)
{
    char name[FILE_NAME_BYTES];

    file_name(prefix, number, name);
    nm_door_remove_at(folder->fd, name);
}

nm_status nm_folder_try_ring(const nm_folder *folder, nm_error *err)
{
    const size_t bytes = NM_RING_HEADER_BYTES + NM_RING_BYTES_MIN;
    char name[FILE_NAME_BYTES];
    int fd;

    file_name('r', 0, name);
    nm_status status = nm_door_open_at(folder->fd, name, O_RDWR | O_CREAT | O_EXCL, 0600, &fd, err);
    if (status != NM_OK)
        return status;
    int failure = posix_fallocate(fd, 0, (off_t)bytes);
    void *data = failure == 0 ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (data == MAP_FAILED)
        status = nm_fail_errno(err, failure != 0 ? failure : errno, "cannot make a ring");
    else
        munmap(data, bytes);
    nm_io_close(fd);
    nm_door_remove_at(folder->fd, name);
    return status;
}

/* A ring that is being made has no first word yet: with many threads that begin, to map each of them in vain again and again
 * would be most of the work. */
static bool has_begun(int fd)
{
    uint64_t word = 0;

    return pread(fd, &word, sizeof word, 0) == (ssize_t)sizeof word && word != 0;
}

/* What cannot be had now (of memory, of descriptors) is looked for again. */
static nm_status map_file(int folder, const char *name, size_t min_bytes, void **data, size_t *bytes)
{
    struct stat info;
    int fd;

    if (nm_door_open_at(folder, name, O_RDWR | O_NONBLOCK, 0, &fd, NULL) != NM_OK)
        return NM_END;
    nm_status status = NM_END;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && (size_t)info.st_size >= min_bytes &&
        (size_t)info.st_size <= FILE_BYTES_MAX && has_begun(fd)) {
        *bytes = (size_t)info.st_size;
        *data = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        status = *data == MAP_FAILED ? NM_END : NM_OK;
    }
    nm_io_close(fd);
    return status;
}

nm_status nm_folder_map(const nm_folder *folder, char prefix, uint64_t number, size_t min_bytes, void **data,
                        size_t *bytes, nm_error *err)
{
    char name[FILE_NAME_BYTES];

    file_name(prefix, number, name);
    return folder->is_copy ? copy_file(folder->fd, name, min_bytes, data, bytes, err)
                           : map_file(folder->fd, name, min_bytes, data, bytes);
}

void nm_folder_unmap(const nm_folder *folder, void *data, size_t bytes)
{
    (void)folder;
    if (data != NULL)
        munmap(data, bytes);
}
