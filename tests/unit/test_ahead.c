/* SPDX-License-Identifier: Apache-2.0
 *
 * What is read ahead is what is there: the same records with the same bytes, the end or the error behind them, however long
 * strings are and wherever the reader stops. The source is made up: each record follows from its number.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/ahead.h"

typedef struct made_source {
    nm_source base;
    uint64_t at, count;
    size_t longest; /* string */
    nm_status end;
    char *text; /* of the string given last: gone with the next call */
} made_source;

static int closed_count;
static nm_error err;

static bool is_string(uint64_t number)
{
    return number % 3 == 0;
}

/* Strings, and modules, which borrow theirs. */
static nm_definition_kind kind_of(uint64_t number)
{
    return number % 2 == 0 ? NM_DEFINE_STRING : NM_DEFINE_MODULE;
}

static nm_bytes *bytes_of(nm_definition *definition)
{
    return definition->kind == NM_DEFINE_STRING ? &definition->string : &definition->module.build_id;
}

static size_t length_of(const made_source *source, uint64_t number)
{
    return (size_t)(number * 2654435761u % (source->longest + 1));
}

static nm_status made_next(nm_source *base, nm_record *out, nm_error *error)
{
    made_source *source = (made_source *)base;
    uint64_t number = source->at;

    free(source->text);
    source->text = NULL;
    if (number == source->count)
        return source->end == NM_END ? NM_END : nm_fail(error, source->end, 77, "it breaks here");
    source->at++;
    *out = (nm_record){.kind = NM_RECORD_EVENT, .event = {.seq = number, .time_ns = (int64_t)number * 3}};
    if (!is_string(number))
        return NM_OK;
    size_t length = length_of(source, number);
    source->text = malloc(length + 1);
    ck_assert_ptr_nonnull(source->text);
    memset(source->text, (int)('a' + number % 26), length);
    *out = (nm_record){.kind = NM_RECORD_DEFINITION, .definition = {.kind = kind_of(number), .id = number}};
    *bytes_of(&out->definition) = (nm_bytes){(const uint8_t *)source->text, length};
    return NM_OK;
}

static void made_summary(const nm_source *base, nm_source_summary_data *out)
{
    *out = (nm_source_summary_data){.events_ingested = ((const made_source *)base)->at};
}

static uint64_t made_position(const nm_source *base)
{
    return ((const made_source *)base)->at;
}

static void made_close(nm_source *base)
{
    free(((made_source *)base)->text);
    free(base);
    closed_count++;
}

static const nm_source_type made_type = {
    .name = "made", .next = made_next, .summary = made_summary, .position = made_position, .close = made_close};

static nm_source *make(uint64_t count, size_t longest, nm_status end)
{
    made_source *source = calloc(1, sizeof *source);

    ck_assert_ptr_nonnull(source);
    *source = (made_source){.base.type = &made_type, .count = count, .longest = longest, .end = end};
    return &source->base;
}

static void check_record(nm_record *record, uint64_t number, size_t longest)
{
    made_source like = {.longest = longest};

    if (!is_string(number)) {
        ck_assert_int_eq(record->kind, NM_RECORD_EVENT);
        ck_assert_uint_eq(record->event.seq, number);
        ck_assert_int_eq(record->event.time_ns, (int64_t)number * 3);
        return;
    }
    ck_assert_int_eq(record->kind, NM_RECORD_DEFINITION);
    ck_assert_uint_eq(record->definition.id, number);
    ck_assert_uint_eq(record->definition.kind, kind_of(number));
    nm_bytes bytes = *bytes_of(&record->definition);
    ck_assert_uint_eq(bytes.len, length_of(&like, number));
    for (size_t i = 0; i < bytes.len; i++)
        ck_assert_int_eq(bytes.data[i], (int)('a' + number % 26));
}

static void read_all(uint64_t count, size_t longest, nm_status end)
{
    nm_source *source = make(count, longest, end);
    nm_source_summary_data summary;
    nm_record record;
    nm_status status;
    uint64_t number = 0;

    ck_assert_int_eq(nm_source_read_ahead(&source, &err), NM_OK);
    for (; (status = nm_source_next(source, &record, &err)) == NM_OK; number++)
        check_record(&record, number, longest);
    ck_assert_uint_eq(number, count);
    ck_assert_int_eq(status, end);
    ck_assert_int_eq(nm_source_next(source, &record, &err), end); /* and again */
    if (end != NM_END) {
        ck_assert_str_eq(err.text, "it breaks here");
        ck_assert_uint_eq(err.offset, 77);
    }
    nm_source_summary(source, &summary);
    ck_assert_uint_eq(summary.events_ingested, count);
    ck_assert_uint_eq(nm_source_position(source), count);
    nm_source_close(source);
}

START_TEST(every_record_comes_in_its_place)
{
    static const uint64_t counts[] = {0, 1, 2, 255, 256, 257, 2047, 2048, 2049, 5000};

    closed_count = 0;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        read_all(counts[i], 40, NM_END);
        read_all(counts[i], 40, NM_ERR_FORMAT);
    }
    ck_assert_int_eq(closed_count, 2 * (int)(sizeof counts / sizeof counts[0]));
}
END_TEST

/* Longer than what a batch has for strings, in part. */
START_TEST(long_strings_come_whole)
{
    read_all(500, 3000, NM_END);
    read_all(60, 300000, NM_END);
}
END_TEST

START_TEST(it_may_be_closed_anywhere)
{
    closed_count = 0;
    for (uint64_t stop = 0; stop < 3000; stop += 97) {
        nm_source *source = make(1000000, 40, NM_END);
        nm_record record;

        ck_assert_int_eq(nm_source_read_ahead(&source, &err), NM_OK);
        for (uint64_t number = 0; number < stop; number++) {
            ck_assert_int_eq(nm_source_next(source, &record, &err), NM_OK);
            check_record(&record, number, 40);
        }
        nm_source_close(source);
        ck_assert_int_eq(closed_count, (int)(stop / 97) + 1);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ahead");
    TCase *cases = tcase_create("ahead");

    tcase_add_test(cases, every_record_comes_in_its_place);
    tcase_add_test(cases, long_strings_come_whole);
    tcase_add_test(cases, it_may_be_closed_anywhere);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
