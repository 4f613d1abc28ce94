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
#include <string.h>

#include "base/door.h"
#include "base/number.h"
#include "base/quantity.h"
#include "base/spoken.h"

#define LINE_BYTES 512

static nm_status read_value(nm_measure measure, const char *text, int64_t *floor, nm_error *err)
{
    static const char *const names[NM_MEASURE_COUNT] = {
        [NM_MEASURE_COST] = "allocation-cost",
        [NM_MEASURE_FRAGMENTATION] = "fragmentation",
        [NM_MEASURE_HIT_RATE] = "pool-hit-rate",
        [NM_MEASURE_ZERO_COPY] = "zero-copy",
    };
    nm_error why = {0};
    uint64_t number = 0;
    nm_status status;

    if (measure == NM_MEASURE_COST)
        status = nm_quantity_time(text, 0, &number, &why);
    else if (measure == NM_MEASURE_HIT_RATE)
        status = nm_number_read(text, INT64_MAX, &number)
                     ? NM_OK
                     : nm_fail(&why, NM_ERR_USAGE, NM_NO_OFFSET, "needs a number of requests");
    else
        status = nm_quantity_size(text, &number, &why);
    if (status != NM_OK)
        return nm_fail(err, status, NM_NO_OFFSET, "%s %s, not '%.40s'", names[measure], why.text, text);
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
        status = nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "cannot read: %s", nm_spoken(strerror(errno)));
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
    FILE *file = nm_door_stream(argument);
    nm_status status;

    if (file == NULL)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "cannot open: %s", nm_spoken(strerror(errno)));
    status = read_lines(file, thresholds_of(row, into), err);
    fclose(file);
    return status;
}
