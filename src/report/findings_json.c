/* SPDX-License-Identifier: Apache-2.0
 *
 * Written as the rows come: nothing is judged here, and no figure worked out. Where a figure stands in a view is known of each kind of
 * finding (figure_places); what a finding worked out itself stands in table finding alone, and is asked there.
 */
#include "report/findings_json.h"

#include <stdlib.h>
#include <string.h>

#include "report/json_findings.sql.h"
#include "report/json_groups.sql.h"
#include "report/json_inputs.sql.h"
#include "report/json_run.sql.h"
#include "say/command.h"
#include "say/said.h"

#define COLUMNS 200 /* of a site or a heap within a sentence */

typedef struct writer {
    sqlite3 *db;
    const nm_findings_json_options *options;
    nm_json *json;
    nm_json_run_row run;
} writer;

/* ---- Figures ------------------------------------------------------------------------------------------------------- */

/* Beside the place: host, rank, pid, device, heap and level. */
typedef enum figure_key { KEY_PLACE, KEY_SITE, KEY_MEASURE, KEY_FAILURE } figure_key;

typedef struct figure_place {
    const char *kind, *view, *unit; /* of finding; unit NULL: any */
    const char *column;             /* of finding: "bytes", "value" or "count" */
    const char *name;               /* of the view */
    figure_key key;
} figure_place;

static const figure_place figure_places[] = {
    {"leak", "leak_by_site", NULL, "bytes", "leak_bytes", KEY_SITE},
    {"leak", "leak_by_site", NULL, "count", "leak_count", KEY_SITE},
    {"leak", "leak_by_site", "bytes a step", "value", "late_bytes_per_step", KEY_SITE},
    {"leak", "leak_by_site", "bytes an hour", "value", "bytes_per_hour", KEY_SITE},
    {NULL, "health", NULL, "value", "value", KEY_MEASURE},
    {NULL, "health", NULL, "bytes", "amount", KEY_MEASURE},
    {NULL, "health", NULL, "count", "amount", KEY_MEASURE},
    {"out of memory", "out_of_memory", NULL, "count", "failure_count", KEY_FAILURE},
    {"pending memory", "pool_summary", NULL, "bytes", "max_pending_bytes", KEY_PLACE},
    {"pending memory", "pool_summary", NULL, "count", "pending_count", KEY_PLACE},
    {"host growth", "host_growth", NULL, "bytes", "growth_bytes", KEY_PLACE},
    {"host growth", "host_growth", NULL, "value", "growth_bytes_per_hour", KEY_PLACE},
};

static bool is_same(const char *a, const char *b)
{
    return a == NULL || strcmp(a, b) == 0;
}

/* NULL: none has it. What is good or of no site is a sum of several rows. */
static const figure_place *place_of(const nm_json_findings_row *row, const char *column)
{
    for (size_t i = 0; i < sizeof figure_places / sizeof figure_places[0]; i++) {
        const figure_place *place = &figure_places[i];

        if (is_same(place->kind, row->kind) && is_same(place->view, row->source_view) &&
            is_same(place->unit, row->unit) && strcmp(place->column, column) == 0 &&
            (place->key != KEY_SITE || row->has.site) && (place->key != KEY_FAILURE || row->has.source_id))
            return place;
    }
    return NULL;
}

#define WRITE_INT(json, row, member)  nm_json_known(json, #member, (row)->has.member, (row)->member)
#define WRITE_TEXT(json, row, member) nm_json_text(json, #member, NM_TEXT_OF(row, member))

static void write_place(nm_json *json, const nm_json_findings_row *row)
{
    WRITE_TEXT(json, row, host);
    WRITE_INT(json, row, rank);
    WRITE_INT(json, row, pid);
    WRITE_INT(json, row, device);
    WRITE_TEXT(json, row, heap);
    WRITE_TEXT(json, row, level);
}

static void write_key(nm_json *json, const nm_json_findings_row *row, const figure_place *place)
{
    if (place == NULL) {
        nm_json_int(json, "finding_id", row->finding_id);
    } else if (place->key == KEY_FAILURE) {
        nm_json_int(json, "out_of_memory_id", row->source_id);
    } else {
        write_place(json, row);
        if (place->key == KEY_SITE) {
            WRITE_TEXT(json, row, site);
            WRITE_TEXT(json, row, verdict);
        } else if (place->key == KEY_MEASURE) {
            nm_json_text(json, "measure", row->kind);
            WRITE_TEXT(json, row, moment);
        }
    }
}

static void write_figure(nm_json *json, const nm_json_findings_row *row, const char *column, nm_figure figure)
{
    const figure_place *place = place_of(row, column);

    figure.name = place == NULL ? column : place->name;
    figure.view = place == NULL ? "finding" : place->view;
    nm_figure_json_begin(json, &figure);
    write_key(json, row, place);
    nm_figure_json_end(json);
}

static void write_figures(nm_json *json, const nm_json_findings_row *row)
{
    nm_json_begin(json, "figures", '[');
    if (row->has.bytes)
        write_figure(json, row, "bytes", (nm_figure){.unit = "bytes", .count = row->bytes});
    if (row->has.count)
        write_figure(json, row, "count", (nm_figure){.unit = "count", .count = row->count});
    if (row->has.found_value)
        write_figure(json, row, "value", (nm_figure){.unit = row->unit, .is_real = true, .value = row->found_value});
    nm_json_end(json, ']');
}

/* ---- Sentences ----------------------------------------------------------------------------------------------------- */

static nm_said_of owner_of(const writer *w, const nm_json_findings_row *row)
{
    return (nm_said_of){
        {row->has.rank, row->has.pid, row->has.device, row->rank, row->pid, row->device, w->run.device_kind},
        row->heap,
        row->site};
}

/* Moves *said behind what it writes as "text" in words and as "said" in codes and values. */
static void write_said(writer *w, const nm_said_of *of, const char **said)
{
    const nm_listener to = {w->options->language, w->run.is_shared, COLUMNS, COLUMNS};
    const char *begin = *said;
    char text[NM_SENTENCE_BYTES];

    if (w->json->status != NM_OK)
        return;
    if (!nm_said_put(&to, of, said, text, sizeof text)) {
        w->json->status =
            nm_fail(w->json->err, NM_ERR_FORMAT, NM_NO_OFFSET, "what a finding says cannot be read: table finding");
        return;
    }
    nm_json_text(w->json, "text", text);
    nm_json_copy(w->json, "said", (nm_bytes){(const uint8_t *)begin, (size_t)(*said - begin)});
}

/* The first sentence's code, which stands for all that is said. */
static void write_code(nm_json *json, const char *said)
{
    nm_json_reader reader = nm_json_reader_over((nm_bytes){(const uint8_t *)said, strlen(said)});
    nm_json_token token = {0};
    nm_error ignored;

    if (nm_json_next(&reader, &token, &ignored) == NM_OK && token.kind == NM_JSON_LIST &&
        nm_json_next(&reader, &token, &ignored) == NM_OK && token.kind == NM_JSON_TEXT)
        nm_json_bytes(json, "code", token.text);
    else
        nm_json_null(json, "code");
    nm_json_reader_free(&reader);
}

static void write_evidence(writer *w, const nm_said_of *of, const nm_json_findings_row *row)
{
    const char *lines = row->evidence;
    nm_sentence label;

    nm_json_begin(w->json, "evidence", '[');
    while (row->has.evidence && w->json->status == NM_OK && nm_said_next_line(&lines, &label)) {
        nm_json_begin(w->json, NULL, '{');
        nm_json_text(w->json, "label", label == NM_SAY_NOTHING ? NULL : nm_sentence_row(label, w->options->language));
        write_said(w, of, &lines);
        nm_json_end(w->json, '}');
    }
    nm_json_end(w->json, ']');
    if (lines == NULL && w->json->status == NM_OK)
        w->json->status =
            nm_fail(w->json->err, NM_ERR_FORMAT, NM_NO_OFFSET, "what proves a finding cannot be read: table finding");
}

static void write_fix(writer *w, const nm_said_of *of, const nm_json_findings_row *row)
{
    const char *said = row->remedy;

    if (!row->has.remedy) {
        nm_json_null(w->json, "fix");
        return;
    }
    nm_json_begin(w->json, "fix", '{');
    write_said(w, of, &said);
    nm_json_end(w->json, '}');
}

static void write_next(writer *w, const nm_json_findings_row *row)
{
    const char *database = w->options->database;
    char *command = NULL;

    if (row->has.next_command) {
        command = nm_command_make(row->next_command, database == NULL ? NM_COMMAND_DATABASE : database,
                                  w->run.has.input_path ? w->run.input_path : NM_COMMAND_INPUT);
        if (command == NULL && w->json->status == NM_OK)
            w->json->status = nm_fail(w->json->err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    }
    nm_json_text(w->json, "next", command);
    free(command);
}

/* ---- Lists --------------------------------------------------------------------------------------------------------- */

static void write_finding(writer *w, const nm_json_findings_row *row)
{
    nm_json *json = w->json;
    nm_said_of of = owner_of(w, row);
    const char *said = row->sentence;

    nm_json_begin(json, NULL, '{');
    nm_json_int(json, "finding_id", row->finding_id);
    write_code(json, said);
    WRITE_TEXT(json, row, severity);
    WRITE_TEXT(json, row, kind);
    WRITE_TEXT(json, row, verdict);
    WRITE_TEXT(json, row, reason);
    nm_json_text(json, "basis", strcmp(row->basis, "estimate") == 0 ? "estimate" : "recorded");
    nm_json_bool(json, "is_bound", strcmp(row->basis, "bound") == 0);
    write_said(w, &of, &said);
    nm_json_begin(json, "subject", '{');
    write_place(json, row);
    WRITE_TEXT(json, row, site);
    nm_json_end(json, '}');
    write_figures(json, row);
    write_evidence(w, &of, row);
    write_fix(w, &of, row);
    write_next(w, row);
    nm_json_text(json, "source_view", row->source_view);
    nm_json_end(json, '}');
}

/* Of a list: whether this one, which is the next, is among those that were asked for; counts it. */
static bool is_asked(const nm_findings_json_options *options, int64_t *all_count)
{
    int64_t at = (*all_count)++ - options->first_offset;

    return at >= 0 && (options->count_max == 0 || at < options->count_max);
}

static nm_status write_findings(writer *w, bool is_judged, nm_error *err)
{
    const nm_findings_json_options *o = w->options;
    sqlite3_stmt *rows = NULL;
    nm_json_findings_row row;
    int64_t all_count = 0;
    nm_status status = nm_json_findings_ask(w->db, is_judged, o->kind, o->severity, o->site,
                                            o->finding_id == 0 ? NM_NULL : o->finding_id, &rows, err);

    nm_json_begin(w->json, is_judged ? "findings" : "not_judged", '[');
    while (status == NM_OK && w->json->status == NM_OK && nm_json_findings_next(rows, &row))
        if (is_asked(o, &all_count))
            write_finding(w, &row);
    nm_json_end(w->json, ']');
    nm_json_int(w->json, is_judged ? "finding_count" : "not_judged_count", all_count);
    return nm_question_end(rows, status, err);
}

static void write_group_figure(nm_json *json, const nm_json_groups_row *row, nm_figure figure)
{
    figure.view = "finding_group";
    nm_figure_json_begin(json, &figure);
    nm_json_int(json, "finding_group_id", row->finding_group_id);
    nm_figure_json_end(json);
}

static void write_group_figures(nm_json *json, const nm_json_groups_row *row)
{
    const nm_figure amounts[] = {{"least_amount", row->unit, NULL, true, row->least_value, 0},
                                 {"median_amount", row->unit, NULL, true, row->median_value, 0},
                                 {"most_amount", row->unit, NULL, true, row->most_value, 0}};

    nm_json_begin(json, "figures", '[');
    write_group_figure(json, row, (nm_figure){.name = "holder_count", .unit = "count", .count = row->holder_count});
    write_group_figure(json, row, (nm_figure){.name = "all_count", .unit = "count", .count = row->member_count});
    if (row->has.total_bytes)
        write_group_figure(json, row, (nm_figure){.name = "total_bytes", .unit = "bytes", .count = row->total_bytes});
    if (row->has.total_count)
        write_group_figure(json, row, (nm_figure){.name = "total_count", .unit = "count", .count = row->total_count});
    for (size_t i = 0; i < sizeof amounts / sizeof amounts[0] && row->has.least_value; i++)
        write_group_figure(json, row, amounts[i]);
    nm_json_end(json, ']');
}

static void write_group(writer *w, const nm_json_groups_row *row)
{
    const nm_said_of of = {{.device_kind = w->run.device_kind}, "", row->site};
    const char *said = row->sentence;
    nm_json *json = w->json;

    nm_json_begin(json, NULL, '{');
    nm_json_int(json, "finding_group_id", row->finding_group_id);
    write_code(json, said);
    WRITE_TEXT(json, row, severity);
    WRITE_TEXT(json, row, kind);
    WRITE_TEXT(json, row, verdict);
    if (row->has.sentence)
        write_said(w, &of, &said);
    else
        nm_json_null(json, "text");
    WRITE_TEXT(json, row, site);
    nm_json_begin(json, "worst", '{');
    WRITE_TEXT(json, row, host);
    WRITE_INT(json, row, rank);
    WRITE_INT(json, row, pid);
    nm_json_end(json, '}');
    write_group_figures(json, row);
    nm_json_end(json, '}');
}

static nm_status write_groups(writer *w, nm_error *err)
{
    const nm_findings_json_options *o = w->options;
    sqlite3_stmt *rows = NULL;
    nm_json_groups_row row;
    int64_t all_count = 0;
    nm_status status =
        o->finding_id != 0 ? NM_OK : nm_json_groups_ask(w->db, o->kind, o->severity, o->site, &rows, err);

    nm_json_begin(w->json, "groups", '[');
    while (rows != NULL && w->json->status == NM_OK && nm_json_groups_next(rows, &row))
        if (is_asked(o, &all_count))
            write_group(w, &row);
    nm_json_end(w->json, ']');
    nm_json_int(w->json, "group_count", all_count);
    return nm_question_end(rows, status, err);
}

static void write_input(nm_json *json, const nm_json_inputs_row *row)
{
    nm_json_begin(json, NULL, '{');
    WRITE_TEXT(json, row, path);
    WRITE_TEXT(json, row, kind);
    WRITE_TEXT(json, row, host);
    WRITE_TEXT(json, row, verdict);
    WRITE_TEXT(json, row, detail);
    nm_json_known(json, "events_seen", row->has.seen_count, row->seen_count);
    nm_json_known(json, "events_ingested", row->has.ingested_count, row->ingested_count);
    nm_json_known(json, "events_dropped", row->has.dropped_count, row->dropped_count);
    nm_json_known(json, "events_damaged", row->has.damaged_count, row->damaged_count);
    nm_json_known(json, "events_unrecovered", row->has.unrecovered_count, row->unrecovered_count);
    nm_json_known(json, "bytes_cut", row->has.cut_bytes, row->cut_bytes);
    nm_json_end(json, '}');
}

static nm_status write_inputs(writer *w, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_json_inputs_row row;
    nm_status status = nm_json_inputs_ask(w->db, &rows, err);

    nm_json_begin(w->json, "inputs", '[');
    while (status == NM_OK && nm_json_inputs_next(rows, &row))
        write_input(w->json, &row);
    nm_json_end(w->json, ']');
    return nm_question_end(rows, status, err);
}

nm_status nm_findings_json(sqlite3 *db, const nm_findings_json_options *options, nm_json *json, nm_error *err)
{
    writer w = {.db = db, .options = options, .json = json};
    sqlite3_stmt *run = NULL;
    nm_status status = nm_json_run_ask(db, &run, err);

    if (status == NM_OK && !nm_json_run_next(run, &w.run)) /* its texts are borrowed until `run` ends */
        w.run = (nm_json_run_row){.device_kind = "", .input_path = ""};
    if (status == NM_OK)
        status = write_inputs(&w, err);
    if (status == NM_OK)
        status = write_groups(&w, err);
    if (status == NM_OK)
        status = write_findings(&w, true, err);
    if (status == NM_OK)
        status = write_findings(&w, false, err);
    status = nm_question_end(run, status, err);
    return status == NM_OK ? json->status : status;
}

nm_status nm_findings_json_append(sqlite3 *db, const char *program, const nm_findings_json_options *options,
                                  nm_buffer *out, nm_error *err)
{
    nm_json json = {.out = out, .err = err};
    nm_status status;

    nm_answer_json_begin(&json, program, options->database, options->language);
    status = nm_findings_json(db, options, &json, err);
    return status == NM_OK ? nm_answer_json_end(&json) : status;
}
