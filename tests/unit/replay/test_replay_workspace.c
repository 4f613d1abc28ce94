/* SPDX-License-Identifier: Apache-2.0
 *
 * Which operator a block belongs to, and how that is known: each rule as a text trace and rows worked out by hand; and a
 * simulated program with a task queue, which knows the truth. What else operators, streams and the recorder say is here
 * too. NPUMEM_SEED repeats a run; it is printed.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/passes.h"
#include "replay/replay.h"
#include "support/row_list.h"
#include "support/seed.h"
#include "support/suites.h"

/* Heaps 2 and 6 are pools of one device. */
#define HEAD                                                                                                           \
    "process 1 pid=100\nprocess 2 pid=200\n"                                                                           \
    "thread 1 process=1 tid=100\nthread 2 process=1 tid=101\nthread 3 process=2 tid=200\n"                             \
    "device 1 process=1 ordinal=0\n"                                                                                   \
    "heap 1 process=1 device=1 level=driver\n"                                                                         \
    "heap 2 process=1 device=1 level=pool\n"                                                                           \
    "heap 3 process=1 device=1 level=workspace\n"                                                                      \
    "heap 4 process=1 level=pinned\n"                                                                                  \
    "heap 5 process=1 device=1 level=physical\n"                                                                       \
    "heap 6 process=1 device=1 level=pool\n"

/* An operator of a thread in [address, address + 16), and its end. */
#define RUN(time, run_thread, run_address, more)                                                                       \
    "@" #time " range_begin thread=" #run_thread " name=op detail=operator requested=16 address=" #run_address         \
    " " more "\n@" #time " range_end thread=" #run_thread "\n"

static nm_row_list list;

static void replay(const char *text)
{
    nm_error err = {0};

    nm_row_list_free(&list);
    ck_assert_msg(nm_row_list_replay(&list, text, &err) == NM_OK, "%s", err.text);
}

static const nm_workspace_row *workspace(size_t index)
{
    ck_assert_uint_lt(index, list.workspace.count);
    return &list.workspace.items[index];
}

static void check_owner(uint64_t allocation_id, uint64_t operation_id, nm_operation_source source)
{
    const nm_allocation_row *row = nm_row_list_allocation(&list, allocation_id);

    ck_assert_ptr_nonnull(row);
    ck_assert_uint_eq(row->operation_id, operation_id);
    ck_assert_int_eq(row->operation_source, source);
}

/* ---- The rules --------------------------------------------------------------------------------------------------- */

START_TEST(the_open_range_of_the_thread_comes_first)
{
    replay(HEAD "@1 range_begin thread=1 name=outer detail=annotation\n"
                "@2 alloc heap=3 address=0x1000 requested=64 thread=1\n" RUN(3, 1, 0x1000, ""));
    check_owner(1, 1, NM_SOURCE_THREAD);
    ck_assert_int_eq(nm_row_list_allocation(&list, 1)->operation_kind, NM_RANGE_ANNOTATION);
    ck_assert_uint_eq(workspace(0)->operation_id, 2);
    ck_assert_uint_eq(workspace(0)->allocation_id, 1);
}
END_TEST

START_TEST(a_block_belongs_to_the_first_operator_in_it_and_each_use_has_a_row)
{
    replay(HEAD "@1 alloc heap=3 address=0x1000 requested=64 block=128 thread=1 stream=7\n"
                "@2 range_begin thread=1 name=a detail=operator requested=40 address=0x1008 stream=7\n"
                "@3 range_end thread=1\n"
                "@4 range_begin thread=1 name=b detail=operator requested=50 address=0x1000\n");
    check_owner(1, 1, NM_SOURCE_WORKSPACE);
    ck_assert_uint_eq(list.workspace.count, 2);
    ck_assert_uint_eq(workspace(0)->workspace_id, 1);
    ck_assert_uint_eq(workspace(0)->operation_id, 1);
    ck_assert_uint_eq(workspace(0)->allocation_id, 1);
    ck_assert_uint_eq(workspace(0)->heap_id, 3);
    ck_assert_uint_eq(workspace(0)->thread_id, 1);
    ck_assert(workspace(0)->has_stream && workspace(0)->stream == 7);
    ck_assert_int_eq(workspace(0)->seq, 1);
    ck_assert_int_eq(workspace(0)->ns, 2);
    ck_assert_uint_eq(workspace(0)->address, 0x1008);
    ck_assert_uint_eq(workspace(0)->requested_bytes, 40);
    ck_assert_uint_eq(workspace(0)->block_bytes, 128);
    ck_assert_int_eq(workspace(0)->is_reused, 0);
    ck_assert_uint_eq(workspace(1)->operation_id, 2);
    ck_assert(!workspace(1)->has_stream);
    ck_assert_int_eq(workspace(1)->is_reused, 1);
}
END_TEST

START_TEST(the_innermost_block_around_the_whole_workspace_is_taken)
{
    static const uint64_t blocks[] = {4, 3, 2, 0, 5, 0, 0};

    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=4096 thread=1\n"
                "@2 alloc heap=2 address=0x1000 requested=2048 thread=1\n"
                "@3 alloc heap=6 address=0x1100 requested=256 thread=1\n"
                "@4 alloc heap=3 address=0x1400 requested=256 thread=1\n"
                "@5 alloc heap=1 address=0x9000 requested=64 thread=1\n" RUN(6, 1, 0x1480, "") /* workspace */
           RUN(7, 1, 0x1180, "")    /* the pool inside the pool's block */
           RUN(8, 1, 0x10f8, "")    /* runs into that one: the block around both */
           RUN(9, 1, 0x1804, "")    /* the segment alone */
           RUN(10, 1, 0x9000, "")   /* no segment */
           RUN(11, 1, 0x9038, "")   /* runs out of it */
           RUN(12, 1, 0x5000, "")); /* nothing is there */
    check_owner(1, 0, NM_SOURCE_NONE);
    check_owner(4, 1, NM_SOURCE_WORKSPACE);
    check_owner(3, 2, NM_SOURCE_WORKSPACE);
    check_owner(2, 3, NM_SOURCE_WORKSPACE);
    check_owner(5, 5, NM_SOURCE_WORKSPACE);
    ck_assert_uint_eq(list.workspace.count, 7);
    for (size_t i = 0; i < 7; i++)
        ck_assert_uint_eq(workspace(i)->allocation_id, blocks[i]);
    ck_assert_int_eq(workspace(3)->is_reused, NM_UNKNOWN_NUMBER);
    ck_assert_uint_eq(workspace(3)->block_bytes, 0);
    ck_assert_uint_eq(workspace(3)->heap_id, 0);
}
END_TEST

START_TEST(an_operator_without_a_workspace_takes_nothing)
{
    replay(HEAD "@1 alloc heap=3 address=0x1000 requested=64 thread=1\n"
                "@2 range_begin thread=1 name=op detail=operator address=0x1000\n");
    check_owner(1, 0, NM_SOURCE_NONE);
    ck_assert_uint_eq(list.workspace.count, 0);
}
END_TEST

START_TEST(the_memory_of_another_process_is_not_looked_at)
{
    replay(HEAD "@1 alloc heap=3 address=0x1000 requested=64 thread=1\n" RUN(2, 3, 0x1000, ""));
    check_owner(1, 0, NM_SOURCE_NONE);
    ck_assert_uint_eq(workspace(0)->allocation_id, 0);
    ck_assert_uint_eq(workspace(0)->process_id, 2);
}
END_TEST

START_TEST(of_a_queue_the_streams_must_not_contradict)
{
    replay(HEAD "@1 alloc heap=3 address=0x1000 requested=64 thread=1 stream=7\n"
                "@2 alloc heap=3 address=0x2000 requested=64 thread=1 stream=7\n"
                "@3 alloc heap=3 address=0x3000 requested=64 thread=1\n"
                "@4 alloc heap=3 address=0x4000 requested=64 thread=2 stream=7\n" RUN(5, 2, 0x1000, "stream=7")
                    RUN(6, 2, 0x2000, "stream=8") RUN(7, 2, 0x3000, "stream=8") RUN(8, 2, 0x4000, "stream=8"));
    check_owner(1, 1, NM_SOURCE_QUEUE);
    check_owner(2, 0, NM_SOURCE_NONE);
    check_owner(3, 3, NM_SOURCE_QUEUE);
    check_owner(4, 4, NM_SOURCE_WORKSPACE);
    ck_assert_uint_eq(workspace(1)->allocation_id, 0);
}
END_TEST

/* Event 3 frees the first block at 0x1000: the operator may have been queued with that one, or with the second. */
START_TEST(of_a_queue_a_block_that_took_anothers_place_is_not_guessed)
{
    replay(HEAD "@1 alloc heap=2 address=0x1000 requested=64 thread=1\n"
                "@2 alloc heap=2 address=0x2000 requested=64 thread=1\n"
                "@3 alloc heap=2 address=0x3000 requested=64 thread=1\n"
                "@4 free heap=2 address=0x1000 thread=1\n"
                "@5 alloc heap=2 address=0x1000 requested=64 thread=1\n"
                "@6 alloc heap=2 address=0x4000 requested=64 thread=1\n" RUN(7, 2, 0x2000, "") RUN(8, 2, 0x1000, "")
           /* Once the queue has come to what was allocated at 5, nothing that it runs is older. */
           RUN(9, 2, 0x4000, "") RUN(10, 2, 0x1000, "")
           /* The thread itself has no queue before it. */
           RUN(11, 1, 0x3000, ""));
    check_owner(2, 1, NM_SOURCE_QUEUE);
    ck_assert_uint_eq(workspace(1)->allocation_id, 0);
    check_owner(5, 3, NM_SOURCE_QUEUE);
    check_owner(4, 4, NM_SOURCE_QUEUE);
    ck_assert_uint_eq(workspace(3)->allocation_id, 4);
    check_owner(1, 0, NM_SOURCE_NONE);
    check_owner(3, 5, NM_SOURCE_WORKSPACE);
}
END_TEST

START_TEST(of_a_queue_the_middle_of_a_pools_block_is_not_guessed)
{
    replay(HEAD "@1 alloc heap=2 address=0x1000 requested=64 thread=1\n"
                "@2 alloc heap=3 address=0x2000 requested=64 thread=1\n"
                "@3 alloc heap=1 address=0x3000 requested=64 thread=1\n" RUN(4, 2, 0x1010, "") RUN(5, 2, 0x2010, "")
                    RUN(6, 2, 0x3010, ""));
    check_owner(1, 0, NM_SOURCE_NONE);
    check_owner(2, 2, NM_SOURCE_QUEUE);
    check_owner(3, 3, NM_SOURCE_QUEUE);
}
END_TEST

/* An allocator of workspaces waits for the stream before it gives a block up. */
START_TEST(a_workspace_at_the_address_of_an_older_one_is_certain)
{
    replay(HEAD "@1 alloc heap=3 address=0x1000 requested=64 thread=1\n"
                "@2 free heap=3 address=0x1000 thread=1\n"
                "@3 alloc heap=3 address=0x1000 requested=64 thread=1\n" RUN(4, 2, 0x1000, ""));
    check_owner(1, 0, NM_SOURCE_NONE);
    check_owner(2, 1, NM_SOURCE_QUEUE);
}
END_TEST

START_TEST(what_is_late_or_has_no_thread_names_the_block_and_no_owner)
{
    replay(HEAD "- alloc baseline heap=3 address=0x1000 requested=64\n"
                "@1 alloc late heap=3 address=0x2000 requested=64 thread=1\n"
                "@2 alloc heap=3 address=0x3000 requested=64 thread=1\n"
                "@3 alloc heap=3 address=0x4000 requested=64 thread=1\n" RUN(4, 1, 0x1000, "") RUN(5, 1, 0x2000, "")
                    RUN(6, 1, 0x3000, "late") "@7 range_begin name=op detail=operator requested=16 address=0x4000\n");
    for (uint64_t id = 1; id <= 4; id++)
        check_owner(id, 0, NM_SOURCE_NONE);
    for (size_t i = 0; i < 3; i++)
        ck_assert_uint_eq(workspace(i)->allocation_id, i + 1);
    ck_assert_uint_eq(workspace(3)->allocation_id, 0); /* nor is its process known: there are two */
}
END_TEST

START_TEST(of_a_queue_loss_leaves_what_is_older_open)
{
    replay(HEAD "@1 alloc heap=3 address=0x1000 requested=64 thread=1\n"
                "@2 alloc heap=3 address=0x2000 requested=64 thread=1\n"
                "@3 loss thread=1 number=2 detail=ring_full until=3\n"
                "@4 alloc heap=3 address=0x3000 requested=64 thread=1\n" RUN(5, 2, 0x1000, "") RUN(6, 1, 0x2000, "")
                    RUN(7, 2, 0x3000, ""));
    check_owner(1, 0, NM_SOURCE_NONE);
    ck_assert_uint_eq(workspace(0)->allocation_id, 1);
    check_owner(2, 2, NM_SOURCE_WORKSPACE);
    check_owner(3, 3, NM_SOURCE_QUEUE);
}
END_TEST

START_TEST(what_a_cut_leaves_of_a_workspace_has_lost_its_operator)
{
    replay(HEAD "@1 map heap=1 address=0x1000 block=4096 thread=1 policy=4\n" RUN(
        2, 1, 0x1000, "") "@3 range_begin thread=1 name=range\n"
                          "@4 map heap=1 address=0x8000 block=4096 thread=1\n"
                          "@5 range_end thread=1\n"
                          "@6 unmap heap=1 address=0x1000 block=2048 thread=1\n"
                          "@7 unmap heap=1 address=0x8000 block=2048 thread=1\n");
    check_owner(1, 1, NM_SOURCE_WORKSPACE);
    check_owner(2, 2, NM_SOURCE_THREAD);
    check_owner(3, 0, NM_SOURCE_NONE);
    check_owner(4, 2, NM_SOURCE_THREAD);
    ck_assert_uint_eq(nm_row_list_allocation(&list, 3)->split_from_id, 1);
    for (uint64_t id = 1; id <= 4; id++)
        ck_assert(nm_row_list_allocation(&list, id)->is_mapped);
    ck_assert_uint_eq(nm_row_list_allocation(&list, 3)->policy, 4);
}
END_TEST

START_TEST(a_refused_free_leaves_the_operator)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=64 thread=1\n" RUN(
        2, 1, 0x1000, "") "@3 free address=0x1000 detail=device thread=1\n"
                          "@4 free_failed address=0x1000 error=1 thread=1\n" RUN(5, 1, 0x1000, ""));
    check_owner(1, 1, NM_SOURCE_WORKSPACE);
    ck_assert_uint_eq(workspace(1)->allocation_id, 1);
    ck_assert_int_eq(workspace(1)->is_reused, 1);
}
END_TEST

START_TEST(sizes_of_nonsense_are_limited)
{
    replay(HEAD "@1 range_begin thread=1 name=op detail=operator requested=0xffffffffffffffff address=0x1000\n"
                "@2 alloc heap=3 address=0xfffffffffffffff0 requested=64 thread=2\n"
                "@3 range_begin thread=2 name=op detail=operator requested=8 address=0xfffffffffffffff4\n");
    ck_assert_uint_eq(workspace(0)->requested_bytes, UINT64_C(1) << 56);
    ck_assert_uint_eq(workspace(0)->allocation_id, 0);
    ck_assert_uint_eq(workspace(1)->allocation_id, 1);
}
END_TEST

/* ---- A program with a task queue --------------------------------------------------------------------------------- */

#define SLOTS       64
#define QUEUE_MAX   40
#define STEPS       400
#define SIMULATIONS 300

static struct task {
    uint64_t block; /* the allocation that its operator works in: the truth */
    uint64_t slot;
} queue[QUEUE_MAX];

static struct {
    uint64_t live_in[SLOTS];                   /* the allocation in a slot of the pool, 0: free */
    uint64_t truth[STEPS * 2], queued;         /* by operation, which is numbered as it runs */
    uint64_t first_queued, operations, blocks; /* counts */
    uint64_t matched, unmatched;
} program;

static nm_replay *simulated;
static uint64_t random_state, seq;

static uint64_t pick(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (random_state >> 11) % below;
}

static void give(nm_event event)
{
    nm_record record = {.kind = NM_RECORD_EVENT, .event = event};
    nm_error err = {0};

    record.event.seq = seq;
    record.event.time_ns = (int64_t)seq++ * 100000000; /* no free is late */
    ck_assert_int_eq(nm_replay_record(simulated, &record, &err), NM_OK);
}

static void define(nm_definition definition)
{
    nm_record record = {.kind = NM_RECORD_DEFINITION, .definition = definition};
    nm_error err = {0};

    ck_assert_int_eq(nm_replay_record(simulated, &record, &err), NM_OK);
}

static uint64_t address_of(uint64_t slot)
{
    return 0x10000 + slot * 0x1000;
}

static void allocate(uint64_t slot, uint64_t thread_id)
{
    program.live_in[slot] = ++program.blocks;
    give((nm_event){
        .kind = NM_EVENT_ALLOC, .thread_id = thread_id, .heap_id = 1, .address = address_of(slot), .block_bytes = 512});
}

static void release(uint64_t slot)
{
    program.live_in[slot] = 0;
    give((nm_event){.kind = NM_EVENT_FREE, .thread_id = 1 + pick(2), .heap_id = 1, .address = address_of(slot)});
}

static void run_operator(uint64_t block, uint64_t slot)
{
    program.truth[++program.operations] = block;
    give((nm_event){.kind = NM_EVENT_RANGE_BEGIN,
                    .thread_id = 3,
                    .number = (int64_t)program.operations,
                    .detail = NM_RANGE_OPERATOR,
                    .address = address_of(slot),
                    .requested_bytes = 400});
    give((nm_event){.kind = NM_EVENT_RANGE_END, .thread_id = 3, .number = (int64_t)program.operations});
}

/* The oldest task runs, on the queue's own thread; sometimes it runs another operator first, in a block of its own. */
static void run_task(void)
{
    const struct task *task = &queue[program.first_queued++ % QUEUE_MAX];
    uint64_t slot = pick(SLOTS);

    if (program.live_in[slot] == 0 && pick(4) == 0) {
        allocate(slot, 3);
        run_operator(program.live_in[slot], slot);
        release(slot);
    }
    run_operator(task->block, task->slot);
}

/* Submits an operator with a new block, which it gives back at once or later, as a tensor that goes out of scope. */
static void submit(uint64_t slot)
{
    if (program.queued - program.first_queued == QUEUE_MAX)
        run_task();
    allocate(slot, 1 + pick(2)); /* forward or backward */
    queue[program.queued++ % QUEUE_MAX] = (struct task){program.live_in[slot], slot};
    if (pick(2) == 0)
        release(slot);
}

static void simulate(uint64_t depth)
{
    allocate(0, 1);
    run_operator(program.live_in[0], 0); /* from now on the thread is known to run for others */
    for (int step = 0; step < STEPS; step++) {
        uint64_t slot = pick(SLOTS);

        if (program.live_in[slot] != 0)
            release(slot);
        else if (pick(2) == 0)
            allocate(slot, 1 + pick(3)); /* a tensor: no operator's workspace */
        else
            submit(slot);
        while (program.queued - program.first_queued > depth || (program.queued > program.first_queued && pick(3) == 0))
            run_task();
    }
    while (program.queued > program.first_queued)
        run_task();
}

static void check_simulation(void)
{
    ck_assert_uint_eq(list.workspace.count, program.operations);
    for (size_t i = 0; i < list.workspace.count; i++) {
        const nm_workspace_row *row = workspace(i);

        ck_assert_uint_eq(row->operation_id, i + 1);
        if (row->allocation_id != 0)
            ck_assert_uint_eq(row->allocation_id, program.truth[i + 1]);
        program.matched += row->allocation_id != 0;
        program.unmatched += row->allocation_id == 0;
    }
    for (size_t i = 0; i < list.allocation.count; i++) {
        const nm_allocation_row *row = &list.allocation.items[i];

        if (row->operation_id != 0)
            ck_assert_uint_eq(program.truth[row->operation_id], row->allocation_id);
    }
}

/* Share of the operators whose block was still there when they ran and was told. */
static double run_simulations(uint64_t depth)
{
    uint64_t matched = 0, unmatched = 0;

    for (uint64_t i = 0; i < SIMULATIONS; i++) {
        nm_sink sink = nm_row_list_sink(&list);
        nm_error err = {0};

        program.first_queued = program.queued = program.operations = program.blocks = 0;
        program.matched = program.unmatched = 0;
        for (uint64_t slot = 0; slot < SLOTS; slot++)
            program.live_in[slot] = 0;
        seq = 0;
        ck_assert_int_eq(nm_replay_new(&sink, nm_passes, &simulated, &err), NM_OK);
        define((nm_definition){.kind = NM_DEFINE_PROCESS, .id = 1});
        for (uint64_t id = 1; id <= 3; id++)
            define((nm_definition){.kind = NM_DEFINE_THREAD, .id = id, .thread.process_id = 1});
        define((nm_definition){
            .kind = NM_DEFINE_HEAP, .id = 1, .heap = {.process_id = 1, .level = NM_LEVEL_POOL, .size_basis = 2}});
        simulate(depth);
        ck_assert_int_eq(nm_replay_finish(simulated, &err), NM_OK);
        nm_replay_free(simulated);
        check_simulation();
        matched += program.matched;
        unmatched += program.unmatched;
        nm_row_list_free(&list);
    }
    return (double)matched / (double)(matched + unmatched);
}

START_TEST(whatever_is_said_of_a_task_queue_is_true)
{
    uint64_t seed = seed_of_test(1);
    double share;

    nm_row_list_free(&list);
    random_state = seed * 0x9E3779B97F4A7C15u + 1;
    share = run_simulations(1);
    printf("told: %.2f, ", share);
    ck_assert_double_gt(share, 0.3); /* half of the blocks are gone when their operator runs */
    printf("%.2f\n", run_simulations(QUEUE_MAX - 1));
}
END_TEST

/* ---- What else is said ------------------------------------------------------------------------------------------- */

START_TEST(operators_and_models_have_results)
{
    replay(HEAD "@1 range_begin thread=1 number=1 name=a detail=operator\n"
                "@2 range_end thread=1 number=1 error=161002\n"
                "@3 range_begin thread=1 number=2 name=m detail=model model=9\n"
                "@4 range_end thread=1 number=2\n"
                "@5 range_begin thread=1 number=3 name=u\n"
                "@6 range_end thread=1 number=3\n"
                "@7 range_begin thread=1 number=4 name=x detail=99\n"
                "@8 range_begin thread=1 number=5 name=open detail=operator\n");
    ck_assert_uint_eq(list.operation.count, 5);
    ck_assert_int_eq(list.operation.items[0].error_code, 161002);
    ck_assert_uint_eq(list.operation.items[0].model_id, 0);
    ck_assert_int_eq(list.operation.items[1].kind, NM_RANGE_MODEL);
    ck_assert_uint_eq(list.operation.items[1].model_id, 9);
    ck_assert_int_eq(list.operation.items[1].error_code, 0);
    ck_assert_int_eq(list.operation.items[2].error_code, NM_UNKNOWN_NUMBER);
    ck_assert_int_eq(list.operation.items[3].error_code, NM_UNKNOWN_NUMBER); /* still open, as is the next */
    ck_assert_int_eq(list.operation.items[4].kind, NM_RANGE_USER);           /* one that is not known */
}
END_TEST

START_TEST(memory_is_exported_by_its_begin_or_a_part_of_it)
{
    static const bool is_exported[] = {0, 1, 0, 1, 0, 1, 0, 1};

    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=4096 thread=1\n"
                "@2 alloc heap=2 address=0x1000 requested=64 thread=1\n"
                "@3 alloc heap=5 address=0x77 requested=64 thread=1\n"
                "@4 alloc heap=4 address=0x3000 requested=64 thread=1\n"
                "@5 map heap=1 address=0x8000 block=4096 thread=1\n"
                "@6 alloc heap=1 address=0xa000 requested=64 thread=1\n"
                "@7 export thread=1 address=0x1800 detail=device\n"
                "@8 export thread=1 address=0x77 detail=physical\n"
                "@9 export thread=1 address=0x8000 detail=device\n"
                "@10 export thread=1 address=0x9999999 detail=device\n"
                "@11 export thread=3 address=0xa000 detail=device\n"
                "@12 export address=0xa000 detail=device\n"
                "@13 unmap heap=1 address=0x8000 block=2048 thread=1\n");
    for (uint64_t id = 1; id <= 7; id++)
        ck_assert_int_eq(nm_row_list_allocation(&list, id)->is_exported, is_exported[id]);
}
END_TEST

START_TEST(calls_about_streams_are_kept)
{
    replay(HEAD "stack 1: a\n@1 range_begin thread=1 name=r\n"
                "@2 stream_call thread=1 device=1 stream=7 number=0x99 detail=event_record stack=1 cost=5 error=3\n"
                "@3 stream_call thread=3 device=9 detail=200\n");
    ck_assert_uint_eq(list.stream_call.count, 2);
    const nm_stream_call_row *row = &list.stream_call.items[0];

    ck_assert_uint_eq(row->stream_call_id, 1);
    ck_assert_uint_eq(row->process_id, 1);
    ck_assert_uint_eq(row->thread_id, 1);
    ck_assert_uint_eq(row->operation_id, 1);
    ck_assert_uint_eq(row->stack_id, 1);
    ck_assert_uint_eq(row->device_id, 1);
    ck_assert_int_eq(row->kind, NM_STREAM_EVENT_RECORD);
    ck_assert(row->has_stream && row->stream == 7);
    ck_assert_uint_eq(row->event, 0x99);
    ck_assert_int_eq(row->seq, 1);
    ck_assert_int_eq(row->ns, 2);
    ck_assert_uint_eq(row->cost_ns, 5);
    ck_assert_int_eq(row->error_code, 3);
    ck_assert_uint_eq(row[1].process_id, 2);
    ck_assert_uint_eq(row[1].device_id, 0);
    ck_assert_int_eq(row[1].kind, 0);
    ck_assert(!row[1].has_stream);
}
END_TEST

START_TEST(notes_are_kept)
{
    replay(HEAD "@1 note thread=3 detail=unseen_operator name=aclnnX number=4\n"
                "@2 note detail=200 name=later number=-5\n"
                "@3 note thread=1 number=0x7fffffffffffffff\n");
    ck_assert_uint_eq(list.note.count, 3);
    ck_assert_uint_eq(list.note.items[0].note_id, 1);
    ck_assert_uint_eq(list.note.items[0].process_id, 2);
    ck_assert_uint_eq(list.note.items[0].thread_id, 3);
    ck_assert_int_eq(list.note.items[0].seq, 0);
    ck_assert_int_eq(list.note.items[0].ns, 1);
    ck_assert_int_eq(list.note.items[0].kind, NM_NOTE_UNSEEN_OPERATOR);
    ck_assert_uint_ne(list.note.items[0].text, 0);
    ck_assert_uint_eq(list.note.items[0].count, 4);
    ck_assert_uint_eq(list.note.items[1].process_id, 0);
    ck_assert_int_eq(list.note.items[1].kind, 0);
    ck_assert_uint_eq(list.note.items[1].count, 0);
    ck_assert_uint_eq(list.note.items[2].count, UINT32_MAX);
}
END_TEST

TEST_SUITE(test_replay_workspace)
{
    Suite *suite = suite_create("replay_workspace");
    TCase *tests = tcase_create("workspace");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, the_open_range_of_the_thread_comes_first);
    tcase_add_test(tests, a_block_belongs_to_the_first_operator_in_it_and_each_use_has_a_row);
    tcase_add_test(tests, the_innermost_block_around_the_whole_workspace_is_taken);
    tcase_add_test(tests, an_operator_without_a_workspace_takes_nothing);
    tcase_add_test(tests, the_memory_of_another_process_is_not_looked_at);
    tcase_add_test(tests, of_a_queue_the_streams_must_not_contradict);
    tcase_add_test(tests, of_a_queue_a_block_that_took_anothers_place_is_not_guessed);
    tcase_add_test(tests, of_a_queue_the_middle_of_a_pools_block_is_not_guessed);
    tcase_add_test(tests, a_workspace_at_the_address_of_an_older_one_is_certain);
    tcase_add_test(tests, what_is_late_or_has_no_thread_names_the_block_and_no_owner);
    tcase_add_test(tests, of_a_queue_loss_leaves_what_is_older_open);
    tcase_add_test(tests, what_a_cut_leaves_of_a_workspace_has_lost_its_operator);
    tcase_add_test(tests, a_refused_free_leaves_the_operator);
    tcase_add_test(tests, sizes_of_nonsense_are_limited);
    tcase_add_test(tests, whatever_is_said_of_a_task_queue_is_true);
    tcase_add_test(tests, operators_and_models_have_results);
    tcase_add_test(tests, memory_is_exported_by_its_begin_or_a_part_of_it);
    tcase_add_test(tests, calls_about_streams_are_kept);
    tcase_add_test(tests, notes_are_kept);
    suite_add_tcase(suite, tests);
    return suite;
}
