/* SPDX-License-Identifier: Apache-2.0
 *
 * A row is written, and taken back where it went beyond the room: so no size has to be known before.
 */
#include "tool/mcp/answer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/shown.h"
#include "store/question.h"

#define WHOLE_MAX  (INT64_C(1) << 53) /* what every reader of JSON takes for a whole number */

#define WORD(text) ((nm_bytes){(const uint8_t *)(text), sizeof(text) - 1})

/* ---- Room ---------------------------------------------------------------------------------------------------------------- */

mcp_mark mcp_mark_here(const nm_json *json)
{
    return (mcp_mark){json->out->len, json->has_one};
}

void mcp_go_back(nm_json *json, mcp_mark mark)
{
    json->out->len = mark.len;
    json->has_one = mark.has_one;
}

bool mcp_has_room(const nm_json *json)
{
    return json->out->len <= MCP_ANSWER_BYTES_MAX - MCP_TAIL_BYTES;
}

/* ---- Texts --------------------------------------------------------------------------------------------------------------- */

/* How many bytes the first so many characters have. */
static size_t bytes_of(const char *text, size_t len, size_t columns)
{
    size_t at = 0;
    uint32_t character;

    for (size_t i = 0; i < columns && at < len; i++)
        at += nm_shown_next(text + at, len - at, &character);
    return at;
}

static void put_cut(nm_json *json, const char *name, const char *text, size_t len, size_t columns)
{
    char shown[4 * MCP_SENTENCE_COLUMNS + 8];
    size_t kept = bytes_of(text, len, columns);
    bool is_cut = kept < len;

    if (text == NULL) {
        nm_json_null(json, name);
        return;
    }
    if (is_cut)
        kept = bytes_of(text, len, columns - 1);
    memcpy(shown, text, kept);
    kept = nm_shown_make(shown, kept, "\n");
    if (is_cut) {
        memcpy(shown + kept, "\xe2\x80\xa6", 3);
        kept += 3;
    }
    nm_json_bytes(json, name, (nm_bytes){(const uint8_t *)shown, kept});
}

void mcp_put_text(nm_json *json, const char *name, const char *text, size_t columns)
{
    put_cut(json, name, text, text == NULL ? 0 : strlen(text), columns);
}

static void put_token(nm_json *json, const char *name, const nm_json_token *token, size_t columns)
{
    switch (token->kind) {
    case NM_JSON_OBJECT:
    case NM_JSON_LIST:
        nm_json_begin(json, name, token->kind == NM_JSON_OBJECT ? '{' : '[');
        break;
    case NM_JSON_OBJECT_END:
    case NM_JSON_LIST_END:
        nm_json_end(json, token->kind == NM_JSON_OBJECT_END ? '}' : ']');
        break;
    case NM_JSON_TEXT:
        put_cut(json, name, token->text.len == 0 ? "" : (const char *)token->text.data, token->text.len, columns);
        break;
    case NM_JSON_NUMBER:
        nm_json_value(json, name, token->text);
        break;
    default:
        nm_json_value(json, name,
                      token->kind == NM_JSON_NULL   ? WORD("null")
                      : token->kind == NM_JSON_TRUE ? WORD("true")
                                                    : WORD("false"));
    }
}

nm_status mcp_put_json(nm_json *json, const char *name, nm_bytes value, const char *skipped, size_t columns,
                       nm_error *err)
{
    nm_json_reader reader = nm_json_reader_over(value);
    nm_json_token token;
    nm_status status;
    char member[MCP_TEXT_COLUMNS];

    while ((status = nm_json_next(&reader, &token, err)) == NM_OK) {
        if (token.name.data != NULL && nm_json_is(token.name, skipped)) {
            if ((status = nm_json_pass(&reader, &token, err)) != NM_OK)
                break;
            continue;
        }
        snprintf(member, sizeof member, "%.*s", (int)token.name.len, (const char *)token.name.data);
        put_token(json, token.name.data == NULL ? name : member, &token, columns);
        name = NULL;
    }
    nm_json_reader_free(&reader);
    return status == NM_END ? NM_OK : status;
}

void mcp_put_lines(nm_json *json, const char *name, nm_bytes text, size_t from, int64_t *more)
{
    size_t begin = from < text.len ? from : text.len, end = begin;
    size_t room = mcp_has_room(json) ? MCP_ANSWER_BYTES_MAX - MCP_TAIL_BYTES - json->out->len : 0;

    while (end < text.len) {
        const uint8_t *newline = memchr(text.data + end, '\n', text.len - end);
        size_t next = newline == NULL ? text.len : (size_t)(newline + 1 - text.data);

        if (next - begin > room && end > begin)
            break;
        end = next;
    }
    *more = end < text.len ? (int64_t)end : 0;
    nm_json_bytes(json, name, (nm_bytes){text.data + begin, end - begin});
}

void mcp_put_more(nm_json *json, int64_t more)
{
    char cursor[32];

    snprintf(cursor, sizeof cursor, "%" PRId64, more);
    if (more != 0)
        nm_json_text(json, "more", cursor);
}

nm_status mcp_read_more(const char *cursor, int64_t *from, nm_error *err)
{
    uint64_t number = 0;

    if (cursor != NULL && !nm_number_read(cursor, INT32_MAX, &number))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "more must be what an answer before gave as more");
    *from = (int64_t)number;
    return NM_OK;
}

/* ---- Rows ---------------------------------------------------------------------------------------------------------------- */

static void put_integer(nm_json *json, const char *name, int64_t value)
{
    char digits[32];

    if (value > -WHOLE_MAX && value < WHOLE_MAX) {
        nm_json_int(json, name, value);
        return;
    }
    snprintf(digits, sizeof digits, "%" PRId64, value);
    nm_json_text(json, name, digits);
}

static void put_value(nm_json *json, const char *name, sqlite3_stmt *statement, int column)
{
    char words[48];

    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        put_integer(json, name, sqlite3_column_int64(statement, column));
        break;
    case SQLITE_FLOAT:
        nm_json_real(json, name, sqlite3_column_double(statement, column));
        break;
    case SQLITE_TEXT:
        put_cut(json, name, (const char *)sqlite3_column_text(statement, column),
                (size_t)sqlite3_column_bytes(statement, column), MCP_TEXT_COLUMNS);
        break;
    case SQLITE_BLOB:
        snprintf(words, sizeof words, "(a blob of %d bytes)", sqlite3_column_bytes(statement, column));
        nm_json_text(json, name, words);
        break;
    default:
        nm_json_null(json, name);
    }
}

static void put_row(nm_json *json, sqlite3_stmt *statement, bool is_object)
{
    char name[MCP_TEXT_COLUMNS];

    nm_json_begin(json, NULL, is_object ? '{' : '[');
    for (int i = 0; i < sqlite3_column_count(statement); i++)
        if (!is_object)
            put_value(json, NULL, statement, i);
        else if (sqlite3_column_type(statement, i) != SQLITE_NULL)
            put_value(json, nm_shown_text(name, sizeof name, sqlite3_column_name(statement, i)), statement, i);
    nm_json_end(json, is_object ? '}' : ']');
}

/* The rows of a list that is open. That a statement failed is known to who finalizes it. */
static void put_list(nm_json *json, sqlite3_stmt *statement, bool is_object, mcp_rows *rows)
{
    for (int64_t at = 0; sqlite3_step(statement) == SQLITE_ROW; at++) {
        mcp_mark mark = mcp_mark_here(json);

        if (at < rows->from)
            continue;
        rows->is_cut = rows->count_max != 0 && rows->count == rows->count_max;
        if (!rows->is_cut) {
            put_row(json, statement, is_object);
            rows->is_cut = !mcp_has_room(json);
        }
        if (rows->is_cut) {
            mcp_go_back(json, mark);
            break;
        }
        rows->count++;
    }
}

void mcp_put_rows(nm_json *json, const char *name, sqlite3_stmt *statement, mcp_rows *rows)
{
    int column_count = sqlite3_column_count(statement);

    if (name != NULL)
        nm_json_begin(json, name, '{');
    nm_json_begin(json, "columns", '[');
    for (int i = 0; i < column_count; i++)
        mcp_put_text(json, NULL, sqlite3_column_name(statement, i), MCP_TEXT_COLUMNS);
    nm_json_end(json, ']');
    nm_json_begin(json, "rows", '[');
    put_list(json, statement, false, rows);
    nm_json_end(json, ']');
    if (name != NULL)
        nm_json_end(json, '}');
}

void mcp_put_objects(nm_json *json, const char *name, sqlite3_stmt *statement, mcp_rows *rows)
{
    nm_json_begin(json, name, '[');
    put_list(json, statement, true, rows);
    nm_json_end(json, ']');
}

/* ---- Several lists as one ------------------------------------------------------------------------------------------------ */

nm_status mcp_read_place(const char *cursor, mcp_place *place, nm_error *err)
{
    const char *part = cursor == NULL || cursor[0] == 0 ? NULL : strchr(place->parts, cursor[0]);

    if (cursor == NULL)
        return NM_OK;
    if (part != NULL)
        place->parts = part;
    return mcp_read_more(part == NULL ? "" : cursor + 1, &place->from, err);
}

void mcp_put_place(nm_json *json, const mcp_place *place, const mcp_rows *rows)
{
    char cursor[32];

    snprintf(cursor, sizeof cursor, "%c%" PRId64, place->parts[0], rows->from + rows->count);
    if (rows->is_cut)
        nm_json_text(json, "more", cursor);
}

/* ---- What to ask next -------------------------------------------------------------------------------------------------- */

void mcp_put_next(nm_json *json, const char *tool, ...)
{
    va_list words;
    const char *name;

    va_start(words, tool);
    nm_json_begin(json, NULL, '{');
    nm_json_text(json, "tool", tool);
    nm_json_begin(json, "arguments", '{');
    while ((name = va_arg(words, const char *)) != NULL)
        mcp_put_text(json, name, va_arg(words, const char *), MCP_TEXT_COLUMNS);
    nm_json_end(json, '}');
    nm_json_end(json, '}');
    va_end(words);
}
