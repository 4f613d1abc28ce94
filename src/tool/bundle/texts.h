/* SPDX-License-Identifier: Apache-2.0
 *
 * The plain texts of a bundle, asked of its database: lines below headings, without what a terminal would obey.
 */
#ifndef NM_TOOL_BUNDLE_TEXTS_H
#define NM_TOOL_BUNDLE_TEXTS_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/buffer.h"

/* The names of what a bundle holds, all in one folder. */
#define BUNDLE_FOLDER   "npumem-bundle/"
#define BUNDLE_DATABASE "run.db"

nm_status bundle_write_readme(bool is_redacted, bool is_compressed, nm_buffer *out, nm_error *err);
nm_status bundle_write_versions(sqlite3 *db, nm_buffer *out, nm_error *err);
nm_status bundle_write_settings(sqlite3 *db, nm_buffer *out, nm_error *err);

/* `report`: of npumem-record --selfcheck; empty: there is none. */
nm_status bundle_write_selfcheck(sqlite3 *db, nm_bytes report, nm_buffer *out, nm_error *err);

#endif
