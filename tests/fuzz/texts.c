/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts of others: JSON, CSV, and what is written by hand into files and on command lines: rules, settings, sizes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/quantity.h"
#include "fuzz/target.h"
#include "sites/patterns.h"
#include "source/csv_rows.h"
#include "source/input.h"
#include "whatif/settings.h"

/* ---- JSON ---- */

typedef struct tokens {
    uint64_t count, checksum;
} tokens;

static nm_status read_tokens(nm_json_reader *reader, tokens *out, nm_error *err)
{
    nm_json_token token;
    nm_status status;

    while ((status = nm_json_next(reader, &token, err)) == NM_OK) {
        int64_t value;

        FUZZ_REQUIRE(token.kind <= NM_JSON_NULL);
        out->count++;
        out->checksum = out->checksum * 31 + token.kind + 7 * token.text.len + 11 * token.name.len;
        nm_json_get_int(&token, &value);
        for (size_t i = 0; i < token.text.len; i++)
            out->checksum += token.text.data[i];
    }
    return status;
}

static nm_status read_file(void *context, void *data, size_t len, size_t *got, nm_error *err)
{
    nm_bytes *rest = context;

    (void)err;
    *got = len < rest->len ? len : rest->len;
    if (*got > 0)
        memcpy(data, rest->data, *got);
    *rest = (nm_bytes){rest->data + *got, rest->len - *got};
    return NM_OK;
}

/* From memory and piece by piece it says the same; what is passed over is as much JSON as what is read. */
static void read_json(nm_bytes input)
{
    nm_json_reader reader = nm_json_reader_over(input);
    nm_bytes rest = input;
    tokens first = {0}, second = {0};
    nm_json_token token;
    nm_error err = {0};
    nm_status status = read_tokens(&reader, &first, &err), other;

    fuzz_check_status(status, &err);
    nm_json_reader_free(&reader);
    reader = nm_json_reader_from(read_file, &rest);
    other = read_tokens(&reader, &second, &err);
    FUZZ_REQUIRE(status == other && first.count == second.count && first.checksum == second.checksum);
    nm_json_reader_free(&reader);
    reader = nm_json_reader_over(input);
    if (nm_json_next(&reader, &token, &err) == NM_OK && nm_json_pass(&reader, &token, &err) == NM_OK)
        FUZZ_REQUIRE(nm_json_next(&reader, &token, &err) == NM_END || status != NM_END);
    nm_json_reader_free(&reader);
}

/* What is written anew is JSON, whatever bytes its texts have. */
static void copy_json(nm_bytes input)
{
    nm_buffer once = {0}, twice = {0};
    nm_error err = {0};
    nm_json json = {.out = &once, .err = &err}, again = {.out = &twice, .err = &err};

    nm_json_copy(&json, NULL, input);
    fuzz_check_status(json.status, &err);
    if (json.status == NM_OK)
        nm_json_copy(&again, NULL, (nm_bytes){once.data, once.len});
    FUZZ_REQUIRE(again.status == NM_OK);
    nm_buffer_free(&once);
    nm_buffer_free(&twice);
}

static void take_json(nm_bytes input)
{
    read_json(input);
    copy_json(input);
}

/* ---- CSV ---- */

static void take_csv(nm_bytes input)
{
    static const char *const columns[] = {"Name", "Size(KB)", "Address"};
    static const char *const needed[] = {"Name", NULL};
    nm_input *file = NULL;
    nm_csv_rows *rows = NULL;
    const nm_cell *cells;
    nm_error err = {0};
    nm_status status = nm_input_open(fuzz_file_of(input, 0), (nm_bytes){0}, &file, &err);

    nm_csv_has_columns(input, needed);
    if (status == NM_OK)
        status = nm_csv_rows_open(file, columns, 3, &rows, &err);
    while (status == NM_OK && (status = nm_csv_rows_next(rows, &cells, &err)) == NM_OK)
        for (int i = 0; i < 3; i++) {
            int64_t value;
            uint64_t address;

            nm_cell_get(&cells[i], 1000000, &value);
            nm_cell_get_address(&cells[i], &address);
            nm_cell_is_rounded(&cells[i]);
            FUZZ_REQUIRE(nm_cell_text(&cells[i]).len <= input.len);
        }
    fuzz_check_status(status, &err);
    nm_csv_rows_close(rows);
    nm_input_close(file);
}

/* ---- Rules and settings ---- */

static char *text_of(nm_bytes input)
{
    char *text = malloc(input.len + 1);

    FUZZ_REQUIRE(text != NULL);
    if (input.len > 0)
        memcpy(text, input.data, input.len);
    text[input.len] = 0;
    return text;
}

static void take_site_rules(nm_bytes input)
{
    nm_pattern_subject subject = {.texts = {"f", "/a/b.py", "lib.so", "b.py", "f", "/a/b.py", "/a/b.py", "b"},
                                  .is_python = true};
    nm_patterns patterns = {0};
    nm_error err = {0};
    nm_status status = nm_patterns_parse(&patterns, input, &err);

    fuzz_check_status(status, &err);
    if (status == NM_OK)
        nm_patterns_match(&patterns, (1u << NM_PATTERN_TARGET_COUNT) - 1, &subject);
    else
        FUZZ_REQUIRE(err.offset <= input.len);
    nm_patterns_free(&patterns);
}

/* What is written of settings is read as the same. */
static void take_settings(const char *text)
{
    char written[NM_SETTINGS_BYTES], again[NM_SETTINGS_BYTES];
    nm_error err = {0};

    for (int is_npu = 0; is_npu < 2; is_npu++) {
        nm_caching_settings settings = nm_caching_settings_default(is_npu == 1);
        nm_caching_settings other = settings;
        nm_status status = nm_caching_settings_parse(text, &settings, &err);

        fuzz_check_status(status, &err);
        if (status != NM_OK)
            continue;
        nm_caching_settings_write(&settings, written);
        status = nm_caching_settings_parse(written, &other, &err);
        if (status != NM_OK)
            fuzz_fail("what was written is refused", __FILE__, __LINE__, err.text);
        nm_caching_settings_write(&other, again);
        FUZZ_REQUIRE(strcmp(written, again) == 0);
    }
    nm_bucket_settings bucket = nm_bucket_settings_default();
    fuzz_check_status(nm_bucket_settings_parse(text, &bucket, &err), &err);
}

static void take_quantities(const char *text)
{
    uint64_t value = 0;
    double ratio = 0;
    nm_error err = {0};
    nm_status status = nm_quantity_size(text, &value, &err);

    fuzz_check_status(status, &err);
    FUZZ_REQUIRE(status != NM_OK || value <= NM_QUANTITY_BYTES_MAX);
    fuzz_check_status(nm_quantity_bare_size(text, &value, &err), &err);
    status = nm_quantity_ratio(text, 1, &ratio, &err);
    fuzz_check_status(status, &err);
    FUZZ_REQUIRE(status != NM_OK || (ratio >= 0 && ratio <= 1));
    status = nm_quantity_time(text, 1000000000, &value, &err);
    fuzz_check_status(status, &err);
    FUZZ_REQUIRE(status != NM_OK || value <= NM_QUANTITY_NS_MAX);
}

static void take_rules(nm_bytes input)
{
    char *text = text_of(input);

    take_site_rules(input);
    take_settings(text);
    take_quantities(text);
    free(text);
}

FUZZ_TARGET(json, .run = take_json)
FUZZ_TARGET(csv, .run = take_csv)
FUZZ_TARGET(rules, .run = take_rules)
