/* SPDX-License-Identifier: Apache-2.0
 *
 * Folded stacks. What has no stack is one frame in parentheses, as in views of sites.
 */
#include "export/export.h"

#include <inttypes.h>
#include <string.h>

#include "base/shown.h"
#include "export/folded.sql.h"
#include "report/stacks.h"

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

static void write_stack(const nm_export *export, nm_stacks *stacks, const nm_folded_row *row,
                        uint32_t frames[NM_STACKS_FRAMES_MAX])
{
    size_t frame_count;
    const nm_stacks_frame *all = nm_stacks_frames(stacks, &frame_count);
    bool is_cut = false;
    size_t count = !row->has.stack_id ? 0 : nm_stacks_walk(stacks, row->stack_id, export->is_raw, frames, &is_cut);

    if (count == 0)
        fputs(row->is_baseline ? ";(baseline)" : ";(no stack)", export->out);
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
    sqlite3_stmt *rows = NULL;
    nm_folded_row row;
    nm_status status = nm_stacks_open(export->db, &stacks, err);

    if (status == NM_OK)
        status = nm_folded_ask(export->db, export->moment.word, export->moment.has_rows, &rows, err);
    while (status == NM_OK && !ferror(export->out) && nm_folded_next(rows, &row)) {
        write_heap(export->out, row.heap);
        write_stack(export, stacks, &row, frames);
        fprintf(export->out, " %" PRId64 "\n", row.live_bytes);
    }
    nm_stacks_close(stacks);
    return nm_question_end(rows, status, err);
}
