/* SPDX-License-Identifier: Apache-2.0
 *
 * Each block has a reach, the distance of its life from the nearest anchor of its heap: 0 where it was live there. All blocks up to
 * a reach are those of all windows of that width, and a table of how many come in at which reach says which width is the widest.
 * The steps of the table grow, so that it is small, and a width is the last of its step, so that none of it is half there.
 */
#include "page/windows.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "page/anchors.sql.h"

#define STEPS_A_POWER 16
#define REACH_MAX     ((INT64_C(1) << 60) - 1) /* the last of the last step */

nm_status nm_page_windows_read(nm_page_windows *windows, sqlite3 *db, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_anchors_row row;
    nm_status status = nm_anchors_ask(db, &rows, err);

    windows->heap_id = NM_NULL;
    windows->reach = -1;
    while (status == NM_OK && nm_anchors_next(rows, &row)) {
        status =
            nm_array_grow(&windows->anchors, &windows->capacity, windows->count + 1, sizeof *windows->anchors, err);
        if (status == NM_OK)
            windows->anchors[windows->count++] =
                (nm_page_anchor){.heap_id = row.heap_id, .kind = (nm_page_anchor_kind)row.kind_code, .seq = row.seq};
    }
    return nm_question_end(rows, status, err);
}

static void find_heap(nm_page_windows *windows, int64_t heap_id)
{
    if (windows->heap_id == heap_id)
        return;
    windows->heap_id = heap_id;
    windows->begin = 0;
    for (size_t end = windows->count; windows->begin < end;) {
        size_t middle = windows->begin + (end - windows->begin) / 2;

        if (windows->anchors[middle].heap_id < heap_id)
            windows->begin = middle + 1;
        else
            end = middle;
    }
    windows->end = windows->begin;
    while (windows->end < windows->count && windows->anchors[windows->end].heap_id == heap_id)
        windows->end++;
}

/* Numbers of events come from files: they may be any. */
static int64_t apart(int64_t low, int64_t high)
{
    uint64_t events = (uint64_t)high - (uint64_t)low;

    return events > REACH_MAX ? REACH_MAX : (int64_t)events;
}

/* Both ends of a window belong to it, and the event that frees a block to its life, so that the map shows its edge. */
static int64_t distance(const nm_page_anchor *anchor, int64_t born, int64_t freed)
{
    if (born > anchor->seq)
        return apart(anchor->seq, born);
    return freed == NM_NULL || freed >= anchor->seq ? 0 : apart(freed, anchor->seq);
}

/* The anchors of a heap are in the order of their kinds. */
static void measure(nm_page_windows *windows, int64_t heap_id, int64_t born, int64_t freed,
                    int64_t reach_of[NM_PAGE_ANCHOR_KINDS])
{
    int64_t least = INT64_MAX;
    size_t i;

    find_heap(windows, heap_id);
    i = windows->begin;
    for (int kind = 0; kind < NM_PAGE_ANCHOR_KINDS; kind++) {
        for (; i < windows->end && windows->anchors[i].kind <= (nm_page_anchor_kind)kind; i++) {
            int64_t reach = distance(&windows->anchors[i], born, freed);

            least = reach < least ? reach : least;
        }
        reach_of[kind] = least;
    }
}

/* The first 32 are themselves; from there on each power of two has 16 steps. */
static int step_of(int64_t reach)
{
    if (reach < 2 * STEPS_A_POWER)
        return (int)reach;
    int power = 63 - __builtin_clzll((unsigned long long)reach / STEPS_A_POWER);

    return STEPS_A_POWER * power + (int)(reach >> power);
}

static int64_t last_of_step(int step)
{
    int power = step / STEPS_A_POWER - 1;

    if (step < 2 * STEPS_A_POWER)
        return step;
    return (((int64_t)(step - STEPS_A_POWER * power) + 1) << power) - 1;
}

void nm_page_windows_count(nm_page_windows *windows, int64_t heap_id, int64_t born, int64_t freed,
                           int64_t reach_of[NM_PAGE_ANCHOR_KINDS])
{
    measure(windows, heap_id, born, freed, reach_of);
    for (int kind = 0; kind < NM_PAGE_ANCHOR_KINDS; kind++)
        if (reach_of[kind] < INT64_MAX)
            windows->blocks[kind][step_of(reach_of[kind])]++;
}

int64_t nm_page_windows_choose(nm_page_windows *windows, int64_t blocks_max)
{
    for (int kind = NM_PAGE_ANCHOR_KINDS - 1; kind >= 0; kind--) {
        const int64_t *blocks = windows->blocks[kind];
        int64_t count = 0;
        int step = 0;

        if (blocks[0] > blocks_max)
            continue;
        while (step < NM_PAGE_REACHES && count + blocks[step] <= blocks_max)
            count += blocks[step++];
        windows->kind_last = (nm_page_anchor_kind)kind;
        windows->reach = last_of_step(step - 1);
        return count;
    }
    windows->reach = -1;
    return 0;
}

bool nm_page_windows_has(nm_page_windows *windows, int64_t heap_id, int64_t born, int64_t freed)
{
    int64_t reach_of[NM_PAGE_ANCHOR_KINDS];

    if (windows->reach < 0)
        return false;
    measure(windows, heap_id, born, freed, reach_of);
    return reach_of[windows->kind_last] <= windows->reach;
}

void nm_page_windows_free(nm_page_windows *windows)
{
    free(windows->anchors);
    *windows = (nm_page_windows){0};
}
