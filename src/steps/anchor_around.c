/* SPDX-License-Identifier: Apache-2.0
 *
 * What lies around a loop. All places that recur together with one are looked at: the calls that all of them have in common,
 * from the outside, hold the loop. Is a call of a module among them, then layers recur within one pass; a parameter recurs
 * within an optimizer's step. Or the module is called again and again, for each request: then other lines of the program are
 * met between, and what loops within the call recurs more often.
 */
#include "steps/anchor_state.h"

#define LINES_MAX         64
#define COUNT_MIN         3
#define NEAR_GAPS         1.5 /* periods that places of one loop may begin or end apart */

#define BETWEEN_RATIO_MIN 0.3 /* of the occurrences have other lines between them, where a module is called for each */
#define INNER_RATIO_MIN   1.5 /* what recurs so much more often is a loop within the call */

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

/* Not before the first occurrence of the place, or after the last, alone. */
static bool is_met_between(const nm_anchor_place *place, const nm_anchor_place *other)
{
    uint64_t begin = place->first.allocations, end = place->last.allocations;
    uint64_t from = other->first.allocations > begin ? other->first.allocations : begin;

    return other->last.allocations < end && other->last.allocations > from &&
           other->last.allocations - from >= (end - begin) / 2;
}

/* The call that `common` holds up to line `at`: is it left between occurrences of the place, which is met once in each? */
static bool is_called_for_each(const nm_anchor *anchor, const nm_anchor_place *place, const nm_anchor_line *common,
                               size_t at)
{
    nm_anchor_line lines[LINES_MAX];
    bool has_inner = false, is_left = false;

    for (size_t i = 0; i < anchor->places.count; i++) {
        const nm_anchor_place *other = &anchor->places.items[i];
        double ratio = (double)other->count / (double)place->count;
        size_t same = 0, count;

        if (other->is_range || other->process != place->process || other->lane != place->lane ||
            other->count < COUNT_MIN)
            continue;
        count = nm_anchor_names_lines(&anchor->names, other->id, lines, LINES_MAX);
        while (same < count && same <= at && is_same_line(&common[same].frame, &lines[same].frame))
            same++;
        if (same > at && ratio < NM_ANCHOR_SAME_COUNT_RATIO) /* met more seldom, in the same call */
            return false;
        has_inner |= same > at && ratio >= INNER_RATIO_MIN;
        is_left |= same <= at && count > 0 && is_same_function(&common[0].frame, &lines[0].frame) &&
                   ratio >= BETWEEN_RATIO_MIN && is_met_between(place, other);
    }
    return has_inner && is_left;
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
    for (size_t at = 0; at < count; at++) {
        if (common[at].words & (NM_WORD_OPTIMIZER | NM_WORD_BACKWARD))
            return true;
        if (common[at].words & NM_WORD_FORWARD)
            return !is_called_for_each(anchor, place, common, at);
    }
    return false;
}
