/* SPDX-License-Identifier: Apache-2.0
 *
 * Headers of blocks are enough: they say how many events a block has, so a trace of many gigabytes is judged by a page in
 * each block. What cannot be read here counts as nothing, since the load will say what is wrong with it.
 */
#include "tool/ingest/size.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/door.h"
#include "base/human.h"
#include "base/io.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "trace/block.h"

/* Measured: the traces of trace_bench and of npu_train come to 46 bytes an event with all rows. Without them sums and
 * timelines are left, which hardly grow with events. */
static const uint64_t bytes_per_event[] = {[NM_RETENTION_ALL] = 46,
                                           [NM_RETENTION_LIVE] = 1,
                                           [NM_RETENTION_NONE] = 1,
                                           [NM_RETENTION_WINDOW] = 1}; /* but for what the window has */

static uint64_t count_events(nm_bytes bytes)
{
    nm_block_header header;
    uint64_t event_count = 0, vain_bytes = 0;

    for (size_t at = 0; at < bytes.len && nm_block_find(bytes, &at, &vain_bytes, &header) == NM_OK;) {
        event_count += header.event_count;
        at = header.block_bytes < bytes.len - at ? at + (size_t)header.block_bytes : bytes.len;
    }
    return event_count;
}

static void add_file(const char *path, bool is_database, ingest_size *size)
{
    struct stat info;
    void *data = MAP_FAILED;
    uint64_t bytes = 0;
    int fd = -1;

    if (!nm_door_look(path, &info) || !S_ISREG(info.st_mode) || info.st_size == 0)
        return;
    if (is_database) {
        size->database_bytes += (uint64_t)info.st_size;
        return;
    }
    if (nm_door_open_file(path, &fd, &info, NULL) == NM_OK)
        bytes = nm_io_data_end(fd, (uint64_t)info.st_size);
    if (bytes > 0)
        data = mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data != MAP_FAILED) {
        size->event_count += count_events((nm_bytes){data, (size_t)bytes});
        munmap(data, (size_t)bytes);
    }
    nm_io_close(fd);
}

ingest_size ingest_size_of(const tool_inputs *inputs)
{
    ingest_size size = {0};

    for (size_t i = 0; i < inputs->count; i++)
        for (size_t j = 0; inputs->items[i].run == NULL && j < inputs->items[i].path_count; j++)
            add_file(inputs->items[i].paths[j], inputs->items[i].is_database, &size);
    return size;
}

uint64_t ingest_size_expected(const ingest_size *size, nm_retention detail)
{
    return size->event_count * bytes_per_event[detail] + size->database_bytes;
}

void ingest_size_say(const ingest_size *size, nm_retention detail, const char *database_path, FILE *out)
{
    const char *limit_text = getenv("NPUMEM_INGEST_NOTE_BYTES");
    uint64_t limit = limit_text == NULL ? INGEST_SIZE_NOTE_BYTES : strtoull(limit_text, NULL, 10);
    uint64_t expected = ingest_size_expected(size, detail);
    char bytes[NM_HUMAN_BYTES], count[NM_HUMAN_BYTES];

    if (expected <= limit)
        return;
    fprintf(out, "npumem-ingest: %s: about %s are expected, of %s events%s\n", database_path,
            nm_human_bytes(bytes, (int64_t)expected), nm_human_count(count, (int64_t)size->event_count),
            detail == NM_RETENTION_ALL && size->event_count > 0 ? " (--detail live keeps fewer rows)" : "");
}

void ingest_size_say_many(int64_t event_count, const char *database_path, FILE *out)
{
    char count[NM_HUMAN_BYTES];

    if (event_count > INGEST_SIZE_MANY_EVENTS)
        nm_shown_print(
            out,
            nm_spoken("npumem-ingest: %s: all rows of %s events; --detail live has the same answers in a few "
                      "megabytes, --window A..B all rows of a stretch\n"),
            database_path, nm_human_count(count, event_count));
}
