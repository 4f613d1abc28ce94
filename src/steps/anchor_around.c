/* SPDX-License-Identifier: Apache-2.0
 *
 * What lies around a loop. All places that recur together with one are looked at: the calls that all of them have in common,
 * from the outside, hold the loop. Is a call of a module among them, then layers recur within one pass; a parameter recurs
 * within an optimizer's step.
 */
#include "steps/anchor_state.h"

#define LINES_MAX 64
#define NEAR_GAPS 1.5 /* periods that places of one loop may begin or end apart */

static bool is_same_line(const nm_anchor_frame *a, const nm_anchor_frame *b)
{
    return a->function == b->function && a->file == b->file && a->line == b->line;
}

static bool is_same_function(const nm_anchor_frame *a, const nm_anchor_frame *b)
{
    return a->function == b->function && a->file == b->file;
}

static bool is_near(uint64_t a, uint64_t b, double most)
{
    return (a > b ? (double)(a - b) : (double)(b - a)) <= most;
}

static bool recurs_with(const nm_anchor_place *place, const nm_anchor_place *other, uint64_t typical)
{
    double most = NEAR_GAPS * (double)typical;

    return other->process == place->process && other->lane == place->lane &&
           (double)other->count >= NM_ANCHOR_SAME_COUNT_RATIO * (double)place->count &&
           is_near(other->first.allocations, place->first.allocations, most) &&
           is_near(other->last.allocations, place->last.allocations, most);
}

bool nm_anchor_is_inside(const nm_anchor *anchor, const nm_anchor_place *place, uint64_t typical)
{
    nm_anchor_line common[LINES_MAX], lines[LINES_MAX];
    size_t count = nm_anchor_names_lines(&anchor->names, place->id, common, LINES_MAX);
    bool has_python = (place->words & NM_WORD_PYTHON) != 0;

    for (size_t i = 0; i < anchor->places.count && count > 0; i++) {
        const nm_anchor_place *other = &anchor->places.items[i];

        if (other == place || other->is_range || ((other->words & NM_WORD_PYTHON) != 0) != has_python ||
            !recurs_with(place, other, typical))
            continue;
        size_t length = nm_anchor_names_lines(&anchor->names, other->id, lines, LINES_MAX);
        count = length < count ? length : count;
        for (size_t at = 0; at < count; at++)
            if (!is_same_line(&common[at].frame, &lines[at].frame)) /* two lines of one call are the last in common */
                count = at + is_same_function(&common[at].frame, &lines[at].frame);
    }
    for (size_t at = 0; at < count; at++)
        if (common[at].words & (NM_WORD_FORWARD | NM_WORD_OPTIMIZER | NM_WORD_BACKWARD))
            return true;
    return false;
}
