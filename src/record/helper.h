/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts npumem-record as a drain, from inside the program: detached, by a helper process that ends at once, so that it is
 * no child of the program, gives it no SIGCHLD and no surprise in wait(). No heap and no lock, so a hook may do it; it takes
 * some milliseconds.
 */
#ifndef NM_RECORD_HELPER_H
#define NM_RECORD_HELPER_H

#include <stdbool.h>

#define NM_HELPER_ARGUMENTS_MAX 9 /* with the NULL at their end */
#define NM_HELPER_KEPT_FD       3 /* what the drain finds `kept_fd` as */

/* `arguments` begin with the program's name and end with NULL. The drain has the program's environment but for LD_PRELOAD,
 * and of its descriptors `kept_fd` (-1: none) for sure. False: npumem-record was not found, or no process could be had. */
bool nm_helper_start(const char *const *arguments, int kept_fd);

#endif
