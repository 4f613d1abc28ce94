/* SPDX-License-Identifier: Apache-2.0
 *
 * Which source reads an input: decided by its first bytes, never by its name. What no row of the table knows is refused (source/refuse.h).
 */
#include "source/source.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "source/input.h"
#include "source/refuse.h"

/* To add a format: one line here. The first that matches reads the input; any text may be a log, so that it is the last. */
static const nm_source_type *const types[] = {
    &nm_trace_source_type,  &nm_snapshot_source_type,   &nm_ascend_profiler_source_type,
    &nm_kineto_source_type, &nm_msmemscope_source_type, &nm_mindspore_source_type,
    &nm_log_source_type,
};

#define TYPE_COUNT (sizeof types / sizeof types[0])

static const nm_source_type *type_of(nm_bytes head, bool is_packed)
{
    for (size_t i = 0; i < TYPE_COUNT; i++)
        if ((types[i]->is_unpacking || !is_packed) && types[i]->matches != NULL && types[i]->matches(head))
            return types[i];
    return NULL;
}

/* What is inside of a gzip file, into `begin`; else `head` itself. */
static nm_bytes look_inside(nm_bytes head, uint8_t begin[NM_SOURCE_HEAD_BYTES])
{
    return nm_input_is_gzip(head) ? (nm_bytes){begin, nm_input_look_into_gzip(head, begin, NM_SOURCE_HEAD_BYTES)}
                                  : head;
}

nm_status nm_source_recognise(nm_bytes head, nm_error *err)
{
    uint8_t begin[NM_SOURCE_HEAD_BYTES];
    nm_bytes inner = look_inside(head, begin);

    return nm_foreign_matches(inner) || type_of(inner, nm_input_is_gzip(head)) != NULL
               ? NM_OK
               : nm_source_refuse(-1, head, err);
}

static const nm_source_type *type_of_tables(const nm_foreign_tables *database)
{
    for (size_t i = 0; i < TYPE_COUNT; i++)
        for (const char *const *table = types[i]->tables; table != NULL && *table != NULL; table++)
            if (nm_foreign_tables_has(database, *table))
                return types[i];
    return NULL;
}

static nm_status open_tables(int fd, nm_bytes head, nm_input **input, nm_foreign_tables **database, nm_error *err)
{
    nm_status status = nm_input_open(fd, head, input, err);

    if (status == NM_OK)
        status = nm_input_unpack(*input, err);
    return status == NM_OK ? nm_foreign_tables_open(*input, database, err) : status;
}

static nm_status open_database(int fd, nm_bytes head, nm_source **out, nm_error *err)
{
    nm_foreign_tables *database = NULL;
    nm_input *input = NULL;
    const nm_source_type *type = NULL;
    nm_status status = open_tables(fd, head, &input, &database, err);

    if (status == NM_OK && (type = type_of_tables(database)) != NULL)
        return type->open_database(input, database, out, err);
    nm_foreign_tables_close(database);
    nm_input_close(input);
    return status == NM_OK ? nm_source_refuse(fd, head, err) : status;
}

bool nm_source_is_log(nm_bytes head)
{
    uint8_t inner[NM_SOURCE_HEAD_BYTES];

    return type_of(look_inside(head, inner), nm_input_is_gzip(head)) == &nm_log_source_type;
}

nm_status nm_source_look(int fd, nm_source_seen *out, nm_error *err)
{
    uint8_t begin[NM_SOURCE_HEAD_BYTES], inner[NM_SOURCE_HEAD_BYTES];
    nm_foreign_tables *database = NULL;
    nm_input *input = NULL;
    nm_bytes head = {begin, 0};
    nm_status status = nm_io_read(fd, begin, sizeof begin, &head.len, err);

    *out = (nm_source_seen){0};
    if (status != NM_OK || head.len == 0)
        return status;
    nm_bytes seen = look_inside(head, inner);
    if (!nm_foreign_matches(seen)) {
        out->type = type_of(seen, nm_input_is_gzip(head));
        if (out->type != NULL && out->type->is_guess)
            out->type = NULL;
        out->part = out->type == NULL || out->type->part == NULL ? 0 : out->type->part(seen);
        return NM_OK;
    }
    out->is_database = true;
    status = open_tables(fd, head, &input, &database, err);
    if (status == NM_OK)
        out->type = type_of_tables(database);
    nm_foreign_tables_close(database);
    nm_input_close(input);
    return status == NM_ERR_MEMORY ? status : NM_OK;
}

bool nm_source_rereads(nm_bytes head)
{
    uint8_t inner[NM_SOURCE_HEAD_BYTES];
    nm_bytes seen = look_inside(head, inner);
    const nm_source_type *type = nm_foreign_matches(seen) ? NULL : type_of(seen, nm_input_is_gzip(head));

    return type != NULL && type->rewind != NULL;
}

nm_status nm_source_open_behind(int fd, nm_bytes head, nm_source **out, nm_error *err)
{
    uint8_t inner[NM_SOURCE_HEAD_BYTES];
    nm_bytes seen = look_inside(head, inner);

    *out = NULL;
    if (nm_foreign_matches(seen))
        return open_database(fd, head, out, err);
    const nm_source_type *type = type_of(seen, nm_input_is_gzip(head));
    return type != NULL ? type->open(fd, head, out, err) : nm_source_refuse(fd, head, err);
}

nm_status nm_source_open(int fd, nm_source **out, nm_error *err)
{
    uint8_t begin[NM_SOURCE_HEAD_BYTES];
    nm_bytes head = {begin, 0};
    struct stat info;

    *out = NULL;
    if (fstat(fd, &info) != 0)
        return nm_fail_errno(err, errno, "cannot read");
    if (S_ISDIR(info.st_mode))
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "this is a folder, not a file");

    nm_status status = nm_io_read(fd, begin, sizeof begin, &head.len, err);
    return status == NM_OK ? nm_source_open_behind(fd, head, out, err) : status;
}

nm_status nm_source_open_parts(const int *fds, size_t fd_count, nm_source **out, nm_error *err)
{
    uint8_t begin[NM_SOURCE_HEAD_BYTES], inner[NM_SOURCE_HEAD_BYTES];
    nm_bytes head = {begin, 0};
    nm_status status;

    if (fd_count == 1)
        return nm_source_open(fds[0], out, err);
    *out = NULL;
    status = nm_io_read(fds[0], begin, sizeof begin, &head.len, err);
    if (status != NM_OK)
        return status;
    const nm_source_type *type = type_of(look_inside(head, inner), nm_input_is_gzip(head));
    if (type == NULL || type->open_parts == NULL || lseek(fds[0], 0, SEEK_SET) != 0)
        return nm_trace_source_open_parts(fds, fd_count, head, out, err);
    return type->open_parts(fds, fd_count, out, err);
}

nm_status nm_source_next(nm_source *source, nm_record *out, nm_error *err)
{
    return source->type->next(source, out, err);
}

void nm_source_summary(const nm_source *source, nm_source_summary_data *out)
{
    source->type->summary(source, out);
}

uint64_t nm_source_position(const nm_source *source)
{
    return source->type->position(source);
}

nm_status nm_source_rewind(nm_source *source, bool *is_done, nm_error *err)
{
    *is_done = source->type->rewind != NULL;
    return *is_done ? source->type->rewind(source, err) : NM_OK;
}

void nm_source_close(nm_source *source)
{
    if (source != NULL)
        source->type->close(source);
}
