/* SPDX-License-Identifier: Apache-2.0
 *
 * Can a program load what LD_PRELOAD names, and why not?
 */
#ifndef NM_DRAIN_LOADABLE_H
#define NM_DRAIN_LOADABLE_H

#include <stdbool.h>

typedef enum nm_loadable {
    NM_LOADABLE = 0, /* or nothing says that it cannot */
    NM_LOADABLE_STATIC,
    NM_LOADABLE_RAISED,  /* setuid or setgid */
    NM_LOADABLE_CAPABLE, /* capabilities of its file */
    NM_LOADABLE_OTHER_LIBC,
    NM_LOADABLE_OTHER_MACHINE,
} nm_loadable;

/* False: there is no such file to read. */
bool nm_loadable_judge(const char *program, nm_loadable *out);

#endif
