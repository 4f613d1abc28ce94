/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-mcp: an assistant asks about recordings. Standard output is the protocol's alone; what is to be said to people is a line on
 * standard error. Databases may come from anybody: they are opened as such.
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/io.h"
#include "base/shown.h"
#include "store/cleanup.h"
#include "store/database.h"
#include "tool/mcp/serve.h"

int main(int argc, char **argv)
{
    mcp_options options = {0};
    mcp_server server = {.runs = {.places = &server.places, .folder_fd = -1}};
    nm_error err = {.offset = NM_NO_OFFSET};
    const char *subject = NULL;
    options_outcome outcome = mcp_options_read(argc, argv, &options);
    nm_status status = NM_OK;

    nm_io_hold_standard_streams();
    if (outcome == OPTIONS_READ) {
        nm_db_use_one_thread();
        nm_cleanup_install();
        signal(SIGPIPE, SIG_IGN);
        status = mcp_places_open(&options, &server.places, &subject, &err);
        if (status == NM_OK) {
            subject = NULL;
            status = mcp_serve(&server, STDIN_FILENO, STDOUT_FILENO, &err);
        }
    }
    mcp_runs_close(&server.runs);
    mcp_places_free(&server.places);
    mcp_options_free(&options);
    if (status != NM_OK)
        nm_shown_print(stderr, "npumem-mcp: %s%s%s\n", subject == NULL ? "" : subject, subject == NULL ? "" : ": ",
                       err.text);
    return outcome != OPTIONS_READ ? options_end(outcome, EXIT_NO) : status == NM_OK ? EXIT_DONE : EXIT_NO;
}
