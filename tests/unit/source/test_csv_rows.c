/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of CSV: what other tools and spreadsheets make of them, where they end, and what is too long. What is expected stands beside
 * each text, by hand.
 */
#include "source/csv_rows.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/seed.h"
#include "support/suites.h"

static const char *const names[] = {"a", "Size(KB)", "missing"};
static nm_error err;

static nm_input *input_of(const void *data, size_t len)
{
    nm_input *input = NULL;
    FILE *file = tmpfile();

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(data, 1, len, file), len);
    fflush(file);
    ck_assert_int_eq(nm_input_open(fileno(file), (nm_bytes){data, len < 64 ? len : 64}, &input, &err), NM_OK);
    return input; /* the file stays open until the end of the test */
}

/* All rows as "a|size;" each; how it ended in *status. */
static const char *read_rows(const void *data, size_t len, nm_status *status, bool *is_cut)
{
    static char text[4096];
    nm_input *input = input_of(data, len);
    nm_csv_rows *rows = NULL;
    const nm_cell *cells;

    text[0] = 0;
    *status = nm_csv_rows_open(input, names, 3, &rows, &err);
    while (*status == NM_OK && (*status = nm_csv_rows_next(rows, &cells, &err)) == NM_OK) {
        ck_assert_int_eq(cells[2].kind, NM_CELL_NONE);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%.*s|%.*s;", (int)cells[0].text.len,
                 cells[0].text.data == NULL ? "" : (const char *)cells[0].text.data,
                 cells[1].kind == NM_CELL_NONE ? 1 : (int)cells[1].text.len,
                 cells[1].kind == NM_CELL_NONE ? "-" : (const char *)cells[1].text.data);
    }
    *is_cut = rows != NULL && nm_csv_rows_is_cut(rows);
    nm_csv_rows_close(rows);
    nm_input_close(input);
    return text;
}

static const struct {
    const char *csv, *rows;
    bool is_cut;
} cases[] = {
    {"a,Size(KB)\n1,2\n3,4\n", "1|2;3|4;", false},
    {"a,Size(KB)\n1,2\n3,4", "1|2;3|4;", false},
    {"\xef\xbb\xbf"
     "a,Size(KB)\r\n1,2\r\n",
     "1|2;", false},
    {"Size(KB),x,a,\n2,9,1,\n4,9,3,\n", "1|2;3|4;", false}, /* another order, a comma at the end */
    {"a,Size(KB)\t\n1736405443756384.100\t,2\t\n", "1736405443756384.100|2;", false}, /* a TAB behind a cell */
    {"a,Size(KB)\n\"1\n\n2\",\"x,\"\"y\"\"\"\n5,6\n", "1\n\n2|x,\"y\";5|6;", false},
    {"a,Size(KB)\n\n\n1,2\n\n", "1|2;", false},
    {"a,Size(KB)\n1\n,\n", "1|-;|;", false}, /* too few cells in the middle: the cell is none */
    {"a,Size(KB)\n1,2,3,4\n", "1|2;", false},
    {"a,Size(KB)\n1,2\n3", "1|2;", true},
    {"a,Size(KB)\n1,2\n3,\"4", "1|2;", true},
    {"a,a\n1,2\n", "1|-;", false}, /* the first of two holds */
    {"\"a\",\" Size(KB) \"\n1,2\n", "1|2;", false},
};

START_TEST(rows_are_read_as_their_writers_meant_them)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nm_status status;
        bool is_cut;
        const char *rows = read_rows(cases[i].csv, strlen(cases[i].csv), &status, &is_cut);

        ck_assert_msg(strcmp(rows, cases[i].rows) == 0, "case %zu: '%s'", i, rows);
        ck_assert_msg(status == NM_END && is_cut == cases[i].is_cut, "case %zu: status %d", i, (int)status);
    }
}
END_TEST

START_TEST(a_file_without_a_header_is_refused)
{
    nm_status status;
    bool is_cut;

    read_rows("\n\n", 2, &status, &is_cut);
    ck_assert_int_eq(status, NM_ERR_FORMAT);
    ck_assert_str_eq(err.text, "the table has no header");
}
END_TEST

START_TEST(a_row_without_an_end_is_given_up_at_its_line)
{
    static const char begin[] = "a,Size(KB)\n1,2\n\"";
    size_t len = sizeof begin - 1 + NM_CSV_ROW_BYTES_MAX + 2;
    char *data = malloc(len);
    nm_status status;
    bool is_cut;

    memset(data, 'x', len);
    memcpy(data, begin, sizeof begin - 1);
    ck_assert_str_eq(read_rows(data, len, &status, &is_cut), "1|2;");
    ck_assert_int_eq(status, NM_ERR_LIMIT);
    ck_assert_str_eq(err.text, "the row at line 3 is too long");
    ck_assert_uint_eq(err.offset, 15);
    free(data);
}
END_TEST

/* Lines are counted as an editor does, within quotes too; rows that lie across the pieces in which a file is read are whole. */
START_TEST(long_files_are_read_row_by_row)
{
    enum { ROWS = 20000 };
    nm_csv_rows *rows = NULL;
    nm_input *input;
    const nm_cell *cells;
    FILE *text = tmpfile();
    char *data;
    int64_t number;
    unsigned count = 0;

    ck_assert_ptr_nonnull(text);
    fputs("x,a\n", text);
    for (unsigned i = 0; i < ROWS; i++)
        fprintf(text, "\"%0*u\nb\",%u\n", (int)(i % 97), 0U, i);
    long len = ftell(text);
    data = malloc((size_t)len);
    rewind(text);
    ck_assert_uint_eq(fread(data, 1, (size_t)len, text), (size_t)len);
    fclose(text);
    input = input_of(data, (size_t)len);
    ck_assert_int_eq(nm_csv_rows_open(input, names, 1, &rows, &err), NM_OK);
    for (; nm_csv_rows_next(rows, &cells, &err) == NM_OK; count++) {
        ck_assert(nm_cell_get(&cells[0], 1, &number));
        ck_assert_int_eq(number, count);
        ck_assert_uint_eq(nm_csv_rows_line(rows), 2 + 2 * count);
        ck_assert_int_eq(data[nm_csv_rows_offset(rows)], '"');
    }
    ck_assert_uint_eq(count, ROWS);
    nm_csv_rows_close(rows);
    nm_input_close(input);
    free(data);
}
END_TEST

START_TEST(a_header_is_known_by_its_names)
{
    static const char *const wanted[] = {"ID", "Ptr", NULL};
    static const struct {
        const char *head;
        bool has;
    } heads[] = {{"ID,Event,Ptr\n1", true}, {"\xef\xbb\xbfPtr ,ID\r\n", true},
                 {"ID,Event\nPtr", false},  {"ID,Ptrs\n", false},
                 {"ID,Ptr", true},          {"", false},
                 {"xID,Ptr\n", false}};

    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        nm_bytes head = {(const uint8_t *)heads[i].head, strlen(heads[i].head)};

        ck_assert_msg(nm_csv_has_columns(head, wanted) == heads[i].has, "case %zu", i);
    }
}
END_TEST

static const struct {
    const char *text;
    uint64_t scale;
    bool is_number;
    int64_t value;
} numbers[] = {
    {"12", 1, true, 12},
    {" -512\t", 1, true, -512},
    {"1736405443756384.100", 1000, true, 1736405443756384100},
    {"1.5", 1024, true, 1536},
    {"0.0009765625", 1048576, true, 1024},
    {"1.73641E+15", 1000, true, 1736410000000000000},
    {"1e3", 1, true, 1000},
    {"25e-1", 1, true, 3},
    {"9223372036854775807", 1, true, INT64_MAX},
    {"-9223372036854775807", 1, true, -INT64_MAX},
    {"9223372036854775808", 1, false, 0},
    {"9223372036854775807", 2, false, 0},
    {"00000000000000000000000000000017", 1, true, 17},
    {"1e999999999", 1, false, 0},
    {"1e-999999999", 1, true, 0},
    {"0e999999999", 1, true, 0},
    {"N/A", 1, false, 0},
    {"", 1, false, 0},
    {".", 1, false, 0},
    {"1e", 1, false, 0},
    {"1 2", 1, false, 0},
    {"0x10", 1, false, 0},
};

START_TEST(numbers_are_exact)
{
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        nm_cell cell = {.kind = NM_CELL_TEXT, .text = {(const uint8_t *)numbers[i].text, strlen(numbers[i].text)}};
        int64_t value = 0;
        bool is_number = nm_cell_get(&cell, numbers[i].scale, &value);

        ck_assert_msg(is_number == numbers[i].is_number && (!is_number || value == numbers[i].value), "'%s': %lld",
                      numbers[i].text, (long long)value);
        ck_assert_int_eq(nm_cell_is_rounded(&cell),
                         strpbrk(numbers[i].text, "eE") != NULL && strcmp(numbers[i].text, "1e") != 0);
    }
    nm_cell integer = {.kind = NM_CELL_INT, .integer = -3}, real = {.kind = NM_CELL_REAL, .real = 1.25};
    int64_t value;
    ck_assert(nm_cell_get(&integer, 1024, &value) && value == -3072);
    ck_assert(nm_cell_get(&real, 1024, &value) && value == 1280);
    real.real = 1e30;
    ck_assert(!nm_cell_get(&real, 1, &value));
    integer.integer = INT64_MAX;
    ck_assert(!nm_cell_get(&integer, 2, &value));
}
END_TEST

START_TEST(addresses_are_decimal_or_hexadecimal)
{
    static const struct {
        const char *text;
        bool is_address;
        uint64_t value;
    } addresses[] = {{"0x000012c041400000", true, 0x12c041400000},
                     {"20616935636992", true, 20616935636992},
                     {"0XfF", true, 255},
                     {"N/A", false, 0},
                     {"0x", false, 0},
                     {"", false, 0},
                     {"0x11111111111111111", false, 0},
                     {"-1", false, 0}};

    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        nm_cell cell = {.kind = NM_CELL_TEXT, .text = {(const uint8_t *)addresses[i].text, strlen(addresses[i].text)}};
        uint64_t value = 0;

        ck_assert_msg(nm_cell_get_address(&cell, &value) == addresses[i].is_address, "'%s'", addresses[i].text);
        ck_assert_msg(!addresses[i].is_address || value == addresses[i].value, "'%s'", addresses[i].text);
    }
}
END_TEST

/* Any bytes are rows of some kind or an error, and come to an end. */
START_TEST(noise_is_read_to_its_end)
{
    static const char alphabet[] = "\"\",,\n\n\r\t ab1\0\xef\xbb";
    uint64_t state = 2463534242u + seed_of_test(1);

    for (unsigned run = 0; run < 3000; run++) {
        char data[200];
        size_t len = run % sizeof data;
        nm_status status;
        bool is_cut;

        for (size_t i = 0; i < len; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            data[i] = alphabet[(state >> 40) % (sizeof alphabet - 1)];
        }
        read_rows(data, len, &status, &is_cut);
        ck_assert(status == NM_END || status == NM_ERR_FORMAT);
    }
}
END_TEST

TEST_SUITE(test_csv_rows)
{
    Suite *suite = suite_create("csv_rows");
    TCase *rows = tcase_create("rows");

    tcase_set_timeout(rows, 60);
    tcase_add_test(rows, rows_are_read_as_their_writers_meant_them);
    tcase_add_test(rows, a_file_without_a_header_is_refused);
    tcase_add_test(rows, a_row_without_an_end_is_given_up_at_its_line);
    tcase_add_test(rows, long_files_are_read_row_by_row);
    tcase_add_test(rows, a_header_is_known_by_its_names);
    tcase_add_test(rows, numbers_are_exact);
    tcase_add_test(rows, addresses_are_decimal_or_hexadecimal);
    tcase_add_test(rows, noise_is_read_to_its_end);
    suite_add_tcase(suite, rows);
    return suite;
}
