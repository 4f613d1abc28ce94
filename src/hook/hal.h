/* SPDX-License-Identifier: Apache-2.0
 *
 * What the hooks of ACL and those of the driver below it share: whose memory is which heap, and which of two hooks tells
 * of an allocation that both see. The rules stand at the top of hal.c.
 */
#ifndef NM_HOOK_HAL_H
#define NM_HOOK_HAL_H

#include <stdint.h>

#include "hook/cann_module.h"
#include "hook/free.h"
#include "hook/hook.h"

#define NM_PHYSICAL_HEAP_NAME "physical memory"
#define NM_IMPORTED_HEAP_NAME "memory of other processes"

typedef enum nm_space {
    NM_SPACE_DRIVER = 0,   /* of the device */
    NM_SPACE_DVPP = 1,     /* of the device, for its image and video processors */
    NM_SPACE_PINNED = 2,   /* of the host, given by the driver */
    NM_SPACE_PHYSICAL = 3, /* of the device, by handle */
    NM_SPACE_COUNT = 4,
    NM_SPACE_NONE = NM_SPACE_COUNT, /* addresses without memory */
} nm_space;

/* The heap of a module's memory; `device`: as the program counts, negative: unknown. */
uint32_t nm_hal_heap(nm_space space, int32_t device, unsigned module);

/* The heap of host memory that is registered. */
uint32_t nm_hal_registered_heap(void);

/* A memory call that allocates, before the real one: for which module. And after it: `address` (NULL: it failed) is what
 * it gave. Returns how much the driver gave for it, 0: unknown; what the driver gave besides is told. */
void nm_hal_ask(unsigned module);
uint64_t nm_hal_settle(const void *address, const void *frame);

/* A memory call that frees, before the real one. */
void nm_hal_give(uint64_t address);

/* The heap of memory that is mapped by its handle, where that did not come through ACL; else 0. */
uint32_t nm_hal_mapped_heap(const void *handle);

/* ---- Hooks of the driver ---- */

/* Does the call of ACL around it tell of this free? */
bool nm_hal_is_owned_free(nm_layer around, uint64_t address);

/* A free, before its call. */
void nm_hal_tell_freed(nm_layer around, nm_free_call call, uint64_t address, const void *frame);

/* The whole hook of a driver's function that frees; `is_end`: it ends the memory at `at`. */
#define NM_HAL_FREE(call, how, at, is_end)                                                                             \
    do {                                                                                                               \
        uint64_t freed = at;                                                                                           \
        bool is_told;                                                                                                  \
                                                                                                                       \
        HOOK_DRIVER(is_told = freed != 0 && !nm_hal_is_owned_free(around, freed) && (is_end);                          \
                    if (is_told) nm_hal_tell_freed(around, how, freed, HERE), call,                                    \
                    if (is_told) nm_free_note_end(how, freed, error, HERE));                                           \
    } while (0)

#endif
