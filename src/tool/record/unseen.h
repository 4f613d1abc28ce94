/* SPDX-License-Identifier: Apache-2.0
 *
 * Why a program did not load the recorder, and what to do about it.
 */
#ifndef NM_TOOL_RECORD_UNSEEN_H
#define NM_TOOL_RECORD_UNSEEN_H

#include <stddef.h>

/*
 * One line into `out`, of `size` bytes: what kind of a program `name` is, as execvp finds it, and what to do. `exit_status` is
 * what it ended with, -1 where a signal did that, or nothing has yet. It goes by the file as it is now: of a program that has
 * become another one nothing is known here.
 */
void record_unseen_explain(const char *name, int exit_status, char *out, size_t size);

#endif
