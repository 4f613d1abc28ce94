/* SPDX-License-Identifier: Apache-2.0
 *
 * A gzip file is inflated as it is read, and anew from its start after a rewind; several members behind one another are one text.
 * Of a pipe that is read once, its first bytes are kept.
 */
#include "source/input.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/buffer.h"
#include "base/io.h"

#define CHUNK_BYTES ((size_t)64 << 10)
#define WITH_GZIP   (16 + MAX_WBITS)
#define KEPT_BYTES  (2 * NM_INPUT_LOOK_BYTES_MAX) /* what is looked at may be packed, and is read in chunks */
#define WATCH_BYTES (UINT64_C(1) << 20)

struct nm_input {
    int fd;       /* borrowed, or spool_fd */
    int spool_fd; /* owned, or -1 */
    uint64_t size_bytes, at;
    bool is_pipe;     /* read once */
    nm_buffer kept;   /* then: what has been read of it, up to KEPT_BYTES */
    uint64_t watched; /* bytes since the watcher was told */
    uint64_t noted;   /* bytes that were read in another way */
    bool is_gzip, is_inflating, is_ended, is_cut;
    z_stream stream; /* of is_gzip, while is_inflating */
    uint8_t chunk[CHUNK_BYTES];
};

static _Thread_local struct {
    nm_input_watcher *tell;
    void *context;
} watching;

void nm_input_watch(nm_input_watcher *watcher, void *context)
{
    watching.tell = watcher;
    watching.context = context;
}

bool nm_input_is_gzip(nm_bytes head)
{
    return head.len >= 3 && head.data[0] == 0x1f && head.data[1] == 0x8b && head.data[2] == Z_DEFLATED;
}

size_t nm_input_look_into_gzip(nm_bytes head, uint8_t *out, size_t size)
{
    z_stream stream = {
        .next_in = (Bytef *)(uintptr_t)head.data, .avail_in = (uInt)head.len, .next_out = out, .avail_out = (uInt)size};

    if (inflateInit2(&stream, WITH_GZIP) != Z_OK)
        return 0;
    inflate(&stream, Z_SYNC_FLUSH); /* what is cut or damaged gives what is in front */
    inflateEnd(&stream);
    return size - stream.avail_out;
}

static nm_status begin(nm_input *input, nm_error *err)
{
    assert(!input->is_pipe || input->at <= input->kept.len);
    input->at = 0;
    if (!input->is_gzip)
        return NM_OK;
    input->is_ended = input->is_cut = false;
    if (input->is_inflating)
        inflateEnd(&input->stream);
    input->stream = (z_stream){.next_in = input->chunk};
    input->is_inflating = inflateInit2(&input->stream, WITH_GZIP) == Z_OK;
    return input->is_inflating ? NM_OK : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
}

static nm_status spool(nm_input *input, int fd, nm_bytes head, nm_error *err)
{
    uint64_t copied_bytes = 0;
    nm_status status = nm_io_open_temporary(&input->spool_fd, err);

    input->fd = input->spool_fd;
    if (status == NM_OK)
        status = nm_io_write(input->spool_fd, head.data, head.len, err);
    if (status == NM_OK)
        status = nm_io_copy(fd, input->spool_fd, UINT64_MAX - head.len, &copied_bytes, err);
    nm_name_written(status, nm_io_temporary_folder(), err);
    input->size_bytes = head.len + copied_bytes;
    return status;
}

static nm_status open_input(int fd, nm_bytes head, bool is_once, nm_input **out, nm_error *err)
{
    nm_input *input = calloc(1, sizeof *input);
    struct stat info;
    nm_status status = NM_OK;

    *out = NULL;
    if (input == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    input->fd = fd;
    input->spool_fd = -1;
    input->is_gzip = nm_input_is_gzip(head);
    if (fstat(fd, &info) != 0)
        status = nm_fail_errno(err, errno, "cannot read");
    else if (!S_ISREG(info.st_mode) && is_once) {
        input->is_pipe = true;
        status = nm_buffer_append(&input->kept, head.data, head.len, err);
    } else if (!S_ISREG(info.st_mode))
        status = spool(input, fd, head, err);
    else
        input->size_bytes = (uint64_t)info.st_size;
    if (status == NM_OK)
        status = begin(input, err);
    if (status != NM_OK) {
        nm_input_close(input);
        return status;
    }
    *out = input;
    return NM_OK;
}

nm_status nm_input_open(int fd, nm_bytes head, nm_input **out, nm_error *err)
{
    return open_input(fd, head, false, out, err);
}

nm_status nm_input_open_once(int fd, nm_bytes head, nm_input **out, nm_error *err)
{
    return open_input(fd, head, true, out, err);
}

void nm_input_close(nm_input *input)
{
    if (input == NULL)
        return;
    if (input->is_inflating)
        inflateEnd(&input->stream);
    nm_io_close(input->spool_fd);
    nm_buffer_free(&input->kept);
    free(input);
}

nm_status nm_input_rewind(nm_input *input, nm_error *err)
{
    return begin(input, err);
}

static void tell_watcher(nm_input *input, size_t more_bytes, uint64_t position)
{
    input->watched += more_bytes;
    if (watching.tell == NULL || input->watched < WATCH_BYTES)
        return;
    input->watched = 0;
    watching.tell(watching.context, position, input->is_pipe ? 0 : input->size_bytes);
}

void nm_input_note_read(nm_input *input, size_t bytes)
{
    input->noted += bytes;
    tell_watcher(input, bytes, input->noted);
}

/* What is kept first. */
static nm_status read_pipe(nm_input *input, void *data, size_t len, size_t *got, nm_error *err)
{
    size_t old = input->at < input->kept.len ? input->kept.len - (size_t)input->at : 0, new = 0;

    old = old < len ? old : len;
    if (old > 0)
        memcpy(data, input->kept.data + input->at, old);
    nm_status status = nm_io_read(input->fd, (uint8_t *)data + old, len - old, &new, err);
    if (status == NM_OK && input->kept.len < KEPT_BYTES)
        status = nm_buffer_append(&input->kept, (uint8_t *)data + old, new, err);
    *got = old + new;
    input->size_bytes = input->at + *got;
    return status;
}

static nm_status read_file(nm_input *input, void *data, size_t len, size_t *got, nm_error *err)
{
    uint64_t left = input->size_bytes - input->at;

    *got = len < left ? len : (size_t)left;
    return nm_io_read_at(input->fd, data, *got, input->at, err);
}

/* The file's own bytes. */
static nm_status read_plain(nm_input *input, void *data, size_t len, size_t *got, nm_error *err)
{
    nm_status status = (input->is_pipe ? read_pipe : read_file)(input, data, len, got, err);

    if (status == NM_OK)
        input->at += *got;
    tell_watcher(input, *got, input->at);
    return status;
}

/* More to inflate: the next of the file; none at its end. */
static nm_status refill(nm_input *input, nm_error *err)
{
    size_t got = 0;
    nm_status status = read_plain(input, input->chunk, CHUNK_BYTES, &got, err);

    input->stream.next_in = input->chunk;
    input->stream.avail_in = (uInt)got;
    return status;
}

/* Behind a member of a gzip file another may stand; else what is there is padding. */
static nm_status end_member(nm_input *input, nm_error *err)
{
    nm_status status = input->stream.avail_in == 0 ? refill(input, err) : NM_OK;

    if (status == NM_OK && input->stream.avail_in > 0 && input->stream.next_in[0] == 0x1f)
        inflateReset(&input->stream);
    else
        input->is_ended = true;
    return status;
}

static nm_status inflate_more(nm_input *input, nm_error *err)
{
    nm_status status = input->stream.avail_in == 0 ? refill(input, err) : NM_OK;

    if (status != NM_OK)
        return status;
    if (input->stream.avail_in == 0) {
        input->is_ended = input->is_cut = true;
        return NM_OK;
    }
    int result = inflate(&input->stream, Z_NO_FLUSH);
    if (result == Z_STREAM_END)
        return end_member(input, err);
    if (result == Z_OK || result == Z_BUF_ERROR)
        return NM_OK;
    return result == Z_MEM_ERROR ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                                 : nm_fail(err, NM_ERR_FORMAT, nm_input_position(input), "the gzip file is damaged");
}

nm_status nm_input_read(void *context, void *data, size_t len, size_t *got, nm_error *err)
{
    nm_input *input = context;
    nm_status status = NM_OK;

    if (!input->is_gzip)
        return read_plain(input, data, len, got, err);
    *got = 0;
    while (status == NM_OK && *got < len && !input->is_ended) {
        size_t room = len - *got < CHUNK_BYTES ? len - *got : CHUNK_BYTES;

        input->stream.next_out = (uint8_t *)data + *got;
        input->stream.avail_out = (uInt)room;
        status = inflate_more(input, err);
        *got += room - input->stream.avail_out;
    }
    return status;
}

/* All that the gzip file holds, into `fd`. */
static nm_status unpack_into(nm_input *input, int fd, uint64_t *size_bytes, nm_error *err)
{
    uint8_t part[CHUNK_BYTES];
    size_t got = sizeof part;
    nm_status status = begin(input, err);

    while (status == NM_OK && got == sizeof part) {
        status = nm_input_read(input, part, sizeof part, &got, err);
        if (status != NM_OK)
            break;
        status = nm_io_write(fd, part, got, err);
        nm_name_written(status, nm_io_temporary_folder(), err);
        *size_bytes += got;
        if (*size_bytes > NM_INPUT_UNPACKED_FREE + NM_INPUT_UNPACKED_A_BYTE * input->at)
            status = nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET,
                             "given up: the gzip file holds more than a database of its size can");
    }
    return status;
}

nm_status nm_input_unpack(nm_input *input, nm_error *err)
{
    uint64_t size_bytes = 0;
    int fd = -1;

    if (!input->is_gzip)
        return NM_OK;
    nm_status status = nm_io_open_temporary(&fd, err);
    if (status == NM_OK)
        status = unpack_into(input, fd, &size_bytes, err);
    if (status != NM_OK) {
        nm_io_close(fd);
        return status;
    }
    nm_io_close(input->spool_fd);
    input->fd = input->spool_fd = fd;
    input->size_bytes = size_bytes;
    input->is_gzip = false;
    return begin(input, err);
}

uint64_t nm_input_position(const nm_input *input)
{
    return input->at - (input->is_gzip ? input->stream.avail_in : 0);
}

uint64_t nm_input_size(const nm_input *input)
{
    return input->size_bytes;
}

bool nm_input_is_cut(const nm_input *input)
{
    return input->is_cut;
}

int nm_input_fd(const nm_input *input)
{
    return input->fd;
}
