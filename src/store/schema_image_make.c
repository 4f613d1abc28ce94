/* SPDX-License-Identifier: Apache-2.0
 *
 * schema_image_make SCRATCH.db OUT.zst: a step of the build. Makes an empty database by the SQL of schema/, and compresses it for
 * schema_image.c.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <zstd.h>

#include "base/door.h"
#include "base/io.h"
#include "store/database.h"
#include "store/schema.h"

#define IMAGE_BYTES_MAX ((size_t)64 << 20)
#define LEVEL           19 /* of zstd */

static nm_status make_database(const char *path, nm_error *err)
{
    sqlite3 *db = NULL;

    nm_door_remove(path);
    nm_status status = nm_db_open(path, &db, err);
    if (status == NM_OK)
        status = nm_db_exec(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", err);
    if (status == NM_OK)
        status = nm_schema_create(db, err);
    sqlite3_close(db);
    return status;
}

static nm_status read_file(const char *path, nm_buffer *out, nm_error *err)
{
    int fd = -1;
    nm_status status = nm_io_open(path, O_RDONLY, 0, &fd, err);

    if (status == NM_OK)
        status = nm_io_read_all(fd, IMAGE_BYTES_MAX, out, err);
    nm_io_close(fd);
    return status;
}

static nm_status write_packed(const char *path, nm_bytes image, nm_error *err)
{
    nm_buffer packed = {0};
    int fd = -1;
    nm_status status = nm_buffer_reserve(&packed, ZSTD_compressBound(image.len), err);

    if (status == NM_OK) {
        packed.len = ZSTD_compress(packed.data, packed.cap, image.data, image.len, LEVEL);
        if (ZSTD_isError(packed.len))
            status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "%s", ZSTD_getErrorName(packed.len));
    }
    if (status == NM_OK)
        status = nm_io_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666, &fd, err);
    if (status == NM_OK)
        status = nm_io_write(fd, packed.data, packed.len, err);
    nm_io_close(fd);
    nm_buffer_free(&packed);
    return status;
}

int main(int argc, char **argv)
{
    nm_buffer image = {0};
    nm_error err = {0};

    if (argc != 3) {
        fprintf(stderr, "usage: schema_image_make SCRATCH.db OUT.zst\n");
        return 2;
    }
    nm_status status = make_database(argv[1], &err);
    if (status == NM_OK)
        status = read_file(argv[1], &image, &err);
    if (status == NM_OK)
        status = write_packed(argv[2], (nm_bytes){image.data, image.len}, &err);
    if (status != NM_OK)
        fprintf(stderr, "schema_image_make: %s\n", err.text);
    nm_door_remove(argv[1]);
    nm_buffer_free(&image);
    return status == NM_OK ? 0 : 1;
}
