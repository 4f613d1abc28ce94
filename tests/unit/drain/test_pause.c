/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a pause begins and ends among the events of several rings, what is withheld, and what a keeper of the live set is
 * told and asked; with rings written by hand and a keeper that only takes notes. And the drain's own events: in order.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "drain/clock.h"
#include "support/drain_bench.h"
#include "support/suites.h"

#define SLOTS 1024

typedef struct keeper { /* takes notes */
    nm_pauser pauser;
    char notes[512]; /* b: begin, c: catch up, e: end, w and an address: withheld */
} keeper;

static drain_bench bench;
static hand_process process;
static hand_ring first, second;
static keeper kept;

static void note(const char *text)
{
    strncat(kept.notes, text, sizeof kept.notes - strlen(kept.notes) - 1);
}

static void see_unwritten(void *context, const nm_record *record)
{
    char text[32];

    (void)context;
    snprintf(text, sizeof text, "w%llx ", (unsigned long long)record->event.address);
    note(text);
}

static nm_status see_begin(void *context, uint64_t number, nm_error *err)
{
    (void)context;
    (void)err;
    ck_assert_uint_eq(number, process.number);
    note("b ");
    return NM_OK;
}

/* One allocation stands for what the trace has missed. */
static nm_status catch_up(void *context, uint64_t number, nm_pause_put *put, void *put_context, nm_error *err)
{
    nm_event event = {.kind = NM_EVENT_ALLOC, .flags = NM_FLAG_PAUSED, .heap_id = 1, .address = 0xcafe};

    (void)context;
    (void)number;
    note("c ");
    return put(put_context, &event, err);
}

static void see_end(void *context, uint64_t number)
{
    (void)context;
    (void)number;
    note("e ");
}

static void open_with(const nm_folder_options *wanted, bool has_keeper)
{
    nm_folder_options options = *wanted;
    nm_error err;

    options.stack_depth = 64;
    options.ring_bytes = NM_RING_BYTES_MIN;
    options.is_live_set_known = has_keeper;
    kept = (keeper){.pauser = {.unwritten = see_unwritten, .begin = see_begin, .catch_up = catch_up, .end = see_end}};
    drain_bench_open(&bench); /* its drain gives way to one with a keeper */
    nm_drain_free(bench.drain);
    nm_folder_close(&bench.folder);
    nm_folder_remove(bench.folder_path);
    ck_assert_int_eq(ftruncate(bench.fd, 0), 0);
    lseek(bench.fd, 0, SEEK_SET);
    ck_assert_int_eq(nm_folder_create(bench.folder_path, &options, &bench.folder, &err), NM_OK);
    ck_assert_int_eq(nm_drain_new(&(nm_drain_options){.folder = &bench.folder,
                                                      .fd = bench.fd,
                                                      .pauser = has_keeper ? &kept.pauser : NULL,
                                                      .block_age_ns = 20000000},
                                  &bench.drain, &err),
                     NM_OK);
    hand_process_join(&process, bench.folder_path, getpid(), hand_start_time(getpid()));
    atomic_store(&process.shared->is_device_user, 1);
    hand_ring_make(&first, &process, SLOTS, getpid(), "first");
    hand_ring_make(&second, &process, SLOTS, getpid(), "second");
    hand_heap(&first, 1, NM_LEVEL_POOL, 0, "pool");
}

static void close_all(trace_content *content)
{
    trace_content_free(content);
    hand_ring_unmap(&first);
    hand_ring_unmap(&second);
    hand_process_leave(&process);
    drain_bench_close(&bench);
}

static void step(hand_ring *ring, int64_t number)
{
    nm_ring_number record = {.number = number};

    hand_put(ring, NM_EVENT_STEP, &record, sizeof record);
}

static void say_pause(hand_ring *ring, nm_pause_detail detail)
{
    nm_ring_number record = {.detail = detail};

    hand_put(ring, NM_EVENT_PAUSE, &record, sizeof record);
}

/* The events as one line: a and f with their address, s with its number, P and its detail, m, F, x: end of a process. */
static const char *line_of(const trace_content *content)
{
    static char line[1024];

    line[0] = 0;
    for (size_t i = 0; i < content->event_count; i++) {
        const nm_event *event = &content->events[i];
        size_t len = strlen(line);
        char *at = line + len;
        size_t room = sizeof line - len;

        if (event->kind == NM_EVENT_ALLOC || event->kind == NM_EVENT_FREE)
            snprintf(at, room, "%c%llx ", event->kind == NM_EVENT_ALLOC ? 'a' : 'f',
                     (unsigned long long)event->address);
        else if (event->kind == NM_EVENT_STEP)
            snprintf(at, room, "s%lld ", (long long)event->number);
        else if (event->kind == NM_EVENT_PAUSE)
            snprintf(at, room, "P%llu ", (unsigned long long)event->detail);
        else
            snprintf(at, room, "%s ",
                     event->kind == NM_EVENT_MARK           ? "m"
                     : event->kind == NM_EVENT_ALLOC_FAILED ? "F"
                     : event->kind == NM_EVENT_PROCESS_END  ? "x"
                                                            : "?");
    }
    return line;
}

START_TEST(steps_draw_the_line_for_all_threads_of_a_process)
{
    trace_content content;

    open_with(&(nm_folder_options){.has_from_step = true, .from_step = 2, .has_to_step = true, .to_step = 3}, true);
    hand_alloc(&first, 0, 1, 0x1, 64, 0);
    step(&first, 1);
    hand_alloc(&second, 0, 1, 0x2, 64, 0);
    step(&second, 2);
    hand_alloc(&first, 0, 1, 0x3, 64, 0);
    step(&first, 3);
    hand_alloc(&second, 0, 1, 0x4, 64, 0);
    step(&second, 4);
    hand_alloc(&first, 0, 1, 0x5, 64, 0);
    hand_free(&second, 0, 1, 0x3);
    drain_bench_run_ms(&bench, 60);
    drain_bench_finish(&bench, &content);
    /* The first pause begins before all else; the last is brought up to date at the end. */
    ck_assert_str_eq(line_of(&content), "P1 s1 acafe P2 s2 a3 s3 a4 P1 s4 acafe x ");
    ck_assert_str_eq(kept.notes, "b w1 w2 c e b w5 w3 c ");
    close_all(&content);
}
END_TEST

START_TEST(a_program_pauses_itself_and_goes_on)
{
    trace_content content;

    open_with(&(nm_folder_options){0}, true);
    hand_alloc(&first, 0, 1, 0x1, 64, 0);
    say_pause(&first, NM_PAUSE_BEGIN);
    say_pause(&second, NM_PAUSE_BEGIN); /* any number */
    hand_alloc(&second, 0, 1, 0x2, 64, 0);
    hand_mark(&second, "not told");
    say_pause(&second, NM_PAUSE_END);
    hand_mark(&first, "told");
    hand_alloc(&first, 0, 1, 0x3, 64, 0);
    drain_bench_run_ms(&bench, 60);
    drain_bench_finish(&bench, &content);
    ck_assert_str_eq(line_of(&content), "a1 P1 acafe P2 m a3 x ");
    ck_assert_str_eq(kept.notes, "b w2 c e ");
    close_all(&content);
}
END_TEST

START_TEST(without_a_keeper_memory_is_written_all_the_time)
{
    trace_content content;

    open_with(&(nm_folder_options){0}, false);
    hand_alloc(&first, 0, 1, 0x1, 64, 0);
    say_pause(&first, NM_PAUSE_BEGIN);
    hand_alloc(&second, 0, 1, 0x2, 64, 0);
    say_pause(&second, NM_PAUSE_END);
    hand_free(&first, 0, 1, 0x2);
    drain_bench_run_ms(&bench, 60);
    drain_bench_finish(&bench, &content);
    ck_assert_str_eq(line_of(&content), "a1 P4 a2 P2 f2 x ");
    close_all(&content);
}
END_TEST

START_TEST(failures_and_snapshots_find_the_trace_up_to_date)
{
    trace_content content;
    nm_ring_alloc_failed failed = {.requested_bytes = 9, .where = nm_ring_where(1, 0, 0)};
    struct {
        nm_ring_text record;
        char text[8];
    } snapshot = {{.detail = 1, .text_bytes = 4}, "snap"};

    open_with(&(nm_folder_options){.starts_paused = true}, true);
    hand_alloc(&first, 0, 1, 0x1, 64, 0);
    hand_put(&first, NM_EVENT_ALLOC_FAILED, &failed, sizeof failed);
    hand_alloc(&first, 0, 1, 0x2, 64, 0);
    hand_put(&first, NM_EVENT_MARK, &snapshot, sizeof snapshot.record + 8);
    drain_bench_run_ms(&bench, 60);
    drain_bench_finish(&bench, &content);
    ck_assert_str_eq(line_of(&content), "P1 acafe F acafe m acafe x ");
    ck_assert_str_eq(kept.notes, "b w1 c w2 c c ");
    close_all(&content);
}
END_TEST

START_TEST(the_recorder_starts_and_stops_all)
{
    trace_content content;
    nm_error err;

    open_with(&(nm_folder_options){.starts_paused = true}, true);
    ck_assert_uint_eq(atomic_load(&bench.folder.session->is_paused), NM_PAUSED_AT_START);
    hand_alloc(&first, 0, 1, 0x1, 64, 0);
    drain_bench_run_ms(&bench, 20);
    ck_assert_uint_eq(nm_drain_paused_count(bench.drain), 1);
    ck_assert_int_eq(nm_drain_pause(bench.drain, false, &err), NM_OK);
    ck_assert_uint_eq(atomic_load(&bench.folder.session->is_paused), 0);
    drain_bench_run_ms(&bench, 20);
    ck_assert(nm_drain_is_recording_in_full(bench.drain));
    hand_alloc(&first, 0, 1, 0x2, 64, 0);
    drain_bench_run_ms(&bench, 20);
    ck_assert_int_eq(nm_drain_pause(bench.drain, true, &err), NM_OK);
    drain_bench_run_ms(&bench, 20);
    hand_alloc(&first, 0, 1, 0x3, 64, 0);
    drain_bench_run_ms(&bench, 20);
    drain_bench_finish(&bench, &content);
    ck_assert_str_eq(line_of(&content), "P1 acafe P2 a2 P1 acafe x ");
    ck_assert_str_eq(kept.notes, "b w1 c e b w3 c ");
    close_all(&content);
}
END_TEST

START_TEST(a_program_ends_the_pause_that_the_recording_began_with_and_no_other)
{
    trace_content content;
    nm_error err;

    open_with(&(nm_folder_options){.starts_paused = true}, true);
    hand_alloc(&first, 0, 1, 0x1, 64, 0);
    say_pause(&first, NM_PAUSE_END);
    hand_alloc(&second, 0, 1, 0x2, 64, 0);
    drain_bench_run_ms(&bench, 20);
    ck_assert(nm_drain_is_recording_in_full(bench.drain));
    ck_assert_int_eq(nm_drain_pause(bench.drain, true, &err), NM_OK);
    ck_assert_uint_eq(atomic_load(&bench.folder.session->is_paused), NM_PAUSED_BY_SESSION);
    drain_bench_run_ms(&bench, 20);
    say_pause(&first, NM_PAUSE_END);
    hand_alloc(&first, 0, 1, 0x3, 64, 0);
    drain_bench_run_ms(&bench, 20);
    ck_assert_uint_eq(nm_drain_paused_count(bench.drain), 1);
    drain_bench_finish(&bench, &content);
    ck_assert_str_eq(line_of(&content), "P1 acafe P2 a2 P1 acafe x ");
    ck_assert_str_eq(kept.notes, "b w1 c e b w3 c ");
    close_all(&content);
}
END_TEST

START_TEST(while_paused_the_file_does_not_grow_and_the_rings_do_not_fill)
{
    trace_content content;
    nm_drain_report before, after;

    open_with(&(nm_folder_options){.starts_paused = true}, true);
    hand_alloc(&first, 0, 1, 0x1, 64, 0);
    drain_bench_run_ms(&bench, 100); /* what is defined is written */
    nm_drain_tell(bench.drain, &before);
    for (int i = 0; i < 10 * SLOTS; i++) {
        hand_alloc(&first, 0, 1, 0x2, 64, 0);
        hand_free(&first, 0, 1, 0x2);
        if (i % 100 == 0)
            drain_bench_pass(&bench);
        if (i % (SLOTS / 4) == 0)
            drain_bench_run_ms(&bench, 30);
    }
    drain_bench_run_until_written(&bench, &first);
    nm_drain_tell(bench.drain, &after);
    ck_assert_uint_eq(after.file_bytes, before.file_bytes);
    ck_assert_uint_eq(after.dropped_count, 0);
    drain_bench_finish(&bench, &content);
    ck_assert_str_eq(line_of(&content), "P1 acafe x ");
    close_all(&content);
}
END_TEST

/* What the recorder posts stands behind all that happened before, in the order of posting. */
START_TEST(posts_stand_behind_what_happened_before)
{
    trace_content content;
    nm_error err;
    const char *const names[] = {"one", "two", "three"};

    open_with(&(nm_folder_options){0}, false);
    for (unsigned i = 0; i < 3; i++) {
        nm_event event = {.kind = NM_EVENT_MARK};

        hand_alloc(&first, 0, 1, 0x10 + i, 64, 0);
        hand_alloc(&second, 0, 1, 0x20 + i, 64, 0);
        ck_assert_int_eq(
            nm_drain_text(bench.drain, (nm_bytes){(const uint8_t *)names[i], strlen(names[i])}, &event.name_id, &err),
            NM_OK);
        ck_assert_int_eq(nm_drain_post(bench.drain, &event, &err), NM_OK);
        sleep_ms(5); /* more than the margin, so that it is known what came before */
        drain_bench_run_ms(&bench, 10);
    }
    drain_bench_finish(&bench, &content);
    ck_assert_str_eq(line_of(&content), "a10 a20 m a11 a21 m a12 a22 m x ");
    for (size_t i = 0, seen = 0; i < content.event_count; i++)
        if (content.events[i].kind == NM_EVENT_MARK)
            ck_assert(trace_content_text_is(&content, content.events[i].name_id, names[seen++]));
    for (size_t i = 1; i < content.event_count; i++)
        ck_assert_int_ge(content.events[i].time_ns, content.events[i - 1].time_ns);
    close_all(&content);
}
END_TEST

TEST_SUITE(test_pause)
{
    Suite *suite = suite_create("pause");
    TCase *tests = tcase_create("pause");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, steps_draw_the_line_for_all_threads_of_a_process);
    tcase_add_test(tests, a_program_pauses_itself_and_goes_on);
    tcase_add_test(tests, without_a_keeper_memory_is_written_all_the_time);
    tcase_add_test(tests, failures_and_snapshots_find_the_trace_up_to_date);
    tcase_add_test(tests, the_recorder_starts_and_stops_all);
    tcase_add_test(tests, a_program_ends_the_pause_that_the_recording_began_with_and_no_other);
    tcase_add_test(tests, while_paused_the_file_does_not_grow_and_the_rings_do_not_fill);
    tcase_add_test(tests, posts_stand_behind_what_happened_before);
    suite_add_tcase(suite, tests);
    return suite;
}
