/* SPDX-License-Identifier: Apache-2.0
 *
 * Text for people, with rounded figures and by how much a limit is passed; JSON for programs, with exact ones. What a
 * database holds as text may be any bytes: it goes out as valid JSON all the same.
 */
#include "tool/check/results.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/human.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "say/spoken.h"

#define NAME_COLUMNS  19
#define VALUE_COLUMNS 10

static int64_t whole(double value)
{
    return value > -9e18 && value < 9e18 ? (int64_t)value : value > 0 ? INT64_MAX : 0;
}

static const char *show(char out[NM_HUMAN_BYTES], check_unit unit, double value)
{
    if (unit == CHECK_BYTES)
        return nm_human_bytes(out, whole(value));
    if (unit == CHECK_BYTES_PER_HOUR) {
        nm_human_bytes(out, whole(value));
        strncat(out, "/h", NM_HUMAN_BYTES - strlen(out) - 1);
        return out;
    }
    if (unit == CHECK_RATIO)
        snprintf(out, NM_HUMAN_BYTES, "%.4g", value);
    else if (value == (double)whole(value))
        return nm_human_count(out, whole(value));
    else
        snprintf(out, NM_HUMAN_BYTES, "%.2f", value);
    return out;
}

/* Bytes may look the same as their limit and be over it. */
static void write_excess(const check_result *result, FILE *out)
{
    char number[NM_HUMAN_BYTES];
    double excess = result->value - result->limit;

    if (result->unit == CHECK_BYTES && result->has_limit && result->is_limit_known && !result->is_ok && excess > 0)
        fprintf(out, nm_spoken("  %s bytes over"), nm_human_count(number, whole(excess)));
}

void check_write_chosen(int64_t chosen_count, int64_t all_count, FILE *out)
{
    char some[NM_HUMAN_BYTES], all[NM_HUMAN_BYTES];

    fprintf(out, nm_spoken("%s of %s heaps were looked at (--rank, --heap)\n"), nm_human_count(some, chosen_count),
            nm_human_count(all, all_count));
}

void check_write_line(const check_result *result, FILE *out)
{
    char number[NM_HUMAN_BYTES], limit[NM_HUMAN_BYTES] = "", note[2 * sizeof result->note];

    const char *word = nm_spoken(result->is_unjudged ? "?" : result->is_ok ? "ok" : "FAIL");
    fprintf(out, "%*s  %-*s  %*s", nm_spoken_width(-4, word), word, NAME_COLUMNS, result->name, VALUE_COLUMNS,
            result->has_value && !result->is_unjudged ? show(number, result->unit, result->value) : "-");
    if (result->has_limit && result->is_limit_known && result->has_value)
        fprintf(out, nm_spoken("  limit %*s"), VALUE_COLUMNS, show(limit, result->unit, result->limit));
    if (result->place[0] != 0)
        fprintf(out, "  %s", result->place);
    write_excess(result, out);
    if (result->failed_count > 1)
        fprintf(out, nm_spoken("  and %s more"), nm_human_count(number, result->failed_count - 1));
    if (result->note[0] != 0)
        fprintf(out, nm_spoken(result->is_unjudged ? "  not judged: %s" : "  (%s)"),
                nm_spoken_said(result->note, note, sizeof note));
    fputc('\n', out);
}

static void write_string(const char *text, FILE *out)
{
    char escaped[NM_SHOWN_ESCAPE_BYTES];
    uint32_t character;
    size_t len = strlen(text), count;

    fputc('"', out);
    for (size_t at = 0; at < len; at += count) {
        count = nm_shown_next(text + at, len - at, &character);
        fwrite(escaped, 1, nm_shown_escape(escaped, character, text + at, count), out);
    }
    fputc('"', out);
}

static void write_number(const char *name, bool is_known, double value, FILE *out)
{
    fprintf(out, ", \"%s\": ", name);
    if (!is_known || !isfinite(value))
        fputs("null", out);
    else if (value == (double)whole(value))
        fprintf(out, "%" PRId64, whole(value));
    else
        fprintf(out, "%.17g", value);
}

static void write_result(const check_result *result, FILE *out)
{
    static const char *const units[] = {[CHECK_BYTES] = "bytes",
                                        [CHECK_RATIO] = "ratio",
                                        [CHECK_COUNT] = "count",
                                        [CHECK_BYTES_PER_HOUR] = "bytes_per_hour"};

    fprintf(out, "    {\"rule\": \"%s\", \"is_ok\": %s", result->name, result->is_ok ? "true" : "false");
    fprintf(out, ", \"state\": \"%s\"", result->is_unjudged ? "not judged" : result->is_ok ? "holds" : "broken");
    write_number("value", result->has_value && !result->is_unjudged, result->value, out);
    fprintf(out, ", \"unit\": \"%s\"", units[result->unit]);
    write_number("limit", result->has_limit && result->is_limit_known, result->limit, out);
    fprintf(out, ", \"is_minimum\": %s", result->is_minimum ? "true" : "false");
    write_number("failed_count", true, (double)result->failed_count, out);
    fputs(", \"place\": ", out);
    write_string(result->place, out);
    fputs(", \"note\": ", out);
    write_string(result->note, out);
    fputc('}', out);
}

void check_write_json(const char *database, const check_result *results, size_t count, FILE *out)
{
    bool is_ok = true;

    for (size_t i = 0; i < count; i++)
        is_ok = is_ok && results[i].is_ok;
    fputs("{\n  \"database\": ", out);
    write_string(database, out);
    fprintf(out, ",\n  \"is_ok\": %s,\n  \"rules\": [\n", is_ok ? "true" : "false");
    for (size_t i = 0; i < count; i++) {
        write_result(&results[i], out);
        fputs(i + 1 < count ? ",\n" : "\n", out);
    }
    fputs("  ]\n}\n", out);
}
