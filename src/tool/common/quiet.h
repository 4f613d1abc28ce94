/* SPDX-License-Identifier: Apache-2.0
 *
 * --quiet of programs whose answer on standard output is the exit status as well.
 */
#ifndef NM_TOOL_COMMON_QUIET_H
#define NM_TOOL_COMMON_QUIET_H

/* From now on what is printed on standard output goes nowhere. Where that cannot be had it is printed. */
void quiet_begin(void);

#endif
