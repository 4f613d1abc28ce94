/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines to npumem-mcp, which knows one database, run.db in the first folder. Whatever comes, each line gets at most one answer of one line, and
 * what is answered is JSON.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "fuzz/databases.h"
#include "fuzz/target.h"
#include "tool/mcp/serve.h"

static void check_answers(int fd, nm_bytes input)
{
    nm_buffer said = {0};
    size_t lines = 1, answers = 0;

    for (size_t i = 0; i < input.len; i++)
        lines += input.data[i] == '\n';
    FUZZ_REQUIRE(lseek(fd, 0, SEEK_SET) == 0 && nm_io_read_all(fd, SIZE_MAX, &said, NULL) == NM_OK);
    for (size_t at = 0; at < said.len; answers++) {
        const uint8_t *end = memchr(said.data + at, '\n', said.len - at);
        nm_error err = {0};

        FUZZ_REQUIRE(end != NULL);
        nm_bytes line = {said.data + at, (size_t)(end - said.data) - at};
        if (mcp_json_check(line, &err) != NM_OK)
            fuzz_fail("an answer is no JSON", __FILE__, __LINE__, err.text);
        at += line.len + 1;
    }
    FUZZ_REQUIRE(answers <= lines);
    nm_buffer_free(&said);
}

static void serve(nm_bytes input)
{
    static char path[512];
    const char *folders[] = {fuzz_folder()}, *files[] = {NULL}, *subject;
    mcp_options options = {.folders = {folders, 1, 1}, .files = files};
    mcp_server server = {.runs = {.places = &server.places, .folder_fd = -1}};
    nm_error err = {0};
    int in = fuzz_file_of(input, 0), out = fuzz_file_of((nm_bytes){0}, 1);

    if (path[0] == 0) {
        snprintf(path, sizeof path, "%s/run.db", fuzz_folder());
        fuzz_write_file(path, (nm_bytes){fuzz_sound_database()->data, fuzz_sound_database()->len});
    }
    FUZZ_REQUIRE(mcp_places_open(&options, &server.places, &subject, &err) == NM_OK);
    nm_status status = mcp_serve(&server, in, out, &err);
    fuzz_check_status(status, &err);
    FUZZ_REQUIRE(status == NM_OK);
    check_answers(out, input);
    mcp_runs_close(&server.runs);
    mcp_places_free(&server.places);
}

FUZZ_TARGET(mcp, .run = serve)
