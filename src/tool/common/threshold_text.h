/* SPDX-License-Identifier: Apache-2.0
 *
 * Floors of measures as people write them: fragmentation=256MiB, allocation-cost=1s, pool-hit-rate=1000; one a line in a
 * file, in which what follows a '#' is left out.
 */
#ifndef NM_TOOL_COMMON_THRESHOLD_TEXT_H
#define NM_TOOL_COMMON_THRESHOLD_TEXT_H

#include "store/threshold.h"

/* NM_ERR_USAGE: it is none; *err says why. What was there is replaced. */
nm_status threshold_read(const char *text, nm_thresholds *out, nm_error *err);

/* The same of a file. NM_ERR_USAGE: *err names the line. */
nm_status threshold_read_file(const char *path, nm_thresholds *out, nm_error *err);

#endif
