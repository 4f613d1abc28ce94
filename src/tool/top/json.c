/* SPDX-License-Identifier: Apache-2.0
 *
 * One object a line, with the names that tables and views have.
 */
#include <stdlib.h>

#include "base/spoken.h"
#include "say/answer.h"
#include "say/names.h"
#include "say/spoken.h"
#include "tool/top/show.h"

static void put_number(nm_json *json, const char *name, int64_t value)
{
    nm_json_known(json, name, value != NM_UNKNOWN_NUMBER, value);
}

static void put_count(nm_json *json, const char *name, uint64_t count)
{
    nm_json_int(json, name, (int64_t)count);
}

static void put_step(void *context, const nm_watch_step *step)
{
    nm_json *json = context;

    nm_json_begin(json, NULL, '{');
    nm_json_int(json, "pid", step->pid);
    nm_json_int(json, "number", step->number);
    put_count(json, "count", step->count);
    nm_json_end(json, '}');
}

static void put_parts(nm_json *json, const nm_heap_gauge *now)
{
    if (now->reserved_bytes == 0)
        return;
    nm_json_begin(json, "parts", '{');
    for (nm_gauge_part part = 0; part < NM_GAUGE_PARTS; part++)
        if (now->part_bytes[part] != 0)
            put_count(json, show_part(part), now->part_bytes[part]);
    nm_json_end(json, '}');
}

static void put_heap(nm_json *json, const top_heap *heap)
{
    const nm_heap_gauge *now = &heap->heap.now;

    nm_json_begin(json, NULL, '{');
    put_number(json, "rank", heap->rank);
    put_number(json, "pid", heap->heap.pid);
    put_number(json, "device", heap->heap.device_number);
    nm_json_bytes(json, "heap", heap->heap.name);
    nm_json_text(json, "level", nm_heap_level_name(now->level));
    nm_json_bool(json, "is_over", heap->is_over);
    put_count(json, "live_bytes", now->live_bytes);
    put_count(json, "live_count", now->live_count);
    put_number(json, "reserved_bytes", now->level == NM_LEVEL_POOL ? (int64_t)now->reserved_bytes : NM_UNKNOWN_NUMBER);
    put_count(json, "peak_bytes", now->peak_bytes);
    if (now->level == NM_LEVEL_DRIVER)
        put_count(json, "segment_bytes", now->segment_bytes);
    put_parts(json, now);
    nm_json_int(json, "growth_bytes", heap->growth_bytes);
    nm_json_end(json, '}');
}

static void put_heaps(nm_json *json, const top_look *look)
{
    top_heap *heaps = NULL;

    if (json->status == NM_OK)
        json->status = show_sort_heaps(look, &heaps, json->err);
    nm_json_begin(json, "heaps", '[');
    for (size_t i = 0; i < look->heap_count && json->status == NM_OK; i++)
        put_heap(json, &heaps[i]);
    nm_json_end(json, ']');
    free(heaps);
}

static void put_sites(nm_json *json, const show_frame *frame, show_order order)
{
    top_site *sites = NULL;
    size_t count = 0;

    if (json->status == NM_OK)
        json->status = show_choose(frame->look, order, &sites, &count, json->err);
    nm_json_begin(json, order == SHOW_LARGEST ? "largest_sites" : "growing_sites", '[');
    for (size_t i = 0; i < count && i < frame->site_count && json->status == NM_OK; i++) {
        nm_json_begin(json, NULL, '{');
        nm_json_bytes(json, "site", sites[i].name);
        nm_json_text(json, "level", nm_heap_level_name(sites[i].level));
        put_count(json, "live_bytes", sites[i].live_bytes);
        put_count(json, "live_count", sites[i].live_count);
        nm_json_int(json, "growth_bytes", sites[i].growth_bytes);
        nm_json_end(json, '}');
    }
    nm_json_end(json, ']');
    put_count(json, order == SHOW_LARGEST ? "largest_site_count" : "growing_site_count", count);
    free(sites);
}

nm_status show_json(const show_frame *frame, nm_buffer *out, nm_error *err)
{
    const nm_source_summary_data *summary = frame->summary;
    const top_look *look = frame->look;
    nm_json json = {.out = out, .err = err};

    nm_answer_json_begin(&json, "top", NULL, nm_spoken_language());
    nm_json_text(&json, "trace", frame->name);
    nm_json_text(&json, "state", show_state(frame->state));
    nm_json_text(&json, "state_text", nm_spoken(show_state_text(frame->state)));
    put_number(&json, "ns", look->time_ns);
    put_number(&json, "growth_ns", look->growth_ns == 0 ? NM_UNKNOWN_NUMBER : look->growth_ns);
    put_count(&json, "process_count", look->process_count);
    put_count(&json, "ended_process_count", look->over_count);
    put_count(&json, "events_ingested", summary->events_ingested);
    put_count(&json, "events_dropped", summary->events_dropped);
    put_count(&json, "events_damaged", summary->events_damaged);
    put_count(&json, "events_unrecovered", summary->events_unrecovered);
    nm_json_begin(&json, "steps", '[');
    nm_watch_steps(look->watch, put_step, &json);
    nm_json_end(&json, ']');
    put_heaps(&json, look);
    if (look->host_bytes > 0) {
        put_count(&json, "host_anonymous_bytes", look->host_bytes);
        nm_json_int(&json, "host_anonymous_growth_bytes", look->host_growth_bytes);
    }
    put_sites(&json, frame, SHOW_LARGEST);
    put_sites(&json, frame, SHOW_GROWING);
    return nm_answer_json_end(&json);
}
