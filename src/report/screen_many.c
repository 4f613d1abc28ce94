/* SPDX-License-Identifier: Apache-2.0
 *
 * The table over many processes is made as text by summary_many.c: its rows become lines as they are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/screen_groups.h"
#include "report/summary_many.h"

nm_status nm_screen_many_lines(nm_screen *s, nm_error *err)
{
    char *text = NULL, *rest = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    nm_status status;

    if (file == NULL)
        return nm_fail_errno(err, errno, "cannot write the screen");
    status = nm_summary_write_many(s->db, file, err);
    if (fclose(file) != 0 && status == NM_OK)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    for (char *row = status == NM_OK ? strtok_r(text, "\n", &rest) : NULL; row != NULL;
         row = strtok_r(NULL, "\n", &rest)) {
        nm_screen_begin(s, NM_SAY_NOTHING, NM_LINE_PLAIN, NM_RANK_FAULT, "rank_summary");
        nm_screen_add(s, row);
    }
    free(text);
    return status;
}
