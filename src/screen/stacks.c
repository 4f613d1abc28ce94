/* SPDX-License-Identifier: Apache-2.0
 *
 * Notes on stacks: none were recorded, they hold the caller alone, callers are missing, or lines of Python are. Weighed by what was
 * live at the peaks, since a stack that holds nothing matters to nobody.
 */
#include "screen/notes.h"

#include <string.h>

#include "base/human.h"
#include "store/database.h"

#define MODULE_COLUMNS 40
#define TEXT_BYTES     256

/* Driver memory of a device that has a pool is the pool's segments, and counted there. */
#define IS_COUNTED_ONCE                                                                                                \
    "NOT (h.level IN (1, 7) AND EXISTS (SELECT 1 FROM heap AS o JOIN _heap_sum AS t ON t.heap_id = o.heap_id"          \
    " WHERE o.process_id = h.process_id AND o.device_id IS h.device_id AND o.level IN (2, 3)"                          \
    " AND t.peak_reserved_bytes > 0))"

static void begin_note(nm_screen *s)
{
    nm_screen_begin(s, NM_SAY_LABEL_NOTE, NM_LINE_PLAIN, NM_RANK_NOTE, "peak_by_site");
    nm_screen_rows(s, 2);
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

/* ", most in libtorch_npu.so": the code of the outermost frames keeps no frame pointers. */
static nm_status say_cut_module(nm_screen *s, int64_t cut_bytes, nm_error *err)
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
    nm_status status = nm_screen_ask(s, sql, &row, err);
    int code = status == NM_OK ? sqlite3_step(row) : SQLITE_DONE;

    if (code == SQLITE_ROW && sqlite3_column_int64(row, 1) > cut_bytes / 2)
        nm_screen_say(
            s, NM_SAY_STACKS_CUT_IN,
            NM_WORDS({"library", nm_human_text(module, sizeof module, file_name(nm_db_text(row, 0)), MODULE_COLUMNS)}));
    return nm_screen_end(s, row, status, code, err);
}

/* Of what share of the peaks callers are missing, where it matters. */
static nm_status add_cut(nm_screen *s, nm_error *err)
{
    static const char sql[] =
        "SELECT sum(p.live_bytes), sum(CASE WHEN s.is_cut = 1 THEN p.live_bytes ELSE 0 END),"
        " sum(CASE WHEN f.is_cut = 1 THEN p.live_bytes ELSE 0 END) FROM _peak_stack AS p"
        " LEFT JOIN stack AS s ON s.stack_id = p.stack_id LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id"
        " JOIN heap AS h ON h.heap_id = p.heap_id WHERE NOT p.is_baseline AND " IS_COUNTED_ONCE;
    char cut[NM_HUMAN_BYTES], whole[NM_HUMAN_BYTES], unplaced[NM_HUMAN_BYTES], share[NM_HUMAN_BYTES];
    sqlite3_stmt *row = NULL;
    nm_status status = nm_screen_ask(s, sql, &row, err);
    int code = status == NM_OK ? sqlite3_step(row) : SQLITE_DONE;
    int64_t bytes[3] = {0};

    for (int i = 0; code == SQLITE_ROW && i < 3; i++)
        bytes[i] = sqlite3_column_int64(row, i);
    status = nm_screen_end(s, row, status, code, err);
    if (status != NM_OK || bytes[1] == 0 || (bytes[1] < bytes[0] / 20 && bytes[2] < bytes[0] / 100))
        return status;
    begin_note(s);
    nm_screen_say(s, NM_SAY_STACKS_CUT,
                  NM_WORDS({"bytes", nm_human_bytes(cut, bytes[1])},
                           {"percent", nm_human_percent(share, (double)bytes[1] / (double)bytes[0])},
                           {"all", nm_human_bytes(whole, bytes[0])}));
    status = say_cut_module(s, bytes[1], err);
    if (bytes[2] > 0)
        nm_screen_say(s, NM_SAY_STACKS_NO_SITE, NM_WORDS({"bytes", nm_human_bytes(unplaced, bytes[2])}));
    nm_screen_say(s, NM_SAY_STACKS_REMEDY, NULL);
    return status;
}

static nm_status add_missing(nm_screen *s, nm_error *err)
{
    static const char sql[] = "SELECT (SELECT count(*) FROM stack), (SELECT count(*) FROM stack WHERE parent_id IS NOT"
                              " NULL OR is_cut = 1), (SELECT count(*) FROM peak_by_site WHERE site <> '(baseline)')";
    sqlite3_stmt *row = NULL;
    nm_status status = nm_screen_ask(s, sql, &row, err);
    int code = status == NM_OK ? sqlite3_step(row) : SQLITE_DONE;

    if (code == SQLITE_ROW) {
        int64_t stack_count = sqlite3_column_int64(row, 0);

        begin_note(s);
        if (stack_count == 0 && sqlite3_column_int64(row, 2) > 0)
            nm_screen_say(s, NM_SAY_STACKS_NONE, NULL);
        else if (stack_count > 0 && sqlite3_column_int64(row, 1) == 0)
            nm_screen_say(s, NM_SAY_STACKS_CALLERS, NULL);
    }
    return nm_screen_end(s, row, status, code, err);
}

/* In a program that runs Python: how much of the peaks has no line of it. */
static nm_status add_python(nm_screen *s, nm_error *err)
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
    nm_status status = nm_screen_ask(s, sql, &row, err);
    int code = status == NM_OK ? sqlite3_step(row) : SQLITE_DONE;

    if (code == SQLITE_ROW && sqlite3_column_int64(row, 1) > 0) {
        begin_note(s);
        nm_screen_say(s, NM_SAY_STACKS_PYTHON,
                      NM_WORDS({"bytes", nm_human_bytes(part, sqlite3_column_int64(row, 1))},
                               {"all", nm_human_bytes(whole, sqlite3_column_int64(row, 0))}));
    }
    return nm_screen_end(s, row, status, code, err);
}

nm_status nm_screen_stack_notes(nm_screen *s, nm_error *err)
{
    nm_status status = add_missing(s, err);

    if (status == NM_OK)
        status = add_cut(s, err);
    return status == NM_OK ? add_python(s, err) : status;
}
