/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON, out and in. What a reader says of a text is written down as events and compared with what RFC 8259 says it is.
 */
#include "base/json.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/suites.h"

static nm_error err;

/* ---- Reader -------------------------------------------------------------------------------------------------------- */

typedef struct slow_input {
    const char *text;
    size_t len, at;
} slow_input;

static nm_status read_slow(void *context, void *data, size_t len, size_t *got, nm_error *unused)
{
    slow_input *input = context;

    (void)unused;
    *got = input->len - input->at < len ? input->len - input->at : len;
    memcpy(data, input->text + input->at, *got);
    input->at += *got;
    return NM_OK;
}

/* "{a=1 b=[x ] }": all tokens, a blank behind each; texts in quotes as they are. */
static nm_status tell(nm_json_reader *reader, char *out, size_t size)
{
    static const char kinds[] = "{}[]";
    nm_json_token token;
    nm_status status;
    size_t at = 0;

    out[0] = 0;
    while ((status = nm_json_next(reader, &token, &err)) == NM_OK) {
        if (token.name.data != NULL)
            at += (size_t)snprintf(out + at, size - at, "%.*s=", (int)token.name.len, (const char *)token.name.data);
        if (token.kind <= NM_JSON_LIST_END)
            at += (size_t)snprintf(out + at, size - at, "%c ", kinds[token.kind]);
        else if (token.kind == NM_JSON_TEXT)
            at += (size_t)snprintf(out + at, size - at, "'%.*s' ", (int)token.text.len, (const char *)token.text.data);
        else if (token.kind == NM_JSON_NUMBER)
            at += (size_t)snprintf(out + at, size - at, "%.*s ", (int)token.text.len, (const char *)token.text.data);
        else
            at += (size_t)snprintf(out + at, size - at, "%s ",
                                   token.kind == NM_JSON_TRUE    ? "true"
                                   : token.kind == NM_JSON_FALSE ? "false"
                                                                 : "null");
        ck_assert_uint_lt(at, size);
    }
    return status;
}

static const char *told(const char *text)
{
    static char out[4096];
    nm_json_reader reader = nm_json_reader_over((nm_bytes){(const uint8_t *)text, strlen(text)});
    nm_status status = tell(&reader, out, sizeof out);

    nm_json_reader_free(&reader);
    return status == NM_END ? out : status == NM_ERR_FORMAT ? "no JSON" : "limit";
}

START_TEST(values_are_read_as_they_stand)
{
    ck_assert_str_eq(told(" {\"a\" : 1, \"b\":[ -2.5e+3 ,true,false,null ], \"\":{} }\n"),
                     "{ a=1 b=[ -2.5e+3 true false null ] ={ } } ");
    ck_assert_str_eq(told("[]"), "[ ] ");
    ck_assert_str_eq(told("0"), "0 ");
    ck_assert_str_eq(told("\"\""), "'' ");
    ck_assert_str_eq(told("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), "'\"\\/\b\f\n\r\t' ");
    ck_assert_str_eq(told("\"\\u0041\\u00f6\\u5927\\ud83d\\uDC0D\""), "'A\xc3\xb6\xe5\xa4\xa7\xf0\x9f\x90\x8d' ");
    ck_assert_str_eq(told("\"\\ud83d\""), "'\xef\xbf\xbd' ");
    ck_assert_str_eq(told("\"\\ud83dx\\udc0d\""), "'\xef\xbf\xbdx\xef\xbf\xbd' ");
    ck_assert_str_eq(told("\"\\ud83d\\ud83d\\udc0d\\n\""), "'\xef\xbf\xbd\xf0\x9f\x90\x8d\n' ");
    ck_assert_str_eq(told("\"\xff\""), "'\xff' "); /* who shows it makes it safe */
}
END_TEST

START_TEST(what_is_no_json_is_refused)
{
    static const char *const bad[] = {
        "",       " ",       "{",         "[",           "[1",     "[1,",   "[1,]",       "[,1]",
        "{,}",    "{\"a\"}", "{\"a\":}",  "{a:1}",       "{1:1}",  "[1}",   "{]",         "1 2",
        "[] []",  "nul",     "nulll",     "True",        "01",     "-",     "1.",         ".5",
        "1e",     "1e+",     "+1",        "0x1",         "--1",    "1.2.3", "NaN",        "\"",
        "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\n\"", "'a'",   "{\"a\":1,}", "{\"a\" 1}",
        "[1 2]",  "\"a\"b",  "/* */ 1",   "]",           "}",      ":",     ",",          "\xef\xbb\xbf[]",
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_msg(strcmp(told(bad[i]), "no JSON") == 0, "'%s': %s", bad[i], told(bad[i]));
}
END_TEST

START_TEST(an_error_says_the_byte)
{
    nm_json_reader reader = nm_json_reader_over((nm_bytes){(const uint8_t *)"[1, 2, x]", 9});
    char out[64];

    ck_assert_int_eq(tell(&reader, out, sizeof out), NM_ERR_FORMAT);
    ck_assert_uint_eq(err.offset, 7);
    nm_json_reader_free(&reader);
}
END_TEST

START_TEST(depth_and_length_have_limits)
{
    char text[NM_JSON_DEPTH_MAX + 2] = {0};
    nm_json_token token;
    nm_buffer long_text = {0};

    memset(text, '[', NM_JSON_DEPTH_MAX);
    ck_assert_str_eq(told(text), "no JSON"); /* deep, and not ended */
    text[NM_JSON_DEPTH_MAX] = '[';
    ck_assert_str_eq(told(text), "limit");

    ck_assert_int_eq(nm_buffer_reserve(&long_text, NM_JSON_TEXT_BYTES_MAX + 5, &err), NM_OK);
    memset(long_text.data, 'x', NM_JSON_TEXT_BYTES_MAX + 5);
    memcpy(long_text.data, "[\"", 2);
    memcpy(long_text.data + NM_JSON_TEXT_BYTES_MAX + 3, "\"]", 2);
    long_text.len = NM_JSON_TEXT_BYTES_MAX + 5;
    for (int is_passed = 0; is_passed < 2; is_passed++) {
        nm_json_reader reader = nm_json_reader_over((nm_bytes){long_text.data, long_text.len});

        ck_assert_int_eq(nm_json_next(&reader, &token, &err), NM_OK);
        if (is_passed)
            ck_assert_int_eq(nm_json_pass(&reader, &token, &err), NM_OK);
        ck_assert_int_eq(nm_json_next(&reader, &token, &err), is_passed ? NM_END : NM_ERR_LIMIT);
        nm_json_reader_free(&reader);
    }
    nm_buffer_free(&long_text);
}
END_TEST

/* The text lies across the end of the first chunk, at each place in turn. */
START_TEST(chunks_may_end_anywhere)
{
    static const char inner[] = "{\"key\\u00f6\":[-12.5e1,\"\\ud83d\\udc0d\",null]}";
    size_t chunk = 65536, inner_len = strlen(inner);
    char *text = malloc(chunk + inner_len + 1), out[128];

    ck_assert_ptr_nonnull(text);
    for (size_t before = 0; before <= inner_len; before++) {
        memset(text, ' ', chunk - before);
        strcpy(text + chunk - before, inner);
        slow_input input = {text, strlen(text), 0};
        nm_json_reader reader = nm_json_reader_from(read_slow, &input);

        ck_assert_int_eq(tell(&reader, out, sizeof out), NM_END);
        ck_assert_str_eq(out, "{ key\xc3\xb6=[ -12.5e1 '\xf0\x9f\x90\x8d' null ] } ");
        nm_json_reader_free(&reader);
    }
    free(text);
}
END_TEST

START_TEST(a_value_is_passed_over_whole)
{
    static const char text[] = "{\"a\":{\"b\":[1,{\"c\":\"]}\"}]},\"d\":7}";
    nm_json_reader reader = nm_json_reader_over((nm_bytes){(const uint8_t *)text, strlen(text)});
    nm_json_token token;
    int64_t value;

    ck_assert_int_eq(nm_json_next(&reader, &token, &err), NM_OK);
    ck_assert_int_eq(nm_json_next(&reader, &token, &err), NM_OK);
    ck_assert(nm_json_is(token.name, "a"));
    ck_assert_uint_eq(token.offset, 5);
    ck_assert_int_eq(nm_json_pass(&reader, &token, &err), NM_OK);
    ck_assert_int_eq(nm_json_next(&reader, &token, &err), NM_OK);
    ck_assert(nm_json_is(token.name, "d") && nm_json_get_int(&token, &value));
    ck_assert_int_eq(value, 7);
    ck_assert_int_eq(nm_json_pass(&reader, &token, &err), NM_OK); /* a number has no rest */
    ck_assert_int_eq(nm_json_next(&reader, &token, &err), NM_OK);
    ck_assert_int_eq(token.kind, NM_JSON_OBJECT_END);
    ck_assert_int_eq(nm_json_next(&reader, &token, &err), NM_END);
    nm_json_reader_free(&reader);
}
END_TEST

START_TEST(a_whole_number_fits_or_is_none)
{
    static const struct {
        const char *text;
        bool is_int;
        int64_t value;
    } cases[] = {
        {"0", true, 0},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775808", false, 0},
        {"1.0", false, 0},
        {"1e3", false, 0},
        {"\"7\"", false, 0},
        {"null", false, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nm_json_reader reader = nm_json_reader_over((nm_bytes){(const uint8_t *)cases[i].text, strlen(cases[i].text)});
        nm_json_token token;
        int64_t value = 0;

        ck_assert_int_eq(nm_json_next(&reader, &token, &err), NM_OK);
        ck_assert_msg(nm_json_get_int(&token, &value) == cases[i].is_int, "%s", cases[i].text);
        ck_assert(!cases[i].is_int || value == cases[i].value);
        nm_json_reader_free(&reader);
    }
}
END_TEST

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

/* A document with a few characters replaced says the same whole and behind a chunk's end, and never reads past its bytes. */
START_TEST(altered_documents_are_told_alike_however_they_come)
{
    static const char document[] =
        "{\"a\":[1,-2.5e+3,true,false,null,{}],\"\\ud83d\\udc0d\":\"\\u00f6x\\n\",\"c\":{\"d\":[[]]}}";
    static const char alphabet[] = "{}[]\",:\\u0123eE+-.dtfn \x01\xff";
    size_t len = strlen(document), chunk = 65536, whole_count = 0;
    char *padded = malloc(chunk + len), *text = malloc(len), out[2][4096];

    ck_assert(padded != NULL && text != NULL);
    memset(padded, ' ', chunk);
    for (int round = 0; round < 4000; round++) {
        size_t before = chunk - next_random(len);

        memcpy(text, document, len);
        for (uint64_t changes = next_random(4); changes > 0; changes--)
            text[next_random(len)] = alphabet[next_random(sizeof alphabet - 1)];
        memcpy(padded + before, text, len);
        memset(padded + chunk - len, ' ', before - (chunk - len));
        slow_input input = {padded, before + len, 0};
        nm_json_reader readers[] = {nm_json_reader_over((nm_bytes){(const uint8_t *)text, len}),
                                    nm_json_reader_from(read_slow, &input)};
        nm_status status[2];

        for (int i = 0; i < 2; i++) {
            status[i] = tell(&readers[i], out[i], sizeof out[i]);
            nm_json_reader_free(&readers[i]);
        }
        ck_assert_int_eq(status[0], status[1]);
        ck_assert_str_eq(out[0], out[1]);
        whole_count += status[0] == NM_END;
    }
    ck_assert_uint_gt(whole_count, 1000); /* a fourth is not altered */
    free(padded);
    free(text);
}
END_TEST

/* ---- Writer -------------------------------------------------------------------------------------------------------- */

START_TEST(what_is_written_is_json)
{
    nm_buffer out = {0};
    nm_json json = {.out = &out, .err = &err};

    nm_json_begin(&json, NULL, '{');
    nm_json_int(&json, "least", INT64_MIN);
    nm_json_real(&json, "tenth", 0.1);
    nm_json_real(&json, "third", 1.0 / 3);
    nm_json_real(&json, "none", 0.0 / 0.0);
    nm_json_begin(&json, "list", '[');
    nm_json_begin(&json, NULL, '{');
    nm_json_end(&json, '}');
    nm_json_bool(&json, NULL, true);
    nm_json_null(&json, NULL);
    nm_json_text(&json, NULL, NULL);
    nm_json_end(&json, ']');
    nm_json_text(&json, "a\"b", "\033[1m\n\\ \xff \xe5\xa4\xa7 \xe2\x80\xae");
    nm_json_value(&json, "id", (nm_bytes){(const uint8_t *)"[1]", 3});
    nm_json_end(&json, '}');
    ck_assert_int_eq(json.status, NM_OK);
    ck_assert_int_eq(nm_buffer_append(&out, "", 1, &err), NM_OK);
    ck_assert_str_eq((const char *)out.data,
                     "{\"least\":-9223372036854775808,\"tenth\":0.1,\"third\":0.3333333333333333,\"none\":null,"
                     "\"list\":[{},true,null,null],\"a\\\"b\":\"\\u001b[1m\\u000a\\\\ \\ufffd \xe5\xa4\xa7 \\u202e\","
                     "\"id\":[1]}");
    nm_buffer_free(&out);
}
END_TEST

/* Copies `text` as the member "x"; "" where the writer says that it is no JSON. */
static const char *copied(const char *text, char *out, size_t size)
{
    nm_buffer buffer = {0};
    nm_json json = {.out = &buffer, .err = &err};

    nm_json_begin(&json, NULL, '{');
    nm_json_copy(&json, "x", (nm_bytes){(const uint8_t *)text, strlen(text)});
    nm_json_bool(&json, "y", true);
    nm_json_end(&json, '}');
    snprintf(out, size, "%.*s", json.status == NM_OK ? (int)buffer.len : 0, (const char *)buffer.data);
    nm_buffer_free(&buffer);
    return out;
}

START_TEST(json_of_others_is_written_anew)
{
    char out[256];

    ck_assert_str_eq(copied(" [ 1e2, {\"a\\u0062\" : [ ] ,\"\":null}, \"\\u0007\", -0, true]", out, sizeof out),
                     "{\"x\":[1e2,{\"ab\":[],\"\":null},\"\\u0007\",-0,true],\"y\":true}");
    ck_assert_str_eq(copied("7", out, sizeof out), "{\"x\":7,\"y\":true}");
    ck_assert_str_eq(copied("[1", out, sizeof out), "");
    ck_assert_str_eq(copied("1},{", out, sizeof out), "");
    ck_assert_str_eq(copied("", out, sizeof out), "");
}
END_TEST

TEST_SUITE(test_json)
{
    Suite *suite = suite_create("json");
    TCase *cases = tcase_create("reader and writer");

    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, values_are_read_as_they_stand);
    tcase_add_test(cases, what_is_no_json_is_refused);
    tcase_add_test(cases, an_error_says_the_byte);
    tcase_add_test(cases, depth_and_length_have_limits);
    tcase_add_test(cases, chunks_may_end_anywhere);
    tcase_add_test(cases, a_value_is_passed_over_whole);
    tcase_add_test(cases, a_whole_number_fits_or_is_none);
    tcase_add_test(cases, altered_documents_are_told_alike_however_they_come);
    tcase_add_test(cases, what_is_written_is_json);
    tcase_add_test(cases, json_of_others_is_written_anew);
    suite_add_tcase(suite, cases);
    return suite;
}
