/* SPDX-License-Identifier: Apache-2.0
 *
 * Several databases as one that is gone at the end: they are the ranks of one job. Sums and answers come of all of them, rows of
 * single allocations of those alone whose map a page has (report/rank_list.h says which), so that many large ones cost no more
 * than a few.
 */
#ifndef NM_TOOL_REPORT_JOIN_H
#define NM_TOOL_REPORT_JOIN_H

#include "store/store.h"
#include "tool/report/options.h"

/* *subject is what an error is about. On success *out is finished, for reading; nm_store_close removes it. */
nm_status report_join(const report_options *options, const char **subject, nm_store **out, nm_error *err);

#endif
