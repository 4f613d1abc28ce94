/* SPDX-License-Identifier: Apache-2.0
 *
 * The name of the output, as -o gives it.
 */
#ifndef NM_TOOL_RECORD_OUTPUT_NAME_H
#define NM_TOOL_RECORD_OUTPUT_NAME_H

#include <sys/types.h>

#include "base/buffer.h"

/* %h host, %p `pid`, %t start time, %{NAME} environment, %% a percent sign; zero-terminated in *out. */
nm_status record_expand_name(const char *pattern, pid_t pid, nm_buffer *out, nm_error *err);

#endif
