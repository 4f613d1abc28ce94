/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of npumem-mcp.
 */
#ifndef NM_TOOL_MCP_OPTIONS_H
#define NM_TOOL_MCP_OPTIONS_H

#include <stddef.h>

#include "tool/common/options.h"

typedef struct mcp_options { /* texts are borrowed from the command line */
    struct {
        const char **items; /* owned */
        size_t count, capacity;
    } folders;
    const char *write_folder; /* NULL: no page is written */
    const char *const *files; /* NULL at the end */
} mcp_options;

/* Into zeroed options. */
options_outcome mcp_options_read(int argc, char **argv, mcp_options *options);
void mcp_options_free(mcp_options *options);

#endif
