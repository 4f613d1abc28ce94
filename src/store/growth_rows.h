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

nm_status nm_loader_take_step_site(void *context, const nm_step_site_row *row, nm_error *err);
nm_status nm_loader_take_site_floor(void *context, const nm_site_floor_row *row, nm_error *err);
nm_status nm_loader_take_lifetime(void *context, const nm_lifetime_row *row, nm_error *err);

#endif
