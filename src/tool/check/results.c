/* SPDX-License-Identifier: Apache-2.0
 *
 * Text for people, with rounded figures and by how much a limit is passed; JSON for programs, with exact ones. What a
 * database holds as text may be any bytes: it goes out as valid JSON all the same.
 */
#include "tool/check/results.h"

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

static void write_number(nm_json *json, const char *name, bool is_known, double value)
{
    if (is_known && value == (double)whole(value))
        nm_json_int(json, name, whole(value));
    else
        nm_json_real(json, name, is_known ? value : NAN);
}

static void write_rule(const check_result *result, nm_json *json)
{
    static const char *const units[] = {[CHECK_BYTES] = "bytes",
                                        [CHECK_RATIO] = "ratio",
                                        [CHECK_COUNT] = "count",
                                        [CHECK_BYTES_PER_HOUR] = "bytes_per_hour"};

    char note[2 * sizeof result->note];

    nm_json_begin(json, NULL, '{');
    nm_json_text(json, "rule", result->name);
    nm_json_bool(json, "is_ok", result->is_ok);
    nm_json_text(json, "state", result->is_unjudged ? "not judged" : result->is_ok ? "holds" : "broken");
    write_number(json, "value", result->has_value && !result->is_unjudged, result->value);
    nm_json_text(json, "unit", units[result->unit]);
    write_number(json, "limit", result->has_limit && result->is_limit_known, result->limit);
    nm_json_bool(json, "is_minimum", result->is_minimum);
    nm_json_int(json, "failed_count", result->failed_count);
    nm_json_text(json, "place", result->place);
    nm_json_text(json, "note", nm_spoken_said(result->note, note, sizeof note));
    nm_json_end(json, '}');
}

void check_write_rules(const check_result *results, size_t count, nm_json *json)
{
    bool is_ok = true;

    for (size_t i = 0; i < count; i++)
        is_ok = is_ok && results[i].is_ok;
    nm_json_bool(json, "is_ok", is_ok);
    nm_json_begin(json, "rules", '[');
    for (size_t i = 0; i < count; i++)
        write_rule(&results[i], json);
    nm_json_end(json, ']');
}
