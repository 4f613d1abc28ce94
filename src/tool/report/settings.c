/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-whatif --compare writes its table as CSV into a folder of its own in the temporary folder, and that is read: so the page
 * has the very figures of the command. Names of columns are looked for; a cell is a number, nothing, or (the first) a text in quotes.
 */
#include "tool/report/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/door.h"
#include "base/io.h"
#include "base/own_path.h"
#include "base/spoken.h"
#include "store/cleanup.h"
#include "store/database.h"
#include "tool/common/progress.h"

#define WHATIF_PROGRAM "npumem-whatif"
#define TABLE_NAME     "settings.csv"
#define CANNOT_RUN     127
#define SETTINGS_MAX   64
#define CELLS_MAX      64
#define TABLE_BYTES    ((size_t)1 << 20)

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

typedef struct scratch {
    char folder[PATH_MAX]; /* "": not made */
    int folder_fd;
} scratch;

static nm_status make_scratch(scratch *at, nm_error *err)
{
    nm_status status = nm_door_make_temporary("npumem-report", at->folder, &at->folder_fd, err);

    return status == NM_OK ? nm_cleanup_add(AT_FDCWD, at->folder, at->folder_fd, err) : status;
}

static void remove_scratch(scratch *at)
{
    if (at->folder[0] == 0)
        return;
    nm_cleanup_remove(AT_FDCWD, at->folder);
    nm_io_close(at->folder_fd);
}

/* What it prints is the table that we read; what it says are lines on how far it is. */
static void become_whatif(const char *program, const char *path, int64_t heap_id, const char *folder, int lines)
{
    char table[PATH_MAX + sizeof TABLE_NAME], heap[24];
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

    snprintf(heap, sizeof heap, "%" PRId64, heap_id);
    snprintf(table, sizeof table, "%s/" TABLE_NAME, folder);
    if (nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0 && dup2(lines, STDERR_FILENO) >= 0)
        execl(program, WHATIF_PROGRAM, "--progress", "--compare", "--heap", heap, "--csv", table, "--", path,
              (char *)NULL);
    _exit(CANNOT_RUN);
}

static nm_status run_whatif(const char *path, int64_t heap_id, const char *folder, nm_error *err)
{
    char program[PATH_MAX];
    int lines[2], status = 0;
    nm_status shown = NM_OK;

    if (nm_own_beside(WHATIF_PROGRAM, program, err) != NM_OK)
        return err->status;
    if (pipe2(lines, O_CLOEXEC) != 0)
        return nm_fail_errno(err, errno, "cannot start npumem-whatif");
    pid_t child = fork();
    if (child == 0)
        become_whatif(program, path, heap_id, folder, lines[1]);
    nm_io_close(lines[1]);
    if (child < 0)
        nm_io_close(lines[0]);
    else
        shown = nm_progress_follow(lines[0], nm_spoken("trying settings; --whatif can be left out"), false, err);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child < 0)
        return nm_fail_errno(err, errno, "cannot start npumem-whatif");
    if (shown != NM_OK)
        return shown;
    if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_RUN)
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "npumem-whatif is not beside this program");
    return NM_OK; /* whether there is an answer, the table says */
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* Cuts a line into cells, in place. */
static size_t cut_cells(char *line, char *cells[CELLS_MAX])
{
    size_t count = 0;

    while (count < CELLS_MAX) {
        bool is_quoted = *line == '"';
        char *to = cells[count++] = line;

        line += is_quoted;
        for (; *line != 0 && (is_quoted || *line != ','); line++) {
            if (is_quoted && *line == '"' && *++line != '"')
                break;
            *to++ = *line;
        }
        bool is_last = *line == 0;
        *to = 0;
        if (is_last)
            break;
        line++;
    }
    return count;
}

typedef struct table {
    char *head[CELLS_MAX], *cells[CELLS_MAX];
    size_t head_count, cell_count;
} table;

static int64_t number_of(const table *at, const char *column)
{
    for (size_t i = 0; i < at->head_count && i < at->cell_count; i++)
        if (strcmp(at->head[i], column) == 0 && at->cells[i][0] != 0)
            return strtoll(at->cells[i], NULL, 10);
    return NM_NULL;
}

static nm_page_setting setting_of(const table *at)
{
    return (nm_page_setting){
        .name = at->cells[0],
        .is_fit = number_of(at, "is_fit") == 1,
        .capacity_bytes = number_of(at, "capacity_bytes"),
        .failure_seq = number_of(at, "failure_seq"),
        .reserved_bytes = number_of(at, "peak_reserved_bytes"),
        .live_bytes = number_of(at, "peak_live_bytes"),
        .stuck_bytes = number_of(at, "peak_stuck_bytes"),
        .request_count = number_of(at, "request_count"),
        .miss_count = number_of(at, "miss_count"),
        .call_count = number_of(at, "driver_call_count"),
        .device_bytes = number_of(at, "smallest_device_bytes"),
    };
}

static nm_status read_text(int folder, char **text, nm_error *err)
{
    nm_buffer buffer = {0};
    int fd = -1;
    nm_status status = nm_door_open_at(folder, TABLE_NAME, O_RDONLY | O_NONBLOCK, 0, &fd, err);

    if (status == NM_OK)
        status = nm_io_read_all(fd, TABLE_BYTES, &buffer, err);
    nm_io_close(fd);
    if (status == NM_OK && (*text = strndup(buffer.len > 0 ? (const char *)buffer.data : "", buffer.len)) == NULL)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    nm_buffer_free(&buffer);
    return status;
}

static nm_status read_table(int folder, report_settings *out, nm_error *err)
{
    table at = {0};
    char *rest = NULL;
    nm_error why; /* it is enough that there is none */

    if (read_text(folder, &out->text, &why) != NM_OK)
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "npumem whatif has no answer: it says why");
    out->items = calloc(SETTINGS_MAX, sizeof *out->items);
    if (out->items == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    for (char *line = strtok_r(out->text, "\r\n", &rest); line != NULL; line = strtok_r(NULL, "\r\n", &rest)) {
        if (at.head_count == 0) {
            at.head_count = cut_cells(line, at.head);
        } else if (out->whatif.setting_count < SETTINGS_MAX) {
            at.cell_count = cut_cells(line, at.cells);
            out->items[out->whatif.setting_count++] = setting_of(&at);
        }
    }
    out->whatif.settings = out->items;
    return NM_OK;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static nm_status ask(const char *path, report_settings *out, nm_error *err)
{
    scratch at = {0};
    nm_status status = make_scratch(&at, err);

    if (status == NM_OK)
        status = run_whatif(path, out->whatif.heap_id, at.folder, err);
    if (status == NM_OK)
        status = read_table(at.folder_fd, out, err);
    remove_scratch(&at);
    return status;
}

nm_status report_settings_ask(sqlite3 *db, const char *path, report_settings *out, nm_error *err)
{
    *out = (report_settings){0};
    nm_status status = nm_db_get_int(db,
                                     "SELECT heap_id FROM z_heap_sum JOIN heap USING (heap_id) WHERE level = 2"
                                     " AND allocation_count > 0 ORDER BY peak_bytes DESC, heap_id LIMIT 1",
                                     &out->whatif.heap_id, err);

    if (status == NM_OK && out->whatif.heap_id == NM_NULL)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "has no pool, so that there is no --whatif");
    return status == NM_OK ? ask(path, out, err) : status;
}

void report_settings_free(report_settings *settings)
{
    free(settings->items);
    free(settings->text);
    *settings = (report_settings){0};
}
