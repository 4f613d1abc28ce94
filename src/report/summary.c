/* SPDX-License-Identifier: Apache-2.0
 *
 * One query a line of output. A heap is found again in the views by the six columns that each of them begins with.
 */
#include "report/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "report/summary_device.h"
#include "report/summary_graphs.h"
#include "report/summary_health.h"
#include "report/summary_held.h"
#include "report/summary_many.h"
#include "report/summary_steps.h"
#include "store/database.h"
#include "trace/event.h"

#define PLACE_COLUMNS        6
#define SAME_PLACE           "host IS ?1 AND rank IS ?2 AND pid IS ?3 AND device IS ?4 AND heap IS ?5 AND level IS ?6"
#define SITE_COLUMNS         38
#define TEXT_BYTES           512
#define UNSEEN_COLUMNS       60
#define ONE_A_STEP_RATIO_MIN 0.9 /* of the steps from the first leaked one to the last */
#define EXPLANATION_COLUMNS  400

typedef struct summary {
    sqlite3 *db;
    FILE *out;
    int64_t process_count, holder_count; /* of these with memory */
    int site_lines;                      /* of each heap */
    int leak_lines;                      /* of each heap */
    bool has_steps;
} summary;

/* Prepares `sql` with the place of the heap that `heap` stands on. */
static nm_status ask(const summary *s, sqlite3_stmt *heap, const char *sql, sqlite3_stmt **out, nm_error *err)
{
    nm_status status = nm_db_prepare(s->db, sql, out, err);

    for (int column = 0; status == NM_OK && heap != NULL && column < PLACE_COLUMNS; column++)
        sqlite3_bind_value(*out, column + 1, sqlite3_column_value(heap, column));
    return status;
}

/* Finalizes a walked query and says how it ended. */
static nm_status end_query(const summary *s, sqlite3_stmt *rows, nm_status status, int code, nm_error *err)
{
    sqlite3_finalize(rows);
    return status == NM_OK && code != SQLITE_DONE && code != SQLITE_ROW ? nm_db_fail(s->db, err) : status;
}

/* "at 81.3 s", or "at event 7,430" where times are unknown, or "" where nothing is known. */
static const char *when(char out[64], sqlite3_stmt *row, int ns_column, int seq_column)
{
    char number[NM_HUMAN_BYTES];

    out[0] = 0;
    if (!nm_db_is_null(row, ns_column))
        snprintf(out, 64, " at %s", nm_human_time(number, sqlite3_column_int64(row, ns_column)));
    else if (!nm_db_is_null(row, seq_column))
        snprintf(out, 64, " at event %s", nm_human_count(number, sqlite3_column_int64(row, seq_column)));
    return out;
}

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

/* ---- The first line ---- */

static void write_losses(const summary *s, sqlite3_stmt *row, int first_column)
{
    static const char *const words[] = {"dropped", "damaged", "unrecovered", "late", "without their stack"};
    const int unrecovered = 2, exact_column = 17;
    char number[NM_HUMAN_BYTES];

    for (int index = 0; index < 5; index++) {
        int64_t count = sqlite3_column_int64(row, first_column + index);

        bool is_known = index != unrecovered || sqlite3_column_int(row, exact_column) != 0;

        if (count != 0 || index == 0 || !is_known)
            fprintf(s->out, ", %s%s %s", is_known ? "" : "at least ", nm_human_count(number, count), words[index]);
    }
}

/* "Rows of each event from 81.3 s on; of the 1,234 events before that, sums." */
static void write_detail(const summary *s, sqlite3_stmt *row, int first_column)
{
    char number[NM_HUMAN_BYTES];
    char place[64];

    if (nm_db_is_null(row, first_column + 2))
        return;
    fprintf(s->out, "Kept: rows of each event from%s on;", when(place, row, first_column + 1, first_column + 2) + 3);
    fprintf(s->out, " of the %s event%s before that, sums.\n",
            nm_human_count(number, sqlite3_column_int64(row, first_column)),
            plural(sqlite3_column_int64(row, first_column)));
}

/* "1 process", or "39 processes (1 with memory)": a shell that starts a program is one, too. */
static void write_process_count(const summary *s)
{
    char number[NM_HUMAN_BYTES];

    fprintf(s->out, "%s process%s", nm_human_count(number, s->process_count), s->process_count == 1 ? "" : "es");
    if (s->holder_count < s->process_count && s->holder_count > 0)
        fprintf(s->out, " (%s with memory)", nm_human_count(number, s->holder_count));
    fprintf(s->out, ", ");
}

/* A history that begins in the middle, or that a ring has cut, is not complete, though nothing of the file is missing. */
static const char *completeness_in_words(const char *verdict)
{
    static const char *const words[][2] = {{"complete", "complete"},
                                           {"begun", "whole, but it begins in the middle"},
                                           {"kept", "complete as far as it was kept"},
                                           {"cut", "cut off before its end"},
                                           {"contradictory", "CONTRADICTS ITSELF"}};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(verdict, words[i][0]) == 0)
            return words[i][1];
    return "NOT COMPLETE";
}

static nm_status write_head(summary *s, const nm_summary_names *names, nm_error *err)
{
    static const char sql[] =
        "SELECT CASE WHEN count(*) = 1 THEN min(path) ELSE count(*) || ' inputs' END,"
        " CASE WHEN sum(verdict = 'lossy') > 0 THEN 'lossy' WHEN sum(verdict = 'cut') > 0 THEN 'cut'"
        " WHEN sum(verdict = 'contradictory') > 0 THEN 'contradictory' WHEN sum(verdict = 'kept') > 0 THEN 'kept'"
        " WHEN sum(verdict = 'begun') > 0 THEN 'begun' ELSE 'complete' END,"
        " sum(events_ingested), sum(events_dropped), sum(events_damaged), sum(events_unrecovered), sum(events_late),"
        " sum(events_without_stack), sum(bytes_cut), (SELECT count(*) FROM process),"
        " (SELECT count(*) FROM (SELECT DISTINCT host, device FROM _heap_place WHERE device IS NOT NULL)),"
        " (SELECT upper(max(kind)) FROM device), (SELECT count(*) > 0 FROM step), sum(events_unkept),"
        " CASE WHEN count(*) = 1 THEN min(detail_begin_ns) END, CASE WHEN count(*) = 1 THEN min(detail_begin_seq) END,"
        " (SELECT count(DISTINCT process_id) FROM _heap_sum JOIN heap USING (heap_id) WHERE peak_bytes > 0),"
        " min(is_loss_exact)"
        " FROM completeness";
    char number[NM_HUMAN_BYTES];
    char path[TEXT_BYTES];
    char database_path[TEXT_BYTES];
    sqlite3_stmt *row = NULL;
    nm_status status = ask(s, NULL, sql, &row, err);
    int code = status == NM_OK ? sqlite3_step(row) : SQLITE_DONE;

    if (code == SQLITE_ROW) {
        int64_t device_count = sqlite3_column_int64(row, 10);
        const char *device_kind = nm_db_is_null(row, 11) ? "device" : nm_db_text(row, 11);

        s->process_count = sqlite3_column_int64(row, 9);
        s->holder_count = sqlite3_column_int64(row, 16);
        s->has_steps = sqlite3_column_int(row, 12) != 0;
        fprintf(s->out, "%s  from %s: ", nm_human_text(database_path, sizeof database_path, names->database_path, 200),
                nm_human_text(path, sizeof path, nm_db_text(row, 0), 200));
        write_process_count(s);
        fprintf(s->out, "%s %s%s, ", nm_human_count(number, device_count), device_kind, plural(device_count));
        fprintf(s->out, "%s event%s", nm_human_count(number, sqlite3_column_int64(row, 2)),
                plural(sqlite3_column_int64(row, 2)));
        write_losses(s, row, 3);
        if (sqlite3_column_int64(row, 8) != 0)
            fprintf(s->out, ", %s cut", nm_human_bytes(number, sqlite3_column_int64(row, 8)));
        fprintf(s->out, ", %s\n", completeness_in_words(nm_db_text(row, 1)));
        write_detail(s, row, 13);
    }
    return end_query(s, row, status, code, err);
}

static nm_status write_process_note(const summary *s, nm_error *err)
{
    int64_t left_count = 0, loss_count = 0;
    char number[NM_HUMAN_BYTES];
    nm_status status = nm_db_get_int(s->db, "SELECT coalesce(sum(processes_left), 0) FROM input", &left_count, err);

    if (status == NM_OK && s->process_count == 0)
        status = nm_db_get_int(s->db,
                               "SELECT count(*) FROM input WHERE events_seen > events_ingested OR bytes_cut > 0"
                               " OR is_finished = 0",
                               &loss_count, err);
    if (status == NM_OK && s->process_count == 0 && loss_count > 0)
        fprintf(s->out, "What was lost may have told of processes: nothing is known of what ran.\n");
    else if (status == NM_OK && s->process_count == 0)
        fprintf(s->out, "No process loaded the recorder: nothing is known of what ran.\n");
    else if (status == NM_OK && left_count > 0)
        fprintf(s->out, "%s process%s became a program that did not load the recorder: what it did is not known.\n",
                nm_human_count(number, left_count), left_count == 1 ? "" : "es");
    return status;
}

/* How it ended, where that was not as a program does that has done its work; and why, where a mark of the recorder says so. */
static nm_status write_ends(const summary *s, nm_error *err)
{
    static const char sql[] =
        "SELECT count(*) OVER (), p.pid, p.end_kind = 'signal', p.end_status, (SELECT m.name FROM moment AS m"
        " WHERE m.name GLOB 'host out of memory: process ' || p.pid || ' *' AND m.seq >= 0 LIMIT 1) FROM process AS p"
        " WHERE p.end_kind = 'signal' OR (p.end_kind = 'exit' AND p.end_status <> 0)"
        " ORDER BY 5 IS NULL, p.end_kind <> 'signal', p.process_id LIMIT 3";
    char text[TEXT_BYTES], number[NM_HUMAN_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_status status = ask(s, NULL, sql, &rows, err);
    int64_t more_count = 0;
    int code = SQLITE_DONE;

    for (int count = 1; status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW; count++) {
        fprintf(s->out, "Process %lld ended ", (long long)sqlite3_column_int64(rows, 1));
        if (nm_db_is_null(rows, 3))
            fprintf(s->out, "by a signal or without a word");
        else
            fprintf(s->out, "%s %lld", sqlite3_column_int(rows, 2) ? "by signal" : "with status",
                    (long long)sqlite3_column_int64(rows, 3));
        if (!nm_db_is_null(rows, 4))
            fprintf(s->out, ": %s", nm_human_text(text, sizeof text, nm_db_text(rows, 4), 200));
        fprintf(s->out, "\n");
        more_count = sqlite3_column_int64(rows, 0) - count;
    }
    if (more_count > 0)
        fprintf(s->out, "%s more did not end with status 0 (table process)\n", nm_human_count(number, more_count));
    return end_query(s, rows, status, code, err);
}

/* A process ran before its recording began: its figures are of a part. */
static nm_status write_late_note(const summary *s, nm_error *err)
{
    int64_t late_count = 0;
    nm_status status = nm_db_get_int(s->db, "SELECT count(*) FROM input WHERE baseline = 'unknown'", &late_count, err);

    if (status == NM_OK && late_count > 0)
        fprintf(s->out,
                "The recording began late: what was live before it, and what became of that, is in no figure.\n");
    return status;
}

static nm_status write_contradiction_note(const summary *s, nm_error *err)
{
    int64_t block_count = 0;
    char number[NM_HUMAN_BYTES];
    nm_status status =
        nm_db_get_int(s->db, "SELECT coalesce(sum(blocks_outside_count), 0) FROM input", &block_count, err);

    if (status == NM_OK && block_count > 0)
        fprintf(s->out,
                "%s block%s in none of the segments that the file lists: it contradicts itself, and what its pool"
                " reserved, how fragmented that was and what it missed are not known.\n",
                nm_human_count(number, block_count), block_count == 1 ? " lies" : "s lie");
    return status;
}

#define WAS_PAUSED "EXISTS (SELECT 1 FROM _pause WHERE is_memory_told = 0)"

static nm_status write_pause_note(const summary *s, nm_error *err)
{
    int64_t was_paused = 0;
    nm_status status = nm_db_get_int(s->db, "SELECT " WAS_PAUSED, &was_paused, err);

    if (status == NM_OK && was_paused != 0)
        fprintf(s->out, "The recording was paused: what came and went in between is in no figure.\n");
    return status;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

/* Driver memory of a device that has a pool is the pool's segments, and counted there. */
#define IS_COUNTED_ONCE                                                                                                \
    "NOT (h.level IN (1, 7) AND EXISTS (SELECT 1 FROM heap AS o JOIN _heap_sum AS t ON t.heap_id = o.heap_id"          \
    " WHERE o.process_id = h.process_id AND o.device_id IS h.device_id AND o.level IN (2, 3)"                          \
    " AND t.peak_reserved_bytes > 0))"

/* ", most in libtorch_npu.so": the code of the outermost frames keeps no frame pointers. */
static nm_status write_cut_module(const summary *s, int64_t cut_bytes, nm_error *err)
{
    static const char sql[] =
        "WITH RECURSIVE outwards (stack_id, bytes) AS (SELECT p.stack_id, p.live_bytes FROM _peak_stack AS p"
        " JOIN stack AS k ON k.stack_id = p.stack_id JOIN heap AS h ON h.heap_id = p.heap_id"
        " WHERE k.is_cut = 1 AND NOT p.is_baseline AND " IS_COUNTED_ONCE
        " UNION ALL SELECT k.parent_id, o.bytes FROM outwards AS o JOIN stack AS k ON k.stack_id = o.stack_id"
        " WHERE k.parent_id IS NOT NULL)"
        " SELECT f.module, sum(o.bytes) FROM outwards AS o JOIN stack AS k ON k.stack_id = o.stack_id"
        " JOIN frame AS f ON f.frame_id = k.frame_id WHERE k.parent_id IS NULL AND f.module IS NOT NULL"
        " GROUP BY f.module ORDER BY 2 DESC, 1 LIMIT 1";
    char module[TEXT_BYTES];
    sqlite3_stmt *row = NULL;
    nm_status status = ask(s, NULL, sql, &row, err);
    int code = status == NM_OK ? sqlite3_step(row) : SQLITE_DONE;

    if (code == SQLITE_ROW && sqlite3_column_int64(row, 1) > cut_bytes / 2)
        fprintf(s->out, ", most in %s", nm_human_text(module, sizeof module, file_name(nm_db_text(row, 0)), 40));
    return end_query(s, row, status, code, err);
}

/* Of what share of the peaks callers are missing, where it matters. */
static nm_status write_cut_note(const summary *s, nm_error *err)
{
    static const char sql[] =
        "SELECT sum(p.live_bytes), sum(CASE WHEN s.is_cut = 1 THEN p.live_bytes ELSE 0 END),"
        " sum(CASE WHEN f.is_cut = 1 THEN p.live_bytes ELSE 0 END) FROM _peak_stack AS p"
        " LEFT JOIN stack AS s ON s.stack_id = p.stack_id LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id"
        " JOIN heap AS h ON h.heap_id = p.heap_id WHERE NOT p.is_baseline AND " IS_COUNTED_ONCE;
    char cut[NM_HUMAN_BYTES], whole[NM_HUMAN_BYTES], unplaced[NM_HUMAN_BYTES], share[NM_HUMAN_BYTES];
    sqlite3_stmt *row = NULL;
    nm_status status = ask(s, NULL, sql, &row, err);
    int code = status == NM_OK ? sqlite3_step(row) : SQLITE_DONE;
    int64_t bytes[3] = {0};

    for (int i = 0; code == SQLITE_ROW && i < 3; i++)
        bytes[i] = sqlite3_column_int64(row, i);
    status = end_query(s, row, status, code, err);
    if (status != NM_OK || bytes[1] == 0 || (bytes[1] < bytes[0] / 20 && bytes[2] < bytes[0] / 100))
        return status;
    fprintf(s->out, "Stacks are cut for %s (%s) of the %s that were live at the peaks of the heaps",
            nm_human_bytes(cut, bytes[1]), nm_human_percent(share, (double)bytes[1] / (double)bytes[0]),
            nm_human_bytes(whole, bytes[0]));
    status = write_cut_module(s, bytes[1], err);
    if (bytes[2] > 0)
        fprintf(s->out, "; %s of it has no site", nm_human_bytes(unplaced, bytes[2]));
    fprintf(s->out, ". Code built with -fno-omit-frame-pointer has whole ones.\n");
    return status;
}

static nm_status write_stack_note(const summary *s, nm_error *err)
{
    int64_t stack_count = 0;
    int64_t caller_count = 0;
    int64_t live_count = 0;
    nm_status status = nm_db_get_int(s->db, "SELECT count(*) FROM stack", &stack_count, err);

    if (status == NM_OK)
        status = nm_db_get_int(s->db, "SELECT count(*) FROM stack WHERE parent_id IS NOT NULL OR is_cut = 1",
                               &caller_count, err);
    if (status == NM_OK)
        status = nm_db_get_int(s->db, "SELECT count(*) FROM peak_by_site WHERE site <> '(baseline)'", &live_count, err);
    if (status == NM_OK && stack_count == 0 && live_count > 0)
        fprintf(s->out, "No stacks were recorded: sites are unknown, and each heap is judged as one.\n");
    else if (status == NM_OK && stack_count > 0 && caller_count == 0)
        fprintf(s->out, "Stacks hold the caller alone: a site may be a wrapper.\n");
    return status;
}

/* In a program that runs Python: how much of the peaks has no line of it. */
static nm_status write_python_note(const summary *s, nm_error *err)
{
    static const char sql[] =
        "SELECT sum(p.live_bytes), sum(CASE WHEN f.module GLOB 'python3.*' THEN 0 ELSE p.live_bytes END)"
        " FROM _peak_stack AS p LEFT JOIN stack AS s ON s.stack_id = p.stack_id"
        " LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id"
        " JOIN heap AS h ON h.heap_id = p.heap_id"
        " WHERE NOT p.is_baseline AND EXISTS (SELECT 1 FROM frame WHERE module GLOB 'python3.*')"
        " AND " IS_COUNTED_ONCE;
    char part[NM_HUMAN_BYTES], whole[NM_HUMAN_BYTES];
    sqlite3_stmt *row = NULL;
    nm_status status = ask(s, NULL, sql, &row, err);
    int code = status == NM_OK ? sqlite3_step(row) : SQLITE_DONE;

    if (code == SQLITE_ROW && sqlite3_column_int64(row, 1) > 0)
        fprintf(s->out, "Without a line of Python: %s of the %s that were live at the peaks of the heaps.\n",
                nm_human_bytes(part, sqlite3_column_int64(row, 1)),
                nm_human_bytes(whole, sqlite3_column_int64(row, 0)));
    return end_query(s, row, status, code, err);
}

/* ---- One heap ---- */

static nm_status write_peak_sites(const summary *s, sqlite3_stmt *heap, nm_error *err)
{
    char bytes[NM_HUMAN_BYTES], share[NM_HUMAN_BYTES], count[NM_HUMAN_BYTES], site[TEXT_BYTES], sql[512];
    sqlite3_stmt *rows = NULL;
    int code = SQLITE_DONE;

    snprintf(sql, sizeof sql,
             "SELECT site, live_count, live_bytes, share_ratio FROM peak_by_site WHERE " SAME_PLACE
             " AND live_bytes > 0 ORDER BY live_bytes DESC, site LIMIT %d",
             s->site_lines);
    nm_status status = ask(s, heap, sql, &rows, err);
    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW)
        fprintf(s->out, "        %10s %5s  %-*s %10s live\n", nm_human_bytes(bytes, sqlite3_column_int64(rows, 2)),
                nm_human_percent(share, sqlite3_column_double(rows, 3)), SITE_COLUMNS,
                nm_human_text(site, sizeof site, nm_db_text(rows, 0), SITE_COLUMNS),
                nm_human_count(count, sqlite3_column_int64(rows, 1)));
    return end_query(s, rows, status, code, err);
}

/* As many as steps they were born in, and hardly any step from the first to the last without. */
static bool is_one_a_step(const summary *s, sqlite3_stmt *row)
{
    int64_t leak_count = sqlite3_column_int64(row, 1);
    double mean_bytes = (double)sqlite3_column_int64(row, 2) / (double)leak_count;

    return s->has_steps && leak_count > 2 && leak_count == sqlite3_column_int64(row, 3) && !nm_db_is_null(row, 4) &&
           (double)sqlite3_column_int64(row, 4) + 1 > ONE_A_STEP_RATIO_MIN * mean_bytes;
}

/* "318 x 6.1 MiB, one a step" */
static void write_leak_size(const summary *s, sqlite3_stmt *row)
{
    char number[NM_HUMAN_BYTES];
    int64_t leak_count = sqlite3_column_int64(row, 1);
    int64_t leak_bytes = sqlite3_column_int64(row, 2);

    fprintf(s->out, "%s x ", nm_human_count(number, leak_count));
    fprintf(s->out, "%s", nm_human_bytes(number, leak_bytes / leak_count));
    if (is_one_a_step(s, row))
        fprintf(s->out, ", one a step");
    else if (sqlite3_column_int64(row, 3) > 2 && sqlite3_column_double(row, 6) >= 1)
        fprintf(s->out, ", %s a step", nm_human_bytes(number, (int64_t)sqlite3_column_double(row, 6)));
    fprintf(s->out, ", %s\n", nm_db_text(row, 5));
}

static nm_status write_leak_sites(const summary *s, sqlite3_stmt *heap, nm_error *err)
{
    char bytes[NM_HUMAN_BYTES], site[TEXT_BYTES], sql[512];
    sqlite3_stmt *rows = NULL;
    int code = SQLITE_DONE;

    snprintf(sql, sizeof sql,
             "SELECT site, leak_count, leak_bytes, generation_count, bytes_per_step, verdict, late_bytes_per_step"
             " FROM leak_by_site WHERE " SAME_PLACE " ORDER BY verdict = 'unreleased', leak_bytes DESC, site LIMIT %d",
             s->leak_lines);
    nm_status status = ask(s, heap, sql, &rows, err);
    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        fprintf(s->out, "        %10s        %-*s  ", nm_human_bytes(bytes, sqlite3_column_int64(rows, 2)),
                SITE_COLUMNS, nm_human_text(site, sizeof site, nm_db_text(rows, 0), SITE_COLUMNS));
        write_leak_size(s, rows);
    }
    return end_query(s, rows, status, code, err);
}

/* How much is live at the end, and why it cannot be said that none of it is a leak. */
static void write_no_leak(const summary *s, sqlite3_stmt *row)
{
    char count[NM_HUMAN_BYTES], bytes[NM_HUMAN_BYTES], part[NM_HUMAN_BYTES];
    int64_t live_bytes = sqlite3_column_int64(row, 3), cut_bytes = sqlite3_column_int64(row, 6);
    bool is_timed = sqlite3_column_int64(row, 4) == 0, is_judged = is_timed && cut_bytes <= live_bytes / 2;

    nm_human_count(count, sqlite3_column_int64(row, 2));
    nm_human_bytes(bytes, live_bytes);
    if (is_judged && cut_bytes > 0)
        fprintf(s->out, "        leaks             none   (%s outstanding, %s; %s of it not judged: stack cut)\n",
                count, bytes, nm_human_bytes(part, cut_bytes));
    else if (is_judged)
        fprintf(s->out, "        leaks             none   (%s outstanding, %s)\n", count, bytes);
    else
        fprintf(s->out, "        leaks             not judged: %s   (%s live at the end, %s)\n",
                is_timed ? "stack cut" : nm_db_text(row, 5), count, bytes);
}

static nm_status write_leaks(const summary *s, sqlite3_stmt *heap, nm_error *err)
{
    static const char sql[] =
        "SELECT coalesce(sum(leak_count), 0), coalesce(sum(leak_bytes), 0), (SELECT outstanding_count FROM heap_total "
        "WHERE " SAME_PLACE "), (SELECT outstanding_bytes FROM heap_total WHERE " SAME_PLACE
        "), (SELECT count(*) FROM suspect_by_site WHERE reason IN ('no steps', 'too few steps') AND " SAME_PLACE
        "), (SELECT min(reason) FROM suspect_by_site WHERE reason IN ('no steps', 'too few steps') AND " SAME_PLACE
        "), (SELECT sum(size_bytes) FROM suspect_by_site WHERE reason = 'stack cut' AND " SAME_PLACE
        ") FROM leak_by_site WHERE " SAME_PLACE;
    char count[NM_HUMAN_BYTES], bytes[NM_HUMAN_BYTES];
    sqlite3_stmt *row = NULL;
    nm_status status = ask(s, heap, sql, &row, err);
    int code = status == NM_OK ? sqlite3_step(row) : SQLITE_DONE;
    bool has_leaks = false;

    if (code == SQLITE_ROW) {
        int64_t leak_count = sqlite3_column_int64(row, 0);

        has_leaks = leak_count > 0;
        if (has_leaks)
            fprintf(s->out, "        leaks             %s allocation%s, %s\n", nm_human_count(count, leak_count),
                    plural(leak_count), nm_human_bytes(bytes, sqlite3_column_int64(row, 1)));
        else
            write_no_leak(s, row);
    }
    status = end_query(s, row, status, code, err);
    return status == NM_OK && has_leaks ? write_leak_sites(s, heap, err) : status;
}

/* "5.4 % of reserved unused at peak, 72.9 MiB of it inactive split": of a row of view _fragmentation_verdict. */
static void write_unused(const summary *s, sqlite3_stmt *row)
{
    static const char *const words[][2] = {{"peak", "of reserved unused at peak"},
                                           {"growth", "unused when the pool grew"},
                                           {"failure", "inactive split when an allocation failed"}};
    const double shown_ratio = 0.001;
    char share[NM_HUMAN_BYTES], bytes[NM_HUMAN_BYTES];
    const char *word = "";

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(nm_db_text(row, 0), words[i][0]) == 0)
            word = words[i][1];
    fprintf(s->out, "%s%s %s",
            sqlite3_column_double(row, 2) - sqlite3_column_double(row, 1) > shown_ratio ? "at most " : "",
            nm_human_percent(share, sqlite3_column_double(row, 2)), word);
    if (strcmp(nm_db_text(row, 0), "peak") == 0 && !nm_db_is_null(row, 3))
        fprintf(s->out, ", %s inactive split", nm_human_bytes(bytes, sqlite3_column_int64(row, 3)));
}

/* At the peak, and where it was worse than that. */
static nm_status write_fragmentation(const summary *s, sqlite3_stmt *heap, nm_error *err)
{
    static const char sql[] =
        "SELECT v.moment, v.min_ratio, v.max_ratio, v.inactive_split_bytes, v.reason FROM _fragmentation_verdict AS v"
        " WHERE " SAME_PLACE " AND (v.moment = 'peak' OR v.min_ratio > (SELECT o.max_ratio FROM _fragmentation_verdict"
        " AS o WHERE o.heap_id = v.heap_id AND o.moment = 'peak')) ORDER BY v.moment <> 'peak', v.min_ratio DESC"
        " LIMIT 2";
    sqlite3_stmt *rows = NULL;
    nm_status status = ask(s, heap, sql, &rows, err);
    const char *before = "        fragmentation     ";
    int code = SQLITE_DONE;

    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        fprintf(s->out, "%s", before);
        write_unused(s, rows);
        if (!nm_db_is_null(rows, 4))
            fprintf(s->out, ", not judged: %s", nm_db_text(rows, 4));
        before = "; ";
    }
    if (before[0] == ';')
        fputc('\n', s->out);
    return end_query(s, rows, status, code, err);
}

static nm_status write_hit_rate(const summary *s, sqlite3_stmt *heap, nm_error *err)
{
    static const char sql[] =
        "SELECT hit_rate, miss_count, allocation_count, last_miss_ns, last_miss_seq,"
        " misses_per_step, is_partial FROM pool_summary WHERE hit_rate IS NOT NULL AND " SAME_PLACE;
    char share[NM_HUMAN_BYTES], misses[NM_HUMAN_BYTES], requests[NM_HUMAN_BYTES], last[64], warm[64] = "";
    sqlite3_stmt *row = NULL;
    nm_status status = ask(s, heap, sql, &row, err);
    int code = status == NM_OK ? sqlite3_step(row) : SQLITE_DONE;

    if (code == SQLITE_ROW) {
        int64_t miss_count = sqlite3_column_int64(row, 1);

        if (!nm_db_is_null(row, 5) && sqlite3_column_double(row, 5) > 0)
            snprintf(warm, sizeof warm, ", %.2g a step when warm", sqlite3_column_double(row, 5));
        else if (!nm_db_is_null(row, 5) && sqlite3_column_int(row, 6) == 0)
            snprintf(warm, sizeof warm, ", none when warm");
        fprintf(s->out, "        pool hit rate     %s  %s miss%s of %s%s%s%s\n",
                nm_human_percent(share, sqlite3_column_double(row, 0)), nm_human_count(misses, miss_count),
                miss_count == 1 ? "" : "es", nm_human_count(requests, sqlite3_column_int64(row, 2)),
                miss_count > 0 ? ", last" : "", when(last, row, 3, 4), warm);
    }
    return end_query(s, row, status, code, err);
}

/* A pool whose reserved bytes are not known: nothing is said of it as if that were nothing. */
static nm_status write_not_judged(const summary *s, sqlite3_stmt *heap, nm_error *err)
{
    static const char sql[] = "SELECT measure FROM health WHERE measure IN ('fragmentation', 'pool hit rate')"
                              " AND value IS NULL AND advice GLOB 'Not judged*' AND " SAME_PLACE " ORDER BY measure";
    sqlite3_stmt *rows = NULL;
    nm_status status = ask(s, heap, sql, &rows, err);
    int code = SQLITE_DONE;

    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW)
        fprintf(s->out, "        %-17s not judged: the pool's reserved bytes are not known\n", nm_db_text(rows, 0));
    return end_query(s, rows, status, code, err);
}

/* "NPU 0", and of several processes which. */
static void write_heap_title(const summary *s, sqlite3_stmt *heap)
{
    char device[32];
    char name[TEXT_BYTES];
    char title[TEXT_BYTES];

    if (nm_db_is_null(heap, 3))
        snprintf(device, sizeof device, "host");
    else
        snprintf(device, sizeof device, "%.8s %lld", nm_db_is_null(heap, 11) ? "device" : nm_db_text(heap, 11),
                 (long long)sqlite3_column_int64(heap, 3));
    nm_human_text(name, sizeof name, nm_db_text(heap, 4), 24);
    if (s->holder_count <= 1)
        snprintf(title, sizeof title, "%.200s", name);
    else if (!nm_db_is_null(heap, 1))
        snprintf(title, sizeof title, "rank %lld  %.200s", (long long)sqlite3_column_int64(heap, 1), name);
    else
        snprintf(title, sizeof title, "pid %lld  %.200s", (long long)sqlite3_column_int64(heap, 2), name);
    fprintf(s->out, "%-7s %-17s ", device, title);
}

/* Views know a heap by its place: where several have the same, what they say of it is of all of them. */
static nm_status write_namesakes(const summary *s, sqlite3_stmt *heap, int64_t *count, nm_error *err)
{
    char number[NM_HUMAN_BYTES];
    sqlite3_stmt *row = NULL;
    nm_status status = ask(s, heap, "SELECT count(*) FROM _heap_place WHERE " SAME_PLACE, &row, err);
    int code = status == NM_OK ? sqlite3_step(row) : SQLITE_DONE;

    *count = code == SQLITE_ROW ? sqlite3_column_int64(row, 0) : 1;
    if (*count > 1)
        fprintf(s->out, "        one of %s heaps of this name, process and device: views do not tell them apart\n",
                nm_human_count(number, *count));
    return end_query(s, row, status, code, err);
}

static nm_status write_heap(const summary *s, sqlite3_stmt *heap, nm_error *err)
{
    char number[NM_HUMAN_BYTES], at[64], capacity[NM_HUMAN_BYTES + 4] = "";
    bool is_reserve_known = sqlite3_column_int64(heap, 9) > 0; /* else: a pool whose segments nobody saw */
    int64_t namesake_count = 1;
    nm_status status;

    if (!nm_db_is_null(heap, 10))
        snprintf(capacity, sizeof capacity, " of %s", nm_human_bytes(number, sqlite3_column_int64(heap, 10)));
    write_heap_title(s, heap);
    fprintf(s->out, "peak %s", nm_human_bytes(number, sqlite3_column_int64(heap, 6)));
    fprintf(s->out, "%s%s", is_reserve_known ? "" : capacity, when(at, heap, 7, 8));
    if (is_reserve_known)
        fprintf(s->out, ", reserved %s%s", nm_human_bytes(number, sqlite3_column_int64(heap, 9)), capacity);
    fprintf(s->out, "\n");
    status = write_namesakes(s, heap, &namesake_count, err);
    if (status != NM_OK || namesake_count > 1)
        return status;
    status = write_peak_sites(s, heap, err);
    if (status == NM_OK)
        status = write_leaks(s, heap, err);
    if (status == NM_OK)
        status = write_fragmentation(s, heap, err);
    if (status == NM_OK)
        status = write_hit_rate(s, heap, err);
    if (status == NM_OK)
        status = write_not_judged(s, heap, err);
    return status;
}

/* Heaps worth a place on the screen, pools first. Driver and physical memory that is but a pool's segments, and leaks
 * nothing, is left out. */
#define SHOWN_HEAPS                                                                                                    \
    " FROM peak AS k WHERE k.peak_bytes > 0 AND NOT (k.level IN ('driver', 'physical') AND EXISTS (SELECT 1"           \
    " FROM peak AS pool WHERE pool.host IS k.host AND pool.pid IS k.pid AND pool.device IS k.device"                   \
    " AND pool.level = 'pool' AND pool.peak_reserved_bytes * 1.1 >= k.peak_bytes)"                                     \
    " AND NOT EXISTS (SELECT 1 FROM leak_by_site AS l WHERE l.host IS k.host AND l.pid IS k.pid"                       \
    " AND l.device IS k.device AND l.level = k.level))"

/* Lines that so many heaps take, pools first: those have two lines more, fragmentation and hit rate. */
static int64_t lines_of(const summary *s, int64_t heap_count, int64_t pool_count)
{
    int64_t shown_pools = pool_count < heap_count ? pool_count : heap_count;

    return heap_count * (2 + s->site_lines + s->leak_lines) + 2 * shown_pools;
}

/* How many heaps fit, and with how many sites each: sites go first, then heaps. */
static int64_t plan_lines(summary *s, int64_t heap_count, int64_t pool_count, int64_t line_count)
{
    int64_t shown_count = heap_count;

    s->site_lines = 5;
    s->leak_lines = 3;
    while (lines_of(s, shown_count, pool_count) > line_count) {
        if (s->site_lines > 3)
            s->site_lines--;
        else if (s->leak_lines > 1)
            s->leak_lines--;
        else if (s->site_lines > 2)
            s->site_lines--;
        else
            shown_count--;
    }
    return shown_count;
}

/* A recording that was cut before its first event says nothing of what was allocated. */
static nm_status write_nothing(const summary *s, nm_error *err)
{
    int64_t cut_count = 0, event_count = 0;
    nm_status status = nm_db_get_int(s->db,
                                     "SELECT count(*) FROM input WHERE events_seen > events_ingested OR bytes_cut > 0"
                                     " OR is_finished = 0",
                                     &cut_count, err);

    if (status == NM_OK)
        status = nm_db_get_int(s->db, "SELECT coalesce(sum(events_ingested), 0) FROM input", &event_count, err);
    if (status == NM_OK && cut_count > 0)
        fprintf(s->out, "The recording was cut %s: what was allocated is not known.\n",
                event_count == 0 ? "before its first event" : "before any memory was allocated in it");
    else if (status == NM_OK)
        fprintf(s->out, "No memory was allocated.\n");
    return status;
}

static nm_status write_heaps(summary *s, int64_t line_count, nm_error *err)
{
    static const char sql[] = "SELECT host, rank, pid, device, heap, level, peak_bytes, peak_ns, peak_seq, "
                              "peak_reserved_bytes, capacity_bytes,"
                              " (SELECT upper(max(kind)) FROM device)" SHOWN_HEAPS
                              " ORDER BY level <> 'pool', device IS NULL, peak_bytes DESC, rank, pid, heap";
    int64_t heap_count = 0;
    int64_t pool_count = 0;
    sqlite3_stmt *heap = NULL;
    nm_status status = nm_db_get_int(s->db, "SELECT count(*)" SHOWN_HEAPS, &heap_count, err);
    int code = SQLITE_DONE;

    if (status == NM_OK)
        status = nm_db_get_int(s->db, "SELECT count(*)" SHOWN_HEAPS " AND k.level = 'pool'", &pool_count, err);
    int64_t shown_count = plan_lines(s, heap_count, pool_count, line_count);
    if (shown_count < heap_count) /* and a line that says so */
        shown_count = plan_lines(s, heap_count, pool_count, line_count - 1);
    if (status == NM_OK)
        status = ask(s, NULL, sql, &heap, err);
    for (int64_t index = 0; status == NM_OK && index < shown_count && (code = sqlite3_step(heap)) == SQLITE_ROW;
         index++)
        status = write_heap(s, heap, err);
    if (status == NM_OK && heap_count == 0)
        status = write_nothing(s, err);
    if (status == NM_OK && heap_count > shown_count)
        fprintf(s->out, "and %lld more heap%s: see view peak\n", (long long)(heap_count - shown_count),
                plural(heap_count - shown_count));
    return end_query(s, heap, status, code, err);
}

/* ---- What went wrong ---- */

/* "and 2 more, of which 1 was served after a retry" */
static void write_more_failures(const summary *s, sqlite3_stmt *row)
{
    char count[NM_HUMAN_BYTES];
    int64_t more_count = sqlite3_column_int64(row, 0) - 1;
    int64_t recovered_count = sqlite3_column_int64(row, 1);

    if (more_count <= 0)
        return;
    fprintf(s->out, "  and %s more", nm_human_count(count, more_count));
    if (recovered_count > 0)
        fprintf(s->out, "; %s in all served after a retry", nm_human_count(count, recovered_count));
    fprintf(s->out, " (view out_of_memory)\n");
}

/* "at least 20.0 MiB", or the call that asked for no memory. */
static const char *asked_for(char out[TEXT_BYTES], sqlite3_stmt *row)
{
    char bytes[NM_HUMAN_BYTES];

    if (nm_db_is_null(row, 2))
        return nm_human_text(out, TEXT_BYTES, nm_db_text(row, 11), SITE_COLUMNS);
    snprintf(out, TEXT_BYTES, "%s%s", nm_db_is_null(row, 9) ? "at least " : "",
             nm_human_bytes(bytes, sqlite3_column_int64(row, 2)));
    return out;
}

/* Why memory ran out: of the last request that failed for good, since it is what ended the program, else of the last. */
static nm_status write_failures(const summary *s, nm_error *err)
{
    static const char sql[] =
        "SELECT count(*) OVER (), sum(outcome = 'recovered') OVER (), coalesce(tried_bytes, at_least_tried_bytes),"
        " first_ns, first_seq, outcome, verdict, site, explanation, tried_bytes, out_of_memory_id,"
        " substr(message, 10, instr(message, ' (') - 10) FROM out_of_memory"
        " ORDER BY outcome IS 'recovered', device IS NULL, out_of_memory_id DESC LIMIT 1";
    char at[64], what[TEXT_BYTES], site[TEXT_BYTES], text[TEXT_BYTES];
    sqlite3_stmt *row = NULL;
    nm_status status = ask(s, NULL, sql, &row, err);
    int code = status == NM_OK ? sqlite3_step(row) : SQLITE_DONE;

    if (code == SQLITE_ROW) {
        fprintf(s->out, "Out of %s%s: %s, %s, %s: %s\n",
                strcmp(nm_db_text(row, 6), "resources") == 0 ? "streams or events" : "memory", when(at, row, 3, 4),
                asked_for(what, row), nm_human_text(site, sizeof site, nm_db_text(row, 7), SITE_COLUMNS),
                nm_db_is_null(row, 5) ? "its end not known" : nm_db_text(row, 5), nm_db_text(row, 6));
        fprintf(s->out, "  %s\n", nm_human_text(text, sizeof text, nm_db_text(row, 8), EXPLANATION_COLUMNS));
        status = nm_summary_write_held(s->db, sqlite3_column_int64(row, 10), s->out, err);
        write_more_failures(s, row);
    }
    return end_query(s, row, status, code, err);
}

static nm_status write_misuse(const summary *s, nm_error *err)
{
    static const char sql[] = "SELECT kind, count(*) FROM misuse GROUP BY kind ORDER BY count(*) DESC, kind LIMIT 4";
    char count[NM_HUMAN_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_status status = ask(s, NULL, sql, &rows, err);
    const char *before = "Misuse: ";
    int code = SQLITE_DONE;

    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        fprintf(s->out, "%s%s x %s", before, nm_human_count(count, sqlite3_column_int64(rows, 1)), nm_db_text(rows, 0));
        before = ", ";
    }
    if (before[0] == ',')
        fprintf(s->out, " (view misuse)\n");
    return end_query(s, rows, status, code, err);
}

/* A line for each kind of note: the first of them, and how many more. */
static nm_status write_unseen(const summary *s, nm_error *err)
{
    static const char *const words[NM_NOTE_MAX + 1] = {
        [NM_NOTE_MISSING_FUNCTION] = "Not seen, for the runtime lacks it",
        [NM_NOTE_OTHER_TOOL] = "Another tool stands in front",
        [NM_NOTE_UNSEEN_LIBRARY] = "Not seen, calls of a library",
        [NM_NOTE_UNSEEN_OPERATOR] = "Not seen, an operator",
        [NM_NOTE_NO_POOL_EVENTS] = "Not seen, events of the pool",
        [NM_NOTE_PYTHON_UNREADABLE] = "Not seen, Python frames",
        [NM_NOTE_NO_RING] = "Not seen, threads that got no ring",
        [NM_NOTE_UNSEEN_PROCESS] = "Not seen, a process",
        [NM_NOTE_PYTHON_UNCHECKED] = "Python frames were read, but never compared with the interpreter's own",
    };
    static const char sql[] =
        "SELECT k.kind, (SELECT f.text FROM unseen AS f WHERE f.kind = u.kind ORDER BY"
        " f.first_seq LIMIT 1), sum(u.unseen_count) FROM (SELECT kind, text,"
        " max(unseen_count) AS unseen_count, min(first_seq) AS first_seq FROM unseen"
        " GROUP BY kind, text) AS u JOIN _note_kind AS k ON k.name = u.kind GROUP BY u.kind ORDER BY min(u.first_seq)";
    char text[TEXT_BYTES], count[NM_HUMAN_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_status status = ask(s, NULL, sql, &rows, err);
    int code = SQLITE_DONE;

    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        int64_t more_count = sqlite3_column_int64(rows, 2) - 1;
        const char *word = words[sqlite3_column_int(rows, 0)];

        fprintf(s->out, "%s: %s", word == NULL ? "Not seen" : word,
                nm_human_text(text, sizeof text, nm_db_text(rows, 1), UNSEEN_COLUMNS));
        if (more_count > 0)
            fprintf(s->out, ", and %s more", nm_human_count(count, more_count));
        fprintf(s->out, " (view unseen)\n");
    }
    return end_query(s, rows, status, code, err);
}

/* Lines below the heaps that not every summary has. */
static nm_status count_other_lines(const summary *s, int64_t *line_count, nm_error *err)
{
    int64_t health_lines = 0;
    nm_status status = nm_db_get_int(s->db,
                                     "SELECT (SELECT count(DISTINCT kind) FROM _note)"
                                     " + (SELECT 1 + 2 * (count(*) > 0) + (count(*) > 1) FROM _out_of_memory_chain)"
                                     " + (SELECT count(DISTINCT source) FROM step_origin WHERE source <> 'marked')"
                                     " + EXISTS (SELECT 1 FROM input WHERE baseline = 'unknown') + " WAS_PAUSED,
                                     line_count, err);

    if (status == NM_OK)
        status = nm_summary_health_lines(s->db, &health_lines, err);
    *line_count += health_lines;
    return status;
}

static nm_status write_notes(const summary *s, nm_error *err)
{
    nm_status status = write_process_note(s, err);

    if (status == NM_OK)
        status = write_ends(s, err);
    if (status == NM_OK)
        status = nm_summary_write_steps(s->db, s->out, err);
    if (status == NM_OK)
        status = nm_summary_write_graphs(s->db, s->out, err);
    if (status == NM_OK)
        status = write_contradiction_note(s, err);
    if (status == NM_OK)
        status = write_late_note(s, err);
    if (status == NM_OK)
        status = write_pause_note(s, err);
    if (status == NM_OK)
        status = write_stack_note(s, err);
    if (status == NM_OK)
        status = write_cut_note(s, err);
    if (status == NM_OK)
        status = write_python_note(s, err);
    if (status == NM_OK)
        status = write_failures(s, err);
    if (status == NM_OK)
        status = write_misuse(s, err);
    if (status == NM_OK)
        status = write_unseen(s, err);
    return status == NM_OK ? nm_summary_write_health(s->db, s->out, err) : status;
}

nm_status nm_summary_write(sqlite3 *db, const nm_summary_names *names, FILE *out, nm_error *err)
{
    const int64_t usual_lines = 6; /* head, two blanks, stacks, misuse, hint */
    int64_t other_lines = 0;
    char path[TEXT_BYTES];
    summary s = {.db = db, .out = out};
    nm_status status = write_head(&s, names, err);
    bool is_many = s.holder_count > NM_SUMMARY_PROCESSES_MAX;

    fprintf(out, "\n");
    if (status == NM_OK)
        status = count_other_lines(&s, &other_lines, err);
    if (status == NM_OK && is_many)
        status = nm_summary_write_many(db, out, err);
    if (status == NM_OK && !is_many)
        status = write_heaps(&s, NM_SUMMARY_LINES_MAX - usual_lines - other_lines, err);
    if (status == NM_OK && !is_many)
        status = nm_summary_write_devices(db, out, err);
    if (status == NM_OK)
        status = write_notes(&s, err);
    nm_human_text(path, sizeof path, names->database_path, 200);
    fprintf(out, "\nsqlite3 %s '.schema leak'", path);
    if (names->csv_folder == NULL)
        fprintf(out, "      npumem-ingest --csv DIR: one CSV file per view\n");
    else
        fprintf(out, "      CSV files: %s\n", names->csv_folder);
    return status;
}
