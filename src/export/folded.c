/* SPDX-License-Identifier: Apache-2.0
 *
 * Folded stacks. What has no stack is one frame in parentheses, as in views of sites.
 */
#include "export/export.h"

#include <inttypes.h>
#include <string.h>

#include "base/shown.h"
#include "report/stacks.h"
#include "store/database.h"

static const char folded_sql[] =
    "SELECT place.text, live.stack_id, live.is_baseline, sum(live.live_bytes) FROM live JOIN place ON place.heap_id ="
    " live.heap_id GROUP BY live.heap_id, live.stack_id, live.is_baseline HAVING sum(live.live_bytes) > 0"
    " ORDER BY live.heap_id, live.stack_id, live.is_baseline";

static void write_name(FILE *out, const char *name)
{
    for (; *name != 0; name++)
        putc(*name == ';' ? ',' : *name, out);
}

static void write_heap(FILE *out, const char *text)
{
    char shown[1024];

    write_name(out, nm_shown_text(shown, sizeof shown, text));
}

static void write_stack(const nm_export *export, nm_stacks *stacks, sqlite3_stmt *row,
                        uint32_t frames[NM_STACKS_FRAMES_MAX])
{
    size_t frame_count;
    const nm_stacks_frame *all = nm_stacks_frames(stacks, &frame_count);
    bool is_cut = false;
    size_t count = nm_db_is_null(row, 1)
                       ? 0
                       : nm_stacks_walk(stacks, sqlite3_column_int64(row, 1), export->is_raw, frames, &is_cut);

    if (count == 0)
        fputs(sqlite3_column_int(row, 2) != 0 ? ";(baseline)" : ";(no stack)", export->out);
    if (is_cut)
        fputs(";(callers are missing)", export->out);
    for (size_t i = count; i > 0; i--) {
        const uint8_t *label = nm_strings_get(nm_stacks_strings(stacks), all[frames[i - 1]].label).data;

        putc(';', export->out);
        write_name(export->out, label == NULL ? "??" : (const char *)label);
    }
}

nm_status nm_export_folded(const nm_export *export, nm_error *err)
{
    uint32_t frames[NM_STACKS_FRAMES_MAX];
    nm_stacks *stacks = NULL;
    sqlite3_stmt *row = NULL;
    int code = SQLITE_DONE;
    nm_status status = nm_stacks_open(export->db, &stacks, err);

    if (status == NM_OK)
        status = nm_live_prepare(export->db, &export->moment, folded_sql, &row, err);
    while (status == NM_OK && (code = sqlite3_step(row)) == SQLITE_ROW && !ferror(export->out)) {
        write_heap(export->out, nm_db_text(row, 0));
        write_stack(export, stacks, row, frames);
        fprintf(export->out, " %" PRId64 "\n", (int64_t)sqlite3_column_int64(row, 3));
    }
    if (status == NM_OK && code != SQLITE_DONE && code != SQLITE_ROW)
        status = nm_db_fail(export->db, err);
    sqlite3_finalize(row);
    nm_stacks_close(stacks);
    return status;
}
