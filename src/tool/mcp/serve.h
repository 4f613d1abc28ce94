/* SPDX-License-Identifier: Apache-2.0
 *
 * The Model Context Protocol: messages of JSON-RPC 2.0, a line each, answered one after another. Revisions 2025-06-18 and
 * 2025-11-25 begin with `initialize`; of 2026-07-28 each request says its revision itself, and `server/discover` what there is. Both
 * are answered at any time: nothing is remembered of a client but what it opened.
 */
#ifndef NM_TOOL_MCP_SERVE_H
#define NM_TOOL_MCP_SERVE_H

#include "tool/mcp/tools.h"

/* Until `in` ends. NM_ERR_WRITE: the client does not read any more. NM_ERR_MEMORY, NM_ERR_IO. */
nm_status mcp_serve(mcp_server *server, int in, int out, nm_error *err);

#endif
