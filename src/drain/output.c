/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of the last whole block is remembered, and whatever went wrong behind it is cut off again, so that a reader
 * never meets half a block that nothing follows. A note on what is missing is written behind that end and overwritten
 * by the next block that fits. A pipe is written in pieces that a pipe takes whole or not at all.
 */
#include "drain/output.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/door.h"
#include "base/io.h"
#include "drain/clock.h"

#define RETRY_NS   100000000
#define CLAIM_BYTE (INT64_C(1) << 62) /* behind all data: some network file systems refuse to read what is locked */

nm_status nm_output_claim(int fd, nm_error *err)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = CLAIM_BYTE, .l_len = 1};

    /* Of the open file, not of the process: another descriptor of the same file may be closed at any time. */
    if (fcntl(fd, F_OFD_SETLK, &whole) == 0 || (errno != EAGAIN && errno != EACCES))
        return NM_OK;
    return nm_fail(err, NM_ERR_BUSY, NM_NO_OFFSET, "is being recorded");
}

bool nm_output_is_claimed(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = CLAIM_BYTE, .l_len = 1};

    return fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

nm_status nm_output_create_at(int folder, const char *name, int *fd, nm_error *err)
{
    nm_status status = nm_door_open_at(folder, name, O_RDWR | O_CREAT | O_EXCL, 0666, fd, err);

    if (status != NM_OK || nm_output_claim(*fd, err) == NM_OK)
        return status;
    nm_io_close(*fd); /* who came between replaces it */
    *fd = -1;
    return nm_fail(err, NM_ERR_EXISTS, NM_NO_OFFSET, "is already there");
}

nm_status nm_output_create(const char *path, int *fd, nm_error *err)
{
    const char *name;
    int folder = nm_door_folder_of(path, &name);
    nm_status status =
        folder < 0 ? nm_fail_errno(err, errno, "cannot open") : nm_output_create_at(folder, name, fd, err);

    nm_io_close(folder);
    return status;
}

/* ---- A file -------------------------------------------------------------------------------------------------------- */

/* Room for so many bytes behind the last whole block, and for a note behind these. Returns errno, or 0: also where the file
 * system knows no such thing, for then the write will tell. */
static int make_room(nm_output *output, uint64_t bytes)
{
    struct rlimit limit;
    int result;

    bytes += NM_OUTPUT_RESERVE_BYTES;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        output->good_bytes + bytes > limit.rlim_cur)
        return EFBIG;
    if (!output->has_reserve)
        return 0;
    do
        result = nm_io.fallocate(output->fd, FALLOC_FL_KEEP_SIZE, (off_t)output->good_bytes, (off_t)bytes);
    while (result != 0 && errno == EINTR);
    if (result == 0)
        return 0;
    if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
        return errno;
    output->has_reserve = false;
    return 0;
}

void nm_output_init(nm_output *output, int fd)
{
    struct stat info = {0};
    off_t at = lseek(fd, 0, SEEK_CUR);
    bool is_known = fstat(fd, &info) == 0;

    *output = (nm_output){.fd = fd, .good_bytes = at > 0 ? (uint64_t)at : 0};
    output->can_cut = at >= 0 && is_known && S_ISREG(info.st_mode);
    output->has_reserve = output->can_cut && (fcntl(fd, F_GETFL) & O_APPEND) == 0;
    if (output->has_reserve)
        make_room(output, 0);
}

void nm_output_fini(nm_output *output)
{
    uint64_t bytes = output->good_bytes + output->note_bytes;

    /* Also to the same length: that gives back what was kept behind the end. */
    if (output->has_reserve && ftruncate(output->fd, (off_t)bytes) != 0)
        output->has_reserve = false;
    nm_buffer_free(&output->held);
}

/* Takes back what stands behind `bytes`, so that readers find whole blocks only. That gives the reserve back too: it is
 * taken again at once. */
static void cut_back(nm_output *output, uint64_t bytes)
{
    if (ftruncate(output->fd, (off_t)bytes) == 0 && output->has_reserve)
        make_room(output, 0);
    lseek(output->fd, (off_t)output->good_bytes, SEEK_SET);
}

static nm_status write_block(nm_output *output, nm_bytes block, nm_error *err)
{
    int failure = make_room(output, block.len);
    nm_status status;

    if (failure != 0)
        return nm_fail_write(err, failure);
    if (output->note_bytes > block.len || (output->note_bytes > 0 && !output->has_reserve)) {
        cut_back(output, output->good_bytes);
        output->note_bytes = 0;
    }
    status = nm_io_write(output->fd, block.data, block.len, err);
    if (status != NM_OK) {
        cut_back(output, output->good_bytes);
    } else {
        output->good_bytes += block.len;
    }
    output->note_bytes = 0;
    return status;
}

bool nm_output_note(nm_output *output, nm_bytes note)
{
    uint64_t before_bytes = output->note_bytes;

    assert(output->held.len > 0); /* it stands for what is missing */
    if (!output->can_cut || note.len > NM_OUTPUT_RESERVE_BYTES)
        return false;
    if (before_bytes > 0 && !output->has_reserve)
        cut_back(output, output->good_bytes);
    bool is_written = nm_io_write(output->fd, note.data, note.len, NULL) == NM_OK;
    output->note_bytes = is_written ? note.len : 0;
    if (!is_written || before_bytes > note.len)
        cut_back(output, output->good_bytes + output->note_bytes);
    lseek(output->fd, (off_t)output->good_bytes, SEEK_SET);
    return is_written;
}

void nm_output_keep_note(nm_output *output)
{
    output->good_bytes += output->note_bytes;
    output->note_bytes = 0;
    lseek(output->fd, (off_t)output->good_bytes, SEEK_SET);
}

/* ---- A reader ------------------------------------------------------------------------------------------------------ */

/* Would a write of a few bytes come back at once? An error would. */
static bool is_ready(nm_output *output)
{
    struct pollfd reader = {.fd = output->fd, .events = POLLOUT};

    if (poll(&reader, 1, 0) <= 0 || (output->awaits_reader && (reader.revents & POLLERR) != 0))
        return false;
    output->awaits_reader = false;
    return true;
}

/* In pieces for which there is room whenever there is any, whether the descriptor blocks or not. */
nm_status nm_output_push(nm_output *output, nm_error *err)
{
    while (output->held_at < output->held.len) {
        size_t left = output->held.len - output->held_at;

        if (!is_ready(output))
            break;
        ssize_t count = nm_io.write(output->fd, output->held.data + output->held_at, left < PIPE_BUF ? left : PIPE_BUF);
        if (count < 0 && errno == EAGAIN)
            break;
        if (count < 0 && errno != EINTR) {
            output->is_stuck = true;
            output->is_waiting = false;
            return nm_fail_write(err, errno);
        }
        output->held_at += count > 0 ? (size_t)count : 0;
    }
    output->is_waiting = output->held_at < output->held.len;
    if (!output->is_waiting) {
        output->good_bytes += output->held.len;
        output->held.len = output->held_at = 0;
    }
    return NM_OK;
}

void nm_output_give_up(nm_output *output)
{
    output->is_stuck = true;
    output->is_waiting = false;
}

/* ---- Both ---------------------------------------------------------------------------------------------------------- */

nm_status nm_output_append(nm_output *output, nm_bytes block, nm_error *err)
{
    nm_status status = NM_OK;

    assert(!output->can_cut || !output->is_stuck); /* nothing behind a block that is missing */
    if (output->can_cut) {
        status = write_block(output, block, err);
        if (status == NM_OK)
            return NM_OK;
        output->is_stuck = true;
    }
    output->retry_at_ns = nm_clock_monotonic_ns() + RETRY_NS;
    if (nm_buffer_append(&output->held, block.data, block.len, err) != NM_OK)
        return NM_ERR_MEMORY;
    return output->can_cut ? status : nm_output_push(output, err);
}

bool nm_output_retry(nm_output *output, bool is_last_try)
{
    if (!output->is_stuck)
        return true;
    if (!is_last_try && nm_clock_monotonic_ns() < output->retry_at_ns)
        return false;
    output->retry_at_ns = nm_clock_monotonic_ns() + RETRY_NS;
    if (!output->can_cut) {
        output->is_stuck = nm_output_push(output, NULL) != NM_OK || output->is_waiting;
        output->is_waiting = false;
    } else if (write_block(output, (nm_bytes){output->held.data, output->held.len}, NULL) == NM_OK) {
        output->is_stuck = false;
        output->held.len = 0;
    }
    return !output->is_stuck;
}
