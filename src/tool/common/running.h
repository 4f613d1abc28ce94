/* SPDX-License-Identifier: Apache-2.0
 *
 * Which recording is meant, for --ctl: where the rings of a process are, and whether a trace is of this machine.
 */
#ifndef NM_TOOL_COMMON_RUNNING_H
#define NM_TOOL_COMMON_RUNNING_H

#include <stdbool.h>

#include "base/error.h"
#include "trace/block.h"

#define RUNNING_FOLDER_BYTES sizeof((nm_session *)NULL)->ring_folder

/* Digits alone, and no file of that name. */
bool running_is_pid(const char *text);

/* The ring folder of a recorded process: what it has mapped, else what its environment names. NM_ERR_IO: there is no such
 * process, it is another user's, or it is not recorded. */
nm_status running_find_pid(const char *pid, char folder[RUNNING_FOLDER_BYTES], nm_error *err);

/* NM_ERR_IO: the recording runs, or ran, elsewhere, or before this machine was started. */
nm_status running_check_host(const nm_session *session, nm_error *err);

#endif
