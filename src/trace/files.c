/* SPDX-License-Identifier: Apache-2.0
 *
 * Candidates are found by name and judged by their first header: a file that only looks like a part is none. What was
 * found is sorted by the part's index, and files of several recordings in one place are refused with their names, since
 * nothing says which was meant. A file is opened here once and stays open until its reader is done: a part may be
 * removed meanwhile.
 */
#include "trace/files.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/checksum.h"
#include "base/door.h"
#include "base/io.h"
#include "base/spoken.h"
#include "base/text.h"
#include "trace/block.h"

#define NUMBER_DIGITS_MIN 3

size_t nm_trace_files_stem(const char *path)
{
    size_t len = strlen(path), at = len;

    while (at > 0 && isdigit((unsigned char)path[at - 1]))
        at--;
    return at > 1 && len - at >= NUMBER_DIGITS_MIN && path[at - 1] == '.' ? at - 1 : len;
}

bool nm_trace_files_is_single(const char *path)
{
    struct stat info;

    return nm_door_look(path, &info) && !S_ISDIR(info.st_mode);
}

/* ---- Recognising --------------------------------------------------------------------------------------------------- */

/* The first block whose header is whole: a damaged beginning must not hide a part. */
static bool read_first_header(nm_bytes bytes, nm_trace_file *file)
{
    nm_block_header header;
    uint64_t vain_bytes = 0;
    size_t at = 0;
    nm_status status = nm_block_find(bytes, &at, &vain_bytes, &header);

    file->block_index = 0;
    if (status != NM_OK)
        return status == NM_ERR_VERSION; /* whoever reads it says why not */
    file->block_index = header.block_index;
    memcpy(file->trace_id, header.trace_id, sizeof file->trace_id);
    return true;
}

/* NM_END: it is no trace. */
static nm_status recognise(nm_trace_file *file, nm_error *err)
{
    struct stat info;
    void *data;
    bool is_trace;

    if (fstat(file->fd, &info) != 0)
        return nm_fail_errno(err, errno, "cannot read");
    if (!S_ISREG(info.st_mode) || info.st_size == 0)
        return NM_END;
    file->bytes = (uint64_t)info.st_size;
    uint64_t bytes = nm_io_data_end(file->fd, file->bytes);
    if (bytes == 0)
        return NM_END;
    data = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file->fd, 0);
    if (data == MAP_FAILED)
        return nm_fail_errno(err, errno, "cannot map");
    is_trace = read_first_header((nm_bytes){data, bytes}, file);
    munmap(data, bytes);
    return is_trace ? NM_OK : NM_END;
}

static nm_trace_content count_whole(nm_bytes bytes)
{
    nm_trace_content content = {0};
    nm_block_header header;
    uint64_t vain_bytes = 0;

    for (size_t at = 0; at < bytes.len && nm_block_find(bytes, &at, &vain_bytes, &header) == NM_OK;) {
        size_t header_bytes = (size_t)(header.block_bytes - header.frame_bytes);
        bool is_whole = header.block_bytes <= bytes.len - at &&
                        nm_checksum(bytes.data + at + header_bytes, header.frame_bytes) == header.frame_checksum;

        at += is_whole ? (size_t)header.block_bytes : header_bytes;
        content.event_count += is_whole ? header.event_count : 0;
        content.block_count += is_whole;
    }
    return content;
}

nm_trace_content nm_trace_files_content(const char *path)
{
    nm_trace_content content = {0};
    struct stat info;
    uint64_t bytes = 0;
    int fd = -1;

    if (nm_io_open(path, O_RDONLY | O_NONBLOCK | nm_door_read_flags(path), 0, &fd, NULL) != NM_OK)
        return content;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
        bytes = nm_io_data_end(fd, (uint64_t)info.st_size);
    void *data = bytes == 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data != MAP_FAILED) {
        content = count_whole((nm_bytes){data, bytes});
        munmap(data, bytes);
    }
    nm_io_close(fd);
    return content;
}

/* ---- Finding ------------------------------------------------------------------------------------------------------- */

/* Takes over `fd`. */
static nm_status add_open(nm_trace_files *files, int fd, const char *path, nm_error *err)
{
    nm_trace_file file = {.path = strdup(path), .fd = fd};
    nm_status status = file.path == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : NM_OK;

    if (status == NM_OK)
        status = recognise(&file, err);
    if (files->is_closed) {
        nm_io_close(file.fd);
        file.fd = -1;
    }
    if (status == NM_OK)
        status = nm_array_grow(&files->items, &files->capacity, files->count + 1, sizeof *files->items, err);
    if (status == NM_OK) {
        files->items[files->count++] = file;
        return NM_OK;
    }
    nm_io_close(file.fd);
    free(file.path);
    return status;
}

static nm_status add_file(nm_trace_files *files, const char *path, int flags, nm_error *err)
{
    int fd = -1;
    nm_status status = nm_io_open(path, flags | O_NONBLOCK | nm_door_read_flags(path), 0, &fd, err);

    return status == NM_OK ? add_open(files, fd, path, err) : status;
}

/* Is the entry `name` with a number behind it? NULL: any is. */
static bool is_named(const char *entry, const char *name)
{
    size_t stem = nm_trace_files_stem(entry);

    return name == NULL || (stem == strlen(name) && entry[stem] != 0 && memcmp(entry, name, stem) == 0);
}

/* The next entry of the folder that is named so and leads to a file; a pipe is not even opened. NULL: there is none. */
static const char *next_file(DIR *stream, const char *name)
{
    const struct dirent *entry;

    while ((entry = readdir(stream)) != NULL)
        if (is_named(entry->d_name, name) && nm_door_leads_to_at(dirfd(stream), entry->d_name, S_IFREG))
            return entry->d_name;
    return NULL;
}

/* What is found in a folder of the user's may be a link to what is read, but not to what is written to; in one that was handed over
 * none is followed. */
static nm_status add_entry(nm_trace_files *files, int folder, const char *folder_path, const char *entry, int flags,
                           nm_error *err)
{
    bool follows = (flags & O_ACCMODE) == O_RDONLY && !nm_door_is_handed(folder_path);
    char *path = NULL;
    int fd = -1;
    nm_status status = asprintf(&path, "%s/%s", folder_path, entry) < 0
                           ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                           : NM_OK;

    if (status == NM_OK)
        status = follows ? nm_io_open_at(folder, entry, flags | O_NONBLOCK, 0, &fd, err)
                         : nm_door_open_at(folder, entry, flags | O_NONBLOCK, 0, &fd, err);
    if (status == NM_OK)
        status = add_open(files, fd, path, err);
    free(path);
    return status == NM_END ? NM_OK : status;
}

/* Adds what is a trace among the entries of `folder`: all, or those that are `name` with a number behind it. */
static nm_status add_folder(nm_trace_files *files, const char *folder, const char *name, int flags, nm_error *err)
{
    DIR *stream = nm_door_list(folder);
    nm_status status = stream == NULL ? nm_fail_errno(err, errno, "cannot read the folder") : NM_OK;
    const char *entry;

    while (status == NM_OK && (entry = next_file(stream, name)) != NULL)
        status = add_entry(files, dirfd(stream), folder, entry, flags, err);
    if (stream != NULL)
        closedir(stream);
    return status;
}

/* The folder that the path is in; NULL: no memory. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static bool is_begun_trace(int folder, const char *name)
{
    struct stat info;
    uint8_t magic[4];
    size_t got = 0;
    int fd;

    if (nm_door_open_at(folder, name, O_RDONLY | O_NONBLOCK, 0, &fd, NULL) != NM_OK)
        return false;
    nm_status status =
        fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) ? NM_END : nm_io_read(fd, magic, sizeof magic, &got, NULL);
    nm_io_close(fd);
    return status == NM_OK && (got == 0 || (got == sizeof magic && nm_get_u32(magic) == NM_BLOCK_MAGIC));
}

size_t nm_trace_files_visit(const char *name, void (*visit)(void *context, int folder, const char *part), void *context)
{
    char *folder = folder_of(name);
    DIR *stream = folder == NULL ? NULL : nm_door_list(folder);
    const char *entry;
    size_t count = 0;

    while (stream != NULL && (entry = next_file(stream, nm_path_name(name))) != NULL)
        if (is_begun_trace(dirfd(stream), entry)) {
            count++;
            if (visit != NULL)
                visit(context, dirfd(stream), entry);
        }
    if (stream != NULL)
        closedir(stream);
    free(folder);
    return count;
}

static nm_status add_numbered(nm_trace_files *files, const char *path, int flags, nm_error *err)
{
    char *folder = folder_of(path);
    size_t before = files->count;
    nm_status status = folder == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                                      : add_folder(files, folder, nm_path_name(path), flags, NULL);

    free(folder);
    if (status == NM_OK && files->count > before)
        return NM_OK;
    return status == NM_ERR_MEMORY ? status : nm_fail_errno(err, ENOENT, "cannot open");
}

static nm_status add_path(nm_trace_files *files, const char *path, int flags, nm_error *err)
{
    struct stat info;
    size_t before = files->count;
    nm_status status;

    if (!nm_door_look(path, &info))
        return add_numbered(files, path, flags, err);
    if (!S_ISDIR(info.st_mode)) {
        status = add_file(files, path, flags, err);
        return status == NM_END ? nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "%.100s is no trace", path) : status;
    }
    status = add_folder(files, path, NULL, flags, err);
    if (status == NM_OK && files->count == before)
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "%s", nm_spoken(NM_TRACE_FILES_NONE));
    return status;
}

/* ---- Order --------------------------------------------------------------------------------------------------------- */

static int by_index(const void *left, const void *right)
{
    const nm_trace_file *a = left;
    const nm_trace_file *b = right;

    if (a->block_index != b->block_index)
        return a->block_index > b->block_index ? 1 : -1;
    return strcmp(a->path, b->path);
}

/* Names one file of each recording, as far as the line has room. */
static nm_status refuse_several(const nm_trace_files *files, nm_error *err)
{
    char names[96] = "";
    size_t len = 0;

    for (size_t i = 0; i < files->count; i++) {
        const char *name = nm_path_name(files->items[i].path);
        bool is_new = true;

        for (size_t j = 0; j < i; j++)
            is_new = is_new && memcmp(files->items[j].trace_id, files->items[i].trace_id, 16) != 0;
        if (!is_new)
            continue;
        if (len + strlen(name) + 8 > sizeof names) {
            len += (size_t)snprintf(names + len, sizeof names - len, ", ...");
            break;
        }
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%.*s", len == 0 ? "" : ", ",
                                (int)nm_trace_files_stem(name), name);
    }
    return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "several recordings (%s): give one of them", names);
}

nm_status nm_trace_files_open(const char *const *paths, size_t path_count, int flags, nm_trace_files *out,
                              nm_error *err)
{
    nm_status status = NM_OK;

    *out = (nm_trace_files){0};
    for (size_t i = 0; i < path_count && status == NM_OK; i++)
        status = add_path(out, paths[i], flags, err);
    if (status == NM_OK && out->count > 0)
        qsort(out->items, out->count, sizeof *out->items, by_index);
    for (size_t i = 1; i < out->count && status == NM_OK; i++)
        if (memcmp(out->items[i].trace_id, out->items[0].trace_id, sizeof out->items[0].trace_id) != 0)
            status = refuse_several(out, err);
    if (status != NM_OK)
        nm_trace_files_close(out);
    return status;
}

nm_status nm_trace_files_find(const char *path, nm_trace_files *out, nm_error *err)
{
    nm_status status;

    *out = (nm_trace_files){.is_closed = true};
    status = nm_trace_files_is_single(path)    ? add_file(out, path, O_RDONLY, err)
             : nm_door_leads_to(path, S_IFDIR) ? add_folder(out, path, NULL, O_RDONLY, err)
                                               : add_numbered(out, path, O_RDONLY, err);
    if (status != NM_OK && status != NM_END)
        nm_trace_files_close(out);
    return status == NM_END ? NM_OK : status;
}

void nm_trace_files_close(nm_trace_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        nm_io_close(files->items[i].fd);
        free(files->items[i].path);
    }
    free(files->items);
    *files = (nm_trace_files){0};
}
