/* SPDX-License-Identifier: Apache-2.0
 *
 * The rules, each by itself. Places of birth and end are compared, never times: two events in the same forward have the same
 * count of forwards.
 */
#include "analysis/category_rules.h"

#define EARLY_BACKWARDS_MIN    3   /* that a freed one has outlived to be a weight by its size */
#define UNENDED_SITES_MIN      8   /* stacks in a forward after which the program ended, */
#define UNENDED_LIVE_RATIO_MIN 0.4 /* and how many of them have something live where a backward pass would follow */

/* ---- The clock ----------------------------------------------------------------------------------------------------- */

nm_phase nm_category_phase(const nm_category_clock *clock, const nm_category_stack *stack, nm_phase of_ranges,
                           bool is_autograd)
{
    if (stack->phase != NM_PHASE_NONE)
        return stack->phase;
    if (of_ranges != NM_PHASE_NONE)
        return of_ranges;
    if (is_autograd)
        return NM_PHASE_BACKWARD;
    return clock->has_python && !stack->has_python && clock->last == NM_PHASE_BACKWARD ? NM_PHASE_BACKWARD
                                                                                       : NM_PHASE_NONE;
}

void nm_category_tick(nm_category_clock *clock, const nm_category_stack *stack, nm_phase phase)
{
    bool is_new = phase != clock->last;

    clock->has_python |= stack->has_python;
    if (phase == NM_PHASE_NONE || stack->is_within_backward) {
        clock->has_left |= phase == NM_PHASE_NONE;
        return;
    }
    if (!is_new && !clock->has_left) /* it goes on */
        return;
    clock->place.forwards += phase == NM_PHASE_FORWARD;
    clock->place.backwards += phase == NM_PHASE_BACKWARD && is_new;
    clock->place.optimizers += phase == NM_PHASE_OPTIMIZER && is_new;
    clock->last = phase;
    clock->has_left = false;
}

/* ---- The rules ----------------------------------------------------------------------------------------------------- */

/* Does what is live after a forward without a backward pass wait for one? Without gradients all but the output is gone. */
static bool waits_for_backward(const nm_category_clock *clock)
{
    return clock->place.backwards == 0 && clock->place.optimizers == 0 && clock->forward_sites >= UNENDED_SITES_MIN &&
           clock->forward_live_sites >= UNENDED_LIVE_RATIO_MIN * clock->forward_sites;
}

static nm_category judge_live_forward(const nm_category_clock *clock, const nm_category_site *site,
                                      const nm_category_birth *birth)
{
    bool is_open = birth->place.forwards == clock->place.forwards && clock->last == NM_PHASE_FORWARD;

    if (is_open && (waits_for_backward(clock) || (site->activations > 0 && site->others == 0)))
        return NM_CATEGORY_ACTIVATION;
    return birth->place.backwards + 1 == clock->place.backwards &&
                   birth->place.optimizers + 1 >= clock->place.optimizers && site->activations > 0 && site->others == 0
               ? NM_CATEGORY_ACTIVATION
               : NM_CATEGORY_UNKNOWN;
}

static nm_category judge_forward(const nm_category_clock *clock, const nm_category_site *site,
                                 const nm_category_birth *birth, const nm_category_end *end)
{
    uint32_t backwards = end->place.backwards - birth->place.backwards;
    uint32_t optimizers = end->place.optimizers - birth->place.optimizers;

    if (end->is_live)
        return birth->is_baseline ? NM_CATEGORY_UNKNOWN : judge_live_forward(clock, site, birth);
    if (end->phase == NM_PHASE_BACKWARD && optimizers == 0 && (backwards > 0 || birth->phase != end->phase))
        return NM_CATEGORY_ACTIVATION;
    if (backwards == 1 && optimizers <= 1 && end->phase != NM_PHASE_FORWARD) /* there, a buffer may be made anew */
        return NM_CATEGORY_ACTIVATION;
    bool is_same = backwards == 0 && optimizers == 0 && end->place.forwards == birth->place.forwards;

    return is_same && end->phase == NM_PHASE_FORWARD ? NM_CATEGORY_TEMPORARY : NM_CATEGORY_UNKNOWN;
}

static nm_category judge_backward(const nm_category_clock *clock, const nm_category_birth *birth,
                                  const nm_category_end *end)
{
    bool is_over = end->place.backwards != birth->place.backwards || end->place.optimizers != birth->place.optimizers;

    if (end->is_live)
        return is_over || clock->last != NM_PHASE_BACKWARD || clock->has_left ? NM_CATEGORY_GRADIENT
                                                                              : NM_CATEGORY_UNKNOWN;
    if (!is_over && end->phase == NM_PHASE_BACKWARD)
        return NM_CATEGORY_TEMPORARY;
    return NM_CATEGORY_GRADIENT;
}

/* Where the program ended within the step, what its lines have made and never given back is no work of theirs. */
static nm_category judge_optimizer(const nm_category_clock *clock, const nm_category_site *site,
                                   const nm_category_birth *birth, const nm_category_end *end)
{
    uint32_t optimizers = end->place.optimizers - birth->place.optimizers;
    bool is_over = optimizers > 0 || clock->last != NM_PHASE_OPTIMIZER || clock->has_left;

    if (end->is_live)
        return is_over || (site->live > 1 && site->activations + site->others == 0) ? NM_CATEGORY_OPTIMIZER_STATE
                                                                                    : NM_CATEGORY_UNKNOWN;
    if (optimizers == 0 && end->phase == NM_PHASE_OPTIMIZER)
        return NM_CATEGORY_TEMPORARY;
    return optimizers > 1 ? NM_CATEGORY_OPTIMIZER_STATE : NM_CATEGORY_UNKNOWN;
}

/* In no part of an iteration. */
static nm_category judge_other(const nm_category_birth *birth, const nm_category_end *end)
{
    uint32_t backwards = end->place.backwards - birth->place.backwards;
    bool is_kept = end->is_live || backwards > 0 || end->place.forwards > birth->place.forwards + 1;
    bool is_like_gradients = birth->is_early && end->gradients > 0 && end->like_it <= end->gradients;

    if (birth->makes_weights && is_kept)
        return NM_CATEGORY_WEIGHT;
    if (birth->is_early && end->is_live && end->like_it <= end->workspaces)
        return NM_CATEGORY_WORKSPACE;
    return is_like_gradients && (end->is_live || backwards >= EARLY_BACKWARDS_MIN) ? NM_CATEGORY_WEIGHT
                                                                                   : NM_CATEGORY_UNKNOWN;
}

static nm_category judge(const nm_category_clock *clock, const nm_category_site *site, const nm_category_birth *birth,
                         const nm_category_end *end)
{
    if (birth->makes_cache)
        return NM_CATEGORY_KV_CACHE;
    if (birth->communicates)
        return NM_CATEGORY_COMMUNICATION;
    if (birth->makes_workspace)
        return NM_CATEGORY_WORKSPACE;
    switch (birth->phase) {
    case NM_PHASE_FORWARD:
        return judge_forward(clock, site, birth, end);
    case NM_PHASE_BACKWARD:
        return judge_backward(clock, birth, end);
    case NM_PHASE_OPTIMIZER:
        return judge_optimizer(clock, site, birth, end);
    default:
        return judge_other(birth, end);
    }
}

nm_category nm_category_judge(const nm_category_clock *clock, const nm_category_site *site,
                              const nm_category_birth *birth, const nm_category_end *end)
{
    nm_category category = judge(clock, site, birth, end);

    /* How often the parts of an iteration have begun since is not known: it may be from an earlier one. */
    return birth->is_baseline && category == NM_CATEGORY_TEMPORARY ? NM_CATEGORY_UNKNOWN : category;
}
