/* SPDX-License-Identifier: Apache-2.0
 *
 * The heaps and devices of this process. A table without locks: an entry is filled first and found afterwards. A handle is
 * the heap's number in its low half and a mark of the generation in its high half, so that a handle which a fork child
 * inherited, or which is from an earlier recording, names nothing.
 */
#ifndef NM_RECORD_HEAP_H
#define NM_RECORD_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/thread_state.h"

#define NM_HEAP_COUNT_MAX   65535
#define NM_DEVICE_COUNT_MAX 1024 /* ordinals past it are recorded as unknown */

typedef struct nm_heap_request {
    const char *name;
    size_t name_bytes;
    uint64_t level;      /* nm_heap_level */
    int32_t device;      /* ordinal, negative: none */
    uint64_t size_basis; /* nm_size_basis */
    uint64_t small_bytes, large_bytes;
    uint64_t module_id; /* of CANN; heaps of the same name, level and device have the same */
} nm_heap_request;

/* The handle of the heap with this name, level and device, defined if it is new. Never 0: where there is no memory for it, or
 * the table is full, a handle that names nothing, of which nm_heap_is_without_room knows. */
uint32_t nm_heap_define(nm_recorded_thread *thread, const nm_heap_request *request);

/* The number for a ring's record of a handle, 0 when it names no heap of this process. Puts the definition if that was not
 * possible before. */
uint32_t nm_heap_number(nm_recorded_thread *thread, uint32_t handle);

/* What is recorded with this handle is lost, and to be counted; and that handle, 0 while the process does not record. */
bool nm_heap_is_without_room(uint32_t handle);
uint32_t nm_heap_without_room(void);

/* The number for a ring's record of a device, defined if it is new; 0 for a negative or unlikely ordinal. */
uint64_t nm_device_number(nm_recorded_thread *thread, int32_t ordinal);

/* The ordinal of the device that the driver calls `number`; the number itself where no list says otherwise. */
int32_t nm_device_ordinal(int32_t number);

/* The device's memory became known: defines it again. True the first time. */
bool nm_device_is_capacity_wanted(int32_t ordinal);
void nm_device_set_capacity(nm_recorded_thread *thread, int32_t ordinal, uint64_t capacity_bytes);

void nm_heap_forget_all(void);

#endif
