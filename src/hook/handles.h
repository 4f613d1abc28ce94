/* SPDX-License-Identifier: Apache-2.0
 *
 * What a few hooks must remember of a handle between two calls: a table without locks or heap that grows as it fills. A
 * handle that was ever seen keeps its 16 bytes; runtimes give the same handles again. Where no memory is to be had, the
 * newest are not remembered, and their hooks do what they do for a handle that they never saw. Safe from any thread and
 * in a forked child.
 */
#ifndef NM_HOOK_HANDLES_H
#define NM_HOOK_HANDLES_H

#include <stdbool.h>
#include <stdint.h>

typedef enum nm_handle_kind {
    NM_HANDLE_OBJECT = 0,      /* of an object of which its making was told: its kind, see acl_object.c */
    NM_HANDLE_POOL = 1,        /* of a pool: its number and device, see acl_pool.c */
    NM_HANDLE_IMPORTED = 2,    /* of physical memory: 1 when another process owns it */
    NM_HANDLE_RETAINED = 3,    /* of physical memory: how often it was retained */
    NM_HANDLE_IPC_KEY = 4,     /* hash of a key: the address at which it was imported */
    NM_HANDLE_PHYSICAL = 5,    /* of physical memory: its aclrtMemAttr + 1 */
    NM_HANDLE_DESC_SOURCE = 6, /* address of a copy's description: what it copies from */
    NM_HANDLE_DESC_TARGET = 7, /* and to */
    NM_HANDLE_DESC_SIZE = 8,   /* and how many bytes */
    NM_HANDLE_DRIVER = 9,      /* of physical memory that did not come through ACL: see hal.c */
    NM_HANDLE_REGION = 10,     /* of a region of mstx, as another tool gave it: its address */
    NM_HANDLE_MARKED = 11,     /* hash of a thread and an operator: how many of it are open, see mstx_mark.c */
    NM_HANDLE_MODEL = 12,      /* number of a model: its name, interned (arena.h) */
    NM_HANDLE_OPERATOR = 13,   /* of a single operator: likewise */
    NM_HANDLE_BUNDLE = 15,     /* number of a bundle of models: its name, interned (arena.h) */
    NM_HANDLE_CAPTURE = 14,    /* of a stream: 1 while a capture that began on it is open */
} nm_handle_kind;

/* What is remembered, 0: nothing. */
uint64_t nm_handles_get(nm_handle_kind kind, uint64_t handle);

/* Remembers `value`; 0 forgets. What was remembered before is returned. */
uint64_t nm_handles_set(nm_handle_kind kind, uint64_t handle, uint64_t value);

/* Counts: one more; and one less where there was one, which is what it says. */
void nm_handles_add(nm_handle_kind kind, uint64_t handle);
bool nm_handles_take(nm_handle_kind kind, uint64_t handle);

#endif
