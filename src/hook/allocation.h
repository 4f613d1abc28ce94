/* SPDX-License-Identifier: Apache-2.0
 *
 * An allocation that the program makes for itself, from its request to its end: the events of it, all between
 * nm_record_enter and nm_record_leave.
 */
#ifndef NM_HOOK_ALLOCATION_H
#define NM_HOOK_ALLOCATION_H

#include <stddef.h>
#include <stdint.h>

#include "hook/runtime.h"
#include "record/record.h"

/* A request for memory. heap is filled after the call: the device may be known only then. */
typedef struct nm_allocation_call {
    size_t size;
    uint32_t policy;
    uint32_t flags; /* NM_FLAG_* */
    uint32_t heap;
    uint64_t stream;
    uint64_t begin_ticks;
    const void *frame;
} nm_allocation_call;

/* Once before the real call of a request. */
void nm_allocation_begin(nm_allocation_call *asked);

/* Tells how the request ended: `address` was allocated, or `error` is not 0. */
void nm_allocation_end(const nm_allocation_call *asked, const void *address, nm_acl_error error);

typedef nm_acl_error nm_free_function(void *address);

/* The whole hook of a function that frees by address. */
nm_acl_error nm_allocation_free(nm_free_function *real, nm_free_call call, void *address, const void *frame);

#endif
