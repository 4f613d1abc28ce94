/* SPDX-License-Identifier: Apache-2.0 */
#include "support/draft.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buffer.h"
#include "support/load_text.h"
#include "support/run.h"

static nm_buffer text;
static char folder[64], path[128];

static void make_folder(void)
{
    run_make_folder(folder);
    snprintf(path, sizeof path, "%s/run.db", folder);
}

static void remove_folder(void)
{
    nm_buffer_free(&text);
    run_remove_folder(folder);
}

void draft_begin(void)
{
    text.len = 0;
}

void draft_say(const char *format, ...)
{
    char line[1024];
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    ck_assert_int_lt(length, (int)sizeof line);
    ck_assert_int_eq(nm_buffer_append(&text, line, (size_t)length, NULL), NM_OK);
}

static sqlite3 *load_above(const nm_input_row *input, const nm_thresholds *thresholds)
{
    ck_assert_int_eq(nm_buffer_append(&text, "", 1, NULL), NM_OK);
    unlink(path);
    load_text_above((const char *)text.data, input, thresholds, path);
    return load_open(path);
}

static sqlite3 *load(const nm_input_row *input)
{
    return load_above(input, NULL);
}

sqlite3 *draft_load_without_floors(uint64_t event_count)
{
    nm_input_row input = load_whole_input(event_count);

    return load_above(&input, &load_no_floors);
}

sqlite3 *draft_load_lossy(uint64_t event_count, uint64_t dropped_count)
{
    nm_input_row input = load_whole_input(event_count);

    input.events_seen += dropped_count;
    input.events_dropped = dropped_count;
    input.is_complete = dropped_count == 0;
    return load(&input);
}

sqlite3 *draft_load_as_file(uint64_t event_count)
{
    nm_input_row input = load_whole_input(event_count);

    input.order_kind = "file";
    return load(&input);
}

sqlite3 *draft_load_as_snapshot(uint64_t event_count)
{
    nm_input_row input = load_whole_input(event_count);

    input.kind = "torch snapshot";
    return load(&input);
}

sqlite3 *draft_load(uint64_t event_count)
{
    return draft_load_lossy(event_count, 0);
}

Suite *draft_suite(const char *name, TCase *tests)
{
    Suite *suite = suite_create(name);

    tcase_add_unchecked_fixture(tests, make_folder, remove_folder);
    suite_add_tcase(suite, tests);
    return suite;
}
