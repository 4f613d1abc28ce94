/* SPDX-License-Identifier: Apache-2.0
 *
 * --selfcheck: is what this recorder says on this machine right, and what does it cost here? Records a short program, with
 * torch_npu if python3 can import it, else npumem's own (selfcheck/selfcheck_program.h), compares what that says of itself
 * with the views, and writes one text file for a report of what is wrong.
 */
#ifndef NM_TOOL_RECORD_SELFCHECK_H
#define NM_TOOL_RECORD_SELFCHECK_H

#include "tool/record/options.h"

/* Exit status: 0 the figures agree; 1 they do not, or nothing could be recorded, which is said in one line. */
int record_selfcheck(const record_options *options);

#endif
