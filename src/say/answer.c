/* SPDX-License-Identifier: Apache-2.0
 *
 * Of each amount both: the number, and what a person is shown.
 */
#include "say/answer.h"

#include <stdio.h>
#include <string.h>

#include "base/human.h"

void nm_answer_json_begin(nm_json *json, const char *program, const char *database, nm_language language)
{
    nm_json_begin(json, NULL, '{');
    nm_json_text(json, "schema", NM_ANSWER_SCHEMA);
    nm_json_text(json, "program", program);
    nm_json_text(json, "version", NPUMEM_PROJECT_VERSION);
    nm_json_text(json, "database", database);
    nm_json_text(json, "language", language == NM_CHINESE ? "zh" : "en");
}

void nm_bytes_json(nm_json *json, const char *stem, int64_t bytes)
{
    char name[64], text[NM_HUMAN_BYTES];

    snprintf(name, sizeof name, "%s_bytes", stem);
    nm_json_int(json, name, bytes);
    snprintf(name, sizeof name, "%s_text", stem);
    nm_json_text(json, name, nm_human_bytes(text, bytes));
}

nm_status nm_answer_json_end(nm_json *json)
{
    nm_json_end(json, '}');
    return json->status == NM_OK ? nm_buffer_append(json->out, "\n", 1, json->err) : json->status;
}

static int64_t whole(double value)
{
    return value >= 9.2e18 ? INT64_MAX : value <= -9.2e18 ? INT64_MIN : (int64_t)value;
}

static const char *show(const nm_figure *figure, char out[NM_HUMAN_BYTES])
{
    int64_t count = figure->is_real ? whole(figure->value) : figure->count;

    if (strcmp(figure->unit, "ratio") == 0)
        return nm_human_percent(out, figure->value);
    if (strncmp(figure->unit, "bytes", 5) == 0)
        return nm_human_bytes(out, count);
    if (strcmp(figure->unit, "ns") == 0)
        return nm_human_cost(out, count);
    return nm_human_count(out, count);
}

void nm_figure_json_begin(nm_json *json, const nm_figure *figure)
{
    char text[NM_HUMAN_BYTES];

    nm_json_begin(json, NULL, '{');
    nm_json_text(json, "name", figure->name);
    if (figure->is_real)
        nm_json_real(json, "value", figure->value);
    else
        nm_json_int(json, "value", figure->count);
    nm_json_text(json, "unit", figure->unit);
    nm_json_text(json, "text", show(figure, text));
    nm_json_text(json, "view", figure->view);
    nm_json_begin(json, "key", '{');
}

void nm_figure_json_end(nm_json *json)
{
    nm_json_end(json, '}');
    nm_json_end(json, '}');
}
