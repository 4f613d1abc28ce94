/* SPDX-License-Identifier: Apache-2.0
 *
 * Databases of npumem-ingest, as programs that read them open them. They may come from anywhere.
 */
#ifndef NM_TOOL_OPEN_DATABASE_H
#define NM_TOOL_OPEN_DATABASE_H

#include <sqlite3.h>

#include "base/error.h"

/* Opens a database of npumem-ingest for reading, and nothing else that lies at the path. NULL in *out on failure. What is
 * attached to it later is open for reading too. */
nm_status open_database(const char *path, sqlite3 **out, nm_error *err);

#endif
