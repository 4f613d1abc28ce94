/* SPDX-License-Identifier: Apache-2.0
 *
 * What devices, the host and modules say of themselves when they are asked, as they say it; beside what a module says
 * stands what is recorded of the process's share of the device then. What such figures mean for moments, samples.c says.
 */
#include "analysis/passes.h"
#include "analysis/sample_tally.h"
#include "base/number.h"
#include "replay/lookup.h"
#include "replay/pass.h"

enum { NEED_SAMPLES };

static uint64_t limit(uint64_t bytes)
{
    return bytes < NM_SIZE_BYTES_MAX ? bytes : NM_SIZE_BYTES_MAX;
}

static nm_status give_memory(const nm_run *run, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    const nm_device *device = nm_replay_device(run->replay, event->device_id);
    const nm_process *named = event->number <= 0 ? NULL : nm_replay_process(run->replay, (uint64_t)event->number);
    const nm_process *process = named != NULL              ? named
                                : context->process != NULL ? context->process
                                : device == NULL           ? NULL
                                                           : device->process;
    nm_memory_sample_row row = {
        .ns = event->time_ns,
        .seq = context->seq,
        .process_id = process == NULL ? 0 : process->id,
        .device_id = device == NULL ? 0 : device->id,
        .kind = event->detail,
        .used_bytes = event->detail >= NM_MEMORY_HOST_RESIDENT || event->total_bytes == 0
                          ? event->size_bytes
                          : nm_subtract_saturated(event->total_bytes, event->free_bytes),
        .total_bytes = event->total_bytes,
    };

    return nm_give_memory_sample(&run->replay->sink, &row, err);
}

static nm_status give_module(const nm_run *run, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    const nm_device *device = nm_replay_device(run->replay, event->device_id);
    const nm_process *process = context->process != NULL ? context->process : device == NULL ? NULL : device->process;
    nm_module_sample_row row = {
        .ns = event->time_ns,
        .seq = context->seq,
        .process_id = process == NULL ? 0 : process->id,
        .device_id = device == NULL ? 0 : device->id,
        .module = event->name_id,
        .used_bytes = limit(event->size_bytes),
        .peak_bytes = limit(event->total_bytes),
        .recorded_bytes = device == NULL ? 0 : nm_sample_share(run->needs[NEED_SAMPLES], device).recorded_bytes,
    };

    return nm_give_module_sample(&run->replay->sink, &row, err);
}

static nm_status change(nm_run *run, const nm_change *change, nm_error *err)
{
    return change->context->event->kind == NM_EVENT_MEMORY_SAMPLE ? give_memory(run, change->context, err)
                                                                  : give_module(run, change->context, err);
}

static const nm_pass *const needs[] = {[NEED_SAMPLES] = &nm_samples_pass, NULL};

const nm_pass nm_readings_pass = {
    .name = "readings",
    .gives = {[NM_ROW_MEMORY_SAMPLE] = true, [NM_ROW_MODULE_SAMPLE] = true},
    .needs = needs,
    .wants = {[NM_CHANGE_SAMPLED] = change},
};
