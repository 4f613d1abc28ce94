/* SPDX-License-Identifier: Apache-2.0
 *
 * How much memory a device has and how much of it is in use, as the runtime gives it. Nothing is asked while a graph is
 * captured; errno stays.
 */
#ifndef NM_HOOK_DEVICE_MEMORY_H
#define NM_HOOK_DEVICE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "hook/runtime.h"

/*
 * Samples of a device's memory: in all (if the device is the thread's) and by module. Inside or outside of a hook; the
 * runtime may allocate meanwhile. nm_device_memory_sample: at most ten times a second for each device.
 */
void nm_device_memory_sample(int32_t device);
void nm_device_memory_sample_now(int32_t device);

/* What aclrtGetMemUsageInfo said of a device. */
void nm_device_memory_usage(int32_t device, const nm_acl_usage *info, size_t count);

/* The current device's memory and its kind (NM_MEMORY_*); 0, 0 when it is not told. */
int nm_device_memory(size_t *free_bytes, size_t *total_bytes);

/* Once per device: how much memory it has. */
void nm_device_memory_capacity(int32_t device);

#endif
