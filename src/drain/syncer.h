/* SPDX-License-Identifier: Apache-2.0
 *
 * Gets the trace onto the disk now and then, by a thread of its own: the drain never waits for the disk. What a machine
 * that dies can lose is what was written since: at most the interval and the time that the disk takes.
 */
#ifndef NM_DRAIN_SYNCER_H
#define NM_DRAIN_SYNCER_H

#include <stdint.h>

#include "base/error.h"

typedef struct nm_syncer nm_syncer;

/* Starts the thread; `interval_ns` > 0 lies between two syncs. */
nm_status nm_syncer_new(int64_t interval_ns, nm_syncer **out, nm_error *err);

/* From now on this file is written (a copy of the descriptor is kept), which is new at `path`; NULL: not new. */
nm_status nm_syncer_file(nm_syncer *syncer, int fd, const char *path, nm_error *err);

/* A block has been written to it, whole. */
void nm_syncer_written(nm_syncer *syncer);

/* Syncs what is left, ends the thread, and frees it all. Returns errno of the first sync that failed, or 0. */
int nm_syncer_finish(nm_syncer *syncer);

#endif
