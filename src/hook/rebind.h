/* SPDX-License-Identifier: Apache-2.0
 *
 * Libraries whose calls bind past what was preloaded: opened with RTLD_DEEPBIND, or linked to operators, which are too
 * many to have a name of ours each. After the loader has loaded such a library, its table of imports is led through the
 * hooks. For the callers of the loader alone: all may take its lock. dlerror is as before, errno is not.
 */
#ifndef NM_HOOK_REBIND_H
#define NM_HOOK_REBIND_H

#include <stdbool.h>

/* Looks at the libraries that came since the last time. When another thread is at it, the next call does it. */
void nm_rebind_new(void);

/* From now on, libraries may come without our seeing when: nm_rebind_due looks whether they have. */
void nm_rebind_later(void);
void nm_rebind_due(void);

/* A library may have been unloaded. */
void nm_rebind_forget(void);

/* True: a library has a search path of the old style, which it hands on to what it opens. */
bool nm_rebind_has_search_path(void);

#endif
