/* SPDX-License-Identifier: Apache-2.0
 *
 * The simulated device: how much of it is taken, in how many calls, and whether more fits. The pool's memory and what
 * lies outside it share one capacity. Nothing here knows how an allocator decides.
 */
#include "whatif/model.h"

#include <assert.h>

static uint64_t left_on(const nm_sim_device *device)
{
    uint64_t taken = device->reserved_bytes + device->other_bytes;

    return taken < device->capacity_bytes ? device->capacity_bytes - taken : 0;
}

/* Is there room for so much more? Notes what that tells of devices of another size. */
static bool has_room(nm_sim_device *device, uint64_t bytes)
{
    uint64_t wanted = device->reserved_bytes + device->other_bytes + bytes;
    bool is_granted = bytes <= left_on(device);

    if (is_granted && wanted > device->granted_bytes)
        device->granted_bytes = wanted;
    if (!is_granted && (device->refused_bytes == 0 || wanted < device->refused_bytes))
        device->refused_bytes = wanted;
    return is_granted;
}

bool nm_sim_device_take(nm_sim_device *device, uint64_t bytes, uint64_t pieces)
{
    if (!has_room(device, bytes)) {
        device->failed_count++;
        return false;
    }
    device->reserved_bytes += bytes;
    device->take_count += pieces;
    device->growth_count++;
    if (device->reserved_bytes > device->peak_reserved_bytes)
        device->peak_reserved_bytes = device->reserved_bytes;
    return true;
}

void nm_sim_device_give(nm_sim_device *device, uint64_t bytes, uint64_t pieces)
{
    assert(device->reserved_bytes >= bytes);
    device->reserved_bytes -= bytes;
    device->give_count += pieces;
}

bool nm_sim_device_take_other(nm_sim_device *device, uint64_t bytes)
{
    if (!has_room(device, bytes))
        return false;
    device->other_bytes += bytes;
    return true;
}

void nm_sim_device_give_other(nm_sim_device *device, uint64_t bytes)
{
    assert(device->other_bytes >= bytes);
    device->other_bytes -= bytes;
}
