/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening the output of npumem-record: a file of its own, claimed for this recording (nm_output_claim), or what takes the
 * trace as it comes. Nothing that stood there is ever written to, and no call waits for anybody.
 */
#ifndef NM_TOOL_RECORD_OUTPUT_H
#define NM_TOOL_RECORD_OUTPUT_H

#include <stdbool.h>

#include "base/buffer.h"

/*
 * Opens the trace for writing. A name that exists gets a suffix before its last dot (and *name is replaced), unless
 * `is_forced`: then a new file takes its place, a symbolic link's too. NM_ERR_BUSY: that one is being recorded. What is
 * neither a file nor a folder is opened as it is.
 */
nm_status record_open_output(nm_buffer *name, bool is_forced, int *fd, nm_error *err);

/* The same for a trace in parts: opens NAME.000. A name that exists is one of which a part does. */
nm_status record_open_first_part(nm_buffer *name, bool is_forced, int *fd, nm_error *err);

#endif
