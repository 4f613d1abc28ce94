/* SPDX-License-Identifier: Apache-2.0
 *
 * What optimizers do: how often each is called from the same line. A run of allocations in its step ends an iteration. Two
 * that take turns (a generator and a discriminator) are called in one iteration; two of which one comes after the other is
 * through (training, then fine-tuning) are iterations of two kinds.
 */
#include <string.h>

#include "steps/anchor_state.h"

#define OTHERS_MIN      4   /* allocations between two runs, where no backward pass tells them apart */
#define RUNS_MIN        3   /* of an optimizer that may stand for the iterations in which others run more often */
#define ALIKE_RATIO_MIN 0.8 /* of the backward passes come before a run that has as many of them as the run before */
#define STAYS_RATIO_MIN 0.5 /* of what runs allocate: so much more is live at the next ones, but not much more than */
#define STAYS_RATIO_MAX 3   /* that with gradients, which would not be theirs */

static nm_anchor_optimizer *optimizer_of(nm_anchor_process *process, uint64_t caller)
{
    for (size_t i = 0; i < process->optimizer_count; i++)
        if (process->optimizers[i].caller == caller)
            return &process->optimizers[i];
    if (process->optimizer_count == NM_ANCHOR_OPTIMIZERS_MAX)
        return NULL;
    nm_anchor_optimizer *optimizer = &process->optimizers[process->optimizer_count++];
    *optimizer = (nm_anchor_optimizer){.caller = caller, .has_backward = process->has_any_backward};
    return optimizer;
}

static uint64_t count_of(const nm_anchor_process *process, const nm_anchor_optimizer *optimizer)
{
    return process->has_any_backward ? optimizer->pair_count : optimizer->run_count;
}

static void begin_run(nm_anchor_process *process, nm_anchor_optimizer *optimizer, bool is_pair, bool is_run)
{
    optimizer->pair_count += is_pair;
    optimizer->run_count += is_run;
    optimizer->has_backward = false;
    if (count_of(process, optimizer) > 2) { /* the first may come in the middle; nothing is before it */
        optimizer->call_count += optimizer->calls;
        optimizer->alike_count += optimizer->calls == optimizer->last_calls ? optimizer->calls : 0;
        optimizer->run_sum += (double)(optimizer->last_allocation - optimizer->last);
        optimizer->live_sum += nm_anchor_live_of(process) - optimizer->run_live;
    }
    optimizer->run_live = nm_anchor_live_of(process);
    optimizer->last_calls = optimizer->calls;
    optimizer->calls = 0;
    if (optimizer->pair_count + optimizer->run_count == (uint64_t)is_pair + is_run)
        optimizer->first = process->seen_count;
    optimizer->last = process->seen_count;
    process->in_optimizer = (size_t)(optimizer - process->optimizers) + 1;
}

void nm_anchor_optimizer_note(nm_anchor_process *process, unsigned words, uint64_t caller, uint64_t stack_id)
{
    if (words & NM_WORD_OPTIMIZER) {
        nm_anchor_optimizer *optimizer = optimizer_of(process, caller);

        if (optimizer == NULL)
            return;
        bool is_first = optimizer->stack == 0 && optimizer->last_allocation == 0;
        bool is_run = is_first || process->seen_count - optimizer->last_allocation > OTHERS_MIN;
        bool is_pair = optimizer->has_backward;
        if (process->has_any_backward ? is_pair : is_run)
            begin_run(process, optimizer, is_pair, is_run);
        optimizer->stack = stack_id;
        optimizer->last_allocation = process->seen_count;
    } else {
        process->in_optimizer = 0;
    }
    if ((words & NM_WORD_BACKWARD) == 0)
        return;
    process->has_any_backward = true;
    for (size_t i = 0; i < process->optimizer_count; i++) {
        process->optimizers[i].has_backward = true;
        process->optimizers[i].calls += (words & (NM_WORD_PYTHON | NM_WORD_FORWARD)) == NM_WORD_PYTHON;
    }
}

static bool take_turns(const nm_anchor_optimizer *a, const nm_anchor_optimizer *b)
{
    return a->first < b->last && b->first < a->last;
}

/* Does it make nothing but state, of one parameter after the other? Then it runs more often than that. */
static bool only_makes_state(const nm_anchor_optimizer *one)
{
    return one->caller != 0 && one->run_sum > 0 && one->live_sum >= STAYS_RATIO_MIN * one->run_sum &&
           one->live_sum <= STAYS_RATIO_MAX * one->run_sum;
}

/* Of those that take turns the one that is called least, if that is often enough; of equals the first. */
static bool is_better(const nm_anchor_process *process, const nm_anchor_optimizer *a, const nm_anchor_optimizer *b)
{
    uint64_t of_a = count_of(process, a);
    uint64_t of_b = count_of(process, b);

    if ((of_a >= RUNS_MIN) != (of_b >= RUNS_MIN))
        return of_a >= RUNS_MIN;
    return of_a != of_b ? of_a < of_b : a < b;
}

/* What ranges say and what stacks say is the same runs, seen twice. Stacks tell optimizers apart; ranges are there when an
 * optimizer allocates nothing. */
static bool are_ranges_better(const nm_anchor_process *process)
{
    uint64_t of_ranges = 0, of_stacks = 0;

    for (size_t i = 0; i < process->optimizer_count; i++) {
        uint64_t count = count_of(process, &process->optimizers[i]);

        if (process->optimizers[i].caller == 0)
            of_ranges = count;
        else if (count > of_stacks)
            of_stacks = count;
    }
    return of_ranges > of_stacks && of_stacks < RUNS_MIN;
}

static bool is_chosen(const nm_anchor_process *process, const nm_anchor_optimizer *one, bool goes_by_ranges)
{
    if ((one->caller == 0) != goes_by_ranges || count_of(process, one) == 0 || only_makes_state(one))
        return false;
    for (size_t i = 0; i < process->optimizer_count; i++) {
        const nm_anchor_optimizer *other = &process->optimizers[i];

        if (other != one && (other->caller == 0) == goes_by_ranges && count_of(process, other) > 0 &&
            !only_makes_state(other) && take_turns(one, other) && !is_better(process, one, other))
            return false;
    }
    return true;
}

void nm_anchor_optimizer_choose(nm_anchor_process *process)
{
    bool goes_by_ranges = are_ranges_better(process);

    process->optimizer_runs = 0;
    for (size_t i = 0; i < process->optimizer_count; i++) {
        nm_anchor_optimizer *one = &process->optimizers[i];

        one->is_chosen = is_chosen(process, one, goes_by_ranges);
        process->optimizer_runs += one->is_chosen ? count_of(process, one) : 0;
    }
}

bool nm_anchor_optimizer_is_regular(const nm_anchor_process *process)
{
    const nm_anchor_optimizer *latest = NULL;
    uint64_t calls = 0, alike = 0;

    for (size_t i = 0; i < process->optimizer_count; i++) {
        const nm_anchor_optimizer *one = &process->optimizers[i];

        if (!one->is_chosen)
            continue;
        calls += one->call_count;
        alike += one->alike_count;
        latest = latest == NULL || one->last > latest->last ? one : latest;
    }
    if (latest != NULL && latest->calls > latest->last_calls) /* more than an iteration that was cut */
        calls += latest->calls - latest->last_calls;
    return (double)alike >= ALIKE_RATIO_MIN * (double)calls;
}

/* What was seen of a backward pass at all stays known: it says how runs are told apart. */
void nm_anchor_optimizer_restart(nm_anchor_process *process)
{
    process->in_optimizer = 0;
    process->seen_count = 0;
    for (size_t i = 0; i < process->optimizer_count; i++) {
        nm_anchor_optimizer *optimizer = &process->optimizers[i];

        *optimizer = (nm_anchor_optimizer){.caller = optimizer->caller, .is_chosen = optimizer->is_chosen};
    }
}
