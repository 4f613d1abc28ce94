/* SPDX-License-Identifier: Apache-2.0
 *
 * What every program of this folder does with CANN, and the books that it keeps.
 */
#ifndef LOADING_CALLS_H
#define LOADING_CALLS_H

/* Takes and gives device and host memory and runs operators; prints `KEY VALUE` lines. 0, or what failed. */
int calls_run(int round_count);

#endif
