/* SPDX-License-Identifier: Apache-2.0
 *
 * Table z_site_lifetime: how long what was freed of a site had lived. The replay knows stacks; once each of these has its site, what the
 * stacks of a site say is added up.
 */
#ifndef NM_VERDICTS_SITE_LIFETIMES_H
#define NM_VERDICTS_SITE_LIFETIMES_H

#include "store/verdicts/verdicts.h"

/* Adds a row to those that wait for the end of the load, in few bytes: they may be a million. */
nm_status nm_lifetimes_keep(nm_buffer *lifetimes, const nm_lifetime_row *row, nm_error *err);

/* Fills it from settings->rows; and temp.stack_lifetime with those stacks of heaps of which leaks.sql asks. */
nm_status nm_site_lifetimes_write(sqlite3 *db, const nm_verdict_settings *settings, nm_error *err);

#endif
