/* SPDX-License-Identifier: Apache-2.0
 *
 * What a few hooks must remember of a handle between two calls: a table of fixed size without locks or heap. When it is
 * full the newest handle is not remembered, and its hook does what it does for a handle that it never saw.
 */
#ifndef NM_HOOK_HANDLES_H
#define NM_HOOK_HANDLES_H

#include <stdint.h>

typedef enum nm_handle_kind {
    NM_HANDLE_POOL = 1,     /* of a pool: its number and device, see acl_pool.c */
    NM_HANDLE_IMPORTED = 2, /* of physical memory: 1 when another process owns it */
    NM_HANDLE_RETAINED = 3, /* of physical memory: how often it was retained */
    NM_HANDLE_IPC_KEY = 4,  /* hash of a key: the address at which it was imported */
} nm_handle_kind;

/* What is remembered, 0: nothing. */
uint64_t nm_handles_get(nm_handle_kind kind, uint64_t handle);

/* Remembers `value`; 0 forgets. The program does not use one handle in two such calls at once. */
void nm_handles_set(nm_handle_kind kind, uint64_t handle, uint64_t value);

#endif
