/* SPDX-License-Identifier: Apache-2.0
 *
 * --print-env: the environment that makes any process record itself into the drain of its host.
 */
#ifndef NM_TOOL_RECORD_ENVIRONMENT_H
#define NM_TOOL_RECORD_ENVIRONMENT_H

#include "tool/record/options.h"

/* Prints lines for a shell. The exit status. */
int record_print_environment(const record_options *options);

/* What LD_PRELOAD must be for `library` to be preloaded: ours first, the others behind it, an own one of before gone. Owned
 * by the caller; NULL: no memory. */
char *record_preload_value(const char *library);

#endif
