/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/output.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "drain/clock.h"

#define RETRY_NS 1000000000

void nm_output_init(nm_output *output, int fd)
{
    struct stat info;
    off_t at = lseek(fd, 0, SEEK_CUR);

    *output = (nm_output){.fd = fd, .good_bytes = at > 0 ? (uint64_t)at : 0};
    output->can_cut = at >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

void nm_output_fini(nm_output *output)
{
    nm_buffer_free(&output->stuck);
}

/* Takes back what a failed write left behind the last whole block, so that readers find whole blocks only. */
static void cut_back(nm_output *output)
{
    if (output->can_cut && ftruncate(output->fd, (off_t)output->good_bytes) == 0)
        lseek(output->fd, (off_t)output->good_bytes, SEEK_SET);
}

/* As nm_io_write, but *done says how far it came: a pipe cannot be cut back. */
static nm_status write_block(nm_output *output, nm_bytes block, size_t *done, nm_error *err)
{
    while (*done < block.len) {
        ssize_t count = nm_io.write(output->fd, block.data + *done, block.len - *done);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return nm_fail_errno(err, errno, "cannot write the trace");
        *done += (size_t)count;
    }
    output->good_bytes += block.len;
    return NM_OK;
}

nm_status nm_output_append(nm_output *output, nm_bytes block, nm_error *err)
{
    size_t done = 0;
    nm_status status = write_block(output, block, &done, err);

    if (status == NM_OK)
        return NM_OK;
    cut_back(output);
    output->is_stuck = true;
    output->stuck.len = 0;
    output->stuck_at = output->can_cut ? 0 : done;
    output->retry_at_ns = nm_clock_monotonic_ns() + RETRY_NS;
    return nm_buffer_append(&output->stuck, block.data, block.len, err) == NM_OK ? status : NM_ERR_MEMORY;
}

bool nm_output_retry(nm_output *output, bool is_last_try)
{
    if (!output->is_stuck)
        return true;
    if (!is_last_try && nm_clock_monotonic_ns() < output->retry_at_ns)
        return false;
    nm_bytes block = {output->stuck.data, output->stuck.len};
    if (write_block(output, block, &output->stuck_at, NULL) == NM_OK) {
        output->is_stuck = false;
        return true;
    }
    cut_back(output);
    if (output->can_cut)
        output->stuck_at = 0;
    output->retry_at_ns = nm_clock_monotonic_ns() + RETRY_NS;
    return false;
}
