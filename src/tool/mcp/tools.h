/* SPDX-License-Identifier: Apache-2.0
 *
 * The tools. What a client is told of them, with the schemas of their arguments and answers, stands in tools.json, which is
 * built in as it is; a test holds the two to each other.
 */
#ifndef NM_TOOL_MCP_TOOLS_H
#define NM_TOOL_MCP_TOOLS_H

#include "tool/mcp/answer.h"
#include "tool/mcp/message.h"
#include "tool/mcp/places.h"
#include "tool/mcp/runs.h"

typedef struct mcp_server {
    mcp_places places;
    mcp_runs runs;
} mcp_server;

/* Writes the members of the answer, which is an object that is open. A failure is told to the model by its words: nothing of what
 * was written counts then. */
typedef nm_status mcp_tool_run(mcp_server *server, const mcp_arguments *arguments, nm_json *json, nm_error *err);

mcp_tool_run mcp_open, mcp_findings, mcp_explain, mcp_compare, mcp_query, mcp_report;

typedef struct mcp_tool {
    const char *name;
    const mcp_parameter *parameters; /* one without name ends them */
    mcp_tool_run *run;
} mcp_tool;

const mcp_tool *mcp_tool_find(const char *name); /* NULL: there is none */

/* The list of tools.json, in one line. */
nm_status mcp_tools_put(nm_buffer *out, nm_error *err);

/* Is the word (NULL is fine) one that tools.json has for this argument of the tool findings? NM_ERR_USAGE: it is none. */
nm_status mcp_tools_check(const char *argument, const char *word, nm_error *err);

/* The member that says whose texts the answer has; each with texts of a recording begins with it. */
void mcp_put_origin(nm_json *json);

#endif
