/* SPDX-License-Identifier: Apache-2.0
 *
 * What limits the answers: where steps were taken from, whether stacks are there and whole, graphs, and what the recorder could not
 * see. A line each, the first to go where there is no room.
 */
#include "screen/notes.h"

#include <string.h>

#include "base/human.h"
#include "screen/groups.h"
#include "store/database.h"
#include "trace/event.h"

#define PLACE_COLUMNS 48
#define TEXT_COLUMNS  60
#define TEXT_BYTES    512

static void begin_note(nm_screen *s, const char *view)
{
    nm_screen_begin(s, NM_SAY_LABEL_NOTE, NM_LINE_PLAIN, NM_RANK_NOTE, view);
    nm_screen_rows(s, 2);
}

/* ---- Steps ---- */

/* Of each source the anchor or reason that most processes have. */
#define ORIGINS                                                                                                        \
    "WITH l AS (SELECT source, kind, is_given, anchor, min(step_count) AS fewest, max(step_count) AS most,"            \
    " count(*) AS process_count FROM step_origin WHERE source <> 'marked' GROUP BY source, anchor)"                    \
    " SELECT source, kind, is_given, anchor, fewest, most, max(process_count) FROM l GROUP BY source ORDER BY source"

static void add_origin(nm_screen *s, sqlite3_stmt *row)
{
    char fewest[NM_HUMAN_BYTES], most[NM_HUMAN_BYTES], place[TEXT_BYTES];
    bool is_after = strcmp(nm_db_text(row, 1), "optimizer") == 0, has_place = !nm_db_is_null(row, 3);

    begin_note(s, "step_origin");
    if (!has_place)
        nm_sentence_put(NM_SAY_SITE_NONE, s->language, NULL, place, sizeof place);
    else
        nm_screen_site(s, nm_db_text(row, 3), PLACE_COLUMNS, place, sizeof place);
    if (nm_db_text(row, 0)[0] == 'n') {
        nm_screen_say(s, has_place ? NM_SAY_STEPS_NONE_NEAR : NM_SAY_STEPS_NONE, NM_WORDS({"place", place}));
        return;
    }
    nm_human_count(fewest, sqlite3_column_int64(row, 4));
    nm_human_count(most, sqlite3_column_int64(row, 5));
    if (strcmp(fewest, most) == 0)
        nm_screen_say(s, NM_SAY_STEPS_COUNT, NM_WORDS({"n", fewest}));
    else
        nm_screen_say(s, NM_SAY_STEPS_RANGE, NM_WORDS({"n", fewest}, {"most", most}));
    nm_screen_say(s, is_after ? NM_SAY_STEPS_UP_TO : NM_SAY_STEPS_FROM, NM_WORDS({"place", place}));
    nm_screen_say(s, sqlite3_column_int(row, 2) != 0 ? NM_SAY_STEPS_GIVEN : NM_SAY_STEPS_INFERRED, NULL);
}

static nm_status add_steps(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_screen_ask(s, ORIGINS, &rows, err);
    int code = SQLITE_DONE;

    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW)
        add_origin(s, rows);
    return nm_screen_end(s, rows, status, code, err);
}

/* ---- Graphs ---- */

static nm_status add_graphs(nm_screen *s, nm_error *err)
{
    static const char sql[] = "SELECT count(*), sum(end_kind = 'destroyed'), sum(CASE WHEN end_kind <> 'destroyed' "
                              "THEN driver_bytes ELSE 0 END),"
                              " sum(CASE WHEN end_kind <> 'destroyed' THEN block_bytes ELSE 0 END) FROM _graph_memory";
    char captured[NM_HUMAN_BYTES], destroyed[NM_HUMAN_BYTES], driver[NM_HUMAN_BYTES], blocks[NM_HUMAN_BYTES];
    sqlite3_stmt *row = NULL;
    nm_status status = nm_screen_ask(s, sql, &row, err);
    int code = status == NM_OK ? sqlite3_step(row) : SQLITE_DONE;

    if (code == SQLITE_ROW && sqlite3_column_int64(row, 0) > 0) {
        begin_note(s, "suspect_by_site");
        nm_screen_say(s, NM_SAY_GRAPHS,
                      NM_WORDS({"n", nm_human_count(captured, sqlite3_column_int64(row, 0))},
                               {"m", nm_human_count(destroyed, sqlite3_column_int64(row, 1))}));
        if (sqlite3_column_int64(row, 1) < sqlite3_column_int64(row, 0))
            nm_screen_say(s, NM_SAY_GRAPHS_HOLD,
                          NM_WORDS({"driver", nm_human_bytes(driver, sqlite3_column_int64(row, 2))}));
        if (sqlite3_column_int64(row, 3) > 0)
            nm_screen_say(s, NM_SAY_GRAPHS_BLOCKS,
                          NM_WORDS({"blocks", nm_human_bytes(blocks, sqlite3_column_int64(row, 3))}));
    }
    return nm_screen_end(s, row, status, code, err);
}

/* ---- What was not seen ---- */

static nm_sentence unseen_of(int kind)
{
    static const nm_sentence codes[NM_NOTE_MAX + 1] = {
        [NM_NOTE_MISSING_FUNCTION] = NM_SAY_UNSEEN_FUNCTION,
        [NM_NOTE_OTHER_TOOL] = NM_SAY_UNSEEN_TOOL,
        [NM_NOTE_UNSEEN_LIBRARY] = NM_SAY_UNSEEN_LIBRARY,
        [NM_NOTE_UNSEEN_OPERATOR] = NM_SAY_UNSEEN_OPERATOR,
        [NM_NOTE_NO_POOL_EVENTS] = NM_SAY_UNSEEN_POOL,
        [NM_NOTE_PYTHON_UNREADABLE] = NM_SAY_UNSEEN_PYTHON,
        [NM_NOTE_NO_RING] = NM_SAY_UNSEEN_RING,
        [NM_NOTE_UNSEEN_PROCESS] = NM_SAY_UNSEEN_PROCESS,
        [NM_NOTE_PYTHON_UNCHECKED] = NM_SAY_UNSEEN_UNCHECKED,
    };

    return kind < 0 || kind > NM_NOTE_MAX || codes[kind] == NM_SAY_NOTHING ? NM_SAY_UNSEEN : codes[kind];
}

/* A line for each kind of note: the first of them, and how many more. */
static nm_status add_unseen(nm_screen *s, nm_error *err)
{
    static const char sql[] =
        "SELECT k.kind, (SELECT f.text FROM _unseen AS f WHERE f.kind = u.kind ORDER BY"
        " f.first_seq LIMIT 1), sum(u.unseen_count) FROM (SELECT kind, text,"
        " max(unseen_count) AS unseen_count, min(first_seq) AS first_seq FROM _unseen"
        " GROUP BY kind, text) AS u JOIN _note_kind AS k ON k.name = u.kind GROUP BY u.kind ORDER BY min(u.first_seq)";
    char text[TEXT_BYTES], count[NM_HUMAN_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_screen_ask(s, sql, &rows, err);
    int code = SQLITE_DONE;

    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        int64_t more_count = sqlite3_column_int64(rows, 2) - 1;

        begin_note(s, "unseen");
        nm_screen_say(s, unseen_of(sqlite3_column_int(rows, 0)),
                      NM_WORDS({"name", nm_human_text(text, sizeof text, nm_db_text(rows, 1), TEXT_COLUMNS)}));
        if (more_count > 0)
            nm_screen_say(s, NM_SAY_UNSEEN_MORE, NM_WORDS({"n", nm_human_count(count, more_count)}));
    }
    return nm_screen_end(s, rows, status, code, err);
}

nm_status nm_screen_note_lines(nm_screen *s, nm_error *err)
{
    nm_status status = add_steps(s, err);

    if (status == NM_OK)
        status = add_graphs(s, err);
    if (status == NM_OK)
        status = nm_screen_stack_notes(s, err);
    return status == NM_OK ? add_unseen(s, err) : status;
}
