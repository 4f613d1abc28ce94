/* SPDX-License-Identifier: Apache-2.0
 *
 * What the thread's own part of the recording (state.h) and the hooks (record.h) both know of a call in a call.
 */
#ifndef NM_RECORD_INNER_H
#define NM_RECORD_INNER_H

#include <stdint.h>

/*
 * The memory call that the thread is in and what the driver does inside it: the one line between the memory's hooks and the
 * driver's. nm_record_enter empties it. The call says what it asks for or frees; of what the driver gives meanwhile, the
 * allocation that is most likely the call's own is held back here until the call's result shows whether it is.
 */
typedef struct nm_inner {
    uint64_t freed;        /* address or handle that the call frees; 0: none */
    uint16_t is_asking;    /* 1: it allocates */
    uint16_t is_outer;     /* 1: another tool has made it into calls of its own, which have been recorded */
    uint32_t asked_module; /* for this module of CANN */

    uint32_t count;     /* 1: an allocation is held back; 0: the fields below mean nothing */
    uint32_t module_id; /* whose it is */
    uint64_t address;   /* a handle for physical memory */
    uint64_t requested_bytes;
    uint64_t block_bytes; /* its whole pages */
    uint32_t heap, policy;
} nm_inner;

#endif
