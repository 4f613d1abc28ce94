/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-record without a program of its own: what npumem_start starts for one process, and what the processes of a host
 * start that record themselves (record/host.h). Both end by themselves, and finish the trace when SIGTERM or SIGINT comes.
 */
#ifndef NM_TOOL_RECORD_DETACHED_H
#define NM_TOOL_RECORD_DETACHED_H

#include "tool/record/options.h"

/* --attach: the ring folder is options->target. The exit status. */
int record_attach(const record_options *options);

/* --serve: the door is options->target, and open. What to do else stands in the environment. The exit status. */
int record_serve(const record_options *options);

#endif
