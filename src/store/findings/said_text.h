/* SPDX-License-Identifier: Apache-2.0
 *
 * What findings say, as text in SQL:
 *
 *     said_text(language, said, rank, pid, device, device_kind, is_shared, heap, site)    a sentence
 *     said_lines(language, lines, rank, ...)                                              several, a line each, with their labels
 *
 * language is 0 (English) or 1 (Chinese), the rest as in table finding and in say/said.h. NULL for NULL. What is not of that form is an error.
 */
#ifndef NM_STORE_SAID_TEXT_H
#define NM_STORE_SAID_TEXT_H

#include <sqlite3.h>

#include "base/error.h"

/* The connection has both functions from now on. */
nm_status nm_said_text_add(sqlite3 *db, nm_error *err);

#endif
