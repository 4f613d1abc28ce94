/* SPDX-License-Identifier: Apache-2.0
 *
 * Which passes run, in what order they are told, and that their rooms are their own: with passes made for the purpose.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/passes.h"
#include "replay/keyframe.h"
#include "replay/lookup.h"
#include "replay/pass.h"
#include "support/suites.h"
#include "support/text_trace.h"

#define HEAD                                                                                                           \
    "process 1 pid=100 host=h1\n"                                                                                      \
    "thread 1 process=1 tid=100\n"                                                                                     \
    "device 1 process=1 ordinal=0 physical=4\n"                                                                        \
    "heap 1 process=1 device=1 level=driver\n"                                                                         \
    "heap 2 process=1 device=1 level=pool\n"                                                                           \
    "stack 1: a\n"

static char told[4096];
static uint64_t given[NM_ROW_KINDS];

static nm_status take_row(void *context, nm_row_kind kind, const void *row, nm_error *err)
{
    (void)context;
    (void)row;
    (void)err;
    given[kind]++;
    return NM_OK;
}

static void note(const char *name, const char *what)
{
    size_t length = strlen(told);

    ck_assert_uint_lt(length + strlen(name) + strlen(what) + 3, sizeof told);
    snprintf(told + length, sizeof told - length, "%s:%s ", name, what);
}

/* ---- The passes: each counts lives in the rooms of heaps, and what it is told --------------------------------------- */

typedef struct counter {
    uint64_t born, ended, mark;
} counter;

static nm_status count(nm_run *run, const nm_change *change, nm_error *err)
{
    const nm_heap *heap = change->live->heap;
    counter *of_heap = nm_heap_room(run, heap);
    counter *of_live = nm_live_room(run, change->live);
    counter *of_all = nm_replay_room(run);

    (void)err;
    note(run->pass->name, change->kind == NM_CHANGE_BORN ? "born" : "ending");
    ck_assert_uint_eq(of_live->born, change->kind != NM_CHANGE_BORN);
    ck_assert_uint_eq(of_live->mark, of_live->born * nm_live_address(change->live));
    of_live->mark = nm_live_address(change->live);
    of_live->born = 1;
    of_heap->born += change->kind == NM_CHANGE_BORN;
    of_heap->ended += change->kind == NM_CHANGE_ENDING;
    of_all->born += change->kind == NM_CHANGE_BORN;
    return NM_OK;
}

static nm_status finish(nm_run *run, nm_error *err)
{
    const counter *of_all = nm_replay_room(run);
    uint64_t born = 0;

    (void)err;
    for (const nm_heap *heap = run->replay->first_heap; heap != NULL; heap = heap->next)
        born += ((const counter *)nm_heap_room(run, heap))->born;
    ck_assert_uint_eq(born, of_all->born);
    note(run->pass->name, "finish");
    return nm_give_note(&run->replay->sink, &(nm_note_row){0}, err);
}

static void release(nm_run *run)
{
    note(run->pass->name, "release");
}

#define COUNTING                                                                                                       \
    .wants = {[NM_CHANGE_BORN] = count, [NM_CHANGE_ENDING] = count},                                                   \
    .room =                                                                                                            \
        {[NM_OWNER_REPLAY] = sizeof(counter), [NM_OWNER_HEAP] = sizeof(counter), [NM_OWNER_LIVE] = sizeof(counter)},   \
    .finish = finish, .release = release

static const nm_pass base_pass = {.name = "base", .gives = {[NM_ROW_GAP] = true}, COUNTING};
static const nm_pass alone_pass = {.name = "alone", .gives = {[NM_ROW_USAGE] = true}, COUNTING};
static const nm_pass *const base_alone[] = {&base_pass, NULL};
static const nm_pass upper_pass = {.name = "upper", .gives = {[NM_ROW_NOTE] = true}, .needs = base_alone, COUNTING};
static const nm_pass *const table[] = {&base_pass, &alone_pass, &upper_pass, NULL};

/* ---- A pass that is saved: it counts births, of what a keyframe brings not again ------------------------------------- */

#define SAVED 40 /* a figure of heaps that the replay does not know */

static nm_status count_new(nm_run *run, const nm_change *change, nm_error *err)
{
    (void)err;
    ((counter *)nm_heap_room(run, change->live->heap))->born += !change->live->is_kept;
    ((counter *)nm_replay_room(run))->born += !change->live->is_kept;
    return NM_OK;
}

static nm_status save(const nm_run *run, const nm_heap *heap, const nm_keyframe_out *out, nm_error *err)
{
    nm_event event = {.kind = NM_EVENT_HEAP_TOTAL, .detail = SAVED};
    const counter *room = nm_replay_room(run);

    note(run->pass->name, heap == NULL ? "save-rest" : "save-heap");
    if (heap != NULL) {
        event = nm_keyframe_figure(heap, SAVED);
        room = nm_heap_room(run, heap);
    }
    event.count = room->born;
    return nm_keyframe_write(out, &event, err);
}

static nm_status restore(nm_run *run, const nm_context *context, nm_error *err)
{
    counter *room = nm_replay_room(run);

    (void)err;
    if (context->event->kind != NM_EVENT_HEAP_TOTAL || context->event->detail != SAVED)
        return NM_OK;
    note(run->pass->name, context->heap == NULL ? "restore-rest" : "restore-heap");
    if (context->heap != NULL)
        room = nm_heap_room(run, context->heap);
    room->born = context->event->count;
    return NM_OK;
}

static nm_status tell_sums(nm_run *run, nm_error *err)
{
    char sums[100] = "";

    (void)err;
    for (const nm_heap *heap = run->replay->first_heap; heap != NULL; heap = heap->next)
        snprintf(sums + strlen(sums), sizeof sums - strlen(sums), "%d+",
                 (int)((const counter *)nm_heap_room(run, heap))->born);
    snprintf(sums + strlen(sums), sizeof sums - strlen(sums), "=%d", (int)((const counter *)nm_replay_room(run))->born);
    note(run->pass->name, sums);
    return NM_OK;
}

static const nm_pass saved_pass = {
    .name = "saved",
    .gives = {[NM_ROW_GAP] = true},
    .wants = {[NM_CHANGE_BORN] = count_new},
    .room = {[NM_OWNER_REPLAY] = sizeof(counter), [NM_OWNER_HEAP] = sizeof(counter)},
    .finish = tell_sums,
    .save = save,
    .restore = restore,
};
static const nm_pass *const saved_table[] = {&alone_pass, &saved_pass, NULL};

/* What a change says beside memory: which heaps an event has touched, which device moved, what is listed. */
static nm_status tell_more(nm_run *run, const nm_change *change, nm_error *err)
{
    char more[100] = "";

    (void)err;
    if (change->kind == NM_CHANGE_BEGUN)
        snprintf(more, sizeof more, "begun-after-%d", (int)run->replay->has_events);
    if (change->kind == NM_CHANGE_DEVICE_MOVED)
        snprintf(more, sizeof more, "device-%d%s", (int)change->device->id,
                 change->hardware != change->device->group ? "-moved" : "");
    if (change->kind == NM_CHANGE_LISTED)
        snprintf(more, sizeof more, "listed-in-%d-%s-%s", (int)change->heap->id, change->live != NULL ? "live" : "-",
                 change->part != NULL ? "part" : "-");
    if (change->kind == NM_CHANGE_DONE)
        for (const nm_heap *heap = run->replay->first_touched; heap != NULL; heap = heap->next_touched)
            snprintf(more + strlen(more), sizeof more - strlen(more), "%d,", (int)heap->id);
    note(change->context == NULL ? "-" : "@", more);
    return NM_OK;
}

static const nm_pass more_pass = {
    .name = "more",
    .gives = {[NM_ROW_USAGE] = true},
    .wants = {[NM_CHANGE_BEGUN] = tell_more,
              [NM_CHANGE_DONE] = tell_more,
              [NM_CHANGE_DEVICE_MOVED] = tell_more,
              [NM_CHANGE_LISTED] = tell_more},
};
static const nm_pass *const more_table[] = {&more_pass, NULL};

/* ---- Passes that hear at times ------------------------------------------------------------------------------------- */

static nm_run *last_run; /* of the pass that comes last; it hears births when the first has heard one in heap 2 */

static nm_status catch_run(nm_run *run, const nm_change *change, nm_error *err)
{
    (void)change;
    (void)err;
    last_run = run;
    return NM_OK;
}

static nm_status wake_last(nm_run *run, const nm_change *change, nm_error *err)
{
    (void)err;
    note(run->pass->name, "born");
    if (change->live->heap->id == 2)
        nm_run_hear(last_run, NM_CHANGE_BORN, true);
    return NM_OK;
}

static nm_status hear_ends(nm_run *run, const nm_change *change, nm_error *err)
{
    (void)change;
    (void)err;
    note(run->pass->name, "born");
    nm_run_hear(run, NM_CHANGE_ENDING, true);
    return NM_OK;
}

static nm_status hear_once(nm_run *run, const nm_change *change, nm_error *err)
{
    (void)err;
    note(run->pass->name, change->kind == NM_CHANGE_BORN ? "born" : "ending");
    nm_run_hear(run, change->kind, false);
    return NM_OK;
}

static nm_status hear_all(nm_run *run, const nm_change *change, nm_error *err)
{
    (void)change;
    (void)err;
    note(run->pass->name, "ending");
    return NM_OK;
}

static const nm_pass first_pass = {.name = "first",
                                   .gives = {[NM_ROW_GAP] = true},
                                   .wants = {[NM_CHANGE_BORN] = wake_last, [NM_CHANGE_ENDING] = hear_all}};
static const nm_pass middle_pass = {.name = "middle",
                                    .gives = {[NM_ROW_GAP] = true},
                                    .wants = {[NM_CHANGE_BORN] = hear_ends, [NM_CHANGE_ENDING] = hear_once},
                                    .at_times = {[NM_CHANGE_ENDING] = true}};
static const nm_pass last_pass = {
    .name = "last",
    .gives = {[NM_ROW_GAP] = true},
    .wants = {[NM_CHANGE_HEAP_DEFINED] = catch_run, [NM_CHANGE_BORN] = hear_once, [NM_CHANGE_ENDING] = hear_all},
    .at_times = {[NM_CHANGE_BORN] = true}};
static const nm_pass *const at_times_table[] = {&first_pass, &middle_pass, &last_pass, NULL};

static nm_replay *take_text(const nm_sink *sink, const nm_pass *const *passes, const char *text)
{
    nm_text_trace *trace = NULL;
    nm_replay *made = NULL;
    nm_record record;
    nm_error err;

    ck_assert_int_eq(nm_text_trace_open(text, &trace, &err), NM_OK);
    ck_assert_int_eq(nm_replay_new(sink, passes, &made, &err), NM_OK);
    while (nm_text_trace_next(trace, &record, &err) == NM_OK)
        ck_assert_int_eq(nm_replay_record(made, &record, &err), NM_OK);
    nm_text_trace_close(trace);
    return made;
}

static void finish_and_free(nm_replay *made)
{
    ck_assert_int_eq(nm_replay_finish(made, NULL), NM_OK);
    nm_replay_free(made);
}

static nm_status repeat(void *context, const nm_event *event, nm_error *err)
{
    return nm_replay_record(context, &(nm_record){.kind = NM_RECORD_EVENT, .event = *event}, err);
}

static void keyframe(const nm_replay *from, nm_replay *to)
{
    nm_event event = {.kind = NM_EVENT_KEYFRAME, .detail = NM_KEYFRAME_BEGIN};

    ck_assert_int_eq(repeat(to, &event, NULL), NM_OK);
    ck_assert_int_eq(nm_replay_keyframe(from, repeat, to, NULL), NM_OK);
    event.detail = NM_KEYFRAME_END;
    ck_assert_int_eq(repeat(to, &event, NULL), NM_OK);
}

static void replay(const nm_sink *sink, const nm_pass *const *passes, const char *text)
{
    told[0] = '\0';
    memset(given, 0, sizeof given);
    finish_and_free(take_text(sink, passes, text));
}

/* ---- Tests --------------------------------------------------------------------------------------------------------- */

START_TEST(a_pass_runs_where_its_rows_are_wanted)
{
    nm_sink sink = {.row = take_row, .wants = {[NM_ROW_USAGE] = true}};

    replay(&sink, table, HEAD "@1 alloc heap=1 address=0x1000 requested=64 thread=1 stack=1\n");
    ck_assert_str_eq(told, "alone:born alone:finish alone:release ");
}
END_TEST

START_TEST(a_pass_that_is_needed_runs_before_the_one_that_needs_it)
{
    nm_sink sink = {.row = take_row, .wants = {[NM_ROW_NOTE] = true}};

    replay(&sink, table,
           HEAD "@1 alloc heap=1 address=0x1000 requested=64 thread=1 stack=1\n"
                "@2 free heap=1 address=0x1000 thread=1\n");
    ck_assert_str_eq(told, "base:born upper:born base:ending upper:ending base:finish upper:finish "
                           "upper:release base:release ");
    ck_assert_uint_eq(given[NM_ROW_NOTE], 2);
}
END_TEST

START_TEST(nobody_runs_where_nobody_wants_rows)
{
    nm_sink sink = {.row = take_row};

    replay(&sink, table, HEAD "@1 alloc heap=1 address=0x1000 requested=64 thread=1 stack=1\n");
    ck_assert_str_eq(told, "");
}
END_TEST

START_TEST(a_replay_needs_no_passes)
{
    nm_sink sink = nm_sink_of_all(NULL, take_row);

    replay(&sink, NULL, HEAD "@1 alloc heap=1 address=0x1000 requested=64 thread=1 stack=1\n");
    ck_assert_uint_eq(given[NM_ROW_ALLOCATION], 1);
}
END_TEST

/* count() and finish() look into the rooms: those of a block that comes after another are zeroed again. */
START_TEST(each_object_has_a_zeroed_room_for_each_pass)
{
    nm_sink sink = nm_sink_of_all(NULL, take_row);
    char text[8192] = HEAD;

    for (int i = 0; i < 40; i++) {
        size_t length = strlen(text);

        snprintf(text + length, sizeof text - length,
                 "@%d alloc heap=%d address=0x%x000 requested=64 thread=1 stack=1\n"
                 "@%d free heap=%d address=0x%x000 thread=1\n",
                 2 * i + 1, i % 2 + 1, i % 3 + 1, 2 * i + 2, i % 2 + 1, i % 3 + 1);
    }
    replay(&sink, table, text);
    ck_assert_uint_eq(given[NM_ROW_ALLOCATION], 40);
}
END_TEST

/* Who begins to hear a kind while that is told is told it yet, and who stops keeps nobody from it. */
START_TEST(a_pass_hears_at_times_from_the_change_on_that_is_being_told)
{
    nm_sink sink = {.row = take_row, .wants = {[NM_ROW_GAP] = true}};

    replay(&sink, at_times_table,
           HEAD "@1 alloc heap=1 address=0x1000 requested=64 thread=1 stack=1\n"
                "@2 alloc heap=2 address=0x5000 requested=64 thread=1 stack=1\n"
                "@3 alloc heap=1 address=0x2000 requested=64 thread=1 stack=1\n"
                "@4 free heap=1 address=0x1000 thread=1\n"
                "@5 free heap=1 address=0x2000 thread=1\n");
    ck_assert_str_eq(told, "first:born middle:born first:born middle:born last:born first:born middle:born "
                           "first:ending middle:ending last:ending first:ending last:ending ");
}
END_TEST

#define THREE_BIRTHS                                                                                                   \
    "@1 alloc heap=1 address=0x1000 requested=64 thread=1 stack=1\n"                                                   \
    "@2 alloc heap=2 address=0x5000 requested=64 thread=1 stack=1\n"                                                   \
    "@3 free heap=2 address=0x5000 thread=1\n"                                                                         \
    "@4 alloc heap=2 address=0x6000 requested=64 thread=1 stack=1\n"

START_TEST(what_a_pass_saves_another_replay_restores)
{
    nm_sink sink = {.row = take_row, .wants = {[NM_ROW_GAP] = true}};
    nm_replay *from = take_text(&sink, saved_table, HEAD THREE_BIRTHS);
    nm_replay *to = take_text(&sink, saved_table, HEAD);

    told[0] = '\0';
    keyframe(from, to);
    ck_assert_str_eq(told, "saved:save-heap saved:restore-heap saved:save-heap saved:restore-heap "
                           "saved:save-rest saved:restore-rest ");
    told[0] = '\0';
    finish_and_free(to);
    ck_assert_str_eq(told, "saved:1+2+=3 ");
    told[0] = '\0';
    finish_and_free(from); /* to save changes nothing */
    ck_assert_str_eq(told, "saved:1+2+=3 ");
}
END_TEST

START_TEST(who_does_not_know_the_pass_passes_over_what_it_saved)
{
    nm_sink sink = nm_sink_of_all(NULL, take_row);
    nm_replay *from = take_text(&sink, saved_table, HEAD THREE_BIRTHS);
    nm_replay *to = take_text(&sink, NULL, HEAD);

    memset(given, 0, sizeof given);
    told[0] = '\0';
    keyframe(from, to);
    ck_assert_str_eq(told, "saved:save-heap saved:save-heap saved:save-rest ");
    finish_and_free(to);
    ck_assert_uint_eq(given[NM_ROW_ALLOCATION], 2);
    ck_assert_uint_eq(given[NM_ROW_HEAP_TOTAL], 2);
    finish_and_free(from);
}
END_TEST

START_TEST(a_keyframe_wants_the_rows_of_those_who_save)
{
    bool wants[NM_ROW_KINDS] = {[NM_ROW_NOTE] = true};

    nm_keyframe_wants(saved_table, wants);
    for (int kind = 0; kind < NM_ROW_KINDS; kind++)
        ck_assert_int_eq(wants[kind], kind == NM_ROW_NOTE || kind == NM_ROW_GAP);
}
END_TEST

/* A block makes the range under it a segment: figures of the driver's heap change, too. Who only looks touches nothing. */
START_TEST(done_names_the_heaps_that_an_event_touched)
{
    nm_sink sink = nm_sink_of_all(NULL, take_row);

    replay(&sink, more_table,
           HEAD "- alloc heap=1 address=0x100000 block=64 baseline\n"
                "@1 alloc heap=1 address=0x1000 block=4096 thread=1\n"
                "@2 alloc heap=2 address=0x1000 requested=64 block=512 thread=1\n"
                "@3 alloc heap=2 address=0x1200 requested=64 block=512 thread=1\n"
                "@4 mark thread=1\n"
                "@5 free heap=1 address=0x1000 thread=1\n");
    ck_assert_str_eq(told, "@:1, @:begun-after-0 @:1, @:1,2, @:2, @:2,1, ");
}
END_TEST

/* A pool that is defined late takes the segments that are there: no event has touched them. */
START_TEST(a_definition_is_done_too)
{
    nm_sink sink = nm_sink_of_all(NULL, take_row);

    replay(&sink, more_table,
           "process 1 pid=100 host=h1\n"
           "device 1 process=1 ordinal=0 physical=4\n"
           "heap 1 process=1 device=1 level=driver\n"
           "@1 alloc heap=1 address=0x1000 block=4096 segment\n"
           "heap 2 process=1 device=1 level=pool\n"
           "device 1 process=1 ordinal=0 physical=5\n"
           "device 1 process=1 ordinal=0 physical=5\n");
    ck_assert_str_eq(told, "@:begun-after-0 @:1, -:1,2, -:device-1-moved ");
}
END_TEST

START_TEST(what_is_listed_is_told_with_its_part_and_what_is_there)
{
    nm_sink sink = nm_sink_of_all(NULL, take_row);

    replay(&sink, more_table,
           HEAD "@1 alloc heap=1 address=0x1000 block=4096 segment\n"
                "@2 alloc heap=2 address=0x1000 requested=64 block=512\n"
                "- state_block heap=2 address=0x7000 block=512\n"
                "- state_segment heap=1 address=0x1000 block=4096 size=512\n"
                "- state_block heap=2 address=0x1000 block=512\n"
                "- state_block heap=2 address=0x1200 block=3584 idle\n"
                "- state_segment heap=2 address=0x9000 block=4096\n");
    ck_assert_str_eq(told, "@:begun-after-0 @:1,2, @:2, @:listed-in-2---- @:listed-in-2-live-part "
                           "@:listed-in-2-live-part @:listed-in-2---part @:listed-in-2---part ");
}
END_TEST

static nm_status take_nothing(void *context, nm_row_kind kind, const void *row, nm_error *err)
{
    (void)context, (void)kind, (void)row, (void)err;
    return NM_OK;
}

/* What lives comes by the million: with the rooms of all passes it takes six lines of 64 bytes. */
START_TEST(what_lives_takes_384_bytes_at_most)
{
    nm_sink sink = nm_sink_of_all(NULL, take_nothing);
    nm_replay *made = take_text(&sink, nm_passes, "process 1 pid=1 host=h\n");

    ck_assert_uint_gt(nm_runs_bytes_of(made, NM_OWNER_LIVE), sizeof(nm_live));
    ck_assert_uint_le(nm_runs_bytes_of(made, NM_OWNER_LIVE), 384);
    finish_and_free(made);
}
END_TEST

TEST_SUITE(test_pass)
{
    Suite *suite = suite_create("pass");
    TCase *test = tcase_create("all");

    tcase_add_test(test, a_pass_runs_where_its_rows_are_wanted);
    tcase_add_test(test, a_pass_that_is_needed_runs_before_the_one_that_needs_it);
    tcase_add_test(test, nobody_runs_where_nobody_wants_rows);
    tcase_add_test(test, a_replay_needs_no_passes);
    tcase_add_test(test, each_object_has_a_zeroed_room_for_each_pass);
    tcase_add_test(test, a_pass_hears_at_times_from_the_change_on_that_is_being_told);
    tcase_add_test(test, what_a_pass_saves_another_replay_restores);
    tcase_add_test(test, who_does_not_know_the_pass_passes_over_what_it_saved);
    tcase_add_test(test, a_keyframe_wants_the_rows_of_those_who_save);
    tcase_add_test(test, done_names_the_heaps_that_an_event_touched);
    tcase_add_test(test, a_definition_is_done_too);
    tcase_add_test(test, what_lives_takes_384_bytes_at_most);
    tcase_add_test(test, what_is_listed_is_told_with_its_part_and_what_is_there);
    suite_add_tcase(suite, test);
    return suite;
}
