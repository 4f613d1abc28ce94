/* SPDX-License-Identifier: Apache-2.0
 *
 * What a running recording can be asked and told (record/control.h): `mark TEXT`, `snapshot [TEXT]`, `stats`, `status`.
 */
#ifndef NM_TOOL_RECORD_COMMANDS_H
#define NM_TOOL_RECORD_COMMANDS_H

#include "tool/record/recording.h"

/* A record_control_answer; context: the recording. */
nm_status record_commands_answer(void *context, const char *command, const char *argument, nm_buffer *reply,
                                 nm_error *err);

#endif
