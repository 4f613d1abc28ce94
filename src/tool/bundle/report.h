/* SPDX-License-Identifier: Apache-2.0
 *
 * The report of npumem-record --selfcheck, as a bundle takes it in: a text of anybody's.
 */
#ifndef NM_TOOL_BUNDLE_REPORT_H
#define NM_TOOL_BUNDLE_REPORT_H

#include "base/buffer.h"
#include "store/store.h"

#define BUNDLE_REPORT_BYTES_MAX (1 << 20)

/* Appends the file, line by line, without what a terminal would obey. NM_ERR_FORMAT: no such report. */
nm_status bundle_read_report(const char *path, nm_buffer *out, nm_error *err);

/* Replaces what a redacted store has replaced, and the host that the report names. In place. */
nm_status bundle_redact_report(nm_store *store, nm_buffer *report, nm_error *err);

#endif
