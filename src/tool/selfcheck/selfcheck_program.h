/* SPDX-License-Identifier: Apache-2.0
 *
 * The program that --selfcheck records where there is no torch_npu: npumem-record itself, started once more, so that it is
 * there wherever npumem-record is. It uses CANN as any program does, finds it by name, keeps books of its own and prints
 * them as lines `npumem-selfcheck KEY VALUE` (selfcheck/figures.h has the keys).
 */
#ifndef NM_TOOL_SELFCHECK_SELFCHECK_PROGRAM_H
#define NM_TOOL_SELFCHECK_SELFCHECK_PROGRAM_H

#define SELFCHECK_EXIT_NOT_HERE 77 /* there is nothing to run on; the line `why` says what is missing */

/* The whole program; its exit status. */
int selfcheck_program(void);

#endif
