/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands become inputs by what they are: a folder or a name of parts is looked up as one recording, each trace is asked
 * for its recording's number so that its parts come together in whatever order they are named, files of a profiler come together by
 * the folder that they are in, and all else stands for itself. A file is only looked into here; a single operand is not even that,
 * since a pipe could not be read again.
 */
#include "tool/common/inputs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/door.h"
#include "base/io.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "base/text.h"
#include "source/ascend_profiler.h"
#include "source/input.h"
#include "tool/common/folder.h"

#define RANK_MAX 100000000 /* a larger number is a date, or chance */

/* Nothing is seen of what is no file. */
static nm_source_seen look(const char *path)
{
    nm_source_seen seen = {0};
    struct stat info;
    int fd = -1;

    if (nm_door_leads_to(path, S_IFREG) && nm_door_open_file(path, &fd, &info, NULL) == NM_OK &&
        nm_source_look(fd, &seen, NULL) != NM_OK)
        seen = (nm_source_seen){0};
    nm_io_close(fd);
    return seen;
}

/* "runs/", "run.zst.003" -> "runs", "run.zst" */
static char *name_of(const char *path)
{
    char named[PATH_MAX];
    const char *name = nm_door_name(path, named);
    size_t len = nm_trace_files_stem(name);

    while (len > 1 && name[len - 1] == '/')
        len--;
    return strndup(name, len);
}

static nm_status add_path(tool_input *input, const char *path, nm_error *err)
{
    nm_status status =
        nm_array_grow(&input->paths, &input->path_capacity, input->path_count + 1, sizeof *input->paths, err);

    if (status == NM_OK && (input->paths[input->path_count] = strdup(path)) == NULL)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK)
        input->path_count++;
    return status;
}

static nm_status add_input(tool_inputs *inputs, const char *path, tool_input **out, nm_error *err)
{
    nm_status status = nm_array_grow(&inputs->items, &inputs->capacity, inputs->count + 1, sizeof *inputs->items, err);

    if (status != NM_OK)
        return status;
    *out = &inputs->items[inputs->count];
    **out = (tool_input){.name = name_of(path)};
    if ((*out)->name == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    inputs->count++;
    return add_path(*out, path, err);
}

static tool_input *find_recording(const tool_inputs *inputs, const nm_trace_file *file)
{
    for (size_t i = 0; i < inputs->count; i++)
        if (inputs->items[i].is_trace && memcmp(inputs->items[i].trace_id, file->trace_id, 16) == 0)
            return &inputs->items[i];
    return NULL;
}

static nm_status note_begin(tool_input *input, uint64_t block_index, nm_error *err)
{
    nm_status status =
        nm_array_grow(&input->begins, &input->begin_capacity, input->path_count, sizeof *input->begins, err);

    if (status == NM_OK)
        input->begins[input->path_count - 1] = block_index;
    return status;
}

/* Of equal ones the first by name, so that it does not matter in which order they are given. */
static bool is_better(const char *path, const char *other)
{
    const nm_trace_content content = nm_trace_files_content(path), before = nm_trace_files_content(other);

    if (content.event_count != before.event_count)
        return content.event_count > before.event_count;
    if (content.block_count != before.block_count)
        return content.block_count > before.block_count;
    return strcmp(path, other) < 0;
}

/* `path` begins where the input's file number `at` does: one of the two stays. */
static nm_status take_better(tool_input *input, size_t at, const char *path, nm_error *err)
{
    char *left_out = strdup(path), *name = NULL;

    if (left_out != NULL && is_better(path, input->paths[at])) {
        char *kept = input->paths[at];

        input->paths[at] = left_out;
        left_out = kept;
        name = at == 0 ? name_of(path) : NULL;
    }
    if (name != NULL) {
        free(input->name);
        input->name = name;
    }
    if (input->repeat_count++ > 0) {
        free(left_out);
        return NM_OK;
    }
    input->repeat_path = left_out;
    input->kept_path = strdup(input->paths[at]);
    return left_out != NULL && input->kept_path != NULL ? NM_OK
                                                        : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
}

static nm_status add_file(tool_inputs *inputs, const nm_trace_file *file, nm_error *err)
{
    tool_input *input = find_recording(inputs, file);
    nm_status status = NM_OK;

    for (size_t i = 0; input != NULL && i < input->path_count; i++)
        if (input->begins[i] == file->block_index)
            return take_better(input, i, file->path, err);
    if (input != NULL) {
        status = add_path(input, file->path, err);
    } else if ((status = add_input(inputs, file->path, &input, err)) == NM_OK) {
        input->is_trace = true;
        memcpy(input->trace_id, file->trace_id, sizeof input->trace_id);
    }
    return status == NM_OK ? note_begin(input, file->block_index, err) : status;
}

/* A folder, or a name of parts, that is one recording gives it its own name. */
static nm_status rename_last(tool_inputs *inputs, const char *operand, nm_error *err)
{
    tool_input *input = &inputs->items[inputs->count - 1];
    char *name = name_of(operand);

    if (name == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    free(input->name);
    input->name = name;
    return NM_OK;
}

static int by_path(const void *left, const void *right)
{
    return strcmp(((const nm_trace_file *)left)->path, ((const nm_trace_file *)right)->path);
}

static nm_status add_traces(tool_inputs *inputs, nm_trace_files *files, nm_error *err)
{
    nm_status status = NM_OK;

    if (files->count > 1)
        qsort(files->items, files->count, sizeof *files->items, by_path);
    for (size_t i = 0; i < files->count && status == NM_OK; i++)
        status = add_file(inputs, &files->items[i], err);
    return status;
}

/* ---- Runs of a profiler ---- */

/* The folder of the run that the file is of: that which it is in, or that around one which only holds results. */
static char *run_of(const char *path)
{
    static const char *const inner[] = {"ASCEND_PROFILER_OUTPUT", "mindstudio_profiler_output"};
    const char *slash = strrchr(path, '/');
    size_t len = slash == NULL ? 0 : (size_t)(slash - path);

    for (size_t i = 0; i < sizeof inner / sizeof inner[0]; i++) {
        size_t inner_len = strlen(inner[i]);

        if (len > inner_len && path[len - inner_len - 1] == '/' &&
            memcmp(path + len - inner_len, inner[i], inner_len) == 0)
            return strndup(path, len - inner_len - 1);
    }
    return len == 0 ? strdup(slash == NULL ? "." : "/") : strndup(path, len);
}

/* The run's files of text, or (`is_any`) also a database of it. */
static tool_input *find_run(const tool_inputs *inputs, const nm_source_type *type, const char *run, bool is_any)
{
    for (size_t i = inputs->count; i-- > 0;) {
        tool_input *input = &inputs->items[i];

        if (input->type == type && input->run != NULL && strcmp(input->run, run) == 0 &&
            (is_any || !input->is_run_database))
            return input;
    }
    return NULL;
}

static void drop_paths(tool_input *input)
{
    for (size_t i = 0; i < input->path_count; i++)
        free(input->paths[i]);
    input->path_count = 0;
}

/* Of one table written twice the later by name stays, but slices of one are all of it. */
static nm_status add_part(tool_input *input, const char *path, unsigned part, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < input->path_count; i++) {
        if (strcmp(input->paths[i], path) == 0)
            return NM_OK;
        if (input->begins[i] != part || strstr(path, "_slice_") != NULL)
            continue;
        if (strcmp(input->paths[i], path) > 0)
            return NM_OK;
        char *copy = strdup(path);
        if (copy == NULL)
            return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
        free(input->paths[i]);
        input->paths[i] = copy;
        return NM_OK;
    }
    status = add_path(input, path, err);
    return status == NM_OK ? note_begin(input, part, err) : status;
}

static nm_status begin_run(tool_inputs *inputs, const char *path, const char *run, const nm_source_seen *seen,
                           nm_error *err)
{
    tool_input *input = NULL;
    nm_status status = add_input(inputs, path, &input, err);

    if (status != NM_OK)
        return status;
    input->type = seen->type;
    input->is_run_database = seen->is_database;
    input->run = strdup(run);
    return input->run == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                              : note_begin(input, seen->part, err);
}

/* What a database of the run tells, its files of text tell again. */
static nm_status add_to_run(tool_inputs *inputs, const char *path, const nm_source_seen *seen, nm_error *err)
{
    char *run = run_of(path);
    nm_status status = NM_OK;

    if (run == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    tool_input *input = find_run(inputs, seen->type, run, !seen->is_database);
    if (input == NULL)
        status = begin_run(inputs, path, run, seen, err);
    else if (seen->is_database) {
        drop_paths(input);
        input->is_run_database = true;
        status = add_path(input, path, err);
    } else if (!input->is_run_database)
        status = add_part(input, path, seen->part, err);
    free(run);
    return status;
}

static bool has_memory(const tool_input *input)
{
    for (size_t i = 0; i < input->path_count; i++)
        if (input->run == NULL || input->is_run_database || input->begins[i] < NM_SOURCE_PART_BESIDE)
            return true;
    return false;
}

/* Is it what a run with results was made of? PROF_* in its folder. */
static bool is_raw(const tool_inputs *inputs, const tool_input *input)
{
    const char *prof = input->run == NULL ? NULL : strstr(input->run, "/PROF_");
    char *around = prof == NULL ? NULL : strndup(input->run, (size_t)(prof - input->run));
    const tool_input *found = around == NULL ? NULL : find_run(inputs, input->type, around, true);

    free(around);
    return found != NULL && has_memory(found);
}

static void free_input(tool_input *input)
{
    drop_paths(input);
    free(input->paths);
    free(input->begins);
    free(input->repeat_path);
    free(input->kept_path);
    free(input->run);
    free(input->name);
}

/* Whose rank it is, says a file beside the folder of the results. */
static nm_status add_info(tool_input *input, nm_error *err)
{
    DIR *stream = nm_door_list(input->run);
    const struct dirent *entry;
    char *found = NULL;
    size_t count = 0;
    nm_status status = NM_OK;

    while (stream != NULL && status == NM_OK && (entry = readdir(stream)) != NULL) {
        if (strncmp(entry->d_name, "profiler_info", 13) != 0 || count++ > 0)
            continue;
        if (asprintf(&found, "%s/%s", input->run, entry->d_name) < 0)
            status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    }
    if (stream != NULL)
        closedir(stream);
    nm_source_seen seen = count == 1 && status == NM_OK ? look(found) : (nm_source_seen){0};
    if (seen.type == input->type && seen.part >= NM_SOURCE_PART_BESIDE)
        status = add_part(input, found, seen.part, err);
    free(found);
    return status;
}

/* When its steps began, says the file of what ran beside the tables. */
static nm_status add_trace(tool_input *input, nm_error *err)
{
    const char *slash = strrchr(input->paths[0], '/');
    int len = slash == NULL ? 0 : (int)(slash - input->paths[0] + 1);
    char *path = NULL;
    nm_status status = NM_OK;

    if (asprintf(&path, "%.*s%s", len, input->paths[0], NM_ASCEND_TRACE_NAME) < 0)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (nm_door_leads_to(path, S_IFREG))
        status = add_part(input, path, NM_ASCEND_PART_TRACE, err);
    free(path);
    return status;
}

/* Runs that tell no memory, or tell it twice, are none; what is one file is called as that. */
static nm_status end_runs(tool_inputs *inputs, nm_error *err)
{
    size_t kept = 0;
    nm_status status = NM_OK;

    for (size_t i = 0; i < inputs->count; i++)
        inputs->items[i].is_left_out = !has_memory(&inputs->items[i]) || is_raw(inputs, &inputs->items[i]);
    for (size_t i = 0; i < inputs->count; i++) {
        tool_input *input = &inputs->items[i];

        if (input->is_left_out) {
            free_input(input);
            continue;
        }
        if (input->run != NULL && !input->is_run_database && status == NM_OK)
            status = add_info(input, err);
        bool is_folder = input->path_count > 1;
        if (input->run != NULL && !input->is_run_database && status == NM_OK)
            status = add_trace(input, err);
        if (input->run != NULL) {
            char *name = strdup(is_folder ? input->run : input->paths[0]);

            free(input->name);
            input->name = name;
        }
        inputs->items[kept++] = *input;
    }
    inputs->count = kept;
    for (size_t i = 0; i < kept && status == NM_OK; i++)
        if (inputs->items[i].name == NULL)
            status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    return status;
}

/* ---- Operands ---- */

static nm_status add_seen(tool_inputs *inputs, const char *path, const nm_source_seen *seen, nm_error *err)
{
    tool_input *input = NULL;
    nm_status status;

    if (seen->type != NULL && (seen->part != 0 || (seen->is_database && seen->type->part != NULL)))
        return add_to_run(inputs, path, seen, err);
    status = add_input(inputs, path, &input, err);
    if (status != NM_OK)
        return status;
    input->is_database = seen->is_database && seen->type == NULL;
    input->is_run_database = seen->is_database && seen->type != NULL;
    return NM_OK;
}

static nm_status add_found(tool_inputs *inputs, const tool_folder_file *file, nm_error *err)
{
    nm_trace_files traces = {0};
    nm_status status = NM_OK;

    if (file->seen.type != &nm_trace_source_type)
        return add_seen(inputs, file->path, &file->seen, err);
    if (nm_trace_files_find(file->path, &traces, NULL) == NM_OK)
        status = add_traces(inputs, &traces, err);
    nm_trace_files_close(&traces);
    return status;
}

/* A folder in which nothing else is: the logs in it that tell of memory that ran out, of its last run. */
static nm_status add_logs(tool_inputs *inputs, const char *folder, nm_error *err)
{
    tool_input *input = NULL;
    size_t before = inputs->logs.count;
    nm_status status = tool_logs_find(folder, &inputs->logs, err);

    if (status == NM_OK && inputs->logs.count == before)
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "%s", nm_spoken(NM_TRACE_FILES_NONE));
    for (size_t i = before; i < inputs->logs.count && status == NM_OK; i++)
        if (!inputs->logs.items[i].is_silent && !inputs->logs.items[i].is_old)
            status = add_input(inputs, inputs->logs.items[i].path, &input, err);
    return status;
}

static nm_status add_folder(tool_inputs *inputs, const char *operand, nm_error *err)
{
    tool_folder folder = {0};
    bool is_telling = false;
    nm_status status = tool_folder_find(operand, &folder, err);

    for (size_t i = 0; i < folder.count && status == NM_OK; i++) {
        is_telling |= folder.items[i].seen.part < NM_SOURCE_PART_BESIDE;
        status = add_found(inputs, &folder.items[i], err);
    }
    if (status == NM_OK && !is_telling)
        status = folder.has_run || folder.count > 0
                     ? nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "%s", nm_spoken(NM_ASCEND_PROFILER_NO_MEMORY))
                     : add_logs(inputs, operand, err);
    tool_folder_free(&folder);
    return status;
}

/* Of several operands a log in which nothing stands is left out. */
static nm_status add_plain(tool_inputs *inputs, const char *operand, bool is_one_of_several, nm_error *err)
{
    nm_source_seen seen = look(operand);

    if (seen.type == NULL && !seen.is_database && is_one_of_several && tool_log_is_silent(operand))
        return tool_logs_add_silent(&inputs->logs, operand, err);
    return add_seen(inputs, operand, &seen, err);
}

static nm_status add_operand(tool_inputs *inputs, const char *operand, bool is_one_of_several, nm_error *err)
{
    nm_trace_files files = {0};
    size_t before = inputs->count;
    nm_status status = nm_trace_files_find(operand, &files, err);

    if (status == NM_OK && files.count > 0) {
        status = add_traces(inputs, &files, err);
        if (status == NM_OK && inputs->count == before + 1)
            status = rename_last(inputs, operand, err);
    } else if (status == NM_OK && nm_door_leads_to(operand, S_IFDIR)) {
        status = add_folder(inputs, operand, err);
    } else if (status == NM_OK) {
        status = add_plain(inputs, operand, is_one_of_several, err);
    }
    nm_trace_files_close(&files);
    return status;
}

/* Beside traces and databases a text in which nothing stands is a mistake. */
static nm_status check_silent(const tool_inputs *inputs, nm_error *err)
{
    bool has_other = false;

    for (size_t i = 0; i < inputs->count; i++)
        has_other = has_other || inputs->items[i].is_trace || inputs->items[i].is_database;
    for (size_t i = 0; i < inputs->logs.count; i++)
        if (inputs->count == 0 || (has_other && inputs->logs.items[i].is_operand))
            return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET,
                           nm_spoken(inputs->logs.count == 1 ? "no out-of-memory line in %zu file"
                                                             : "no out-of-memory line in %zu files"),
                           inputs->logs.count);
    return NM_OK;
}

static nm_status end_operands(tool_inputs *inputs, nm_error *err)
{
    nm_status status = end_runs(inputs, err);

    if (status == NM_OK && inputs->count == 0 && inputs->logs.count == 0)
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "%s", nm_spoken(NM_ASCEND_PROFILER_NO_MEMORY));
    return status == NM_OK ? check_silent(inputs, err) : status;
}

nm_status tool_inputs_find(const char *const *operands, size_t operand_count, tool_inputs *out, const char **subject,
                           nm_error *err)
{
    bool is_plain = operand_count == 1 && (strcmp(operands[0], "-") == 0 || nm_trace_files_is_single(operands[0]));
    tool_input *input = NULL;
    nm_status status = NM_OK;

    *out = (tool_inputs){0};
    *subject = operands[0];
    if (is_plain) {
        nm_source_seen seen = look(operands[0]);

        status = add_input(out, operands[0], &input, err);
        if (status == NM_OK) {
            input->is_database = seen.is_database && seen.type == NULL;
            input->is_run_database = seen.is_database && seen.type != NULL;
        }
        return status;
    }
    for (size_t i = 0; i < operand_count && status == NM_OK; i++) {
        *subject = operands[i];
        status = add_operand(out, operands[i], operand_count > 1, err);
    }
    return status == NM_OK ? end_operands(out, err) : status;
}

void tool_say_repeat(const char *program, const char *name, const char *kept, int64_t recording_count, int64_t of_count,
                     FILE *out)
{
    char named[PATH_MAX], left_out[PATH_MAX], stays[PATH_MAX];

    nm_shown_text(left_out, sizeof left_out, nm_door_name(name, named));
    nm_shown_text(stays, sizeof stays, nm_door_name(kept, named));
    if (of_count == 1)
        fprintf(out, nm_spoken("%s: %s: is the recording of %s again; left out\n"), program, left_out, stays);
    else
        fprintf(out, nm_spoken("%s: %s: %" PRId64 " of its %" PRId64 " recordings left out: in %s again\n"), program,
                left_out, recording_count, of_count, stays);
}

/* A database whose writer was ended leaves rows beside it. */
static void say_journal(const tool_input *input, const char *program, FILE *out)
{
    char name[PATH_MAX], path[PATH_MAX];
    struct stat info;
    int len = snprintf(path, sizeof path, "%s-wal", input->paths[0]);

    if (!input->is_run_database || len < 0 || len >= (int)sizeof path || !nm_door_look(path, &info) ||
        info.st_size == 0)
        return;
    fprintf(out,
            nm_spoken("%s: %s: rows that are still in its journal (-wal) are not read; sqlite3 FILE 'PRAGMA "
                      "wal_checkpoint' puts them into it\n"),
            program, nm_shown_text(name, sizeof name, input->paths[0]));
}

void tool_inputs_say_repeats(const tool_inputs *inputs, const char *program, FILE *out)
{
    char name[PATH_MAX], left_out[PATH_MAX];

    tool_logs_say_left_out(&inputs->logs, program, out);
    for (size_t i = 0; i < inputs->count; i++) {
        const tool_input *input = &inputs->items[i];

        say_journal(input, program, out);
        if (input->repeat_count == 1)
            tool_say_repeat(program, input->repeat_path, input->kept_path, 1, 1, out);
        else if (input->repeat_count > 1)
            fprintf(out, nm_spoken("%s: %s and %zu more: are files of the recording %s again; left out\n"), program,
                    nm_shown_text(left_out, sizeof left_out, input->repeat_path), input->repeat_count - 1,
                    nm_shown_text(name, sizeof name, input->name));
    }
}

static nm_status open_parts(const tool_input *input, nm_trace_files *files, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < input->path_count && status == NM_OK; i++) {
        struct stat info;
        nm_trace_file file = {.fd = -1};

        status = nm_array_grow(&files->items, &files->capacity, files->count + 1, sizeof *files->items, err);
        if (status == NM_OK)
            status = nm_door_open_file(input->paths[i], &file.fd, &info, err);
        if (status != NM_OK)
            break;
        file.bytes = (uint64_t)info.st_size;
        files->items[files->count++] = file;
    }
    if (status != NM_OK)
        nm_trace_files_close(files);
    return status;
}

nm_status tool_input_open(const tool_input *input, int *fd, nm_trace_files *files, nm_error *err)
{
    *fd = -1;
    *files = (nm_trace_files){0};
    if (strcmp(input->paths[0], "-") == 0) {
        *fd = STDIN_FILENO;
        return NM_OK;
    }
    if (input->is_trace && input->path_count > 1)
        return nm_trace_files_open((const char *const *)input->paths, input->path_count, O_RDONLY, files, err);
    if (input->path_count > 1)
        return open_parts(input, files, err);
    return nm_io_open(input->paths[0], O_RDONLY | nm_door_read_flags(input->paths[0]), 0, fd, err);
}

nm_status tool_input_source(int fd, const nm_trace_files *files, nm_source **out, nm_error *err)
{
    int *fds;
    nm_status status;

    if (files->count == 0)
        return nm_source_open(fd, out, err);
    fds = calloc(files->count, sizeof *fds);
    if (fds == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    for (size_t i = 0; i < files->count; i++)
        fds[i] = files->items[i].fd;
    status = nm_source_open_parts(fds, files->count, out, err);
    free(fds);
    return status;
}

static void show_read(void *context, uint64_t position, uint64_t size)
{
    nm_progress *progress = context;

    if (progress->slot != NULL)
        nm_progress_update(progress, position, 0);
    else if (size == 0)
        nm_progress_say(progress, nm_spoken("reading the input"));
    else
        nm_progress_part(progress, position, size, nm_spoken("reading the input"));
}

void tool_inputs_show(nm_progress *progress)
{
    nm_input_watch(progress == NULL ? NULL : show_read, progress);
}

nm_status tool_input_again(int fd, const nm_trace_files *files, nm_source **source, bool *is_new, nm_error *err)
{
    bool is_done = false;
    nm_status status = nm_source_rewind(*source, &is_done, err);

    *is_new = status == NM_OK && !is_done;
    if (!*is_new)
        return status;
    nm_source_close(*source);
    *source = NULL;
    for (size_t i = 0; i < files->count; i++)
        lseek(files->items[i].fd, 0, SEEK_SET);
    if (files->count == 0)
        lseek(fd, 0, SEEK_SET);
    return tool_input_source(fd, files, source, err);
}

/* The last that "rank" and a number behind it say between the two. */
static bool rank_in(const char *begin, const char *end, bool is_whole, int64_t *rank)
{
    bool is_told = false;

    for (const char *at = begin; (at = strcasestr(at, "rank")) != NULL && at < end;) {
        const char *word = at;
        char *behind = NULL;

        at += strlen("rank");
        const char *digits = *at != 0 && strchr("-_.=", *at) != NULL ? at + 1 : at;
        if (!isdigit((unsigned char)*digits))
            continue;
        errno = 0;
        long value = strtol(digits, &behind, 10);
        if (is_whole && (word != begin || behind != end))
            continue;
        is_told = errno == 0 && value <= RANK_MAX;
        *rank = value;
    }
    return is_told;
}

/* "7" in "attempt_0/7", as torchrun names the folders of its logs. */
static bool attempt_rank(const char *name, const char *begin, const char *end, int64_t *rank)
{
    static const char attempt[] = "attempt_";
    const char *outer = begin == name ? NULL : memrchr(name, '/', (size_t)(begin - name) - 1);

    outer = outer == NULL ? name : outer + 1;
    if (begin == end || end - begin > 8 || strspn(begin, "0123456789") != (size_t)(end - begin) ||
        strncmp(outer, attempt, sizeof attempt - 1) != 0)
        return false;
    *rank = strtol(begin, NULL, 10);
    return true;
}

bool tool_input_rank(const char *name, int64_t *rank)
{
    const char *begin = nm_path_name(name), *end = begin;

    if (rank_in(begin, begin + strlen(begin), false, rank))
        return true;
    while (end > name) {
        end--;
        for (begin = end; begin > name && begin[-1] != '/';)
            begin--;
        if (rank_in(begin, end, true, rank) || attempt_rank(name, begin, end, rank))
            return true;
        end = begin;
    }
    return false;
}

void tool_inputs_free(tool_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++)
        free_input(&inputs->items[i]);
    free(inputs->items);
    tool_logs_free(&inputs->logs);
    *inputs = (tool_inputs){0};
}
