/* SPDX-License-Identifier: Apache-2.0
 *
 * The timeline as a picture: a chart for each device, in which each of its heaps is a line, and one for each heap of host
 * memory. A column of a line shows the most that there was in its time, so that no peak is lost however short it was; what
 * is held is as many columns as the picture has, whatever the recording. Heaps are not added up: blocks of a pool lie in
 * memory of the driver's heap.
 *
 * No script, no reference to anything outside, fonts of the viewer. Foreign text goes through put_text alone.
 */
#include "export/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/shown.h"
#include "export/chart_lines.sql.h"
#include "export/chart_marks.sql.h"
#include "export/chart_steps.sql.h"
#include "export/chart_usage.sql.h"
#include "export/charts.sql.h"
#include "export/export_facts.sql.h"

#define WIDTH        1000
#define LEFT         90 /* of the chart in the picture */
#define COLUMNS      890
#define TOP          70 /* of the first chart */
#define CHART_HEIGHT 170
#define CHART_STEP   270 /* from one chart to the next */
#define CHARTS_MAX   24
#define HEAPS_MAX    6   /* of a chart */
#define STEPS_MAX    150 /* that have a line each */
#define LABELS_MAX   10  /* of marks in a chart */
#define TEXT_BYTES   256

/* Of the heaps of a chart, the one with the highest peak first; the first of a line's colours is of what is below it. */
static const char *const colours[HEAPS_MAX][2] = {{"#dde6ef", "#71879c"}, {"#9cc3e4", "#1f6aa5"},
                                                  {"#f6d7a7", "#b97a12"}, {"#c5e3c0", "#3b8736"},
                                                  {"#e2c6e6", "#87408f"}, {"#f3c4c0", "#b03a31"}};

/* The most in each column, as far as it is known. */
typedef struct columns {
    int64_t most[COLUMNS], last; /* what there is from the last column that is known on */
    int column;                  /* that one */
    bool is_there;
} columns;

typedef struct line {
    int64_t heap_id, peak_bytes, peak_at;
    char name[TEXT_BYTES];
    columns live, reserved;
} line;

typedef struct chart {
    int64_t process_id, device_id, heap_id; /* heap_id: NM_NULL, or the one heap of it */
    int64_t capacity_bytes, top_bytes;
    double y;
    char title[TEXT_BYTES];
    size_t line_count, label_count;
    bool has_more_lines;
    line lines[HEAPS_MAX];
} chart;

typedef struct picture {
    const nm_export *export;
    FILE *out;
    int64_t end; /* of all charts, from 0: nanoseconds, or places in the order of events */
    bool has_times;
    int64_t chart_count; /* there could be */
    size_t drawn_count;
    chart *at; /* the chart at hand; owned */
} picture;

/* ---- Text ---------------------------------------------------------------------------------------------------------- */

/* Text between tags, or in an attribute: what XML cannot hold is a question mark. */
static void put_text(FILE *out, const char *text)
{
    char shown[TEXT_BYTES];
    size_t len = strlen(nm_shown_text(shown, sizeof shown, text)), used;

    for (size_t at = 0; at < len; at += used) {
        uint32_t character;

        used = nm_shown_next(shown + at, len - at, &character);
        if (character == '&' || character == '<' || character == '>' || character == '"' || character == '\'')
            fprintf(out, "&#%u;", (unsigned)character);
        else if (character == NM_SHOWN_BAD || (character & 0xfffe) == 0xfffe)
            putc('?', out);
        else
            fwrite(shown + at, 1, used, out);
    }
}

static void put_label(FILE *out, double x, double y, const char *how, const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\"%s%s>", x, y, how[0] == 0 ? "" : " ", how);
    put_text(out, text);
    fputs("</text>\n", out);
}

static const char *say_time(const picture *p, int64_t at, char text[NM_HUMAN_BYTES])
{
    if (p->has_times)
        return nm_human_cost(text, at);
    return nm_human_count(text, at);
}

/* ---- Places -------------------------------------------------------------------------------------------------------- */

static double share_of(const picture *p, int64_t at)
{
    double share = (double)at / (double)p->end;

    return share < 0 ? 0 : share > 1 ? 1 : share;
}

static int column_of(const picture *p, int64_t at)
{
    int column = (int)(share_of(p, at) * COLUMNS);

    return column < COLUMNS ? column : COLUMNS - 1;
}

static double x_of(const picture *p, int64_t at)
{
    return LEFT + COLUMNS * share_of(p, at);
}

static double y_of(const chart *c, int64_t bytes)
{
    return c->y + CHART_HEIGHT - CHART_HEIGHT * (double)bytes / (double)c->top_bytes;
}

/* ---- Rows ---------------------------------------------------------------------------------------------------------- */

static void raise_to(int64_t *most, int64_t bytes)
{
    *most = *most < bytes ? bytes : *most;
}

/* From now on there is so much. What there is when a column begins counts in it too. */
static void go_on(columns *c, int column, int64_t bytes)
{
    c->is_there = true;
    while (c->column < column)
        c->most[++c->column] = c->last;
    raise_to(&c->most[column], bytes);
    c->last = bytes;
}

static nm_status read_usage(picture *p, line *at, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_chart_usage_row row;
    nm_status status = nm_chart_usage_ask(p->export->db, p->has_times, at->heap_id, &rows, err);

    while (status == NM_OK && nm_chart_usage_next(rows, &row)) {
        int last = column_of(p, row.last_number);

        go_on(&at->live, column_of(p, row.max_number), row.max_live_bytes);
        go_on(&at->live, last, row.live_bytes);
        if (row.has.reserved_bytes)
            go_on(&at->reserved, last, row.reserved_bytes);
    }
    return nm_question_end(rows, status, err);
}

static void finish(columns *c, int64_t *top)
{
    go_on(c, COLUMNS - 1, c->last);
    for (int i = 0; i < COLUMNS; i++)
        raise_to(top, c->most[i]);
}

/* ---- A chart ------------------------------------------------------------------------------------------------------- */

/* Along the tops of the columns. */
static void put_path(picture *p, const int64_t *most, bool is_area, const char *look)
{
    double last = -1;

    fprintf(p->out, "<path %s d=\"M%d %.1f", look, LEFT, y_of(p->at, is_area ? 0 : most[0]));
    for (int i = 0; i < COLUMNS; i++) {
        double y = y_of(p->at, most[i]);

        if (y != last)
            fprintf(p->out, "H%dV%.1f", LEFT + i, y);
        last = y;
    }
    fprintf(p->out, "H%d", LEFT + COLUMNS);
    if (is_area)
        fprintf(p->out, "V%.1fZ", y_of(p->at, 0));
    fputs("\"/>\n", p->out);
}

static void put_line(picture *p, const line *at, size_t number)
{
    char look[128], peak[NM_HUMAN_BYTES], when[NM_HUMAN_BYTES], text[3 * TEXT_BYTES];
    const chart *c = p->at;
    double x = LEFT + (double)(number % 3) * COLUMNS / 3, y = c->y - 22 + (double)(number / 3) * 15;

    snprintf(look, sizeof look, "fill=\"%s\" fill-opacity=\"0.7\" stroke=\"%s\"", colours[number][0],
             colours[number][1]);
    put_path(p, at->live.most, true, look);
    if (at->reserved.is_there) {
        snprintf(look, sizeof look, "fill=\"none\" stroke=\"%s\" stroke-dasharray=\"5 3\"", colours[number][1]);
        put_path(p, at->reserved.most, false, look);
    }
    fprintf(p->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x_of(p, at->peak_at),
            y_of(c, at->peak_bytes), colours[number][1]);
    fprintf(p->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"10\" fill=\"%s\" stroke=\"%s\"/>\n", x, y - 9,
            colours[number][0], colours[number][1]);
    snprintf(text, sizeof text, "%s: peak %s at %s%s", at->name, nm_human_bytes(peak, at->peak_bytes),
             say_time(p, at->peak_at, when), at->reserved.is_there ? ", dashed: reserved" : "");
    put_label(p->out, x + 15, y, "", text);
}

/* Lines at whole numbers of the largest power of two of which there are at least three. */
static void put_sizes(picture *p)
{
    int64_t step = 1;
    char text[NM_HUMAN_BYTES];

    while (step <= p->at->top_bytes / 6)
        step *= 2;
    for (int64_t bytes = 0; bytes <= p->at->top_bytes; bytes += step) {
        double y = y_of(p->at, bytes);

        fprintf(p->out, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", LEFT, LEFT + COLUMNS,
                y, y);
        put_label(p->out, LEFT - 6, y + 4, "text-anchor=\"end\"", nm_human_bytes(text, bytes));
    }
}

/* At whole numbers of 1, 2 or 5 and zeros. */
static void put_times(picture *p)
{
    int64_t step = 1;
    char text[NM_HUMAN_BYTES];

    for (int i = 0; step <= p->end / 8; i++)
        step = i % 3 == 1 ? step / 2 * 5 : step * 2;
    for (int64_t at = 0; at <= p->end; at += step) {
        double x = x_of(p, at), y = p->at->y + CHART_HEIGHT;

        fprintf(p->out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#999\"/>\n", x, x, y, y + 4);
        put_label(p->out, x, y + 17, "text-anchor=\"middle\"", say_time(p, at, text));
        if (at > INT64_MAX - step)
            break;
    }
    put_label(p->out, LEFT + COLUMNS, p->at->y + CHART_HEIGHT + 32, "text-anchor=\"end\"",
              p->has_times ? "since the recording began" : "events");
}

static nm_status put_steps(picture *p, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_chart_steps_row row;
    nm_status status =
        nm_chart_steps_ask(p->export->db, p->has_times, p->at->process_id, p->at->device_id, STEPS_MAX, &rows, err);

    while (status == NM_OK && nm_chart_steps_next(rows, &row)) {
        double x = x_of(p, row.begin_number), y = p->at->y + CHART_HEIGHT;

        fprintf(p->out, "<line class=\"step\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#555\"/>\n", x,
                x, y - 5, y);
    }
    return nm_question_end(rows, status, err);
}

static void put_mark(picture *p, const nm_chart_marks_row *mark)
{
    chart *c = p->at;
    double x = x_of(p, mark->at_number);
    bool is_right = x > LEFT + COLUMNS * 0.8;

    fprintf(p->out,
            "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\""
            " stroke-dasharray=\"2 3\"/>\n",
            mark->is_failure ? "failure" : "mark", x, x, c->y, c->y + CHART_HEIGHT,
            mark->is_failure ? "#c0392b" : "#333");
    if (c->label_count < LABELS_MAX)
        put_label(p->out, x + (is_right ? -4 : 4), c->y + 11 + 12 * (double)(c->label_count++ % 5),
                  is_right ? "text-anchor=\"end\"" : "", mark->name);
}

static nm_status put_marks(picture *p, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_chart_marks_row row;
    nm_status status = nm_chart_marks_ask(p->export->db, p->has_times, p->at->process_id, p->at->device_id, &rows, err);

    while (status == NM_OK && nm_chart_marks_next(rows, &row))
        put_mark(p, &row);
    return nm_question_end(rows, status, err);
}

/* The device's size, where the picture is not made small by it. */
static void put_capacity(picture *p)
{
    const chart *c = p->at;
    char size[NM_HUMAN_BYTES], text[TEXT_BYTES];
    double y;

    if (c->capacity_bytes <= 0 || c->capacity_bytes > c->top_bytes)
        return;
    y = y_of(c, c->capacity_bytes);
    fprintf(p->out, "<line class=\"capacity\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#c0392b\"/>\n", LEFT,
            LEFT + COLUMNS, y, y);
    snprintf(text, sizeof text, "capacity %s", nm_human_bytes(size, c->capacity_bytes));
    put_label(p->out, LEFT + 4, y + 12, "fill=\"#c0392b\"", text);
}

static nm_status read_line(picture *p, const nm_chart_lines_row *row, nm_error *err)
{
    chart *c = p->at;
    line *new = &c->lines[c->line_count];

    c->has_more_lines = c->line_count == HEAPS_MAX;
    if (c->has_more_lines)
        return NM_OK;
    c->line_count++;
    new->heap_id = row->heap_id;
    nm_shown_text(new->name, sizeof new->name, row->name);
    new->peak_bytes = row->peak_bytes;
    new->peak_at = row->peak_number;
    new->live = new->reserved = (columns){0};
    nm_status status = read_usage(p, new, err);
    finish(&new->live, &c->top_bytes);
    if (new->reserved.is_there)
        finish(&new->reserved, &c->top_bytes);
    raise_to(&c->top_bytes, new->peak_bytes);
    return status;
}

static nm_status read_lines(picture *p, nm_error *err)
{
    chart *c = p->at;
    sqlite3_stmt *rows = NULL;
    nm_chart_lines_row row;
    nm_status status =
        nm_chart_lines_ask(p->export->db, p->has_times, c->heap_id, c->process_id, c->device_id, &rows, err);

    c->top_bytes = 1;
    c->line_count = 0;
    while (status == NM_OK && nm_chart_lines_next(rows, &row))
        status = read_line(p, &row, err);
    if (c->capacity_bytes <= c->top_bytes + c->top_bytes / 2)
        raise_to(&c->top_bytes, c->capacity_bytes);
    c->top_bytes += c->top_bytes / 20;
    return nm_question_end(rows, status, err);
}

static nm_status put_chart(picture *p, const nm_charts_row *row, nm_error *err)
{
    chart *c = p->at;
    char size[NM_HUMAN_BYTES], title[2 * TEXT_BYTES];
    nm_status status;

    c->process_id = row->process_id;
    c->device_id = NM_NUMBER_OF(row, device_id);
    c->heap_id = NM_NUMBER_OF(row, heap_id);
    c->capacity_bytes = row->capacity_bytes;
    c->label_count = 0;
    c->y = TOP + 50 + CHART_STEP * (double)p->drawn_count++;
    nm_shown_text(c->title, sizeof c->title, row->title);
    status = read_lines(p, err);
    snprintf(title, sizeof title, "%s%s%s%s", c->title, c->capacity_bytes > 0 ? ", " : "",
             c->capacity_bytes > 0 ? nm_human_bytes(size, c->capacity_bytes) : "",
             c->has_more_lines ? " (heaps with the highest peaks)" : "");
    put_label(p->out, LEFT, c->y - 40, "font-weight=\"bold\"", title);
    put_sizes(p);
    for (size_t i = 0; i < c->line_count; i++)
        put_line(p, &c->lines[i], i);
    put_capacity(p);
    if (status == NM_OK)
        status = put_steps(p, err);
    if (status == NM_OK)
        status = put_marks(p, err);
    put_times(p);
    return status;
}

/* ---- The picture --------------------------------------------------------------------------------------------------- */

static void put_title(picture *p, const nm_export_facts_row *row)
{
    char text[TEXT_BYTES], title[TEXT_BYTES];
    int64_t left_out = p->chart_count - CHARTS_MAX;

    put_label(p->out, 16, 30, "font-size=\"18\"",
              nm_human_text(title, sizeof title, row->has.command ? row->command : "memory over time", 90));
    snprintf(text, sizeof text, "Live memory of each heap, the most in each column. %" PRId64 " %s%s%s",
             row->process_count, row->process_count == 1 ? "process" : "processes",
             p->chart_count == 0 ? ": nothing was allocated." : ".",
             row->partial_count > 0 ? " Not complete: something of the recording is missing." : "");
    if (left_out > 0)
        snprintf(text + strlen(text), sizeof text - strlen(text), " %" PRId64 " charts with lower peaks are left out.",
                 left_out);
    put_label(p->out, 16, 52, "fill=\"#444\"", text);
}

/* What all charts have in common; the end of all is by times or, where there are none, by places. */
static nm_status put_head(picture *p, nm_error *err)
{
    int64_t drawn = p->chart_count < CHARTS_MAX ? p->chart_count : CHARTS_MAX;
    sqlite3_stmt *rows = NULL;
    nm_export_facts_row row;
    nm_status status = nm_export_facts_ask(p->export->db, &rows, err);

    fprintf(p->out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\""
            " height=\"%" PRId64 "\" viewBox=\"0 0 %d %" PRId64
            "\" font-family=\"sans-serif\" font-size=\"11\" role=\"img\">\n",
            WIDTH, TOP + CHART_STEP * drawn, WIDTH, TOP + CHART_STEP * drawn);
    fputs("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", p->out);
    if (status == NM_OK && nm_export_facts_next(rows, &row)) {
        p->has_times = row.has.last_ns;
        p->end = row.has.last_ns ? row.last_ns : row.last_seq;
        p->end = p->end > 0 ? p->end : 1;
        put_title(p, &row);
    }
    return nm_question_end(rows, status, err);
}

static nm_status put_picture(picture *p, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_charts_row row;
    nm_status status = nm_charts_ask(p->export->db, CHARTS_MAX, &rows, err);
    bool is_there = status == NM_OK && nm_charts_next(rows, &row);

    p->chart_count = is_there ? row.chart_count : 0;
    if (status == NM_OK)
        status = put_head(p, err);
    for (; status == NM_OK && is_there && !ferror(p->out); is_there = nm_charts_next(rows, &row))
        status = put_chart(p, &row, err);
    fputs("</svg>\n", p->out);
    return nm_question_end(rows, status, err);
}

nm_status nm_export_svg(const nm_export *export, nm_error *err)
{
    picture p = {.export = export, .out = export->out, .end = 1, .at = calloc(1, sizeof *p.at)};
    nm_status status = p.at != NULL ? put_picture(&p, err) : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");

    free(p.at);
    return status;
}
