/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass over the bytes, a chunk at a time; what is open stands in a bit a depth, so that no nesting takes memory or stack.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

#define CHUNK_BYTES      ((size_t)64 << 10)
#define NUMBER_BYTES_MAX 512 /* a double written out in full has fewer */
#define AT_END           (-1)

nm_json_reader nm_json_reader_over(nm_bytes text)
{
    return (nm_json_reader){.data = text.data, .len = text.len};
}

nm_json_reader nm_json_reader_from(nm_json_read *read, void *context)
{
    return (nm_json_reader){.read = read, .context = context};
}

void nm_json_reader_free(nm_json_reader *reader)
{
    nm_buffer_free(&reader->chunk);
    nm_buffer_free(&reader->text);
}

static nm_status fill(nm_json_reader *reader, nm_error *err)
{
    size_t got = 0;
    nm_status status = nm_buffer_reserve(&reader->chunk, CHUNK_BYTES, err);

    if (status == NM_OK)
        status = reader->read(reader->context, reader->chunk.data, CHUNK_BYTES, &got, err);
    if (status != NM_OK)
        return status;
    reader->offset += reader->len;
    reader->data = reader->chunk.data;
    reader->len = got;
    reader->at = 0;
    if (got < CHUNK_BYTES)
        reader->read = NULL;
    return NM_OK;
}

/* *c is the next character, which stays, or AT_END. */
static nm_status look(nm_json_reader *reader, int *c, nm_error *err)
{
    if (reader->at == reader->len && reader->read != NULL) {
        nm_status status = fill(reader, err);

        if (status != NM_OK)
            return status;
    }
    *c = reader->at < reader->len ? reader->data[reader->at] : AT_END;
    return NM_OK;
}

static bool is_blank(int c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static nm_status look_past_blanks(nm_json_reader *reader, int *c, nm_error *err)
{
    nm_status status;

    do {
        while (reader->at < reader->len && is_blank(reader->data[reader->at]))
            reader->at++;
        status = look(reader, c, err);
    } while (status == NM_OK && is_blank(*c));
    return status;
}

static nm_status refuse(const nm_json_reader *reader, int c, const char *wanted, nm_error *err)
{
    return nm_fail(err, NM_ERR_FORMAT, reader->offset + reader->at,
                   c == AT_END ? "JSON ends where %s has to be" : "no JSON: here %s has to be", wanted);
}

static nm_status take(nm_json_reader *reader, char wanted, const char *what, nm_error *err)
{
    int c;
    nm_status status = look_past_blanks(reader, &c, err);

    if (status == NM_OK && c != wanted)
        return refuse(reader, c, what, err);
    reader->at++;
    return status;
}

static nm_status keep(nm_json_reader *reader, const void *data, size_t len, nm_error *err)
{
    if (reader->is_passing)
        return NM_OK;
    if (len > NM_JSON_TEXT_BYTES_MAX - reader->text.len)
        return nm_fail(err, NM_ERR_LIMIT, reader->offset + reader->at, "a text of more than %zu bytes",
                       NM_JSON_TEXT_BYTES_MAX);
    return nm_buffer_append(&reader->text, data, len, err);
}

static size_t put_utf8(char out[4], uint32_t character)
{
    if (character < 0x80) {
        out[0] = (char)character;
        return 1;
    }
    size_t count = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;

    for (size_t i = count - 1; i > 0; i--, character >>= 6)
        out[i] = (char)(0x80 | (character & 0x3f));
    out[0] = (char)((0xf00 >> count) | character);
    return count;
}

static nm_status read_hexadecimal(nm_json_reader *reader, uint32_t *unit, nm_error *err)
{
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        int c;
        nm_status status = look(reader, &c, err);

        if (status != NM_OK)
            return status;
        int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
        if (c == AT_END || digit < 0)
            return refuse(reader, c, "a hexadecimal digit", err);
        *unit = *unit << 4 | (uint32_t)digit;
        reader->at++;
    }
    return NM_OK;
}

/* Behind \u. A half of a pair that is alone is no character: U+FFFD; what comes in its other half's place is read next. */
static nm_status read_unit(nm_json_reader *reader, uint32_t *high, nm_error *err)
{
    uint32_t unit, character;
    char out[4];
    nm_status status = read_hexadecimal(reader, &unit, err);

    if (status != NM_OK)
        return status;
    bool is_low = unit >= 0xdc00 && unit <= 0xdfff;
    if (*high != 0) {
        character = is_low ? 0x10000 + ((*high - 0xd800) << 10) + (unit - 0xdc00) : 0xfffd;
        *high = 0;
        if ((status = keep(reader, out, put_utf8(out, character), err)) != NM_OK || is_low)
            return status;
    }
    if (unit >= 0xd800 && unit <= 0xdbff)
        *high = unit;
    else
        status = keep(reader, out, put_utf8(out, is_low ? 0xfffd : unit), err);
    return status;
}

/* Behind a backslash. */
static nm_status read_escape(nm_json_reader *reader, uint32_t *high, nm_error *err)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    int c;
    nm_status status = look(reader, &c, err);

    if (status != NM_OK)
        return status;
    const char *place = c > 0 ? strchr(from, c) : NULL;
    if (c != 'u' && place == NULL)
        return refuse(reader, c, "an escape", err);
    reader->at++;
    if (c == 'u')
        return read_unit(reader, high, err);
    return keep(reader, &to[place - from], 1, err);
}

/* The run of characters up to a quote, a backslash or the end of the chunk. */
static nm_status read_plain(nm_json_reader *reader, nm_error *err)
{
    size_t from = reader->at;

    while (reader->at < reader->len && reader->data[reader->at] >= 0x20 && reader->data[reader->at] != '"' &&
           reader->data[reader->at] != '\\')
        reader->at++;
    if (reader->at == from)
        return refuse(reader, 0, "no control character", err);
    return keep(reader, reader->data + from, reader->at - from, err);
}

static nm_status read_text(nm_json_reader *reader, nm_error *err)
{
    uint32_t high = 0; /* the first half of a pair, whose second has to be next */
    int c;
    nm_status status = take(reader, '"', "a text", err);

    while (status == NM_OK && (status = look(reader, &c, err)) == NM_OK) {
        if (c == AT_END)
            return refuse(reader, c, "the end of a text", err);
        bool is_escape = c == '\\';
        reader->at += is_escape || c == '"';
        if (is_escape && (status = look(reader, &c, err)) != NM_OK)
            break;
        if (high != 0 && !(is_escape && c == 'u')) {
            high = 0;
            status = keep(reader, "\xef\xbf\xbd", 3, err);
        }
        if (!is_escape && c == '"')
            break;
        if (status == NM_OK)
            status = is_escape ? read_escape(reader, &high, err) : read_plain(reader, err);
    }
    return status;
}

static bool skip_digits(const char **text)
{
    size_t count = strspn(*text, "0123456789");

    *text += count;
    return count > 0;
}

static bool is_number(const char *text)
{
    text += *text == '-';
    bool is_good = *text == '0' ? (text++, true) : skip_digits(&text);
    if (*text == '.') {
        text++;
        is_good &= skip_digits(&text);
    }
    if (*text == 'e' || *text == 'E') {
        text += text[1] == '+' || text[1] == '-' ? 2 : 1;
        is_good &= skip_digits(&text);
    }
    return is_good && *text == 0;
}

static nm_status read_number(nm_json_reader *reader, uint64_t offset, nm_error *err)
{
    char digits[NUMBER_BYTES_MAX];
    size_t len = 0;
    int c;
    nm_status status;

    while ((status = look(reader, &c, err)) == NM_OK && c > 0 && strchr("+-.0123456789Ee", c) != NULL) {
        if (len == sizeof digits - 1)
            return nm_fail(err, NM_ERR_LIMIT, offset, "a number of more than %zu characters", len);
        digits[len++] = (char)c;
        reader->at++;
    }
    digits[len] = 0;
    if (status == NM_OK && !is_number(digits))
        return nm_fail(err, NM_ERR_FORMAT, offset, "no JSON: this is no number");
    return status == NM_OK ? keep(reader, digits, len, err) : status;
}

static nm_status read_word(nm_json_reader *reader, const char *word, nm_error *err)
{
    for (; *word != 0; word++) {
        int c;
        nm_status status = look(reader, &c, err);

        if (status != NM_OK)
            return status;
        if (c != *word)
            return refuse(reader, c, "true, false or null", err);
        reader->at++;
    }
    return NM_OK;
}

static bool is_in_list(const nm_json_reader *reader)
{
    return (reader->is_list[(reader->depth - 1) / 8] >> ((reader->depth - 1) % 8) & 1) != 0;
}

static nm_status enter(nm_json_reader *reader, bool is_list, nm_error *err)
{
    if (reader->depth == NM_JSON_DEPTH_MAX)
        return nm_fail(err, NM_ERR_LIMIT, reader->offset + reader->at, "JSON deeper than %d", NM_JSON_DEPTH_MAX);
    uint8_t *bits = &reader->is_list[reader->depth / 8], bit = (uint8_t)(1u << (reader->depth % 8));

    *bits = is_list ? *bits | bit : *bits & (uint8_t)~bit;
    reader->depth++;
    reader->at++;
    reader->has_one = false;
    return NM_OK;
}

static nm_status read_value(nm_json_reader *reader, nm_json_token *token, nm_error *err)
{
    int c;
    nm_status status = look_past_blanks(reader, &c, err);

    if (status != NM_OK)
        return status;
    token->offset = reader->offset + reader->at;
    reader->has_one = true;
    if (c == '{' || c == '[') {
        token->kind = c == '{' ? NM_JSON_OBJECT : NM_JSON_LIST;
        return enter(reader, c == '[', err);
    }
    if (c == '"') {
        token->kind = NM_JSON_TEXT;
        return read_text(reader, err);
    }
    if (c == '-' || (c >= '0' && c <= '9')) {
        token->kind = NM_JSON_NUMBER;
        return read_number(reader, token->offset, err);
    }
    if (c != 't' && c != 'f' && c != 'n')
        return refuse(reader, c, "a value", err);
    token->kind = c == 't' ? NM_JSON_TRUE : c == 'f' ? NM_JSON_FALSE : NM_JSON_NULL;
    return read_word(reader, c == 't' ? "true" : c == 'f' ? "false" : "null", err);
}

/* Where an object or a list ends, *is_end is set; else passes what stands in front of its next value: a comma, a name. */
static nm_status read_place(nm_json_reader *reader, nm_json_token *token, bool *is_end, nm_error *err)
{
    bool is_list = is_in_list(reader);
    int c;
    nm_status status = look_past_blanks(reader, &c, err);

    *is_end = status == NM_OK && c == (is_list ? ']' : '}');
    if (*is_end) {
        *token = (nm_json_token){.kind = is_list ? NM_JSON_LIST_END : NM_JSON_OBJECT_END,
                                 .offset = reader->offset + reader->at};
        reader->at++;
        reader->depth--;
        reader->has_one = true;
    }
    if (status != NM_OK || *is_end)
        return status;
    if (reader->has_one)
        status = take(reader, ',', "a comma or the end", err);
    if (status == NM_OK && !is_list && (status = read_text(reader, err)) == NM_OK)
        status = take(reader, ':', "a colon", err);
    return status;
}

nm_status nm_json_next(nm_json_reader *reader, nm_json_token *token, nm_error *err)
{
    nm_status status = NM_OK;
    bool has_name = reader->depth > 0 && !is_in_list(reader), is_end = false;
    int c;

    *token = (nm_json_token){0};
    reader->text.len = 0;
    if (reader->depth == 0 && reader->has_one) {
        status = look_past_blanks(reader, &c, err);
        return status != NM_OK ? status : c == AT_END ? NM_END : refuse(reader, c, "the end", err);
    }
    if (reader->depth > 0)
        status = read_place(reader, token, &is_end, err);
    if (status != NM_OK || is_end)
        return status;

    size_t name_len = reader->text.len;
    if ((status = read_value(reader, token, err)) != NM_OK)
        return status;
    const uint8_t *text = reader->text.data == NULL ? (const uint8_t *)"" : reader->text.data;
    if (has_name)
        token->name = (nm_bytes){text, name_len};
    token->text = (nm_bytes){text + name_len, reader->text.len - name_len};
    return NM_OK;
}

nm_status nm_json_pass(nm_json_reader *reader, const nm_json_token *token, nm_error *err)
{
    nm_status status = NM_OK;
    nm_json_token inner;

    if (token->kind != NM_JSON_OBJECT && token->kind != NM_JSON_LIST)
        return NM_OK;
    unsigned outer = reader->depth - 1;
    reader->is_passing = true;
    while (status == NM_OK && reader->depth > outer)
        status = nm_json_next(reader, &inner, err);
    reader->is_passing = false;
    return status;
}

bool nm_json_is(nm_bytes text, const char *word)
{
    return text.data != NULL && text.len == strlen(word) && memcmp(text.data, word, text.len) == 0;
}

bool nm_json_get_int(const nm_json_token *token, int64_t *value)
{
    char digits[NUMBER_BYTES_MAX];

    if (token->kind != NM_JSON_NUMBER)
        return false;
    memcpy(digits, token->text.data, token->text.len);
    digits[token->text.len] = 0;
    errno = 0;
    *value = strtoll(digits, NULL, 10);
    return errno == 0 && digits[strcspn(digits, ".eE")] == 0;
}
