/* SPDX-License-Identifier: Apache-2.0
 *
 * A database in the formats of other tools, written as it is read: what is held in memory grows with stacks, never with
 * allocations. All text is made safe to show.
 */
#ifndef NM_EXPORT_EXPORT_H
#define NM_EXPORT_EXPORT_H

#include <stdio.h>

#include "report/moment.h"

typedef struct nm_export {
    sqlite3 *db; /* of nm_foreign_db, borrowed */
    nm_named_moment moment;
    bool is_raw; /* stacks as they were recorded; else from their sites outwards, and without plumbing */
    FILE *out;   /* the caller looks at ferror */
} nm_export;

/*
 * Folded stacks: a line for each heap and stack, "HEAP;OUTERMOST;...;INNERMOST BYTES", in which BYTES were live at the moment. A
 * semicolon in a name is a comma.
 */
nm_status nm_export_folded(const nm_export *export, nm_error *err);

/*
 * profile.proto, not compressed. Of each stack: all that was ever allocated (alloc_objects, alloc_space; what was there before
 * the recording left out), what was live at the moment (inuse_...) and at the peak of its heap (peak_space), and what
 * leaked by a firm verdict (leak_space).
 */
nm_status nm_export_pprof(const nm_export *export, nm_error *err);

/*
 * A trace of Perfetto: what was live and reserved of each heap, and what the runtime said of devices, as counters; steps and
 * operations as slices; marks and failures as instants; what was live of each heap by stack at its peak, at the end and at
 * the first 16 marks as profiles. `moment` does not count.
 */
nm_status nm_export_perfetto(const nm_export *export, nm_error *err);

/*
 * A memory snapshot, as PyTorch pickles it. `moment` and `is_raw` do not count. NM_ERR_USAGE: rows of allocations are missing.
 * NM_ERR_LIMIT: too many devices.
 */
nm_status nm_export_snapshot(const nm_export *export, nm_error *err);

/* A picture: the memory of each device over time. `moment` and `is_raw` do not count. */
nm_status nm_export_svg(const nm_export *export, nm_error *err);

#endif
