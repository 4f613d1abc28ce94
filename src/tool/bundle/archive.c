/* SPDX-License-Identifier: Apache-2.0
 *
 * A header of 512 bytes before each member, zeros behind it up to the next 512, and two blocks of zeros at the end. Errors of
 * `out` are looked at when all is written.
 */
#include "tool/bundle/archive.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/io.h"

#define BLOCK_BYTES    512
#define OCTAL_SIZE_MAX ((UINT64_C(1) << 33) - 1) /* in 11 octal digits */
#define CHUNK_BYTES    65536
#define COMPRESSION    6 /* beyond, a database grows little smaller and takes long */

typedef struct tar_header {
    char name[100], mode[8], user_id[8], group_id[8], size[12], time[12], checksum[8], type, link[100];
    char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], unused[12];
} tar_header;

_Static_assert(sizeof(tar_header) == BLOCK_BYTES, "a header is a block");

struct archive {
    FILE *out;         /* borrowed */
    ZSTD_CCtx *packer; /* owned; NULL: as it is */
    int64_t time_seconds;
    uint8_t packed[CHUNK_BYTES];
};

nm_status archive_open(FILE *out, bool is_compressed, int64_t time_seconds, archive **made, nm_error *err)
{
    archive *a = calloc(1, sizeof *a);

    if (a == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    a->out = out;
    a->time_seconds = time_seconds;
    a->packer = is_compressed ? ZSTD_createCCtx() : NULL;
    if (is_compressed && a->packer == NULL) {
        archive_free(a);
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    }
    if (is_compressed) {
        ZSTD_CCtx_setParameter(a->packer, ZSTD_c_compressionLevel, COMPRESSION);
        ZSTD_CCtx_setParameter(a->packer, ZSTD_c_checksumFlag, 1);
    }
    *made = a;
    return NM_OK;
}

static nm_status pack(archive *a, const void *data, size_t len, ZSTD_EndDirective end, nm_error *err)
{
    ZSTD_inBuffer from = {data, len, 0};
    size_t left = 1;

    while (end == ZSTD_e_end ? left != 0 : from.pos < from.size) {
        ZSTD_outBuffer to = {a->packed, sizeof a->packed, 0};

        left = ZSTD_compressStream2(a->packer, &to, &from, end);
        if (ZSTD_isError(left))
            return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "cannot compress: %s", ZSTD_getErrorName(left));
        fwrite(a->packed, 1, to.pos, a->out);
    }
    return ferror(a->out) ? nm_fail_write(err, errno) : NM_OK;
}

static nm_status put(archive *a, const void *data, size_t len, nm_error *err)
{
    if (a->packer != NULL)
        return pack(a, data, len, ZSTD_e_continue, err);
    fwrite(data, 1, len, a->out);
    return ferror(a->out) ? nm_fail_write(err, errno) : NM_OK;
}

static nm_status put_zeros(archive *a, size_t len, nm_error *err)
{
    static const uint8_t zeros[2 * BLOCK_BYTES];

    return put(a, zeros, len, err);
}

/* Eleven octal digits, or what stands for more of them: a bit, and the number in 11 bytes, the highest first. */
static void write_size(char field[12], uint64_t size)
{
    char text[32];

    if (size <= OCTAL_SIZE_MAX) {
        snprintf(text, sizeof text, "%011" PRIo64, size);
        memcpy(field, text, 12);
        return;
    }
    memset(field, 0, 12);
    field[0] = (char)0x80;
    for (int i = 11; i > 3; i--, size >>= 8)
        field[i] = (char)(size & 0xff);
}

/* The sum of the header's bytes, with spaces where it stands itself. */
static void write_checksum(tar_header *header)
{
    const unsigned char *bytes = (const unsigned char *)header;
    unsigned sum = 0;

    memset(header->checksum, ' ', sizeof header->checksum);
    for (size_t i = 0; i < sizeof *header; i++)
        sum += bytes[i];
    snprintf(header->checksum, sizeof header->checksum - 1, "%06o", sum);
}

static nm_status put_header(archive *a, const char *name, uint64_t size, nm_error *err)
{
    tar_header header = {.type = '0',
                         .mode = "0000644",
                         .user_id = "0000000",
                         .group_id = "0000000",
                         .magic = "ustar",
                         .version = {'0', '0'}};

    snprintf(header.name, sizeof header.name, "%s", name);
    write_size(header.size, size);
    write_size(header.time, (uint64_t)a->time_seconds);
    write_checksum(&header);
    return put(a, &header, sizeof header, err);
}

static nm_status put_padding(archive *a, uint64_t size, nm_error *err)
{
    return put_zeros(a, (size_t)(-size % BLOCK_BYTES), err);
}

nm_status archive_add(archive *a, const char *name, nm_bytes content, nm_error *err)
{
    nm_status status = put_header(a, name, content.len, err);

    if (status == NM_OK)
        status = put(a, content.data, content.len, err);
    return status == NM_OK ? put_padding(a, content.len, err) : status;
}

nm_status archive_add_file(archive *a, const char *name, int fd, nm_error *err)
{
    uint8_t chunk[CHUNK_BYTES];
    struct stat info;
    uint64_t left;
    size_t got = 1;
    nm_status status = fstat(fd, &info) == 0 ? NM_OK : nm_fail_errno(err, errno, "cannot read");

    if (status != NM_OK)
        return status;
    left = (uint64_t)info.st_size;
    status = put_header(a, name, left, err);
    for (; status == NM_OK && left > 0 && got > 0; left -= got) {
        status = nm_io_read(fd, chunk, left < sizeof chunk ? (size_t)left : sizeof chunk, &got, err);
        if (status == NM_OK)
            status = put(a, chunk, got, err);
    }
    if (status == NM_OK && left > 0)
        status = nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "cannot read: the file has become shorter");
    return status == NM_OK ? put_padding(a, (uint64_t)info.st_size, err) : status;
}

nm_status archive_end(archive *a, nm_error *err)
{
    nm_status status = put_zeros(a, 2 * BLOCK_BYTES, err);

    if (status == NM_OK && a->packer != NULL)
        status = pack(a, NULL, 0, ZSTD_e_end, err);
    if (status == NM_OK && fflush(a->out) != 0)
        status = nm_fail_write(err, errno);
    return status;
}

void archive_free(archive *a)
{
    if (a == NULL)
        return;
    ZSTD_freeCCtx(a->packer);
    free(a);
}
