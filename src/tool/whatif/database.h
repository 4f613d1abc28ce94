/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-whatif on a database of npumem-ingest: gives the rows of its tables to a sink, that of the
 * gather or one before it, as a replay did that filled them.
 */
#ifndef NM_TOOL_WHATIF_DATABASE_H
#define NM_TOOL_WHATIF_DATABASE_H

#include "whatif/gather.h"

/* NM_ERR_FORMAT: not such a database, or one without a row for each allocation. */
nm_status whatif_database_read(const char *path, nm_gather *gather, const nm_sink *sink, nm_error *err);

#endif
