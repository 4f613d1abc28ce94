/* SPDX-License-Identifier: Apache-2.0
 *
 * The figures alone: the report has the rest.
 */
#include "base/spoken.h"
#include "say/answer.h"
#include "say/spoken.h"
#include "tool/selfcheck/text.h"

static void put_number(nm_json *json, const char *name, uint64_t number)
{
    nm_json_known(json, name, number != SELFCHECK_UNKNOWN, number > INT64_MAX ? INT64_MAX : (int64_t)number);
}

static void put_line(nm_json *json, const selfcheck_line *line)
{
    nm_json_begin(json, NULL, '{');
    nm_json_text(json, "what", line->what);
    nm_json_text(json, "what_text", nm_spoken(line->what));
    nm_json_text(json, "said_by", line->said_by);
    nm_json_text(json, "said_by_text", nm_spoken(line->said_by));
    put_number(json, "said", line->said);
    put_number(json, "seen", line->seen);
    put_number(json, "allowed_bytes", line->allowed_bytes);
    nm_json_text(json, "state", selfcheck_state(line));
    nm_json_text(json, "state_text", nm_spoken(selfcheck_state(line)));
    nm_json_end(json, '}');
}

static void put_median(nm_json *json, const char *name, const int64_t times[SELFCHECK_ROUNDS])
{
    int64_t median_ns = selfcheck_median(times);

    put_number(json, name, median_ns > 0 ? (uint64_t)median_ns : SELFCHECK_UNKNOWN);
}

nm_status selfcheck_write_json(const selfcheck_result *result, const char *report, nm_buffer *out, nm_error *err)
{
    nm_json json = {.out = out, .err = err};

    nm_answer_json_begin(&json, "selfcheck", NULL, nm_spoken_language());
    nm_json_begin(&json, "selfcheck", '{');
    nm_json_text(&json, "verdict", selfcheck_verdict(result));
    nm_json_text(&json, "verdict_text", nm_spoken(selfcheck_verdict(result)));
    nm_json_text(&json, "reason", result->reason[0] == 0 ? NULL : selfcheck_reason(result));
    nm_json_text(&json, "recorded", result->program == NULL ? NULL : nm_spoken(result->program));
    nm_json_bool(&json, "is_standin", result->is_standin);
    nm_json_text(&json, "report", report);
    nm_json_text(&json, "pool", result->comparison.pool[0] == 0 ? NULL : result->comparison.pool);
    nm_json_begin(&json, "figures", '[');
    for (size_t i = 0; i < SELFCHECK_LINES && result->is_compared; i++)
        put_line(&json, &result->comparison.lines[i]);
    nm_json_end(&json, ']');
    put_median(&json, "plain_loop_ns", result->plain.loop_ns);
    put_median(&json, "recorded_loop_ns", result->recorded.loop_ns);
    put_median(&json, "plain_run_ns", result->plain.wall_ns);
    put_median(&json, "recorded_run_ns", result->recorded.wall_ns);
    nm_json_int(&json, "new_function_count", (int64_t)result->new_function_count);
    nm_json_end(&json, '}');
    return nm_answer_json_end(&json);
}
