/* SPDX-License-Identifier: Apache-2.0
 *
 * A call stack as lines: its frames from the innermost on, the site marked.
 */
#ifndef NM_TOOL_STACK_PRINT_H
#define NM_TOOL_STACK_PRINT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/json.h"

#define STACK_FRAMES_MAX 4096 /* of one stack; stacks of a strange database may have no end */

/*
 * "  > model.py:88 forward", "    train.py:9 main", ...: '>' is the site, which may be no frame of the stack and is then
 * before it. With `has_color` the site is bold and plumbing dim. A stack that is not there has no lines.
 */
nm_status stack_print_frames(sqlite3 *db, sqlite3_int64 stack_id, bool has_color, FILE *out, nm_error *err);

/* The same as members of the object that is open: "frames":[{"label":"model.py:88 forward","is_site":true,"is_plumbing":false},...],
 * "is_cut":false, which is true where callers are missing. */
nm_status stack_write_frames(sqlite3 *db, sqlite3_int64 stack_id, nm_json *json, nm_error *err);

#endif
