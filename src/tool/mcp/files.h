/* SPDX-License-Identifier: Apache-2.0
 *
 * What is built into the server: its list of tools, the glossary, and the files of queries/ that it runs.
 */
#ifndef NM_TOOL_MCP_FILES_H
#define NM_TOOL_MCP_FILES_H

#include "base/embedded.h"

typedef enum mcp_file {
    MCP_FILE_TOOLS,
    MCP_FILE_GLOSSARY,
    MCP_FILE_SEGMENT_OF_BLOCK,
    MCP_FILE_RANK_SUMMARY,
} mcp_file;

extern const nm_embedded_text mcp_files[]; /* in this order */

#endif
