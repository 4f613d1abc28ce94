/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of what is shown is total, so that a screen stands still while nothing changes: by bytes, then by name.
 */
#include "tool/top/show.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cells.h"
#include "base/human.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "say/names.h"
#include "say/spoken.h"

#define LINE_BYTES 4096
#define HEAD_LINES 2 /* and the empty line and title of each of three lists, which take as much */
#define LIST_LINES 2
#define ROWS_MIN   4 /* of a list that is shown at all */
#define PARTS_MAX  3 /* of a pool, and the rest */
#define PART_CELLS 24

const char *show_part(nm_gauge_part part)
{
    static const char *const words[] = {"used", "pending", "new", "private", "empty", "small", "pinned"};

    return words[part];
}

static const char *const states[] = {[NM_STATE_ENDED] = "ended",
                                     [NM_STATE_RECOVERED] = "recovered",
                                     [NM_STATE_RUNNING] = "recording",
                                     [NM_STATE_KILLED] = "killed",
                                     [NM_STATE_CUT] = "cut off",
                                     [NM_STATE_UNSEEN] = "elsewhere",
                                     [NM_STATE_UNREADABLE] = "not readable"};

const char *show_state(nm_state state)
{
    return states[state];
}

const char *show_state_text(nm_state state)
{
    return state == NM_STATE_UNSEEN       ? "recorded elsewhere"
           : state == NM_STATE_UNREADABLE ? "not known whether it runs (its rings belong to another user)"
                                          : states[state];
}

/* ---- Order --------------------------------------------------------------------------------------------------------- */

static int compare_names(const top_site *a, const top_site *b)
{
    size_t shorter = a->name.len < b->name.len ? a->name.len : b->name.len;
    int order = shorter == 0 ? 0 : memcmp(a->name.data, b->name.data, shorter);

    if (order != 0)
        return order;
    if (a->name.len != b->name.len)
        return a->name.len < b->name.len ? -1 : 1;
    return (a->level > b->level) - (a->level < b->level);
}

static int by_bytes(const void *x, const void *y)
{
    const top_site *a = x, *b = y;

    return a->live_bytes != b->live_bytes ? (a->live_bytes < b->live_bytes ? 1 : -1) : compare_names(a, b);
}

static int by_growth(const void *x, const void *y)
{
    const top_site *a = x, *b = y;

    return a->growth_bytes != b->growth_bytes ? (a->growth_bytes < b->growth_bytes ? 1 : -1) : compare_names(a, b);
}

nm_status show_choose(const top_look *look, show_order order, top_site **out, size_t *count, nm_error *err)
{
    top_site *sites = calloc(look->site_count + 1, sizeof *sites);

    *count = 0;
    *out = sites;
    if (sites == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    for (size_t i = 0; i < look->site_count; i++)
        if (order == SHOW_LARGEST ? look->sites[i].live_bytes > 0 : look->sites[i].growth_bytes > 0)
            sites[(*count)++] = look->sites[i];
    if (*count > 0)
        qsort(sites, *count, sizeof *sites, order == SHOW_LARGEST ? by_bytes : by_growth);
    return NM_OK;
}

static int by_held(const void *x, const void *y)
{
    const nm_heap_gauge *a = &((const top_heap *)x)->heap.now, *b = &((const top_heap *)y)->heap.now;

    if (((const top_heap *)x)->is_over != ((const top_heap *)y)->is_over)
        return ((const top_heap *)x)->is_over ? 1 : -1;
    if (a->live_bytes != b->live_bytes)
        return a->live_bytes < b->live_bytes ? 1 : -1;
    return (a->heap_id > b->heap_id) - (a->heap_id < b->heap_id);
}

nm_status show_sort_heaps(const top_look *look, top_heap **out, nm_error *err)
{
    *out = calloc(look->heap_count + 1, sizeof **out);
    if (*out == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (look->heap_count == 0)
        return NM_OK;
    memcpy(*out, look->heaps, look->heap_count * sizeof **out);
    qsort(*out, look->heap_count, sizeof **out, by_held);
    return NM_OK;
}

/* ---- Lines --------------------------------------------------------------------------------------------------------- */

typedef struct text_lines {
    const show_frame *frame;
    nm_buffer *out;
    nm_error *err;
    nm_status status; /* of the first line that could not be put */
} text_lines;

static void put(text_lines *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(text_lines *text, const char *format, ...)
{
    char line[LINE_BYTES], shown[LINE_BYTES];
    va_list values;

    if (text->status != NM_OK)
        return;
    va_start(values, format);
    int len = vsnprintf(line, sizeof line, format, values);
    va_end(values);
    size_t kept = len < 0 ? 0 : len < (int)sizeof line ? (size_t)len : sizeof line - 1;
    nm_cells_text(shown, sizeof shown - 1, line, kept, text->frame->columns);
    strcat(shown, "\n");
    text->status = nm_buffer_append(text->out, shown, strlen(shown), text->err);
}

/* "+1.2 GiB"; "" where nothing changed. */
static const char *signed_bytes(char out[NM_HUMAN_BYTES + 1], int64_t bytes)
{
    if (bytes == 0)
        return "";
    out[0] = bytes < 0 ? '-' : '+';
    nm_human_bytes(out + 1, bytes < 0 && bytes != INT64_MIN ? -bytes : bytes);
    return out;
}

/* "in 60.0 s" */
static const char *growth_title(char out[NM_HUMAN_BYTES + 8], const top_look *look)
{
    char time[NM_HUMAN_BYTES];

    if (look->growth_ns == 0)
        return nm_spoken("growth");
    snprintf(out, NM_HUMAN_BYTES + 8, nm_spoken("in %s"), nm_human_time(time, look->growth_ns));
    return out;
}

static void put_lost(char *out, size_t size, const nm_source_summary_data *summary)
{
    const struct {
        uint64_t count;
        const char *word;
    } losses[] = {{summary->events_dropped, "dropped"},
                  {summary->events_damaged, "damaged"},
                  {summary->events_unrecovered, "unrecovered"}};
    char count[NM_HUMAN_BYTES];
    size_t len = 0;

    out[0] = 0;
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (losses[i].count > 0)
            len += (size_t)snprintf(out + len, size - len, nm_spoken(", %s %s"),
                                    nm_human_count(count, (int64_t)losses[i].count), nm_spoken(losses[i].word));
    if (len == 0)
        snprintf(out, size, "%s", nm_spoken(", nothing lost"));
}

typedef struct step_range {
    int64_t first, last;
    bool is_known;
} step_range;

static void note_step(void *context, const nm_watch_step *step)
{
    step_range *range = context;

    if (!range->is_known || step->number < range->first)
        range->first = step->number;
    if (!range->is_known || step->number > range->last)
        range->last = step->number;
    range->is_known = true;
}

static void put_steps(char *out, size_t size, const top_look *look)
{
    step_range range = {0};

    nm_watch_steps(look->watch, note_step, &range);
    out[0] = 0;
    if (range.is_known && range.first == range.last)
        snprintf(out, size, nm_spoken(", step %" PRId64), range.last);
    else if (range.is_known)
        snprintf(out, size, nm_spoken(", steps %" PRId64 " to %" PRId64), range.first, range.last);
}

static void put_head(text_lines *text)
{
    const show_frame *frame = text->frame;
    const top_look *look = frame->look;
    char lost[200], steps[64], time[NM_HUMAN_BYTES], events[NM_HUMAN_BYTES], state[80];
    uint64_t running = look->process_count - look->over_count;

    put_lost(lost, sizeof lost, frame->summary);
    put_steps(steps, sizeof steps, look);
    if (frame->is_behind)
        snprintf(state, sizeof state, nm_spoken("%.0f %% read"), 100 * (frame->progress < 1 ? frame->progress : 1));
    else
        snprintf(state, sizeof state, "%s", nm_spoken(show_state_text(frame->state)));
    put(text, nm_spoken("%s  %s, %s%s, %" PRIu64 " process%s%s, %s events%s"), frame->name, state,
        look->time_ns == NM_NO_TIME ? nm_spoken("no event yet") : nm_human_time(time, look->time_ns), steps,
        running > 0 ? running : look->process_count,
        (running > 0 ? running : look->process_count) == 1 ? "" : nm_spoken("es"),
        running > 0 ? "" : nm_spoken(" over"), nm_human_count(events, (int64_t)frame->summary->events_ingested), lost);
}

/* ---- Lists --------------------------------------------------------------------------------------------------------- */

static void put_heap(text_lines *text, const top_heap *heap)
{
    char live[NM_HUMAN_BYTES], reserved[NM_HUMAN_BYTES], peak[NM_HUMAN_BYTES], growth[NM_HUMAN_BYTES + 1];
    char device[40] = "", rank[40] = "", pid[40] = "", name[LINE_BYTES];
    const nm_heap_gauge *now = &heap->heap.now;

    if (heap->heap.device_number != NM_UNKNOWN_NUMBER)
        snprintf(device, sizeof device, nm_spoken("  device %" PRId64), heap->heap.device_number);
    if (heap->rank != NM_UNKNOWN_NUMBER)
        snprintf(rank, sizeof rank, "  rank %" PRId64, heap->rank);
    if (text->frame->look->process_count > 1)
        snprintf(pid, sizeof pid, "  pid %" PRId64, heap->heap.pid);
    snprintf(name, sizeof name, "%.*s", (int)heap->heap.name.len,
             heap->heap.name.len == 0 ? "" : (const char *)heap->heap.name.data);
    put(text, "%11s%11s%11s%12s  %-10s %s%s%s%s%s", nm_human_bytes(live, (int64_t)now->live_bytes),
        now->level == NM_LEVEL_POOL ? nm_human_bytes(reserved, (int64_t)now->reserved_bytes) : "",
        nm_human_bytes(peak, (int64_t)now->peak_bytes), signed_bytes(growth, heap->growth_bytes),
        nm_heap_level_name(now->level), nm_spoken(name), device, rank, pid,
        heap->is_over && text->frame->look->over_count < text->frame->look->process_count ? nm_spoken("  (over)") : "");
}

/* Is there more to say of its memory than that it is used, or in pools? */
static bool has_parts(const top_heap *heap)
{
    const nm_heap_gauge *now = &heap->heap.now;

    return now->level == NM_LEVEL_DRIVER ? now->segment_bytes > 0 && now->segment_bytes < now->live_bytes
                                         : now->part_bytes[NM_GAUGE_USED] < now->reserved_bytes;
}

/* The largest, and then the rest in one. */
static void put_parts(text_lines *text, const top_heap *heap)
{
    char line[LINE_BYTES] = "", bytes[NM_HUMAN_BYTES], heap_name[NM_SAY_HEAP_BYTES], name[NM_SAY_HEAP_BYTES + 64];
    const nm_heap_gauge *now = &heap->heap.now;
    uint64_t rest_bytes = now->reserved_bytes;
    bool is_said[NM_GAUGE_PARTS] = {false};
    size_t len = 0;

    snprintf(heap_name, sizeof heap_name, "%.*s", (int)heap->heap.name.len,
             heap->heap.name.len == 0 ? "" : (const char *)heap->heap.name.data);
    for (int count = 0; count < PARTS_MAX && rest_bytes > 0; count++) {
        nm_gauge_part most = NM_GAUGE_USED;

        for (nm_gauge_part part = 0; part < NM_GAUGE_PARTS; part++)
            if (!is_said[part] && (is_said[most] || now->part_bytes[part] > now->part_bytes[most]))
                most = part;
        is_said[most] = true;
        rest_bytes -= now->part_bytes[most] < rest_bytes ? now->part_bytes[most] : rest_bytes;
        nm_say_component(nm_spoken_language(), "POOL", heap_name, show_part(most), PART_CELLS, name, sizeof name);
        if (now->part_bytes[most] > 0)
            len += (size_t)snprintf(line + len, sizeof line - len, "%s%s %s", count == 0 ? "= " : " + ",
                                    nm_human_bytes(bytes, (int64_t)now->part_bytes[most]), name);
    }
    nm_say_component(nm_spoken_language(), "REST", "", "", PART_CELLS, name, sizeof name);
    if (rest_bytes > 0)
        snprintf(line + len, sizeof line - len, " + %s %s", nm_human_bytes(bytes, (int64_t)rest_bytes), name);
    put(text, "%11s%s", "", line);
}

/* Of driver memory: what pools have is theirs, once a block of them was seen in it. */
static void put_claimed(text_lines *text, const nm_heap_gauge *now)
{
    char claimed[NM_HUMAN_BYTES], other[NM_HUMAN_BYTES];

    put(text, nm_spoken("%11s= %s in pools + %s program, or not yet claimed"), "",
        nm_human_bytes(claimed, (int64_t)now->segment_bytes),
        nm_human_bytes(other, (int64_t)(now->live_bytes - now->segment_bytes)));
}

static size_t count_lines(const top_heap *heaps, size_t count)
{
    size_t lines = count;

    for (size_t i = 0; i < count; i++)
        lines += has_parts(&heaps[i]);
    return lines;
}

/* Of a list: right-aligned titles, how much it grew in which time, and what stands behind. */
static void put_titles(text_lines *text, const char *const *titles, size_t count, const char *growth, const char *last)
{
    char line[LINE_BYTES] = "";
    size_t len = 0;

    for (size_t i = 0; i < count; i++)
        len += (size_t)snprintf(line + len, sizeof line - len, "%*s", nm_spoken_width(11, nm_spoken(titles[i])),
                                nm_spoken(titles[i]));
    put(text, "%s%*s  %s", line, nm_spoken_width(12, growth), growth, nm_spoken(last));
}

static void put_heaps(text_lines *text, size_t most)
{
    const top_look *look = text->frame->look;
    char title[NM_HUMAN_BYTES + 8], live[NM_HUMAN_BYTES], growth[NM_HUMAN_BYTES + 1];
    top_heap *heaps = NULL;

    if (look->heap_count == 0)
        return;
    text->status = text->status == NM_OK ? show_sort_heaps(look, &heaps, text->err) : text->status;
    put(text, "%s", "");
    put_titles(text, (const char *const[]){"live", "reserved", "peak"}, 3, growth_title(title, look), "heap");
    size_t left = text->status == NM_OK ? count_lines(heaps, look->heap_count) : 0;
    for (size_t i = 0; i < look->heap_count && text->status == NM_OK; i++) {
        size_t lines = count_lines(&heaps[i], 1);

        if (left > most && lines + 1 > most) {
            put(text, nm_spoken("%11s%zu more"), nm_spoken("and "), look->heap_count - i);
            break;
        }
        most -= lines;
        left -= lines;
        put_heap(text, &heaps[i]);
        if (lines > 1 && heaps[i].heap.now.level == NM_LEVEL_DRIVER)
            put_claimed(text, &heaps[i].heap.now);
        else if (lines > 1)
            put_parts(text, &heaps[i]);
    }
    free(heaps);
    if (look->host_bytes > 0)
        put(text, "%11s%11s%11s%12s  %-10s %s", nm_human_bytes(live, (int64_t)look->host_bytes), "", "",
            signed_bytes(growth, look->host_growth_bytes), nm_spoken("anonymous"), nm_spoken("host memory"));
}

static void put_sites(text_lines *text, show_order order, size_t most)
{
    char live[NM_HUMAN_BYTES], count[NM_HUMAN_BYTES], growth[NM_HUMAN_BYTES + 1], title[NM_HUMAN_BYTES + 8];
    char some[128];
    const top_look *look = text->frame->look;
    top_site *sites = NULL;
    const char *name = order == SHOW_LARGEST ? "held by" : "growing";
    size_t site_count = 0;

    if (text->status == NM_OK)
        text->status = show_choose(look, order, &sites, &site_count, text->err);
    if (site_count > 0)
        put(text, "%s", "");
    if (site_count > most)
        snprintf(some, sizeof some, nm_spoken("%s, %zu of %zu"), nm_spoken(name), most, site_count);
    if (site_count > 0)
        put_titles(text, (const char *const[]){"live", "count"}, 2, growth_title(title, look),
                   site_count > most ? some : name);
    for (size_t i = 0; i < site_count && i < most; i++)
        put(text, "%11s%11s%12s  %-10s %.*s", nm_human_bytes(live, (int64_t)sites[i].live_bytes),
            nm_human_count(count, (int64_t)sites[i].live_count), signed_bytes(growth, sites[i].growth_bytes),
            nm_heap_level_name(sites[i].level), (int)sites[i].name.len, (const char *)sites[i].name.data);
    free(sites);
}

/* Whole, however wide: it is to be pasted. */
static nm_status put_next(const show_frame *frame, nm_buffer *out, nm_error *err)
{
    char line[4 * PATH_MAX + 256], name[4 * PATH_MAX];
    int len = snprintf(line, sizeof line, nm_spoken("%snext: npumem-ingest %s"), "\n",
                       nm_shown_word(name, sizeof name, frame->name));

    return nm_buffer_append(out, strcat(line, "\n"), (size_t)len + 1, err);
}

/* A terminal's lines are shared out: a third to heaps, what they leave in equal parts to the two lists of sites. */
nm_status show_text(const show_frame *frame, nm_buffer *out, nm_error *err)
{
    text_lines text = {.frame = frame, .out = out, .err = err, .status = NM_OK};
    size_t heaps = count_lines(frame->look->heaps, frame->look->heap_count), sites = frame->site_count, growing = sites;

    if (frame->rows > 0) {
        size_t room = frame->rows > HEAD_LINES + 3 * LIST_LINES ? frame->rows - HEAD_LINES - 3 * LIST_LINES : 0;
        size_t third = room / 3 > ROWS_MIN ? room / 3 : ROWS_MIN;

        heaps = heaps < third ? heaps : third;
        size_t taken = heaps + (frame->look->host_bytes > 0);
        size_t left = room > taken ? room - taken : 0;
        sites = sites < left - left / 2 ? sites : left - left / 2;
        growing = growing < left / 2 ? growing : left / 2;
    }
    put_head(&text);
    put_heaps(&text, heaps);
    if (sites > 0)
        put_sites(&text, SHOW_LARGEST, sites);
    if (growing > 0)
        put_sites(&text, SHOW_GROWING, growing);
    return text.status == NM_OK && frame->has_next ? put_next(frame, out, err) : text.status;
}
