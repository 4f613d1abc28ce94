/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures and fronts of lines, each with what it says; lines of any length; and logs that were changed at random, of which something
 * sound comes or nothing. What whole logs tell is in tests/tool/logs.
 */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/log_failure.h"
#include "source/log_lines.h"
#include "source/log_table.h"
#include "source/source.h"
#include "support/seed.h"
#include "support/suites.h"

#define CORPUS_BYTES_MAX ((size_t)64 << 10)
#define CHANGES          200 /* of each log */

static nm_error err;

static nm_bytes bytes_of(const char *text)
{
    return (nm_bytes){(const uint8_t *)text, strlen(text)};
}

START_TEST(an_amount_is_its_figure_and_half_of_its_last_decimal)
{
    static const struct {
        const char *text;
        uint64_t bytes, doubt_bytes;
        size_t len;
    } cases[] = {
        {"2.00 GiB.", 2147483648, 5368709, 8},
        {"19.50 MiB free", 20447232, 5242, 9},
        {"512 bytes", 512, 0, 9},
        {"24.0 GiB", 25769803776, 53687091, 8},
        {"1024.00 KiB", 1048576, 5, 11},
        {"3221291008, device", 3221291008, 0, 10},
        {"7.1GB", 7623566950, 53687091, 5},
        {"0 bytes", 0, 0, 7},
        {"20.", 20, 0, 2},
        {"x", 0, 0, 0},
        {"", 0, 0, 0},
        {"99999999999999999999 GiB", 0, 0, 0},
        {"99999999 GiB", 0, 0, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nm_log_amount amount;

        ck_assert_msg(nm_log_amount_read(bytes_of(cases[i].text), &amount) == cases[i].len, "%s", cases[i].text);
        ck_assert_msg(amount.bytes == cases[i].bytes && amount.doubt_bytes == cases[i].doubt_bytes, "%s: %llu +- %llu",
                      cases[i].text, (unsigned long long)amount.bytes, (unsigned long long)amount.doubt_bytes);
        ck_assert_int_eq(amount.is_known, cases[i].len > 0);
    }
}
END_TEST

START_TEST(a_line_says_whose_it_is)
{
    static const struct {
        const char *line;
        int64_t rank, local_rank, pid;
        const char *host;
        bool is_parent;
    } cases[] = {
        {"[rank7]: RuntimeError: x", 7, -1, -1, "", false},
        {"[default3]:  x", -1, 3, -1, "", false},
        {"(Worker_TP2 pid=14084) ERROR x", -1, 2, 14084, "", false},
        {"(RayWorkerWrapper pid=1070, ip=7.242.100.10) x", -1, -1, 1070, "7.242.100.10", false},
        {"(EngineCore_DP0 pid=553) x", -1, -1, 553, "", true},
        {"[ERROR] 2025-09-17-04:55:13 (PID:553, Device:0, RankID:2) ERR00100", 2, -1, 553, "", false},
        {"[ERROR] PRE_ACT(54175,fffdbcff91e0,python):2024-10-22-11:24:55.301.443", -1, -1, 54175, "", false},
        {"EL0004: [PID: 14004] 2025-11-06-01:17:59.527.855 Failed", -1, -1, 14004, "", false},
        {"torch.OutOfMemoryError: CUDA out of memory", -1, -1, -1, "", false},
        {"[rank99999999999999999999]: x", -1, -1, -1, "", false},
        {"[rank]: pid= x", -1, -1, -1, "", false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nm_log_origin origin;

        nm_log_origin_read(bytes_of(cases[i].line), &origin);
        ck_assert_msg(origin.rank == (cases[i].rank < 0 ? NM_UNKNOWN_NUMBER : cases[i].rank), "%s", cases[i].line);
        ck_assert_msg(origin.local_rank == (cases[i].local_rank < 0 ? NM_UNKNOWN_NUMBER : cases[i].local_rank), "%s",
                      cases[i].line);
        ck_assert_msg(origin.pid == (cases[i].pid < 0 ? NM_UNKNOWN_NUMBER : cases[i].pid), "%s", cases[i].line);
        ck_assert_uint_eq(origin.host.len, strlen(cases[i].host));
        ck_assert_int_eq(
            memcmp(origin.host.data == NULL ? (const uint8_t *)"" : origin.host.data, cases[i].host, origin.host.len),
            0);
        ck_assert_int_eq(origin.is_parent, cases[i].is_parent);
    }
}
END_TEST

/* Seconds since 1970 by date -u. */
START_TEST(a_line_says_when_it_was)
{
    static const struct {
        const char *line;
        int64_t seconds, ns;
        bool has_year;
    } cases[] = {
        {"2026-04-09 21:56:40,384 INFO x", 1775771800, 384000000, true},
        {"[ERROR] RUNTIME(1,python):2026-04-09-21:56:40.384.694 x", 1775771800, 384694000, true},
        {"2026-04-09T21:56:40.5+08:00 x", 1775771800 - 8 * 3600, 500000000, true},
        {"2026/04/09 21:56:40 -0130 x", 1775771800, 0, true}, /* a blank before a zone: it is none */
        {"2024-02-29T00:00:00Z x", 1709164800, 0, true},
        {"1999-12-31 23:59:59 x", 946684799, 0, true},
        {"ERROR 04-09 21:56:46 [x.py:82]", 955317406, 0, false}, /* of a year that is not said */
        {"[W1106 01:17:59.109644239 compiler_depend.ts:62]", 973473479, 109644239, false},
        {"Nov  6 01:17:59 host kernel: x", 973473479, 0, false},
        {"12:34:56 x", 946730096, 0, false},
    };
    static const char *const none[] = {"no time", "1:2:3", "99:99:99 x", "12:34:5", "", "12:34", "0000:00:00.0"};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nm_log_time time = nm_log_time_read(bytes_of(cases[i].line));

        ck_assert_msg(time.ns == cases[i].seconds * 1000000000 + cases[i].ns, "%s: %lld", cases[i].line,
                      (long long)time.ns);
        ck_assert_msg(time.has_year == cases[i].has_year, "%s", cases[i].line);
    }
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        ck_assert_msg(nm_log_time_read(bytes_of(none[i])).ns == NM_NO_TIME, "%s", none[i]);
}
END_TEST

START_TEST(a_row_of_a_table_is_a_process)
{
    static const struct {
        const char *line, *name;
        int64_t card, chip, pid;
        uint64_t mib;
    } cases[] = {
        {"| 0       1                 | 632268        | python3.1          | 197                   | NA |", "python3.1",
         0, 1, 632268, 197},
        {"| 7       0                 | 5             | x                  | 49197                 |", "x", 7, 0, 5,
         49197},
        {"|    3   N/A  N/A      1234      C   python                          1234MiB |", "python", 3, 0, 1234, 1234},
        {"|    0      1234    C+G   /usr/bin/x                       12MiB |", "/usr/bin/x", 0, 0, 1234, 12},
    };
    static const char *const none[] = {
        "| 0                         | 0000:C1:00.0  | 0           0    / 0          3397 / 65536         |",
        "| NPU     Chip              | Process id    | Process name       | Process memory(MB)    |",
        "| No running processes found in NPU 1                                                     |",
        "|    0   N/A  N/A      1234      C   python                              N/A |",
        "| 0 0 | 99999999999999999999 | x | 1 |",
        "|",
        "||||||||||||||",
        "",
        "| 0 0 | 1 | x | 99999999999 |",
    };
    nm_log_holder holder;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_msg(nm_log_holder_read(bytes_of(cases[i].line), &holder), "%s", cases[i].line);
        ck_assert_int_eq(holder.card, cases[i].card);
        ck_assert_int_eq(holder.chip, cases[i].chip);
        ck_assert_int_eq(holder.pid, cases[i].pid);
        ck_assert_uint_eq(holder.used_bytes, cases[i].mib << 20);
        ck_assert_uint_eq(holder.name.len, strlen(cases[i].name));
        ck_assert_int_eq(memcmp(holder.name.data, cases[i].name, holder.name.len), 0);
    }
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        ck_assert_msg(!nm_log_holder_read(bytes_of(none[i]), &holder), "%s", none[i]);
}
END_TEST

/* ---- Whole texts --------------------------------------------------------------------------------------------------- */

static nm_status open_text(const uint8_t *text, size_t len, FILE **file, nm_source **source)
{
    *file = tmpfile();
    ck_assert_ptr_nonnull(*file);
    ck_assert_uint_eq(fwrite(text, 1, len, *file), len);
    rewind(*file);
    return nm_source_open(fileno(*file), source, &err);
}

/* Reads all: definitions before what uses them, amounts that no device passes. Gives the failures. */
static size_t read_all(nm_source *source)
{
    uint64_t heap_count = 0, event_count = 0;
    size_t failure_count = 0;
    nm_source_summary_data summary;
    nm_record record;
    nm_status status;

    while ((status = nm_source_next(source, &record, &err)) == NM_OK) {
        if (record.kind == NM_RECORD_DEFINITION) {
            heap_count += record.definition.kind == NM_DEFINE_HEAP;
            continue;
        }
        ck_assert_uint_gt(heap_count, 0);
        ck_assert_uint_le(record.event.requested_bytes, UINT64_C(1) << 44);
        ck_assert_uint_le(record.event.free_bytes, UINT64_C(1) << 44);
        failure_count += record.event.kind == NM_EVENT_ALLOC_FAILED;
        event_count += (record.event.flags & NM_FLAG_BASELINE) == 0;
    }
    ck_assert_int_eq(status, NM_END);
    nm_source_summary(source, &summary);
    ck_assert_str_eq(summary.kind, "log");
    ck_assert_uint_eq(summary.events_ingested, event_count);
    return failure_count;
}

static const char message[] =
    "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 3; 60.97 GiB total capacity; 10.41 GiB already "
    "allocated; 19.50 MiB free; 10.65 GiB reserved in total by PyTorch)";

/* Wherever in a line without an end the message stands, it is found once, and whole. */
START_TEST(a_line_may_have_any_length)
{
    size_t size = 3 * NM_LOG_LINE_BYTES_MAX;
    uint8_t *text = malloc(size);

    ck_assert_ptr_nonnull(text);
    for (size_t at = 0;
         at + sizeof message<size; at += at> NM_LOG_LINE_BYTES_MAX - 9000 && at < NM_LOG_LINE_BYTES_MAX + 200 ? 61
                                                                                                              : 9973) {
        nm_source *source = NULL;
        nm_record record;
        FILE *file;
        bool is_whole = false;

        memset(text, '.', size);
        memcpy(text + at, message, sizeof message - 1);
        ck_assert_msg(open_text(text, size, &file, &source) == NM_OK, "at %zu: %s", at, err.text);
        while (nm_source_next(source, &record, &err) == NM_OK)
            is_whole = is_whole || (record.kind == NM_RECORD_EVENT && record.event.kind == NM_EVENT_RESERVED);
        ck_assert_msg(is_whole, "at %zu", at);
        ck_assert_int_eq(nm_source_rewind(source, &is_whole, &err), NM_OK);
        ck_assert_msg(read_all(source) == 1, "at %zu", at);
        nm_source_close(source);
        fclose(file);
    }
    free(text);
}
END_TEST

static uint64_t drawn;

static size_t draw(size_t below)
{
    drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return below == 0 ? 0 : (size_t)(drawn >> 33) % below;
}

/* A few bytes become others, or a piece is left out or stands twice. */
static size_t change(uint8_t *text, size_t len)
{
    static const char odd[] = "\n\r\0\x1b[;:.,()|{}\\\"0123456789GMKiB\xff";

    for (size_t i = draw(12); i > 0 && len > 0; i--)
        text[draw(len)] = draw(2) == 0 ? (uint8_t)odd[draw(sizeof odd)] : (uint8_t)draw(256);
    size_t from = draw(len + 1), to = draw(len + 1), piece = draw(len - (from > to ? from : to) + 1);
    if (draw(2) == 0)
        memmove(text + to, text + from, piece);
    return draw(4) == 0 ? draw(len + 1) : len;
}

START_TEST(a_changed_log_is_read_or_refused)
{
    DIR *folder = opendir(LOGS_DIR);
    const struct dirent *entry;
    size_t log_count = 0;

    ck_assert_ptr_nonnull(folder);
    drawn = seed_of_test(30);
    while ((entry = readdir(folder)) != NULL) {
        static uint8_t whole[CORPUS_BYTES_MAX], text[CORPUS_BYTES_MAX];
        char path[1024];
        FILE *file;

        if (strstr(entry->d_name, ".log") == NULL)
            continue;
        snprintf(path, sizeof path, "%s/%s", LOGS_DIR, entry->d_name);
        ck_assert_ptr_nonnull(file = fopen(path, "re"));
        size_t len = fread(whole, 1, sizeof whole, file);
        fclose(file);
        log_count++;
        for (int i = 0; i < CHANGES; i++) {
            nm_source *source = NULL;

            memcpy(text, whole, len);
            nm_status status = open_text(text, change(text, len), &file, &source);
            if (status == NM_OK &&
                nm_source_is_log((nm_bytes){text, len < NM_SOURCE_HEAD_BYTES ? len : NM_SOURCE_HEAD_BYTES}))
                ck_assert_uint_gt(read_all(source), 0);
            else
                ck_assert_int_eq(status, NM_ERR_FORMAT);
            nm_source_close(source);
            fclose(file);
        }
    }
    closedir(folder);
    ck_assert_uint_gt(log_count, 20);
}
END_TEST

TEST_SUITE(test_log_source)
{
    Suite *suite = suite_create("log source");
    TCase *cases = tcase_create("logs");

    tcase_add_test(cases, an_amount_is_its_figure_and_half_of_its_last_decimal);
    tcase_add_test(cases, a_line_says_whose_it_is);
    tcase_add_test(cases, a_line_says_when_it_was);
    tcase_add_test(cases, a_row_of_a_table_is_a_process);
    tcase_add_test(cases, a_line_may_have_any_length);
    tcase_add_test(cases, a_changed_log_is_read_or_refused);
    tcase_set_timeout(cases, 120);
    suite_add_tcase(suite, cases);
    return suite;
}
