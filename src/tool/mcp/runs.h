/* SPDX-License-Identifier: Apache-2.0
 *
 * What was opened, by handles: databases as they are, all else loaded by npumem-ingest, a process of its own, into a folder that
 * goes when the server ends. A database is opened anew for each question: so each has bounds of its own, and a file that was
 * replaced is looked at again.
 */
#ifndef NM_TOOL_MCP_RUNS_H
#define NM_TOOL_MCP_RUNS_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/door.h"
#include "base/error.h"
#include "store/foreign.h"
#include "tool/mcp/places.h"

#define MCP_HANDLE_BYTES 16
#define MCP_SAID_BYTES   256

typedef enum mcp_run_state { MCP_RUN_READY, MCP_RUN_LOADING, MCP_RUN_FAILED } mcp_run_state;

typedef struct mcp_run {
    char handle[MCP_HANDLE_BYTES];
    char *path;     /* owned: what was opened, without links */
    char *database; /* owned: the same, or what was made of it */
    mcp_run_state state;
    bool is_loaded;            /* the database is the server's own */
    struct stat input;         /* when it was loaded */
    pid_t child;               /* that loads it; 0: none */
    int log_fd;                /* what that says */
    int percent;               /* read */
    char said[MCP_SAID_BYTES]; /* what it does, or why it failed: one line, safe to show */
} mcp_run;

typedef struct mcp_runs {
    const mcp_places *places; /* borrowed: what may be opened */
    mcp_run **items;          /* owned */
    size_t count, capacity;
    char folder[PATH_MAX]; /* of databases that were made; "": none was */
    int folder_fd;
} mcp_runs;

void mcp_runs_close(mcp_runs *runs); /* ends loads, removes what they made */

/* The run of a file, which is held, begun if it is new or its file has changed. `made` (NULL: none) is a database that was made of it
 * before. */
nm_status mcp_runs_open(mcp_runs *runs, const char *path, int held, const char *made, mcp_run **out, nm_error *err);

/* What its database is now, below what may be opened: `held`, to be closed by nm_io_close when all has been opened by `handed`. */
nm_status mcp_run_hold(const mcp_runs *runs, const mcp_run *run, int *held, char handed[NM_DOOR_HANDED_BYTES],
                       nm_error *err);
nm_status mcp_run_open(const mcp_runs *runs, const mcp_run *run, nm_foreign **database, nm_error *err);

/* By its handle, as it is now. NM_ERR_USAGE: there is none. */
nm_status mcp_runs_find(mcp_runs *runs, const char *handle, mcp_run **out, nm_error *err);

/* Waits for it so long at most. */
void mcp_run_wait(mcp_run *run, unsigned milliseconds);

/* The same, and its database, to be closed by mcp_run_close. NM_ERR_USAGE: it is still being loaded, or could not be. */
nm_status mcp_runs_ask(mcp_runs *runs, const char *handle, mcp_run **out, nm_foreign **database, nm_error *err);

/* The bounds of memory begin anew, too. NULL is fine. */
void mcp_run_close(nm_foreign *database);

/* Runs a program beside this one and waits for its end; what it prints goes to `log_fd`. `words` begins with its name; what they hand
 * over (base/door.h) goes along. */
nm_status mcp_run_program(const char *const *words, int log_fd, int *exit_status, nm_error *err);

/* The last line of what a program said that is not of its progress; "" where there is none. *percent and `stage` ("": it reads its
 * input) are of its last line of progress, and stay as they are without one. */
void mcp_read_log(int fd, char said[MCP_SAID_BYTES], int *percent, char stage[MCP_SAID_BYTES]);

#endif
