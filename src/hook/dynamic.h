/* SPDX-License-Identifier: Apache-2.0
 *
 * dlsym, dlopen and dlclose as programs call them stand in dynamic.c; here is the loader as our own code calls it: past
 * every library that stands in front of the loader's functions, ourselves included. All of it takes the loader's lock and
 * overwrites what dlerror would say, so it is for places where the program itself has just called the loader, and for
 * start-up. All do nothing where the process has no loader: a glibc before 2.34 and a program without libdl.
 */
#ifndef NM_HOOK_DYNAMIC_H
#define NM_HOOK_DYNAMIC_H

#include <stdbool.h>
#include <stdint.h>

/* dlsym. RTLD_NEXT: behind this library; RTLD_DEFAULT: what a library that was there at start-up finds. */
void *nm_dynamic_find(void *handle, const char *name);

/* A handle of what is loaded already, NULL if it is not; `path` as the loader names it, empty: the program. To be closed. */
void *nm_dynamic_hold(const char *path);
void nm_dynamic_release(void *handle);

/* True: the program imports the function, and took its own entry for calls of it for the function's address, as a program
 * at a fixed place does. Whoever calls it comes by that entry. */
bool nm_dynamic_is_entry(const void *function);

/* The base address that the loader says of a handle; 0 when it does not. */
uintptr_t nm_dynamic_base(void *handle);

/* Leaves nothing for dlerror to say. */
void nm_dynamic_forget_error(void);

/* True: `name` is the second stage of an operator whose first stage is there too, by the same handle. */
bool nm_dynamic_is_operator(void *handle, const char *name);

/* True once a library was opened with RTLD_DEEPBIND: names then bind past what was preloaded. */
bool nm_dynamic_has_deep_binding(void);

/* Ours in front of a function of the loader's or of libc's (dlsym, dlopen, dlclose, _exit, _Exit); NULL: another name. */
void *nm_dynamic_hook(const char *name);

/* True: `function` is the loader's or libc's own function of such a name. */
bool nm_dynamic_is_own(const char *name, const void *function);

#endif
