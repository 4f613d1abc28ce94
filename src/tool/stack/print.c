/* SPDX-License-Identifier: Apache-2.0
 *
 * A stack is walked frame by frame to its outermost one. Frames with the same function, file and line are one site, so the
 * site of a stack is found among its frames by these and not by its number.
 */
#include "tool/stack/print.h"

#include "base/human.h"
#include "base/spoken.h"
#include "tool/stack/shown_frames.sql.h"
#include "tool/stack/site_labels.sql.h"

#define FRAME_COLUMNS 200
#define FRAME_BYTES   (4 * FRAME_COLUMNS + 4)
#define BOLD          "\033[1m"
#define DIM           "\033[2m"
#define PLAIN         "\033[0m"

typedef struct walk {
    sqlite3 *db;
    nm_json *json; /* NULL: lines are printed to: */
    FILE *out;
    bool has_color;
    sqlite3_stmt *frames; /* one by its number */
    sqlite3_int64 stack_id, at;
    bool has_next;
    nm_shown_frames_row frame; /* at hand */
} walk;

/* NM_END: there is no further frame. */
static nm_status next_frame(walk *w, nm_error *err)
{
    if (!w->has_next)
        return NM_END;
    nm_shown_frames_bind(w->frames, w->stack_id, w->at);
    if (!nm_shown_frames_next(w->frames, &w->frame))
        return nm_question_pause(w->frames, NM_OK, err) == NM_OK ? NM_END : NM_ERR_DATABASE;
    w->has_next = w->frame.has.parent_id;
    w->at = w->frame.parent_id;
    return NM_OK;
}

static void print_line(const walk *w, const char *label, bool is_site, bool is_plumbing)
{
    char shown[FRAME_BYTES];
    const char *begin = !w->has_color ? "" : is_site ? BOLD : is_plumbing ? DIM : "";

    if (w->json != NULL) {
        nm_json_begin(w->json, NULL, '{');
        nm_json_text(w->json, "label", label[0] == 0 ? NULL : label);
        nm_json_bool(w->json, "is_site", is_site);
        nm_json_bool(w->json, "is_plumbing", is_plumbing);
        nm_json_end(w->json, '}');
        return;
    }
    nm_human_text(shown, sizeof shown, label[0] == 0 ? "??" : label, FRAME_COLUMNS);
    fprintf(w->out, "  %s %s%s%s\n", is_site ? ">" : " ", begin, shown, begin[0] == 0 ? "" : PLAIN);
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
        if (w->frame.is_site)
            *index = i;
    }
    w->at = w->stack_id;
    w->has_next = true;
    return status == NM_END ? NM_OK : status;
}

/* The site's name, where it is none of the frames that can be reached. */
static nm_status print_site(const walk *w, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_site_labels_row row;
    nm_status status = nm_site_labels_ask(w->db, w->stack_id, &rows, err);

    if (status == NM_OK && nm_site_labels_next(rows, &row))
        print_line(w, row.label, true, false);
    return nm_question_end(rows, status, err);
}

/* *has_more: it has no end that could be reached. */
static nm_status print_frames(walk *w, int site_index, bool *is_cut, bool *has_more, nm_error *err)
{
    nm_status status = NM_OK;

    for (int i = 0; i < STACK_FRAMES_MAX && (status = next_frame(w, err)) == NM_OK; i++) {
        *is_cut = i == 0 ? w->frame.is_cut : *is_cut;
        print_line(w, w->frame.label, i == site_index, w->frame.is_plumbing);
    }
    *has_more = status == NM_OK && w->has_next;
    return status == NM_END ? NM_OK : status;
}

static nm_status print_stack(walk *w, bool *is_cut, bool *has_more, nm_error *err)
{
    int site_index;
    nm_status status = nm_shown_frames_ask(w->db, NM_NULL, NM_NULL, &w->frames, err);

    *is_cut = *has_more = false;
    if (status == NM_OK)
        status = find_site(w, &site_index, err);
    if (status == NM_OK && site_index == STACK_FRAMES_MAX)
        status = print_site(w, err);
    if (status == NM_OK)
        status = print_frames(w, site_index, is_cut, has_more, err);
    sqlite3_finalize(w->frames);
    return status;
}

nm_status stack_print_frames(sqlite3 *db, sqlite3_int64 stack_id, bool has_color, FILE *out, nm_error *err)
{
    walk w = {.db = db, .out = out, .has_color = has_color, .stack_id = stack_id, .at = stack_id, .has_next = true};
    bool is_cut, has_more;
    nm_status status = print_stack(&w, &is_cut, &has_more, err);

    if (status == NM_OK && has_more)
        fputs("    ...\n", out);
    else if (status == NM_OK && is_cut)
        fputs(nm_spoken("    (cut: callers are missing)\n"), out);
    return status;
}

nm_status stack_write_frames(sqlite3 *db, sqlite3_int64 stack_id, nm_json *json, nm_error *err)
{
    walk w = {.db = db, .json = json, .stack_id = stack_id, .at = stack_id, .has_next = true};
    bool is_cut, has_more;
    nm_status status;

    nm_json_begin(json, "frames", '[');
    status = print_stack(&w, &is_cut, &has_more, err);
    nm_json_end(json, ']');
    nm_json_bool(json, "is_cut", is_cut || has_more);
    return status;
}
