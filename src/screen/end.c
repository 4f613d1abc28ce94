/* SPDX-License-Identifier: Apache-2.0
 *
 * The first lines: what ran, how it ended, what of it is lost, and what else makes all figures those of a part.
 */
#include <string.h>

#include "base/human.h"
#include "base/text.h"
#include "screen/bad_ends.sql.h"
#include "screen/deaths.sql.h"
#include "screen/groups.h"
#include "screen/head_line.sql.h"
#include "screen/limits.sql.h"
#include "screen/other_ends.sql.h"
#include "screen/ranks.h"

#define NAME_COLUMNS 32
#define TEXT_BYTES   512

/* The base name of the command's first word; of an interpreter's that of its script. */
static const char *program_of(const char *command, char out[TEXT_BYTES])
{
    char copy[TEXT_BYTES];
    char *rest = NULL;

    nm_human_text(copy, sizeof copy, command, 200);
    const char *first = strtok_r(copy, " ", &rest);
    const char *second = strtok_r(NULL, " ", &rest);
    const char *name = first == NULL ? "" : nm_path_name(first);

    if (second != NULL && second[0] != '-' && strncmp(name, "python", 6) == 0)
        name = nm_path_name(second);
    return nm_human_text(out, TEXT_BYTES, name, NAME_COLUMNS);
}

/* ---- How it ended ---- */

/* Of the one process with memory; behind what it died of less is said. */
static void say_end(nm_screen *s, const nm_head_line_row *row, bool is_dead)
{
    const char *kind = row->end_kind;
    char number[NM_HUMAN_BYTES];

    if (strstr(row->input_kind, "snapshot") != NULL)
        nm_screen_say(s, NM_SAY_END_SNAPSHOT, NULL);
    else if (strcmp(row->input_kind, "trace") != 0)
        nm_screen_say(s, NM_SAY_SOURCE, NM_WORDS({"name", row->input_kind}));
    else if (strcmp(kind, "exit") == 0 && row->end_status == 0)
        nm_screen_say(s, NM_SAY_END_ZERO, NULL);
    else if (strcmp(kind, "exit") == 0)
        nm_screen_say(s, is_dead ? NM_SAY_DIED_STATUS : NM_SAY_END_STATUS,
                      NM_WORDS({"n", nm_human_count(number, row->end_status)}));
    else if (strcmp(kind, "signal") == 0 && !row->has.end_status)
        nm_screen_say(s, NM_SAY_END_UNKNOWN, NULL);
    else if (strcmp(kind, "signal") == 0)
        nm_screen_say(s, NM_SAY_END_SIGNAL, NM_WORDS({"n", nm_human_count(number, row->end_status)}));
    else if (strcmp(kind, "exec") == 0)
        nm_screen_say(s, NM_SAY_END_EXEC, NULL);
    else
        nm_screen_say(s, row->is_going_on ? NM_SAY_END_SO_FAR : NM_SAY_END_RUNNING, NULL);
}

/* A program that did not end well after memory ran out for good died of that. */
static nm_status say_death(nm_screen *s, bool *is_dead, nm_error *err)
{
    char step[NM_HUMAN_BYTES], code_text[NM_HUMAN_BYTES];
    nm_deaths_row row;
    nm_status status = nm_deaths_get(s->db, &row, err);

    *is_dead = row.is_dead;
    if (!row.is_dead)
        return status;
    snprintf(code_text, sizeof code_text, "%lld", (long long)row.error_code);
    nm_screen_say(s, NM_SAY_DIED, NULL);
    if (row.has.error_code)
        nm_screen_say(s, row.error_code == 207005 ? NM_SAY_DIED_RESOURCES : NM_SAY_DIED_CODE,
                      NM_WORDS({"code", code_text}));
    else
        nm_screen_say(s, NM_SAY_DIED_MEMORY, NULL);
    if (row.has.step)
        nm_screen_say(s, NM_SAY_DIED_STEP, NM_WORDS({"step", nm_human_count(step, row.step)}));
    nm_screen_say(s, NM_SAY_COMMA, NULL);
    return status;
}

/* Of several processes with memory: whether all ended by themselves. */
static nm_status say_ends(nm_screen *s, const nm_head_line_row *row, nm_error *err)
{
    char number[NM_HUMAN_BYTES];
    nm_other_ends_row other;
    nm_status status = nm_other_ends_get(s->db, row->is_going_on, &other, err);
    bool is_snapshot = strstr(row->input_kind, "snapshot") != NULL;

    nm_screen_say(s,
                  !other.is_ending          ? (is_snapshot ? NM_SAY_END_SNAPSHOTS : NM_SAY_END_OTHERS)
                  : other.process_count > 0 ? NM_SAY_END_NOT_ALL
                  : row->is_going_on        ? NM_SAY_END_SO_FAR
                                            : NM_SAY_END_ALL,
                  NM_WORDS({"n", nm_human_count(number, other.process_count)}));
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
                 {"running", NM_SAY_WHOLE_RUNNING},
                 {"killed", NM_SAY_WHOLE_KILLED},
                 {"cut", NM_SAY_WHOLE_CUT},
                 {"unseen", NM_SAY_WHOLE_UNSEEN},
                 {"unreadable", NM_SAY_WHOLE_UNREADABLE},
                 {"contradictory", NM_SAY_WHOLE_CONTRADICTORY},
                 {"lossy", NM_SAY_WHOLE_LOSSY}};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(verdict, words[i].verdict) == 0)
            nm_screen_say(s, words[i].code, NULL);
}

/* A line of what is lost, by how it was. */
static void add_losses(nm_screen *s, const nm_head_line_row *row)
{
    const struct {
        nm_sentence code;
        int64_t count;
        bool is_bound;
    } losses[] = {
        {NM_SAY_LOST_DROPPED, row->dropped_count, false},
        {NM_SAY_LOST_DAMAGED, row->damaged_count, false},
        {row->is_loss_exact ? NM_SAY_LOST_UNRECOVERED : NM_SAY_LOST_AT_LEAST, row->unrecovered_count,
         !row->is_loss_exact},
        {NM_SAY_LOST_LATE, row->late_count, false},
        {NM_SAY_LOST_STACKLESS, row->stackless_count, false},
        {strcmp(row->input_kind, "log") == 0 ? NM_SAY_LOST_HIDDEN : NM_SAY_LOST_UNJOINED, row->unjoined_count, false}};
    char number[NM_HUMAN_BYTES];
    bool is_begun = false;

    nm_screen_begin(s, NM_SAY_LABEL_LOST, NM_LINE_WARNING, NM_RANK_HEAD, "completeness");
    nm_screen_rows(s, 2);
    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++) {
        if (losses[i].count == 0 && !losses[i].is_bound)
            continue;
        nm_screen_say(s, is_begun ? NM_SAY_COMMA : NM_SAY_NOTHING, NULL);
        nm_screen_say(s, losses[i].code, NM_WORDS({"n", nm_human_count(number, losses[i].count)}));
        is_begun = true;
    }
    if (row->cut_bytes == 0)
        return;
    nm_screen_say(s, is_begun ? NM_SAY_COMMA : NM_SAY_NOTHING, NULL);
    nm_screen_say(s, NM_SAY_LOST_BYTES, NM_WORDS({"bytes", nm_human_bytes(number, row->cut_bytes)}));
}

/* "rows of each event from 81.3 s on; of the 1,234 events before that, sums" */
static void add_detail(nm_screen *s, const nm_head_line_row *row)
{
    char count[NM_HUMAN_BYTES], when[NM_HUMAN_BYTES];

    if (!row->has.detail_begin_seq)
        return;
    nm_screen_begin(s, NM_SAY_LABEL_NOTE, NM_LINE_PLAIN, NM_RANK_NOTE, "completeness");
    nm_human_count(count, row->unkept_count);
    if (row->has.detail_begin_ns)
        nm_screen_say(s, NM_SAY_KEPT, NM_WORDS({"n", count}, {"at", nm_human_time(when, row->detail_begin_ns)}));
    else
        nm_screen_say(s, NM_SAY_KEPT_EVENT,
                      NM_WORDS({"n", count}, {"at", nm_human_count(when, row->detail_begin_seq)}));
}

/* "rows of each event from event 739 to event 947; sums of the whole recording" */
static void add_window(nm_screen *s, const nm_head_line_row *row)
{
    char from[NM_HUMAN_BYTES], to[NM_HUMAN_BYTES];

    if (!row->has.window_begin_seq)
        return;
    nm_screen_begin(s, NM_SAY_LABEL_NOTE, NM_LINE_PLAIN, NM_RANK_NOTE, "completeness");
    nm_screen_say(s, NM_SAY_WINDOW,
                  NM_WORDS({"from", nm_human_count(from, row->window_begin_seq)},
                           {"to", nm_human_count(to, row->window_end_seq)}));
}

/* ---- The first line ---- */

/* What the line is about: the file, or of several how many; the program; steps. */
static void begin_head(nm_screen *s, const nm_head_line_row *row)
{
    char number[NM_HUMAN_BYTES], holders[NM_HUMAN_BYTES], program[TEXT_BYTES];
    nm_screen_line *head;

    nm_screen_begin(s, NM_SAY_NOTHING, NM_LINE_HEAD, NM_RANK_HEAD, NULL);
    nm_screen_rows(s, 2);
    if (s->line_count == 0)
        return;
    head = &s->lines[s->line_count - 1];
    nm_human_text(head->label, sizeof head->label,
                  nm_path_name(row->has.only_path ? row->only_path : s->names->database_path), 28);
    if (row->input_count > 1)
        nm_screen_say(s, NM_SAY_HEAD_INPUTS, NM_WORDS({"n", nm_human_count(number, row->input_count)}));
    if (program_of(row->command, program)[0] != 0)
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

static bool has_losses(const nm_head_line_row *row)
{
    return row->dropped_count != 0 || row->damaged_count != 0 || row->unrecovered_count != 0 || row->late_count != 0 ||
           row->stackless_count != 0 || row->unjoined_count != 0 || row->cut_bytes != 0 || !row->is_loss_exact;
}

static nm_status say_end_of_few(nm_screen *s, const nm_head_line_row *row, bool *is_dead, nm_error *err)
{
    nm_status status = NM_OK;

    if (s->process_count > 0)
        status = say_death(s, is_dead, err);
    if (status == NM_OK && s->holder_count > 1)
        status = say_ends(s, row, err);
    else if (status == NM_OK && s->process_count > 0)
        say_end(s, row, *is_dead);
    return status;
}

static nm_status add_head(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_head_line_row row;
    nm_status status = nm_head_line_ask(s->db, &rows, err);
    bool is_dead = false;

    if (status == NM_OK && nm_head_line_next(rows, &row)) {
        begin_head(s, &row);
        if (nm_screen_is_ranked(s))
            status = nm_screen_say_ranks_end(s, &is_dead, err);
        else
            status = say_end_of_few(s, &row, &is_dead, err);
        if (s->process_count > 0)
            nm_screen_say(s, NM_SAY_COMMA, NULL);
        say_completeness(s, row.verdict);
        if (is_dead && s->line_count > 0)
            s->lines[0].kind = NM_LINE_BAD;
        if (has_losses(&row))
            add_losses(s, &row);
        add_detail(s, &row);
        add_window(s, &row);
    }
    return nm_question_end(rows, status, err);
}

/* ---- Further ends, and what nobody saw ---- */

/* Processes that did not end as a program does that has done its work; not the one whose end the first line tells, unless the
 * recorder knows why. */
static nm_status add_ends(nm_screen *s, nm_error *err)
{
    char pid[32], number[NM_HUMAN_BYTES], text[TEXT_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_bad_ends_row row;
    nm_status status = nm_bad_ends_ask(s->db, &rows, err);
    int64_t more_count = 0;

    for (int64_t count = 1; status == NM_OK && nm_bad_ends_next(rows, &row); count++) {
        if (s->process_count == 1 && !row.has.reason)
            break;
        snprintf(pid, sizeof pid, "%lld", (long long)row.pid);
        snprintf(number, sizeof number, "%lld", (long long)row.end_status);
        nm_screen_begin(s, NM_SAY_LABEL_ENDED, NM_LINE_WARNING, NM_RANK_WARNING, "process");
        nm_screen_rows(s, 2);
        if (!row.has.end_status)
            nm_screen_say(s, NM_SAY_PROCESS_UNKNOWN, NM_WORDS({"pid", pid}));
        else
            nm_screen_say(s, row.is_signal ? NM_SAY_PROCESS_SIGNAL : NM_SAY_PROCESS_STATUS,
                          NM_WORDS({"pid", pid}, {"n", number}));
        if (row.has.reason)
            nm_screen_say(s, NM_SAY_PROCESS_BECAUSE,
                          NM_WORDS({"text", nm_human_text(text, sizeof text, row.reason, 200)}));
        more_count = row.all_count - count;
    }
    if (more_count > 0)
        nm_screen_say(s, NM_SAY_PROCESS_MORE, NM_WORDS({"n", nm_human_count(number, more_count)}));
    return nm_question_end(rows, status, err);
}

/* What makes every figure one of a part. */
static nm_status add_limits(nm_screen *s, nm_error *err)
{
    char number[NM_HUMAN_BYTES];
    nm_limits_row row;
    nm_status status = nm_limits_get(s->db, &row, err);
    const struct {
        nm_sentence code;
        int64_t count;
    } limits[] = {{NM_SAY_NOBODY, row.nobody_count}, {NM_SAY_NOBODY_LOST, row.nobody_lost_count},
                  {NM_SAY_LEFT, row.left_count},     {NM_SAY_CONTRADICTION, row.contradiction_count},
                  {NM_SAY_LATE, row.late_count},     {NM_SAY_PAUSED, row.paused_count}};

    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (limits[i].count <= 0)
            continue;
        nm_screen_begin(s, NM_SAY_LABEL_NOTE, NM_LINE_WARNING, NM_RANK_WARNING, "completeness");
        nm_screen_rows(s, 2);
        nm_screen_say(s, limits[i].code, NM_WORDS({"n", nm_human_count(number, limits[i].count)}));
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
