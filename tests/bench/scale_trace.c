/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace of any length from a pattern, by the writer that recordings have, to standard output: each thread in turn takes a
 * block from a stack in turn, and so many blocks are live at once. Only the time between events is irregular, without which an
 * event would take less room than readers believe of a recording. For curves over one of these numbers (bench/scale.sh).
 *
 *     scale_trace -n EVENTS [-t THREADS] [-k STACKS] [-l LIVE_BLOCKS] > FILE
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/block.h"

#define EVENTS_PER_BLOCK 65536
#define EVENTS_PER_STEP  20000
#define FRAMES_SHARED    16 /* of each stack: the outermost */
#define FIRST_ADDRESS    UINT64_C(0x120000000000)

typedef struct pattern {
    uint64_t event_count, thread_count, stack_count, live_count;
    nm_trace_writer *writer;
    uint64_t written_count;
    int64_t now_ns;
    uint64_t random;
} pattern;

static nm_error failure;

static void must(nm_status status)
{
    if (status == NM_OK)
        return;
    fprintf(stderr, "scale_trace: %s\n", failure.text);
    exit(1);
}

static void seal(pattern *run, uint32_t flags)
{
    nm_bytes block;

    must(nm_trace_writer_seal(run->writer, flags, &block, &failure));
    if (fwrite(block.data, 1, block.len, stdout) != block.len) {
        perror("scale_trace");
        exit(1);
    }
}

static void put(pattern *run, nm_event event)
{
    run->random = run->random * UINT64_C(6364136223846793005) + 1442695040888963407;
    run->now_ns += 450 + (int64_t)(run->random >> 55); /* 450 to 961 */
    event.time_ns = run->now_ns;
    must(nm_trace_writer_event(run->writer, &event, &failure));
    if (++run->written_count % EVENTS_PER_BLOCK == 0)
        seal(run, 0);
}

static void define(pattern *run, nm_definition definition)
{
    must(nm_trace_writer_define(run->writer, &definition, &failure));
}

static void define_text(pattern *run, uint64_t id, const char *format, uint64_t number)
{
    char text[64];
    int len = snprintf(text, sizeof text, format, number);

    define(run, (nm_definition){NM_DEFINE_STRING, id, .string = {(const uint8_t *)text, (size_t)len}});
}

/* Strings 1 to 3, then a name for each frame; the outer frames first, then a frame and a stack for each site. */
static void define_all(pattern *run)
{
    define_text(run, 1, "npu", 0);
    define_text(run, 2, "/opt/program.so", 0);
    define(run, (nm_definition){NM_DEFINE_PROCESS, 1, .process = {.pid = 4711, .host = 1, .command = 1}});
    for (uint64_t i = 1; i <= run->thread_count; i++)
        define(run, (nm_definition){NM_DEFINE_THREAD, i,
                                    .thread = {.process_id = 1, .tid = 4710 + (int64_t)i, .ring_id = i}});
    define(run, (nm_definition){NM_DEFINE_DEVICE, 1, .device = {.process_id = 1, .device_kind = 1}});
    define(run,
           (nm_definition){NM_DEFINE_HEAP, 1, .heap = {.process_id = 1, .device_id = 1, .level = NM_LEVEL_DRIVER}});
    for (uint64_t i = 1; i <= FRAMES_SHARED + run->stack_count; i++) {
        bool is_shared = i <= FRAMES_SHARED;

        define_text(run, 10 + i, "function_%" PRIu64, i);
        define(run, (nm_definition){NM_DEFINE_FRAME, i, .frame = {.function = 10 + i, .module = 2, .offset = i * 64}});
        define(run, (nm_definition){NM_DEFINE_STACK, i, .stack = {is_shared ? i - 1 : FRAMES_SHARED, i, 0}});
        if (i % 10000 == 0)
            seal(run, 0);
    }
}

static nm_event event_of(const pattern *run, nm_event_kind kind, uint64_t block)
{
    return (nm_event){.kind = kind,
                      .thread_id = 1 + block % run->thread_count,
                      .heap_id = 1,
                      .address = FIRST_ADDRESS + block % (run->live_count + 1) * (1u << 20),
                      .stack_id = FRAMES_SHARED + 1 + block % run->stack_count};
}

static void write_events(pattern *run)
{
    for (uint64_t block = 0; run->written_count < run->event_count; block++) {
        nm_event allocation = event_of(run, NM_EVENT_ALLOC, block);

        if (run->written_count % EVENTS_PER_STEP < 2)
            put(run, (nm_event){.kind = NM_EVENT_STEP,
                                .thread_id = 1,
                                .number = (int64_t)(run->written_count / EVENTS_PER_STEP)});
        if (block >= run->live_count)
            put(run, event_of(run, NM_EVENT_FREE, block - run->live_count));
        allocation.requested_bytes = allocation.block_bytes = 512 * (1 + block % 37);
        put(run, allocation);
    }
}

int main(int argument_count, char **arguments)
{
    pattern run = {.event_count = 10000, .thread_count = 1, .stack_count = 100, .live_count = 1000};
    nm_session session = {.host = "host"};

    for (int option; (option = getopt(argument_count, arguments, "n:t:k:l:")) != -1;) {
        uint64_t *number = option == 'n'   ? &run.event_count
                           : option == 't' ? &run.thread_count
                           : option == 'k' ? &run.stack_count
                           : option == 'l' ? &run.live_count
                                           : NULL;

        if (number == NULL || (*number = strtoull(optarg, NULL, 10)) == 0)
            return 2;
    }
    memcpy(session.trace_id, &run.event_count, sizeof run.event_count); /* one of another length is another recording */
    must(nm_trace_writer_new(&session, &run.writer, &failure));
    define_all(&run);
    write_events(&run);
    seal(&run, NM_BLOCK_FINAL);
    nm_trace_writer_free(run.writer);
    return fflush(stdout) == 0 ? 0 : 1;
}
