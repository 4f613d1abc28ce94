/* SPDX-License-Identifier: Apache-2.0
 *
 * Servers: processes without steps. A site of one is rising when over at least so many minutes, cut into ten equal windows,
 * the least that was live of it rises from each of the last five windows to the next, although the load of the heap fell at
 * least twice (by a tenth of its peak); and the oldest of its blocks has outlived 99 % of those that were freed.
 */
#ifndef NM_VERDICTS_RISING_H
#define NM_VERDICTS_RISING_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/error.h"
#include "store/verdicts/verdicts.h"

/* Makes of rows of z_site_verdict that are not judged for want of steps firm ones. */
nm_status nm_rising_write(sqlite3 *db, const nm_verdict_settings *settings, nm_error *err);

#endif
