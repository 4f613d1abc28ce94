/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory cgroup of a process, of version 1 or 2: which folder it is, what it may have and what it has.
 */
#ifndef NM_DRAIN_CGROUP_H
#define NM_DRAIN_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NM_CGROUP_UNLIMITED UINT64_MAX

typedef struct nm_cgroup {
    char folder[PATH_MAX / 2];
    size_t root_bytes; /* of the folder's name: where cgroups are mounted */
    unsigned version;  /* 1 or 2 */
} nm_cgroup;

/* Finds that of the process in /proc/NAME, "self" or a number. A container may see a path that it cannot open: then it is what is
 * mounted. False: there is none that limits memory, as of version 2 at its root. */
bool nm_cgroup_find(const char *name, nm_cgroup *out);

/* The least that it and those around it may have. Bytes, or NM_CGROUP_UNLIMITED. */
uint64_t nm_cgroup_limit(const nm_cgroup *cgroup);

/* Of it and those around it, that whose limit leaves least: what it uses, without files that the kernel lets go of first, and the
 * limit; bytes. False: nothing is limited, or cannot be read. */
bool nm_cgroup_memory(const nm_cgroup *cgroup, uint64_t *used_bytes, uint64_t *limit_bytes);

/* The file in its folder that counts kills: a line "oom_kill N". `size` bytes; false: the name does not fit. */
bool nm_cgroup_events(const nm_cgroup *cgroup, char *out, size_t size);

#endif
