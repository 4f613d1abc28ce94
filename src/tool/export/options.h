/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of npumem-export.
 */
#ifndef NM_TOOL_EXPORT_OPTIONS_H
#define NM_TOOL_EXPORT_OPTIONS_H

#include "export/export.h"
#include "tool/common/options.h"

typedef struct export_format {
    const char *name, *suffix;                                  /* of the file: ".folded" */
    const char *reader;                                         /* what reads it, in words */
    nm_status (*write)(const nm_export *export, nm_error *err); /* NULL: export_fleet does */
    bool reads_events;                                          /* all rows of tables that have one for each event */
} export_format;

typedef struct export_options {
    const export_format *format;
    char **databases;   /* borrowed as all here: one, of a fleet one or more, and NULL */
    const char *output; /* NULL: by the database's name, "-": standard output; of a fleet its folder */
    const char *at;
    const char *job_name, *run_name; /* these are of a fleet; NULL: as recorded */
    bool has_allocations, has_all_steps, is_redacted;
    bool is_raw, is_forced, is_quiet;
    bool is_list, is_json; /* of the formats: then there is no format and no database */
} export_options;

/* All formats; *count is how many. */
const export_format *export_formats(size_t *count);

/* Into zeroed options, which borrow from argv. */
options_outcome export_options_read(int argc, char **argv, export_options *options);

#endif
