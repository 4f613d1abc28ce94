/* SPDX-License-Identifier: Apache-2.0
 *
 * What processes take of a device, summed up heap by heap: the same memory is seen by several of them, as what the driver
 * gave, as what is mapped of it and as what a pool made of it, and is counted once. A tally has a number, and a device's sums
 * are those of the tally that they bear the number of: nothing is cleared.
 */
#include "analysis/sample_tally.h"

#include "base/number.h"
#include "replay/lookup.h"

static nm_device_tally *tally_of(const nm_run *run, const nm_device *device)
{
    return nm_device_room(run, device);
}

static void tally_driver(nm_device_tally *tally, const nm_heap_state *state)
{
    const nm_heap_sample_row *row = &state->row;
    uint64_t own_bytes = nm_subtract_saturated(row->live_bytes, row->segment_bytes);
    bool is_program = state->heap->module_id == 0 || state->heap->module_id == NM_MODULE_APP;
    uint64_t *sum = is_program ? &tally->program_bytes : &tally->module_bytes;

    nm_sum_add(sum, own_bytes);
    nm_sum_add(&tally->mapped_bytes, row->mapped_bytes);
    tally->rounding_bytes += (int64_t)row->page_bytes - (int64_t)row->live_bytes;
}

uint64_t nm_tally_begin(const nm_run *run)
{
    return ++((nm_sample_all *)nm_replay_room(run))->tally_count;
}

void nm_tally_add(const nm_run *run, const nm_heap_state *state, uint64_t number)
{
    const nm_heap_sample_row *row = &state->row;
    nm_device_tally *tally = tally_of(run, state->heap->device);

    if (tally->number != number)
        *tally = (nm_device_tally){.number = number};
    if (state->heap->level == NM_LEVEL_DRIVER) {
        tally_driver(tally, state);
    } else if (state->heap->level == NM_LEVEL_PHYSICAL) {
        nm_sum_add(&tally->physical_bytes, row->live_bytes);
        tally->rounding_bytes += (int64_t)row->page_bytes - (int64_t)row->live_bytes;
    } else if (nm_is_pool(state->heap)) {
        nm_sum_add(&tally->pool_bytes, row->reserved_bytes);
        if (row->is_stated)
            nm_sum_add(&tally->stated_bytes, row->reserved_bytes);
    }
}

/* Stays where no sum of such overflows soon. */
static int64_t add_limited(int64_t a, int64_t b)
{
    const int64_t most = INT64_MAX / 4;
    int64_t sum = (a > most ? most : a) + (b > most ? most : b);

    return sum > most ? most : sum;
}

/* Mapped memory is physical memory, and what a pool states is likely to be memory that the driver gave to the program:
 * each is counted once. */
static int64_t tally_sum(const nm_device_tally *tally)
{
    uint64_t sum = nm_add_saturated(tally->pool_bytes, tally->module_bytes);

    nm_sum_add(&sum, nm_subtract_saturated(tally->program_bytes, tally->stated_bytes));
    nm_sum_add(&sum, nm_subtract_saturated(tally->physical_bytes, tally->mapped_bytes));
    return add_limited((int64_t)sum, tally->rounding_bytes);
}

nm_device_share nm_sample_share(const nm_run *run, const nm_device *device)
{
    const nm_sample_scope *scope = &nm_sample_hardware_of(run, device->group)->scope;
    const nm_device_tally *tally = tally_of(run, device);
    uint64_t number = nm_tally_begin(run);

    for (size_t i = 0; i < scope->count; i++)
        if (scope->states[i].heap->device == device)
            nm_tally_add(run, &scope->states[i], number);
    return tally->number != number ? (nm_device_share){0} : (nm_device_share){tally_sum(tally), tally->module_bytes};
}

bool nm_tally_take(const nm_run *run, const nm_device *device, uint64_t number, int64_t *recorded_bytes)
{
    nm_device_tally *tally = tally_of(run, device);

    if (tally->number != number || tally->is_taken)
        return false;
    tally->is_taken = true;
    *recorded_bytes = tally_sum(tally);
    return true;
}

int64_t nm_tally_all(const nm_run *run, const nm_sample_scope *scope)
{
    uint64_t number = nm_tally_begin(run);
    int64_t sum = 0, recorded_bytes;

    for (size_t i = 0; i < scope->count; i++)
        nm_tally_add(run, &scope->states[i], number);
    for (size_t i = 0; i < scope->count; i++)
        if (nm_tally_take(run, scope->states[i].heap->device, number, &recorded_bytes))
            sum = add_limited(sum, recorded_bytes);
    return sum;
}
