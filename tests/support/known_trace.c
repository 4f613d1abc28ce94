/* SPDX-License-Identifier: Apache-2.0 */
#include "support/known_trace.h"

#include <check.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/handmade.h"

#define BIT(field) (UINT64_C(1) << (field))

/* An address that does not compress, and that tells which event it belongs to. */
static uint64_t address_of(uint64_t seq)
{
    return (seq + 1) * 0x9E3779B97F4A7C15u;
}

static uint64_t stack_of(unsigned b, unsigned event)
{
    if (event % 3 == 0)
        return 1;
    return event % 3 == 2 && b % KNOWN_GROUP != 0 ? 100 + b - 1 : 100 + b;
}

static void define_block(hand_block *block, unsigned b)
{
    hand_define(block, 2, 10, (uint64_t[10]){1, 0, 2 * 42});
    hand_define(block, 3, 5, (uint64_t[5]){1, 1, 2 * 42});
    hand_define(block, 5, 8, (uint64_t[8]){1, 1, 0, 2});
    if (b % KNOWN_GROUP == 0) {
        hand_define(block, 7, 6, (uint64_t[6]){1, 0, 0, 10});
        hand_define(block, 8, 3, (uint64_t[3]){1, 0, 1});
    }
    hand_define(block, 7, 6, (uint64_t[6]){100 + b, 0, 0, 20 + b});
    hand_define(block, 8, 3, (uint64_t[3]){100 + b, 1, 100 + b});
}

/* Bytes that do not compress. */
static void define_padding(hand_block *block, unsigned b, unsigned padding_bytes)
{
    char text[4096];
    uint64_t x = b + 1;

    ck_assert_uint_lt(padding_bytes, sizeof text);
    for (unsigned i = 0; i < padding_bytes; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        text[i] = (char)(x >> 56 | 1);
    }
    text[padding_bytes] = 0;
    hand_define_string(block, 1000 + b, text);
}

void known_append_block(const known_trace *trace, unsigned b, uint8_t trace_id, uint32_t flags, nm_buffer *out)
{
    hand_block block = {.trace_id = trace_id,
                        .flags = flags,
                        .block_index = b,
                        .first_seq = (uint64_t)b * trace->events,
                        .event_count = trace->events};
    nm_buffer address = {0}, stack = {0};

    define_block(&block, b);
    define_padding(&block, b, trace->padding_bytes);
    hand_kind(&block, NM_EVENT_ALLOC,
              BIT(NM_FIELD_THREAD) | BIT(NM_FIELD_HEAP) | BIT(NM_FIELD_ADDRESS) | BIT(NM_FIELD_STACK));
    hand_column(&block, HAND_KINDS, 0, "\0", 1);
    hand_column(&block, NM_FIELD_THREAD, 0, "\1", 1);
    hand_column(&block, NM_FIELD_HEAP, 0, "\1", 1);
    hand_u8(&address, 8);
    hand_u8(&stack, 2);
    for (unsigned shift = 0; shift < 64; shift += 8)
        for (unsigned i = 0; i < trace->events; i++)
            hand_u8(&address, address_of(block.first_seq + i) >> shift & 255);
    for (unsigned shift = 0; shift < 16; shift += 8)
        for (unsigned i = 0; i < trace->events; i++)
            hand_u8(&stack, stack_of(b, i) >> shift & 255);
    hand_column(&block, NM_FIELD_ADDRESS, 2, address.data, address.len);
    hand_column(&block, NM_FIELD_STACK, 2, stack.data, stack.len);
    nm_buffer_free(&address);
    nm_buffer_free(&stack);
    hand_seal(&block, out);
}

void known_make(known_trace *trace, unsigned blocks, unsigned events, unsigned padding_bytes)
{
    *trace = (known_trace){.blocks = blocks, .events = events, .padding_bytes = padding_bytes};
    ck_assert_uint_le(blocks, KNOWN_BLOCKS_MAX);
    for (unsigned b = 0; b < blocks; b++) {
        known_append_block(trace, b, 1, b + 1 == blocks ? 1 : 0, &trace->file);
        trace->ends[b + 1] = trace->file.len;
        trace->headers[b] = trace->ends[b] + 8 + nm_get_u32(trace->file.data + trace->ends[b] + 4);
    }
}

void known_free(known_trace *trace)
{
    nm_buffer_free(&trace->file);
}

/* ---- The model ---- */

/* Is the stack known to a reader that has read the readable blocks up to `b`? */
static bool is_stack_known(const bool *is_readable, unsigned b, uint64_t stack)
{
    unsigned last = stack == 1 ? b : (unsigned)stack - 100;

    if (stack != 1 && !is_readable[last])
        return false;
    for (unsigned i = 0; i <= last; i += KNOWN_GROUP) /* its caller, stack 1, must have come before it */
        if (is_readable[i])
            return true;
    return false;
}

static nm_event next_event(nm_source *source, const char *where)
{
    nm_record record;
    nm_error err = {.text = "too few events"};

    do
        ck_assert_msg(nm_source_next(source, &record, &err) == NM_OK, "%s: %s", where, err.text);
    while (record.kind != NM_RECORD_EVENT);
    return record.event;
}

void known_check_source(const known_trace *trace, nm_source *source, const bool *is_readable,
                        nm_source_summary_data *summary, const char *where)
{
    uint64_t ingested = 0, without_stack = 0;
    nm_record record;
    nm_error err;

    for (unsigned b = 0; b < trace->blocks; b++)
        for (unsigned i = 0; is_readable[b] && i < trace->events; i++) {
            uint64_t seq = (uint64_t)b * trace->events + i;
            bool is_known = is_stack_known(is_readable, b, stack_of(b, i));
            nm_event expected = {.seq = seq,
                                 .kind = NM_EVENT_ALLOC,
                                 .flags = is_known ? 0 : NM_FLAG_NO_STACK,
                                 .thread_id = 1,
                                 .heap_id = 1,
                                 .address = address_of(seq),
                                 .stack_id = is_known ? stack_of(b, i) : 0};
            nm_event event = next_event(source, where);

            ck_assert_msg(memcmp(&event, &expected, sizeof event) == 0, "%s: event %d of block %u", where, i, b);
            ingested++;
            without_stack += !is_known;
        }
    ck_assert_msg(nm_source_next(source, &record, &err) == NM_END, "%s: more than expected", where);
    nm_source_summary(source, summary);
    ck_assert_msg(summary->events_ingested == ingested, "%s: ingested", where);
    ck_assert_msg(summary->events_without_stack == without_stack, "%s: without stack", where);
    ck_assert_msg(summary->events_seen ==
                      ingested + summary->events_dropped + summary->events_damaged + summary->events_unrecovered,
                  "%s: the sum of events", where);
}

/* ---- Input ---- */

static int open_file(nm_bytes input)
{
    int fd = memfd_create("trace", 0);

    ck_assert_int_ge(fd, 0);
    for (size_t at = 0; at < input.len;) {
        ssize_t wrote = write(fd, input.data + at, input.len - at);
        ck_assert_int_gt(wrote, 0);
        at += (size_t)wrote;
    }
    lseek(fd, 0, SEEK_SET);
    return fd;
}

/* A child writes into the pipe in pieces that fit nothing. */
static int open_pipe(nm_bytes input)
{
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    if (fork() == 0) {
        close(ends[0]);
        for (size_t at = 0; at < input.len;) {
            size_t piece = input.len - at < 777 ? input.len - at : 777;
            ssize_t wrote = write(ends[1], input.data + at, piece);
            if (wrote <= 0)
                _exit(1);
            at += (size_t)wrote;
        }
        _exit(0);
    }
    close(ends[1]);
    return ends[0];
}

nm_status known_open(nm_bytes input, bool is_pipe, int *fd, nm_source **out, nm_error *err)
{
    *fd = is_pipe ? open_pipe(input) : open_file(input);
    return nm_source_open(*fd, out, err);
}

void known_check(const known_trace *trace, nm_bytes input, bool is_pipe, const bool *is_readable,
                 nm_source_summary_data *summary, const char *where)
{
    nm_source *source;
    nm_error err;
    int fd;

    ck_assert_msg(known_open(input, is_pipe, &fd, &source, &err) == NM_OK, "%s: %s", where, err.text);
    known_check_source(trace, source, is_readable, summary, where);
    nm_source_close(source);
    close(fd);
}
