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
#include "export/perfetto.h"
#include "store/database.h"

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

typedef nm_status take_row(nm_perfetto *p, sqlite3_stmt *row, void *state, nm_error *err);

/* Each row of `sql`, behind which the tables of report/live.h may stand. */
static nm_status for_rows(nm_perfetto *p, const char *sql, take_row *take, void *state, nm_error *err)
{
    sqlite3_stmt *row = NULL;
    int code = SQLITE_DONE;
    nm_status status = nm_live_prepare(p->export->db, &p->export->moment, sql, &row, err);

    while (status == NM_OK && (code = sqlite3_step(row)) == SQLITE_ROW && !ferror(p->export->out))
        status = take(p, row, state, err);
    if (status == NM_OK && code != SQLITE_DONE && code != SQLITE_ROW)
        status = nm_db_fail(p->export->db, err);
    sqlite3_finalize(row);
    return status;
}

/* ---- Tracks -------------------------------------------------------------------------------------------------------- */

static void put_name(nm_proto *message, uint32_t field, const char *text)
{
    char shown[NAME_BYTES];

    nm_proto_text(message, field, nm_shown_text(shown, sizeof shown, text));
}

static nm_status put_clocks(nm_perfetto *p, nm_error *err)
{
    int64_t start = 0;
    nm_status status = nm_db_get_int(p->export->db, "SELECT min(start_realtime_ns) FROM input", &start, err);

    for (uint64_t clock = CLOCK_REALTIME; clock <= CLOCK_LAST; clock++) {
        nm_proto_clear(&p->inner);
        nm_proto_uint(&p->inner, 1, clock);
        nm_proto_uint(&p->inner, 2, clock == CLOCK_REALTIME && start > 0 ? (uint64_t)start : 0);
        nm_proto_message(&p->part, 1, &p->inner);
    }
    nm_proto_uint(&p->part, 2, CLOCK_LAST);
    return status == NM_OK ? put_part(p, NM_PACKET_CLOCKS, 0, err) : status;
}

static const char process_sql[] = "SELECT process.process_id, " NM_PERFETTO_PID(
    "process") ", coalesce('rank ' || process.rank || ', ', '') ||"
               " coalesce(process.host || ', ', '') || coalesce(process.command, 'pid ' || process.pid, 'process')"
               " FROM process ORDER BY process_id";

static nm_status put_process(nm_perfetto *p, sqlite3_stmt *row, void *state, nm_error *err)
{
    (void)state;
    nm_proto_clear(&p->inner);
    nm_proto_uint(&p->inner, PROCESS_PID, (uint64_t)sqlite3_column_int64(row, 1));
    put_name(&p->inner, PROCESS_NAME, nm_db_text(row, 2));
    nm_proto_uint(&p->part, TRACK_UUID, nm_perfetto_uuid(NM_TRACK_PROCESS, sqlite3_column_int64(row, 0)));
    nm_proto_message(&p->part, TRACK_PROCESS, &p->inner);
    return put_part(p, NM_PACKET_TRACK, -1, err);
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

static const char heap_sql[] =
    "SELECT h.heap_id, h.process_id, p.text || ' live', p.text || ' reserved', EXISTS (SELECT 1 FROM usage AS u"
    " WHERE u.heap_id = h.heap_id AND u.reserved_bytes IS NOT NULL) FROM heap AS h JOIN place AS p"
    " ON p.heap_id = h.heap_id WHERE EXISTS (SELECT 1 FROM usage AS u WHERE u.heap_id = h.heap_id) ORDER BY h.heap_id";

static nm_status put_heap_tracks(nm_perfetto *p, sqlite3_stmt *row, void *state, nm_error *err)
{
    int64_t heap_id = sqlite3_column_int64(row, 0), process_id = sqlite3_column_int64(row, 1);
    nm_status status =
        put_track(p, nm_perfetto_uuid(NM_TRACK_LIVE, heap_id), process_id, nm_db_text(row, 2), true, err);

    (void)state;
    if (status == NM_OK && sqlite3_column_int(row, 4) != 0)
        status = put_track(p, nm_perfetto_uuid(NM_TRACK_RESERVED, heap_id), process_id, nm_db_text(row, 3), true, err);
    return status;
}

static const char usage_sql[] =
    "SELECT heap_id, max_seq < last_seq, max(coalesce(max_ns, max_seq * 1000, 0), 0), max_live_bytes,"
    " max(coalesce(last_ns, last_seq * 1000, 0), 0), live_bytes, reserved_bytes FROM usage ORDER BY heap_id, last_seq";

static nm_status put_usage(nm_perfetto *p, sqlite3_stmt *row, void *state, nm_error *err)
{
    int64_t heap_id = sqlite3_column_int64(row, 0), end_ns = sqlite3_column_int64(row, 4);
    uint64_t live = nm_perfetto_uuid(NM_TRACK_LIVE, heap_id);
    nm_status status = NM_OK;

    (void)state;
    if (sqlite3_column_int(row, 1) != 0)
        status = put_value(p, live, sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 3), err);
    if (status == NM_OK)
        status = put_value(p, live, end_ns, sqlite3_column_int64(row, 5), err);
    if (status == NM_OK && !nm_db_is_null(row, 6))
        status = put_value(p, nm_perfetto_uuid(NM_TRACK_RESERVED, heap_id), end_ns, sqlite3_column_int64(row, 6), err);
    return status;
}

static const char sample_sql[] =
    "SELECT s.process_id, coalesce(s.device_id, 0), s.kind, coalesce('device ' || coalesce(d.physical_ordinal,"
    " d.ordinal) || ' ', '') || coalesce(k.name, 'memory') || ' used', max(coalesce(s.ns, s.seq * 1000, 0), 0),"
    " s.used_bytes FROM memory_sample AS s LEFT JOIN device AS d ON d.device_id = s.device_id"
    " LEFT JOIN _memory_kind AS k ON k.kind = s.kind ORDER BY 1, 2, 3, s.seq, s.ns";

typedef struct sample_track {
    int64_t of[3]; /* process, device, kind of the track that has begun */
    int64_t number;
} sample_track;

static nm_status put_sample(nm_perfetto *p, sqlite3_stmt *row, void *state, nm_error *err)
{
    sample_track *track = state;
    nm_status status = NM_OK;
    bool is_new = track->number == 0;

    for (int i = 0; i < 3; i++) {
        is_new = is_new || track->of[i] != sqlite3_column_int64(row, i);
        track->of[i] = sqlite3_column_int64(row, i);
    }
    track->number += is_new;
    uint64_t uuid = nm_perfetto_uuid(NM_TRACK_SAMPLE, track->number);
    if (is_new)
        status = put_track(p, uuid, track->of[0], nm_db_text(row, 3), true, err);
    return status == NM_OK ? put_value(p, uuid, sqlite3_column_int64(row, 4), sqlite3_column_int64(row, 5), err)
                           : status;
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

enum { SLICE_PROCESS, SLICE_TRACK, SLICE_TRACK_NAME, SLICE_CATEGORY, SLICE_NAME, SLICE_BEGIN, SLICE_END };

/* Steps, and then operations by thread; the outer one of two that begin at one time comes first. */
static const char slice_sql[] =
    "SELECT * FROM (SELECT s.process_id, -1 - coalesce(s.device_id, 0), 'steps' || coalesce(' of device ' ||"
    " coalesce(d.physical_ordinal, d.ordinal), ''), 'step', 'step ' || s.number,"
    " max(coalesce(s.begin_ns, s.begin_seq * 1000, 0), 0) AS begin_at, CASE WHEN coalesce(s.end_seq, s.end_ns)"
    " IS NOT NULL THEN max(coalesce(s.end_ns, s.end_seq * 1000, 0), 0) END AS end_at, s.step_id AS number"
    " FROM step AS s LEFT JOIN device AS d ON d.device_id = s.device_id UNION ALL"
    " SELECT o.process_id, coalesce(o.thread_id, 0), coalesce('thread ' || coalesce(t.name, t.tid), 'operations'),"
    " coalesce(k.name, 'operation'), coalesce(o.name, k.name, '?' || '?'),"
    " max(coalesce(o.begin_ns, o.begin_seq * 1000, 0), 0), CASE WHEN coalesce(o.end_seq, o.end_ns)"
    " IS NOT NULL THEN max(coalesce(o.end_ns, o.end_seq * 1000, 0), 0) END, o.operation_id FROM operation AS o"
    " LEFT JOIN thread AS t ON t.thread_id = o.thread_id LEFT JOIN operation_kind AS k ON k.kind = o.kind)"
    " ORDER BY 1, 2, begin_at, end_at IS NOT NULL, end_at DESC, number";

static nm_status put_slice(nm_perfetto *p, sqlite3_stmt *row, void *state, nm_error *err)
{
    slices *all = state;
    int64_t process_id = sqlite3_column_int64(row, SLICE_PROCESS), track = sqlite3_column_int64(row, SLICE_TRACK);
    int64_t begin_ns = sqlite3_column_int64(row, SLICE_BEGIN);
    int64_t end_ns = nm_db_is_null(row, SLICE_END) ? INT64_MAX : sqlite3_column_int64(row, SLICE_END);
    bool is_new = !all->has_begun || process_id != all->process_id || track != all->track;
    lane *at = NULL;
    nm_status status = is_new ? end_track(p, all, err) : end_until(p, all, begin_ns, err);

    all->has_begun = true;
    all->process_id = process_id;
    all->track = track;
    if (end_ns < begin_ns) /* of a late event: it has no length */
        end_ns = begin_ns;
    if (status == NM_OK)
        status = find_lane(p, all, nm_db_text(row, SLICE_TRACK_NAME), end_ns, &at, err);
    all->left_out += status == NM_OK && at == NULL;
    if (status != NM_OK || at == NULL)
        return status;
    return begin_slice(p, at, nm_db_text(row, SLICE_CATEGORY), nm_db_text(row, SLICE_NAME), begin_ns, end_ns, err);
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
    nm_status status =
        all != NULL ? for_rows(p, slice_sql, put_slice, all, err) : nm_fail(err, NM_ERR_MEMORY, 0, "out of memory");

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

/* What belongs to no process stands beside the first one. */
static const char mark_sql[] =
    "SELECT coalesce(m.process_id, (SELECT min(process_id) FROM process)) AS process_id, CASE WHEN m.kind = 3 THEN"
    " coalesce(m.name, 'mark') ELSE 'failed request of ' || coalesce(f.requested_bytes, '?') || ' bytes' END,"
    " max(coalesce(m.ns, m.seq * 1000, 0), 0) FROM moment AS m LEFT JOIN failure AS f ON f.failure_id = m.failure_id"
    " WHERE m.kind IN (3, 4) ORDER BY 1, 3, m.moment_id";

static nm_status put_mark(nm_perfetto *p, sqlite3_stmt *row, void *state, nm_error *err)
{
    int64_t *process_id = state, own = sqlite3_column_int64(row, 0);
    uint64_t uuid = nm_perfetto_uuid(NM_TRACK_MARKS, own);
    nm_status status = NM_OK;

    if (*process_id != own)
        status = put_track(p, uuid, own, "marks", false, err);
    *process_id = own;
    return status == NM_OK ? put_instant(p, uuid, sqlite3_column_int64(row, 2), nm_db_text(row, 1), err) : status;
}

nm_status nm_export_perfetto(const nm_export *export, nm_error *err)
{
    nm_perfetto p = {.export = export};
    sample_track sample = {0};
    int64_t mark_process_id = 0;
    nm_status status = put_clocks(&p, err);

    if (status == NM_OK)
        status = for_rows(&p, process_sql, put_process, NULL, err);
    if (status == NM_OK)
        status = for_rows(&p, heap_sql, put_heap_tracks, NULL, err);
    if (status == NM_OK)
        status = for_rows(&p, usage_sql, put_usage, NULL, err);
    if (status == NM_OK)
        status = for_rows(&p, sample_sql, put_sample, &sample, err);
    if (status == NM_OK)
        status = put_slices(&p, err);
    if (status == NM_OK)
        status = for_rows(&p, mark_sql, put_mark, &mark_process_id, err);
    if (status == NM_OK)
        status = nm_perfetto_put_heaps(&p, err);
    nm_proto_free(&p.packet);
    nm_proto_free(&p.part);
    nm_proto_free(&p.inner);
    nm_proto_free(&p.frame);
    return status;
}
