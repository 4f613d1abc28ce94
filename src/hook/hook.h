/* SPDX-License-Identifier: Apache-2.0
 *
 * What every hook is written with: its frame, the real function or an answer where there is none, and its shape. A shape is
 * the order of things that all hooks of a kind have in common, so it stands once, here: enter, the real call between what
 * is done before and after it, leave, and the answer of the real call. Where nothing is to be recorded the real call alone
 * is made.
 *
 * `call` stands twice in a shape and is made once. `before` and `after` are statements, in which the names that the shape
 * declares may be used: `error` (what the real call returned, in `after`), `guard`, and those that it says. No statement
 * between leave and return, so that errno is the real call's as far as `after` keeps it (record.h: it does).
 */
#ifndef NM_HOOK_HOOK_H
#define NM_HOOK_HOOK_H

#include "hook/runtime.h"
#include "record/record.h"

#define HERE __builtin_frame_address(0)

/* The real function, looked for again where it is missing. First of all in a hook. */
#define NEED_OR(name, answer)                                                                                          \
    do {                                                                                                               \
        if (__builtin_expect(nm_real.name == NULL, 0) && !nm_runtime_look(#name))                                      \
            return answer;                                                                                             \
    } while (0)

#define NEED(name)        NEED_OR(name, ACL_ERROR_API_NOT_SUPPORT)

/* Of functions that older runtimes lack: a program that asks for the name finds the hook, calls it, and has to take the
 * way that it has for a device without the feature. */
#define NEED_NEWER(name)  NEED_OR(name, ACL_ERROR_FEATURE_NOT_SUPPORT)

#define NEED_DRIVER(name) NEED_OR(name, DRV_ERROR_NOT_SUPPORT)

/* The shape of all: `entered` sets `guard` and is false where nothing is recorded. */
#define HOOK(entered, before, call, after)                                                                             \
    do {                                                                                                               \
        nm_acl_error error;                                                                                            \
        nm_guard guard;                                                                                                \
                                                                                                                       \
        if (!(entered))                                                                                                \
            return call;                                                                                               \
        before;                                                                                                        \
        error = call;                                                                                                  \
        after;                                                                                                         \
        nm_record_leave(&guard);                                                                                       \
        return error;                                                                                                  \
    } while (0)

#define NOTHING                          (void)0

/* By layer (record.h): memory that the program asks for, other calls, and calls that a pause leaves out. */
#define HOOK_MEMORY(before, call, after) HOOK(nm_record_enter(&guard, HERE), before, call, after)
#define HOOK_CALL(before, call, after)   HOOK(nm_record_enter_call(&guard, HERE), before, call, after)
#define HOOK_DETAIL(before, call, after) HOOK(nm_record_enter_detail(&guard, HERE), before, call, after)

/* A driver's function: `around` is the layer of the hook around it, never NM_LAYER_DRIVER. */
#define HOOK_DRIVER(before, call, after)                                                                               \
    do {                                                                                                               \
        nm_layer around;                                                                                               \
                                                                                                                       \
        HOOK((around = nm_record_enter_driver(&guard, HERE)) != NM_LAYER_DRIVER, before, call, after);                 \
    } while (0)

/* With `begin_ticks`, taken right before the real call. SHAPE: one of those above. */
#define TIMED(SHAPE, call, after)                                                                                      \
    do {                                                                                                               \
        uint64_t begin_ticks;                                                                                          \
                                                                                                                       \
        SHAPE(begin_ticks = nm_record_clock(), call, after);                                                           \
    } while (0)

#endif
