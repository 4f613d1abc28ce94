/* SPDX-License-Identifier: Apache-2.0
 *
 * Two bounds, each reached once. Until the first is reached nothing is in the window, and until the second is everything that has
 * not ended before the first: so no row waits for a bound that is not known yet. What names a bound is compared with the event
 * at hand alone, but for steps, which processes begin at different times.
 */
#include "store/window.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"

#define WORD_BYTES 64

/* ---- The words ------------------------------------------------------------------------------------------------------ */

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool read_number(const char *text, int64_t *out)
{
    size_t digits = strspn(text, "0123456789");

    if (digits == 0 || digits > 18 || text[digits] != 0)
        return false;
    *out = strtoll(text, NULL, 10);
    return true;
}

/* A bound but for the edges and a number alone. */
static bool read_bound(const char *text, nm_window_bound *out)
{
    static const struct {
        const char *prefix;
        nm_window_kind kind;
    } prefixes[] = {{"step:", NM_WINDOW_STEP}, {"seq:", NM_WINDOW_SEQ}, {"ns:", NM_WINDOW_TIME}};
    uint64_t ns = 0;
    int64_t number = 0;

    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        out->kind = prefixes[i].kind;
        if (begins(text, prefixes[i].prefix))
            return read_number(text + strlen(prefixes[i].prefix), &out->value);
    }
    out->kind = NM_WINDOW_TIME;
    if (read_number(text, &number) || nm_quantity_time(text, 0, &ns, NULL) != NM_OK)
        return false;
    out->value = (int64_t)ns;
    return true;
}

static bool read_mark(const char *text, size_t length, nm_window_bound *out)
{
    static const char prefix[] = "mark:";
    size_t prefix_length = sizeof prefix - 1;

    if (length <= prefix_length || !begins(text, prefix))
        return false;
    *out = (nm_window_bound){.kind = NM_WINDOW_MARK,
                             .mark = {(const uint8_t *)text + prefix_length, length - prefix_length}};
    return true;
}

static bool read_from(const char *text, size_t length, nm_window_bound *out)
{
    char word[WORD_BYTES];

    if (read_mark(text, length, out))
        return true;
    if (length >= sizeof word)
        return false;
    memcpy(word, text, length);
    word[length] = 0;
    return strcmp(word, "begin") == 0 || read_bound(word, out);
}

static bool read_to(const char *text, const nm_window_bound *from, nm_window_bound *out)
{
    if (strcmp(text, "end") == 0 || read_mark(text, strlen(text), out))
        return true;
    out->kind = from->kind;
    return (from->kind == NM_WINDOW_STEP || from->kind == NM_WINDOW_SEQ) && read_number(text, &out->value)
               ? true
               : read_bound(text, out);
}

static nm_status fail_backwards(nm_error *err)
{
    return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "the window ends before it begins");
}

nm_status nm_window_read(const char *text, nm_window_bounds *out, nm_error *err)
{
    const char *dots = strstr(text, "..");

    *out = (nm_window_bounds){.from.kind = NM_WINDOW_EDGE, .to.kind = NM_WINDOW_EDGE};
    if (dots == NULL || !read_from(text, (size_t)(dots - text), &out->from) || !read_to(dots + 2, &out->from, &out->to))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                       "must be A..B, each a moment: begin, end, step:N, seq:N, a time as 10s, or mark:TEXT");
    if (out->from.kind == out->to.kind && out->from.value > out->to.value)
        return fail_backwards(err);
    return NM_OK;
}

/* ---- Its bounds, as events come -------------------------------------------------------------------------------------- */

nm_window nm_window_of(const nm_window_bounds *bounds)
{
    return (nm_window){.bounds = *bounds, .seq = NM_NO_SEQ, .ns = NM_NO_TIME};
}

static void begin(nm_window *window)
{
    window->has_begun = true;
    window->begin_seq = window->seq;
    window->begin_ns = window->ns;
}

static void end_with(nm_window *window, int64_t end_seq)
{
    window->has_ended = true;
    window->end_seq = end_seq;
    window->end_ns = NM_NO_TIME;
}

/* The event at hand is the first behind it. */
static nm_status end_before(nm_window *window, nm_error *err)
{
    if (!window->has_begun || window->seq <= window->begin_seq)
        return fail_backwards(err);
    end_with(window, window->seq - 1);
    window->end_ns = window->ns;
    return NM_OK;
}

/* Is it there, or behind? A step or a mark tells that itself. */
static bool reaches(const nm_window *window, const nm_window_bound *bound)
{
    switch (bound->kind) {
    case NM_WINDOW_SEQ:
        return window->seq >= bound->value;
    case NM_WINDOW_TIME:
        return window->ns != NM_NO_TIME && window->ns >= bound->value;
    default:
        return false;
    }
}

static bool is_behind(const nm_window *window, const nm_window_bound *bound)
{
    switch (bound->kind) {
    case NM_WINDOW_SEQ:
        return window->seq > bound->value;
    case NM_WINDOW_TIME:
        return window->ns != NM_NO_TIME && window->ns > bound->value;
    default:
        return false;
    }
}

nm_status nm_window_event(nm_window *window, int64_t seq, int64_t ns, nm_error *err)
{
    bool is_first = window->seq == NM_NO_SEQ;

    window->seq = seq;
    window->ns = ns;
    if (!window->has_begun &&
        ((is_first && window->bounds.from.kind == NM_WINDOW_EDGE) || reaches(window, &window->bounds.from)))
        begin(window);
    if (window->has_ended && window->end_ns == NM_NO_TIME)
        window->end_ns = ns;
    return !window->has_ended && is_behind(window, &window->bounds.to) ? end_before(window, err) : NM_OK;
}

/* `process_id` is in no step of the window any more. The last one takes the window with it. */
static bool leaves(nm_window *window, uint64_t process_id)
{
    return nm_map_remove(&window->inside, (nm_key){0, process_id}, NULL) && window->inside.count == 0;
}

/* The first of those that the window names begins it. */
static bool begins_with(const nm_window *window, const nm_step_begin_row *row)
{
    const nm_window_bound *from = &window->bounds.from, *to = &window->bounds.to;

    return !window->has_begun && from->kind == NM_WINDOW_STEP && row->number >= from->value &&
           (to->kind != NM_WINDOW_STEP || row->number <= to->value);
}

nm_status nm_window_step(nm_window *window, const nm_step_begin_row *row, nm_error *err)
{
    const nm_window_bound *from = &window->bounds.from, *to = &window->bounds.to;

    if (!window->has_step || row->number > window->last_step)
        window->last_step = row->number;
    window->has_step = true;
    if (begins_with(window, row))
        begin(window);
    if (window->has_ended || to->kind != NM_WINDOW_STEP || (from->kind == NM_WINDOW_STEP && !window->has_begun))
        return NM_OK;
    if (row->number <= to->value)
        return nm_map_put(&window->inside, (nm_key){0, row->process_id}, 0, err);
    return leaves(window, row->process_id) || (window->inside.count == 0 && window->has_begun) ? end_before(window, err)
                                                                                               : NM_OK;
}

static bool is_mark(const nm_window_bound *bound, nm_bytes text)
{
    return bound->kind == NM_WINDOW_MARK && text.len == bound->mark.len &&
           memcmp(text.data, bound->mark.data, text.len) == 0;
}

void nm_window_mark(nm_window *window, nm_bytes text)
{
    if (!window->has_begun && is_mark(&window->bounds.from, text))
        begin(window);
    else if (window->has_begun && !window->has_ended && is_mark(&window->bounds.to, text))
        end_with(window, window->seq);
}

void nm_window_process_end(nm_window *window, uint64_t process_id)
{
    if (!window->has_ended && leaves(window, process_id) && window->has_begun)
        end_with(window, window->seq);
}

bool nm_window_meets(const nm_window *window, int64_t from_seq, int64_t to_seq)
{
    return window->has_begun && to_seq >= window->begin_seq && (!window->has_ended || from_seq <= window->end_seq);
}

nm_status nm_window_end(nm_window *window, nm_error *err)
{
    const nm_window_bound *from = &window->bounds.from;

    if (window->has_begun) {
        if (!window->has_ended)
            end_with(window, window->seq);
        return NM_OK;
    }
    if (from->kind == NM_WINDOW_STEP && window->has_step)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                       "has nothing in the window: there is no such step from step %" PRId64
                       " on (the last one is %" PRId64 ")",
                       from->value, window->last_step);
    if (from->kind == NM_WINDOW_STEP)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "has nothing in the window: no steps are known");
    if (from->kind == NM_WINDOW_MARK)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "has nothing in the window: it has no mark '%.*s'",
                       (int)(from->mark.len < 60 ? from->mark.len : 60), (const char *)from->mark.data);
    return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "has nothing in the window: it ends before that begins");
}

void nm_window_free(nm_window *window)
{
    nm_map_free(&window->inside);
}
