/* SPDX-License-Identifier: Apache-2.0
 *
 * The answers on one screen, for a person: completeness first, then what each heap's peak is made of, leaks,
 * fragmentation and pool hit rate. Every number is read from the views.
 */
#ifndef NM_REPORT_SUMMARY_H
#define NM_REPORT_SUMMARY_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

#define NM_SUMMARY_LINES_MAX     24 /* without blocks of devices: see summary_device.h */
#define NM_SUMMARY_PROCESSES_MAX 8  /* with memory; of more: minimum, median, maximum and outliers */

typedef struct nm_summary_names {
    const char *database_path;
    const char *csv_folder; /* NULL: none was written */
} nm_summary_names;

nm_status nm_summary_write(sqlite3 *db, const nm_summary_names *names, FILE *out, nm_error *err);

#endif
