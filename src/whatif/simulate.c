/* SPDX-License-Identifier: Apache-2.0
 *
 * The workload's operations one after the other, as calls of a model, with the peaks noted after each. The first
 * request that the model cannot serve ends the run: that is the failure. Nothing is decided here that an allocator
 * decides, and the workload is only read, so that many runs share one.
 */
#include "whatif/simulate.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "whatif/bucket.h"

typedef struct simulation {
    const nm_workload *workload;
    const nm_setting *setting;
    nm_sim_device device;
    nm_model *model;
    void **slots;        /* owned; the block of each slot */
    uint32_t *asked_for; /* owned; and its request */
    size_t ask;          /* how many operations have asked */
    size_t last_miss;    /* the one that missed last, plus 1; 0: none */
    nm_sim_result *result;
    uint64_t live_bytes;
    uint64_t steps_begun;
    uint64_t calls_at_step, misses_at_step; /* when the first step after the warm-up began */
} simulation;

/* ---- Figures ----------------------------------------------------------------------------------------------------- */

static void raise(uint64_t *peak, uint64_t value)
{
    if (value > *peak)
        *peak = value;
}

static void note_peaks(simulation *run)
{
    const nm_sim_device *device = &run->device;

    raise(&run->result->peak_live_bytes, run->live_bytes);
    raise(&run->result->peak_active_bytes, run->model->state.active_bytes);
    raise(&run->result->peak_total_bytes, device->reserved_bytes + device->other_bytes);
    raise(&run->result->peak_stuck_bytes, run->model->state.stuck_bytes);
}

static uint64_t calls_of(const simulation *run)
{
    return run->device.take_count + run->device.give_count;
}

/* As view z_warm_up: the first two steps, of two steps the first. */
static uint64_t warm_up_count(const nm_workload *workload)
{
    return workload->step_count > 2 ? 2 : 1;
}

static void begin_step(simulation *run)
{
    if (++run->steps_begun != warm_up_count(run->workload) + 1)
        return;
    run->calls_at_step = calls_of(run);
    run->misses_at_step = run->result->miss_count;
}

/* What a failure says of the device; where no request failed, nothing. */
static void judge(nm_sim_failure *failure, uint64_t capacity_bytes)
{
    if (failure->bytes == 0)
        return;
    failure->device_free_bytes = nm_subtract_saturated(capacity_bytes, failure->reserved_bytes + failure->other_bytes);
    if (failure->cause == NM_CAUSE_CAPACITY || failure->cause == NM_CAUSE_FRAGMENTATION)
        failure->cause = failure->device_free_bytes + failure->free_bytes >= failure->bytes ? NM_CAUSE_FRAGMENTATION
                                                                                            : NM_CAUSE_CAPACITY;
}

/* `seq` of the request: NM_NO_SEQ at the beginning. NM_CAUSE_NONE: to be judged. */
static void fail(simulation *run, const nm_request *asked, int64_t seq, nm_failure_cause cause)
{
    const nm_model_state *state = &run->model->state;
    nm_sim_failure *failure = &run->result->failure;

    run->result->is_fit = false;
    *failure = (nm_sim_failure){
        .cause = cause != NM_CAUSE_NONE ? cause
                 : state->is_limit      ? NM_CAUSE_LIMIT
                                        : NM_CAUSE_CAPACITY,
        .seq = seq,
        .bytes = asked->bytes,
        .reserved_bytes = run->device.reserved_bytes,
        .active_bytes = state->active_bytes,
        .free_bytes = state->free_bytes,
        .stuck_bytes = state->stuck_bytes,
        .largest_free_bytes = cause == NM_CAUSE_OTHER
                                  ? 0
                                  : run->model->type->largest_free(
                                        run->model, &(nm_ask){asked->bytes, asked->lane, asked->is_block_bytes}),
        .other_bytes = run->device.other_bytes,
    };
    judge(failure, run->device.capacity_bytes);
}

/* ---- Operations -------------------------------------------------------------------------------------------------- */

/* A block for the request, in that slot. NM_END: there is none, and nothing is said of it yet. */
static nm_status put_block(simulation *run, uint32_t slot, uint32_t request, nm_error *err)
{
    const nm_request *asked = &run->workload->requests.items[request];
    nm_status status = run->model->type->alloc(run->model, &(nm_ask){asked->bytes, asked->lane, asked->is_block_bytes},
                                               &run->slots[slot], err);

    if (status != NM_OK)
        return status;
    run->asked_for[slot] = request;
    run->live_bytes += asked->bytes;
    note_peaks(run);
    return NM_OK;
}

/* The next ask, in that slot. NM_END: the run is over. */
static nm_status ask(simulation *run, uint32_t slot, nm_error *err)
{
    uint32_t request = run->workload->asks.items[run->ask++];
    const nm_request *asked = &run->workload->requests.items[request];
    nm_sim_result *result = run->result;
    uint64_t misses_before = run->model->state.miss_count;
    nm_status status = put_block(run, slot, request, err);

    if (status == NM_END)
        fail(run, asked, nm_workload_seq(run->workload, run->ask - 1), NM_CAUSE_NONE);
    if (status != NM_OK)
        return status;
    result->request_count++;
    result->requested_bytes += asked->bytes;
    if (run->model->state.miss_count != misses_before) {
        result->miss_count++;
        result->missed_bytes += asked->bytes;
        run->last_miss = run->ask;
    }
    return NM_OK;
}

static nm_status give_up(simulation *run, uint32_t slot, nm_error *err)
{
    void *block = run->slots[slot];

    run->slots[slot] = NULL;
    run->live_bytes -= run->workload->requests.items[run->asked_for[slot]].bytes;
    return run->model->type->free(run->model, block, err);
}

static nm_status try_failed(simulation *run, uint32_t slot, nm_error *err)
{
    nm_status status = ask(run, slot, err);

    return status == NM_OK ? give_up(run, slot, err) : status;
}

static nm_status take_other(simulation *run)
{
    const nm_request *asked = &run->workload->requests.items[run->workload->asks.items[run->ask++]];

    if (!nm_sim_device_take_other(&run->device, asked->bytes)) {
        fail(run, asked, nm_workload_seq(run->workload, run->ask - 1), NM_CAUSE_OTHER);
        return NM_END;
    }
    note_peaks(run);
    return NM_OK;
}

static nm_status run_op(simulation *run, uint32_t op, nm_error *err)
{
    uint32_t index = nm_op_index_of(op);

    switch (nm_op_kind_of(op)) {
    case NM_OP_ALLOC:
        return ask(run, index, err);
    case NM_OP_FREE_REQUESTED:
        run->model->type->free_requested(run->model, run->slots[index]);
        return NM_OK;
    case NM_OP_FREE:
        return give_up(run, index, err);
    case NM_OP_FAILED:
        return try_failed(run, index, err);
    case NM_OP_FLUSH:
        return run->model->type->flush(run->model, err);
    case NM_OP_LET_GO:
        if (run->model->type->let_go != NULL)
            run->model->type->let_go(run->model, index);
        return NM_OK;
    case NM_OP_STEP:
        begin_step(run);
        return NM_OK;
    case NM_OP_TAKE_OTHER:
        return take_other(run);
    case NM_OP_GIVE_OTHER:
        nm_sim_device_give_other(&run->device, run->workload->requests.items[index].bytes);
        return NM_OK;
    case NM_OP_NOTHING:
        return NM_OK;
    }
    return NM_OK;
}

/* ---- The beginning ----------------------------------------------------------------------------------------------- */

/* Can what was there lie as it lay? Its segments must be such as the simulated allocator makes. */
static bool can_lay_out(const simulation *run)
{
    const nm_caching_settings *settings = &run->setting->caching;
    const nm_recorded *recorded = &run->workload->recorded;

    if (run->setting->is_bucket || run->workload->spaces.count == 0 ||
        settings->is_expandable != recorded->is_expandable || settings->has_gigabyte_pages)
        return false;
    return !settings->is_expandable || run->workload->page_bytes == settings->page_bytes;
}

static nm_status seed(simulation *run, nm_error *err)
{
    const nm_workload *workload = run->workload;
    nm_status status = NM_OK;

    run->result->is_laid_out = can_lay_out(run);
    if (run->result->is_laid_out)
        for (size_t i = 0; i < workload->spaces.count && status == NM_OK; i++)
            status = nm_caching_seed(run->model, &workload->spaces.items[i], run->slots, err);
    for (size_t i = 0; i < workload->baseline.count && status == NM_OK; i++) {
        const nm_baseline_block *block = &workload->baseline.items[i];

        if (!run->result->is_laid_out) {
            status = put_block(run, block->slot, block->request, err);
            continue;
        }
        run->asked_for[block->slot] = block->request;
        run->live_bytes += workload->requests.items[block->request].bytes;
    }
    if (status == NM_END)
        fail(run, &workload->requests.items[workload->baseline.count > 0 ? workload->baseline.items[0].request : 0],
             NM_NO_SEQ, NM_CAUSE_BASELINE);
    if (status != NM_OK)
        return status;
    note_peaks(run);
    run->device.take_count = run->device.give_count = run->device.growth_count = 0; /* calls are counted from here on */
    run->model->state.flush_count = 0;
    return NM_OK;
}

static nm_status open_model(simulation *run, nm_error *err)
{
    const nm_workload *workload = run->workload;

    if (run->setting->is_bucket)
        return nm_bucket_new(&run->setting->bucket, &run->device, workload->lanes.count, &run->model, err);
    return nm_caching_new(&run->setting->caching, &run->device, workload->lanes.items, workload->lanes.count,
                          &run->model, err);
}

/* ---- A run ------------------------------------------------------------------------------------------------------- */

static void finish(simulation *run)
{
    nm_sim_result *result = run->result;

    result->peak_reserved_bytes = run->device.peak_reserved_bytes;
    result->reserved_bytes = run->device.reserved_bytes;
    result->growth_count = run->device.growth_count;
    result->take_count = run->device.take_count;
    result->give_count = run->device.give_count;
    if (run->last_miss > 0)
        result->last_miss_seq = nm_workload_seq(run->workload, run->last_miss - 1);
    result->step_count = nm_subtract_saturated(run->steps_begun, warm_up_count(run->workload));
    if (result->step_count > 0) {
        result->calls_in_steps = calls_of(run) - run->calls_at_step;
        result->misses_in_steps = result->miss_count - run->misses_at_step;
    }
    if (run->model != NULL) {
        result->flush_count = run->model->state.flush_count;
        result->collect_count = run->model->state.collect_count;
    }
}

/* ---- Runs that are known ----------------------------------------------------------------------------------------- */

/* The memo for runs of that setting; NULL: none, or the setting asks how large the device is. */
static nm_sim_memo *memo_for(const nm_workload *workload, const nm_setting *setting, uint64_t other_bytes)
{
    nm_sim_memo *memo = workload->memo;

    if (memo == NULL || (!setting->is_bucket && setting->caching.memory_fraction > 0))
        return NULL;
    if (memcmp(&memo->setting, setting, sizeof *setting) != 0 || memo->other_bytes != other_bytes) {
        memcpy(&memo->setting, setting, sizeof *setting); /* with what lies between its members */
        memo->other_bytes = other_bytes;
        memo->count = 0;
    }
    return memo;
}

static bool recall(const nm_sim_memo *memo, uint64_t capacity_bytes, nm_sim_result *result)
{
    for (size_t i = 0; memo != NULL && i < memo->count && i < NM_SIM_MEMO_RUNS; i++) {
        uint64_t refused_bytes = memo->runs[i].refused_bytes;

        if (capacity_bytes < memo->runs[i].granted_bytes || (refused_bytes != 0 && capacity_bytes >= refused_bytes))
            continue;
        *result = memo->runs[i].result;
        if (!result->is_fit)
            judge(&result->failure, capacity_bytes);
        return true;
    }
    return false;
}

static void remember(nm_sim_memo *memo, const simulation *run)
{
    size_t at = memo->count++ % NM_SIM_MEMO_RUNS;

    memo->runs[at].granted_bytes = run->device.granted_bytes;
    memo->runs[at].refused_bytes = run->device.refused_bytes;
    memo->runs[at].result = *run->result;
}

static nm_status run_all(simulation *run, nm_error *err)
{
    const nm_workload *workload = run->workload;
    nm_status status = open_model(run, err);

    if (status == NM_END) {
        run->result->is_fit = false;
        run->result->failure.cause = NM_CAUSE_BASELINE;
        run->result->failure.seq = NM_NO_SEQ;
    }
    if (status == NM_OK)
        status = seed(run, err);
    for (size_t i = 0; i < workload->ops.count && status == NM_OK; i++)
        status = run_op(run, workload->ops.items[i], err);
    finish(run);
    return status == NM_END ? NM_OK : status;
}

nm_status nm_simulate(const nm_workload *workload, const nm_setting *setting, const nm_sim_options *options,
                      nm_sim_result *result, nm_error *err)
{
    nm_sim_memo *memo = memo_for(workload, setting, options->other_bytes);
    simulation run = {
        .workload = workload,
        .setting = setting,
        .device = {.capacity_bytes = options->capacity_bytes, .other_bytes = options->other_bytes},
        .result = result,
    };
    nm_status status;

    if (recall(memo, options->capacity_bytes, result))
        return NM_OK;
    if (workload->tell != NULL)
        workload->tell(workload->told, setting);
    *result = (nm_sim_result){.is_fit = true, .last_miss_seq = NM_NO_SEQ};
    run.slots = calloc((size_t)workload->slot_count + 1, sizeof *run.slots);
    run.asked_for = calloc((size_t)workload->slot_count + 1, sizeof *run.asked_for);
    status = run.slots != NULL && run.asked_for != NULL ? run_all(&run, err)
                                                        : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK && memo != NULL)
        remember(memo, &run);
    if (run.model != NULL)
        run.model->type->close(run.model);
    free(run.slots);
    free(run.asked_for);
    return status;
}

double nm_sim_fragmentation_ratio(const nm_sim_result *result)
{
    if (result->peak_reserved_bytes == 0 || result->peak_live_bytes >= result->peak_reserved_bytes)
        return 0;
    return 1 - (double)result->peak_live_bytes / (double)result->peak_reserved_bytes;
}

double nm_sim_hit_rate(const nm_sim_result *result)
{
    return result->request_count == 0 ? 1 : 1 - (double)result->miss_count / (double)result->request_count;
}
