/* SPDX-License-Identifier: Apache-2.0
 *
 * Which place, if any, is where iterations begin. What can be taken for one and is none: the body of a loop inside an
 * iteration (much of what the process allocates lies outside of it, or less is live where the outer one recurs); layers
 * that are built one by one (what they allocate stays); requests that come as they like (nothing is alike); the layers of
 * a pass (a call of a module holds them all); the backward pass in a thread of its own, without a line of the program;
 * micro-batches whose gradients are summed up. Where an optimizer is seen at work in each iteration, its runs say how many
 * there are. When in doubt there is no anchor: a wrong one would make a leak of what is none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steps/anchor_state.h"

#define COUNT_MIN         3
#define COUNT_FEW         4    /* up to here two gaps must be exactly alike */
#define GAP_MIN           4    /* allocations */
#define COMPANIONS_MIN    2    /* other places that are met as often */
#define TOLERANCE_RATIO   0.1  /* of the middle gap, for one that is alike in number, */
#define BYTES_RATIO       0.25 /* and in bytes */
#define REGULAR_RATIO_MIN 0.75 /* of the gaps, and of what is allocated in them */
#define COVERED_RATIO_MIN 0.5  /* of all that the process allocates */
#define FREED_RATIO_MIN   0.75
#define FREED_RATIO_MAX   1.25
#define IDLE_RATIO_MAX    0.5  /* of the gaps */
#define OTHER_RATIO_MAX   0.25 /* of what lies between, for what was made and given back before it */
#define QUARTERS_FROM     32   /* gaps */
#define LOADING_RATIO_MAX 1.4  /* of the middle gap, for one that is alike in passes alone */
#define WORK_MIN          8    /* places of passes that are met in a gap, for it to be alike in them */
#define COMPUTING_PART    4    /* operators for an allocation */
#define DRIFT_LITTLE      0.5  /* blocks, each time a place is met */
#define LEFT_OUT_RATIO    0.85 /* less often than that is another loop */
#define INSIDE_LOOKS_MAX  256  /* places that are looked around at */
#define OPTIMIZER_MIN     3    /* runs of an optimizer that say how many iterations there are */
#define LATE_RATIO_MAX    0.25 /* of all allocations may come after the last of one or two runs of an optimizer */

typedef enum verdict { /* how far a place came */
                       VERDICT_SELDOM = 0,
                       VERDICT_SMALL = 1,
                       VERDICT_OFTEN = 2,
                       VERDICT_IRREGULAR = 3,
                       VERDICT_UNLIKE = 4,
                       VERDICT_PART = 5,
                       VERDICT_STAYS = 6,
                       VERDICT_UNEVEN = 7,
                       VERDICT_IDLE = 8,
                       VERDICT_INSIDE = 9,
                       VERDICT_NO_LINE = 10,
                       VERDICT_DISAGREES = 11,
                       VERDICT_ANCHOR = 12,
} verdict;

typedef struct opinion { /* of a place */
    const nm_anchor_place *place;
    verdict verdict;
    uint64_t typical; /* what lies between two occurrences */
    double regular_ratio, covered_ratio, freed_ratio;
    bool is_computing; /* so many operators between that it builds nothing, whatever stays */
    double live;       /* mean of what is live where it is met */
} opinion;

typedef struct opinions {
    opinion *items;
    size_t count, capacity;
} opinions;

/* ---- One place ---- */

static int by_number(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

/* What lies between: allocations, and for a range operators too. */
static uint64_t length_of(const nm_lane_sums *gap)
{
    return gap->allocations + gap->operators;
}

/* Of the gaps from `begin` to `end` what is in the middle, each by itself: bytes, sites and work; and the length, as allocations. */
static nm_lane_sums middle_gap(const nm_anchor_place *place, size_t begin, size_t end)
{
    uint64_t values[4][NM_ANCHOR_GAPS_MAX];
    size_t count = end - begin;

    if (count == 0)
        return (nm_lane_sums){0};
    for (size_t i = 0; i < count; i++) {
        const nm_lane_sums *gap = &place->gaps[begin + i];

        values[0][i] = length_of(gap);
        values[1][i] = gap->bytes;
        values[2][i] = gap->sites;
        values[3][i] = gap->work;
    }
    for (size_t i = 0; i < 4; i++)
        qsort(values[i], count, sizeof values[0][0], by_number);
    return (nm_lane_sums){.allocations = values[0][count / 2],
                          .bytes = values[1][count / 2],
                          .sites = values[2][count / 2],
                          .work = values[3][count / 2]};
}

/* Iterations may become longer, as where more and more layers learn: gaps are compared with those of their quarter, too. A
 * quarter ends before the result. */
static size_t quarter_end(const nm_anchor_place *place, size_t begin)
{
    size_t quarter = 0;

    if (place->gap_count < QUARTERS_FROM)
        return place->gap_count;
    while (place->gap_count * (quarter + 1) / 4 <= begin)
        quarter++;
    return place->gap_count * (quarter + 1) / 4;
}

static bool is_alike(uint64_t value, uint64_t middle, double ratio)
{
    double distance = value > middle ? (double)(value - middle) : (double)(middle - value);

    return distance <= ratio * (double)middle + 1;
}

static nm_lane_sums after(const nm_anchor_process *process, const nm_anchor_place *place)
{
    const nm_lane_sums *end = &process->lanes[place->lane];

    return (nm_lane_sums){.allocations = end->allocations - place->last.allocations,
                          .frees = end->frees - place->last.frees,
                          .bytes = end->bytes - place->last.bytes,
                          .operators = end->operators - place->last.operators,
                          .sites = end->sites - place->last.sites};
}

static bool is_same(const nm_lane_sums *a, const nm_lane_sums *b)
{
    return length_of(a) == length_of(b) && a->sites == b->sites;
}

/* Of few gaps two must be the same to the last site: the first one counts too, and what follows the last occurrence. */
static bool has_twins(const nm_anchor_process *process, const nm_anchor_place *place)
{
    nm_lane_sums gaps[NM_ANCHOR_GAPS_MAX + 2];
    size_t count = 0;

    gaps[count++] = place->first_gap;
    for (size_t i = 0; i < place->gap_count; i++)
        gaps[count++] = place->gaps[i];
    gaps[count++] = after(process, place);
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++)
            if (is_same(&gaps[i], &gaps[k]))
                return true;
    return false;
}

/* A request may have to load something first: what matters is the passes. */
static bool has_like_work(const nm_lane_sums *gap, const nm_lane_sums *middle)
{
    return middle->work >= WORK_MIN && is_alike(gap->work, middle->work, TOLERANCE_RATIO) &&
           (double)length_of(gap) <= LOADING_RATIO_MAX * (double)length_of(middle);
}

/* Share of the gaps with the sites that most of the alike ones have, which is then in the middle; or, if that is more, with as
 * many bytes as most. */
static double pattern_ratio(const nm_anchor_place *place)
{
    nm_lane_sums middle = middle_gap(place, 0, place->gap_count);
    size_t same_count = 0, alike_count = 0;

    for (size_t i = 0; i < place->gap_count; i++) {
        same_count += place->gaps[i].sites == middle.sites;
        alike_count += middle.bytes > 0 && is_alike(place->gaps[i].bytes, middle.bytes, BYTES_RATIO);
    }
    return (double)(same_count > alike_count ? same_count : alike_count) / (double)place->gap_count;
}

/* Alike in number to the middle gap, or in passes. Returns the middle length. */
static uint64_t find_alike(const nm_anchor_place *place, bool out[NM_ANCHOR_GAPS_MAX])
{
    nm_lane_sums middle = middle_gap(place, 0, place->gap_count);

    for (size_t begin = 0, end; begin < place->gap_count; begin = end) {
        end = quarter_end(place, begin);
        nm_lane_sums near = end - begin == place->gap_count ? middle : middle_gap(place, begin, end);

        for (size_t i = begin; i < end; i++) {
            uint64_t length = length_of(&place->gaps[i]);

            out[i] = is_alike(length, middle.allocations, TOLERANCE_RATIO) ||
                     is_alike(length, near.allocations, TOLERANCE_RATIO) || has_like_work(&place->gaps[i], &middle);
        }
    }
    return middle.allocations;
}

static void measure(const nm_anchor_process *process, opinion *made)
{
    const nm_anchor_place *place = made->place;
    nm_lane_sums end = after(process, place);
    uint64_t rest = length_of(&end);
    uint64_t all = 0, alike = 0, alike_count = 0, allocations = 0, frees = 0;
    bool is_like[NM_ANCHOR_GAPS_MAX];

    made->typical = find_alike(place, is_like);
    for (size_t i = 0; i < place->gap_count; i++) {
        const nm_lane_sums *gap = &place->gaps[i];

        all += length_of(gap);
        if (!is_like[i])
            continue;
        alike_count++;
        alike += length_of(gap);
        allocations += gap->allocations;
        frees += gap->frees;
    }
    made->regular_ratio = (double)alike_count / (double)place->gap_count;
    if (all > 0 && (double)alike / (double)all < made->regular_ratio)
        made->regular_ratio = (double)alike / (double)all;
    made->freed_ratio = allocations == 0 ? 0 : (double)frees / (double)allocations;
    made->is_computing = allocations * COMPUTING_PART <= alike - allocations;
    made->covered_ratio =
        (double)(length_of(&place->last) - length_of(&place->first) + (rest < made->typical ? rest : made->typical)) /
        (double)length_of(&process->lanes[place->lane]);
    made->live = place->live_sum / (double)place->count;
}

/* Does what lies between lack what makes an iteration: a forward or a backward pass, where the process has any? Where it has
 * none that is seen, no loop counts before or after which much else was made and given back: a pass without calls of
 * modules, and then a loop over parameters. */
static bool is_idle(const nm_anchor_process *process, const opinion *made)
{
    const nm_anchor_place *place = made->place;
    const nm_lane_sums *all = &process->lanes[place->lane];
    uint64_t before = place->first.frees < place->first.allocations ? place->first.frees : place->first.allocations;

    if (all->work > 0)
        return (double)place->idle_count > IDLE_RATIO_MAX * (double)(place->count - 1);
    return process->has_python && !place->is_range &&
           (double)before > OTHER_RATIO_MAX * (double)(place->last.allocations - place->first.allocations);
}

static verdict judge_place(const nm_anchor_process *process, opinion *made)
{
    const nm_anchor_place *place = made->place;

    if (place->count < COUNT_MIN || place->gap_count == 0)
        return VERDICT_SELDOM;
    measure(process, made);
    if (made->typical < GAP_MIN)
        return VERDICT_SMALL;
    if (place->count > NM_ANCHOR_STEPS_MAX)
        return VERDICT_OFTEN;
    if (made->regular_ratio < REGULAR_RATIO_MIN)
        return VERDICT_IRREGULAR;
    if (place->count <= COUNT_FEW ? !has_twins(process, place) : pattern_ratio(place) < REGULAR_RATIO_MIN)
        return VERDICT_UNLIKE;
    if (made->covered_ratio < COVERED_RATIO_MIN)
        return VERDICT_PART;
    if (!made->is_computing && (made->freed_ratio < FREED_RATIO_MIN || made->freed_ratio > FREED_RATIO_MAX))
        return VERDICT_STAYS;
    if (process->has_any_backward && nm_anchor_is_uneven(place, NM_ANCHOR_UNEVEN))
        return VERDICT_UNEVEN;
    if (is_idle(process, made))
        return VERDICT_IDLE;
    if (!place->is_range && process->has_python && (place->words & NM_WORD_PYTHON) == 0)
        return VERDICT_NO_LINE;
    return VERDICT_ANCHOR;
}

/* ---- All places of a process ---- */

nm_anchor_lane nm_anchor_main_lane(const nm_anchor_process *process)
{
    return process->lanes[NM_ANCHOR_LANE_POOL].allocations > 0 ? NM_ANCHOR_LANE_POOL : NM_ANCHOR_LANE_DRIVER;
}

double nm_anchor_live_of(const nm_anchor_process *process)
{
    const nm_lane_sums *lane = &process->lanes[nm_anchor_main_lane(process)];

    return (double)lane->allocations - (double)lane->frees;
}

static nm_status collect(const nm_anchor *anchor, size_t index, unsigned words, opinions *out, nm_error *err)
{
    const nm_anchor_process *process = &anchor->processes.items[index];
    nm_anchor_lane lane = nm_anchor_main_lane(process);
    nm_status status = NM_OK;

    for (size_t i = 0; i < anchor->places.count && status == NM_OK; i++) {
        const nm_anchor_place *place = &anchor->places.items[i];
        unsigned own = words == 0        ? 0
                       : place->is_range ? place->words
                                         : nm_anchor_names_of_stack(&anchor->names, place->id);

        if (place->process != index || (own & words) != words || (!place->is_range && place->lane != lane))
            continue;
        status = nm_array_grow(&out->items, &out->capacity, out->count + 1, sizeof *out->items, err);
        if (status != NM_OK)
            break;
        out->items[out->count] = (opinion){.place = place};
        out->items[out->count].verdict = judge_place(process, &out->items[out->count]);
        out->count++;
    }
    return status;
}

/* Those that are met most come first; of these where least is live, then in order. */
static int by_count(const void *left, const void *right)
{
    const opinion *a = left, *b = right;

    if (a->place->count != b->place->count)
        return a->place->count > b->place->count ? -1 : 1;
    if (a->live != b->live)
        return a->live < b->live ? -1 : 1;
    return (a->place->order > b->place->order) - (a->place->order < b->place->order);
}

/* What more is live each time the place is met. */
static double drift_of(const nm_anchor_place *place)
{
    double drift = nm_anchor_drift(place);

    return drift < 0 ? -drift : drift;
}

/* Others that are met as often or more; and one that is met about as often, if what the place makes may stay: it is not its
 * own proof. The list is in order of counts. */
static bool has_companions(const opinions *list, const opinion *candidate)
{
    double count = (double)candidate->place->count;
    size_t companions = 0;
    bool has_twin = drift_of(candidate->place) < 1 - DRIFT_LITTLE;

    for (size_t i = 0; i < list->count && (companions < COMPANIONS_MIN || !has_twin); i++) {
        const nm_anchor_place *other = list->items[i].place;

        if ((double)other->count < NM_ANCHOR_SAME_COUNT_RATIO * count)
            break;
        if (other == candidate->place || (other->is_range && !candidate->place->is_range))
            continue;
        companions++;
        has_twin |= NM_ANCHOR_SAME_COUNT_RATIO * (double)other->count <= count;
    }
    return companions >= COMPANIONS_MIN && has_twin;
}

/* Is the place left out now and then in a loop that others are met in each time? The list is in order of counts. */
static bool is_left_out(const opinions *list, const opinion *candidate)
{
    uint64_t count = 0;
    size_t alike = 0;

    for (size_t i = 0; i < list->count && list->items + i != candidate && alike < COMPANIONS_MIN; i++) {
        const nm_anchor_place *other = list->items[i].place;

        if (other->is_range || other->count <= candidate->place->count + 1 ||
            (double)candidate->place->count < LEFT_OUT_RATIO * (double)other->count)
            continue;
        alike = other->count == count ? alike + 1 : 1;
        count = other->count;
    }
    return alike >= COMPANIONS_MIN;
}

/* Is the place met as often as an optimizer runs, where one is seen to, and as a line that calls a backward pass? */
static bool agrees(const nm_anchor *anchor, const nm_anchor_process *process, const opinion *made)
{
    uint64_t runs = process->optimizer_runs;
    uint64_t count = made->place->count;

    return made->place->is_range ||
           ((runs < OPTIMIZER_MIN || (nm_anchor_is_as_often(count, runs) && nm_anchor_optimizer_is_regular(process))) &&
            nm_anchor_backward_agrees(anchor, process, count, runs >= OPTIMIZER_MIN));
}

/* A place that is met a little less often than the chosen one is of the same loop, and left out now and then. */
static bool is_further_out(const opinion *next, const opinion *chosen)
{
    bool is_outer = next->place->count == chosen->place->count ||
                    (double)next->place->count < NM_ANCHOR_SAME_COUNT_RATIO * (double)chosen->place->count;

    return is_outer && next->live + drift_of(next->place) + DRIFT_LITTLE < chosen->live;
}

/* From inner loops outwards: an outer place is better only if less is live there, so that it lies between iterations of
 * what the inner one is a part of. */
static const opinion *choose(const nm_anchor *anchor, const nm_anchor_process *process, opinions *list)
{
    const opinion *chosen = NULL;
    int looks = 0;

    for (size_t i = 0; i < list->count; i++) {
        opinion *next = &list->items[i];

        if (next->verdict != VERDICT_ANCHOR || !has_companions(list, next))
            continue;
        if (!next->place->is_range && is_left_out(list, next))
            next->verdict = VERDICT_IRREGULAR;
        else if (!agrees(anchor, process, next))
            next->verdict = VERDICT_DISAGREES;
        if (next->verdict != VERDICT_ANCHOR || (chosen != NULL && !is_further_out(next, chosen)))
            continue;
        if (!next->place->is_range &&
            (looks++ >= INSIDE_LOOKS_MAX || nm_anchor_is_inside(anchor, next->place, next->typical)))
            next->verdict = VERDICT_INSIDE;
        else
            chosen = next;
    }
    return chosen;
}

static const opinion *nearest(const opinions *list)
{
    const opinion *found = NULL;

    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].verdict > VERDICT_SMALL && (found == NULL || list->items[i].verdict > found->verdict))
            found = &list->items[i];
    return found;
}

static const opinion *earliest(const opinions *list, bool is_range)
{
    const opinion *found = NULL;

    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].place->is_range == is_range &&
            (found == NULL || list->items[i].place->order < found->place->order))
            found = &list->items[i];
    return found;
}

static const opinion *most_met_step_range(const opinions *list, uint64_t count_min)
{
    const opinion *found = NULL;

    for (size_t i = 0; i < list->count; i++) { /* they are in order of their counts */
        const nm_anchor_place *place = list->items[i].place;

        if (place->is_range && (place->words & NM_WORD_STEP) && place->count >= count_min &&
            place->count <= NM_ANCHOR_STEPS_MAX && found == NULL)
            found = &list->items[i];
    }
    return found;
}

/* ---- The choice ---- */

static void take_place(nm_anchor_process *process, const opinion *made)
{
    nm_step_anchor_row *choice = &process->choice;

    choice->stack_id = made->place->is_range ? 0 : made->place->id;
    choice->name = made->place->is_range ? made->place->id : 0;
    choice->recur_count = made->place->count;
    if (made->place->gap_count == 0)
        return;
    choice->regular_ratio = made->regular_ratio;
    choice->allocation_count = (int64_t)made->typical;
}

static void take_anchor(nm_anchor_process *process, const opinion *made, const char *why)
{
    process->is_chosen = true;
    process->choice.kind = made->place->is_range ? NM_ANCHOR_RANGE : NM_ANCHOR_SITE;
    process->choice_lane = made->place->lane;
    process->choice_device = made->place->device;
    process->choice_stacks[0] = made->place->id;
    process->choice_stack_count = 1;
    take_place(process, made);
    snprintf(process->reason, sizeof process->reason, "%s", why);
}

static void take_optimizer(nm_anchor_process *process)
{
    process->is_chosen = true;
    process->choice.kind = NM_ANCHOR_OPTIMIZER;
    for (size_t i = 0; i < process->optimizer_count; i++)
        if (process->optimizers[i].is_chosen)
            process->choice.stack_id = process->optimizers[i].stack;
    process->choice.recur_count = process->optimizer_runs;
    snprintf(process->reason, sizeof process->reason,
             "an optimizer's step ends each iteration; the first step begins with what was recorded");
}

/* An optimizer that allocates in its first steps alone says nothing of how many there are. */
static bool says_optimizer(const nm_anchor *anchor, const nm_anchor_process *process)
{
    uint64_t last = 0;

    for (size_t i = 0; i < process->optimizer_count; i++)
        if (process->optimizers[i].is_chosen && process->optimizers[i].last_allocation > last)
            last = process->optimizers[i].last_allocation;
    if (process->optimizer_runs == 0 || process->optimizer_runs > NM_ANCHOR_STEPS_MAX ||
        !nm_anchor_backward_agrees(anchor, process, process->optimizer_runs, true) ||
        !nm_anchor_optimizer_is_regular(process))
        return false;
    return process->optimizer_runs >= OPTIMIZER_MIN ||
           (double)(process->seen_count - last) <= LATE_RATIO_MAX * (double)process->seen_count;
}

static void say_nearest(nm_anchor_process *process, const opinion *made)
{
    char *out = process->reason;
    size_t bytes = sizeof process->reason;

    take_place(process, made);
    switch (made->verdict) {
    case VERDICT_OFTEN:
        snprintf(out, bytes, "the place that comes nearest recurs too often to be an iteration");
        break;
    case VERDICT_PART:
        snprintf(out, bytes, "the place that comes nearest recurs in %.0f %% of what is allocated, not in most of it",
                 100 * made->covered_ratio);
        break;
    case VERDICT_STAYS:
        snprintf(out, bytes, "of what is allocated between occurrences of the nearest place %s is freed there: %.0f %%",
                 made->freed_ratio < 1 ? "too little" : "too much", 100 * made->freed_ratio);
        break;
    case VERDICT_UNLIKE:
        snprintf(out, bytes, "between occurrences of the nearest place neither sites nor bytes are alike");
        break;
    case VERDICT_UNEVEN:
        snprintf(out, bytes,
                 "what is live at the nearest place comes and goes, as where gradients are summed up over "
                 "several occurrences");
        break;
    case VERDICT_INSIDE:
        snprintf(out, bytes,
                 "the place that comes nearest recurs within one call, as the layers of a module or the tokens of an "
                 "answer do");
        break;
    case VERDICT_IDLE:
        snprintf(out, bytes,
                 "the place that comes nearest recurs with no forward or backward pass between, as in a loop over "
                 "parameters");
        break;
    case VERDICT_NO_LINE:
        snprintf(out, bytes, "the place that comes nearest is in a thread without a line of the program");
        break;
    case VERDICT_DISAGREES:
        snprintf(
            out, bytes,
            "the place that comes nearest recurs as often as no optimizer runs, or as not all lines call a backward "
            "pass");
        break;
    case VERDICT_ANCHOR:
        snprintf(out, bytes, "too few other places recur as often as the one that comes nearest");
        break;
    default:
        snprintf(out, bytes, "the place that comes nearest recurs with %.0f %% of the distances alike",
                 100 * made->regular_ratio);
        break;
    }
}

static void say_none(nm_anchor_process *process, const opinions *list)
{
    const opinion *near = nearest(list);

    if (near != NULL)
        say_nearest(process, near);
    else
        snprintf(process->reason, sizeof process->reason, "%s",
                 list->count == 0 ? "no stacks and no ranges were recorded"
                                  : "no place recurs three times with enough allocations between");
}

/* The lines that call a backward pass, where evaluations and the like make iterations of different lengths. */
static bool take_backward(const nm_anchor *anchor, nm_anchor_process *process, const opinions *list)
{
    size_t lines[NM_ANCHOR_BACKWARDS_MAX];
    size_t count = nm_anchor_backward_choose(anchor, process, lines);
    uint64_t calls = 0;

    for (size_t i = 0; i < list->count && count > 0; i++)
        if (list->items[i].place == &anchor->places.items[lines[0]])
            take_anchor(process, &list->items[i], "");
    for (size_t i = 0; i < count; i++) {
        process->choice_stacks[i] = anchor->places.items[lines[i]].id;
        calls += anchor->places.items[lines[i]].count;
    }
    if (count > 0) {
        process->choice_stack_count = count;
        process->choice.recur_count = calls;
    }
    if (count > 1)
        snprintf(process->reason, sizeof process->reason,
                 "a backward pass begins in each iteration, called from %zu lines one after the other", count);
    else if (count == 1)
        snprintf(process->reason, sizeof process->reason, "a backward pass begins in each iteration, called from here");
    return count > 0;
}

/* Gradients are summed up over several backward passes, and the optimizer allocates nothing: what is given back between them
 * tells. An optimizer that was seen more than once is of several models, one after the other. */
static bool take_summed(const nm_anchor *anchor, nm_anchor_process *process, const opinions *list)
{
    size_t index = nm_anchor_backward_summed(anchor, (size_t)(process - anchor->processes.items));

    for (size_t i = 0; i < list->count && index != SIZE_MAX && process->optimizer_runs <= 1; i++)
        if (list->items[i].place == &anchor->places.items[index]) {
            take_anchor(
                process, &list->items[i],
                "gradients are summed up over several backward passes; an iteration begins with the first after "
                "some were given back");
            process->is_choice_after_fall = true;
            process->choice.recur_count = list->items[i].place->fall_count;
            return true;
        }
    return false;
}

static void take_graphs(nm_anchor_process *process)
{
    const nm_anchor_graphs *graphs = &process->graphs;

    process->is_chosen = true;
    process->choice.kind = NM_ANCHOR_GRAPH;
    process->choice.stack_id = graphs->stack_id;
    process->choice.recur_count = graphs->group_count;
    process->choice.regular_ratio = 1 - (double)graphs->unlike_count / (double)graphs->group_count;
    snprintf(process->reason, sizeof process->reason,
             "executes %llu graph%s, of those captured at one place, and waits for what comes of it",
             (unsigned long long)graphs->typical_size, graphs->typical_size == 1 ? "" : "s");
}

/* What recurs before the first graph is executed is how the program gets ready. */
static bool is_warm_up(const nm_anchor_process *process, const opinion *made)
{
    return made->place->last.allocations <= process->graphs.seen[made->place->lane];
}

static bool calls_backward_after(const nm_anchor *anchor, const nm_anchor_process *process)
{
    for (size_t i = 0; i < process->backward_count; i++) {
        const nm_anchor_place *place = &anchor->places.items[process->backwards[i]];

        if (place->last.allocations > process->graphs.seen[place->lane])
            return true;
    }
    return false;
}

static void choose_found(const nm_anchor *anchor, nm_anchor_process *process, opinions *list)
{
    const opinion *named = most_met_step_range(list, COUNT_MIN);
    const opinion *found = choose(anchor, process, list);
    const char *part = anchor->is_whole ? "" : ", as far as was looked";
    bool is_optimizer = says_optimizer(anchor, process);

    bool is_of_graphs = named == NULL && (found == NULL || is_warm_up(process, found)) &&
                        !calls_backward_after(anchor, process) && nm_anchor_graph_is_sound(process);

    if (named == NULL && found == NULL && !is_of_graphs && (!is_optimizer || process->optimizer_runs < OPTIMIZER_MIN) &&
        (take_backward(anchor, process, list) || take_summed(anchor, process, list)))
        return;
    if (named == NULL && found == NULL && !is_optimizer && !is_of_graphs)
        named = most_met_step_range(list, 1);
    if (is_of_graphs) {
        take_graphs(process);
    } else if (named != NULL) {
        take_anchor(process, named, "a range of that name is a step");
    } else if (found != NULL) {
        take_anchor(process, found, "");
        snprintf(
            process->reason, sizeof process->reason,
            "recurs with about %llu %s between, %.0f %% of the distances alike%s", (unsigned long long)found->typical,
            found->place->is_range ? "allocations and operators" : "allocations", 100 * found->regular_ratio, part);
    } else if (is_optimizer) {
        take_optimizer(process);
    } else {
        say_none(process, list);
    }
}

/* Wherever what was named is called from. */
static void take_other_callers(const nm_anchor *anchor, nm_anchor_process *process, const nm_anchor_place *made,
                               const opinions *list)
{
    for (size_t i = 0; i < list->count && process->choice_stack_count < NM_ANCHOR_CHOICES_MAX; i++) {
        const nm_anchor_place *place = list->items[i].place;

        if (place == made || place->is_range || place->lane != made->lane ||
            !nm_anchor_names_is_same_call(&anchor->names, made->id, place->id))
            continue;
        process->choice_stacks[process->choice_stack_count++] = place->id;
        process->choice.recur_count += place->count;
    }
}

/* What the user named: a range; the place under it that makes the best anchor; or the first one. */
static void choose_given(const nm_anchor *anchor, nm_anchor_process *process, opinions *list)
{
    const opinion *made = earliest(list, true);

    if (made == NULL)
        made = choose(anchor, process, list);
    if (made == NULL)
        made = earliest(list, false);
    if (made == NULL) {
        snprintf(process->reason, sizeof process->reason, "what --step-at names never occurs");
        return;
    }
    take_anchor(process, made, "named by --step-at");
    if (!made->place->is_range)
        take_other_callers(anchor, process, made->place, list);
}

nm_status nm_anchor_judge(nm_anchor *anchor, size_t index, nm_error *err)
{
    nm_anchor_process *process = &anchor->processes.items[index];
    bool is_given = anchor->options.given != NULL;
    opinions list = {0};
    nm_status status;

    process->is_chosen = process->is_choice_after_fall = false;
    process->choice = (nm_step_anchor_row){.regular_ratio = -1,
                                           .allocation_count = NM_UNKNOWN_NUMBER,
                                           .is_given = is_given,
                                           .is_trained = process->has_any_backward || process->optimizer_count > 0};
    if (process->marked_count > 0) {
        process->choice.kind = NM_ANCHOR_MARKED;
        process->choice.is_given = false;
        snprintf(process->reason, sizeof process->reason, "the program marks its steps");
        return NM_OK;
    }
    nm_anchor_optimizer_choose(process);
    nm_anchor_backward_collect(anchor, index);
    status = collect(anchor, index, is_given ? NM_WORD_GIVEN : 0, &list, err);
    if (status == NM_OK && list.count > 0)
        qsort(list.items, list.count, sizeof list.items[0], by_count);
    if (status == NM_OK && is_given)
        choose_given(anchor, process, &list);
    else if (status == NM_OK)
        choose_found(anchor, process, &list);
    free(list.items);
    return status;
}
