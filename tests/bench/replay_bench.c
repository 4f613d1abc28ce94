/* SPDX-License-Identifier: Apache-2.0
 *
 * replay_bench [MILLION_EVENTS [LIVE_BLOCKS]]: how many events a second the replay takes when nothing is stored: blocks
 * of a caching pool that come and go in a few hundred segments, from many stacks, with a step now and then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "analysis/passes.h"
#include "replay/replay.h"

#define SEGMENTS      512
#define SEGMENT_BYTES (UINT64_C(64) << 20)
#define STACKS        2000
#define BASE          UINT64_C(0x12c040000000)

typedef struct bench {
    nm_replay *replay;
    uint64_t seq;
    uint64_t random_state;
    uint64_t slot_count; /* places for blocks, equal parts of the segments */
    uint64_t slot_bytes;
    unsigned char *is_live;
} bench;

static uint64_t pick(bench *state, uint64_t below)
{
    state->random_state ^= state->random_state << 13;
    state->random_state ^= state->random_state >> 7;
    state->random_state ^= state->random_state << 17;
    return (state->random_state >> 11) % below;
}

static void give(bench *state, const nm_record *record)
{
    nm_error err;

    if (nm_replay_record(state->replay, record, &err) != NM_OK) {
        fprintf(stderr, "replay_bench: %s\n", err.text);
        exit(1);
    }
}

static void give_event(bench *state, nm_event event)
{
    event.seq = state->seq++;
    event.time_ns = (int64_t)event.seq * 500;
    event.thread_id = 1;
    give(state, &(nm_record){.kind = NM_RECORD_EVENT, .event = event});
}

static void define(bench *state, nm_definition definition)
{
    give(state, &(nm_record){.kind = NM_RECORD_DEFINITION, .definition = definition});
}

static void define_all(bench *state)
{
    define(state, (nm_definition){.kind = NM_DEFINE_PROCESS, .id = 1});
    define(state, (nm_definition){.kind = NM_DEFINE_THREAD, .id = 1, .thread.process_id = 1});
    define(state, (nm_definition){.kind = NM_DEFINE_DEVICE, .id = 1, .device.process_id = 1});
    for (uint64_t heap = 1; heap <= 2; heap++)
        define(state, (nm_definition){.kind = NM_DEFINE_HEAP,
                                      .id = heap,
                                      .heap = {.process_id = 1,
                                               .device_id = 1,
                                               .level = heap == 1 ? NM_LEVEL_DRIVER : NM_LEVEL_POOL,
                                               .size_basis = NM_BASIS_REQUESTED}});
    for (uint64_t stack = 1; stack <= STACKS; stack++)
        define(state, (nm_definition){.kind = NM_DEFINE_STACK, .id = stack, .stack.frame_id = stack});
    for (uint64_t i = 0; i < SEGMENTS; i++)
        give_event(state, (nm_event){.kind = NM_EVENT_ALLOC,
                                     .heap_id = 1,
                                     .address = BASE + i * SEGMENT_BYTES,
                                     .requested_bytes = SEGMENT_BYTES});
}

/* Takes or gives back a random block. */
static void do_one(bench *state)
{
    uint64_t slot = pick(state, state->slot_count);
    uint64_t requested = 1 + pick(state, state->slot_bytes);
    nm_event event = {.heap_id = 2,
                      .address = BASE + slot * state->slot_bytes,
                      .flags = NM_FLAG_STREAM,
                      .stack_id = 1 + pick(state, STACKS)};

    event.kind = state->is_live[slot] ? NM_EVENT_FREE : NM_EVENT_ALLOC;
    if (!state->is_live[slot]) {
        event.requested_bytes = requested;
        event.block_bytes = (requested + 511) / 512 * 512;
        if (event.block_bytes > state->slot_bytes)
            event.block_bytes = state->slot_bytes;
    }
    state->is_live[slot] = !state->is_live[slot];
    give_event(state, event);
    if (state->seq % 10000 == 0)
        give_event(state, (nm_event){.kind = NM_EVENT_STEP, .number = (int64_t)(state->seq / 10000)});
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* other work on the machine is not counted */
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    uint64_t event_count = (argc > 1 ? strtoull(argv[1], NULL, 10) : 4) * 1000000;
    uint64_t live_blocks = argc > 2 ? strtoull(argv[2], NULL, 10) : 4096;
    nm_sink sink = {0};
    nm_error err;
    bench state = {.random_state = 88172645463325252u, .slot_count = live_blocks * 2};
    struct rusage usage;
    double begin, took;

    state.slot_bytes = SEGMENTS * SEGMENT_BYTES / (state.slot_count == 0 ? 1 : state.slot_count);
    state.is_live = calloc(state.slot_count, 1);
    if (state.is_live == NULL || state.slot_count == 0 || nm_replay_new(&sink, nm_passes, &state.replay, &err) != NM_OK)
        return 1;
    begin = seconds();
    define_all(&state);
    while (state.seq < event_count)
        do_one(&state);
    if (nm_replay_finish(state.replay, &err) != NM_OK)
        return 1;
    took = seconds() - begin;
    nm_replay_free(state.replay);
    free(state.is_live);
    getrusage(RUSAGE_SELF, &usage);
    printf("%llu events, %llu blocks live on average: %.2f s, %.2f million events/s, peak memory %.1f MiB\n",
           (unsigned long long)state.seq, (unsigned long long)live_blocks, took, (double)state.seq / took * 1e-6,
           (double)usage.ru_maxrss / 1024);
    return 0;
}
