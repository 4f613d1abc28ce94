/* SPDX-License-Identifier: Apache-2.0
 *
 * What the hooks share: the real function or an answer where there is none, and the events that most of them tell. All
 * between nm_record_enter and nm_record_leave, but NEED and NEED_NEWER, which come first.
 */
#ifndef NM_HOOK_TELL_H
#define NM_HOOK_TELL_H

#include "hook/runtime.h"
#include "record/record.h"

#define HERE __builtin_frame_address(0)

/* The real function, looked for again where it is missing. */
#define NEED_OR(name, answer)                                                                                          \
    do {                                                                                                               \
        if (__builtin_expect(nm_real.name == NULL, 0) && !nm_runtime_look(#name))                                      \
            return answer;                                                                                             \
    } while (0)

#define NEED(name)       NEED_OR(name, ACL_ERROR_API_NOT_SUPPORT)

/* Of functions that older runtimes lack: a program that asks for the name finds the hook, calls it, and has to take the
 * way that it has for a device without the feature. */
#define NEED_NEWER(name) NEED_OR(name, ACL_ERROR_FEATURE_NOT_SUPPORT)

/* False while a graph is captured: then the runtime must not be asked anything. */
bool nm_tell_may_ask(void);

/* The runtime has ended all captures: its device was reset. */
void nm_tell_captures_end(void);

/* The calling thread's device, -1 when it has none, or when it is not known and the runtime must not be asked. */
int32_t nm_tell_device(void);

/* The calling thread's device is another one from now on; -1: not known which. */
void nm_tell_device_change(int32_t device);

/* A request for memory. heap is filled after the call: the device may be known only then. */
typedef struct nm_request {
    size_t size;
    uint32_t policy;
    uint32_t flags; /* NM_FLAG_* */
    uint32_t heap;
    uint64_t stream;
    uint64_t begin_ticks;
    const void *frame;
} nm_request;

/* Tells how the request ended: `address` was allocated, or `error` is not 0. */
void nm_tell_request(const nm_request *asked, const void *address, nm_acl_error error);

/* Once before the real call of a request that the program makes for itself. */
void nm_tell_begin(nm_request *asked);

/* The heap of host memory that is registered. */
uint32_t nm_tell_registered_heap(void);

/* ---- sample.c ---- */

/*
 * Samples of a device's memory, as the runtime gives it: in all (if the device is the thread's) and by module. Inside or
 * outside of a hook; the runtime may allocate meanwhile. nm_tell_sample: at most ten times a second for each device.
 */
void nm_tell_sample(int32_t device);
void nm_tell_sample_now(int32_t device);

/* What aclrtGetMemUsageInfo said of a device. */
void nm_tell_usage(int32_t device, const nm_acl_usage *info, size_t count);

/* The current device's memory and its kind (NM_MEMORY_*); 0, 0 when it is not told. */
int nm_tell_memory(size_t *free_bytes, size_t *total_bytes);

/* Once per device: how much memory it has. */
void nm_tell_capacity(int32_t device);

/* ---- Frees ---- */

typedef nm_acl_error nm_free_function(void *address);

/* The whole hook of a function that frees by address. */
nm_acl_error nm_tell_free(nm_free_function *real, nm_free_call call, void *address, const void *frame);

/* A free, before its call; and after it that it was refused. */
void nm_tell_freed(nm_free_call call, uint64_t address, const void *frame);
void nm_tell_not_freed(nm_free_call call, uint64_t address, nm_acl_error error, const void *frame);

#endif
