/* SPDX-License-Identifier: Apache-2.0
 *
 * How large a trace is and how fast it is written and read, on a stream such as a training loop with a caching pool
 * makes: layers that allocate in forward and free in backward, temporaries, an optimiser, transfers, a sequence length
 * that changes from step to step, call sites of some thirty frames, times and costs with the noise that clocks have.
 *
 *     trace_bench [-n EVENTS] [-b EVENTS_PER_BLOCK] [-s SEED] [-o FILE]
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "trace/block.h"

#define LAYERS        48
#define SITES         400
#define STACK_DEPTH   30
#define BINS          4096 /* free lists of the pool, by a hash of the size: a collision only wastes an address */
#define SEGMENT_BYTES (20u << 20)
#define DRIVER_HEAP   1
#define POOL_HEAP     2

typedef struct address_list {
    uint64_t *items;
    size_t count, capacity;
} address_list;

typedef struct recording {
    nm_trace_writer *writer;
    nm_buffer file;
    uint64_t random;
    uint64_t events_per_block;
    int64_t now_ns;
    address_list bins[BINS];
    uint64_t segment_at, segment_end, next_segment;
    nm_event *events; /* of the block to come */
    size_t event_count, event_capacity;
    uint64_t event_total;
    double encode_seconds;
} recording;

static nm_error failure;

static void must(nm_status status)
{
    if (status == NM_OK)
        return;
    fprintf(stderr, "trace_bench: %s\n", failure.text);
    exit(1);
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint64_t next_random(recording *run)
{
    uint64_t x = run->random += 0x9E3779B97F4A7C15u;

    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* A duration around `middle_ns`: log-normal with a spread of about a third, as calls and gaps between them have. */
static uint64_t noisy(recording *run, double middle_ns)
{
    double sum = 0;

    for (int i = 0; i < 6; i++)
        sum += (double)(next_random(run) >> 11) * 0x1p-53 - 0.5;
    return (uint64_t)(middle_ns * exp(sum * 0.45));
}

/*
 * Call sites share their outer frames: 12 are common to all, 8 to a layer, 10 are a site's own; of those the last 5, the
 * allocator's, are the same functions everywhere. `depth` counts from the outermost.
 */
static uint64_t stack_of(unsigned site, unsigned depth)
{
    if (depth < 12)
        return depth + 1;
    if (depth < 20)
        return 100 + site / 8 * 8 + depth - 12;
    return 1000 + site * 10 + depth - 20;
}

static uint64_t frame_of(unsigned site, unsigned depth)
{
    return depth < STACK_DEPTH - 5 ? stack_of(site, depth) : 20 + depth;
}

static uint64_t stack_at(unsigned site)
{
    return stack_of(site % SITES, STACK_DEPTH - 1);
}

/* ---- The program ---- */

/* Writes what has been made up so far as one block, and takes the time. */
static void write_block(recording *run, uint32_t flags)
{
    nm_bytes block;
    double begin = seconds();

    for (size_t i = 0; i < run->event_count; i++)
        must(nm_trace_writer_event(run->writer, &run->events[i], &failure));
    must(nm_trace_writer_seal(run->writer, flags, &block, &failure));
    run->encode_seconds += seconds() - begin;
    must(nm_buffer_append(&run->file, block.data, block.len, &failure));
    run->event_total += run->event_count;
    run->event_count = 0;
}

static void put(recording *run, nm_event *event, double gap_ns)
{
    run->now_ns += (int64_t)noisy(run, gap_ns);
    event->time_ns = run->now_ns;
    if (run->event_count == run->events_per_block)
        write_block(run, 0);
    must(nm_array_grow(&run->events, &run->event_capacity, run->event_count + 1, sizeof *run->events, &failure));
    run->events[run->event_count++] = *event;
}

static address_list *bin_of(recording *run, uint64_t block_bytes)
{
    return &run->bins[block_bytes / 512 * 0x9E3779B1u % BINS];
}

static uint64_t pool_take(recording *run, uint64_t block_bytes, uint64_t stack, bool *is_miss)
{
    address_list *bin = bin_of(run, block_bytes);

    *is_miss = false;
    if (bin->count > 0)
        return bin->items[--bin->count];
    if (run->segment_end - run->segment_at < block_bytes) {
        uint64_t bytes = block_bytes > SEGMENT_BYTES ? (block_bytes + 0x1fffff) & ~UINT64_C(0x1fffff) : SEGMENT_BYTES;
        nm_event driver = {.kind = NM_EVENT_ALLOC,
                           .thread_id = 1,
                           .heap_id = DRIVER_HEAP,
                           .address = run->next_segment,
                           .requested_bytes = bytes,
                           .block_bytes = bytes + 32,
                           .stack_id = stack,
                           .cost_ns = noisy(run, 60000)};
        put(run, &driver, 60000);
        run->segment_at = run->next_segment;
        run->segment_end = run->segment_at + bytes;
        run->next_segment += bytes + (2u << 20);
        *is_miss = true;
    }
    run->segment_at += block_bytes;
    return run->segment_at - block_bytes;
}

typedef struct span {
    uint64_t address, block_bytes;
} span;

static span allocate(recording *run, unsigned thread, unsigned site, uint64_t bytes)
{
    uint64_t stack = stack_at(site);
    span result = {0, (bytes + 511) / 512 * 512};
    bool is_miss;

    result.address = pool_take(run, result.block_bytes, stack, &is_miss);
    nm_event event = {.kind = NM_EVENT_ALLOC,
                      .thread_id = thread,
                      .heap_id = POOL_HEAP,
                      .flags = NM_FLAG_STREAM | (is_miss ? NM_FLAG_MISS : NM_FLAG_HIT),
                      .address = result.address,
                      .requested_bytes = bytes,
                      .block_bytes = result.block_bytes,
                      .stack_id = stack,
                      .stream = 0x55d0c0de0040,
                      .cost_ns = noisy(run, 700)};
    put(run, &event, 9000);
    return result;
}

static void release(recording *run, unsigned thread, unsigned site, span block)
{
    address_list *bin = bin_of(run, block.block_bytes);
    nm_event event = {.kind = NM_EVENT_FREE,
                      .thread_id = thread,
                      .heap_id = POOL_HEAP,
                      .flags = NM_FLAG_STREAM,
                      .address = block.address,
                      .stack_id = stack_at(site),
                      .stream = 0x55d0c0de0040};

    put(run, &event, 2500);
    must(nm_array_grow(&bin->items, &bin->capacity, bin->count + 1, sizeof *bin->items, &failure));
    bin->items[bin->count++] = block.address;
}

static void copy(recording *run, uint64_t bytes, nm_copy_kind kind, unsigned site)
{
    nm_event event = {.kind = NM_EVENT_COPY,
                      .thread_id = 1,
                      .flags = NM_FLAG_STREAM | NM_FLAG_ASYNC,
                      .address = 0x124040000000 + next_random(run) % 64 * 65536,
                      .source_address = 0x7f1200000000 + next_random(run) % 64 * 65536,
                      .size_bytes = bytes,
                      .limit_bytes = bytes,
                      .detail = kind,
                      .stack_id = stack_at(site),
                      .stream = 0x55d0c0de0040,
                      .cost_ns = noisy(run, 5000),
                      .device_id = 1};
    put(run, &event, 20000);
}

/* One step: forward keeps six activations a layer, backward walks the layers down again. */
static void train_step(recording *run, int64_t number)
{
    static span kept[LAYERS][6];
    uint64_t tokens = 512 + next_random(run) % 8 * 128;
    nm_event step = {.kind = NM_EVENT_STEP, .thread_id = 1, .number = number};

    put(run, &step, 100000);
    copy(run, tokens * 8, NM_COPY_HOST_TO_DEVICE, 390);
    for (unsigned layer = 0; layer < LAYERS; layer++)
        for (unsigned i = 0; i < 6; i++) {
            span temporary = allocate(run, 1, layer * 3 + i, tokens * (1024 + i * 512) + layer % 5 * 64);
            kept[layer][i] = allocate(run, 1, 150 + i, tokens * (2048 + i % 3 * 1024));
            release(run, 1, layer * 3 + i, temporary);
        }
    for (unsigned layer = LAYERS; layer-- > 0;)
        for (unsigned i = 0; i < 6; i++) {
            span gradient = allocate(run, 2, 200 + layer * 2 + i, tokens * (2048 + i % 3 * 1024));
            span scratch = allocate(run, 2, 300 + i, 4096 + next_random(run) % 16 * 4096);
            release(run, 2, 170 + i, kept[layer][i]);
            release(run, 2, 300 + i, scratch);
            release(run, 2, 180 + i, gradient);
        }
    for (unsigned i = 0; i < 300; i++)
        release(run, 1, 320, allocate(run, 1, 321, 4096 + i * 7919 % 64 * 16384));
    copy(run, 4, NM_COPY_DEVICE_TO_HOST, 391);
}

/* ---- Definitions ---- */

static void define(recording *run, nm_definition definition)
{
    must(nm_trace_writer_define(run->writer, &definition, &failure));
}

static void define_text(recording *run, uint64_t id, const char *format, unsigned number)
{
    char text[128];
    int len = snprintf(text, sizeof text, format, number);

    define(run, (nm_definition){NM_DEFINE_STRING, id, .string = {(const uint8_t *)text, (size_t)len}});
}

static void define_all(recording *run)
{
    define_text(run, 1, "npu", 0);
    define(run, (nm_definition){NM_DEFINE_PROCESS, 1, .process = {.pid = 4711, .host = 1, .command = 1}});
    define(run, (nm_definition){NM_DEFINE_THREAD, 1, .thread = {.process_id = 1, .tid = 4711, .ring_id = 1}});
    define(run, (nm_definition){NM_DEFINE_THREAD, 2, .thread = {.process_id = 1, .tid = 4719, .ring_id = 2}});
    define(run, (nm_definition){NM_DEFINE_DEVICE, 1, .device = {.process_id = 1, .device_kind = 1}});
    for (unsigned i = DRIVER_HEAP; i <= POOL_HEAP; i++)
        define(run, (nm_definition){NM_DEFINE_HEAP, i, .heap = {.process_id = 1, .device_id = 1, .level = i}});

    for (unsigned site = 0; site < SITES; site++)
        for (unsigned depth = 0; depth < STACK_DEPTH; depth++) {
            uint64_t frame = frame_of(site, depth);
            define_text(run, 100 + 2 * frame, "at::native::some_operator_kernel_impl<float>(%u)", (unsigned)frame);
            define_text(run, 101 + 2 * frame, "/opt/framework/csrc/operators/kernel_%u.cpp", (unsigned)frame / 5);
            define(run, (nm_definition){NM_DEFINE_FRAME, frame,
                                        .frame = {.function = 100 + 2 * frame,
                                                  .file = 101 + 2 * frame,
                                                  .line = frame * 7919 % 2000,
                                                  .offset = frame * 4099 % 9999991}});
            define(run, (nm_definition){NM_DEFINE_STACK, stack_of(site, depth),
                                        .stack = {depth == 0 ? 0 : stack_of(site, depth - 1), frame}});
        }
}

/* ---- Measuring ---- */

static double decode(const nm_buffer *file, uint64_t *event_count, uint64_t *sum)
{
    nm_block_reader *reader;
    double begin = seconds();

    *event_count = *sum = 0;
    must(nm_block_reader_new(&reader, &failure));
    for (size_t at = 0; at < file->len;) {
        nm_bytes rest = {file->data + at, file->len - at};
        nm_block_header header;
        nm_record record;

        must(nm_block_read_header(rest, &header, &failure));
        must(nm_block_reader_open(reader, rest, &header, &failure));
        while (nm_block_reader_next(reader, &record, &failure) == NM_OK)
            if (record.kind == NM_RECORD_EVENT) {
                ++*event_count;
                *sum += record.event.address + (uint64_t)record.event.time_ns;
            }
        at += header.block_bytes;
    }
    nm_block_reader_free(reader);
    return seconds() - begin;
}

static void write_file(const recording *run, const char *path)
{
    FILE *file = fopen(path, "wb");

    if (file == NULL || fwrite(run->file.data, 1, run->file.len, file) != run->file.len || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

static void measure(recording *run, uint64_t event_count)
{
    uint64_t decoded, sum;

    define_all(run);
    for (int64_t step = 0; run->event_total < event_count; step++)
        train_step(run, step);
    write_block(run, NM_BLOCK_FINAL);

    double decode_seconds = decode(&run->file, &decoded, &sum);
    printf("events %" PRIu64 " in blocks of %" PRIu64 "\n", run->event_total, run->events_per_block);
    printf("size %.3f bytes/event\n", (double)run->file.len / (double)run->event_total);
    printf("encode %.2f million events/s\n", (double)run->event_total / run->encode_seconds / 1e6);
    printf("decode %.2f million events/s\n", (double)decoded / decode_seconds / 1e6);
}

int main(int argument_count, char **arguments)
{
    static recording state = {.random = 1, .events_per_block = 65536, .next_segment = 0x124000000000};
    uint64_t event_count = 4000000;
    const char *path = NULL;
    nm_session session = {.trace_id = "benchmark", .host = "host"};

    for (int option; (option = getopt(argument_count, arguments, "n:b:s:o:")) != -1;) {
        if (option == 'n')
            event_count = strtoull(optarg, NULL, 10);
        else if (option == 'b')
            state.events_per_block = strtoull(optarg, NULL, 10);
        else if (option == 's')
            state.random = strtoull(optarg, NULL, 10);
        else if (option == 'o')
            path = optarg;
        else
            return 2;
    }
    must(nm_trace_writer_new(&session, &state.writer, &failure));
    measure(&state, event_count);
    if (path != NULL)
        write_file(&state, path);
    nm_trace_writer_free(state.writer);
    nm_buffer_free(&state.file);
    free(state.events);
    for (int i = 0; i < BINS; i++)
        free(state.bins[i].items);
    return 0;
}
