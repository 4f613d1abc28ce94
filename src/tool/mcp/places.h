/* SPDX-License-Identifier: Apache-2.0
 *
 * What may be opened, and where may be written: the folders and files that the command line names, and nothing else. A path that
 * a client gives is judged by where it leads to, links and all; what does not lead there is not there.
 */
#ifndef NM_TOOL_MCP_PLACES_H
#define NM_TOOL_MCP_PLACES_H

#include <limits.h>

#include "base/json.h"
#include "tool/mcp/options.h"

typedef struct mcp_root {
    char *path;       /* owned; without links */
    int folder;       /* held from the beginning: the folder itself, or the one that the file stands in */
    const char *name; /* of the file there; borrowed from `path`; "" of a folder */
} mcp_root;

typedef struct mcp_places {
    struct {
        mcp_root *items; /* owned */
        size_t count, capacity;
    } folders, files;
    mcp_root pages; /* `path` is NULL: nothing is written */
} mcp_places;

/* NM_ERR_IO: one of them is not there; *subject is which. To be freed always. */
nm_status mcp_places_open(const mcp_options *options, mcp_places *out, const char **subject, nm_error *err);
void mcp_places_free(mcp_places *places);

/* Holds (base/door.h) what the path leads to now, to be closed by nm_io_close. A relative path is one in the first of the folders that
 * has it, or as the command line has it. NM_ERR_USAGE: nothing that may be opened is there: the words do not tell what else is. */
nm_status mcp_places_hold(const mcp_places *places, const char *path, char resolved[PATH_MAX], int *held,
                          nm_error *err);

/* A new file NAME.html in the folder for pages, no path, and none that is there: `path` to show, `handed` to make it by. */
nm_status mcp_places_page(const mcp_places *places, const char *name, char path[PATH_MAX], char handed[PATH_MAX],
                          nm_error *err);

/* The member `files`: what there is to open, as far as there is room: files of the command line, and in the folders themselves what
 * has the name of a database, a trace or a snapshot. */
nm_status mcp_places_list(const mcp_places *places, nm_json *json, nm_error *err);

#endif
