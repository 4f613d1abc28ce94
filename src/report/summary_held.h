/* SPDX-License-Identifier: Apache-2.0
 *
 * The summary's line on what a device held when memory ran out.
 */
#ifndef STORE_SUMMARY_HELD_H
#define STORE_SUMMARY_HELD_H

#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/* One line, by component, of a case of view out_of_memory; none where nothing is known of it. */
nm_status nm_summary_write_held(sqlite3 *db, int64_t out_of_memory_id, FILE *out, nm_error *err);

#endif
