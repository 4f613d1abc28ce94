/* SPDX-License-Identifier: Apache-2.0
 *
 * From the innermost frame to its caller, and so on, until there is none or the line is long enough: a loop of parents, as in a
 * database that was tampered with, ends there, too. What was put together is kept up to a limit, and then begun anew.
 */
#include "report/stack_line.h"

#include <string.h>

#include "report/stack_frame.sql.h"

#define KEPT_BYTES_MAX (64u << 20)
#define BETWEEN        " < "
#define CUT            " < ..."
#define ROOM_BYTES     (NM_STACK_LINE_BYTES_MAX - 6) /* beside CUT */

nm_status nm_stack_lines_init(nm_stack_lines *lines, sqlite3 *db, nm_error *err)
{
    *lines = (nm_stack_lines){0};
    return nm_stack_frame_ask(db, NM_NULL, &lines->frame, err);
}

/* Appends one frame, or that the rest is cut off. */
static nm_status add_frame(nm_stack_lines *lines, size_t begin, const char *label, bool is_first, bool *is_full,
                           nm_error *err)
{
    size_t used = lines->text.len - begin, len = strlen(label);
    nm_status status = NM_OK;

    *is_full = used + strlen(BETWEEN) + len > ROOM_BYTES;
    if (*is_full && is_first) {
        for (len = ROOM_BYTES; len > 0 && ((unsigned char)label[len] & 0xc0) == 0x80;) /* not within a character */
            len--;
    }
    if (!is_first && !*is_full)
        status = nm_buffer_append(&lines->text, BETWEEN, strlen(BETWEEN), err);
    if (status == NM_OK && (is_first || !*is_full))
        status = nm_buffer_append(&lines->text, label, len, err);
    return status == NM_OK && *is_full ? nm_buffer_append(&lines->text, CUT, strlen(CUT), err) : status;
}

static nm_status add_frames(nm_stack_lines *lines, sqlite3_int64 stack_id, size_t begin, nm_error *err)
{
    bool is_full = false, has_next = true, is_first = true;
    nm_stack_frame_row row;
    nm_status status = NM_OK;

    while (status == NM_OK && has_next && !is_full) { /* ends: each frame but the first takes room */
        nm_stack_frame_bind(lines->frame, stack_id);
        has_next = nm_stack_frame_next(lines->frame, &row);
        if (has_next)
            status = add_frame(lines, begin, row.label, is_first, &is_full, err);
        has_next = has_next && row.has.parent_id;
        stack_id = row.parent_id;
        is_first = false;
    }
    return nm_question_pause(lines->frame, status, err);
}

/* Puts a line behind the others: its length, then it. */
static nm_status add_line(nm_stack_lines *lines, sqlite3_int64 stack_id, size_t *place, nm_error *err)
{
    uint32_t len = 0;
    nm_status status;

    if (lines->text.len > KEPT_BYTES_MAX) {
        nm_map_free(&lines->places);
        lines->text.len = 0;
    }
    *place = lines->text.len;
    status = nm_buffer_append(&lines->text, &len, sizeof len, err);
    if (status == NM_OK)
        status = add_frames(lines, stack_id, *place + sizeof len, err);
    if (status != NM_OK)
        return status;
    len = (uint32_t)(lines->text.len - *place - sizeof len);
    memcpy(lines->text.data + *place, &len, sizeof len);
    return nm_map_put(&lines->places, (nm_key){0, (uint64_t)stack_id}, *place, err);
}

nm_status nm_stack_lines_get(nm_stack_lines *lines, sqlite3_int64 stack_id, const char **text, size_t *len,
                             nm_error *err)
{
    const uint64_t *kept = nm_map_get(&lines->places, (nm_key){0, (uint64_t)stack_id});
    size_t place = kept == NULL ? 0 : (size_t)*kept;
    nm_status status = kept == NULL ? add_line(lines, stack_id, &place, err) : NM_OK;
    uint32_t bytes;

    if (status != NM_OK)
        return status;
    memcpy(&bytes, lines->text.data + place, sizeof bytes);
    *text = (const char *)lines->text.data + place + sizeof bytes;
    *len = bytes;
    return NM_OK;
}

void nm_stack_lines_fini(nm_stack_lines *lines)
{
    sqlite3_finalize(lines->frame);
    nm_buffer_free(&lines->text);
    nm_map_free(&lines->places);
    *lines = (nm_stack_lines){0};
}
