/* SPDX-License-Identifier: Apache-2.0
 *
 * A metric is a HELP line, a TYPE line and then all its samples. No two samples may have the same labels, or node_exporter
 * takes nothing of the file: heaps of which the labels say the same, of a process number that was used again, are one.
 * Sites are left out: their names would be series without end.
 */
#include "tool/top/prometheus.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "say/names.h"
#include "store/publish.h"

typedef struct sample { /* of one heap */
    char *labels;       /* owned: within the braces */
    bool has_reserved;
    uint64_t live_bytes, live_count, reserved_bytes, peak_bytes;
} sample;

typedef struct sample_list {
    sample *items; /* owned */
    size_t count;
} sample_list;

/* ---- Labels -------------------------------------------------------------------------------------------------------- */

static void put_label(FILE *out, const char *name, const char *text, size_t len)
{
    size_t bytes;

    fprintf(out, "%s=\"", name);
    for (size_t at = 0; at < len; at += bytes) {
        uint32_t character;

        bytes = nm_shown_next(text + at, len - at, &character);
        if (character == '"' || character == '\\')
            fputc('\\', out);
        if (nm_shown_is_safe(character))
            fwrite(text + at, 1, bytes, out);
        else
            fputc('?', out);
    }
    fputc('"', out);
}

static void put_number(FILE *out, const char *name, int64_t value)
{
    if (value != NM_UNKNOWN_NUMBER)
        fprintf(out, ",%s=\"%" PRId64 "\"", name, value);
}

static nm_status make_labels(const char *trace, const top_heap *heap, char **labels, nm_error *err)
{
    size_t len = 0;
    FILE *out = open_memstream(labels, &len);
    const char *level = nm_heap_level_name(heap->heap.now.level);

    if (out == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    put_label(out, "trace", trace, strlen(trace));
    put_number(out, "rank", heap->rank);
    put_number(out, "pid", heap->heap.pid);
    put_number(out, "device", heap->heap.device_number);
    fputc(',', out);
    put_label(out, "heap", (const char *)heap->heap.name.data, heap->heap.name.len);
    fputc(',', out);
    put_label(out, "level", level, strlen(level));
    return fclose(out) == 0 ? NM_OK : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
}

/* ---- Heaps --------------------------------------------------------------------------------------------------------- */

static int compare_labels(const void *left, const void *right)
{
    return strcmp(((const sample *)left)->labels, ((const sample *)right)->labels);
}

static void free_samples(sample_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].labels);
    free(list->items);
}

static void merge_samples(sample_list *list)
{
    size_t kept = 0;

    qsort(list->items, list->count, sizeof *list->items, compare_labels);
    for (size_t i = 0; i < list->count; i++) {
        sample *last = kept == 0 ? NULL : &list->items[kept - 1], *now = &list->items[i];

        if (last == NULL || strcmp(last->labels, now->labels) != 0) {
            list->items[kept++] = *now;
            continue;
        }
        last->live_bytes += now->live_bytes;
        last->live_count += now->live_count;
        last->reserved_bytes += now->reserved_bytes;
        last->peak_bytes = now->peak_bytes > last->peak_bytes ? now->peak_bytes : last->peak_bytes;
        free(now->labels);
    }
    list->count = kept;
}

static nm_status gather(const show_frame *frame, sample_list *list, nm_error *err)
{
    const top_look *look = frame->look;
    nm_status status = NM_OK;

    list->items = calloc(look->heap_count + 1, sizeof *list->items);
    if (list->items == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    for (size_t i = 0; i < look->heap_count && status == NM_OK; i++) {
        const nm_heap_gauge *now = &look->heaps[i].heap.now;

        if (look->heaps[i].is_over)
            continue;
        list->items[list->count++] = (sample){.has_reserved = now->level == NM_LEVEL_POOL,
                                              .live_bytes = now->live_bytes,
                                              .live_count = now->live_count,
                                              .reserved_bytes = now->reserved_bytes,
                                              .peak_bytes = now->peak_bytes};
        status = make_labels(frame->name, &look->heaps[i], &list->items[list->count - 1].labels, err);
    }
    if (status == NM_OK)
        merge_samples(list);
    return status;
}

/* ---- Metrics ------------------------------------------------------------------------------------------------------- */

static void put_head(FILE *out, const char *name, const char *type, const char *help)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

typedef enum heap_value { HEAP_LIVE_BYTES, HEAP_LIVE_COUNT, HEAP_RESERVED_BYTES, HEAP_PEAK_BYTES } heap_value;

static uint64_t value_of(const sample *heap, heap_value value)
{
    return value == HEAP_LIVE_BYTES       ? heap->live_bytes
           : value == HEAP_LIVE_COUNT     ? heap->live_count
           : value == HEAP_RESERVED_BYTES ? heap->reserved_bytes
                                          : heap->peak_bytes;
}

static void put_heaps(FILE *out, const sample_list *list, heap_value value, const char *name, const char *help)
{
    bool has_head = false;

    for (size_t i = 0; i < list->count; i++) {
        if (value == HEAP_RESERVED_BYTES && !list->items[i].has_reserved)
            continue;
        if (!has_head)
            put_head(out, name, "gauge", help);
        has_head = true;
        fprintf(out, "%s{%s} %" PRIu64 "\n", name, list->items[i].labels, value_of(&list->items[i], value));
    }
}

static void put_one(FILE *out, const show_frame *frame, const char *name, const char *type, uint64_t value,
                    const char *help)
{
    put_head(out, name, type, help);
    fprintf(out, "%s{", name);
    put_label(out, "trace", frame->name, strlen(frame->name));
    fprintf(out, "} %" PRIu64 "\n", value);
}

static void put_all(FILE *out, const show_frame *frame, const sample_list *list)
{
    const nm_source_summary_data *summary = frame->summary;
    const top_look *look = frame->look;

    put_one(out, frame, "npumem_recording_is_running", "gauge", frame->state == NM_STATE_RUNNING,
            "1: it goes on; 0: it has ended, or nobody writes it any more.");
    put_one(out, frame, "npumem_processes", "gauge", look->process_count - look->over_count, "Processes that run.");
    put_one(out, frame, "npumem_events_total", "counter", summary->events_ingested, "Events that were read.");
    put_one(out, frame, "npumem_events_lost_total", "counter",
            summary->events_dropped + summary->events_damaged + summary->events_unrecovered,
            "Events that happened and are in no file, or cannot be read.");
    if (look->host_bytes > 0)
        put_one(out, frame, "npumem_host_anonymous_bytes", "gauge", look->host_bytes,
                "Anonymous host memory of the processes.");
    put_heaps(out, list, HEAP_LIVE_BYTES, "npumem_heap_live_bytes", "Bytes of the heap that are allocated.");
    put_heaps(out, list, HEAP_LIVE_COUNT, "npumem_heap_live_allocations",
              "Allocations of the heap that are not freed.");
    put_heaps(out, list, HEAP_RESERVED_BYTES, "npumem_heap_reserved_bytes",
              "Bytes that the pool holds of the device, used or not.");
    put_heaps(out, list, HEAP_PEAK_BYTES, "npumem_heap_peak_bytes", "Most that was allocated of the heap at once.");
}

nm_status top_write_prometheus(const char *path, const show_frame *frame, nm_error *err)
{
    sample_list list = {0};
    nm_draft draft = {0};
    FILE *out = NULL;
    nm_status status = gather(frame, &list, err);

    if (status == NM_OK)
        status = nm_draft_begin(path, &draft, err);
    if (status == NM_OK && (out = nm_draft_stream(&draft)) == NULL)
        status = nm_fail_write(err, errno);
    if (out != NULL)
        put_all(out, frame, &list);
    if (out != NULL && fclose(out) != 0 && status == NM_OK)
        status = nm_fail_write(err, errno);
    if (status == NM_OK)
        status = nm_draft_publish(&draft, true, err);
    nm_draft_end(&draft);
    free_samples(&list);
    return status;
}
