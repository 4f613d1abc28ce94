/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces of torch.profiler that are cut, changed and odd: what is whole is read, what is delivered is sound, and nothing takes
 * long. What they mean is held by tests/sql/kineto.py.
 */
#include "source/kineto_spans.h"
#include "source/source.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/suites.h"

#define EVENTS_MAX 64
#define DEEP       3000

typedef struct delivered {
    nm_status status; /* NM_END when all went well */
    nm_source_summary_data summary;
    nm_event events[EVENTS_MAX]; /* the first of them */
    size_t count;
    size_t depth; /* of the deepest stack */
} delivered;

static const char document[] =
    "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"H\\u00e9\", \"totalGlobalMem\": "
    "8589934592}],\n"
    "\"distributedInfo\": {\"rank\": 1, \"world_size\": 2}, \"baseTimeNanoseconds\": 1751410836000000000, "
    "\"traceEvents\": [\n"
    "{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"a.py(3): f\", \"pid\": 7, \"tid\": 8, \"ts\": 1.5, "
    "\"dur\": 90.25},\n"
    "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#3\", \"pid\": 7, \"tid\": 8, \"ts\": 1, "
    "\"dur\": 95},\n"
    "{\"ph\": \"i\", \"s\": \"t\", \"name\": \"[memory]\", \"pid\": 7, \"tid\": 8, \"ts\": 10.125, \"args\": {\"Total "
    "Reserved\": 2097152,"
    " \"Total Allocated\": 3072, \"Bytes\": 1024, \"Addr\": 4096, \"Device Id\": 0, \"Device Type\": 1}},\n"
    "{\"ph\": \"i\", \"s\": \"t\", \"name\": \"[memory]\", \"pid\": 7, \"tid\": 8, \"ts\": 11, \"args\": {\"Total "
    "Reserved\": 4194304,"
    " \"Total Allocated\": 4096, \"Bytes\": 1024, \"Addr\": 8192, \"Device Id\": 0, \"Device Type\": 1}},\n"
    "{\"ph\": \"i\", \"s\": \"t\", \"name\": \"[memory]\", \"pid\": 7, \"tid\": 8, \"ts\": 12, \"args\": {\"Total "
    "Reserved\": 4194304,"
    " \"Total Allocated\": 3072, \"Bytes\": -1024, \"Addr\": 4096, \"Device Id\": 0, \"Device Type\": 1}},\n"
    "{\"ph\": \"i\", \"s\": \"t\", \"name\": \"[OutOfMemory]\", \"pid\": 7, \"tid\": 8, \"ts\": 13, \"args\": "
    "{\"Bytes\": 1e9, \"Bytes\":"
    " 999, \"Device Id\": 0, \"Device Type\": 1}}\n"
    "]}";

typedef struct numbers { /* of what has been defined so far */
    uint64_t strings, frames, stacks, threads, heaps;
    size_t depths[DEEP + 1]; /* of stacks */
} numbers;

static void check_definition(numbers *seen, const nm_definition *definition, delivered *out)
{
    seen->strings += definition->kind == NM_DEFINE_STRING;
    seen->threads += definition->kind == NM_DEFINE_THREAD;
    seen->heaps += definition->kind == NM_DEFINE_HEAP;
    if (definition->kind == NM_DEFINE_FRAME) {
        seen->frames++;
        ck_assert_uint_le(definition->frame.function, seen->strings);
        ck_assert_uint_le(definition->frame.file, seen->strings);
    }
    if (definition->kind != NM_DEFINE_STACK)
        return;
    ck_assert_uint_eq(definition->id, ++seen->stacks);
    ck_assert_uint_lt(definition->stack.parent_id, definition->id);
    ck_assert_uint_ge(definition->stack.frame_id, 1);
    ck_assert_uint_le(definition->stack.frame_id, seen->frames);
    ck_assert_uint_le(definition->id, DEEP);
    seen->depths[definition->id] = seen->depths[definition->stack.parent_id] + 1;
    if (seen->depths[definition->id] > out->depth)
        out->depth = seen->depths[definition->id];
}

static void check_event(const numbers *seen, const nm_event *event, uint64_t *seq, delivered *out)
{
    ck_assert_uint_le(event->stack_id, seen->stacks);
    ck_assert_uint_le(event->thread_id, seen->threads);
    ck_assert_uint_le(event->heap_id, seen->heaps);
    ck_assert_uint_le(event->name_id, seen->strings);
    ck_assert(event->kind != NM_EVENT_ALLOC || (event->block_bytes > 0 && event->block_bytes <= INT64_MAX));
    if ((event->flags & NM_FLAG_BASELINE) == 0 && event->kind != NM_EVENT_NOTE) {
        ck_assert_uint_eq(event->seq, (*seq)++);
        ck_assert_int_ge(event->time_ns, 0);
    }
    if (out->count < EVENTS_MAX)
        out->events[out->count] = *event;
    out->count++;
}

static void drain(nm_source *source, delivered *out)
{
    static numbers seen;
    nm_record record;
    uint64_t seq = 0;
    nm_error err;

    seen = (numbers){0};
    out->count = 0;
    while ((out->status = nm_source_next(source, &record, &err)) == NM_OK)
        if (record.kind == NM_RECORD_DEFINITION)
            check_definition(&seen, &record.definition, out);
        else
            check_event(&seen, &record.event, &seq, out);
    ck_assert_int_eq(out->status, NM_END);
    nm_source_summary(source, &out->summary);
    ck_assert_uint_eq(out->summary.events_seen, out->summary.events_ingested + out->summary.events_damaged);
}

static void read_fd(delivered *out, int fd)
{
    static delivered again;
    nm_source *source = NULL;
    nm_error err = {0};
    bool is_done = false;

    *out = (delivered){.status = nm_source_open(fd, &source, &err)};
    if (out->status != NM_OK) {
        ck_assert_msg(out->status == NM_ERR_FORMAT || out->status == NM_ERR_LIMIT, "%s", err.text);
        return;
    }
    drain(source, out);
    ck_assert_int_eq(nm_source_rewind(source, &is_done, &err), NM_OK);
    ck_assert(is_done);
    again = (delivered){0};
    drain(source, &again);
    ck_assert_uint_eq(again.count, out->count);
    ck_assert_mem_eq(again.events, out->events, sizeof out->events);
    nm_source_close(source);
}

static void read_bytes(delivered *out, const char *text, size_t len)
{
    int fd = memfd_create("trace", 0);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, len), (ssize_t)len);
    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    read_fd(out, fd);
    close(fd);
}

static delivered got;

static const nm_event *event_of(uint64_t kind, size_t number)
{
    for (size_t i = 0; i < got.count; i++)
        if (got.events[i].kind == kind && (got.events[i].flags & NM_FLAG_BASELINE) == 0 && number-- == 0)
            return &got.events[i];
    ck_abort_msg("no such event");
}

START_TEST(all_of_a_small_one_is_delivered)
{
    read_bytes(&got, document, strlen(document));
    ck_assert_int_eq(got.status, NM_END);
    ck_assert_uint_eq(got.events[0].block_bytes, 2048); /* the baseline: 3072 stated behind 1024 */
    ck_assert_uint_eq(got.events[0].address, 0);
    ck_assert_int_eq(event_of(NM_EVENT_STEP, 0)->time_ns, 0);
    ck_assert_int_eq(event_of(NM_EVENT_ALLOC, 0)->time_ns, 9125);
    ck_assert_uint_eq(event_of(NM_EVENT_ALLOC, 0)->flags, NM_FLAG_MISS); /* it holds one segment */
    ck_assert_uint_eq(event_of(NM_EVENT_ALLOC, 1)->flags, NM_FLAG_MISS);
    ck_assert_uint_eq(event_of(NM_EVENT_RESERVED, 0)->block_bytes, 2097152);
    ck_assert_uint_eq(event_of(NM_EVENT_RESERVED, 1)->block_bytes, 4194304);
    ck_assert_uint_eq(event_of(NM_EVENT_FREE, 0)->address, 4096);
    ck_assert_uint_eq(event_of(NM_EVENT_ALLOC_FAILED, 0)->requested_bytes, 999); /* of two of a name the last */
    ck_assert_uint_eq(got.count, 8);
    ck_assert_int_eq(got.summary.start_realtime_ns, 1751410836000001000);
    ck_assert(got.summary.is_complete);
}
END_TEST

/* How many entries of memory are whole in the first `len` bytes. */
static size_t whole_in(size_t len)
{
    size_t count = 0;
    const char *line = strstr(document, "{\"ph\": \"i\"");

    for (; line != NULL; line = strstr(line + 1, "{\"ph\": \"i\""))
        count += (size_t)(strchr(line, '\n') - document) <= len + (strchr(line, '\n')[-1] == ',');
    return count;
}

START_TEST(cut_at_every_byte_it_gives_what_is_whole)
{
    size_t whole = strlen(document);

    for (size_t len = 1; len < whole; len++) {
        read_bytes(&got, document, len);
        if (whole_in(len) == 0) {
            ck_assert_int_eq(got.status, NM_ERR_FORMAT);
            continue;
        }
        ck_assert_int_eq(got.status, NM_END);
        ck_assert_uint_eq(got.summary.events_ingested, whole_in(len));
        ck_assert(!got.summary.is_complete && !got.summary.is_finished);
        ck_assert_uint_lt(got.summary.bytes_cut, len);
    }
}
END_TEST

START_TEST(every_byte_changed_neither_crashes_nor_hangs)
{
    static const uint8_t flips[] = {0x01, 0x80, 0xff, 0x10, 0x02};
    char text[sizeof document];

    for (size_t at = 0; at < strlen(document); at++)
        for (size_t i = 0; i < sizeof flips; i++) {
            memcpy(text, document, sizeof text);
            text[at] = (char)((uint8_t)text[at] ^ flips[i]);
            read_bytes(&got, text, strlen(document));
            ck_assert_uint_lt(got.count, EVENTS_MAX);
        }
}
END_TEST

static uint64_t random_state = 88172645463325252u;

static size_t next_random(size_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (size_t)(random_state % below);
}

/* Lines repeated, left out and moved, and numbers put for others. */
START_TEST(any_lines_and_numbers_neither_crash_nor_hang)
{
    static const char *const put[] = {"0",
                                      "-1",
                                      "1",
                                      "9223372036854775807",
                                      "-9223372036854775808",
                                      "18446744073709551616",
                                      "1e300",
                                      "1.5",
                                      "4096",
                                      "\"x\"",
                                      "null",
                                      "[[1]]",
                                      "{\"a\": 1}",
                                      "20",
                                      "6",
                                      "1125899906842624"};
    char text[3 * sizeof document];

    for (int turn = 0; turn < 3000; turn++) {
        size_t len = 0, before = 0;

        for (const char *at = document; *at != 0; before = (size_t)(at - document)) {
            size_t line = strcspn(at, "\n") + (strchr(at, '\n') != NULL),
                   copies = next_random(8) == 0 ? next_random(3) : 1;

            for (; copies > 0 && len + line < sizeof text; copies--, len += line)
                memcpy(text + len, next_random(20) == 0 ? document + before : at, line);
            at += line;
        }
        for (size_t change = next_random(6); change > 0; change--) {
            size_t at = next_random(len);
            const char *word = put[next_random(sizeof put / sizeof put[0])];

            while (at < len && (text[at] < '0' || text[at] > '9'))
                at++;
            size_t end = at;
            while (end < len && text[end] >= '0' && text[end] <= '9')
                end++;
            if (len + strlen(word) >= sizeof text)
                break;
            memmove(text + at + strlen(word), text + end, len - end);
            memcpy(text + at, word, strlen(word));
            len += strlen(word) - (end - at);
        }
        read_bytes(&got, text, len);
        ck_assert_uint_lt(got.count, EVENTS_MAX);
    }
}
END_TEST

START_TEST(spans_deeper_than_any_stack_are_cut)
{
    char *text = malloc((size_t)DEEP * 128 + 1024);
    size_t len = (size_t)sprintf(text, "{\"traceEvents\": [");

    for (int i = 0; i < DEEP; i++)
        len += (size_t)sprintf(
            text + len, "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"o%d\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":%d},",
            i, i, 3 * DEEP - 2 * i);
    len += (size_t)sprintf(
        text + len,
        "{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":%d,\"args\":{\"Addr\":1,\"Bytes\":1,"
        "\"Device Type\":0,\"Device Id\":-1}}]}",
        DEEP);
    read_bytes(&got, text, len);
    ck_assert_int_eq(got.status, NM_END);
    ck_assert_uint_eq(got.depth, NM_KINETO_DEPTH_MAX);
    free(text);
}
END_TEST

START_TEST(a_pipe_gives_what_a_file_gives)
{
    static delivered from_pipe;
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], document, strlen(document)), (ssize_t)strlen(document));
    close(ends[1]);
    read_fd(&from_pipe, ends[0]);
    close(ends[0]);
    read_bytes(&got, document, strlen(document));
    ck_assert_int_eq(from_pipe.status, NM_END);
    ck_assert_mem_eq(from_pipe.events, got.events, sizeof got.events);
    ck_assert_str_eq(from_pipe.summary.recording_id, got.summary.recording_id);
}
END_TEST

/* Spans of whole microseconds that touch are neighbours; of two that begin at one time the longer is around, of equal ones the first. */
START_TEST(of_spans_that_touch_the_later_is_open)
{
    static const struct {
        const char *name;
        int64_t begin_ns, end_ns;
    } list[] = {{"d", 5, 7}, {"b", 5, 9}, {"c", 5, 9}, {"a", 0, 5}};
    nm_gathered *gathered;
    nm_kineto_spans *spans = calloc(1, sizeof *spans);
    nm_error err;
    uint64_t b, c, d, a, at;

    ck_assert_int_eq(nm_gathered_new(&gathered, &err), NM_OK);
    spans->gathered = gathered;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        ck_assert_int_eq(nm_kineto_spans_add(spans, 0, list[i].begin_ns, list[i].end_ns,
                                             (nm_bytes){(const uint8_t *)list[i].name, 1}, &err),
                         NM_OK);
    ck_assert_int_eq(nm_gathered_stack(gathered, 0, 4, &a, &err), NM_OK); /* frames count as they came */
    ck_assert_int_eq(nm_gathered_stack(gathered, 0, 2, &b, &err), NM_OK);
    ck_assert_int_eq(nm_gathered_stack(gathered, b, 3, &c, &err), NM_OK);
    ck_assert_int_eq(nm_gathered_stack(gathered, c, 1, &d, &err), NM_OK);
    nm_kineto_spans_sort(spans);
    const struct {
        int64_t ns;
        uint64_t stack;
    } asked[] = {{4, a}, {5, d}, {7, d}, {8, c}, {9, c}, {10, 0}};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        ck_assert_int_eq(nm_kineto_spans_stack(spans, 0, asked[i].ns, &at, &err), NM_OK);
        ck_assert_uint_eq(at, asked[i].stack);
    }
    nm_kineto_spans_free(spans);
    free(spans);
    nm_gathered_free(gathered);
}
END_TEST

TEST_SUITE(test_kineto_source)
{
    Suite *suite = suite_create("kineto source");
    TCase *tests = tcase_create("torch.profiler");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, all_of_a_small_one_is_delivered);
    tcase_add_test(tests, cut_at_every_byte_it_gives_what_is_whole);
    tcase_add_test(tests, every_byte_changed_neither_crashes_nor_hangs);
    tcase_add_test(tests, any_lines_and_numbers_neither_crash_nor_hang);
    tcase_add_test(tests, spans_deeper_than_any_stack_are_cut);
    tcase_add_test(tests, a_pipe_gives_what_a_file_gives);
    tcase_add_test(tests, of_spans_that_touch_the_later_is_open);
    suite_add_tcase(suite, tests);
    return suite;
}
