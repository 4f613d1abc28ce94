/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps are found by reading an input twice, so a pipe is first copied to a file without a name, unless its source keeps what it
 * needs: a log that is still written is never copied. Before that is done its
 * head must be one that a source knows: what is piped in by mistake may have no end. How steps are found is the replay's;
 * this only feeds it until it has enough.
 */
#include "tool/common/steps.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "trace/block.h"

static bool is_wanted(const char *step_at)
{
    return step_at == NULL || strcmp(step_at, TOOL_NO_STEPS) != 0;
}

bool tool_steps_needs_copy(const char *step_at, int fd)
{
    struct stat info;

    return is_wanted(step_at) && fd >= 0 && fstat(fd, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

/* What begins like a trace may have no end: the source says whether a block is in what has been copied so far. */
static nm_status check_copy(int copy_fd, nm_error *err)
{
    nm_source *probe = NULL;
    nm_status status = NM_OK;

    if (lseek(copy_fd, 0, SEEK_SET) == 0)
        status = nm_source_open(copy_fd, &probe, err);
    nm_source_close(probe);
    return status == NM_OK && lseek(copy_fd, 0, SEEK_END) < 0 ? nm_fail_errno(err, errno, "cannot copy the input")
                                                              : status;
}

static nm_status copy_pipe(int *fd, nm_bytes head, nm_error *err)
{
    uint64_t copied_bytes;
    int copy_fd = -1;
    nm_status status = nm_source_recognise(head, err); /* before it is copied: it may be anything, and have no end */

    if (status == NM_OK)
        status = nm_io_open_temporary(&copy_fd, err);
    if (status == NM_OK)
        status = nm_io_write(copy_fd, head.data, head.len, err);
    if (status == NM_OK)
        status = nm_io_copy(*fd, copy_fd, 2 * NM_TRACE_SEARCH_BYTES, &copied_bytes, err);
    if (status == NM_OK && copied_bytes == 2 * NM_TRACE_SEARCH_BYTES && nm_trace_source_type.matches(head))
        status = check_copy(copy_fd, err);
    if (status == NM_OK && copied_bytes == 2 * NM_TRACE_SEARCH_BYTES)
        status = nm_io_copy(*fd, copy_fd, UINT64_MAX, &copied_bytes, err);
    if (status == NM_OK && lseek(copy_fd, 0, SEEK_SET) != 0)
        status = nm_fail_errno(err, errno, "cannot read the copy of the input");
    if (status != NM_OK) {
        nm_io_close(copy_fd);
        return nm_name_written(status, nm_io_temporary_folder(), err);
    }
    nm_io_close(*fd);
    *fd = copy_fd;
    return NM_OK;
}

nm_status tool_steps_open_pipe(int *fd, nm_source **source, nm_error *err)
{
    uint8_t begin[NM_SOURCE_HEAD_BYTES];
    nm_bytes head = {begin, 0};
    nm_status status = nm_io_read(*fd, begin, sizeof begin, &head.len, err);

    *source = NULL;
    if (status == NM_OK && nm_source_rereads(head))
        return nm_source_open_behind(*fd, head, source, err);
    if (status == NM_OK)
        status = copy_pipe(fd, head, err);
    return status == NM_OK ? nm_source_open(*fd, source, err) : status;
}

nm_status tool_steps_find(const char *step_at, nm_source *source, nm_anchor **out, nm_error *err)
{
    nm_source_summary_data summary;
    nm_record record;
    bool is_enough = false;
    nm_status status;

    *out = NULL;
    if (!is_wanted(step_at))
        return NM_OK;
    nm_source_summary(source, &summary);
    status = nm_anchor_new(&(nm_anchor_options){.given = step_at, .device_id = summary.step_device_id}, out, err);
    while (status == NM_OK && !is_enough) {
        status = nm_source_next(source, &record, err);
        if (status == NM_OK)
            status = nm_anchor_observe(*out, &record, &is_enough, err);
    }
    return status == NM_OK || status == NM_END ? nm_anchor_decide(*out, err) : status;
}
