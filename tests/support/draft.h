/* SPDX-License-Identifier: Apache-2.0
 *
 * A text trace that a test writes piece by piece, and the database it becomes. There is one at a time.
 */
#ifndef NM_TESTS_SUPPORT_DRAFT_H
#define NM_TESTS_SUPPORT_DRAFT_H

#include <check.h>
#include <sqlite3.h>
#include <stdint.h>

/* The suite of such tests, with a folder for databases there. */
Suite *draft_suite(const char *name, TCase *tests);

void draft_begin(void); /* what was said before is forgotten */
void draft_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The database of what was said, as of a trace without loss; the one before is gone. Owned by the caller. */
sqlite3 *draft_load(uint64_t event_count);
sqlite3 *draft_load_without_floors(uint64_t event_count); /* view health judges however little there is */

/* The same of an input that is in the order of its file, as a snapshot. */
sqlite3 *draft_load_as_file(uint64_t event_count);
sqlite3 *draft_load_as_snapshot(uint64_t event_count); /* the input is no recording */

/* The same of a trace of which so many more events were dropped. */
sqlite3 *draft_load_lossy(uint64_t event_count, uint64_t dropped_count);

#endif
