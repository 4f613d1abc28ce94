/* SPDX-License-Identifier: Apache-2.0
 *
 * Two arrays in the order of their numbers, found by halving. Frame 0 of the array is the one without a name. Frames with
 * the same function, file, line and label are one site, so the site of a stack is found among its frames by these.
 */
#include "report/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "report/frames.sql.h"
#include "report/stack_links.sql.h"

typedef struct stack_row {
    int64_t stack_id;
    int64_t parent_id;    /* NM_NULL: none */
    uint32_t frame, site; /* indexes of frames; a site of 0: none */
    bool is_cut;
} stack_row;

struct nm_stacks {
    nm_strings strings;
    nm_buffer text; /* of one column, made safe to show */
    nm_stacks_frame *frames;
    size_t frame_count, frame_capacity;
    stack_row *stacks;
    size_t stack_count, stack_capacity;
};

/* ---- Reading ------------------------------------------------------------------------------------------------------- */

/* The number of the text in a column; 0: NULL. */
static nm_status intern(nm_stacks *stacks, const char *text, uint32_t *number, nm_error *err)
{
    size_t len = strlen(text);
    nm_status status;

    *number = 0;
    if (len == 0)
        return NM_OK;
    stacks->text.len = 0;
    status = nm_buffer_append(&stacks->text, text, len, err);
    if (status != NM_OK)
        return status;
    len = nm_shown_make((char *)stacks->text.data, len, "");
    return nm_strings_intern(&stacks->strings, (nm_bytes){stacks->text.data, len}, number, err);
}

static nm_status take_frame(nm_stacks *stacks, const nm_frames_row *row, nm_error *err)
{
    nm_status status =
        nm_array_grow(&stacks->frames, &stacks->frame_capacity, stacks->frame_count + 1, sizeof *stacks->frames, err);

    if (status != NM_OK)
        return status;
    nm_stacks_frame *frame = &stacks->frames[stacks->frame_count];
    *frame = (nm_stacks_frame){
        .frame_id = row->frame_id,
        .line = row->line,
        .offset = row->offset,
        .module_id = NM_NUMBER_OF(row, module_id),
        .is_plumbing = row->is_plumbing,
    };
    status = intern(stacks, row->label, &frame->label, err);
    if (status == NM_OK)
        status = intern(stacks, row->function, &frame->function, err);
    if (status == NM_OK)
        status = intern(stacks, row->file, &frame->file, err);
    if (status == NM_OK)
        status = intern(stacks, row->module, &frame->module, err);
    stacks->frame_count += status == NM_OK;
    return status;
}

/* The index of a frame; 0: it is not there. */
static uint32_t find_frame(const nm_stacks *stacks, int64_t frame_id)
{
    size_t low = 1, high = stacks->frame_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (stacks->frames[middle].frame_id < frame_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < stacks->frame_count && stacks->frames[low].frame_id == frame_id ? (uint32_t)low : 0;
}

static nm_status take_stack(nm_stacks *stacks, const nm_stack_links_row *row, nm_error *err)
{
    nm_status status =
        nm_array_grow(&stacks->stacks, &stacks->stack_capacity, stacks->stack_count + 1, sizeof *stacks->stacks, err);

    if (status == NM_OK)
        stacks->stacks[stacks->stack_count++] = (stack_row){
            .stack_id = row->stack_id,
            .parent_id = NM_NUMBER_OF(row, parent_id),
            .frame = row->has.frame_id ? find_frame(stacks, row->frame_id) : 0,
            .site = row->has.site_frame_id ? find_frame(stacks, row->site_frame_id) : 0,
            .is_cut = row->is_cut,
        };
    return status;
}

static nm_status read_frames(nm_stacks *stacks, sqlite3 *db, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_frames_row row;
    nm_status status = nm_frames_ask(db, &rows, err);

    while (status == NM_OK && nm_frames_next(rows, &row))
        status = take_frame(stacks, &row, err);
    return nm_question_end(rows, status, err);
}

static nm_status read_stacks(nm_stacks *stacks, sqlite3 *db, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_stack_links_row row;
    nm_status status = nm_stack_links_ask(db, &rows, err);

    while (status == NM_OK && nm_stack_links_next(rows, &row))
        status = take_stack(stacks, &row, err);
    return nm_question_end(rows, status, err);
}

nm_status nm_stacks_open(sqlite3 *db, nm_stacks **out, nm_error *err)
{
    nm_stacks *stacks = calloc(1, sizeof *stacks);
    nm_status status;

    *out = NULL;
    if (stacks == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    status = nm_array_grow(&stacks->frames, &stacks->frame_capacity, 1, sizeof *stacks->frames, err);
    if (status == NM_OK) {
        stacks->frames[0] = (nm_stacks_frame){.frame_id = NM_NULL, .module_id = NM_NULL};
        stacks->frame_count = 1;
        status = read_frames(stacks, db, err);
    }
    if (status == NM_OK)
        status = read_stacks(stacks, db, err);
    if (status == NM_OK)
        *out = stacks;
    else
        nm_stacks_close(stacks);
    return status;
}

void nm_stacks_close(nm_stacks *stacks)
{
    if (stacks == NULL)
        return;
    nm_strings_free(&stacks->strings);
    nm_buffer_free(&stacks->text);
    free(stacks->frames);
    free(stacks->stacks);
    free(stacks);
}

/* ---- Walking ------------------------------------------------------------------------------------------------------- */

static const stack_row *find_stack(const nm_stacks *stacks, int64_t stack_id)
{
    size_t low = 0, high = stacks->stack_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (stacks->stacks[middle].stack_id < stack_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < stacks->stack_count && stacks->stacks[low].stack_id == stack_id ? &stacks->stacks[low] : NULL;
}

static bool is_same_site(const nm_stacks_frame *a, const nm_stacks_frame *b)
{
    return a->function == b->function && a->file == b->file && a->line == b->line && a->label == b->label;
}

/* Leaves the site, and what is outside it and no plumbing. */
static size_t leave_own(const nm_stacks *stacks, uint32_t site, uint32_t *frames, size_t count, bool is_full)
{
    size_t from = 0, left = 1;

    while (from < count && !is_same_site(&stacks->frames[frames[from]], &stacks->frames[site]))
        from++;
    /* A site that is no frame takes the room of one: where there is none left, of the outermost. */
    if (from == count) {
        size_t moved = is_full ? count - 1 : count;

        for (size_t i = moved; i > 0; i--)
            frames[i] = frames[i - 1];
        count = moved + 1;
        from = 0;
    }
    frames[0] = site;
    for (size_t i = from + 1; i < count; i++)
        if (!stacks->frames[frames[i]].is_plumbing)
            frames[left++] = frames[i];
    return left;
}

size_t nm_stacks_walk(const nm_stacks *stacks, int64_t stack_id, bool is_raw, uint32_t frames[NM_STACKS_FRAMES_MAX],
                      bool *is_cut)
{
    const stack_row *first = find_stack(stacks, stack_id);
    const stack_row *at = first;
    size_t count = 0;

    *is_cut = first != NULL && first->is_cut;
    for (; at != NULL && count < NM_STACKS_FRAMES_MAX; count++) {
        frames[count] = at->frame;
        at = at->parent_id == NM_NULL ? NULL : find_stack(stacks, at->parent_id);
    }
    *is_cut = *is_cut || at != NULL;
    if (is_raw || count == 0 || first->site == 0)
        return count;
    return leave_own(stacks, first->site, frames, count, count == NM_STACKS_FRAMES_MAX);
}

const nm_stacks_frame *nm_stacks_frames(const nm_stacks *stacks, size_t *count)
{
    *count = stacks->frame_count;
    return stacks->frames;
}

nm_strings *nm_stacks_strings(nm_stacks *stacks)
{
    return &stacks->strings;
}
