/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables z_site_step and z_site_growth: what was live of each site at the ends of the steps, and the line through it. The
 * replay knows stacks; once each of these has its site, what the stacks of a site say is added up.
 */
#ifndef NM_VERDICTS_SITE_STEPS_H
#define NM_VERDICTS_SITE_STEPS_H

#include "store/verdicts/verdicts.h"

/* Fills both from settings->rows, heap and step. */
nm_status nm_site_steps_write(sqlite3 *db, const nm_verdict_settings *settings, nm_error *err);

#endif
