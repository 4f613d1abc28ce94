/* SPDX-License-Identifier: Apache-2.0
 *
 * The fullest moment of each device, and of each heap in it. Two things are told apart: what of a device was in use, by the
 * device's own word, and what driver memory the recorded program held of it.
 */
#include <string.h>

#include "base/human.h"
#include "screen/groups.h"
#include "store/database.h"

#define NAME_COLUMNS   24
#define SITE_COLUMNS   44
#define SITES_MAX      3
#define COMPONENTS_MAX 5
#define DEVICES_MAX    8
#define HEAPS_MAX      10
#define TEXT_BYTES     256

void nm_screen_component(const nm_screen *s, const char *component, const char *heap, char *out, size_t size)
{
    static const struct {
        const char *component;
        nm_sentence code;
    } names[] = {{"APP", NM_SAY_PART_PROGRAM},
                 {"PHYSICAL", NM_SAY_PART_PHYSICAL},
                 {"PAGE ROUNDING", NM_SAY_PART_PAGES},
                 {"RECORDED PROCESSES", NM_SAY_PART_RECORDED},
                 {"OTHER PROCESSES", NM_SAY_PART_OTHERS},
                 {"UNEXPLAINED", NM_SAY_PART_UNEXPLAINED}};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].component, component) == 0) {
            nm_sentence_put(names[i].code, s->language, NULL, out, size);
            return;
        }
    nm_human_text(out, size, heap[0] == 0 ? component : heap, NAME_COLUMNS);
}

/* ---- Devices by their own word ---- */

/* One row a device, at its peak: the moment, who, how much was in use of what, when, whether that is an estimate. */
#define TOLD                                                                                                           \
    "WITH c AS (SELECT t.hardware_id, m.moment_id, m.ns, row_number() OVER (PARTITION BY t.hardware_id"                \
    " ORDER BY m.moment_id, t.device_id) AS place FROM moment AS m JOIN _device_sample AS t"                           \
    " ON t.moment_id = m.moment_id WHERE m.kind = 5 AND t.total_bytes IS NOT NULL)"                                    \
    " SELECT c.moment_id, NULL, NULL, coalesce(device.physical_ordinal, device.ordinal), upper(device.kind),"          \
    " (SELECT max(d.used_bytes) FROM _device_moment AS d WHERE d.moment_id = c.moment_id"                              \
    " AND d.device_id = s.device_id), s.total_bytes, c.ns, s.is_stale, process.host"                                   \
    " FROM c JOIN _device_sample AS s ON s.moment_id = c.moment_id AND s.hardware_id = c.hardware_id"                  \
    " JOIN device ON device.device_id = c.hardware_id LEFT JOIN process ON process.process_id = device.process_id"     \
    " WHERE c.place = 1 GROUP BY c.hardware_id ORDER BY process.host, 4, c.hardware_id LIMIT ?1"

/* What it was made of: those of several processes add up, but for what each says of the same whole. */
#define PARTS                                                                                                          \
    "WITH c AS (SELECT component, heap, bytes FROM device_memory"                                                      \
    " WHERE moment_id = ?1 AND host IS ?2 AND device IS ?3),"                                                          \
    " own AS (SELECT component, CASE WHEN component IN ('POOL', 'WORKSPACE') THEN heap END AS heap,"                   \
    " sum(bytes) AS bytes FROM c WHERE component NOT IN ('RECORDED PROCESSES', 'OTHER PROCESSES', 'UNEXPLAINED',"      \
    " 'DEVICE USED') GROUP BY 1, 2),"                                                                                  \
    " other AS (SELECT coalesce(max(bytes), 0) AS bytes FROM c WHERE component = 'OTHER PROCESSES')"                   \
    " SELECT component, heap, bytes FROM (SELECT component, heap, bytes, 0 AS place FROM own"                          \
    " UNION ALL SELECT 'OTHER PROCESSES', NULL, bytes, 1 FROM other UNION ALL SELECT 'UNEXPLAINED', NULL,"             \
    " ?4 - (SELECT sum(bytes) FROM own) - (SELECT bytes FROM other), 2)"                                               \
    " WHERE abs(bytes) > ?4 / 100 ORDER BY place, bytes DESC, component, heap LIMIT ?5"

static nm_status say_parts(nm_screen *s, sqlite3_stmt *device, nm_error *err)
{
    char bytes[NM_HUMAN_BYTES], name[TEXT_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_screen_ask(s, PARTS, &rows, err);
    int code = SQLITE_DONE;

    if (status == NM_OK) {
        sqlite3_bind_value(rows, 1, sqlite3_column_value(device, 0));
        sqlite3_bind_value(rows, 2, sqlite3_column_value(device, 9));
        sqlite3_bind_value(rows, 3, sqlite3_column_value(device, 3));
        sqlite3_bind_value(rows, 4, sqlite3_column_value(device, 5));
        sqlite3_bind_int(rows, 5, COMPONENTS_MAX);
    }
    for (int i = 0; status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW; i++) {
        nm_screen_component(s, nm_db_text(rows, 0), nm_db_text(rows, 1), name, sizeof name);
        int64_t part_bytes = sqlite3_column_int64(rows, 2);
        bool is_minus = i > 0 && part_bytes < 0; /* the device says less than is known of */

        nm_screen_say(s,
                      i == 0     ? NM_SAY_PEAK_MADE_OF
                      : is_minus ? NM_SAY_PEAK_MINUS
                                 : NM_SAY_PEAK_PLUS,
                      NM_WORDS({"bytes", nm_human_bytes(bytes, is_minus ? -part_bytes : part_bytes)}, {"name", name}));
    }
    return nm_screen_end(s, rows, status, code, err);
}

static void begin_peak(nm_screen *s, bool is_first)
{
    nm_screen_begin(s, is_first ? NM_SAY_LABEL_PEAK : NM_SAY_NOTHING, NM_LINE_PLAIN,
                    is_first ? NM_RANK_PEAK : NM_RANK_DETAIL, "device_peak");
    nm_screen_rows(s, 2);
}

/* "NPU 0" whoever uses it. */
static void device_name(const nm_screen *s, sqlite3_stmt *row, int device_column, char out[64])
{
    snprintf(out, 64, "%.12s %lld", nm_screen_device_kind(s, nm_db_text(row, device_column + 1)),
             (long long)sqlite3_column_int64(row, device_column));
}

static void say_time(nm_screen *s, sqlite3_stmt *row, int ns_column, int seq_column)
{
    char when[NM_HUMAN_BYTES];

    if (!nm_db_is_null(row, ns_column))
        nm_screen_say(s, NM_SAY_PEAK_TIME,
                      NM_WORDS({"time", nm_human_time(when, sqlite3_column_int64(row, ns_column))}));
    else if (seq_column >= 0 && !nm_db_is_null(row, seq_column))
        nm_screen_say(s, NM_SAY_PEAK_EVENT,
                      NM_WORDS({"n", nm_human_count(when, sqlite3_column_int64(row, seq_column))}));
}

static nm_status add_told(nm_screen *s, bool *is_begun, nm_error *err)
{
    char used[NM_HUMAN_BYTES], total[NM_HUMAN_BYTES], left[NM_HUMAN_BYTES], device[64];
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_screen_ask(s, TOLD, &rows, err);
    int code = SQLITE_DONE;

    if (status == NM_OK)
        sqlite3_bind_int(rows, 1, DEVICES_MAX);
    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        int64_t used_bytes = sqlite3_column_int64(rows, 5), total_bytes = sqlite3_column_int64(rows, 6);

        if (used_bytes <= 0)
            continue;
        begin_peak(s, !*is_begun);
        *is_begun = true;
        device_name(s, rows, 3, device);
        nm_screen_say(s, sqlite3_column_int(rows, 8) != 0 ? NM_SAY_PEAK_ABOUT : NM_SAY_PEAK_USED,
                      NM_WORDS({"device", device}, {"bytes", nm_human_bytes(used, used_bytes)},
                               {"total", nm_human_bytes(total, total_bytes)}));
        say_time(s, rows, 7, -1);
        status = say_parts(s, rows, err);
        nm_screen_say(
            s, NM_SAY_PEAK_FREE,
            NM_WORDS({"bytes", nm_human_bytes(left, total_bytes > used_bytes ? total_bytes - used_bytes : 0)}));
    }
    return nm_screen_end(s, rows, status, code, err);
}

/* ---- Devices that said nothing: what driver memory the program held ---- */

static nm_status add_untold(nm_screen *s, bool *is_begun, nm_error *err)
{
    static const char sql[] =
        "SELECT d.device, (SELECT upper(max(kind)) FROM device), d.peak_bytes, d.capacity_bytes, d.peak_ns, d.peak_seq"
        " FROM device_peak AS d WHERE d.peak_bytes > 0 AND NOT EXISTS (SELECT 1 FROM _device_moment AS m"
        " WHERE m.moment_kind = 'device peak' AND m.total_bytes IS NOT NULL AND m.used_bytes > 0"
        " AND m.device IS d.device AND m.host IS d.host) ORDER BY d.host, d.device, d.peak_bytes DESC LIMIT ?1";
    char bytes[NM_HUMAN_BYTES], total[NM_HUMAN_BYTES], left[NM_HUMAN_BYTES], device[64];
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_screen_ask(s, sql, &rows, err);
    int code = SQLITE_DONE;

    if (status == NM_OK)
        sqlite3_bind_int(rows, 1, DEVICES_MAX);
    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        begin_peak(s, !*is_begun);
        *is_begun = true;
        device_name(s, rows, 0, device);
        nm_human_bytes(bytes, sqlite3_column_int64(rows, 2));
        if (nm_db_is_null(rows, 3))
            nm_screen_say(s, NM_SAY_PEAK_DRIVER, NM_WORDS({"device", device}, {"bytes", bytes}));
        else
            nm_screen_say(s, NM_SAY_PEAK_DRIVER_OF,
                          NM_WORDS({"device", device}, {"bytes", bytes},
                                   {"total", nm_human_bytes(total, sqlite3_column_int64(rows, 3))}));
        say_time(s, rows, 4, 5);
        if (!nm_db_is_null(rows, 3)) { /* what others held is not known */
            int64_t free_bytes = sqlite3_column_int64(rows, 3) - sqlite3_column_int64(rows, 2);

            nm_screen_say(s, NM_SAY_PEAK_FREE_MOST,
                          NM_WORDS({"bytes", nm_human_bytes(left, free_bytes > 0 ? free_bytes : 0)}));
        }
    }
    return nm_screen_end(s, rows, status, code, err);
}

/* ---- Heaps ---- */

/* Pools first. Driver and physical memory that is but a pool's segments, and leaks nothing, is left out. */
#define HEAPS                                                                                                          \
    "SELECT k.rank, k.pid, k.device, (SELECT upper(max(kind)) FROM device), k.host, k.heap, k.level, k.peak_bytes,"    \
    " k.peak_ns, k.peak_seq, k.peak_reserved_bytes, (SELECT count(*) FROM _heap_place AS p WHERE p.host IS k.host"     \
    " AND p.rank IS k.rank AND p.pid IS k.pid AND p.device IS k.device AND p.heap IS k.heap AND p.level IS k.level)"   \
    " FROM peak AS k WHERE k.peak_bytes > 0 AND NOT (k.level IN ('driver', 'physical') AND EXISTS (SELECT 1"           \
    " FROM peak AS pool WHERE pool.host IS k.host AND pool.pid IS k.pid AND pool.device IS k.device"                   \
    " AND pool.level = 'pool' AND pool.peak_reserved_bytes * 1.1 >= k.peak_bytes)"                                     \
    " AND NOT EXISTS (SELECT 1 FROM leak_by_site AS l WHERE l.host IS k.host AND l.pid IS k.pid"                       \
    " AND l.device IS k.device AND l.level = k.level))"                                                                \
    " ORDER BY k.level <> 'pool', k.peak_bytes DESC, k.rank, k.pid, k.device, k.heap LIMIT ?1"

static nm_status say_sites(nm_screen *s, sqlite3_stmt *heap, nm_error *err)
{
    static const char sql[] =
        "SELECT site, live_bytes FROM peak_by_site WHERE rank IS ?1 AND pid IS ?2 AND device IS ?3 AND host IS ?4"
        " AND heap IS ?5 AND level IS ?6 AND live_bytes > 0 ORDER BY live_bytes DESC, site LIMIT ?7";
    static const int columns[] = {0, 1, 2, 4, 5, 6};
    char bytes[NM_HUMAN_BYTES], site[TEXT_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_screen_ask(s, sql, &rows, err);
    int code = SQLITE_DONE;

    for (int i = 0; status == NM_OK && i < 6; i++)
        sqlite3_bind_value(rows, i + 1, sqlite3_column_value(heap, columns[i]));
    if (status == NM_OK)
        sqlite3_bind_int(rows, 7, SITES_MAX);
    for (int i = 0; status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW; i++)
        nm_screen_say(s, i == 0 ? NM_SAY_PEAK_FIRST_SITE : NM_SAY_PEAK_SITE,
                      NM_WORDS({"bytes", nm_human_bytes(bytes, sqlite3_column_int64(rows, 1))},
                               {"site", nm_screen_site(s, nm_db_text(rows, 0), SITE_COLUMNS, site, sizeof site)}));
    return nm_screen_end(s, rows, status, code, err);
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

static nm_status add_heap(nm_screen *s, sqlite3_stmt *heap, bool is_first, bool is_begun, nm_error *err)
{
    char bytes[NM_HUMAN_BYTES], reserved[NM_HUMAN_BYTES], count[NM_HUMAN_BYTES], name[TEXT_BYTES], place[64];
    int64_t namesake_count = sqlite3_column_int64(heap, 11);

    nm_screen_begin(s, is_begun ? NM_SAY_NOTHING : NM_SAY_LABEL_PEAK, NM_LINE_PLAIN,
                    is_first ? NM_RANK_PEAK : NM_RANK_DETAIL, "peak_by_site");
    nm_screen_rows(s, 3);
    nm_screen_say(s, NM_SAY_PEAK_HEAP,
                  NM_WORDS({"place", nm_screen_place(s, heap, 0, place)},
                           {"heap", heap_name(s, nm_db_text(heap, 5), nm_db_text(heap, 6), name)},
                           {"bytes", nm_human_bytes(bytes, sqlite3_column_int64(heap, 7))}));
    say_time(s, heap, 8, 9);
    if (sqlite3_column_int64(heap, 10) > 0)
        nm_screen_say(s, NM_SAY_PEAK_RESERVED,
                      NM_WORDS({"bytes", nm_human_bytes(reserved, sqlite3_column_int64(heap, 10))}));
    if (namesake_count > 1) {
        nm_screen_say(s, NM_SAY_PEAK_NAMESAKES, NM_WORDS({"n", nm_human_count(count, namesake_count)}));
        return NM_OK;
    }
    return say_sites(s, heap, err);
}

static nm_status add_heaps(nm_screen *s, bool *is_begun, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_screen_ask(s, HEAPS, &rows, err);
    int code = SQLITE_DONE;

    if (status == NM_OK)
        sqlite3_bind_int(rows, 1, HEAPS_MAX);
    for (bool is_first = true; status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW; is_first = false) {
        status = add_heap(s, rows, is_first, *is_begun, err);
        *is_begun = true;
    }
    return nm_screen_end(s, rows, status, code, err);
}

/* No memory was live in any heap: a recording that was cut off does not say why. */
static nm_status add_nothing(nm_screen *s, nm_error *err)
{
    static const char sql[] =
        "SELECT coalesce(sum(events_seen > events_ingested OR bytes_cut > 0 OR is_finished = 0), 0),"
        " coalesce(sum(events_ingested), 0) FROM input";
    sqlite3_stmt *row = NULL;
    nm_status status = nm_screen_ask(s, sql, &row, err);
    int code = status == NM_OK ? sqlite3_step(row) : SQLITE_DONE;

    if (code == SQLITE_ROW) {
        begin_peak(s, true);
        nm_screen_say(s,
                      sqlite3_column_int64(row, 0) == 0   ? NM_SAY_PEAK_NOTHING
                      : sqlite3_column_int64(row, 1) == 0 ? NM_SAY_PEAK_CUT_EVENT
                                                          : NM_SAY_PEAK_CUT_MEMORY,
                      NULL);
    }
    return nm_screen_end(s, row, status, code, err);
}

nm_status nm_screen_peak_lines(nm_screen *s, nm_error *err)
{
    bool is_begun = false;
    nm_status status = add_told(s, &is_begun, err);

    if (status == NM_OK)
        status = add_untold(s, &is_begun, err);
    if (status == NM_OK)
        status = add_heaps(s, &is_begun, err);
    return status == NM_OK && !is_begun ? add_nothing(s, err) : status;
}
