/* SPDX-License-Identifier: Apache-2.0
 *
 * The first lines: what ran, how it ended, what of it is lost, and what else makes all figures those of a part.
 */
#include <string.h>

#include "base/human.h"
#include "screen/groups.h"
#include "screen/ranks.h"
#include "store/database.h"

#define NAME_COLUMNS 32
#define TEXT_BYTES   512

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

/* The base name of the command's first word; of an interpreter's that of its script. */
static const char *program_of(const char *command, char out[TEXT_BYTES])
{
    char copy[TEXT_BYTES];
    char *rest = NULL;

    nm_human_text(copy, sizeof copy, command, 200);
    const char *first = strtok_r(copy, " ", &rest);
    const char *second = strtok_r(NULL, " ", &rest);
    const char *name = first == NULL ? "" : base_name(first);

    if (second != NULL && second[0] != '-' && strncmp(name, "python", 6) == 0)
        name = base_name(second);
    return nm_human_text(out, TEXT_BYTES, name, NAME_COLUMNS);
}

/* ---- How it ended ---- */

/* Of the one process with memory: a row of end_kind, end_status, is_finished, the kind of the input; behind what it died of less
 * is said. */
static void say_end(nm_screen *s, sqlite3_stmt *row, int column, bool is_dead)
{
    const char *kind = nm_db_text(row, column);
    char number[NM_HUMAN_BYTES];

    if (strcmp(nm_db_text(row, column + 3), "trace") != 0)
        nm_screen_say(s, NM_SAY_END_SNAPSHOT, NULL);
    else if (strcmp(kind, "exit") == 0 && sqlite3_column_int64(row, column + 1) == 0)
        nm_screen_say(s, NM_SAY_END_ZERO, NULL);
    else if (strcmp(kind, "exit") == 0)
        nm_screen_say(s, is_dead ? NM_SAY_DIED_STATUS : NM_SAY_END_STATUS,
                      NM_WORDS({"n", nm_human_count(number, sqlite3_column_int64(row, column + 1))}));
    else if (strcmp(kind, "signal") == 0 && nm_db_is_null(row, column + 1))
        nm_screen_say(s, NM_SAY_END_UNKNOWN, NULL);
    else if (strcmp(kind, "signal") == 0)
        nm_screen_say(s, NM_SAY_END_SIGNAL,
                      NM_WORDS({"n", nm_human_count(number, sqlite3_column_int64(row, column + 1))}));
    else if (strcmp(kind, "exec") == 0)
        nm_screen_say(s, NM_SAY_END_EXEC, NULL);
    else
        nm_screen_say(s, NM_SAY_END_RUNNING, NULL);
}

/* A program that did not end well after memory ran out for good died of that. */
static nm_status say_death(nm_screen *s, bool *is_dead, nm_error *err)
{
    static const char sql[] =
        "SELECT o.error_code, (SELECT max(t.number) FROM step AS t JOIN process AS q ON q.process_id = t.process_id"
        " WHERE q.pid = o.pid AND t.begin_seq <= o.first_seq) FROM out_of_memory AS o JOIN process AS p ON p.pid = "
        "o.pid"
        " AND p.host IS o.host WHERE o.outcome = 'fatal' AND (p.end_kind = 'signal' OR (p.end_kind = 'exit' AND"
        " p.end_status <> 0)) ORDER BY o.first_seq LIMIT 1";
    char step[NM_HUMAN_BYTES], code_text[NM_HUMAN_BYTES];
    sqlite3_stmt *row = NULL;
    nm_status status = nm_screen_ask(s, sql, &row, err);
    int code = status == NM_OK ? sqlite3_step(row) : SQLITE_DONE;

    *is_dead = code == SQLITE_ROW;
    if (*is_dead) {
        bool is_resources = sqlite3_column_int64(row, 0) == 207005;

        snprintf(code_text, sizeof code_text, "%lld", (long long)sqlite3_column_int64(row, 0));
        nm_screen_say(s, NM_SAY_DIED, NULL);
        if (!nm_db_is_null(row, 0))
            nm_screen_say(s, is_resources ? NM_SAY_DIED_RESOURCES : NM_SAY_DIED_CODE, NM_WORDS({"code", code_text}));
        else
            nm_screen_say(s, NM_SAY_DIED_MEMORY, NULL);
        if (!nm_db_is_null(row, 1))
            nm_screen_say(s, NM_SAY_DIED_STEP, NM_WORDS({"step", nm_human_count(step, sqlite3_column_int64(row, 1))}));
        nm_screen_say(s, NM_SAY_COMMA, NULL);
    }
    return nm_screen_end(s, row, status, code, err);
}

/* Of several processes with memory: whether all ended by themselves. */
static nm_status say_ends(nm_screen *s, nm_error *err)
{
    static const char sql[] =
        "SELECT count(*) FROM process WHERE process_id IN (SELECT h.process_id FROM _heap_sum AS u JOIN heap AS h"
        " ON h.heap_id = u.heap_id WHERE u.peak_bytes > 0) AND NOT (end_kind = 'exit' AND end_status = 0)";
    char number[NM_HUMAN_BYTES];
    int64_t other_count = 0;
    nm_status status = nm_db_get_int(s->db, sql, &other_count, err);

    if (status == NM_OK && other_count == 0)
        nm_screen_say(s, NM_SAY_END_ALL, NULL);
    else if (status == NM_OK)
        nm_screen_say(s, NM_SAY_END_NOT_ALL, NM_WORDS({"n", nm_human_count(number, other_count)}));
    return status;
}

/* ---- What is lost ---- */

/* The word for a whole input, or one that is whole but for something. */
static void say_completeness(nm_screen *s, const char *verdict)
{
    static const struct {
        const char *verdict;
        nm_sentence code;
    } words[] = {{"complete", NM_SAY_WHOLE},
                 {"begun", NM_SAY_WHOLE_BEGUN},
                 {"kept", NM_SAY_WHOLE_KEPT},
                 {"cut", NM_SAY_WHOLE_CUT},
                 {"contradictory", NM_SAY_WHOLE_CONTRADICTORY},
                 {"lossy", NM_SAY_WHOLE_LOSSY}};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(verdict, words[i].verdict) == 0)
            nm_screen_say(s, words[i].code, NULL);
}

/* A line of what is lost, by how it was, from columns that follow one another. */
static void add_losses(nm_screen *s, sqlite3_stmt *row, int column)
{
    static const nm_sentence codes[] = {NM_SAY_LOST_DROPPED, NM_SAY_LOST_DAMAGED,   NM_SAY_LOST_UNRECOVERED,
                                        NM_SAY_LOST_LATE,    NM_SAY_LOST_STACKLESS, NM_SAY_LOST_UNJOINED};
    const int bytes_column = column + 6, exact_column = column + 7, unrecovered = 2;
    char number[NM_HUMAN_BYTES];
    bool is_begun = false;

    nm_screen_begin(s, NM_SAY_LABEL_LOST, NM_LINE_WARNING, NM_RANK_HEAD, "completeness");
    nm_screen_rows(s, 2);
    for (int i = 0; i < 6; i++) {
        int64_t count = sqlite3_column_int64(row, column + i);
        bool is_bound = i == unrecovered && sqlite3_column_int(row, exact_column) == 0;

        if (count == 0 && !is_bound)
            continue;
        nm_screen_say(s, is_begun ? NM_SAY_COMMA : NM_SAY_NOTHING, NULL);
        nm_screen_say(s, is_bound ? NM_SAY_LOST_AT_LEAST : codes[i], NM_WORDS({"n", nm_human_count(number, count)}));
        is_begun = true;
    }
    if (sqlite3_column_int64(row, bytes_column) == 0)
        return;
    nm_screen_say(s, is_begun ? NM_SAY_COMMA : NM_SAY_NOTHING, NULL);
    nm_screen_say(s, NM_SAY_LOST_BYTES,
                  NM_WORDS({"bytes", nm_human_bytes(number, sqlite3_column_int64(row, bytes_column))}));
}

/* "rows of each event from 81.3 s on; of the 1,234 events before that, sums" */
static void add_detail(nm_screen *s, sqlite3_stmt *row, int column)
{
    char count[NM_HUMAN_BYTES], when[NM_HUMAN_BYTES];

    if (nm_db_is_null(row, column + 2))
        return;
    nm_screen_begin(s, NM_SAY_LABEL_NOTE, NM_LINE_PLAIN, NM_RANK_NOTE, "completeness");
    nm_human_count(count, sqlite3_column_int64(row, column));
    if (nm_db_is_null(row, column + 1))
        nm_screen_say(s, NM_SAY_KEPT_EVENT,
                      NM_WORDS({"n", count}, {"at", nm_human_count(when, sqlite3_column_int64(row, column + 2))}));
    else
        nm_screen_say(s, NM_SAY_KEPT,
                      NM_WORDS({"n", count}, {"at", nm_human_time(when, sqlite3_column_int64(row, column + 1))}));
}

/* ---- The first line ---- */

#define MAIN_PROCESS                                                                                                   \
    " LEFT JOIN (SELECT p.command, p.end_kind, p.end_status, p.input_id FROM process AS p LEFT JOIN"                   \
    " (SELECT h.process_id, sum(u.peak_bytes) AS bytes FROM _heap_sum AS u JOIN heap AS h ON h.heap_id = u.heap_id"    \
    " GROUP BY h.process_id) AS b ON b.process_id = p.process_id"                                                      \
    " ORDER BY coalesce(b.bytes, 0) = 0, p.process_id LIMIT 1) AS m"

#define HEAD                                                                                                           \
    "SELECT CASE WHEN count(*) = 1 THEN min(c.path) END, count(*),"                                                    \
    " CASE WHEN sum(c.verdict = 'lossy') > 0 THEN 'lossy' WHEN sum(c.verdict = 'cut') > 0 THEN 'cut'"                  \
    " WHEN sum(c.verdict = 'contradictory') > 0 THEN 'contradictory' WHEN sum(c.verdict = 'kept') > 0 THEN 'kept'"     \
    " WHEN sum(c.verdict = 'begun') > 0 THEN 'begun' ELSE 'complete' END, max(m.command), max(m.end_kind),"            \
    " max(m.end_status), (SELECT min(is_finished) FROM input), min(c.kind),"                                           \
    " sum(c.events_dropped), sum(c.events_damaged), sum(c.events_unrecovered), sum(c.events_late),"                    \
    " sum(c.events_without_stack), sum(c.processes_unjoined), sum(c.bytes_cut), min(c.is_loss_exact),"                 \
    " sum(c.events_unkept), CASE WHEN count(*) = 1 THEN min(c.detail_begin_ns) END,"                                   \
    " CASE WHEN count(*) = 1 THEN min(c.detail_begin_seq) END FROM completeness AS c" MAIN_PROCESS

/* What the line is about: the file, or of several how many; the program; steps. */
static void begin_head(nm_screen *s, sqlite3_stmt *row)
{
    char number[NM_HUMAN_BYTES], holders[NM_HUMAN_BYTES], program[TEXT_BYTES];
    nm_screen_line *head;

    nm_screen_begin(s, NM_SAY_NOTHING, NM_LINE_HEAD, NM_RANK_HEAD, NULL);
    nm_screen_rows(s, 2);
    if (s->line_count == 0)
        return;
    head = &s->lines[s->line_count - 1];
    nm_human_text(head->label, sizeof head->label,
                  base_name(nm_db_is_null(row, 0) ? s->names->database_path : nm_db_text(row, 0)), 28);
    if (sqlite3_column_int64(row, 1) > 1)
        nm_screen_say(s, NM_SAY_HEAD_INPUTS, NM_WORDS({"n", nm_human_count(number, sqlite3_column_int64(row, 1))}));
    if (program_of(nm_db_text(row, 3), program)[0] != 0)
        nm_screen_say(s, NM_SAY_HEAD_PROGRAM, NM_WORDS({"program", program}));
    nm_human_count(number, s->process_count);
    nm_human_count(holders, s->holder_count);
    if (s->process_count > 1 && s->holder_count > 0 && s->holder_count < s->process_count)
        nm_screen_say(s, NM_SAY_HEAD_HOLDERS, NM_WORDS({"n", number}, {"m", holders}));
    else if (s->process_count != 1)
        nm_screen_say(s, NM_SAY_HEAD_PROCESSES, NM_WORDS({"n", number}));
    if (s->step_count > 0)
        nm_screen_say(s, NM_SAY_HEAD_STEPS, NM_WORDS({"n", nm_human_count(number, s->step_count)}));
}

static bool has_losses(sqlite3_stmt *row, int column)
{
    for (int i = 0; i < 7; i++)
        if (sqlite3_column_int64(row, column + i) != 0)
            return true;
    return sqlite3_column_int(row, column + 7) == 0;
}

static nm_status say_end_of_few(nm_screen *s, sqlite3_stmt *row, bool *is_dead, nm_error *err)
{
    nm_status status = NM_OK;

    if (s->process_count > 0)
        status = say_death(s, is_dead, err);
    if (status == NM_OK && s->holder_count > 1)
        status = say_ends(s, err);
    else if (status == NM_OK && s->process_count > 0)
        say_end(s, row, 4, *is_dead);
    return status;
}

static nm_status add_head(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *row = NULL;
    nm_status status = nm_screen_ask(s, HEAD, &row, err);
    int code = status == NM_OK ? sqlite3_step(row) : SQLITE_DONE;
    bool is_dead = false;

    if (code == SQLITE_ROW) {
        begin_head(s, row);
        if (nm_screen_is_ranked(s))
            status = nm_screen_say_ranks_end(s, &is_dead, err);
        else
            status = say_end_of_few(s, row, &is_dead, err);
        if (s->process_count > 0)
            nm_screen_say(s, NM_SAY_COMMA, NULL);
        say_completeness(s, nm_db_text(row, 2));
        if (is_dead && s->line_count > 0)
            s->lines[0].kind = NM_LINE_BAD;
        if (has_losses(row, 8))
            add_losses(s, row, 8);
        add_detail(s, row, 16);
    }
    return nm_screen_end(s, row, status, code, err);
}

/* ---- Further ends, and what nobody saw ---- */

/* Processes that did not end as a program does that has done its work; not the one whose end the first line tells, unless the
 * recorder knows why. */
static nm_status add_ends(nm_screen *s, nm_error *err)
{
    static const char sql[] =
        "SELECT count(*) OVER (), p.pid, p.end_kind = 'signal', p.end_status, (SELECT m.name FROM moment AS m"
        " WHERE m.name GLOB 'host out of memory: process ' || p.pid || ' *' AND m.seq >= 0 LIMIT 1) FROM process AS p"
        " WHERE p.end_kind = 'signal' OR (p.end_kind = 'exit' AND p.end_status <> 0)"
        " ORDER BY 5 IS NULL, p.end_kind <> 'signal', p.process_id LIMIT 3";
    char pid[32], number[NM_HUMAN_BYTES], text[TEXT_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_screen_ask(s, sql, &rows, err);
    int64_t more_count = 0;
    int code = SQLITE_DONE;

    for (int64_t count = 1; status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW; count++) {
        if (s->process_count == 1 && nm_db_is_null(rows, 4))
            break;
        snprintf(pid, sizeof pid, "%lld", (long long)sqlite3_column_int64(rows, 1));
        snprintf(number, sizeof number, "%lld", (long long)sqlite3_column_int64(rows, 3));
        nm_screen_begin(s, NM_SAY_LABEL_ENDED, NM_LINE_WARNING, NM_RANK_WARNING, "process");
        nm_screen_rows(s, 2);
        if (nm_db_is_null(rows, 3))
            nm_screen_say(s, NM_SAY_PROCESS_UNKNOWN, NM_WORDS({"pid", pid}));
        else
            nm_screen_say(s, sqlite3_column_int(rows, 2) ? NM_SAY_PROCESS_SIGNAL : NM_SAY_PROCESS_STATUS,
                          NM_WORDS({"pid", pid}, {"n", number}));
        if (!nm_db_is_null(rows, 4))
            nm_screen_say(s, NM_SAY_PROCESS_BECAUSE,
                          NM_WORDS({"text", nm_human_text(text, sizeof text, nm_db_text(rows, 4), 200)}));
        more_count = sqlite3_column_int64(rows, 0) - count;
    }
    if (more_count > 0 && code == SQLITE_DONE)
        nm_screen_say(s, NM_SAY_PROCESS_MORE, NM_WORDS({"n", nm_human_count(number, more_count)}));
    return nm_screen_end(s, rows, status, code, err);
}

/* What makes every figure one of a part: said when `sql` counts any. */
typedef struct limit {
    nm_sentence code;
    const char *sql;
} limit;

static nm_status add_limits(nm_screen *s, nm_error *err)
{
    static const limit limits[] = {
        {NM_SAY_NOBODY, "SELECT NOT EXISTS (SELECT 1 FROM process) AND NOT EXISTS (SELECT 1 FROM input WHERE"
                        " events_seen > events_ingested OR bytes_cut > 0 OR is_finished = 0)"},
        {NM_SAY_NOBODY_LOST, "SELECT NOT EXISTS (SELECT 1 FROM process) AND EXISTS (SELECT 1 FROM input WHERE"
                             " events_seen > events_ingested OR bytes_cut > 0 OR is_finished = 0)"},
        {NM_SAY_LEFT, "SELECT coalesce(sum(processes_left), 0) FROM input WHERE EXISTS (SELECT 1 FROM process)"},
        {NM_SAY_CONTRADICTION, "SELECT coalesce(sum(blocks_outside_count), 0) FROM input"},
        {NM_SAY_LATE, "SELECT count(*) FROM input WHERE baseline = 'unknown'"},
        {NM_SAY_PAUSED, "SELECT count(*) FROM _pause WHERE is_memory_told = 0"},
    };
    char number[NM_HUMAN_BYTES];
    nm_status status = NM_OK;

    for (size_t i = 0; status == NM_OK && i < sizeof limits / sizeof limits[0]; i++) {
        int64_t count = 0;

        status = nm_db_get_int(s->db, limits[i].sql, &count, err);
        if (status != NM_OK || count <= 0)
            continue;
        nm_screen_begin(s, NM_SAY_LABEL_NOTE, NM_LINE_WARNING, NM_RANK_WARNING, "completeness");
        nm_screen_rows(s, 2);
        nm_screen_say(s, limits[i].code, NM_WORDS({"n", nm_human_count(number, count)}));
    }
    return status;
}

nm_status nm_screen_end_lines(nm_screen *s, nm_error *err)
{
    nm_status status = add_head(s, err);

    if (status == NM_OK && !nm_screen_is_ranked(s))
        status = add_ends(s, err);
    return status == NM_OK ? add_limits(s, err) : status;
}
