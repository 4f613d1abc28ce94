/* SPDX-License-Identifier: Apache-2.0
 *
 * Which unit a value has is the measure's: sizes, times and counts are read each in its own way, and what is none of them
 * is refused with the words that the measure takes. A measure may be written with dashes or with blanks.
 */
#include "tool/common/threshold_text.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "tool/common/size_text.h"

#define LINE_BYTES 512
#define TIME_MAX   1e9 /* seconds */

static bool read_time(const char *text, int64_t *ns)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"min", 60e9}};
    char *end;
    double number = strtod(text, &end);

    if (!isdigit((unsigned char)text[0]) || !(number >= 0 && number <= TIME_MAX))
        return false;
    *ns = (int64_t)number;
    while (*end == ' ')
        end++;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(end, units[i].name) == 0) {
            *ns = (int64_t)(number * units[i].factor);
            return true;
        }
    return *end == 0 && number == 0;
}

static nm_status read_value(nm_measure measure, const char *text, int64_t *floor, nm_error *err)
{
    uint64_t number;

    if (measure == NM_MEASURE_COST)
        return read_time(text, floor) ? NM_OK
                                      : nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                                                "allocation-cost needs a time (100ms, 2s), not '%.40s'", text);
    if (measure == NM_MEASURE_HIT_RATE ? !nm_number_read(text, INT64_MAX, &number) : !size_text_read(text, &number))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "%s needs %s, not '%.40s'",
                       measure == NM_MEASURE_HIT_RATE        ? "pool-hit-rate"
                       : measure == NM_MEASURE_FRAGMENTATION ? "fragmentation"
                                                             : "zero-copy",
                       measure == NM_MEASURE_HIT_RATE ? "a number of requests" : "a size (256MiB)", text);
    *floor = (int64_t)number;
    return NM_OK;
}

/* A name with a dash or a space between its words. */
static bool is_named(const char *text, size_t len, const char *name)
{
    if (len != strlen(name))
        return false;
    for (size_t i = 0; i < len; i++)
        if (text[i] != name[i] && !(text[i] == '-' && name[i] == ' '))
            return false;
    return true;
}

static nm_status read_threshold(const char *text, nm_thresholds *out, nm_error *err)
{
    const char *equals = strchr(text, '=');
    size_t len = equals == NULL ? strlen(text) : (size_t)(equals - text);
    const char *value = equals == NULL ? "" : equals + 1;

    while (len > 0 && text[len - 1] == ' ')
        len--;
    while (*value == ' ')
        value++;
    for (int measure = 0; measure < NM_MEASURE_COUNT; measure++)
        if (is_named(text, len, nm_measure_name((nm_measure)measure))) {
            out->items[measure].is_set = true;
            return read_value((nm_measure)measure, value, &out->items[measure].floor, err);
        }
    return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                   "no measure '%.*s': allocation-cost, fragmentation, pool-hit-rate or zero-copy",
                   (int)(len < 30 ? len : 30), text);
}

/* What is left of a line without its comment, and without what is blank at both ends. */
static const char *trimmed(char line[LINE_BYTES])
{
    size_t len = strcspn(line, "#\r\n");

    while (len > 0 && isspace((unsigned char)line[len - 1]))
        len--;
    line[len] = 0;
    while (isspace((unsigned char)*line))
        line++;
    return line;
}

static nm_status read_lines(FILE *file, nm_thresholds *out, nm_error *err)
{
    char line[LINE_BYTES];
    nm_status status = NM_OK;

    for (unsigned number = 1; status == NM_OK && fgets(line, sizeof line, file) != NULL; number++) {
        nm_error why = {0};
        const char *text = trimmed(line);

        if (text[0] != 0 && read_threshold(text, out, &why) != NM_OK)
            status = nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "line %u: %.120s", number, why.text);
    }
    if (status == NM_OK && ferror(file))
        status = nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "cannot read: %s", strerror(errno));
    return status;
}

static nm_thresholds *thresholds_of(const option_row *row, void *into)
{
    assert(row->field.bytes == sizeof(nm_thresholds));
    return (nm_thresholds *)((char *)into + row->field.offset);
}

nm_status threshold_take(const option_row *row, const char *argument, void *into, nm_error *err)
{
    return read_threshold(argument, thresholds_of(row, into), err);
}

nm_status threshold_take_file(const option_row *row, const char *argument, void *into, nm_error *err)
{
    FILE *file = fopen(argument, "re");
    nm_status status;

    if (file == NULL)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "cannot open: %s", strerror(errno));
    status = read_lines(file, thresholds_of(row, into), err);
    fclose(file);
    return status;
}
