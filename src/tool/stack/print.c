/* SPDX-License-Identifier: Apache-2.0
 *
 * A stack is walked frame by frame to its outermost one. Frames with the same function, file and line are one site, so the
 * site of a stack is found among its frames by these and not by its number.
 */
#include "tool/stack/print.h"

#include "base/human.h"
#include "store/database.h"

#define FRAME_COLUMNS 200
#define FRAME_BYTES   (4 * FRAME_COLUMNS + 4)
#define BOLD          "\033[1m"
#define DIM           "\033[2m"
#define PLAIN         "\033[0m"

static const char frame_sql[] =
    "SELECT s.parent_id, f.label, f.is_plumbing = 1, x.frame_id IS NOT NULL AND f.function IS x.function AND f.file IS"
    " x.file AND f.line IS x.line AND f.label IS x.label, s.is_cut = 1"
    " FROM stack AS s LEFT JOIN frame AS f ON f.frame_id = s.frame_id"
    " LEFT JOIN frame AS x ON x.frame_id = (SELECT site_frame_id FROM stack WHERE stack_id = ?2)"
    " WHERE s.stack_id = ?1";

/* The site's name, where it is none of the frames that can be reached. */
static const char site_sql[] =
    "SELECT x.label FROM stack AS s JOIN frame AS x ON x.frame_id = s.site_frame_id AND x.is_cut = 0"
    " WHERE s.stack_id = ?1";

typedef struct walk {
    sqlite3 *db;
    sqlite3_stmt *frames; /* one by its number */
    sqlite3_int64 stack_id, at;
    bool has_next;
} walk;

/* NM_END: there is no further frame. */
static nm_status next_frame(walk *w, nm_error *err)
{
    int code;

    if (!w->has_next)
        return NM_END;
    sqlite3_reset(w->frames);
    sqlite3_bind_int64(w->frames, 1, w->at);
    sqlite3_bind_int64(w->frames, 2, w->stack_id);
    code = sqlite3_step(w->frames);
    if (code != SQLITE_ROW)
        return code == SQLITE_DONE ? NM_END : nm_db_fail(w->db, err);
    w->has_next = !nm_db_is_null(w->frames, 0);
    w->at = sqlite3_column_int64(w->frames, 0);
    return NM_OK;
}

static void print_line(const char *label, bool is_site, bool is_plumbing, bool has_color, FILE *out)
{
    char shown[FRAME_BYTES];
    const char *begin = !has_color ? "" : is_site ? BOLD : is_plumbing ? DIM : "";

    nm_human_text(shown, sizeof shown, label[0] == 0 ? "??" : label, FRAME_COLUMNS);
    fprintf(out, "  %s %s%s%s\n", is_site ? ">" : " ", begin, shown, begin[0] == 0 ? "" : PLAIN);
}

/* How far from the innermost frame the site is; STACK_FRAMES_MAX: it is no frame of the stack. */
static nm_status find_site(walk *w, int *index, nm_error *err)
{
    nm_status status = NM_OK;

    *index = STACK_FRAMES_MAX;
    for (int i = 0; i < STACK_FRAMES_MAX && *index == STACK_FRAMES_MAX; i++) {
        status = next_frame(w, err);
        if (status != NM_OK)
            break;
        if (sqlite3_column_int(w->frames, 3) != 0)
            *index = i;
    }
    w->at = w->stack_id;
    w->has_next = true;
    return status == NM_END ? NM_OK : status;
}

static nm_status print_site(const walk *w, bool has_color, FILE *out, nm_error *err)
{
    sqlite3_stmt *row = NULL;
    nm_status status = nm_db_prepare(w->db, site_sql, &row, err);
    int code;

    if (status != NM_OK)
        return status;
    sqlite3_bind_int64(row, 1, w->stack_id);
    code = sqlite3_step(row);
    if (code == SQLITE_ROW)
        print_line(nm_db_text(row, 0), true, false, has_color, out);
    else if (code != SQLITE_DONE)
        status = nm_db_fail(w->db, err);
    sqlite3_finalize(row);
    return status;
}

static nm_status print_frames(walk *w, int site_index, bool has_color, FILE *out, nm_error *err)
{
    nm_status status = NM_OK;
    bool is_cut = false;

    for (int i = 0; i < STACK_FRAMES_MAX && (status = next_frame(w, err)) == NM_OK; i++) {
        is_cut = i == 0 ? sqlite3_column_int(w->frames, 4) != 0 : is_cut;
        print_line(nm_db_text(w->frames, 1), i == site_index, sqlite3_column_int(w->frames, 2) != 0, has_color, out);
    }
    if (status == NM_OK && w->has_next)
        fputs("    ...\n", out);
    else if (status != NM_ERR_DATABASE && is_cut)
        fputs("    (cut: callers are missing)\n", out);
    return status == NM_END ? NM_OK : status;
}

nm_status stack_print_frames(sqlite3 *db, sqlite3_int64 stack_id, bool has_color, FILE *out, nm_error *err)
{
    walk w = {.db = db, .stack_id = stack_id, .at = stack_id, .has_next = true};
    int site_index;
    nm_status status = nm_db_prepare(db, frame_sql, &w.frames, err);

    if (status == NM_OK)
        status = find_site(&w, &site_index, err);
    if (status == NM_OK && site_index == STACK_FRAMES_MAX)
        status = print_site(&w, has_color, out, err);
    if (status == NM_OK)
        status = print_frames(&w, site_index, has_color, out, err);
    sqlite3_finalize(w.frames);
    return status;
}
