/* SPDX-License-Identifier: Apache-2.0
 *
 * A part of the loader: tables site_step, site_growth and site_lifetime (schema/066_growth.sql).
 */
#ifndef NM_STORE_GROWTH_ROWS_H
#define NM_STORE_GROWTH_ROWS_H

#include <sqlite3.h>

#include "store/loader.h"

nm_status nm_growth_open(sqlite3 *db, nm_error *err);   /* before the loader prepares its statements */
nm_status nm_growth_finish(sqlite3 *db, nm_error *err); /* steps and stacks with their sites are there */

#endif
