/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows as rows.def declares them: what the replay gives comes back from the tables as far as they say it, for every kind,
 * and every table of the schema has its rows declared, or is known to be made otherwise.
 */
#include <check.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/passes.h"
#include "base/io.h"
#include "base/strings.h"
#include "replay/replay.h"
#include "rows/words.h"
#include "store/loader.h"
#include "store/loader_rows.h"
#include "store/row_read.h"
#include "store/schema.h"
#include "support/load_text.h"
#include "support/row_list.h"
#include "support/suites.h"
#include "support/text_trace.h"

#define INPUT_EVENTS 1000

static sqlite3 *db;
static nm_loader loader;
static nm_row_list given, back;
static nm_error err;
static size_t row_counts[NM_ROW_KINDS]; /* compared */
static nm_strings texts;                /* of the rows */

/* ---- Rows that can be compared: what their tables say, and nothing else -------------------------------------------- */

static bool is_told(const nm_row_column *column)
{
    static const nm_column_as not_told[] = {NM_AS_STRING, /* its number is another one */
                                            NM_AS_LITERAL,  NM_AS_NAME,  NM_AS_BYTE_MS,
                                            NM_AS_COMPUTED, NM_AS_POLICY}; /* of some heaps alone */

    for (size_t i = 0; i < sizeof not_told / sizeof not_told[0]; i++)
        if (column->kind.as == not_told[i])
            return false;
    return column->kind.as == NM_AS_STREAM || !column->kind.is_of_sum; /* not told where it is not defined */
}

static void keep_column(const nm_row_column *column, bool is_null, const char *row, char *out)
{
    const nm_column_kind *kind = &column->kind;
    static const char zero[sizeof(uint64_t)];

    if (column->flag_bytes != 0)
        out[column->flag_offset] = memcmp(row + column->flag_offset, zero, column->flag_bytes) != 0;
    if (!is_told(column))
        return;
    if (kind->as == NM_AS_STREAM) {
        memcpy(out + kind->beside_offset, row + kind->beside_offset, kind->beside_bytes);
        is_null = memcmp(row + kind->beside_offset, zero, kind->beside_bytes) == 0;
    }
    if (is_null && kind->null == NM_NULL_LEAST)
        *(int64_t *)(void *)(out + column->offset) = NM_NULL;
    else if (!is_null && kind->as == NM_AS_LINE)
        strcpy(out + column->offset, row + column->offset);
    else if (!is_null)
        memcpy(out + column->offset, row + column->offset, column->bytes); /* of a text a number: number_text */
    if (kind->as == NM_AS_RATIO && *(const double *)(const void *)(row + column->offset) < 0)
        *(double *)(void *)(out + column->offset) = -1;
}

static void keep(nm_row_kind kind, void *row)
{
    const nm_row_table *table = &nm_row_tables[kind];
    const nm_row_column *columns = table->list();
    uint64_t nulls = table->nulls(row);
    char *copy = malloc(table->row_bytes);

    memcpy(copy, row, table->row_bytes);
    memset(row, 0, table->row_bytes);
    for (size_t i = 0; columns[i].name != NULL; i++)
        keep_column(&columns[i], nulls >> i & 1, copy, row);
    free(copy);
}

static size_t row_bytes; /* of those that are compared at the moment */

static int compare_rows(const void *a, const void *b)
{
    return memcmp(a, b, row_bytes);
}

/* The rows of a table in any order: those that were given, and those that came back. */
static void compare_lists(const char *trace, nm_row_kind kind, void *a, size_t a_count, void *b, size_t b_count)
{
    ck_assert_msg(a_count == b_count, "%s: %zu rows of %s were given, and %zu came back", trace, a_count,
                  nm_row_tables[kind].name, b_count);
    row_counts[kind] += a_count;
    if (a_count == 0)
        return;
    qsort(a, a_count, row_bytes, compare_rows);
    qsort(b, b_count, row_bytes, compare_rows);
    for (size_t i = 0; i < a_count; i++)
        ck_assert_msg(memcmp((char *)a + i * row_bytes, (char *)b + i * row_bytes, row_bytes) == 0,
                      "%s: row %zu of table %s is another one", trace, i, nm_row_tables[kind].name);
}

/* A sample of a heap may come twice; the later one holds. */
static void forget_replaced(void)
{
    nm_heap_sample_row *rows = given.heap_sample.items;
    size_t kept = 0;

    for (size_t i = 0; i < given.heap_sample.count; i++) {
        bool is_last = true;

        for (size_t j = i + 1; j < given.heap_sample.count && is_last; j++)
            is_last = rows[i].heap_id != rows[j].heap_id || rows[i].since_seq != rows[j].since_seq;
        if (is_last)
            rows[kept++] = rows[i];
    }
    given.heap_sample.count = kept;
}

static void compare_all(const char *trace)
{
    forget_replaced();
#define CASE_NONE(name, NAME)
#define CASE_MANY(name, NAME) CASE_ONE(name, NAME)
#define CASE_ONE(name, NAME)                                                                                           \
    for (size_t i = 0; i < given.name.count; i++)                                                                      \
        keep(NM_ROW_##NAME, &given.name.items[i]);                                                                     \
    for (size_t i = 0; i < back.name.count; i++)                                                                       \
        keep(NM_ROW_##NAME, &back.name.items[i]);                                                                      \
    row_bytes = sizeof(nm_##name##_row);                                                                               \
    compare_lists(trace, NM_ROW_##NAME, given.name.items, given.name.count, back.name.items, back.name.count);
#define ROW(name, NAME, table, writer) CASE_##writer(name, NAME)
#include "rows/rows.def"
}

/* ---- Loads --------------------------------------------------------------------------------------------------------- */

/* A text that is gone after the call becomes its number, and NULL stays. */
static void number_text(nm_bytes *text)
{
    uint32_t number = 0;

    if (text == NULL || text->data == NULL)
        return;
    ck_assert_int_eq(nm_strings_intern(&texts, *text, &number, NULL), NM_OK);
    text->data = (const uint8_t *)(uintptr_t)number;
}

static nm_status keep_row(nm_row_list *list, nm_row_kind kind, const void *row, nm_error *error)
{
    nm_sink sink = nm_row_list_sink(list);
    nm_status status = nm_give(&sink, kind, row, error);

    if (status != NM_OK)
        return status;
    switch (kind) {
#define ROW(name, NAME, table, writer)                                                                                 \
    case NM_ROW_##NAME: {                                                                                              \
        nm_##name##_row *kept = &list->name.items[list->name.count - 1];
#define MEMBER(kind, name) number_text(_Generic(kept->name, nm_bytes : &kept->name, default : NULL));
#define END(name, writer)                                                                                              \
    }                                                                                                                  \
    break;
#include "rows/rows.def"
    default:
        break;
    }
    return NM_OK;
}

static nm_status take_back(void *context, nm_row_kind kind, const void *row, nm_error *error)
{
    return keep_row(context, kind, row, error);
}

static nm_status take_twice(void *context, nm_row_kind kind, const void *row, nm_error *error)
{
    nm_status status = keep_row(&given, kind, row, error);

    (void)context;
    return status == NM_OK ? nm_loader_take(&loader, kind, row, error) : status;
}

static void replay(const char *text)
{
    nm_sink sink = nm_sink_of_all(NULL, take_twice);
    nm_text_trace *trace = NULL;
    nm_replay *made = NULL;
    nm_record record;
    nm_status status = nm_text_trace_open(text, &trace, &err);

    if (status == NM_OK)
        status = nm_replay_new(&sink, nm_passes, &made, &err);
    while (status == NM_OK && (status = nm_text_trace_next(trace, &record, &err)) == NM_OK)
        status = nm_replay_record(made, &record, &err);
    ck_assert_msg(status == NM_END, "%s", err.text);
    ck_assert_msg(nm_replay_finish(made, &err) == NM_OK, "%s", err.text);
    nm_replay_free(made);
    nm_text_trace_close(trace);
}

/* What none of the text traces leads to. */
static void give_others(void)
{
    nm_sink sink = nm_sink_of_all(NULL, take_twice);
    nm_step_anchor_row anchor = {.process_id = 1,
                                 .kind = NM_ANCHOR_RANGE,
                                 .is_given = true,
                                 .step_count = 3,
                                 .recur_count = 4,
                                 .regular_ratio = 0.5,
                                 .allocation_count = NM_UNKNOWN_NUMBER,
                                 .reason = {"it recurs"}};
    nm_pause_row pause = {
        .process_id = 1, .begin_seq = 1, .begin_ns = 2, .end_seq = 3, .end_ns = 4, .is_end_known = true};
    nm_site_floor_row floor = {.minute = 2, .floor_bytes = 3};
    nm_module_row module = {.module_id = 1, .process_id = 1, .build_id = {(const uint8_t *)"ab", 2}, .address = 16};
    nm_wrapper_row wrapper = {.heap_id = 1, .function = {(const uint8_t *)"take", 4}};
    nm_left_out_row left_out = {.last_allocation_id = 4, .last_workspace_id = 5, .allocation_count = 6};

    ck_assert_int_eq(nm_give_step_anchor(&sink, &anchor, &err), NM_OK);
    ck_assert_int_eq(nm_give_pause(&sink, &pause, &err), NM_OK);
    pause.begin_seq = 5;
    pause.end_seq = NM_NO_SEQ; /* then it says nothing of its end */
    ck_assert_int_eq(nm_give_pause(&sink, &pause, &err), NM_OK);
    ck_assert_int_eq(nm_give_site_floor(&sink, &floor, &err), NM_OK);
    ck_assert_int_eq(nm_give_module(&sink, &module, &err), NM_OK);
    ck_assert_int_eq(nm_give_wrapper(&sink, &wrapper, &err), NM_OK);
    ck_assert_int_eq(nm_give_left_out(&sink, &left_out, &err), NM_OK);
}

static void open_loader(void)
{
    ck_assert_int_eq(nm_db_open(":memory:", &db, &err), NM_OK);
    ck_assert_int_eq(nm_schema_apply(db, NM_SCHEMA_TABLES, &err), NM_OK);
    ck_assert_msg(nm_loader_open(db, NM_RETENTION_ALL, &(nm_bulk_options){.is_plain = true}, &loader, &err) == NM_OK,
                  "%s", err.text);
}

static void close_loader(void)
{
    nm_loader_close(&loader);
    sqlite3_close(db);
    nm_row_list_free(&given);
    nm_row_list_free(&back);
    nm_strings_free(&texts);
}

static void check_trace(const char *path)
{
    nm_input_row input = load_whole_input(INPUT_EVENTS);
    nm_buffer text = {0};
    nm_sink list = nm_sink_of_all(&back, take_back);
    int fd = -1;

    open_loader();
    ck_assert_int_eq(nm_io_open(path, O_RDONLY, 0, &fd, &err), NM_OK);
    ck_assert_msg(nm_io_read_all(fd, 1 << 24, &text, &err) == NM_OK, "%s: %s", path, err.text);
    close(fd);
    ck_assert_int_eq(nm_buffer_append(&text, "", 1, &err), NM_OK);
    replay((const char *)text.data);
    give_others();
    loader.sink = nm_sink_of_all(NULL, take_twice);
    ck_assert_msg(nm_loader_finish(&loader, &input, &err) == NM_OK, "%s: %s", path, err.text);
    ck_assert_msg(nm_schema_apply(db, NM_SCHEMA_VIEWS, &err) == NM_OK, "%s", err.text); /* allocation is one */
    for (nm_row_kind kind = 0; kind < NM_ROW_KINDS; kind++)
        if (nm_row_tables[kind].name != NULL)
            ck_assert_msg(nm_rows_give(db, kind, "", &list, &err) == NM_OK, "%s: %s", path, err.text);
    if (loader.unknown_reference_count == 0)
        compare_all(path);
    nm_buffer_free(&text);
    close_loader();
}

/* ---- Tests --------------------------------------------------------------------------------------------------------- */

START_TEST(what_was_given_comes_back_from_every_table)
{
    glob_t traces;

    ck_assert_int_eq(glob(SQL_CASES "/*/trace.txt", 0, NULL, &traces), 0);
    for (size_t i = 0; i < traces.gl_pathc; i++)
        check_trace(traces.gl_pathv[i]);
    globfree(&traces);
    for (int kind = 0; kind < NM_ROW_KINDS; kind++)
        ck_assert_msg(nm_row_tables[kind].name == NULL || row_counts[kind] > 0, "no row of table %s was compared",
                      nm_row_tables[kind].name);
}
END_TEST

START_TEST(rows_are_chosen_and_ordered)
{
    nm_sink list = nm_row_list_sink(&back);

    open_loader();
    for (int64_t ns = 1; ns <= 3; ns++)
        ck_assert_int_eq(
            nm_loader_take(&loader, NM_ROW_MEMORY_SAMPLE,
                           &(nm_memory_sample_row){.ns = ns, .used_bytes = 7, .total_bytes = (uint64_t)ns % 3}, &err),
            NM_OK);
    ck_assert_msg(nm_rows_give(db, NM_ROW_MEMORY_SAMPLE, "WHERE ns > 1 ORDER BY total_bytes DESC", &list, &err) ==
                      NM_OK,
                  "%s", err.text);
    ck_assert_uint_eq(back.memory_sample.count, 2);
    ck_assert_int_eq(back.memory_sample.items[0].ns, 2);
    ck_assert_int_eq(back.memory_sample.items[1].ns, 3);
    ck_assert_uint_eq(back.memory_sample.items[0].total_bytes, 2);
    ck_assert_uint_eq(back.memory_sample.items[0].used_bytes, 7);
    close_loader();
}
END_TEST

START_TEST(words_are_found_both_ways)
{
    ck_assert_str_eq(nm_word(&nm_graph_end_words, NM_GRAPH_RESET), "reset");
    ck_assert_uint_eq(nm_word_number(&nm_graph_end_words, "reset"), NM_GRAPH_RESET);
    ck_assert_ptr_null(nm_word(&nm_size_basis_words, 0));
    ck_assert_ptr_null(nm_word(&nm_graph_end_words, 1000));
    ck_assert_uint_eq(nm_word_number(&nm_size_basis_words, "elsewhere"), 0);
}
END_TEST

TEST_SUITE(test_rows)
{
    Suite *suite = suite_create("rows");
    TCase *tcase = tcase_create("rows");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, what_was_given_comes_back_from_every_table);
    tcase_add_test(tcase, rows_are_chosen_and_ordered);
    tcase_add_test(tcase, words_are_found_both_ways);
    suite_add_tcase(suite, tcase);
    return suite;
}
