/* SPDX-License-Identifier: Apache-2.0
 *
 * Objects of the runtime as processes count them: what lived at each look, and of those that were told by themselves what became of
 * them, by stack. They become ever more where the least that lived is larger in the last tenth of the process's events than in the
 * last two, and there than in the last four: what comes and goes has its least in each of them, and a cache that has grown to its
 * size no longer rises.
 */
#include "analysis/passes.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/map.h"
#include "base/number.h"
#include "replay/doubt.h"
#include "replay/lookup.h"
#include "replay/pass.h"

#define KINDS (NM_OBJECT_KIND_MAX + 1)

typedef struct object_look {
    int64_t seq;
    uint64_t live_count;
} object_look;

typedef struct object_sum { /* of a kind */
    uint64_t made_count, gone_count, most_count;
    object_look *looks; /* owned; in order */
    size_t count, capacity;
} object_sum;

typedef struct object_site {
    uint64_t kind, stack_id, made_count, gone_count;
} object_site;

typedef struct process_room {
    object_sum *sums;   /* owned; KINDS, or NULL */
    object_site *sites; /* owned */
    size_t site_count, site_capacity;
    nm_map site_of; /* (kind, stack) -> index */
    nm_map told;    /* (kind, handle) -> index of its site */
    bool is_told;
} process_room;

/* ---- What comes ---------------------------------------------------------------------------------------------------- */

static nm_status take_sum(process_room *of, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    object_sum *sum;
    nm_status status;

    if (of->sums == NULL)
        of->sums = nm_replay_allocate(KINDS * sizeof *of->sums, err);
    if (of->sums == NULL)
        return NM_ERR_MEMORY;
    sum = &of->sums[event->detail];
    status = nm_array_grow(&sum->looks, &sum->capacity, sum->count + 1, sizeof *sum->looks, err);
    if (status != NM_OK)
        return status;
    sum->made_count = event->count < NM_SIZE_BYTES_MAX ? event->count : NM_SIZE_BYTES_MAX;
    sum->gone_count = event->ended_count < NM_SIZE_BYTES_MAX ? event->ended_count : NM_SIZE_BYTES_MAX;
    sum->looks[sum->count] = (object_look){context->seq, nm_subtract_saturated(sum->made_count, sum->gone_count)};
    if (sum->looks[sum->count].live_count > sum->most_count)
        sum->most_count = sum->looks[sum->count].live_count;
    sum->count++;
    return NM_OK;
}

static nm_status site_at(process_room *of, uint64_t kind, uint64_t stack_id, uint64_t *index, nm_error *err)
{
    nm_status status = nm_array_grow(&of->sites, &of->site_capacity, of->site_count + 1, sizeof *of->sites, err);

    if (status == NM_OK)
        status = nm_map_number(&of->site_of, (nm_key){kind, stack_id}, index, err);
    if (status == NM_OK && *index == of->site_count)
        of->sites[of->site_count++] = (object_site){.kind = kind, .stack_id = stack_id};
    return status;
}

/* Bounded, so that no sum overflows. */
static uint64_t weight_of(uint64_t count)
{
    return count < UINT32_MAX ? count : UINT32_MAX;
}

static nm_status take_one(process_room *of, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    nm_key key = {event->detail, (uint64_t)event->number};
    uint64_t index = 0;
    nm_status status;

    if (event->count == 0) {
        if (nm_map_remove(&of->told, key, &index))
            of->sites[index].gone_count += weight_of(event->ended_count);
        return NM_OK;
    }
    status = site_at(of, event->detail, context->stack_id, &index, err);
    if (status == NM_OK)
        status = nm_map_put(&of->told, key, index, err);
    if (status == NM_OK)
        of->sites[index].made_count += weight_of(event->count);
    return status;
}

static nm_status take(nm_run *run, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    const nm_process *process =
        context->thread != NULL ? context->process : nm_replay_process(run->replay, (uint64_t)event->number);

    if (process == NULL || event->detail == 0 || event->detail > NM_OBJECT_KIND_MAX)
        return NM_OK;
    return context->thread != NULL ? take_one(nm_process_room(run, process), context, err)
                                   : take_sum(nm_process_room(run, process), context, err);
}

/* ---- What is said -------------------------------------------------------------------------------------------------- */

/* The least that lived from a moment on: what lived before it, and at each look since. */
static uint64_t least_from(const object_sum *sum, int64_t seq)
{
    size_t at = sum->count - 1;
    uint64_t least = sum->looks[at].live_count;

    while (at > 0 && sum->looks[at].seq > seq) {
        at--;
        least = sum->looks[at].live_count < least ? sum->looks[at].live_count : least;
    }
    return least;
}

static void judge(const object_sum *sum, int64_t end_seq, nm_object_count_row *row)
{
    int64_t tenth = (end_seq - sum->looks[0].seq) / 10;
    uint64_t last_four = least_from(sum, end_seq - 4 * tenth), last_two = least_from(sum, end_seq - 2 * tenth);
    uint64_t last = least_from(sum, end_seq - tenth);

    row->late_count = last - last_four; /* what is less of the time has no lower least */
    row->is_rising = last_four < last_two && last_two < last;
}

static nm_status tell_sums(nm_run *run, const nm_process *process, int64_t end_seq, nm_error *err)
{
    const process_room *of = nm_process_room(run, process);
    nm_status status = NM_OK;

    for (uint64_t kind = 1; kind < KINDS && of->sums != NULL && status == NM_OK; kind++) {
        const object_sum *sum = &of->sums[kind];
        nm_object_count_row row = {.process_id = process->id, .kind = kind};

        if (sum->count == 0)
            continue;
        row.made_count = sum->made_count;
        row.gone_count = sum->gone_count;
        row.most_count = sum->most_count;
        row.first_seq = sum->looks[0].seq;
        row.last_seq = sum->looks[sum->count - 1].seq;
        if (!nm_doubt_has_loss(run->replay, process))
            judge(sum, end_seq, &row);
        status = nm_give_object_count(&run->replay->sink, &row, err);
    }
    return status;
}

static nm_status tell(nm_run *run, const nm_process *process, int64_t end_seq, nm_error *err)
{
    process_room *of = nm_process_room(run, process);
    nm_status status = of->is_told ? NM_OK : tell_sums(run, process, end_seq, err);

    for (size_t i = 0; i < of->site_count && !of->is_told && status == NM_OK; i++) {
        const object_site *site = &of->sites[i];

        status = nm_give_object_site(&run->replay->sink,
                                     &(nm_object_site_row){.process_id = process->id,
                                                           .kind = site->kind,
                                                           .stack_id = site->stack_id,
                                                           .made_count = site->made_count,
                                                           .gone_count = site->gone_count},
                                     err);
    }
    of->is_told = true;
    return status;
}

static nm_status change(nm_run *run, const nm_change *change, nm_error *err)
{
    nm_status status = NM_OK;

    if (change->kind == NM_CHANGE_OBJECTS)
        return take(run, change->context, err);
    if (change->kind == NM_CHANGE_PROCESS_ENDED)
        return change->context->event->detail == NM_PROCESS_RUNNING
                   ? NM_OK
                   : tell(run, change->process, change->context->seq, err);
    for (const nm_process *process = run->replay->first_process; process != NULL && status == NM_OK;
         process = process->next)
        status = tell(run, process, run->replay->last_seq, err);
    return status;
}

static void release(nm_run *run)
{
    for (const nm_process *process = run->replay->first_process; process != NULL; process = process->next) {
        process_room *of = nm_process_room(run, process);

        for (size_t kind = 0; kind < KINDS && of->sums != NULL; kind++)
            free(of->sums[kind].looks);
        free(of->sums);
        free(of->sites);
        nm_map_free(&of->site_of);
        nm_map_free(&of->told);
    }
}

const nm_pass nm_objects_pass = {
    .name = "objects",
    .gives = {[NM_ROW_OBJECT_COUNT] = true, [NM_ROW_OBJECT_SITE] = true},
    .wants = {[NM_CHANGE_OBJECTS] = change, [NM_CHANGE_PROCESS_ENDED] = change, [NM_CHANGE_END] = change},
    .room = {[NM_OWNER_PROCESS] = sizeof(process_room)},
    .release = release,
};
