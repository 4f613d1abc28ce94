/* SPDX-License-Identifier: Apache-2.0
 *
 * What limits the answers: where steps were taken from, whether stacks are there and whole, graphs, and what the recorder could not
 * see. A line each, the first to go where there is no room.
 */
#include "screen/notes.h"

#include <string.h>

#include "base/human.h"
#include "screen/graphs.sql.h"
#include "screen/groups.h"
#include "screen/origins.sql.h"
#include "screen/source_bases.sql.h"
#include "screen/unseen_kinds.sql.h"
#include "screen/wrappers.sql.h"
#include "trace/event.h"

#define PLACE_COLUMNS   48
#define TEXT_COLUMNS    60
#define TEXT_BYTES      512
#define PROCESS_COLUMNS 400
#define PROCESS_BYTES   1601

static void begin_note(nm_screen *s, const char *view)
{
    nm_screen_begin(s, NM_SAY_LABEL_NOTE, NM_LINE_PLAIN, NM_RANK_NOTE, view);
    nm_screen_rows(s, 2);
}

/* ---- Steps ---- */

static void add_origin(nm_screen *s, const nm_origins_row *row)
{
    char fewest[NM_HUMAN_BYTES], most[NM_HUMAN_BYTES], place[TEXT_BYTES];
    bool is_after = strcmp(row->kind, "optimizer") == 0;

    begin_note(s, "step_origin");
    if (!row->has.anchor)
        nm_sentence_put(NM_SAY_SITE_NONE, s->language, NULL, place, sizeof place);
    else
        nm_screen_site(s, row->anchor, PLACE_COLUMNS, place, sizeof place);
    if (row->source[0] == 'n') {
        nm_screen_say(s, row->has.anchor ? NM_SAY_STEPS_NONE_NEAR : NM_SAY_STEPS_NONE, NM_WORDS({"place", place}));
        return;
    }
    nm_human_count(fewest, row->fewest_count);
    nm_human_count(most, row->most_count);
    if (strcmp(fewest, most) == 0)
        nm_screen_say(s, NM_SAY_STEPS_COUNT, NM_WORDS({"n", fewest}));
    else
        nm_screen_say(s, NM_SAY_STEPS_RANGE, NM_WORDS({"n", fewest}, {"most", most}));
    nm_screen_say(s, is_after ? NM_SAY_STEPS_UP_TO : NM_SAY_STEPS_FROM, NM_WORDS({"place", place}));
    nm_screen_say(s, row->is_given ? NM_SAY_STEPS_GIVEN : NM_SAY_STEPS_INFERRED, NULL);
}

static nm_status add_steps(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_origins_row row;
    nm_status status = nm_origins_ask(s->db, &rows, err);

    while (status == NM_OK && nm_origins_next(rows, &row))
        add_origin(s, &row);
    return nm_question_end(rows, status, err);
}

/* ---- Graphs ---- */

static nm_status add_graphs(nm_screen *s, nm_error *err)
{
    char captured[NM_HUMAN_BYTES], destroyed[NM_HUMAN_BYTES], driver[NM_HUMAN_BYTES], blocks[NM_HUMAN_BYTES];
    nm_graphs_row row;
    nm_status status = nm_graphs_get(s->db, &row, err);

    if (row.graph_count == 0)
        return status;
    begin_note(s, "suspect_by_site");
    nm_screen_say(s, NM_SAY_GRAPHS,
                  NM_WORDS({"n", nm_human_count(captured, row.graph_count)},
                           {"m", nm_human_count(destroyed, row.destroyed_count)}));
    if (row.destroyed_count < row.graph_count)
        nm_screen_say(s, NM_SAY_GRAPHS_HOLD, NM_WORDS({"driver", nm_human_bytes(driver, row.driver_bytes)}));
    if (row.block_bytes > 0)
        nm_screen_say(s, NM_SAY_GRAPHS_BLOCKS, NM_WORDS({"blocks", nm_human_bytes(blocks, row.block_bytes)}));
    return status;
}

/* ---- Sites that say little ---- */

static nm_status add_wrapper(nm_screen *s, nm_error *err)
{
    char function[TEXT_BYTES], share[NM_HUMAN_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_wrappers_row row;
    nm_status status = nm_wrappers_ask(s->db, &rows, err);

    while (status == NM_OK && nm_wrappers_next(rows, &row)) {
        begin_note(s, "peak_by_site");
        nm_screen_rows(s, 3);
        nm_screen_say(s, NM_SAY_WRAPPER,
                      NM_WORDS({"share", nm_human_percent(share, row.share_ratio)}, {"heap", row.heap},
                               {"function", nm_human_text(function, sizeof function, row.function, TEXT_COLUMNS)}));
    }
    return nm_question_end(rows, status, err);
}

/* ---- What was not seen ---- */

static nm_sentence unseen_of(int kind)
{
    static const nm_sentence codes[NM_NOTE_MAX + 1] = {
        [NM_NOTE_MISSING_FUNCTION] = NM_SAY_UNSEEN_FUNCTION,
        [NM_NOTE_OTHER_TOOL] = NM_SAY_UNSEEN_OTHER_TOOL,
        [NM_NOTE_UNSEEN_LIBRARY] = NM_SAY_UNSEEN_LIBRARY,
        [NM_NOTE_UNSEEN_OPERATOR] = NM_SAY_UNSEEN_OPERATOR,
        [NM_NOTE_NO_POOL_EVENTS] = NM_SAY_UNSEEN_POOL,
        [NM_NOTE_PYTHON_UNREADABLE] = NM_SAY_UNSEEN_PYTHON,
        [NM_NOTE_NO_RING] = NM_SAY_UNSEEN_RING,
        [NM_NOTE_UNSEEN_PROCESS] = NM_SAY_UNSEEN_PROCESS,
        [NM_NOTE_PYTHON_UNCHECKED] = NM_SAY_UNSEEN_UNCHECKED,
        [NM_NOTE_UNREAD_PART] = NM_SAY_UNSEEN_PART,
        [NM_NOTE_OTHER_TOTAL] = NM_SAY_UNSEEN_TOTAL,
    };

    return kind < 0 || kind > NM_NOTE_MAX || codes[kind] == NM_SAY_NOTHING ? NM_SAY_UNSEEN : codes[kind];
}

/* A line for each kind of note: the first of them, and how many more. */
static nm_status add_unseen(nm_screen *s, nm_error *err)
{
    char text[PROCESS_BYTES], count[NM_HUMAN_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_unseen_kinds_row row;
    nm_status status = nm_unseen_kinds_ask(s->db, &rows, err);

    while (status == NM_OK && nm_unseen_kinds_next(rows, &row)) {
        /* Which process, and why: its command alone may be long. */
        size_t columns = row.kind_code == NM_NOTE_UNSEEN_PROCESS ? PROCESS_COLUMNS : TEXT_COLUMNS;

        begin_note(s, "unseen");
        nm_screen_say(s, unseen_of((int)row.kind_code),
                      NM_WORDS({"name", nm_human_text(text, sizeof text, row.text, columns)}));
        if (row.unseen_count > 1)
            nm_screen_say(s, NM_SAY_UNSEEN_MORE, NM_WORDS({"n", nm_human_count(count, row.unseen_count - 1)}));
    }
    return nm_question_end(rows, status, err);
}

/* ---- How far an input goes ---- */

/* Behind `code` what has the basis `word`, in the order of the table. */
static void list_of_basis(nm_screen *s, nm_sentence code, const char *word, const char *const *bases)
{
    static const nm_sentence names[] = {NM_SAY_UNJUDGED_LEAKS,   NM_SAY_SOURCE_PEAK,   NM_SAY_MEASURE_FRAGMENTATION,
                                        NM_SAY_MEASURE_HIT_RATE, NM_SAY_SOURCE_DEVICE, NM_SAY_UNJUDGED_FAILURES,
                                        NM_SAY_UNJUDGED_MISUSE};
    bool is_first = true;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(bases[i], word) != 0)
            continue;
        nm_screen_say(s, is_first ? code : NM_SAY_COMMA, NULL);
        nm_screen_say(s, names[i], NULL);
        is_first = false;
    }
}

static nm_status add_sources(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_source_bases_row row;
    nm_status status = nm_source_bases_ask(s->db, &rows, err);

    while (status == NM_OK && nm_source_bases_next(rows, &row)) {
        const char *const bases[] = {row.leak_basis,   row.peak_basis,    row.fragmentation_basis, row.hit_basis,
                                     row.device_basis, row.failure_basis, row.misuse_basis};

        begin_note(s, "input");
        nm_screen_say(s, NM_SAY_SOURCE, NM_WORDS({"name", row.kind}));
        list_of_basis(s, NM_SAY_SOURCE_ESTIMATE, "estimate", bases);
        list_of_basis(s, NM_SAY_SOURCE_CURVE, "curve", bases);
        list_of_basis(s, NM_SAY_SOURCE_NONE, "none", bases);
    }
    return nm_question_end(rows, status, err);
}

nm_status nm_screen_note_lines(nm_screen *s, nm_error *err)
{
    nm_status status = add_sources(s, err);

    if (status == NM_OK)
        status = add_steps(s, err);
    if (status == NM_OK)
        status = add_graphs(s, err);
    if (status == NM_OK)
        status = nm_screen_stack_notes(s, err);
    if (status == NM_OK)
        status = add_wrapper(s, err);
    return status == NM_OK ? add_unseen(s, err) : status;
}
