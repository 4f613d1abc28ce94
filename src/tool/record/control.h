/* SPDX-License-Identifier: Apache-2.0
 *
 * Talking to a recording that runs: a Unix socket `ctl` in its ring folder, which the trace file names. A request is one
 * line, `COMMAND ARGUMENT`; the answer is lines of text and then `ok`, or `error: WHY`. npumem-record --ctl is the client
 * (and npumem.py another); the recording looks at its socket between two passes and never waits for a client.
 */
#ifndef NM_TOOL_RECORD_CONTROL_H
#define NM_TOOL_RECORD_CONTROL_H

#include "base/buffer.h"
#include "base/error.h"

typedef struct record_control record_control;

/* Answers a request: appends lines to *reply, or fails, and then the error's text is the answer. */
typedef nm_status record_control_answer(void *context, const char *command, const char *argument, nm_buffer *reply,
                                        nm_error *err);

/* Listens in the folder. A folder whose path is too long for a socket is no failure of the recording: the caller says
 * so and goes on without. */
nm_status record_control_open(const char *folder, record_control_answer *answer, void *context, record_control **out,
                              nm_error *err);
void record_control_close(record_control *control); /* removes the socket; NULL is fine */

/* Takes what has come in and answers it. */
void record_control_pass(record_control *control);

/* The client: sends one request to the recording that writes `trace` (a trace file, or a ring folder), and appends the
 * answer's lines to *reply. NM_ERR_IO: nobody answers; NM_ERR_USAGE: the recording said why not. */
nm_status record_control_ask(const char *trace, const char *request, nm_buffer *reply, nm_error *err);

#endif
