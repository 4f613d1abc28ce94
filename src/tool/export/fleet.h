/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-export parquet: databases of one run as a folder of tables.
 */
#ifndef NM_TOOL_EXPORT_FLEET_H
#define NM_TOOL_EXPORT_FLEET_H

#include "tool/export/options.h"

/* *subject: what an error is about. *is_said: npumem-ingest has said it. *is_partial: something of an input is missing. */
nm_status export_fleet(const export_options *options, const char **subject, bool *is_said, bool *is_partial,
                       nm_error *err);

#endif
