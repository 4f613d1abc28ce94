/* SPDX-License-Identifier: Apache-2.0
 *
 * The files are mapped into one reservation of addresses, each on a page of its own: a reader meets zeros between them, as
 * it does behind a block, and nothing is copied. Two files are enough for what the rings can still hold.
 */
#include "tool/common/trace_map.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"

#define FILES_MAX 2

static size_t whole_pages(uint64_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return (size_t)(bytes + page - 1) / page * page;
}

nm_status trace_map_open(const nm_trace_files *files, trace_map *out, nm_error *err)
{
    size_t first = files->count > FILES_MAX ? files->count - FILES_MAX : 0;
    size_t room = 0, at = 0;

    *out = (trace_map){.first_index = first};
    for (size_t i = first; i < files->count; i++)
        room += whole_pages(files->items[i].bytes);
    uint8_t *base = mmap(NULL, room, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return nm_fail_errno(err, errno, "cannot map");
    out->bytes.data = base;
    out->mapped_bytes = room;
    for (size_t i = first; i < files->count; i++) {
        const nm_trace_file *file = &files->items[i];
        uint64_t bytes = nm_io_data_end(file->fd, file->bytes); /* a hole behind it is not searched */

        if (bytes > 0 && mmap(base + at, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, file->fd, 0) == MAP_FAILED) {
            trace_map_close(out);
            return nm_fail_errno(err, errno, "cannot map");
        }
        out->last_at = at;
        out->bytes.len = at + bytes;
        at += whole_pages(bytes);
    }
    return NM_OK;
}

void trace_map_close(trace_map *map)
{
    if (map->bytes.data != NULL)
        munmap((void *)(uintptr_t)map->bytes.data, map->mapped_bytes);
    *map = (trace_map){0};
}
