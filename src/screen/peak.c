/* SPDX-License-Identifier: Apache-2.0
 *
 * The fullest moment of each device, and of each heap in it. Two things are told apart: what of a device was in use, by the
 * device's own word, and what driver memory the recorded program held of it.
 */
#include <string.h>

#include "base/human.h"
#include "screen/budget.sql.h"
#include "screen/device_parts.sql.h"
#include "screen/device_peaks.sql.h"
#include "screen/groups.h"
#include "screen/heap_peaks.sql.h"
#include "screen/heap_sites.sql.h"
#include "screen/seen_inputs.sql.h"
#include "screen/untold_peaks.sql.h"

#define NAME_COLUMNS 24
#define SITE_COLUMNS 44
#define SITES_MAX    3
#define PARTS_MAX    3
#define DEVICES_MAX  100 /* more than fit the screen, which says how many lines do not */
#define HEAPS_MAX    100 /* likewise */
#define TEXT_BYTES   256

/* ---- Devices by their own word ---- */

/* What it was made of. */
static nm_status say_parts(nm_screen *s, int64_t moment_id, const char *host, int64_t device, int64_t used_bytes,
                           nm_error *err)
{
    char bytes[NM_HUMAN_BYTES], name[TEXT_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_device_parts_row row;
    nm_status status = nm_device_parts_ask(s->db, moment_id, host, device, used_bytes, PARTS_MAX, &rows, err);

    for (int i = 0; status == NM_OK && nm_device_parts_next(rows, &row); i++) {
        bool is_minus = i > 0 && row.bytes < 0; /* the device says less than is known of */

        nm_say_component(s->language, row.component, row.heap, row.part, NAME_COLUMNS, name, sizeof name);
        nm_screen_say(s,
                      i == 0     ? NM_SAY_PEAK_MADE_OF
                      : is_minus ? NM_SAY_PEAK_MINUS
                                 : NM_SAY_PEAK_PLUS,
                      NM_WORDS({"bytes", nm_human_bytes(bytes, is_minus ? -row.bytes : row.bytes)}, {"name", name}));
    }
    return nm_question_end(rows, status, err);
}

/* Where nothing was seen to change there is one moment, of which nobody knows whether it is the fullest. */
static nm_sentence label_of(const nm_screen *s)
{
    return s->is_listed ? NM_SAY_LABEL_HELD : NM_SAY_LABEL_PEAK;
}

static void begin_peak(nm_screen *s, bool is_first)
{
    nm_screen_begin(s, is_first ? label_of(s) : NM_SAY_NOTHING, NM_LINE_PLAIN, is_first ? NM_RANK_PEAK : NM_RANK_DETAIL,
                    "device_peak");
    nm_screen_rows(s, 3);
}

/* `ns` and `seq` may be NM_NULL. */
static void say_time(nm_screen *s, int64_t ns, int64_t seq)
{
    char when[NM_HUMAN_BYTES];

    if (ns != NM_NULL)
        nm_screen_say(s, NM_SAY_PEAK_TIME, NM_WORDS({"time", nm_human_time(when, ns)}));
    else if (seq != NM_NULL)
        nm_screen_say(s, NM_SAY_PEAK_EVENT, NM_WORDS({"n", nm_human_count(when, seq)}));
}

static nm_status add_told(nm_screen *s, bool *is_begun, nm_error *err)
{
    char used[NM_HUMAN_BYTES], total[NM_HUMAN_BYTES], left[NM_HUMAN_BYTES], device[NM_SAY_PLACE_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_device_peaks_row row;
    nm_status status = nm_device_peaks_ask(s->db, DEVICES_MAX, &rows, err);

    while (status == NM_OK && nm_device_peaks_next(rows, &row)) {
        int64_t free_bytes = row.total_bytes > row.used_bytes ? row.total_bytes - row.used_bytes : 0;

        if (row.used_bytes <= 0)
            continue;
        begin_peak(s, !*is_begun);
        *is_begun = true;
        nm_screen_say(s, row.is_stale ? NM_SAY_PEAK_ABOUT : NM_SAY_PEAK_USED,
                      NM_WORDS({"device", nm_screen_place(s, NM_SCREEN_OWNER(&row), device)},
                               {"bytes", nm_human_bytes(used, row.used_bytes)},
                               {"total", nm_human_bytes(total, row.total_bytes)}));
        say_time(s, NM_NUMBER_OF(&row, ns), NM_NULL);
        status = say_parts(s, row.moment_id, NM_TEXT_OF(&row, host), NM_NUMBER_OF(&row, device), row.used_bytes, err);
        nm_screen_say(s, NM_SAY_PEAK_FREE, NM_WORDS({"bytes", nm_human_bytes(left, free_bytes)}));
    }
    return nm_question_end(rows, status, err);
}

/* ---- Devices that said nothing: what driver memory the program held ---- */

static nm_status add_untold(nm_screen *s, bool *is_begun, nm_error *err)
{
    char bytes[NM_HUMAN_BYTES], total[NM_HUMAN_BYTES], left[NM_HUMAN_BYTES], device[NM_SAY_PLACE_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_untold_peaks_row row;
    nm_status status = nm_untold_peaks_ask(s->db, DEVICES_MAX, &rows, err);

    while (status == NM_OK && nm_untold_peaks_next(rows, &row)) {
        int64_t free_bytes = row.capacity_bytes > row.peak_bytes ? row.capacity_bytes - row.peak_bytes : 0;

        begin_peak(s, !*is_begun);
        *is_begun = true;
        nm_screen_say(s, row.has.capacity_bytes ? NM_SAY_PEAK_DRIVER_OF : NM_SAY_PEAK_DRIVER,
                      NM_WORDS({"device", nm_screen_place(s, NM_SCREEN_OWNER(&row), device)},
                               {"bytes", nm_human_bytes(bytes, row.peak_bytes)},
                               {"total", nm_human_bytes(total, row.capacity_bytes)}));
        say_time(s, NM_NUMBER_OF(&row, peak_ns), NM_NUMBER_OF(&row, peak_seq));
        if (row.has.moment_id)
            status =
                say_parts(s, row.moment_id, NM_TEXT_OF(&row, host), NM_NUMBER_OF(&row, device), row.peak_bytes, err);
        if (row.has.capacity_bytes) /* what others held is not known */
            nm_screen_say(s, NM_SAY_PEAK_FREE_MOST, NM_WORDS({"bytes", nm_human_bytes(left, free_bytes)}));
    }
    return nm_question_end(rows, status, err);
}

/* ---- Heaps ---- */

static nm_status say_sites(nm_screen *s, const nm_heap_peaks_row *heap, nm_error *err)
{
    char bytes[NM_HUMAN_BYTES], site[TEXT_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_heap_sites_row row;
    nm_status status = nm_heap_sites_ask(s->db, NM_NUMBER_OF(heap, rank), NM_NUMBER_OF(heap, pid),
                                         NM_NUMBER_OF(heap, device), NM_TEXT_OF(heap, host), NM_TEXT_OF(heap, heap),
                                         NM_TEXT_OF(heap, level), SITES_MAX, &rows, err);

    for (int i = 0; status == NM_OK && nm_heap_sites_next(rows, &row); i++)
        nm_screen_say(s, i == 0 ? NM_SAY_PEAK_FIRST_SITE : NM_SAY_PEAK_SITE,
                      NM_WORDS({"bytes", nm_human_bytes(bytes, row.live_bytes)},
                               {"site", nm_screen_site(s, row.site, SITE_COLUMNS, site, sizeof site)}));
    return nm_question_end(rows, status, err);
}

/* What hooks call "device memory" is what the program got of the driver, not what of the device is in use. */
static const char *heap_name(const nm_screen *s, const char *name, const char *level, char out[TEXT_BYTES])
{
    if (strcmp(level, "driver") == 0 && strcmp(name, "device memory") == 0)
        return nm_sentence_put(NM_SAY_HEAP_DRIVER, s->language, NULL, out, TEXT_BYTES);
    if (strcmp(level, "pinned") == 0 && (strcmp(name, "pinned host memory") == 0 || strcmp(name, "pinned memory") == 0))
        return nm_sentence_put(NM_SAY_HEAP_PINNED, s->language, NULL, out, TEXT_BYTES);
    return nm_human_text(out, TEXT_BYTES, name, NAME_COLUMNS);
}

static nm_status add_heap(nm_screen *s, const nm_heap_peaks_row *heap, bool is_first, bool is_begun, nm_error *err)
{
    char bytes[NM_HUMAN_BYTES], reserved[NM_HUMAN_BYTES], count[NM_HUMAN_BYTES], name[TEXT_BYTES], place[64];

    nm_screen_begin(s, is_begun ? NM_SAY_NOTHING : label_of(s), NM_LINE_PLAIN, is_first ? NM_RANK_PEAK : NM_RANK_DETAIL,
                    "peak_by_site");
    nm_screen_rows(s, 3);
    nm_screen_say(s, NM_SAY_PEAK_HEAP,
                  NM_WORDS({"place", nm_screen_place(s, NM_SCREEN_OWNER(heap), place)},
                           {"heap", heap_name(s, heap->heap, heap->level, name)},
                           {"bytes", nm_human_bytes(bytes, heap->peak_bytes)}));
    say_time(s, NM_NUMBER_OF(heap, peak_ns), NM_NUMBER_OF(heap, peak_seq));
    if (heap->peak_reserved_bytes > 0)
        nm_screen_say(s, NM_SAY_PEAK_RESERVED,
                      NM_WORDS({"bytes", nm_human_bytes(reserved, heap->peak_reserved_bytes)}));
    if (heap->namesake_count <= 1)
        return say_sites(s, heap, err);
    nm_screen_say(s, NM_SAY_PEAK_NAMESAKES, NM_WORDS({"n", nm_human_count(count, heap->namesake_count)}));
    return NM_OK;
}

static nm_status add_heaps(nm_screen *s, bool *is_begun, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_heap_peaks_row row;
    nm_status status = nm_heap_peaks_ask(s->db, HEAPS_MAX, &rows, err);

    for (bool is_first = true; status == NM_OK && nm_heap_peaks_next(rows, &row); is_first = false) {
        status = add_heap(s, &row, is_first, *is_begun, err);
        *is_begun = true;
    }
    return nm_question_end(rows, status, err);
}

/* ---- What a server's device is full of ---- */

/* "NPU 0" whoever uses it. */
static const char *device_name(const nm_screen *s, const char *kind, int64_t device, char out[64])
{
    snprintf(out, 64, "%.12s %lld", nm_screen_device_kind(s, kind), (long long)device);
    return out;
}

static nm_status add_budget(nm_screen *s, nm_error *err)
{
    char bytes[NM_HUMAN_BYTES], name[TEXT_BYTES], device[64];
    sqlite3_stmt *rows = NULL;
    nm_budget_row row;
    nm_sentence code;
    nm_status status = nm_budget_ask(s->db, &rows, err);

    for (int i = 0; status == NM_OK && nm_budget_next(rows, &row); i++) {
        if (i == 0) {
            nm_screen_begin(s, NM_SAY_NOTHING, NM_LINE_PLAIN, NM_RANK_PEAK, "serving_budget");
            nm_screen_rows(s, 2);
        }
        nm_sentence_of(row.name, &code);
        nm_screen_say(s,
                      i == 0           ? NM_SAY_BUDGET
                      : row.is_largest ? NM_SAY_BUDGET_MOST
                      : row.is_said    ? NM_SAY_BUDGET_SAID
                                       : NM_SAY_BUDGET_PART,
                      NM_WORDS({"device", device_name(s, row.device_kind, row.device, device)},
                               {"bytes", nm_human_bytes(bytes, row.bytes)},
                               {"name", nm_sentence_put(code, s->language, NULL, name, sizeof name)}));
    }
    return nm_question_end(rows, status, err);
}

/* No memory was live in any heap: a recording that was cut off does not say why. */
static nm_status add_nothing(nm_screen *s, nm_error *err)
{
    nm_seen_inputs_row row;
    nm_status status = nm_seen_inputs_get(s->db, &row, err);

    if (status != NM_OK || !row.is_peak_told)
        return status;
    begin_peak(s, true);
    nm_screen_say(s,
                  row.cut_count == 0     ? row.is_untouched ? NM_SAY_PEAK_NO_CALL : NM_SAY_PEAK_NOTHING
                  : row.event_count == 0 ? NM_SAY_PEAK_CUT_EVENT
                                         : NM_SAY_PEAK_CUT_MEMORY,
                  NULL);
    return status;
}

nm_status nm_screen_peak_lines(nm_screen *s, nm_error *err)
{
    bool is_begun = false;
    nm_status status = add_told(s, &is_begun, err);

    if (status == NM_OK)
        status = add_untold(s, &is_begun, err);
    if (status == NM_OK && is_begun)
        status = add_budget(s, err);
    if (status == NM_OK)
        status = add_heaps(s, &is_begun, err);
    return status == NM_OK && !is_begun ? add_nothing(s, err) : status;
}
