/* SPDX-License-Identifier: Apache-2.0
 *
 * What a client sends: a message of JSON-RPC 2.0 a line, and in it the arguments of a tool. All of it may be anything.
 */
#ifndef NM_TOOL_MCP_MESSAGE_H
#define NM_TOOL_MCP_MESSAGE_H

#include <stdbool.h>

#include "base/json.h"

#define MCP_LINE_BYTES_MAX ((size_t)1 << 20)
#define MCP_ID_BYTES_MAX   256
#define MCP_NAME_BYTES     64
#define MCP_ARGUMENTS_MAX  16

/* ---- JSON at hand: a value is its own text, checked before ------------------------------------------------------------ */

/* Is it all one value? NM_ERR_FORMAT, NM_ERR_LIMIT: it is not. */
nm_status mcp_json_check(nm_bytes text, nm_error *err);

/* A member of an object, of several of one name the last; false: there is none, or it is no object. *value points into it. */
bool mcp_json_member(nm_bytes object, const char *name, nm_json_kind *kind, nm_bytes *value);

/* The text of a value that is one, with a zero byte. False: it is none, has a zero byte itself, or does not fit. */
bool mcp_json_text(nm_bytes value, char *out, size_t size);

/* ---- A message ----------------------------------------------------------------------------------------------------------- */

typedef struct mcp_message {
    nm_json_kind id_kind; /* a text or a number; NM_JSON_NULL: it has none */
    char id[MCP_ID_BYTES_MAX];
    bool has_id;   /* it wants an answer */
    bool is_reply; /* it is an answer itself, to what was never asked */
    char method[MCP_NAME_BYTES];
    nm_bytes params; /* an object; .data is NULL where there are none. Into the line */
} mcp_message;

/* NM_ERR_FORMAT: no JSON. NM_ERR_USAGE: no message; as much of *out is filled as an answer to it needs. */
nm_status mcp_message_read(nm_bytes line, mcp_message *out, nm_error *err);

/* ---- Arguments ------------------------------------------------------------------------------------------------------------ */

typedef struct mcp_parameter {
    const char *name;
    nm_json_kind kind; /* a text, a number without fraction, or NM_JSON_TRUE for either truth */
    bool is_needed;
} mcp_parameter;

typedef struct mcp_argument {
    const mcp_parameter *parameter;
    char *text; /* owned */
    int64_t number;
} mcp_argument;

typedef struct mcp_arguments {
    mcp_argument items[MCP_ARGUMENTS_MAX];
    size_t count;
} mcp_arguments;

/* Of an object (.data NULL: none) those of the list, which a parameter without name ends. NM_ERR_USAGE: *err says in words what is
 * wrong with them. To be freed always. */
nm_status mcp_arguments_read(nm_bytes object, const mcp_parameter *parameters, mcp_arguments *out, nm_error *err);
void mcp_arguments_free(mcp_arguments *arguments);

const char *mcp_argument_text(const mcp_arguments *arguments, const char *name);             /* NULL: not given */
bool mcp_argument_number(const mcp_arguments *arguments, const char *name, int64_t *number); /* false: not given */

#endif
