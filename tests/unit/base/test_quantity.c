/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes, shares and times in every spelling that passes, with their values worked out by hand, and in those that do not,
 * with what is said of them.
 */
#include "base/quantity.h"
#include "support/suites.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define NOT_A_SIZE  "needs a size: 60GiB, 512M or 4096B"
#define TOO_LARGE   "needs a size of 4096 PiB at the most"
#define NOT_A_SHARE "needs a share: 0.15 or 15%"
#define NOT_A_TIME  "needs a time: 10s, 5m or 100ms"

START_TEST(a_size_is_binary_however_its_unit_is_written)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {
        {"60G", UINT64_C(64424509440)},
        {"60GB", UINT64_C(64424509440)},
        {"60GiB", UINT64_C(64424509440)},
        {"60 GiB", UINT64_C(64424509440)},
        {"60Gi", UINT64_C(64424509440)},
        {"60gib", UINT64_C(64424509440)},
        {"60   gb", UINT64_C(64424509440)},
        {"64424509440", UINT64_C(64424509440)},
        {"60B", 60},
        {"60 b", 60},
        {"0", 0},
        {"0.0", 0},
        {"0e5", 0},
        {"1048576", 1048576},
        {"1K", 1024},
        {"1k", 1024},
        {"1kB", 1024},
        {"1M", 1048576},
        {"1T", UINT64_C(1099511627776)},
        {"1P", UINT64_C(1125899906842624)},
        {"4096PiB", UINT64_C(1) << 62},
        {"4611686018427387904", UINT64_C(1) << 62},
        {"4611686018427387903B", (UINT64_C(1) << 62) - 1},
        {"9007199254740993B", UINT64_C(9007199254740993)}, /* 2^53 + 1 */
        {"1.5KiB", 1536},
        {".5K", 512},
        {"1.K", 1024},
        {"0.1M", 104858}, /* 104857.6 */
        {"1e6K", 1024000000},
        {"1E+1 K", 10240},
        {"5e-1K", 512},
        {"1e15 B", UINT64_C(1000000000000000)},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bytes = 7;

        ck_assert_msg(nm_quantity_size(cases[i].text, &bytes, NULL) == NM_OK, "'%s' is no size", cases[i].text);
        ck_assert_msg(bytes == cases[i].bytes, "'%s' is %llu", cases[i].text, (unsigned long long)bytes);
    }
}
END_TEST

START_TEST(what_is_no_size_says_what_to_write)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"", NOT_A_SIZE},
        {" ", NOT_A_SIZE},
        {"much", NOT_A_SIZE},
        {"GiB", NOT_A_SIZE},
        {"-1GiB", NOT_A_SIZE},
        {"-0", NOT_A_SIZE},
        {"+1GiB", NOT_A_SIZE},
        {" 1GiB", NOT_A_SIZE},
        {"1GiB ", NOT_A_SIZE},
        {"1GiB more", NOT_A_SIZE},
        {"1\tGiB", NOT_A_SIZE},
        {"1 0GiB", NOT_A_SIZE},
        {"2000000 ", NOT_A_SIZE},
        {"1GiBB", NOT_A_SIZE},
        {"1E", NOT_A_SIZE}, /* neither an exponent nor a unit */
        {"1e", NOT_A_SIZE},
        {"1e+K", NOT_A_SIZE},
        {"1BiB", NOT_A_SIZE},
        {"1X", NOT_A_SIZE},
        {"1%", NOT_A_SIZE},
        {"1,5GiB", NOT_A_SIZE},
        {"1.5.5GiB", NOT_A_SIZE},
        {".", NOT_A_SIZE},
        {".GiB", NOT_A_SIZE},
        {"0x10G", NOT_A_SIZE},
        {"nan", NOT_A_SIZE},
        {"nanB", NOT_A_SIZE},
        {"inf", NOT_A_SIZE},
        {"infinityB", NOT_A_SIZE},
        {"1\xe2\x80\xafGiB", NOT_A_SIZE},
        {"0000000000000000000000000000000000000000000000000000000000000001G", NOT_A_SIZE},
        {"4611686018427387905B", TOO_LARGE},
        {"4097P", TOO_LARGE},
        {"18446744073709551616", TOO_LARGE},
        {"99999999999TiB", TOO_LARGE},
        {"1e99999B", TOO_LARGE},
        {"60", "needs a size with its unit: 60GiB, or 60B for bytes"},
        {"1", "needs a size with its unit: 1GiB, or 1B for bytes"},
        {"0.5", "needs a size with its unit: 0.5GiB, or 0.5B for bytes"},
        {"1048575", "needs a size with its unit: 1048575GiB, or 1048575B for bytes"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nm_error err = {0};
        uint64_t bytes = 7;

        ck_assert_msg(nm_quantity_size(cases[i].text, &bytes, &err) == NM_ERR_USAGE, "'%s' passes", cases[i].text);
        ck_assert_uint_eq(bytes, 7);
        ck_assert_str_eq(err.text, cases[i].said);
    }
}
END_TEST

START_TEST(in_languages_of_others_bare_bytes_pass)
{
    uint64_t bytes = 0;

    ck_assert_int_eq(nm_quantity_bare_size("512", &bytes, NULL), NM_OK);
    ck_assert_uint_eq(bytes, 512);
    ck_assert_int_eq(nm_quantity_bare_size("2MiB", &bytes, NULL), NM_OK);
    ck_assert_uint_eq(bytes, 2097152);
    ck_assert_int_eq(nm_quantity_bare_size("-512", &bytes, NULL), NM_ERR_USAGE);
}
END_TEST

START_TEST(a_share_is_a_part_of_one_or_of_a_hundred)
{
    static const struct {
        const char *text;
        double most, ratio;
    } cases[] = {
        {"0", 1, 0},  {"1", 1, 1},    {"0.15", 1, 0.15},  {"15%", 1, 0.15},   {"15 %", 1, 0.15}, {"100%", 1, 1},
        {"0%", 1, 0}, {".5", 1, 0.5}, {"2.5%", 1, 0.025}, {"1e-3", 1, 0.001}, {"250%", 10, 2.5}, {"2.5", 10, 2.5},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double ratio = 7;

        ck_assert_msg(nm_quantity_ratio(cases[i].text, cases[i].most, &ratio, NULL) == NM_OK, "'%s' is no share",
                      cases[i].text);
        ck_assert_msg(fabs(ratio - cases[i].ratio) < 1e-15, "'%s' is %g", cases[i].text, ratio);
    }
}
END_TEST

START_TEST(what_is_no_share_says_what_to_write)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"", NOT_A_SHARE},
        {"nan", NOT_A_SHARE},
        {"inf", NOT_A_SHARE},
        {"-0.1", NOT_A_SHARE},
        {"+5%", NOT_A_SHARE},
        {"5%%", NOT_A_SHARE},
        {"5 % ", NOT_A_SHARE},
        {"half", NOT_A_SHARE},
        {"%", NOT_A_SHARE},
        {"0.1x", NOT_A_SHARE},
        {"0.1 ", NOT_A_SHARE},
        {"0x1", NOT_A_SHARE},
        {"0.5GiB", NOT_A_SHARE},
        {"15", "needs a share: 0.15 or 15%; 15 of a hundred is 15%"},
        {"1.01", "needs a share: 0.15 or 15%; 1.01 of a hundred is 1.01%"},
        {"101%", "needs a share of 100% at the most"},
        {"1000", "needs a share of 100% at the most"},
        {"1e99999", "needs a share of 100% at the most"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nm_error err = {0};
        double ratio;

        ck_assert_msg(nm_quantity_ratio(cases[i].text, 1, &ratio, &err) == NM_ERR_USAGE, "'%s' passes", cases[i].text);
        ck_assert_str_eq(err.text, cases[i].said);
    }
}
END_TEST

START_TEST(a_time_has_its_unit)
{
    static const struct {
        const char *text;
        uint64_t bare_ns, ns;
    } cases[] = {
        {"10s", 0, UINT64_C(10000000000)},
        {"10 s", 0, UINT64_C(10000000000)},
        {"5m", 0, UINT64_C(300000000000)},
        {"5min", 0, UINT64_C(300000000000)},
        {"5 min", 0, UINT64_C(300000000000)},
        {"2h", 0, UINT64_C(7200000000000)},
        {"1d", 0, UINT64_C(86400000000000)},
        {"100ms", 0, 100000000},
        {"1.5ms", 0, 1500000},
        {"0.3s", 0, 300000000},
        {"20us", 0, 20000},
        {"7ns", 0, 7},
        {"0", 0, 0},
        {"0.0", 0, 0},
        {"2.5", UINT64_C(1000000000), UINT64_C(2500000000)},
        {".5", UINT64_C(1000000000), 500000000},
        {"30", UINT64_C(60000000000), UINT64_C(1800000000000)},
        {"30s", UINT64_C(60000000000), UINT64_C(30000000000)},
        {"1000000000s", 0, UINT64_C(1000000000000000000)},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t ns = 7;

        ck_assert_msg(nm_quantity_time(cases[i].text, cases[i].bare_ns, &ns, NULL) == NM_OK, "'%s' is no time",
                      cases[i].text);
        ck_assert_msg(ns == cases[i].ns, "'%s' is %llu", cases[i].text, (unsigned long long)ns);
    }
}
END_TEST

START_TEST(what_is_no_time_says_what_to_write)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"", NOT_A_TIME},
        {"soon", NOT_A_TIME},
        {"nan", NOT_A_TIME},
        {"inf", NOT_A_TIME},
        {"-1s", NOT_A_TIME},
        {"+1s", NOT_A_TIME},
        {" 1s", NOT_A_TIME},
        {"1s ", NOT_A_TIME},
        {"1S", NOT_A_TIME},
        {"1M", NOT_A_TIME},
        {"1m30s", NOT_A_TIME},
        {"1:30", NOT_A_TIME},
        {"1 week", NOT_A_TIME},
        {"1%", NOT_A_TIME},
        {"0x1s", NOT_A_TIME},
        {"5", "needs a time with its unit: 5s or 5ms"},
        {"1000000001s", "needs a time of 1000000000s at the most"},
        {"99999999999999999999h", "needs a time of 1000000000s at the most"},
        {"1e99999s", "needs a time of 1000000000s at the most"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nm_error err = {0};
        uint64_t ns = 7;

        ck_assert_msg(nm_quantity_time(cases[i].text, 0, &ns, &err) == NM_ERR_USAGE, "'%s' passes", cases[i].text);
        ck_assert_uint_eq(ns, 7);
        ck_assert_str_eq(err.text, cases[i].said);
    }
}
END_TEST

TEST_SUITE(test_quantity)
{
    Suite *suite = suite_create("quantity");
    TCase *tests = tcase_create("texts");

    tcase_add_test(tests, a_size_is_binary_however_its_unit_is_written);
    tcase_add_test(tests, what_is_no_size_says_what_to_write);
    tcase_add_test(tests, in_languages_of_others_bare_bytes_pass);
    tcase_add_test(tests, a_share_is_a_part_of_one_or_of_a_hundred);
    tcase_add_test(tests, what_is_no_share_says_what_to_write);
    tcase_add_test(tests, a_time_has_its_unit);
    tcase_add_test(tests, what_is_no_time_says_what_to_write);
    suite_add_tcase(suite, tests);
    return suite;
}
