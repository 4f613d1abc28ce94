/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of npumem-bundle.
 */
#ifndef NM_TOOL_BUNDLE_OPTIONS_H
#define NM_TOOL_BUNDLE_OPTIONS_H

#include <stdbool.h>

#include "tool/common/options.h"

typedef struct bundle_options {         /* texts are borrowed from the command line */
    const char *database, *output_path; /* output_path: NULL: by the database's name; "-": standard output */
    const char *selfcheck_path;         /* NULL: none */
    uint32_t language;                  /* a tool_language */
    bool is_forced, is_quiet, is_redacted;
} bundle_options;

/* Into zeroed options. */
options_outcome bundle_options_read(int argc, char **argv, bundle_options *options);

#endif
