/* SPDX-License-Identifier: Apache-2.0
 *
 * A file of any format on its way through the whole of npumem-ingest: its source, the search for steps, the replay with all passes, and of some
 * the database with its findings and the screen.
 */
#ifndef NM_TESTS_FUZZ_LOAD_H
#define NM_TESTS_FUZZ_LOAD_H

#include "source/source.h"

/* Of files that are one input; `fds` are at their starts. What stands at their end in rings: `tail`, which may be empty. */
void fuzz_load(const int *fds, size_t fd_count, bool is_stored, nm_bytes tail);

/* One file, which is of this type; else nothing is done. NULL: of any. */
void fuzz_load_bytes(nm_bytes input, const nm_source_type *type);

#endif
