/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds what a dead or cut off recording left in its rings: npumem-ingest reads it after the trace's end, and
 * `npumem-record --finish` appends it to the trace. Works while the program still runs, and takes nothing away; but of a
 * recorder that lives (nm_state_look) the rings are not to be read: it moves them on meanwhile.
 */
#ifndef NM_DRAIN_RECOVER_H
#define NM_DRAIN_RECOVER_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/error.h"

typedef struct nm_recovery {
    nm_buffer blocks;     /* owned: whole blocks to read after the last whole block of the trace */
    uint64_t trace_bytes; /* where they belong: behind this byte of the trace; what follows there is a cut block */
    uint64_t events_recovered;
    uint64_t events_unrecovered; /* in a ring, but not readable; LOSS events of the blocks say so too */
    uint64_t events_dropped;     /* that nothing had said before, likewise */
    uint64_t processes_unjoined; /* whose file is not there; a note of the blocks says so too */
    bool is_at_least;            /* there may be more of both */
    bool is_needed;              /* the trace has no final block */
    bool has_rings;              /* the session folder is there, on this boot of this host, and is this recording's */
    bool is_running;             /* a recorded process still lives */
    char ring_folder[256];
} nm_recovery;

/* `trace` is the whole trace file, mapped. NM_OK also when there is nothing to recover (then `blocks` is empty). */
nm_status nm_recover_rings(nm_bytes trace, nm_recovery *out, nm_error *err);
void nm_recovery_free(nm_recovery *recovery);

#endif
