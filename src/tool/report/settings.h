/* SPDX-License-Identifier: Apache-2.0
 *
 * What other settings of the allocator would have made of the requests of a database: as npumem-whatif, the program beside this
 * one, says it.
 */
#ifndef NM_TOOL_REPORT_SETTINGS_H
#define NM_TOOL_REPORT_SETTINGS_H

#include "report/html.h"

/* Of so many allocations it takes less than half a second: it is asked without being told to. */
#define REPORT_SETTINGS_CHEAP 20000

typedef struct report_settings {
    nm_html_whatif whatif;  /* points into the others */
    nm_html_setting *items; /* owned */
    char *text;             /* owned: the names are in it */
} report_settings;

/*
 * Asks about the pool that held most. What has no pool, or no rows of all allocations, or does not find npumem-whatif, has no
 * settings (*out has none), unless it is asked for (`is_wanted`): that is a failure then.
 */
nm_status report_settings_ask(sqlite3 *db, const char *path, bool is_wanted, report_settings *out, nm_error *err);

void report_settings_free(report_settings *settings);

#endif
