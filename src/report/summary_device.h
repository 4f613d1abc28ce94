/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of the summary about whole devices: what their memory was made of when it was fullest.
 */
#ifndef NM_REPORT_SUMMARY_DEVICE_H
#define NM_REPORT_SUMMARY_DEVICE_H

#include <sqlite3.h>
#include <stdio.h>

#include "base/error.h"

#define NM_SUMMARY_DEVICE_LINES_MAX 16

/* A block for each device that was asked for its memory: when an allocation failed first, else at its peak. The largest
 * components of more than a hundredth, if there are several, and what is unexplained; at most NM_SUMMARY_DEVICE_LINES_MAX
 * lines in all. */
nm_status nm_summary_write_devices(sqlite3 *db, FILE *out, nm_error *err);

#endif
