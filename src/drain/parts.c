/* SPDX-License-Identifier: Apache-2.0
 *
 * A list of what each part holds, and the two questions asked of it: is the last one large enough, and can the first
 * one go? Only the first is ever removed, or the one that was just begun, and it only if it is the file that was made
 * for it. A part that cannot be removed is forgotten all the same: the recording goes on.
 */
#include "drain/parts.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/door.h"
#include "base/io.h"
#include "base/text.h"
#include "drain/output.h"

#define PARTS_OF_BUDGET     8
#define PARTS_OF_STEPS      4
#define STEP_PART_BYTES     (UINT64_C(256) << 20) /* where steps alone are counted, a part is no longer than this */
#define NUMBERS_TRIED       1000
#define KEYFRAMES_OF_A_PART 4 /* a part is at least so often as long as what it begins with */

char *nm_part_path(const char *name, uint64_t number)
{
    char *path = NULL;

    return asprintf(&path, "%s.%03" PRIu64, name, number) < 0 ? NULL : path;
}

static nm_status add_part(nm_parts *parts, nm_trace_part part, int fd, nm_error *err)
{
    struct stat info;
    nm_status status = nm_array_grow(&parts->items, &parts->capacity, parts->count + 1, sizeof *parts->items, err);

    if (status == NM_OK && fstat(fd, &info) == 0) {
        part.device = info.st_dev;
        part.inode = info.st_ino;
    }
    if (status == NM_OK)
        parts->items[parts->count++] = part;
    return status;
}

nm_status nm_parts_init(nm_parts *parts, const char *name, int first_fd, uint64_t bytes_max, uint64_t steps_max,
                        nm_error *err)
{
    const char *base;

    *parts = (nm_parts){.name = strdup(name), .bytes_max = bytes_max, .steps_max = steps_max};
    if (parts->name == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    parts->folder = nm_door_folder_of(name, &base);
    if (parts->folder < 0)
        return nm_fail_errno(err, errno, "cannot open the folder of the parts");
    return add_part(parts, (nm_trace_part){0}, first_fd, err);
}

void nm_parts_fini(nm_parts *parts)
{
    if (parts->name != NULL)
        nm_io_close(parts->folder);
    free(parts->name);
    free(parts->items);
    *parts = (nm_parts){0};
}

static nm_trace_part *last(const nm_parts *parts)
{
    return &parts->items[parts->count - 1];
}

uint64_t nm_parts_size(const nm_parts *parts)
{
    return parts->bytes_max == 0 ? STEP_PART_BYTES : parts->bytes_max / PARTS_OF_BUDGET;
}

bool nm_parts_is_step_due(const nm_parts *parts, uint64_t step_count)
{
    uint64_t steps = parts->steps_max / PARTS_OF_STEPS;

    return parts->count > 0 && parts->steps_max > 0 && step_count - last(parts)->step_count >= (steps == 0 ? 1 : steps);
}

bool nm_parts_is_due(const nm_parts *parts, uint64_t step_count, bool is_pressed)
{
    uint64_t bytes = nm_parts_size(parts);

    if (parts->count == 0)
        return false;
    if (is_pressed)
        bytes *= 2;
    if (bytes < KEYFRAMES_OF_A_PART * parts->keyframe_bytes)
        bytes = KEYFRAMES_OF_A_PART * parts->keyframe_bytes;
    return last(parts)->bytes >= bytes || (!is_pressed && nm_parts_is_step_due(parts, step_count));
}

static nm_status create_part(nm_parts *parts, nm_trace_part part, int *fd, nm_error *err)
{
    char *path = nm_part_path(parts->name, part.number);
    nm_status status = path == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : NM_OK;

    if (status == NM_OK)
        status = nm_output_create_at(parts->folder, nm_path_name(path), fd, err);
    if (status == NM_OK) {
        status = add_part(parts, part, *fd, err);
        if (status != NM_OK) {
            nm_io_close(*fd);
            nm_door_remove_at(parts->folder, nm_path_name(path));
        }
    }
    free(path);
    return status;
}

/* Something may lie there: a number is left out then. */
nm_status nm_parts_begin(nm_parts *parts, uint64_t step_count, int *fd, nm_error *err)
{
    nm_trace_part part = {.number = last(parts)->number, .step_count = step_count};
    nm_status status = NM_ERR_EXISTS;

    for (int i = 0; i < NUMBERS_TRIED && status == NM_ERR_EXISTS; i++) {
        part.number++;
        status = create_part(parts, part, fd, err);
    }
    return status;
}

static void remove_part(const nm_parts *parts, size_t index)
{
    const nm_trace_part *part = &parts->items[index];
    char *path = nm_part_path(parts->name, part->number);
    struct stat info;

    if (path != NULL && nm_door_look_at(parts->folder, nm_path_name(path), &info) && info.st_dev == part->device &&
        info.st_ino == part->inode)
        nm_door_remove_at(parts->folder, nm_path_name(path));
    free(path);
}

void nm_parts_give_up(nm_parts *parts)
{
    assert(parts->count > 1);
    remove_part(parts, parts->count - 1);
    parts->count--;
}

void nm_parts_written(nm_parts *parts, uint64_t bytes)
{
    if (parts->count > 0)
        last(parts)->bytes += bytes;
}

uint64_t nm_parts_bytes(const nm_parts *parts)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < parts->count; i++)
        bytes += parts->items[i].bytes;
    return bytes;
}

bool nm_parts_drop_oldest(nm_parts *parts)
{
    /* A part in which nothing stands yet cannot be read: the one before it is needed. */
    size_t needed = parts->count > 0 && last(parts)->bytes == 0 ? 2 : 1;

    if (parts->count <= needed)
        return false;
    remove_part(parts, 0);
    parts->count--;
    memmove(parts->items, parts->items + 1, parts->count * sizeof *parts->items);
    return true;
}

static bool can_go(const nm_parts *parts, uint64_t more_bytes, uint64_t step_count)
{
    if (parts->count < 2)
        return false;
    if (parts->bytes_max > 0)
        return nm_parts_bytes(parts) + more_bytes - parts->items[0].bytes >= parts->bytes_max;
    /* One more than asked for: processes do not begin a step at the same time. */
    return step_count - parts->items[1].step_count > parts->steps_max;
}

void nm_parts_trim(nm_parts *parts, uint64_t more_bytes, uint64_t step_count)
{
    while (can_go(parts, more_bytes, step_count) && nm_parts_drop_oldest(parts))
        ;
}
