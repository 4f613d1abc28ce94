/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the program that runs lies, and what lies beside it: programs of one installation find each other so.
 */
#ifndef NM_BASE_OWN_PATH_H
#define NM_BASE_OWN_PATH_H

#include <limits.h>
#include <stdbool.h>

#include "base/error.h"

/* Links are resolved. False, and "": it cannot be known, which takes a machine where /proc is not mounted. */
bool nm_own_path(char path[PATH_MAX]);

/* The same, up to its last slash and without it. */
bool nm_own_folder(char folder[PATH_MAX]);

/* Where `name` is, if it lies beside the program: that is for the caller to find out. NM_ERR_IO: not known, as above. */
nm_status nm_own_beside(const char *name, char path[PATH_MAX], nm_error *err);

#endif
