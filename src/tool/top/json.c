/* SPDX-License-Identifier: Apache-2.0
 *
 * One object a line, with the names that tables and views have. What is no UTF-8 becomes U+FFFD, and what moves a terminal is
 * escaped, so that a line is JSON whatever names a program has.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "tool/top/show.h"

typedef struct json_text {
    nm_buffer *out;
    nm_error *err;
    nm_status status;
    bool has_one; /* in the list that is being written */
} json_text;

static void put(json_text *json, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(json_text *json, const char *format, ...)
{
    char text[512];
    va_list values;

    va_start(values, format);
    int len = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (json->status == NM_OK)
        json->status =
            nm_buffer_append(json->out, text, len < (int)sizeof text ? (size_t)len : sizeof text - 1, json->err);
}

static void put_text(json_text *json, nm_bytes text)
{
    size_t bytes;

    put(json, "\"");
    for (size_t at = 0; at < text.len && json->status == NM_OK; at += bytes) {
        const char *here = (const char *)text.data + at;
        char escaped[NM_SHOWN_ESCAPE_BYTES];
        uint32_t character;

        bytes = nm_shown_next(here, text.len - at, &character);
        put(json, "%.*s", (int)nm_shown_escape(escaped, character, here, bytes), escaped);
    }
    put(json, "\"");
}

static void put_number(json_text *json, const char *name, int64_t value)
{
    if (value == NM_UNKNOWN_NUMBER)
        put(json, "\"%s\":null,", name);
    else
        put(json, "\"%s\":%" PRId64 ",", name, value);
}

static void begin_item(json_text *json)
{
    put(json, json->has_one ? ",{" : "{");
    json->has_one = true;
}

static void put_step(void *context, const nm_watch_step *step)
{
    json_text *json = context;

    begin_item(json);
    put(json, "\"pid\":%" PRId64 ",\"number\":%" PRId64 ",\"count\":%" PRIu64 "}", step->pid, step->number,
        step->count);
}

static void put_parts(json_text *json, const nm_heap_gauge *now)
{
    const char *comma = "";

    if (now->reserved_bytes == 0)
        return;
    put(json, "\"parts\":{");
    for (nm_gauge_part part = 0; part < NM_GAUGE_PARTS; part++) {
        if (now->part_bytes[part] == 0)
            continue;
        put(json, "%s\"%s\":%" PRIu64, comma, show_part(part), now->part_bytes[part]);
        comma = ",";
    }
    put(json, "},");
}

static void put_heap(json_text *json, const top_heap *heap)
{
    const nm_heap_gauge *now = &heap->heap.now;

    begin_item(json);
    put_number(json, "rank", heap->rank);
    put_number(json, "pid", heap->heap.pid);
    put_number(json, "device", heap->heap.device_ordinal);
    put(json, "\"heap\":");
    put_text(json, heap->heap.name);
    put(json, ",\"level\":\"%s\",\"is_over\":%s,", show_level(now->level), heap->is_over ? "true" : "false");
    put_number(json, "live_bytes", (int64_t)now->live_bytes);
    put_number(json, "live_count", (int64_t)now->live_count);
    put_number(json, "reserved_bytes", now->level == NM_LEVEL_POOL ? (int64_t)now->reserved_bytes : NM_UNKNOWN_NUMBER);
    put_number(json, "peak_bytes", (int64_t)now->peak_bytes);
    if (now->level == NM_LEVEL_DRIVER)
        put_number(json, "segment_bytes", (int64_t)now->segment_bytes);
    put_parts(json, now);
    put(json, "\"growth_bytes\":%" PRId64 "}", heap->growth_bytes);
}

static void put_heaps(json_text *json, const top_look *look)
{
    top_heap *heaps = NULL;

    if (json->status == NM_OK)
        json->status = show_sort_heaps(look, &heaps, json->err);
    json->has_one = false;
    put(json, ",\"heaps\":[");
    for (size_t i = 0; i < look->heap_count && json->status == NM_OK; i++)
        put_heap(json, &heaps[i]);
    put(json, "]");
    free(heaps);
}

static void put_sites(json_text *json, const show_frame *frame, show_order order)
{
    top_site *sites = NULL;
    size_t count = 0;

    if (json->status == NM_OK)
        json->status = show_choose(frame->look, order, &sites, &count, json->err);
    json->has_one = false;
    put(json, order == SHOW_LARGEST ? ",\"largest_sites\":[" : ",\"growing_sites\":[");
    for (size_t i = 0; i < count && i < frame->site_count && json->status == NM_OK; i++) {
        begin_item(json);
        put(json, "\"site\":");
        put_text(json, sites[i].name);
        put(json,
            ",\"level\":\"%s\",\"live_bytes\":%" PRIu64 ",\"live_count\":%" PRIu64 ",\"growth_bytes\":%" PRId64 "}",
            show_level(sites[i].level), sites[i].live_bytes, sites[i].live_count, sites[i].growth_bytes);
    }
    put(json, "],\"%s_site_count\":%zu", order == SHOW_LARGEST ? "largest" : "growing", count);
    free(sites);
}

nm_status show_json(const show_frame *frame, nm_buffer *out, nm_error *err)
{
    const nm_source_summary_data *summary = frame->summary;
    json_text json = {.out = out, .err = err, .status = NM_OK};

    put(&json, "{\"trace\":");
    put_text(&json, (nm_bytes){(const uint8_t *)frame->name, strlen(frame->name)});
    put(&json, ",\"state\":\"%s\",", show_state(frame->state));
    put_number(&json, "ns", frame->look->time_ns);
    put_number(&json, "growth_ns", frame->look->growth_ns == 0 ? NM_UNKNOWN_NUMBER : frame->look->growth_ns);
    put(&json, "\"process_count\":%" PRIu64 ",\"ended_process_count\":%" PRIu64 ",", frame->look->process_count,
        frame->look->over_count);
    put(&json,
        "\"events_ingested\":%" PRIu64 ",\"events_dropped\":%" PRIu64 ",\"events_damaged\":%" PRIu64
        ",\"events_unrecovered\":%" PRIu64 ",\"steps\":[",
        summary->events_ingested, summary->events_dropped, summary->events_damaged, summary->events_unrecovered);
    nm_watch_steps(frame->look->watch, put_step, &json);
    put(&json, "]");
    put_heaps(&json, frame->look);
    if (frame->look->host_bytes > 0)
        put(&json, ",\"host_anonymous_bytes\":%" PRIu64 ",\"host_anonymous_growth_bytes\":%" PRId64,
            frame->look->host_bytes, frame->look->host_growth_bytes);
    put_sites(&json, frame, SHOW_LARGEST);
    put_sites(&json, frame, SHOW_GROWING);
    put(&json, "}\n");
    return json.status;
}
