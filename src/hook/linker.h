/* SPDX-License-Identifier: Apache-2.0
 *
 * The loader as our own code calls it (as programs call it: dynamic.c): past
 * every library that stands in front of the loader's functions, ourselves included. All of it takes the loader's lock and
 * overwrites what dlerror would say, so it is for places where the program itself has just called the loader, and for
 * start-up. All do nothing where the process has no loader: a glibc before 2.34 and a program without libdl.
 */
#ifndef NM_HOOK_LINKER_H
#define NM_HOOK_LINKER_H

#include <stdbool.h>
#include <stdint.h>

typedef void *nm_linker_dlsym(void *handle, const char *name);
typedef void *nm_linker_dlopen(const char *name, int flags);
typedef int nm_linker_dlclose(void *handle);

/* Next in line behind our names: the loader's functions, or another tool's. The entries in assembly jump there. */
#pragma GCC visibility push(hidden)
extern nm_linker_dlsym *nm_linker_next_dlsym;
extern nm_linker_dlopen *nm_linker_next_dlopen;
extern nm_linker_dlclose *nm_linker_next_dlclose;
void nm_linker_resolve(void); /* finds them; at the first call */
#pragma GCC visibility pop

bool nm_linker_is_ready(void); /* they are found */

/* True: another tool's dlsym is behind ours, and the caller is of that tool: it knows its own lookups by where they come from. */
bool nm_linker_is_next_tools(const void *caller);

/* dlsym. RTLD_NEXT: behind this library; RTLD_DEFAULT: what a library that was there at start-up finds. */
void *nm_linker_find(void *handle, const char *name);

/* A handle of what is loaded already, NULL if it is not; `path` as the loader names it, empty: the program. To be closed. */
void *nm_linker_hold(const char *path);
void nm_linker_release(void *handle);

/* True: the program imports the function, and took its own entry for calls of it for the function's address, as a program
 * at a fixed place does. Whoever calls it comes by that entry. */
bool nm_linker_is_entry(const void *function);

/* The base address that the loader says of a handle; 0 when it does not. */
uintptr_t nm_linker_base(void *handle);

/* Leaves nothing for dlerror to say. */
void nm_linker_forget_error(void);

/* True: `name` is the second stage of an operator whose first stage is there too, by the same handle. */
bool nm_linker_is_operator(void *handle, const char *name);

/* True once a library was opened with RTLD_DEEPBIND: names then bind past what was preloaded. */
bool nm_linker_has_deep_binding(void);
void nm_linker_bind_deep(void);

/* Ours in front of a function of the loader's or of libc's (dlsym, dlopen, dlclose, _exit, _Exit); NULL: another name. */
void *nm_linker_hook(const char *name);

/* True: `function` is the loader's or libc's own function of such a name. */
bool nm_linker_is_own(const char *name, const void *function);

#endif
