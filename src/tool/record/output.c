/* SPDX-License-Identifier: Apache-2.0
 *
 * A file is claimed by a lock before it is trusted to be ours, and what is replaced is replaced by whoever holds the claim
 * of the old file: two recordings that are started at once never write one file. A FIFO is opened without waiting for its
 * reader.
 */
#include "tool/record/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/shown.h"
#include "drain/output.h"
#include "drain/parts.h"
#include "trace/files.h"

#define SUFFIXES_MAX   100000
#define REPLACES_TRIED 100 /* others replace the same file */
#define CLAIMS_TRIED   40
#define CLAIM_PAUSE_NS 50000000

/* ---- What is no file ----------------------------------------------------------------------------------------------- */

static bool is_special_file(const char *name, bool *is_fifo)
{
    struct stat info;

    if (stat(name, &info) != 0)
        return false;
    *is_fifo = S_ISFIFO(info.st_mode);
    return !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

/* At once: a FIFO can be opened for writing while somebody reads it, and for a moment that is us. */
static nm_status open_special(const char *name, bool is_fifo, int *fd, nm_error *err)
{
    int reader = -1;

    if (is_fifo)
        nm_io_open(name, O_RDONLY | O_NONBLOCK, 0, &reader, NULL);
    nm_status status = nm_io_open(name, O_WRONLY | O_NONBLOCK | O_NOCTTY, 0, fd, err);
    nm_io_close(reader);
    return status;
}

/* ---- --force ------------------------------------------------------------------------------------------------------- */

static bool is_same(const struct stat *left, const struct stat *right)
{
    return left->st_dev == right->st_dev && left->st_ino == right->st_ino;
}

/* A recording whose program has just ended needs a moment to write the rest, and the disk one to take it. */
static nm_status claim_patiently(int fd, nm_error *err)
{
    nm_status status = nm_output_claim(fd, err);

    for (int i = 0; i < CLAIMS_TRIED && status == NM_ERR_BUSY; i++) {
        nanosleep(&(struct timespec){.tv_nsec = CLAIM_PAUSE_NS}, NULL);
        status = nm_output_claim(fd, err);
    }
    return status;
}

/* Claims the file that is to go. *fd is -1 for a link, which is not followed. NM_END: another one is there by now. */
static nm_status claim_old(const char *path, int *fd, struct stat *info, nm_error *err)
{
    struct stat opened;
    nm_status status;

    *fd = -1;
    if (lstat(path, info) != 0)
        return errno == ENOENT ? NM_END : nm_fail_errno(err, errno, "cannot open");
    if (S_ISLNK(info->st_mode))
        return NM_OK;
    if (S_ISDIR(info->st_mode))
        return nm_fail_errno(err, EISDIR, "cannot open");
    status = nm_io_open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0, fd, err);
    if (status != NM_OK)
        return status;
    status = claim_patiently(*fd, err);
    if (status == NM_OK && (fstat(*fd, &opened) != 0 || lstat(path, info) != 0 || !is_same(&opened, info)))
        status = NM_END;
    return status;
}

/* It cannot be removed: the folder is another's, or it is mounted. It is written to if it is nobody else's. */
static nm_status take_over(int failure, const struct stat *info, int *old, int *fd, nm_error *err)
{
    bool is_ours = failure == EBUSY || (info->st_uid == geteuid() && info->st_nlink == 1);

    if (*old < 0 || !is_ours)
        return nm_fail_errno(err, failure, "cannot replace");
    if (ftruncate(*old, 0) != 0)
        return nm_fail_errno(err, errno, "cannot replace");
    *fd = *old;
    *old = -1;
    return NM_OK;
}

/* Whoever holds the old file's claim, and he alone, puts a new file there. */
static nm_status replace_file(const char *path, int *fd, nm_error *err)
{
    nm_status status = NM_ERR_EXISTS;
    struct stat info = {0};
    int old = -1;

    *fd = -1;
    for (int i = 0; i < REPLACES_TRIED && (status == NM_ERR_EXISTS || status == NM_END); i++) {
        status = nm_output_create(path, fd, err);
        if (status != NM_ERR_EXISTS)
            break;
        status = claim_old(path, &old, &info, err);
        if (status == NM_OK && unlink(path) != 0 && errno != ENOENT)
            status = take_over(errno, &info, &old, fd, err);
        else if (status == NM_OK)
            status = nm_output_create(path, fd, err);
        nm_io_close(old);
    }
    return status == NM_END ? nm_fail(err, NM_ERR_EXISTS, NM_NO_OFFSET, "is replaced again and again") : status;
}

/* ---- Names --------------------------------------------------------------------------------------------------------- */

/* run.zst -> run-N.zst */
static nm_status append_suffixed(const char *name, unsigned number, nm_buffer *out, nm_error *err)
{
    const char *base = strrchr(name, '/'), *dot = strrchr(name, '.');
    char suffix[32];

    if (dot == NULL || dot == name || (base != NULL && dot <= base + 1))
        dot = name + strlen(name);
    snprintf(suffix, sizeof suffix, "-%u", number);
    out->len = 0;
    nm_status status = nm_buffer_append(out, name, (size_t)(dot - name), err);
    if (status == NM_OK)
        status = nm_buffer_append(out, suffix, strlen(suffix), err);
    return status == NM_OK ? nm_buffer_append(out, dot, strlen(dot) + 1, err) : status;
}

/* The first name, of NAME, NAME-1, ..., that `create` can make a file of. */
static nm_status create_first(nm_buffer *name, nm_status (*create)(const char *name, int *fd, nm_error *err), int *fd,
                              nm_error *err)
{
    const char *wanted = (const char *)name->data;
    nm_buffer tried = {0};
    nm_status status = create(wanted, fd, err);

    for (unsigned number = 1; status == NM_ERR_EXISTS && number < SUFFIXES_MAX; number++) {
        status = append_suffixed(wanted, number, &tried, err);
        if (status == NM_OK)
            status = create((const char *)tried.data, fd, err);
    }
    if (status == NM_OK && tried.len > 0) {
        nm_shown_print(stderr, "npumem-record: %s exists; writing %s\n", wanted, (const char *)tried.data);
        nm_buffer_free(name);
        *name = tried;
    } else {
        nm_buffer_free(&tried);
    }
    return status;
}

nm_status record_open_output(nm_buffer *name, bool is_forced, int *fd, nm_error *err)
{
    const char *wanted = (const char *)name->data;
    bool is_fifo;

    if (is_special_file(wanted, &is_fifo))
        return open_special(wanted, is_fifo, fd, err);
    return is_forced ? replace_file(wanted, fd, err) : create_first(name, nm_output_create, fd, err);
}

/* ---- Parts --------------------------------------------------------------------------------------------------------- */

typedef struct claims {
    nm_status status;
    nm_error *err;
} claims;

/* Is it being recorded? */
static void check_part(void *context, const char *path)
{
    claims *found = context;
    int fd = -1;

    if (found->status == NM_OK && nm_io_open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0, &fd, NULL) == NM_OK)
        found->status = nm_output_claim(fd, found->err);
    nm_io_close(fd);
}

static void remove_part(void *context, const char *path)
{
    (void)context;
    unlink(path);
}

/* All that stands there, as the file of a trace that is not in parts would. */
static void visit_all(const char *name, void (*visit)(void *context, const char *path), void *context)
{
    if (nm_trace_files_is_single(name))
        visit(context, name);
    nm_trace_files_visit(name, visit, context);
}

/* A part that is written is there until the next one is: if none is claimed, nobody records. */
static nm_status remove_all(const char *name, nm_error *err)
{
    claims found = {.err = err};

    visit_all(name, check_part, &found);
    if (found.status == NM_OK)
        visit_all(name, remove_part, NULL);
    return found.status;
}

static nm_status open_part(const char *name, nm_status (*open_file)(const char *path, int *fd, nm_error *err), int *fd,
                           nm_error *err)
{
    char *path = nm_part_path(name, 0);
    nm_status status =
        path == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : open_file(path, fd, err);

    free(path);
    return status;
}

static nm_status create_part(const char *name, int *fd, nm_error *err)
{
    if (nm_trace_files_is_single(name) || nm_trace_files_visit(name, NULL, NULL) > 0)
        return nm_fail(err, NM_ERR_EXISTS, NM_NO_OFFSET, "is already there");
    return open_part(name, nm_output_create, fd, err);
}

nm_status record_open_first_part(nm_buffer *name, bool is_forced, int *fd, nm_error *err)
{
    const char *wanted = (const char *)name->data;
    nm_status status;
    bool is_fifo;

    if (is_special_file(wanted, &is_fifo))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "--keep needs the name of a file");
    if (!is_forced)
        return create_first(name, create_part, fd, err);
    status = remove_all(wanted, err);
    return status == NM_OK ? open_part(wanted, replace_file, fd, err) : status;
}
