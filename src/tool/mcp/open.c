/* SPDX-License-Identifier: Apache-2.0
 *
 * open: a file becomes a handle. A database beside a trace that was made of it, and is newer, is taken in its place; else a load is
 * begun, and how far it is told each time the same is asked.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/door.h"
#include "base/io.h"
#include "base/text.h"
#include "drain/state.h"
#include "source/source.h"
#include "tool/mcp/made_of.sql.h"
#include "tool/mcp/opened_facts.sql.h"
#include "tool/mcp/opened_inputs.sql.h"
#include "tool/mcp/tools.h"

#define PATIENCE_MS  1000 /* a short load is waited for */
#define INPUTS_MAX   10
#define SEARCH_BYTES ((size_t)1 << 20) /* in which a trace has a block */

/* ---- A database that is there already ------------------------------------------------------------------------------------ */

/* Of a trace; "": it is none. */
static void read_recording_id(const char *path, char id[NM_RECORDING_ID_BYTES])
{
    nm_block_header header;
    nm_buffer begin = {0};
    struct stat info;
    uint64_t vain = 0;
    size_t at = 0, got = 0;
    int fd = -1;

    id[0] = 0;
    if (nm_door_open_file(path, &fd, &info, NULL) == NM_OK && nm_buffer_reserve(&begin, SEARCH_BYTES, NULL) == NM_OK &&
        nm_io_read(fd, begin.data, SEARCH_BYTES, &got, NULL) == NM_OK &&
        nm_block_find((nm_bytes){begin.data, got}, &at, &vain, &header) == NM_OK)
        for (size_t i = 0; i < sizeof header.trace_id; i++)
            snprintf(id + 2 * i, 3, "%02x", header.trace_id[i]);
    nm_io_close(fd);
    nm_buffer_free(&begin);
}

static bool is_made_of(const char *database, const char *recording_id)
{
    sqlite3_stmt *rows = NULL;
    nm_foreign *opened = NULL;
    nm_made_of_row row;
    bool is_it = nm_foreign_open(database, false, &opened, NULL) == NM_OK &&
                 nm_made_of_ask(nm_foreign_db(opened), &rows, NULL) == NM_OK && nm_made_of_next(rows, &row) &&
                 strcmp(row.recording, recording_id) == 0;

    sqlite3_finalize(rows);
    mcp_run_close(opened);
    return is_it;
}

/* Both are held. */
static bool is_made(int input, int database)
{
    char input_path[NM_DOOR_HANDED_BYTES], database_path[NM_DOOR_HANDED_BYTES], id[NM_RECORDING_ID_BYTES];
    struct stat made_of, made;

    if (fstat(input, &made_of) != 0 || fstat(database, &made) != 0 || !S_ISREG(made.st_mode) ||
        made.st_mtim.tv_sec < made_of.st_mtim.tv_sec)
        return false;
    nm_door_hand(input, input_path);
    nm_door_hand(database, database_path);
    read_recording_id(input_path, id);
    return id[0] != 0 && is_made_of(database_path, id);
}

/* run.db beside run.zst, which is held. False: there is none, or none that may be taken. */
static bool find_made(const mcp_places *places, const char *path, int held, char made[PATH_MAX])
{
    const char *dot = strrchr(path, '.');
    char beside[PATH_MAX];
    int database = -1;

    if (dot == NULL || dot < nm_path_name(path) || strcmp(dot, ".db") == 0 ||
        snprintf(beside, sizeof beside, "%.*s.db", (int)(dot - path), path) >= PATH_MAX)
        return false;
    bool is_found = mcp_places_hold(places, beside, made, &database, NULL) == NM_OK && is_made(held, database);
    nm_io_close(database);
    return is_found;
}

/* ---- What is said ------------------------------------------------------------------------------------------------------------ */

static const char *word_of(mcp_run_state state)
{
    return state == MCP_RUN_READY ? "ready" : state == MCP_RUN_LOADING ? "loading" : "failed";
}

/* Is the recorder at it now? */
static bool is_recorded_now(const mcp_run *run, const mcp_places *places)
{
    char resolved[PATH_MAX], handed[NM_DOOR_HANDED_BYTES];
    struct stat info;
    nm_session session;
    int fd = -1, held;
    bool is_held = mcp_places_hold(places, run->path, resolved, &held, NULL) == NM_OK;

    nm_door_hand(held, handed);
    bool is_now = is_held && nm_door_open_file(handed, &fd, &info, NULL) == NM_OK &&
                  nm_state_find_session(fd, &session) && nm_state_look(&session, fd) == NM_STATE_RUNNING;

    nm_io_close(fd);
    nm_io_close(held);
    return is_now;
}

static nm_status put_facts(sqlite3 *db, const mcp_run *run, const mcp_places *places, nm_json *json, nm_error *err)
{
    nm_opened_facts_row facts;
    mcp_rows inputs = {.count_max = INPUTS_MAX};
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_opened_facts_get(db, &facts, err);

    if (status != NM_OK)
        return status;
    nm_json_int(json, "processes", facts.process_count);
    nm_json_int(json, "ranks", facts.rank_count);
    nm_json_int(json, "devices", facts.device_count);
    nm_json_int(json, "steps", facts.step_count);
    nm_json_int(json, "faults", facts.fault_count);
    nm_json_int(json, "warnings", facts.warning_count);
    nm_json_int(json, "not_judged", facts.not_judged_count);
    if (facts.running_count > 0)
        nm_json_text(
            json, "recording",
            is_recorded_now(run, places)
                ? "running: these are figures so far; open the same path again later for newer ones"
                : "it was running when this was loaded, and has ended or cannot be seen from here: open again");
    mcp_put_origin(json);
    status = nm_opened_inputs_ask(db, &rows, err);
    if (status == NM_OK)
        mcp_put_objects(json, "inputs", rows, &inputs);
    return nm_question_end(rows, status, err);
}

static void put_state(const mcp_run *run, nm_json *json)
{
    char words[2 * MCP_SAID_BYTES];

    nm_json_text(json, "handle", run->handle);
    nm_json_text(json, "state", word_of(run->state));
    mcp_put_text(json, "path", run->path, MCP_SENTENCE_COLUMNS);
    if (run->state == MCP_RUN_LOADING) {
        nm_json_int(json, "percent", run->percent);
        snprintf(words, sizeof words, "loading %d %%%s%s: ask again", run->percent, run->said[0] == 0 ? "" : ", ",
                 run->said);
        nm_json_text(json, "message", words);
    } else if (run->said[0] != 0)
        mcp_put_text(json, "message", run->said, MCP_SENTENCE_COLUMNS);
    if (run->state == MCP_RUN_FAILED)
        return;
    mcp_put_text(json, "database", run->database, MCP_SENTENCE_COLUMNS);
    if (run->is_loaded)
        nm_json_text(json, "database_note",
                     "made for this server, and gone when it ends; npumem ingest makes one to keep");
}

static nm_status put_ready(const mcp_runs *runs, const mcp_run *run, nm_json *json, nm_error *err)
{
    nm_foreign *database = NULL;
    nm_status status = mcp_run_open(runs, run, &database, err);

    if (status == NM_OK)
        status = put_facts(nm_foreign_db(database), run, runs->places, json, err);
    mcp_run_close(database);
    return status;
}

static nm_status list(mcp_server *server, nm_json *json, nm_error *err)
{
    nm_json_text(json, "state", "nothing opened");
    nm_status status = mcp_places_list(&server->places, json, err);
    nm_json_begin(json, "next", '[');
    mcp_put_next(json, "open", "path", "one of files, or a path below one of folders", NULL);
    nm_json_end(json, ']');
    return status;
}

nm_status mcp_open(mcp_server *server, const mcp_arguments *arguments, nm_json *json, nm_error *err)
{
    const char *path = mcp_argument_text(arguments, "path");
    char resolved[PATH_MAX], made[PATH_MAX];
    mcp_run *run = NULL;
    int held = -1;

    if (path == NULL)
        return list(server, json, err);
    nm_status status = mcp_places_hold(&server->places, path, resolved, &held, err);
    if (status == NM_OK)
        status = mcp_runs_open(&server->runs, resolved, held,
                               find_made(&server->places, resolved, held, made) ? made : NULL, &run, err);
    nm_io_close(held);
    if (status != NM_OK)
        return status;
    mcp_run_wait(run, PATIENCE_MS);
    put_state(run, json);
    if (run->state == MCP_RUN_READY)
        status = put_ready(&server->runs, run, json, err);
    nm_json_begin(json, "next", '[');
    if (run->state == MCP_RUN_READY) {
        mcp_put_next(json, "findings", "handle", run->handle, NULL);
        mcp_put_next(json, "query", "handle", run->handle, "topic", "catalog", NULL);
    } else if (run->state == MCP_RUN_LOADING)
        mcp_put_next(json, "open", "path", path, NULL);
    nm_json_end(json, ']');
    return status;
}
