/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads them where they lie: NPUMEM_QUERY_DIR.
 */
#include "support/queries.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/io.h"

int queries_each(void (*check)(const char *name, const char *text))
{
    DIR *entries = opendir(NPUMEM_QUERY_DIR);
    int count = 0;

    ck_assert_ptr_nonnull(entries);
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        char path[512];
        nm_buffer text = {0};
        nm_error err;
        int fd = -1;

        if (strstr(entry->d_name, ".sql") == NULL)
            continue;
        snprintf(path, sizeof path, "%s/%s", NPUMEM_QUERY_DIR, entry->d_name);
        ck_assert_int_eq(nm_io_open(path, O_RDONLY, 0, &fd, &err), NM_OK);
        ck_assert_int_eq(nm_io_read_all(fd, 1 << 20, &text, &err), NM_OK);
        ck_assert_int_eq(nm_buffer_append(&text, "", 1, &err), NM_OK);
        nm_io_close(fd);
        check(entry->d_name, (const char *)text.data);
        nm_buffer_free(&text);
        count++;
    }
    closedir(entries);
    return count;
}
