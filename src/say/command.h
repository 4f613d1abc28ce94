/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands that somebody is to type. A database does not know its own name: in column finding.next_command, and in sentences
 * until they are shown, it is run.db, which came of run.zst.
 */
#ifndef NM_SAY_COMMAND_H
#define NM_SAY_COMMAND_H

#include <stddef.h>

#define NM_COMMAND_DATABASE "run.db"
#define NM_COMMAND_INPUT    "run.zst"

/* The command with these two files in place of those, each as a shell takes it for one word. Cut where `out` has no room. */
void nm_command_put(const char *command, const char *database, const char *input, char *out, size_t size);

#endif
