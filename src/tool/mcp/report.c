/* SPDX-License-Identifier: Apache-2.0
 *
 * report: npumem-report writes a page, which has to be a new one in the folder that the command line names.
 */
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "tool/common/exit_status.h"
#include "tool/mcp/tools.h"

static nm_status write_page(const char *database, const char *path, nm_error *err)
{
    const char *const words[] = {"npumem-report", "--quiet", "-o", path, "--", database, NULL};
    char said[MCP_SAID_BYTES], stage[MCP_SAID_BYTES];
    int log_fd = -1, exit_status = 0, percent = 0;
    nm_status status = nm_io_open_temporary(&log_fd, err);

    if (status == NM_OK)
        status = mcp_run_program(words, log_fd, &exit_status, err);
    if (status == NM_OK && exit_status != EXIT_DONE) {
        mcp_read_log(log_fd, said, &percent, stage);
        status = nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "%.150s", said[0] == 0 ? "npumem-report failed" : said);
    }
    nm_io_close(log_fd);
    return status;
}

nm_status mcp_report(mcp_server *server, const mcp_arguments *arguments, nm_json *json, nm_error *err)
{
    char path[PATH_MAX], page[PATH_MAX], handed[NM_DOOR_HANDED_BYTES];
    nm_foreign *database = NULL;
    mcp_run *run = NULL;
    int held = -1;
    nm_status status = mcp_places_page(&server->places, mcp_argument_text(arguments, "path"), path, page, err);

    if (status == NM_OK)
        status = mcp_runs_ask(&server->runs, mcp_argument_text(arguments, "handle"), &run, &database, err);
    mcp_run_close(database);
    if (status == NM_OK)
        status = mcp_run_hold(&server->runs, run, &held, handed, err);
    if (status == NM_OK)
        status = write_page(handed, page, err);
    nm_io_close(held);
    if (status != NM_OK)
        return status;
    mcp_put_text(json, "page", path, MCP_SENTENCE_COLUMNS);
    nm_json_text(json, "message", "one HTML file, to open in a browser and to send; it needs nothing beside it");
    nm_json_begin(json, "next", '[');
    nm_json_end(json, ']');
    return NM_OK;
}
