/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOADING_PART_H
#define LOADING_PART_H

typedef const char *part_who(void);
typedef void *part_look(void *handle, const char *name);
typedef void *part_open(const char *name, int flags);

#endif
