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
#include "store/database.h"

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

typedef nm_status take_row(picture *p, sqlite3_stmt *row, nm_error *err);

/* Each row of `sql`, behind which the tables of report/live.h may stand. ?2: are times known; ?3 to ?6: the process, device
 * and heap of the chart at hand, and the heap of its last line. */
static nm_status for_rows(picture *p, const char *sql, take_row *take, nm_error *err)
{
    const chart *c = p->at;
    const int64_t values[] = {p->has_times, c->process_id, c->device_id, c->heap_id,
                              c->line_count > 0 ? c->lines[c->line_count - 1].heap_id : NM_NULL};
    sqlite3_stmt *row = NULL;
    int code = SQLITE_DONE;
    nm_status status = nm_live_prepare(p->export->db, &p->export->moment, sql, &row, err);

    for (int i = 0; status == NM_OK && i < 5; i++)
        if (values[i] != NM_NULL && sqlite3_bind_parameter_count(row) >= i + 2)
            sqlite3_bind_int64(row, i + 2, values[i]);
    while (status == NM_OK && (code = sqlite3_step(row)) == SQLITE_ROW && !ferror(p->out))
        status = take(p, row, err);
    if (status == NM_OK && code != SQLITE_DONE && code != SQLITE_ROW)
        status = nm_db_fail(p->export->db, err);
    sqlite3_finalize(row);
    return status;
}

/* The end of all, by times or, where there are none, by places. */
static const char span_sql[] =
    "SELECT max(last_ns) IS NOT NULL, coalesce(max(last_ns), max(last_seq)), count(*) FROM usage";

static nm_status take_span(picture *p, sqlite3_stmt *row, nm_error *err)
{
    (void)err;
    p->has_times = sqlite3_column_int(row, 0) != 0;
    p->end = sqlite3_column_int64(row, 1);
    p->end = p->end > 0 ? p->end : 1;
    return NM_OK;
}

static const char line_sql[] =
    "SELECT heap.heap_id, coalesce(heap.name, heap_level.name, 'heap'), s.peak_bytes, coalesce(CASE WHEN ?2 THEN"
    " s.peak_ns ELSE s.peak_seq END, 0) FROM heap JOIN _heap_sum AS s ON s.heap_id = heap.heap_id LEFT JOIN heap_level"
    " ON heap_level.level = heap.level WHERE s.peak_bytes > 0 AND CASE WHEN ?5 IS NULL THEN heap.process_id = ?3 AND"
    " heap.device_id = ?4 ELSE heap.heap_id = ?5 END ORDER BY max(s.peak_bytes, coalesce(s.peak_reserved_bytes, 0))"
    " DESC, heap.level, heap.heap_id";

static nm_status take_line(picture *p, sqlite3_stmt *row, nm_error *err)
{
    chart *c = p->at;
    line *new = &c->lines[c->line_count];

    (void)err;
    c->has_more_lines = c->line_count == HEAPS_MAX;
    if (c->has_more_lines)
        return NM_OK;
    c->line_count++;
    new->heap_id = sqlite3_column_int64(row, 0);
    nm_shown_text(new->name, sizeof new->name, nm_db_text(row, 1));
    new->peak_bytes = sqlite3_column_int64(row, 2);
    new->peak_at = sqlite3_column_int64(row, 3);
    new->live = new->reserved = (columns){0};
    return NM_OK;
}

static const char usage_sql[] =
    "SELECT heap_id, coalesce(CASE WHEN ?2 THEN max_ns ELSE max_seq END, 0), max_live_bytes,"
    " coalesce(CASE WHEN ?2 THEN last_ns ELSE last_seq END, 0), live_bytes, reserved_bytes FROM usage"
    " WHERE heap_id = ?6 AND coalesce(?3, ?4, ?5, 0) IS NOT NULL ORDER BY last_seq";

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

static nm_status take_usage(picture *p, sqlite3_stmt *row, nm_error *err)
{
    line *at = &p->at->lines[p->at->line_count - 1];
    int last = column_of(p, sqlite3_column_int64(row, 3));

    (void)err;
    go_on(&at->live, column_of(p, sqlite3_column_int64(row, 1)), sqlite3_column_int64(row, 2));
    go_on(&at->live, last, sqlite3_column_int64(row, 4));
    if (!nm_db_is_null(row, 5))
        go_on(&at->reserved, last, sqlite3_column_int64(row, 5));
    return NM_OK;
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

static const char step_sql[] =
    "SELECT coalesce(CASE WHEN ?2 THEN begin_ns ELSE begin_seq END, 0) FROM step WHERE process_id = ?3 AND"
    " (device_id IS NULL OR ?4 IS NULL OR device_id = ?4) AND (SELECT count(*) FROM step AS all_of WHERE"
    " all_of.process_id = ?3) <= 150 ORDER BY begin_seq, step_id";

static nm_status put_step(picture *p, sqlite3_stmt *row, nm_error *err)
{
    double x = x_of(p, sqlite3_column_int64(row, 0)), y = p->at->y + CHART_HEIGHT;

    (void)err;
    fprintf(p->out, "<line class=\"step\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#555\"/>\n", x, x,
            y - 5, y);
    return NM_OK;
}

static const char mark_sql[] =
    "SELECT coalesce(CASE WHEN ?2 THEN m.ns ELSE m.seq END, 0), m.kind = 4, coalesce(m.name, CASE m.kind WHEN 4 THEN"
    " 'request failed' ELSE 'mark' END) FROM moment AS m LEFT JOIN heap AS h ON h.heap_id = m.heap_id WHERE"
    " m.kind IN (3, 4) AND (m.process_id IS NULL OR m.process_id = ?3) AND (m.kind = 3 OR h.device_id IS NULL OR"
    " h.device_id = ?4) ORDER BY m.kind DESC, m.seq, m.moment_id LIMIT 200";

static nm_status put_mark(picture *p, sqlite3_stmt *row, nm_error *err)
{
    chart *c = p->at;
    double x = x_of(p, sqlite3_column_int64(row, 0));
    bool is_failure = sqlite3_column_int(row, 1) != 0, is_right = x > LEFT + COLUMNS * 0.8;

    (void)err;
    fprintf(p->out,
            "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\""
            " stroke-dasharray=\"2 3\"/>\n",
            is_failure ? "failure" : "mark", x, x, c->y, c->y + CHART_HEIGHT, is_failure ? "#c0392b" : "#333");
    if (c->label_count < LABELS_MAX)
        put_label(p->out, x + (is_right ? -4 : 4), c->y + 11 + 12 * (double)(c->label_count++ % 5),
                  is_right ? "text-anchor=\"end\"" : "", nm_db_text(row, 2));
    return NM_OK;
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

static nm_status read_lines(picture *p, nm_error *err)
{
    chart *c = p->at;
    size_t count;
    nm_status status = for_rows(p, line_sql, take_line, err);

    count = c->line_count;
    c->top_bytes = 1;
    for (size_t i = 0; status == NM_OK && i < count; i++) {
        c->line_count = i + 1;
        status = for_rows(p, usage_sql, take_usage, err);
        finish(&c->lines[i].live, &c->top_bytes);
        if (c->lines[i].reserved.is_there)
            finish(&c->lines[i].reserved, &c->top_bytes);
        raise_to(&c->top_bytes, c->lines[i].peak_bytes);
    }
    if (c->capacity_bytes <= c->top_bytes + c->top_bytes / 2)
        raise_to(&c->top_bytes, c->capacity_bytes);
    c->top_bytes += c->top_bytes / 20;
    return status;
}

static nm_status put_chart(picture *p, sqlite3_stmt *row, nm_error *err)
{
    chart *c = p->at;
    char size[NM_HUMAN_BYTES], title[2 * TEXT_BYTES];
    nm_status status;

    c->process_id = sqlite3_column_int64(row, 0);
    c->device_id = nm_db_is_null(row, 1) ? NM_NULL : sqlite3_column_int64(row, 1);
    c->heap_id = nm_db_is_null(row, 2) ? NM_NULL : sqlite3_column_int64(row, 2);
    c->capacity_bytes = sqlite3_column_int64(row, 4);
    c->line_count = c->label_count = 0;
    c->y = TOP + 50 + CHART_STEP * (double)p->drawn_count++;
    nm_shown_text(c->title, sizeof c->title, nm_db_text(row, 3));
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
        status = for_rows(p, step_sql, put_step, err);
    if (status == NM_OK)
        status = for_rows(p, mark_sql, put_mark, err);
    put_times(p);
    return status;
}

/* ---- The picture --------------------------------------------------------------------------------------------------- */

/* Those with the highest peaks, in the order of ranks. */
#define CHARTS                                                                                                         \
    "chart (process_id, device_id, heap_id, title, capacity_bytes, peak_bytes) AS (SELECT h.process_id, h.device_id,"  \
    " CASE WHEN h.device_id IS NULL THEN h.heap_id END, coalesce('rank ' || p.rank || ', ', 'pid ' || p.pid || ', ',"  \
    " '') || CASE WHEN h.device_id IS NULL THEN 'host memory' ELSE coalesce(CASE WHEN d.kind = 'gpu' THEN 'GPU ' ELSE" \
    " 'NPU ' END || coalesce(d.physical_ordinal, d.ordinal), 'device') || coalesce(', ' || d.name, '') END,"           \
    " coalesce(d.capacity_bytes, 0), max(s.peak_bytes) FROM heap AS h JOIN _heap_sum AS s ON s.heap_id = h.heap_id"    \
    " JOIN process AS p ON p.process_id = h.process_id LEFT JOIN device AS d ON d.device_id = h.device_id"             \
    " WHERE s.peak_bytes > 0 GROUP BY h.process_id, h.device_id, CASE WHEN h.device_id IS NULL THEN h.heap_id END) "

static const char count_sql[] = ", " CHARTS "SELECT count(*) FROM chart";
static const char chart_sql[] =
    ", " CHARTS
    "SELECT process_id, device_id, heap_id, title, capacity_bytes FROM (SELECT * FROM chart ORDER BY peak_bytes DESC,"
    " process_id, device_id, heap_id LIMIT 24) ORDER BY process_id, device_id IS NULL, device_id, heap_id";

static nm_status take_count(picture *p, sqlite3_stmt *row, nm_error *err)
{
    (void)err;
    p->chart_count = sqlite3_column_int64(row, 0);
    return NM_OK;
}

static const char title_sql[] =
    "SELECT coalesce((SELECT command FROM process WHERE command IS NOT NULL ORDER BY process_id LIMIT 1),"
    " 'memory over time'), (SELECT count(*) FROM process), (SELECT count(*) FROM input WHERE is_complete = 0)";

static nm_status put_title(picture *p, sqlite3_stmt *row, nm_error *err)
{
    char text[TEXT_BYTES], title[TEXT_BYTES];
    int64_t process_count = sqlite3_column_int64(row, 1), left_out = p->chart_count - CHARTS_MAX;

    (void)err;
    put_label(p->out, 16, 30, "font-size=\"18\"", nm_human_text(title, sizeof title, nm_db_text(row, 0), 90));
    snprintf(text, sizeof text, "Live memory of each heap, the most in each column. %" PRId64 " %s%s%s", process_count,
             process_count == 1 ? "process" : "processes", p->chart_count == 0 ? ": nothing was allocated." : ".",
             sqlite3_column_int64(row, 2) > 0 ? " Not complete: something of the recording is missing." : "");
    if (left_out > 0)
        snprintf(text + strlen(text), sizeof text - strlen(text), " %" PRId64 " charts with lower peaks are left out.",
                 left_out);
    put_label(p->out, 16, 52, "fill=\"#444\"", text);
    return NM_OK;
}

static nm_status put_picture(picture *p, nm_error *err)
{
    nm_status status = for_rows(p, span_sql, take_span, err);
    int64_t drawn;

    if (status == NM_OK)
        status = for_rows(p, count_sql, take_count, err);
    if (status != NM_OK)
        return status;
    drawn = p->chart_count < CHARTS_MAX ? p->chart_count : CHARTS_MAX;
    fprintf(p->out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\""
            " height=\"%" PRId64 "\" viewBox=\"0 0 %d %" PRId64
            "\" font-family=\"sans-serif\" font-size=\"11\" role=\"img\">\n",
            WIDTH, TOP + CHART_STEP * drawn, WIDTH, TOP + CHART_STEP * drawn);
    fputs("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", p->out);
    status = for_rows(p, title_sql, put_title, err);
    if (status == NM_OK)
        status = for_rows(p, chart_sql, put_chart, err);
    fputs("</svg>\n", p->out);
    return status;
}

nm_status nm_export_svg(const nm_export *export, nm_error *err)
{
    picture p = {.export = export, .out = export->out, .at = calloc(1, sizeof *p.at)};
    nm_status status = p.at != NULL ? NM_OK : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");

    if (status == NM_OK) {
        p.at->process_id = p.at->device_id = p.at->heap_id = NM_NULL;
        status = put_picture(&p, err);
    }
    free(p.at);
    return status;
}
