/* SPDX-License-Identifier: Apache-2.0
 *
 * An empty database as the build made it (schema_image_make.c), compressed: most of it is the rest of pages that hold
 * nothing yet. It goes into the file by one write. It is no more than what SQLite wrote then: another version of SQLite reads it
 * as it reads any file.
 */
#include <stdlib.h>
#include <zstd.h>

#include "base/io.h"
#include "store/schema.h"

#define IMAGE_BYTES_MAX (UINT64_C(64) << 20)

nm_status nm_schema_write_image(int fd, bool *is_written, nm_error *err)
{
    const nm_embedded_text *packed = nm_schema_images;
    unsigned long long bytes = packed->name == NULL ? 0 : ZSTD_getFrameContentSize(packed->text, packed->len);
    void *image = NULL;
    nm_status status = NM_OK;

    *is_written = false;
    if (packed->name == NULL)
        return NM_OK;
    if (bytes > IMAGE_BYTES_MAX) /* or not known */
        return nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET, "the program's own empty database is damaged");
    image = malloc(bytes);
    if (image == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (ZSTD_decompress(image, bytes, packed->text, packed->len) != bytes)
        status = nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET, "the program's own empty database is damaged");
    if (status == NM_OK)
        status = nm_io_write_at(fd, image, bytes, 0, err);
    free(image);
    *is_written = status == NM_OK;
    return status;
}
