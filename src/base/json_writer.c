/* SPDX-License-Identifier: Apache-2.0
 *
 * A comma stands in front of what is not the first of its object or list. One bit is enough for that: what has just been
 * closed is a value of what is around it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/shown.h"

static void put(nm_json *json, const void *data, size_t len)
{
    if (json->status == NM_OK)
        json->status = nm_buffer_append(json->out, data, len, json->err);
}

static void put_quoted(nm_json *json, nm_bytes text)
{
    size_t bytes;

    put(json, "\"", 1);
    for (size_t at = 0; at < text.len && json->status == NM_OK; at += bytes) {
        const char *here = (const char *)text.data + at;
        char escaped[NM_SHOWN_ESCAPE_BYTES];
        uint32_t character;

        bytes = nm_shown_next(here, text.len - at, &character);
        put(json, escaped, nm_shown_escape(escaped, character, here, bytes));
    }
    put(json, "\"", 1);
}

static void begin_value(nm_json *json, const char *name)
{
    if (json->has_one)
        put(json, ",", 1);
    json->has_one = true;
    if (name == NULL)
        return;
    put_quoted(json, (nm_bytes){(const uint8_t *)name, strlen(name)});
    put(json, ":", 1);
}

void nm_json_value(nm_json *json, const char *name, nm_bytes value)
{
    begin_value(json, name);
    put(json, value.data, value.len);
}

static void put_word(nm_json *json, const char *name, const char *word)
{
    nm_json_value(json, name, (nm_bytes){(const uint8_t *)word, strlen(word)});
}

void nm_json_begin(nm_json *json, const char *name, char opening)
{
    nm_json_value(json, name, (nm_bytes){(const uint8_t *)&opening, 1});
    json->has_one = false;
}

void nm_json_end(nm_json *json, char closing)
{
    put(json, &closing, 1);
    json->has_one = true;
}

void nm_json_bytes(nm_json *json, const char *name, nm_bytes text)
{
    begin_value(json, name);
    put_quoted(json, text);
}

void nm_json_text(nm_json *json, const char *name, const char *text)
{
    if (text == NULL)
        nm_json_null(json, name);
    else
        nm_json_bytes(json, name, (nm_bytes){(const uint8_t *)text, strlen(text)});
}

void nm_json_int(nm_json *json, const char *name, int64_t value)
{
    char digits[24];

    snprintf(digits, sizeof digits, "%" PRId64, value);
    put_word(json, name, digits);
}

void nm_json_real(nm_json *json, const char *name, double value)
{
    char digits[32];

    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    put_word(json, name, isfinite(value) ? digits : "null");
}

void nm_json_bool(nm_json *json, const char *name, bool value)
{
    put_word(json, name, value ? "true" : "false");
}

void nm_json_null(nm_json *json, const char *name)
{
    put_word(json, name, "null");
}

void nm_json_known(nm_json *json, const char *name, bool is_known, int64_t value)
{
    if (is_known)
        nm_json_int(json, name, value);
    else
        nm_json_null(json, name);
}

/* A name of the token, which the writer takes as a text that ends. */
static void copy_token(nm_json *json, const char *name, const nm_json_token *token)
{
    switch (token->kind) {
    case NM_JSON_OBJECT:
    case NM_JSON_LIST:
        nm_json_begin(json, name, token->kind == NM_JSON_LIST ? '[' : '{');
        break;
    case NM_JSON_OBJECT_END:
    case NM_JSON_LIST_END:
        nm_json_end(json, token->kind == NM_JSON_LIST_END ? ']' : '}');
        break;
    case NM_JSON_TEXT:
        nm_json_bytes(json, name, token->text);
        break;
    case NM_JSON_NUMBER:
        nm_json_value(json, name, token->text);
        break;
    case NM_JSON_TRUE:
    case NM_JSON_FALSE:
        nm_json_bool(json, name, token->kind == NM_JSON_TRUE);
        break;
    default:
        nm_json_null(json, name);
    }
}

void nm_json_copy(nm_json *json, const char *name, nm_bytes value)
{
    nm_json_reader reader = nm_json_reader_over(value);
    nm_json_token token;
    nm_buffer member = {0};
    bool is_first = true;

    while (json->status == NM_OK && (json->status = nm_json_next(&reader, &token, json->err)) == NM_OK) {
        bool is_named = token.name.data != NULL;

        member.len = 0;
        if (is_named)
            json->status = nm_buffer_append(&member, token.name.data, token.name.len, json->err);
        if (json->status == NM_OK && is_named)
            json->status = nm_buffer_append(&member, "", 1, json->err);
        copy_token(json, is_first ? name : is_named ? (const char *)member.data : NULL, &token);
        is_first = false;
    }
    if (json->status == NM_END)
        json->status = NM_OK;
    nm_buffer_free(&member);
    nm_json_reader_free(&reader);
}
