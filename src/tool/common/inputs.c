/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands become inputs by what they are: a folder or a name of parts is looked up as one recording, each trace is asked
 * for its recording's number so that its parts come together in whatever order they are named, and all else stands for
 * itself. A file is only looked into here; a single operand is not even that, since a pipe could not be read again.
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

#define RANK_MAX 100000000 /* a larger number is a date, or chance */

static const char database_head[16] = "SQLite format 3"; /* with its zero byte */

/* Of npumem-ingest, or of nobody that is known. */
static bool is_database(const char *path)
{
    char head[sizeof database_head];
    struct stat info;
    bool is_one = false;
    int fd = -1;

    if (!nm_door_leads_to(path, S_IFREG) || nm_door_open_file(path, &fd, &info, NULL) != NM_OK)
        return false;
    is_one = pread(fd, head, sizeof head, 0) == sizeof head && memcmp(head, database_head, sizeof head) == 0 &&
             !nm_source_reads_database(fd);
    nm_io_close(fd);
    return is_one;
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

/* A folder without a recording, as `err` says: the logs in it that tell of memory that ran out, of its last run. */
static nm_status add_logs(tool_inputs *inputs, const char *folder, nm_error *err)
{
    char profiler[PATH_MAX];
    tool_input *input = NULL;
    size_t before = inputs->logs.count;

    snprintf(profiler, sizeof profiler, "%s/ASCEND_PROFILER_OUTPUT", folder);
    if (nm_door_leads_to(profiler, S_IFDIR))
        return NM_ERR_FORMAT;
    nm_status status = tool_logs_find(folder, &inputs->logs, err);

    if (status == NM_OK && inputs->logs.count == before)
        return NM_ERR_FORMAT;
    for (size_t i = before; i < inputs->logs.count && status == NM_OK; i++)
        if (!inputs->logs.items[i].is_silent && !inputs->logs.items[i].is_old)
            status = add_input(inputs, inputs->logs.items[i].path, &input, err);
    return status;
}

/* A file that is no trace; of several a log in which nothing stands is left out. */
static nm_status add_other(tool_inputs *inputs, const char *operand, bool is_one_of_several, nm_error *err)
{
    tool_input *input = NULL;

    if (is_one_of_several && tool_log_is_silent(operand))
        return tool_logs_add_silent(&inputs->logs, operand, err);
    nm_status status = add_input(inputs, operand, &input, err);
    if (status == NM_OK)
        input->is_database = is_database(operand);
    return status;
}

static nm_status add_operand(tool_inputs *inputs, const char *operand, bool is_one_of_several, nm_error *err)
{
    nm_trace_files files = {0};
    size_t before = inputs->count;
    nm_status status = nm_trace_files_find(operand, &files, err);

    if (status == NM_ERR_FORMAT && nm_door_leads_to(operand, S_IFDIR))
        status = add_logs(inputs, operand, err);
    else if (status == NM_OK && files.count == 0)
        status = add_other(inputs, operand, is_one_of_several, err);
    if (files.count > 1)
        qsort(files.items, files.count, sizeof *files.items, by_path);
    for (size_t i = 0; i < files.count && status == NM_OK; i++)
        status = add_file(inputs, &files.items[i], err);
    if (status == NM_OK && files.count > 0 && inputs->count == before + 1)
        status = rename_last(inputs, operand, err);
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

nm_status tool_inputs_find(const char *const *operands, size_t operand_count, tool_inputs *out, const char **subject,
                           nm_error *err)
{
    bool is_plain = operand_count == 1 && (strcmp(operands[0], "-") == 0 || nm_trace_files_is_single(operands[0]));
    tool_input *input = NULL;
    nm_status status = NM_OK;

    *out = (tool_inputs){0};
    *subject = operands[0];
    if (is_plain) {
        status = add_input(out, operands[0], &input, err);
        if (status == NM_OK)
            input->is_database = is_database(operands[0]);
        return status;
    }
    for (size_t i = 0; i < operand_count && status == NM_OK; i++) {
        *subject = operands[i];
        status = add_operand(out, operands[i], operand_count > 1, err);
    }
    return status == NM_OK ? check_silent(out, err) : status;
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

void tool_inputs_say_repeats(const tool_inputs *inputs, const char *program, FILE *out)
{
    char name[PATH_MAX], left_out[PATH_MAX];

    tool_logs_say_left_out(&inputs->logs, program, out);
    for (size_t i = 0; i < inputs->count; i++) {
        const tool_input *input = &inputs->items[i];

        if (input->repeat_count == 1)
            tool_say_repeat(program, input->repeat_path, input->kept_path, 1, 1, out);
        else if (input->repeat_count > 1)
            fprintf(out, nm_spoken("%s: %s and %zu more: are files of the recording %s again; left out\n"), program,
                    nm_shown_text(left_out, sizeof left_out, input->repeat_path), input->repeat_count - 1,
                    nm_shown_text(name, sizeof name, input->name));
    }
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

/* A last "rank3", "rank-12" of the text. */
static bool read_rank(const char *text, int64_t *rank)
{
    bool is_told = false;

    for (const char *at = text; (at = strcasestr(at, "rank")) != NULL;) {
        char *end = NULL;

        at += strlen("rank");
        const char *digits = *at != 0 && strchr("-_.=", *at) != NULL ? at + 1 : at;
        if (!isdigit((unsigned char)*digits))
            continue;
        errno = 0;
        long value = strtol(digits, &end, 10);
        is_told = errno == 0 && value <= RANK_MAX;
        *rank = value;
    }
    return is_told;
}

/* Of the folder that the file is in, where it is named rank_N, or as torchrun names it, attempt_0/N. */
static bool read_folder_rank(const char *name, size_t len, int64_t *rank)
{
    static const char attempt[] = "attempt_";
    const char *begin = memrchr(name, '/', len), *outer;
    char folder[32] = "";

    begin = begin == NULL ? name : begin + 1;
    len -= (size_t)(begin - name);
    if (len == 0 || len >= sizeof folder)
        return false;
    memcpy(folder, begin, len);
    if (strncasecmp(folder, "rank", 4) == 0)
        return read_rank(folder, rank);
    outer = begin == name ? NULL : memrchr(name, '/', (size_t)(begin - name) - 1);
    outer = outer == NULL ? name : outer + 1;
    if (strncmp(outer, attempt, sizeof attempt - 1) != 0 || strspn(folder, "0123456789") != len || len > 8)
        return false;
    *rank = strtol(folder, NULL, 10);
    return true;
}

bool tool_input_rank(const char *name, int64_t *rank)
{
    const char *slash = strrchr(name, '/');

    return read_rank(slash == NULL ? name : slash + 1, rank) ||
           (slash != NULL && read_folder_rank(name, (size_t)(slash - name), rank));
}

void tool_inputs_free(tool_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        for (size_t j = 0; j < inputs->items[i].path_count; j++)
            free(inputs->items[i].paths[j]);
        free(inputs->items[i].paths);
        free(inputs->items[i].begins);
        free(inputs->items[i].repeat_path);
        free(inputs->items[i].kept_path);
        free(inputs->items[i].name);
    }
    free(inputs->items);
    tool_logs_free(&inputs->logs);
    *inputs = (tool_inputs){0};
}
