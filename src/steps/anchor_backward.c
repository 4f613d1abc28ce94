/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of the program that call a backward pass. Each call is an iteration, or there are several of them in one: a loop
 * that is met as often as none of these lines is no loop over iterations (a checkpoint now and then, a rollout). Lines one
 * after the other are phases of one program; of lines that take turns one is enough.
 */
#include "steps/anchor_state.h"

#define COUNT_MIN         3
#define COVERED_RATIO_MIN 0.5  /* of all that the process allocates */
#define FALLS_MIN         4    /* iterations in which gradients are summed up, and */
#define ALIKE_RATIO_MIN   0.8  /* of the calls are in such with as many of them as the one before */
#define UNEVEN_PART       0.08 /* of the gaps leave more, and as many less: something is summed up over several */

double nm_anchor_drift(const nm_anchor_place *place)
{
    return place->count < 2 ? 0 : (place->last_live - place->first_live) / (double)(place->count - 1);
}

/* What an iteration of two occurrences or more leaves for good is missing in what it gives back. */
bool nm_anchor_is_uneven(const nm_anchor_place *place, int least)
{
    double left = 2 * nm_anchor_drift(place);
    int least_less = left < 1                                 ? least
                     : left > least - NM_ANCHOR_UNEVEN_LITTLE ? NM_ANCHOR_UNEVEN_LITTLE
                                                              : least - (int)left;
    uint64_t more = place->more_counts[least], less = place->less_counts[least_less];
    double part = UNEVEN_PART * (double)(place->count - 1);

    return more > 0 && less > 0 && (double)more >= part && (double)less >= part;
}

/* Autograd's own threads call Python too, layer by layer: the outermost line is torch's then. */
static bool is_called_by_program(const nm_anchor *anchor, const nm_anchor_place *place)
{
    nm_anchor_line line;

    return nm_anchor_names_lines(&anchor->names, place->id, &line, 1) == 1 && (line.words & NM_WORD_TORCH) == 0;
}

static void add(const nm_anchor *anchor, nm_anchor_process *process, size_t index)
{
    size_t at = process->backward_count;

    if (at == NM_ANCHOR_BACKWARDS_MAX) { /* what is called least goes */
        at = 0;
        for (size_t i = 1; i < NM_ANCHOR_BACKWARDS_MAX; i++)
            if (anchor->places.items[process->backwards[i]].count < anchor->places.items[process->backwards[at]].count)
                at = i;
        if (anchor->places.items[process->backwards[at]].count >= anchor->places.items[index].count)
            return;
    } else {
        process->backward_count++;
    }
    process->backwards[at] = index;
}

static bool is_line(const nm_anchor *anchor, size_t process_index, const nm_anchor_place *place)
{
    const unsigned wanted = NM_WORD_BACKWARD | NM_WORD_PYTHON;

    return place->process == process_index && !place->is_range &&
           place->lane == nm_anchor_main_lane(&anchor->processes.items[process_index]) &&
           (place->words & (wanted | NM_WORD_FORWARD)) == wanted && is_called_by_program(anchor, place);
}

void nm_anchor_backward_collect(const nm_anchor *anchor, size_t process_index)
{
    nm_anchor_process *process = &anchor->processes.items[process_index];

    process->backward_count = 0;
    for (size_t i = 0; i < anchor->places.count; i++)
        if (is_line(anchor, process_index, &anchor->places.items[i]) &&
            !nm_anchor_is_uneven(&anchor->places.items[i], NM_ANCHOR_UNEVEN_LITTLE))
            add(anchor, process, i);
}

static bool are_apart(const nm_anchor_place *a, const nm_anchor_place *b)
{
    return a->device == b->device &&
           (a->last.allocations < b->first.allocations || b->last.allocations < a->first.allocations);
}

/* The line of that index and all that lie apart from it and from each other, those that are called most first. */
static size_t phases_of(const nm_anchor *anchor, const nm_anchor_process *process, size_t index,
                        size_t out[NM_ANCHOR_BACKWARDS_MAX])
{
    size_t count = 0;

    out[count++] = process->backwards[index];
    for (;;) {
        size_t best = SIZE_MAX;

        for (size_t i = 0; i < process->backward_count; i++) {
            const nm_anchor_place *next = &anchor->places.items[process->backwards[i]];
            bool is_apart = true;

            for (size_t k = 0; k < count; k++)
                is_apart &= are_apart(&anchor->places.items[out[k]], next);
            if (is_apart && (best == SIZE_MAX || next->count > anchor->places.items[best].count))
                best = process->backwards[i];
        }
        if (best == SIZE_MAX)
            return count;
        out[count++] = best;
    }
}

static uint64_t count_of(const nm_anchor *anchor, const size_t *places, size_t place_count)
{
    uint64_t count = 0;

    for (size_t i = 0; i < place_count; i++)
        count += anchor->places.items[places[i]].count;
    return count;
}

bool nm_anchor_is_as_often(uint64_t count, uint64_t runs)
{
    return count + 1 >= runs && (runs + 1 >= count || (double)runs >= NM_ANCHOR_SAME_COUNT_RATIO * (double)count);
}

bool nm_anchor_backward_agrees(const nm_anchor *anchor, const nm_anchor_process *process, uint64_t count, bool is_any)
{
    size_t phases[NM_ANCHOR_BACKWARDS_MAX];
    size_t line_count = 0, agree_count = 0;

    for (size_t i = 0; i < process->backward_count; i++) {
        uint64_t calls = count_of(anchor, phases, phases_of(anchor, process, i, phases));

        line_count += calls >= COUNT_MIN;
        agree_count += calls >= COUNT_MIN && nm_anchor_is_as_often(count, calls);
    }
    return is_any ? line_count == 0 || agree_count > 0 : agree_count == line_count;
}

static double covered_ratio(const nm_anchor *anchor, const nm_anchor_process *process, const size_t *places,
                            size_t place_count)
{
    double covered = 0;

    for (size_t i = 0; i < place_count; i++) {
        const nm_anchor_place *place = &anchor->places.items[places[i]];
        double length = (double)(place->last.allocations - place->first.allocations);

        covered += place->count < 2 ? 0 : length * (double)place->count / (double)(place->count - 1);
    }
    return covered / (double)process->lanes[nm_anchor_main_lane(process)].allocations;
}

size_t nm_anchor_backward_choose(const nm_anchor *anchor, const nm_anchor_process *process,
                                 size_t out[NM_ANCHOR_BACKWARDS_MAX])
{
    size_t phases[NM_ANCHOR_BACKWARDS_MAX];
    size_t out_count = 0;
    uint64_t most = 0;

    for (size_t i = 0; i < process->backward_count; i++) {
        size_t count = phases_of(anchor, process, i, phases);
        uint64_t calls = count_of(anchor, phases, count);

        if (calls < COUNT_MIN)
            continue;
        if (most != 0 && !nm_anchor_is_as_often(most, calls) && !nm_anchor_is_as_often(calls, most))
            return 0;
        if (calls <= most)
            continue;
        most = calls;
        out_count = count;
        for (size_t k = 0; k < count; k++)
            out[k] = phases[k];
    }
    return most <= NM_ANCHOR_STEPS_MAX && out_count > 0 &&
                   covered_ratio(anchor, process, out, out_count) >= COVERED_RATIO_MIN
               ? out_count
               : 0;
}

size_t nm_anchor_backward_summed(const nm_anchor *anchor, size_t process_index)
{
    const nm_anchor_process *process = &anchor->processes.items[process_index];
    size_t found = SIZE_MAX;

    for (size_t i = 0; i < anchor->places.count; i++) {
        const nm_anchor_place *place = &anchor->places.items[i];

        if (place->count < COUNT_MIN || !is_line(anchor, process_index, place))
            continue;
        if (found != SIZE_MAX) /* which of them it is is not clear */
            return SIZE_MAX;
        found = i;
    }
    if (found == SIZE_MAX)
        return SIZE_MAX;
    const nm_anchor_place *place = &anchor->places.items[found];
    bool is_regular = place->fall_count >= FALLS_MIN && place->before_fall >= 2 &&
                      (double)place->fall_alike >= ALIKE_RATIO_MIN * (double)place->fall_gaps &&
                      place->since_fall <= place->before_fall;
    return is_regular && place->fall_count <= NM_ANCHOR_STEPS_MAX &&
                   covered_ratio(anchor, process, &found, 1) >= COVERED_RATIO_MIN
               ? found
               : SIZE_MAX;
}
