/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands that somebody is to type. A database does not know its own name: in column finding.next_command, and in sentences
 * until they are shown, it is run.db, which came of run.zst.
 */
#ifndef NM_SAY_COMMAND_H
#define NM_SAY_COMMAND_H

#define NM_COMMAND_DATABASE "run.db"
#define NM_COMMAND_INPUT    "run.zst"

/* The command with these two files in place of those, each as a shell takes it for one word, whole. The caller frees it; NULL: out
 * of memory. */
char *nm_command_make(const char *command, const char *database, const char *input);

#endif
