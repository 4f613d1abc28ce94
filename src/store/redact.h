/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-ingest --redact: a database that may be shown to others. Hosts, users, paths and arguments are replaced, the same
 * one by the same name throughout: host-1, user-1, /path-1/file-1.py, arg-1. What stays (names of functions, lines, what
 * belongs to systems, Python, CANN and well-known packages) is said in docs/security.md.
 */
#ifndef NM_STORE_REDACT_H
#define NM_STORE_REDACT_H

#include <sqlite3.h>

#include "store/redact_text.h"

/*
 * All tables, and a row in `meta` that says so. Pages may hold old text still: nm_redact_wipe. A database that has that row
 * stays as it is. `redact`: zeroed; what is known then, for other texts. The caller's to free, on failure too.
 */
nm_status nm_redact_tables(sqlite3 *db, nm_redact *redact, nm_error *err);

/* Writes the whole file anew, so that nothing of what was replaced is left in it. Outside a transaction. */
nm_status nm_redact_wipe(sqlite3 *db, nm_error *err);

#endif
