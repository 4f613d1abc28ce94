/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace of Perfetto: tracks of numbers, of ranges and of marks. Packets are written as rows come, and may stand in any
 * order but for those of one track and one time. Ranges of a thread may overlap without one lying in the other, which one
 * track cannot show: each goes to the first lane in which it lies in what is open there.
 *
 * Old messages alone are used: any version reads them. All clocks are one, and say so: a profile's time is of another clock
 * than an event's, and is dropped where it is not known how both go together.
 */
#include "export/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "export/export_facts.sql.h"
#include "export/perfetto.h"
#include "export/perfetto_heaps.sql.h"
#include "export/perfetto_marks.sql.h"
#include "export/perfetto_processes.sql.h"
#include "export/perfetto_samples.sql.h"
#include "export/perfetto_slices.sql.h"
#include "export/perfetto_usage.sql.h"

#define NAME_BYTES NM_PERFETTO_NAME_BYTES
#define LANES_MAX  64 /* of one thread; what does not fit is left out, and there is a mark that says so */

/* Field numbers of messages within. */
enum { TRACK_UUID = 1, TRACK_NAME, TRACK_PROCESS, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { COUNTER_UNIT = 3, UNIT_BYTES = 3 };
enum { EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_CATEGORY = 22, EVENT_NAME, EVENT_VALUE = 30 };
enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };
enum { CLOCK_REALTIME = 1, CLOCK_LAST = 6 };

uint64_t nm_perfetto_uuid(nm_perfetto_track track, int64_t number)
{
    return (uint64_t)track << 48 | ((uint64_t)number & ((UINT64_C(1) << 48) - 1));
}

void nm_perfetto_begin(nm_perfetto *p, uint32_t sequence, int64_t ns)
{
    nm_proto_clear(&p->packet);
    nm_proto_uint(&p->packet, NM_PACKET_SEQUENCE, sequence);
    if (ns >= 0)
        nm_proto_uint(&p->packet, NM_PACKET_TIME, (uint64_t)ns);
}

nm_status nm_perfetto_put(nm_perfetto *p, nm_error *err)
{
    nm_proto_clear(&p->frame);
    nm_proto_message(&p->frame, 1, &p->packet);
    nm_status status = nm_proto_end(&p->frame, err);
    if (status == NM_OK)
        fwrite(p->frame.bytes.data, 1, p->frame.bytes.len, p->export->out);
    return status;
}

/* Puts p->part into a packet of its own. */
static nm_status put_part(nm_perfetto *p, uint32_t field, int64_t ns, nm_error *err)
{
    nm_perfetto_begin(p, NM_PERFETTO_SEQUENCE, ns);
    nm_proto_message(&p->packet, field, &p->part);
    nm_proto_clear(&p->part);
    return nm_perfetto_put(p, err);
}

/* ---- Tracks -------------------------------------------------------------------------------------------------------- */

static void put_name(nm_proto *message, uint32_t field, const char *text)
{
    char shown[NAME_BYTES];

    nm_proto_text(message, field, nm_shown_text(shown, sizeof shown, text));
}

static nm_status put_clocks(nm_perfetto *p, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_export_facts_row row = {0};
    nm_status status = nm_export_facts_ask(p->export->db, &rows, err);

    if (status == NM_OK)
        nm_export_facts_next(rows, &row);
    for (uint64_t clock = CLOCK_REALTIME; clock <= CLOCK_LAST; clock++) {
        nm_proto_clear(&p->inner);
        nm_proto_uint(&p->inner, 1, clock);
        nm_proto_uint(&p->inner, 2,
                      clock == CLOCK_REALTIME && row.start_realtime_ns > 0 ? (uint64_t)row.start_realtime_ns : 0);
        nm_proto_message(&p->part, 1, &p->inner);
    }
    nm_proto_uint(&p->part, 2, CLOCK_LAST);
    status = nm_question_end(rows, status, err);
    return status == NM_OK ? put_part(p, NM_PACKET_CLOCKS, 0, err) : status;
}

static nm_status put_processes(nm_perfetto *p, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_perfetto_processes_row row;
    nm_status status = nm_perfetto_processes_ask(p->export->db, &rows, err);

    while (status == NM_OK && !ferror(p->export->out) && nm_perfetto_processes_next(rows, &row)) {
        nm_proto_clear(&p->inner);
        nm_proto_uint(&p->inner, PROCESS_PID, (uint64_t)row.pid);
        put_name(&p->inner, PROCESS_NAME, row.name);
        nm_proto_uint(&p->part, TRACK_UUID, nm_perfetto_uuid(NM_TRACK_PROCESS, row.process_id));
        nm_proto_message(&p->part, TRACK_PROCESS, &p->inner);
        status = put_part(p, NM_PACKET_TRACK, -1, err);
    }
    return nm_question_end(rows, status, err);
}

static nm_status put_track(nm_perfetto *p, uint64_t uuid, int64_t process_id, const char *name, bool is_counter,
                           nm_error *err)
{
    nm_proto_uint(&p->part, TRACK_UUID, uuid);
    nm_proto_uint(&p->part, TRACK_PARENT, nm_perfetto_uuid(NM_TRACK_PROCESS, process_id));
    put_name(&p->part, TRACK_NAME, name);
    if (is_counter) {
        nm_proto_clear(&p->inner);
        nm_proto_uint(&p->inner, COUNTER_UNIT, UNIT_BYTES);
        nm_proto_message(&p->part, TRACK_COUNTER, &p->inner);
    }
    return put_part(p, NM_PACKET_TRACK, -1, err);
}

/* ---- Counters ------------------------------------------------------------------------------------------------------ */

static nm_status put_value(nm_perfetto *p, uint64_t uuid, int64_t ns, int64_t value, nm_error *err)
{
    nm_proto_uint(&p->part, EVENT_TYPE, TYPE_COUNTER);
    nm_proto_uint(&p->part, EVENT_TRACK, uuid);
    nm_proto_int(&p->part, EVENT_VALUE, value);
    return put_part(p, NM_PACKET_EVENT, ns, err);
}

static nm_status put_heap_tracks(nm_perfetto *p, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_perfetto_heaps_row row;
    nm_status status = nm_perfetto_heaps_ask(p->export->db, &rows, err);

    while (status == NM_OK && !ferror(p->export->out) && nm_perfetto_heaps_next(rows, &row)) {
        status = put_track(p, nm_perfetto_uuid(NM_TRACK_LIVE, row.heap_id), row.process_id, row.live_name, true, err);
        if (status == NM_OK && row.is_reserved)
            status = put_track(p, nm_perfetto_uuid(NM_TRACK_RESERVED, row.heap_id), row.process_id, row.reserved_name,
                               true, err);
    }
    return nm_question_end(rows, status, err);
}

static nm_status put_usage(nm_perfetto *p, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_perfetto_usage_row row;
    nm_status status = nm_perfetto_usage_ask(p->export->db, &rows, err);

    while (status == NM_OK && !ferror(p->export->out) && nm_perfetto_usage_next(rows, &row)) {
        uint64_t live = nm_perfetto_uuid(NM_TRACK_LIVE, row.heap_id);

        if (row.is_max_before)
            status = put_value(p, live, row.max_ns, row.max_live_bytes, err);
        if (status == NM_OK)
            status = put_value(p, live, row.last_ns, row.live_bytes, err);
        if (status == NM_OK && row.has.reserved_bytes)
            status =
                put_value(p, nm_perfetto_uuid(NM_TRACK_RESERVED, row.heap_id), row.last_ns, row.reserved_bytes, err);
    }
    return nm_question_end(rows, status, err);
}

static nm_status put_samples(nm_perfetto *p, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_perfetto_samples_row row, last;
    int64_t number = 0; /* of the track that has begun */
    nm_status status = nm_perfetto_samples_ask(p->export->db, &rows, err);

    while (status == NM_OK && !ferror(p->export->out) && nm_perfetto_samples_next(rows, &row)) {
        bool is_new = number == 0 || row.process_id != last.process_id || row.device_id != last.device_id ||
                      row.kind_code != last.kind_code;
        uint64_t uuid = nm_perfetto_uuid(NM_TRACK_SAMPLE, number += is_new);

        if (is_new)
            status = put_track(p, uuid, row.process_id, row.name, true, err);
        if (status == NM_OK)
            status = put_value(p, uuid, row.ns, row.used_bytes, err);
        last = row;
    }
    return nm_question_end(rows, status, err);
}

/* ---- Ranges -------------------------------------------------------------------------------------------------------- */

typedef struct lane {
    uint64_t uuid;
    int64_t *ends; /* of the ranges that are open, the innermost last; owned */
    size_t count, capacity;
} lane;

typedef struct slices {
    int64_t process_id, track; /* at hand; `track` tells those of a process apart */
    int64_t next_number;       /* of tracks */
    uint64_t left_out;
    bool has_begun;
    lane lanes[LANES_MAX];
    size_t lane_count;
} slices;

static nm_status put_end(nm_perfetto *p, lane *at, nm_error *err)
{
    nm_proto_uint(&p->part, EVENT_TYPE, TYPE_END);
    nm_proto_uint(&p->part, EVENT_TRACK, at->uuid);
    return put_part(p, NM_PACKET_EVENT, at->ends[--at->count], err);
}

/* Ends what is over by then; a range without an end never is. */
static nm_status end_until(nm_perfetto *p, slices *all, int64_t ns, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < all->lane_count; i++) {
        lane *at = &all->lanes[i];

        while (status == NM_OK && at->count > 0 && at->ends[at->count - 1] <= ns &&
               at->ends[at->count - 1] != INT64_MAX)
            status = put_end(p, at, err);
    }
    return status;
}

static nm_status end_track(nm_perfetto *p, slices *all, nm_error *err)
{
    nm_status status = end_until(p, all, INT64_MAX, err);

    for (size_t i = 0; i < all->lane_count; i++)
        all->lanes[i].count = 0;
    all->lane_count = 0;
    return status;
}

/* The lane for a range until `end_ns`, with its track; NULL: there is none. */
static nm_status find_lane(nm_perfetto *p, slices *all, const char *name, int64_t end_ns, lane **out, nm_error *err)
{
    char numbered[NAME_BYTES];

    *out = NULL;
    for (size_t i = 0; i < all->lane_count; i++) {
        lane *at = &all->lanes[i];

        if (at->count == 0 || at->ends[at->count - 1] >= end_ns) {
            *out = at;
            return NM_OK;
        }
    }
    if (all->lane_count == LANES_MAX)
        return NM_OK;
    *out = &all->lanes[all->lane_count++];
    (*out)->uuid = nm_perfetto_uuid(NM_TRACK_SLICES, ++all->next_number);
    snprintf(numbered, sizeof numbered, all->lane_count > 1 ? "%.900s (%zu)" : "%.900s", name, all->lane_count);
    return put_track(p, (*out)->uuid, all->process_id, numbered, false, err);
}

static nm_status begin_slice(nm_perfetto *p, lane *at, const char *category, const char *name, int64_t begin_ns,
                             int64_t end_ns, nm_error *err)
{
    nm_status status = nm_array_grow(&at->ends, &at->capacity, at->count + 1, sizeof *at->ends, err);

    if (status != NM_OK)
        return status;
    at->ends[at->count++] = end_ns;
    nm_proto_uint(&p->part, EVENT_TYPE, TYPE_BEGIN);
    nm_proto_uint(&p->part, EVENT_TRACK, at->uuid);
    nm_proto_text(&p->part, EVENT_CATEGORY, category);
    put_name(&p->part, EVENT_NAME, name);
    return put_part(p, NM_PACKET_EVENT, begin_ns, err);
}

static nm_status put_slice(nm_perfetto *p, const nm_perfetto_slices_row *row, slices *all, nm_error *err)
{
    int64_t end_ns = row->has.end_ns ? row->end_ns : INT64_MAX;
    bool is_new = !all->has_begun || row->process_id != all->process_id || row->track_number != all->track;
    lane *at = NULL;
    nm_status status = is_new ? end_track(p, all, err) : end_until(p, all, row->begin_ns, err);

    all->has_begun = true;
    all->process_id = row->process_id;
    all->track = row->track_number;
    if (end_ns < row->begin_ns) /* of a late event: it has no length */
        end_ns = row->begin_ns;
    if (status == NM_OK)
        status = find_lane(p, all, row->track_name, end_ns, &at, err);
    all->left_out += status == NM_OK && at == NULL;
    if (status != NM_OK || at == NULL)
        return status;
    return begin_slice(p, at, row->category, row->name, row->begin_ns, end_ns, err);
}

static nm_status read_slices(nm_perfetto *p, slices *all, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_perfetto_slices_row row;
    nm_status status = nm_perfetto_slices_ask(p->export->db, &rows, err);

    while (status == NM_OK && !ferror(p->export->out) && nm_perfetto_slices_next(rows, &row))
        status = put_slice(p, &row, all, err);
    return nm_question_end(rows, status, err);
}

/* ---- Marks --------------------------------------------------------------------------------------------------------- */

static nm_status put_instant(nm_perfetto *p, uint64_t uuid, int64_t ns, const char *name, nm_error *err)
{
    nm_proto_uint(&p->part, EVENT_TYPE, TYPE_INSTANT);
    nm_proto_uint(&p->part, EVENT_TRACK, uuid);
    put_name(&p->part, EVENT_NAME, name);
    return put_part(p, NM_PACKET_EVENT, ns, err);
}

static nm_status put_slices(nm_perfetto *p, nm_error *err)
{
    slices *all = calloc(1, sizeof *all);
    char text[128];
    nm_status status = all != NULL ? read_slices(p, all, err) : nm_fail(err, NM_ERR_MEMORY, 0, "out of memory");

    if (status == NM_OK)
        status = end_track(p, all, err);
    if (status == NM_OK && all->left_out > 0) {
        uint64_t uuid = nm_perfetto_uuid(NM_TRACK_MARKS, 0);

        snprintf(text, sizeof text, "%" PRIu64 " ranges overlap too much and are left out", all->left_out);
        status = put_track(p, uuid, all->process_id, "npumem", false, err);
        if (status == NM_OK)
            status = put_instant(p, uuid, 0, text, err);
    }
    for (size_t i = 0; all != NULL && i < LANES_MAX; i++)
        free(all->lanes[i].ends);
    free(all);
    return status;
}

static nm_status put_marks(nm_perfetto *p, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_perfetto_marks_row row;
    int64_t process_id = 0;
    nm_status status = nm_perfetto_marks_ask(p->export->db, &rows, err);

    while (status == NM_OK && !ferror(p->export->out) && nm_perfetto_marks_next(rows, &row)) {
        uint64_t uuid = nm_perfetto_uuid(NM_TRACK_MARKS, row.process_id);

        if (process_id != row.process_id)
            status = put_track(p, uuid, row.process_id, "marks", false, err);
        process_id = row.process_id;
        if (status == NM_OK)
            status = put_instant(p, uuid, row.ns, row.name, err);
    }
    return nm_question_end(rows, status, err);
}

nm_status nm_export_perfetto(const nm_export *export, nm_error *err)
{
    nm_perfetto p = {.export = export};
    nm_status status = put_clocks(&p, err);

    if (status == NM_OK)
        status = put_processes(&p, err);
    if (status == NM_OK)
        status = put_heap_tracks(&p, err);
    if (status == NM_OK)
        status = put_usage(&p, err);
    if (status == NM_OK)
        status = put_samples(&p, err);
    if (status == NM_OK)
        status = put_slices(&p, err);
    if (status == NM_OK)
        status = put_marks(&p, err);
    if (status == NM_OK)
        status = nm_perfetto_put_heaps(&p, err);
    nm_proto_free(&p.packet);
    nm_proto_free(&p.part);
    nm_proto_free(&p.inner);
    nm_proto_free(&p.frame);
    return status;
}
