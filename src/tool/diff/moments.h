/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-diff RUN.db@FROM RUN.db@TO: two moments of one run.
 */
#ifndef NM_TOOL_DIFF_MOMENTS_H
#define NM_TOOL_DIFF_MOMENTS_H

#include "tool/diff/ask.h"

/* Opens the database, compares the two moments of the options and prints what it found. */
nm_status diff_moments(diff_run *run, nm_error *err);

#endif
