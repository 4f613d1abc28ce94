/* SPDX-License-Identifier: Apache-2.0
 *
 * What other settings of the allocator would have made of the requests of a database: as npumem-whatif, the program beside this
 * one, says it.
 */
#ifndef NM_TOOL_REPORT_SETTINGS_H
#define NM_TOOL_REPORT_SETTINGS_H

#include "page/write.h"

typedef struct report_settings {
    nm_page_whatif whatif;  /* points into the others */
    nm_page_setting *items; /* owned */
    char *text;             /* owned: the names are in it */
} report_settings;

/*
 * Asks about the pool that held most: half a second where it had 25,000 requests, about 20 s where it had a million. A progress bar on a
 * terminal. NM_ERR_USAGE:
 * there is no pool; NM_ERR_FORMAT: npumem-whatif has no answer, for want of the rows of all allocations.
 */
nm_status report_settings_ask(sqlite3 *db, const char *path, report_settings *out, nm_error *err);

void report_settings_free(report_settings *settings);

#endif
