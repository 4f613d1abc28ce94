/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of one stack that stand one behind the other have its frames once, below the last of them.
 */
#include "tool/stack/answer.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/human.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "say/answer.h"
#include "say/names.h"
#include "say/spoken.h"
#include "tool/stack/asked_stacks.sql.h"
#include "tool/stack/failed_stacks.sql.h"
#include "tool/stack/largest_sites.sql.h"
#include "tool/stack/print.h"

#define TEXT_BYTES   256
#define HEAP_COLUMNS 40

typedef struct run {
    const stack_options *options;
    sqlite3 *db; /* borrowed */
    bool has_color;
    nm_json *json;                     /* NULL: text is printed */
    int64_t printed_count, left_count; /* stacks */
    bool has_stack;                    /* one was begun, and: */
    bool has_frames;
    sqlite3_int64 stack_id, left_stack_id;
} run;

/* ---- Rows ---------------------------------------------------------------------------------------------------------- */

/* "rank 3, NPU 0, caching pool" */
static void write_place(const nm_asked_stacks_row *row, char out[TEXT_BYTES])
{
    const char *comma = nm_spoken(", ");
    char heap[4 * HEAP_COLUMNS + 4];
    int length = 0;

    out[0] = 0;
    if (row->has.rank)
        length = snprintf(out, TEXT_BYTES, "%srank %" PRId64, comma, row->rank);
    else if (row->has.pid)
        length = snprintf(out, TEXT_BYTES, "%spid %" PRId64, comma, row->pid);
    if (row->has.device)
        length += snprintf(out + length, TEXT_BYTES - (size_t)length, "%s%.12s %" PRId64, comma,
                           nm_say_device_kind(nm_spoken_language(), row->has.device_kind ? row->device_kind : ""),
                           row->device);
    nm_human_text(heap, sizeof heap, row->heap, HEAP_COLUMNS);
    snprintf(out + length, TEXT_BYTES - (size_t)length, "%s%s", heap[0] == 0 ? "" : comma, nm_spoken(heap));
}

/* "1.5 KiB in 3 allocations, leaked (growing); stack 2, rank 0, NPU 2, caching pool" */
static void print_head(const nm_asked_stacks_row *row)
{
    char bytes[NM_HUMAN_BYTES], count[NM_HUMAN_BYTES], words[TEXT_BYTES], place[TEXT_BYTES], said[TEXT_BYTES];

    nm_human_text(words, sizeof words, nm_spoken_said(row->words, said, sizeof said), 60);
    write_place(row, place);
    if (row->has.bytes)
        printf("%s", nm_human_bytes(bytes, row->bytes));
    if (row->has.allocation_count)
        printf(nm_spoken(" in %s allocation%s"), nm_human_count(count, row->allocation_count),
               nm_spoken(row->allocation_count == 1 ? "" : "s"));
    printf("%s%s", row->has.bytes ? nm_sentence_row(NM_SAY_COMMA, nm_spoken_language()) : "", words);
    if (!row->has.stack_id)
        printf(nm_spoken("; no stack was recorded%s\n"), place);
    else
        printf(nm_spoken("; stack %" PRId64 "%s\n"), row->stack_id, place);
}

static void begin_stack(nm_json *json, const nm_asked_stacks_row *row)
{
    nm_json_begin(json, NULL, '{');
    nm_json_known(json, "stack_id", row->has.stack_id, row->stack_id);
    nm_json_begin(json, "sums", '[');
}

/* One of view stack_sum, or of out_of_memory: what asked in vain. */
static void write_figure(nm_json *json, const nm_asked_stacks_row *row, nm_figure figure)
{
    if (row->has.source)
        figure = (nm_figure){.name = row->source, .unit = figure.unit, .view = "out_of_memory", .count = figure.count};
    nm_figure_json_begin(json, &figure);
    if (!row->has.source) {
        nm_json_text(json, "host", NM_TEXT_OF(row, host));
        nm_json_known(json, "rank", row->has.rank, row->rank);
        nm_json_known(json, "pid", row->has.pid, row->pid);
        nm_json_known(json, "device", row->has.device, row->device);
        nm_json_text(json, "heap", NM_TEXT_OF(row, heap_name));
        nm_json_text(json, "level", NM_TEXT_OF(row, level));
        nm_json_known(json, "heap_id", row->has.heap_id, row->heap_id);
        nm_json_known(json, "stack_id", row->has.stack_id, row->stack_id);
        nm_json_text(json, "what", row->what);
        nm_json_text(json, "verdict", NM_TEXT_OF(row, verdict));
    }
    nm_json_known(json, "out_of_memory_id", row->has.out_of_memory_id, row->out_of_memory_id);
    nm_figure_json_end(json);
}

static void write_figures(nm_json *json, const nm_asked_stacks_row *row)
{
    nm_json_begin(json, "figures", '[');
    if (row->has.bytes)
        write_figure(json, row, (nm_figure){"bytes", "bytes", "stack_sum", .count = row->bytes});
    if (row->has.allocation_count)
        write_figure(json, row, (nm_figure){"allocation_count", "count", "stack_sum", .count = row->allocation_count});
    nm_json_end(json, ']');
}

static void write_head(nm_json *json, const nm_asked_stacks_row *row)
{
    char text[NM_HUMAN_BYTES], said[TEXT_BYTES];

    nm_json_begin(json, NULL, '{');
    nm_json_text(json, "what", row->words);
    nm_json_text(json, "what_text", nm_spoken_said(row->words, said, sizeof said));
    nm_json_known(json, "bytes", row->has.bytes, row->bytes);
    nm_json_text(json, "text", row->has.bytes ? nm_human_bytes(text, row->bytes) : NULL);
    nm_json_known(json, "allocation_count", row->has.allocation_count, row->allocation_count);
    nm_json_known(json, "rank", row->has.rank, row->rank);
    nm_json_known(json, "pid", row->has.pid, row->pid);
    nm_json_known(json, "device", row->has.device, row->device);
    nm_json_text(json, "heap", NM_TEXT_OF(row, heap));
    write_figures(json, row);
    nm_json_end(json, '}');
}

/* The object that begin_stack has opened. */
static nm_status end_object(run *r, nm_error *err)
{
    nm_status status = NM_OK;

    if (!r->has_stack)
        return NM_OK;
    nm_json_end(r->json, ']');
    status = stack_write_frames(r->db, r->has_frames ? r->stack_id : -1, r->json, err);
    nm_json_end(r->json, '}');
    return status == NM_OK ? r->json->status : status;
}

/* The frames of the stack whose heads are printed. */
static nm_status end_stack(run *r, nm_error *err)
{
    nm_status status = NM_OK;

    if (r->json != NULL)
        status = end_object(r, err);
    else if (r->has_frames)
        status = stack_print_frames(r->db, r->stack_id, r->has_color, stdout, err);
    r->has_stack = r->has_frames = false;
    return status;
}

/* Rows of the same stack, one behind the other, have it once. */
static nm_status take_row(run *r, const nm_asked_stacks_row *row, nm_error *err)
{
    bool has_frames = row->has.stack_id;
    bool is_same = r->has_frames && has_frames && row->stack_id == r->stack_id;
    nm_status status = NM_OK;

    if (r->left_count > 0 || (!is_same && r->printed_count >= r->options->top)) {
        r->left_count += r->left_count == 0 || !has_frames || row->stack_id != r->left_stack_id;
        r->left_stack_id = has_frames ? row->stack_id : -1;
        return NM_OK;
    }
    if (!is_same && r->has_stack)
        status = end_stack(r, err);
    if (status != NM_OK)
        return status;
    if (!is_same && r->json != NULL)
        begin_stack(r->json, row);
    else if (!is_same && r->printed_count > 0)
        putchar('\n');
    r->printed_count += !is_same;
    r->has_stack = true;
    r->has_frames = has_frames;
    r->stack_id = row->stack_id;
    if (r->json != NULL)
        write_head(r->json, row);
    else
        print_head(row);
    return NM_OK;
}

static nm_status take_rows(run *r, sqlite3_stmt *rows, nm_status status, nm_error *err)
{
    nm_asked_stacks_row row;

    while (status == NM_OK && nm_asked_stacks_next(rows, &row))
        status = take_row(r, &row, err);
    status = nm_question_end(rows, status, err);
    return status == NM_OK ? end_stack(r, err) : status;
}

/* Of these sums those that are asked for. */
static nm_status ask(run *r, bool has_allocated, bool has_live, bool has_leaked, bool has_reserve, nm_error *err)
{
    const stack_options *options = r->options;
    int64_t stack_id = options->choice == STACK_BY_ID ? (int64_t)options->stack_id : NM_NULL;
    const char *site = options->choice == STACK_BY_SITE ? options->site : NULL;
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_asked_stacks_ask(r->db, has_allocated, has_live, has_leaked, has_reserve, stack_id,
                                           options->has_rank ? options->rank : NM_NULL, site, &rows, err);

    return take_rows(r, rows, status, err);
}

static nm_status ask_failed(run *r, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_failed_stacks_ask(r->db, r->options->has_rank ? r->options->rank : NM_NULL, &rows, err);

    return take_rows(r, rows, status, err);
}

/* ---- All of it ----------------------------------------------------------------------------------------------------- */

static nm_status ask_chosen(run *r, nm_error *err)
{
    switch (r->options->choice) {
    case STACK_LEAK:
        return ask(r, false, false, true, false, err);
    case STACK_PEAK:
        return ask(r, false, true, false, false, err);
    case STACK_RESERVE:
        return ask(r, false, false, false, true, err);
    case STACK_OOM:
        return ask_failed(r, err);
    case STACK_BY_ID:
        return ask(r, true, true, true, false, err);
    case STACK_BY_SITE:
        return ask(r, true, false, false, false, err);
    default:
        break;
    }
    nm_status status = ask(r, false, false, true, false, err);
    return status == NM_OK && r->printed_count == 0 ? ask(r, false, true, false, false, err) : status;
}

/* Is it not judged? Then what is not known may be all the same. */
static bool is_unjudged(const run *r, const char *kind)
{
    int64_t count = 0;
    char sql[128];

    snprintf(sql, sizeof sql, "SELECT count(*) FROM finding WHERE kind = '%s' AND severity = 'not judged'", kind);
    return nm_db_get_int(r->db, sql, &count, NULL) == NM_OK && count > 0;
}

static void print_nothing(const run *r)
{
    static const char *const nothing[] = {
        [STACK_DEFAULT] = "nothing leaked, and nothing was live",
        [STACK_LEAK] = "nothing leaked",
        [STACK_PEAK] = "nothing was live",
        [STACK_RESERVE] = "no row tells what was live when a pool held most",
        [STACK_OOM] = "no request for memory failed",
        [STACK_BY_ID] = "there is no stack of that number",
        [STACK_BY_SITE] = "nothing was allocated at a site of that name",
    };
    const char *text = nothing[r->options->choice];

    if (r->options->choice == STACK_LEAK && is_unjudged(r, "leak"))
        text = "nothing is known to have leaked";
    else if (r->options->choice == STACK_OOM && is_unjudged(r, "out of memory"))
        text = "no request for memory is known to have failed";
    printf("%s\n", nm_spoken(text));
}

static void print_end(const run *r)
{
    char count[NM_HUMAN_BYTES];

    if (r->printed_count == 0)
        print_nothing(r);
    else if (r->left_count > 0)
        printf(nm_spoken("\nand %s more (--top)\n"), nm_human_count(count, r->left_count));
}

/* What may stand in a word's place, below a word that is nothing. */
static nm_status print_choices(sqlite3 *db, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_largest_sites_row row;
    nm_status status = nm_largest_sites_ask(db, &rows, err);

    fputs(nm_spoken("there are leak, peak, reserve, oom, the number of a stack, or a part of a site's name"), stdout);
    for (int i = 0; status == NM_OK && nm_largest_sites_next(rows, &row); i++)
        nm_shown_print(stdout, "%s%s", i == 0 ? nm_spoken(", as ") : "; ", row.site);
    putchar('\n');
    return nm_question_end(rows, status, err);
}

/* All in one object. */
static nm_status answer_json(run *r, nm_error *err)
{
    nm_buffer text = {0};
    nm_json json = {.out = &text, .err = err};
    nm_status status;

    r->json = &json;
    nm_answer_json_begin(&json, "stack", r->options->database, nm_spoken_language());
    nm_json_begin(&json, "stacks", '[');
    status = ask_chosen(r, err);
    nm_json_end(&json, ']');
    nm_json_int(&json, "left_count", r->left_count);
    if (status == NM_OK)
        status = nm_answer_json_end(&json);
    if (status == NM_OK)
        fwrite(text.data, 1, text.len, stdout);
    nm_buffer_free(&text);
    return status;
}

nm_status stack_answer(sqlite3 *db, const stack_options *options, bool has_color, bool *is_found, nm_error *err)
{
    run r = {.options = options, .db = db, .has_color = has_color};
    nm_status status = options->is_json ? answer_json(&r, err) : ask_chosen(&r, err);

    *is_found = r.printed_count > 0;
    if (status == NM_OK && !options->is_json)
        print_end(&r);
    if (status == NM_OK && !options->is_json && !*is_found && options->choice == STACK_BY_SITE)
        status = print_choices(db, err);
    return status;
}
