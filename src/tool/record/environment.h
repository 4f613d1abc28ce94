/* SPDX-License-Identifier: Apache-2.0
 *
 * --print-env: the environment that makes any process record itself into the drain of its host.
 */
#ifndef NM_TOOL_RECORD_ENVIRONMENT_H
#define NM_TOOL_RECORD_ENVIRONMENT_H

#include "tool/record/options.h"

/* Prints lines for a shell. The exit status. */
int record_print_environment(const record_options *options);

#endif
