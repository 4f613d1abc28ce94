/* SPDX-License-Identifier: Apache-2.0
 *
 * What a framework counts of its own pool is the same by definition as what the recorder sees of it, and must be equal to
 * the byte. What the device says is not: it counts whole pages, and what others take of it in the meantime.
 */
#include "tool/selfcheck/figures.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

#define MARKER               "npumem-selfcheck "
#define BEGIN_MARK           "selfcheck begin"
#define PEAK_MARK            "selfcheck peak"
#define DEVICE_ALLOWED_BYTES ((uint64_t)16 << 20)
#define DEVICE_ALLOWED_SHARE 20 /* a twentieth, where that is more */

/* ---- The program's words ------------------------------------------------------------------------------------------- */

bool selfcheck_next(const char **at, const char *key, char text[SELFCHECK_TEXT_BYTES])
{
    size_t key_len = strlen(key);

    while (**at != 0) {
        const char *line = *at;
        size_t len = strcspn(line, "\n");

        *at += len + (line[len] != 0);
        if (strncmp(line, MARKER, strlen(MARKER)) != 0)
            continue;
        line += strlen(MARKER);
        len -= strlen(MARKER);
        if (len <= key_len || strncmp(line, key, key_len) != 0 || line[key_len] != ' ')
            continue;
        snprintf(text, SELFCHECK_TEXT_BYTES, "%.*s", (int)(len - key_len - 1), line + key_len + 1);
        return true;
    }
    return false;
}

void selfcheck_listen(const char *output, selfcheck_said *said)
{
    static const char *const keys[SELFCHECK_KEYS] = {
        [SELFCHECK_ALLOCATED] = "allocated_peak_bytes",
        [SELFCHECK_RESERVED] = "reserved_peak_bytes",
        [SELFCHECK_COUNT] = "allocation_count",
        [SELFCHECK_DEVICE_BEGIN] = "device_begin_free_bytes",
        [SELFCHECK_DEVICE_PEAK] = "device_peak_free_bytes",
        [SELFCHECK_LOOP_NS] = "loop_ns",
        [SELFCHECK_STEPS] = "step_count",
    };
    char text[SELFCHECK_TEXT_BYTES];
    const char *at = output;

    said->why[0] = 0;
    selfcheck_next(&at, "why", said->why);
    for (size_t i = 0; i < SELFCHECK_KEYS; i++) {
        at = output;
        said->values[i] = selfcheck_next(&at, keys[i], text) ? strtoull(text, NULL, 10) : SELFCHECK_UNKNOWN;
    }
}

/* ---- CSV ----------------------------------------------------------------------------------------------------------- */

/* Unquotes the cell at *at in place; *at is behind it then, on a comma, an end of line or the end. */
static char *cut_cell(char **at)
{
    char *from = *at, *to = from, *cell = from;
    bool is_quoted = *from == '"';

    from += is_quoted;
    while (*from != 0) {
        if (is_quoted && *from == '"' && from[1] != '"') {
            from++;
            break;
        }
        if (!is_quoted && strchr(",\r\n", *from) != NULL)
            break;
        from += is_quoted && *from == '"';
        *to++ = *from++;
    }
    *at = from;
    if (to < from) /* what ends it is still to be looked at */
        *to = 0;
    return cell;
}

static nm_status add_cell(selfcheck_table *table, size_t *count, size_t *capacity, char *cell)
{
    nm_status status = nm_array_grow(&table->cells, capacity, *count + 1, sizeof *table->cells, NULL);

    if (status == NM_OK)
        table->cells[(*count)++] = cell;
    return status;
}

/* RFC 4180, as npumem-ingest writes it. NM_ERR_FORMAT: rows of different lengths. */
static nm_status cut_table(selfcheck_table *table)
{
    char *at = (char *)table->text.data;
    size_t count = 0, capacity = 0, row_begin = 0;
    nm_status status = NM_OK;

    while (*at != 0 && status == NM_OK) {
        char *cell = cut_cell(&at), ends = *at;

        *at = 0;
        at += ends != 0;
        status = add_cell(table, &count, &capacity, cell);
        if (ends == ',')
            continue;
        at += ends == '\r' && *at == '\n';
        if (table->row_count == 0)
            table->column_count = count;
        if (count - row_begin != table->column_count)
            return NM_ERR_FORMAT;
        row_begin = count;
        table->row_count++;
    }
    return status == NM_OK && row_begin != count ? NM_ERR_FORMAT : status;
}

void selfcheck_table_read(const selfcheck_place *place, const char *view, selfcheck_table *table)
{
    char name[SELFCHECK_TEXT_BYTES];

    *table = (selfcheck_table){0};
    snprintf(name, sizeof name, "csv/%s.csv", view);
    selfcheck_read(place, name, &table->text);
    if (table->text.data == NULL || cut_table(table) != NM_OK)
        table->row_count = table->column_count = 0;
}

void selfcheck_table_free(selfcheck_table *table)
{
    nm_buffer_free(&table->text);
    free(table->cells);
    *table = (selfcheck_table){0};
}

const char *selfcheck_cell(const selfcheck_table *table, size_t row, const char *column)
{
    for (size_t i = 0; i < table->column_count && row < table->row_count; i++)
        if (strcmp(table->cells[i], column) == 0)
            return table->cells[row * table->column_count + i];
    return "";
}

uint64_t selfcheck_number(const selfcheck_table *table, size_t row, const char *column)
{
    uint64_t number;

    return nm_number_read(selfcheck_cell(table, row, column), UINT64_MAX, &number) ? number : SELFCHECK_UNKNOWN;
}

/* ---- Comparing ----------------------------------------------------------------------------------------------------- */

static bool is_cell(const selfcheck_table *table, size_t row, const char *column, const char *value)
{
    return strcmp(selfcheck_cell(table, row, column), value) == 0;
}

/* The pool that had most, and what is known of it. */
static void find_pool(const selfcheck_place *place, selfcheck_comparison *out)
{
    selfcheck_table peaks, totals;
    uint64_t most = 0;

    selfcheck_table_read(place, "peak", &peaks);
    selfcheck_table_read(place, "heap_total", &totals);
    for (size_t row = 1; row < peaks.row_count; row++) {
        uint64_t bytes = selfcheck_number(&peaks, row, "peak_bytes");

        if (!is_cell(&peaks, row, "level", "pool") || bytes == SELFCHECK_UNKNOWN || bytes < most)
            continue;
        most = bytes;
        snprintf(out->pool, sizeof out->pool, "%s", selfcheck_cell(&peaks, row, "heap"));
        out->lines[0].seen = bytes;
        out->lines[1].seen = selfcheck_number(&peaks, row, "peak_reserved_bytes");
    }
    for (size_t row = 1; row < totals.row_count && out->pool[0] != 0; row++)
        if (is_cell(&totals, row, "level", "pool") && is_cell(&totals, row, "heap", out->pool))
            out->lines[2].seen = selfcheck_number(&totals, row, "allocation_count");
    selfcheck_table_free(&peaks);
    selfcheck_table_free(&totals);
}

/* What the recorded memory took of the device at a mark, whole pages included. */
static uint64_t recorded_at(const selfcheck_table *moments, const char *mark)
{
    for (size_t row = 1; row < moments->row_count; row++)
        if (is_cell(moments, row, "moment_kind", "mark") && is_cell(moments, row, "moment", mark))
            return selfcheck_number(moments, row, "recorded_bytes");
    return SELFCHECK_UNKNOWN;
}

static uint64_t rise(uint64_t from, uint64_t to)
{
    if (from == SELFCHECK_UNKNOWN || to == SELFCHECK_UNKNOWN)
        return SELFCHECK_UNKNOWN;
    return to > from ? to - from : 0;
}

static void compare_device(const selfcheck_place *place, const selfcheck_said *said, selfcheck_line *line)
{
    selfcheck_table moments;

    selfcheck_table_read(place, "z_device_moment", &moments);
    line->said = rise(said->values[SELFCHECK_DEVICE_PEAK], said->values[SELFCHECK_DEVICE_BEGIN]);
    line->seen = rise(recorded_at(&moments, BEGIN_MARK), recorded_at(&moments, PEAK_MARK));
    line->allowed_bytes = DEVICE_ALLOWED_BYTES;
    if (line->said != SELFCHECK_UNKNOWN && line->said / DEVICE_ALLOWED_SHARE > line->allowed_bytes)
        line->allowed_bytes = line->said / DEVICE_ALLOWED_SHARE;
    selfcheck_table_free(&moments);
}

void selfcheck_compare(const selfcheck_place *place, const selfcheck_said *said, bool is_torch,
                       selfcheck_comparison *out)
{
    *out = (selfcheck_comparison){.lines = {{.what = "most allocated of the pool",
                                             .said_by = is_torch ? "max_memory_allocated" : "the pool's own books",
                                             .said = said->values[SELFCHECK_ALLOCATED],
                                             .seen = SELFCHECK_UNKNOWN},
                                            {.what = "most held by the pool",
                                             .said_by = is_torch ? "max_memory_reserved" : "the pool's own books",
                                             .said = said->values[SELFCHECK_RESERVED],
                                             .seen = SELFCHECK_UNKNOWN},
                                            {.what = "blocks handed out",
                                             .said_by = is_torch ? "memory_stats" : "the pool's own books",
                                             .said = said->values[SELFCHECK_COUNT],
                                             .seen = SELFCHECK_UNKNOWN},
                                            {.what = "taken of the device", .said_by = "aclrtGetMemInfo"}}};
    find_pool(place, out);
    compare_device(place, said, &out->lines[3]);
}

bool selfcheck_agrees(const selfcheck_line *line)
{
    uint64_t difference = line->said > line->seen ? line->said - line->seen : line->seen - line->said;

    return line->said == SELFCHECK_UNKNOWN || (line->seen != SELFCHECK_UNKNOWN && difference <= line->allowed_bytes);
}

void selfcheck_digits(uint64_t number, char text[32])
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, number), at = 0;

    for (int i = 0; i < len && number != SELFCHECK_UNKNOWN; i++) {
        text[at++] = digits[i];
        if ((len - i) % 3 == 1 && i + 1 < len)
            text[at++] = ',';
    }
    if (number == SELFCHECK_UNKNOWN)
        text[at++] = '-';
    text[at] = 0;
}
