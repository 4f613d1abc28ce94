/* SPDX-License-Identifier: Apache-2.0
 *
 * A line is read whole once, so that all of it is known to be JSON; what is wanted of it is then found by walking it again.
 */
#include "tool/mcp/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"

/* ---- JSON at hand ------------------------------------------------------------------------------------------------------- */

nm_status mcp_json_check(nm_bytes text, nm_error *err)
{
    nm_json_reader reader = nm_json_reader_over(text);
    nm_json_token token;
    nm_status status;

    reader.is_passing = true;
    while ((status = nm_json_next(&reader, &token, err)) == NM_OK)
        ;
    nm_json_reader_free(&reader);
    return status == NM_END ? NM_OK : status;
}

typedef struct members {
    nm_json_reader reader;
    nm_bytes object, value;
    nm_json_token token; /* of the value; its texts are gone */
    char name[MCP_NAME_BYTES];
} members;

static bool begin_members(members *m, nm_bytes object)
{
    *m = (members){.reader = nm_json_reader_over(object), .object = object};
    return nm_json_next(&m->reader, &m->token, NULL) == NM_OK && m->token.kind == NM_JSON_OBJECT;
}

/* False: there is no other. A name that does not fit is none that is known. */
static bool next_member(members *m)
{
    if (nm_json_next(&m->reader, &m->token, NULL) != NM_OK || m->token.kind == NM_JSON_OBJECT_END)
        return false;
    size_t len = m->token.name.len < sizeof m->name ? m->token.name.len : sizeof m->name - 1;

    memcpy(m->name, m->token.name.data, len);
    m->name[len] = 0;
    if (strlen(m->name) != len)
        m->name[0] = 0;
    if (nm_json_pass(&m->reader, &m->token, NULL) != NM_OK)
        return false;
    m->value =
        (nm_bytes){m->object.data + m->token.offset, (size_t)(m->reader.offset + m->reader.at - m->token.offset)};
    return true;
}

bool mcp_json_member(nm_bytes object, const char *name, nm_json_kind *kind, nm_bytes *value)
{
    bool is_found = false;
    members m;

    if (object.data == NULL)
        return false;
    for (bool is_open = begin_members(&m, object); is_open && next_member(&m);)
        if (strcmp(m.name, name) == 0) {
            *kind = m.token.kind;
            *value = m.value;
            is_found = true;
        }
    nm_json_reader_free(&m.reader);
    return is_found;
}

bool mcp_json_text(nm_bytes value, char *out, size_t size)
{
    nm_json_reader reader = nm_json_reader_over(value);
    nm_json_token token;
    bool is_text = nm_json_next(&reader, &token, NULL) == NM_OK && token.kind == NM_JSON_TEXT && token.text.len < size;

    if (is_text) {
        memcpy(out, token.text.data, token.text.len);
        out[token.text.len] = 0;
        is_text = strlen(out) == token.text.len;
    }
    nm_json_reader_free(&reader);
    return is_text;
}

/* ---- A message ----------------------------------------------------------------------------------------------------------- */

static nm_status refuse(nm_error *err, const char *why)
{
    return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "%s", why);
}

/* A number's characters are its text. */
static bool read_id(nm_json_kind kind, nm_bytes value, mcp_message *out)
{
    if (kind == NM_JSON_TEXT)
        out->has_id = mcp_json_text(value, out->id, sizeof out->id);
    else if (kind == NM_JSON_NUMBER && value.len < sizeof out->id) {
        memcpy(out->id, value.data, value.len);
        out->id[value.len] = 0;
        out->has_id = true;
    }
    out->id_kind = out->has_id ? kind : NM_JSON_NULL;
    return out->has_id;
}

nm_status mcp_message_read(nm_bytes line, mcp_message *out, nm_error *err)
{
    nm_json_kind kind;
    nm_bytes value;
    char version[8];
    nm_status status = mcp_json_check(line, err);

    *out = (mcp_message){.id_kind = NM_JSON_NULL};
    if (status != NM_OK)
        return status == NM_ERR_MEMORY ? status : nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "no JSON");
    bool has_good_id = !mcp_json_member(line, "id", &kind, &value) || read_id(kind, value, out);
    if (!mcp_json_member(line, "jsonrpc", &kind, &value) || !mcp_json_text(value, version, sizeof version) ||
        strcmp(version, "2.0") != 0)
        return refuse(err, "not a message of JSON-RPC 2.0");
    if (!has_good_id)
        return refuse(err, "the id must be a text or a number, of less than 256 characters");
    bool has_method = mcp_json_member(line, "method", &kind, &value);
    nm_json_kind other;
    nm_bytes rest;
    out->is_reply = !has_method &&
                    (mcp_json_member(line, "result", &other, &rest) || mcp_json_member(line, "error", &other, &rest));
    if (!has_method || kind != NM_JSON_TEXT)
        return refuse(err, "there is no method");
    if (!mcp_json_text(value, out->method, sizeof out->method))
        out->method[0] = 0;
    if (mcp_json_member(line, "params", &kind, &out->params) && kind != NM_JSON_OBJECT) {
        out->params = (nm_bytes){0};
        return refuse(err, "params must be an object");
    }
    return NM_OK;
}

/* ---- Arguments ------------------------------------------------------------------------------------------------------------ */

static const char *word_of(nm_json_kind kind)
{
    return kind == NM_JSON_TEXT ? "a text" : kind == NM_JSON_NUMBER ? "a whole number" : "true or false";
}

static const mcp_parameter *find_parameter(const mcp_parameter *parameters, const char *name)
{
    for (; parameters->name != NULL; parameters++)
        if (strcmp(parameters->name, name) == 0)
            return parameters;
    return NULL;
}

static mcp_argument *find_argument(const mcp_arguments *arguments, const char *name)
{
    for (size_t i = 0; i < arguments->count; i++)
        if (strcmp(arguments->items[i].parameter->name, name) == 0)
            return (mcp_argument *)&arguments->items[i];
    return NULL;
}

/* NULL where it is none, or out of memory. */
static char *copy_text(nm_bytes value)
{
    char *text = malloc(value.len);

    if (text != NULL && !mcp_json_text(value, text, value.len)) {
        free(text);
        text = NULL;
    }
    return text;
}

static bool read_value(nm_bytes value, mcp_argument *into)
{
    nm_json_reader reader = nm_json_reader_over(value);
    nm_json_token token;
    nm_json_kind wanted = into->parameter->kind;
    bool is_read = nm_json_next(&reader, &token, NULL) == NM_OK;

    if (is_read && wanted == NM_JSON_NUMBER)
        is_read = nm_json_get_int(&token, &into->number);
    else if (is_read && wanted == NM_JSON_TRUE)
        is_read = (into->number = token.kind == NM_JSON_TRUE) != 0 || token.kind == NM_JSON_FALSE;
    nm_json_reader_free(&reader);
    if (wanted == NM_JSON_TEXT) {
        free(into->text);
        is_read = (into->text = copy_text(value)) != NULL;
    }
    return is_read;
}

static nm_status take_member(const members *m, const mcp_parameter *parameters, mcp_arguments *out, nm_error *err)
{
    char shown[MCP_NAME_BYTES];
    const mcp_parameter *parameter = find_parameter(parameters, m->name);
    mcp_argument *argument = parameter == NULL ? NULL : find_argument(out, m->name);

    if (parameter == NULL)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "there is no argument %s",
                       nm_shown_text(shown, sizeof shown, m->name));
    if (m->token.kind == NM_JSON_NULL)
        return NM_OK;
    if (argument == NULL) {
        argument = &out->items[out->count++];
        argument->parameter = parameter;
    }
    if (!read_value(m->value, argument))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "%s must be %s", parameter->name, word_of(parameter->kind));
    return NM_OK;
}

nm_status mcp_arguments_read(nm_bytes object, const mcp_parameter *parameters, mcp_arguments *out, nm_error *err)
{
    nm_status status = NM_OK;
    members m = {0};

    *out = (mcp_arguments){0};
    for (bool is_open = object.data != NULL && begin_members(&m, object);
         is_open && status == NM_OK && next_member(&m);)
        status = take_member(&m, parameters, out, err);
    nm_json_reader_free(&m.reader);
    for (; status == NM_OK && parameters->name != NULL; parameters++)
        if (parameters->is_needed && find_argument(out, parameters->name) == NULL)
            status = nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "needs the argument %s, %s", parameters->name,
                             word_of(parameters->kind));
    return status;
}

void mcp_arguments_free(mcp_arguments *arguments)
{
    for (size_t i = 0; i < arguments->count; i++)
        free(arguments->items[i].text);
}

const char *mcp_argument_text(const mcp_arguments *arguments, const char *name)
{
    const mcp_argument *argument = find_argument(arguments, name);

    return argument == NULL ? NULL : argument->text;
}

bool mcp_argument_number(const mcp_arguments *arguments, const char *name, int64_t *number)
{
    const mcp_argument *argument = find_argument(arguments, name);

    if (argument != NULL)
        *number = argument->number;
    return argument != NULL;
}
