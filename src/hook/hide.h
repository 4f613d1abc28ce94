/* SPDX-License-Identifier: Apache-2.0
 *
 * A hook whose function the runtime lacks. Linked calls are bound to it all the same, but a program that asks the loader
 * for the name has to hear that it is missing, in the loader's own words.
 */
#ifndef NM_HOOK_HIDE_H
#define NM_HOOK_HIDE_H

#include <stdbool.h>

/* Hides one of our exported functions from lookups by dlsym, or shows it again. False: it is as it was. */
bool nm_hide_function(const void *function, bool is_hidden);

#endif
