/* SPDX-License-Identifier: Apache-2.0
 *
 * The visibility to dlsym of a hook whose function the runtime lacks. Linked calls are bound to it all the same, but a program that asks the loader
 * for the name has to hear that it is missing, in the loader's own words.
 */
#ifndef NM_HOOK_VISIBILITY_H
#define NM_HOOK_VISIBILITY_H

#include <stdbool.h>

/* Hides one of our exported functions from lookups by dlsym, or shows it again. False: it is as it was. */
bool nm_visibility_set_hidden(const void *function, bool is_hidden);

#endif
