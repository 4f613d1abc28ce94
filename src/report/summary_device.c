/* SPDX-License-Identifier: Apache-2.0
 *
 * Processes that share a device are one here: their components are added up, and what is left of what the device says is
 * unexplained. A device that does not fit any more is left to view device_memory.
 */
#include "report/summary_device.h"

#include "base/human.h"
#include "store/database.h"

#define NAME_COLUMNS   38
#define COMPONENTS_MAX 7 /* of a device */
#define TEXT_BYTES     256

/* One row a device: the moment to show, the device, and what it said then. */
#define MOMENTS                                                                                                        \
    "WITH c AS (SELECT t.hardware_id, m.moment_id, m.kind, m.ns, row_number() OVER"                                    \
    " (PARTITION BY t.hardware_id ORDER BY m.kind, m.moment_id, t.device_id) AS place"                                 \
    " FROM moment AS m JOIN _device_sample AS t ON t.moment_id = m.moment_id LEFT JOIN heap ON heap.heap_id = "        \
    "m.heap_id"                                                                                                        \
    " WHERE m.kind IN (4, 5) AND t.total_bytes IS NOT NULL AND (m.kind = 5 OR heap.device_id = t.device_id))"          \
    " SELECT c.moment_id, process.host, coalesce(device.physical_ordinal, device.ordinal), upper(device.kind),"        \
    " (SELECT max(d.used_bytes) FROM _device_moment AS d WHERE d.moment_id = c.moment_id"                              \
    " AND d.device_id = s.device_id), s.total_bytes, c.kind, c.ns, s.is_stale"                                         \
    " FROM c JOIN _device_sample AS s ON s.moment_id = c.moment_id AND s.hardware_id = c.hardware_id"                  \
    " JOIN device ON device.device_id = c.hardware_id LEFT JOIN process ON process.process_id = device.process_id"     \
    " WHERE c.place = 1 GROUP BY c.hardware_id ORDER BY process.host, 3, c.hardware_id"

/* Its components: name, bytes, how many are shown. Those of several processes add up, but for what each says of the same
 * whole. */
#define COMPONENTS                                                                                                     \
    "WITH c AS (SELECT component, heap, bytes FROM device_memory"                                                      \
    " WHERE moment_id = ?1 AND host IS ?2 AND device IS ?3),"                                                          \
    " own AS (SELECT CASE component WHEN 'POOL' THEN heap WHEN 'PTA' THEN heap"                                        \
    " WHEN 'APP' THEN 'program, or just taken by a pool' WHEN 'PHYSICAL' THEN 'physical, not mapped'"                  \
    " WHEN 'PAGE ROUNDING' THEN 'rest of whole pages' ELSE component END AS name, sum(bytes) AS bytes FROM c"          \
    " WHERE component NOT IN ('RECORDED PROCESSES', 'OTHER PROCESSES', 'UNEXPLAINED', 'DEVICE USED') GROUP BY 1),"     \
    " other AS (SELECT coalesce(max(bytes), 0) AS bytes FROM c WHERE component = 'OTHER PROCESSES'),"                  \
    " all_of AS (SELECT name, bytes, 0 AS place FROM own UNION ALL SELECT 'other processes', bytes, 1 FROM other"      \
    " UNION ALL SELECT 'unexplained', ?4 - (SELECT sum(bytes) FROM own) - (SELECT bytes FROM other), 2),"              \
    " shown AS (SELECT name, bytes, place FROM all_of WHERE abs(bytes) > ?4 / 100 OR place = 2"                        \
    " ORDER BY place = 2 DESC, abs(bytes) DESC, name LIMIT ?5)"                                                        \
    " SELECT name, bytes, (SELECT count(*) FROM shown) FROM shown ORDER BY place, bytes DESC, name"

/* "NPU 0   device memory     used 1.2 GiB of 32.0 GiB at its peak, at 81.3 s" */
static void write_title(sqlite3_stmt *row, FILE *out)
{
    char device[32], used[NM_HUMAN_BYTES], total[NM_HUMAN_BYTES], when[NM_HUMAN_BYTES] = "";
    const char *kind = (const char *)sqlite3_column_text(row, 3);

    snprintf(device, sizeof device, "%.8s %lld", kind == NULL ? "device" : kind,
             (long long)sqlite3_column_int64(row, 2));
    if (!nm_db_is_null(row, 7))
        nm_human_time(when, sqlite3_column_int64(row, 7));
    fprintf(out, "%-7s %-17s used %s%s of %s %s%s%s\n", device, "device memory",
            sqlite3_column_int(row, 8) != 0 ? "about " : "", nm_human_bytes(used, sqlite3_column_int64(row, 4)),
            nm_human_bytes(total, sqlite3_column_int64(row, 5)),
            sqlite3_column_int(row, 6) == 4 ? "when an allocation failed" : "at its peak", when[0] == 0 ? "" : ", at ",
            when);
}

static void write_component(sqlite3_stmt *row, int64_t used_bytes, FILE *out)
{
    char bytes[NM_HUMAN_BYTES], share[NM_HUMAN_BYTES], name[TEXT_BYTES];
    int64_t component_bytes = sqlite3_column_int64(row, 1);

    fprintf(out, "        %10s %5s  %s\n", nm_human_bytes(bytes, component_bytes),
            nm_human_percent(share, (double)component_bytes / (double)used_bytes),
            nm_human_text(name, sizeof name, (const char *)sqlite3_column_text(row, 0), NAME_COLUMNS));
}

/* Writes a device's block if it says anything and fits. */
static nm_status write_device(sqlite3 *db, sqlite3_stmt *device, FILE *out, int64_t *line_count, nm_error *err)
{
    int64_t used_bytes = sqlite3_column_int64(device, 4);
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_db_prepare(db, COMPONENTS, &rows, err);
    int code = SQLITE_DONE;

    for (int column = 0; status == NM_OK && column < 3; column++)
        sqlite3_bind_value(rows, column + 1, sqlite3_column_value(device, column));
    if (status == NM_OK) {
        sqlite3_bind_int64(rows, 4, used_bytes);
        sqlite3_bind_int(rows, 5, COMPONENTS_MAX);
    }
    for (int64_t index = 0; status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW; index++) {
        int64_t shown_count = sqlite3_column_int64(rows, 2);

        if (index == 0 && (shown_count < 3 || *line_count + 1 + shown_count > NM_SUMMARY_DEVICE_LINES_MAX)) {
            code = SQLITE_DONE;
            break;
        }
        if (index == 0)
            write_title(device, out);
        write_component(rows, used_bytes, out);
        *line_count += index == 0 ? 2 : 1;
    }
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(rows);
    return status;
}

nm_status nm_summary_write_devices(sqlite3 *db, FILE *out, nm_error *err)
{
    int64_t line_count = 0;
    sqlite3_stmt *device = NULL;
    int code = SQLITE_DONE;
    nm_status status = nm_db_prepare(db, MOMENTS, &device, err);

    while (status == NM_OK && (code = sqlite3_step(device)) == SQLITE_ROW)
        if (sqlite3_column_int64(device, 4) > 0)
            status = write_device(db, device, out, &line_count, err);
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(device);
    return status;
}
