/* SPDX-License-Identifier: Apache-2.0
 *
 * Columns go out as they come; beside what is in bytes, or has a unit, stands the same in words.
 */
#include "tool/diff/json.h"

#include <errno.h>
#include <string.h>

#include "base/spoken.h"
#include "say/answer.h"
#include "say/spoken.h"
#include "store/question.h"
#include "tool/common/answer.h"
#include "tool/diff/figures.h"

void diff_json_begin(diff_run *run)
{
    const nm_compare_choice *choice = &run->options->choice;

    nm_answer_json_begin(run->json, "diff", run->options->run_path, nm_spoken_language());
    nm_json_begin(run->json, "diff", '{');
    nm_json_text(run->json, "basis", "recorded");
    nm_json_begin(run->json, "parameters", '{');
    nm_json_text(run->json, "base", choice->base_path);
    if (choice->has_rank)
        nm_json_int(run->json, "rank", choice->rank);
    nm_json_bool(run->json, "by_rank", choice->is_by_rank);
    nm_json_text(run->json, "level", choice->level);
    nm_json_text(run->json, "at", choice->at);
    nm_json_text(run->json, "from", choice->from);
    nm_json_text(run->json, "to", choice->to);
    nm_json_int(run->json, "threshold", (int64_t)choice->threshold_bytes);
    nm_json_end(run->json, '}');
}

nm_status diff_json_end(diff_run *run, nm_error *err)
{
    nm_json *json = run->json;
    nm_status status;

    nm_json_int(json, "difference_count", run->difference_count);
    nm_json_end(json, '}');
    status = nm_answer_json_end(json);
    if (status == NM_OK && fwrite(json->out->data, 1, json->out->len, stdout) != json->out->len)
        status = nm_name_written(nm_fail_write(err, errno), answer_name(), err);
    return status;
}

void diff_json_head(nm_json *json, const char *name, const char *path, const nm_diff_heads_row *row)
{
    nm_json_begin(json, name, '{');
    nm_json_text(json, "database", path);
    nm_json_text(json, "input", row->name);
    nm_json_int(json, "process_count", row->process_count);
    nm_json_int(json, "rank_count", row->rank_count);
    nm_json_int(json, "step_count", row->step_count);
    nm_json_bool(json, "is_complete", row->partial_count == 0);
    nm_json_bool(json, "is_from_begin", row->midway_count == 0);
    nm_json_end(json, '}');
}

/* Of "base_bytes" and "base_value" the stem; NULL: the column is no amount. */
static const char *ends_amount(const char *name)
{
    const char *end = strrchr(name, '_');

    return end != NULL && (strcmp(end, "_bytes") == 0 || strcmp(end, "_value") == 0) ? end : NULL;
}

static void write_text(nm_json *json, sqlite3_stmt *row, const char *column, const char *end)
{
    char name[64], text[NM_HUMAN_BYTES + 1];
    bool is_change = strncmp(column, "change_", 7) == 0, is_bytes = strcmp(end, "_bytes") == 0;

    snprintf(name, sizeof name, "%.*s_text", (int)(end - column), column);
    if (!nm_named_has(row, column) || (!is_bytes && !nm_named_has(row, "unit")))
        nm_json_null(json, name);
    else if (!is_bytes)
        nm_json_text(json, name, is_change ? diff_change_text(text, row) : diff_value_text(text, row, column));
    else if (is_change)
        nm_json_text(json, name, diff_signed_bytes(text, nm_named_integer(row, column)));
    else
        nm_json_text(json, name, nm_human_bytes(text, nm_named_integer(row, column)));
}

static void write_column(nm_json *json, sqlite3_stmt *row, int column)
{
    const char *name = sqlite3_column_name(row, column);

    switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER:
        nm_json_int(json, name, sqlite3_column_int64(row, column));
        break;
    case SQLITE_FLOAT:
        nm_json_real(json, name, sqlite3_column_double(row, column));
        break;
    case SQLITE_NULL:
        nm_json_null(json, name);
        break;
    default:
        nm_json_text(json, name, (const char *)sqlite3_column_text(row, column));
    }
}

/* A word of ours, in the language of the answer: "figure" is said in "figure_text". */
static void write_word(nm_json *json, sqlite3_stmt *row, const char *column)
{
    char name[64];

    if (strcmp(column, "figure") != 0 && strcmp(column, "verdict") != 0)
        return;
    snprintf(name, sizeof name, "%s_text", column);
    nm_json_text(json, name, nm_named_has(row, column) ? nm_spoken(nm_named_text(row, column)) : NULL);
}

static void write_row(nm_json *json, sqlite3_stmt *row, bool has_unit)
{
    nm_json_begin(json, NULL, '{');
    for (int i = 0; i < sqlite3_column_count(row); i++) {
        const char *name = sqlite3_column_name(row, i), *end = ends_amount(name);

        write_column(json, row, i);
        write_word(json, row, name);
        if (end != NULL && (has_unit || strcmp(end, "_bytes") == 0))
            write_text(json, row, name, end);
    }
    nm_json_end(json, '}');
}

/* What a row of the question is of a difference. */
static int64_t difference_of(nm_compare_question question, sqlite3_stmt *row)
{
    switch (question) {
    case NM_COMPARE_SITES:
        return nm_named_has(row, "change_bytes");
    case NM_COMPARE_LEAKS:
        return 1;
    case NM_COMPARE_MOMENTS:
        return nm_named_integer(row, "came_count") + nm_named_integer(row, "went_count");
    default:
        return 0;
    }
}

nm_status diff_json_rows(diff_run *run, nm_compare_question question, sqlite3_stmt *rows, nm_error *err)
{
    static const char *const names[] = {[NM_COMPARE_FIGURES] = "figures",
                                        [NM_COMPARE_ENVIRONMENT] = "environment",
                                        [NM_COMPARE_SITES] = "sites",
                                        [NM_COMPARE_LEAKS] = "leaks",
                                        [NM_COMPARE_MOMENTS] = "sites"};
    nm_json *json = run->json;
    int result;

    nm_json_begin(json, names[question], '{');
    nm_json_text(json, "query", nm_compare_name(question));
    nm_json_begin(json, "rows", '[');
    while ((result = sqlite3_step(rows)) == SQLITE_ROW && json->status == NM_OK) {
        run->difference_count += difference_of(question, rows);
        write_row(json, rows, question == NM_COMPARE_FIGURES);
    }
    nm_json_end(json, ']');
    nm_json_end(json, '}');
    return result != SQLITE_DONE && json->status == NM_OK ? nm_db_fail(run->db, err) : json->status;
}
