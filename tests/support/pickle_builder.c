/* SPDX-License-Identifier: Apache-2.0
 *
 * Two writers. Python's: a container goes into the memo at its birth, items come in batches of 1000 after a MARK, a
 * batch of one without. PyTorch's C++ one: always one MARK, and a shared container goes into the memo when it is whole.
 * Both write a text once and refer to it afterwards.
 */
#include "support/pickle_builder.h"

#include <stdlib.h>
#include <string.h>

#define BATCH 1000

void pickle_raw(pickle_builder *builder, const void *bytes, size_t len)
{
    if (nm_buffer_append(&builder->bytes, bytes, len, NULL) != NM_OK)
        abort();
}

static void put_op(pickle_builder *builder, int byte)
{
    uint8_t op = (uint8_t)byte;

    pickle_raw(builder, &op, 1);
}

static void put_number(pickle_builder *builder, uint64_t value, size_t bytes)
{
    uint8_t out[8];

    for (size_t i = 0; i < bytes; i++)
        out[i] = (uint8_t)(value >> 8 * i);
    pickle_raw(builder, out, bytes);
}

pickle_builder pickle_new(int protocol)
{
    pickle_builder builder = {.protocol = protocol == PICKLE_JIT ? 2 : protocol, .is_jit = protocol == PICKLE_JIT};

    put_op(&builder, 0x80);
    put_op(&builder, builder.protocol);
    if (builder.protocol >= 4) { /* a frame of no bytes: frames are a hint to whoever buffers */
        put_op(&builder, 0x95);
        put_number(&builder, 0, 8);
    }
    return builder;
}

void pickle_free(pickle_builder *builder)
{
    nm_buffer_free(&builder->bytes);
}

static uint64_t remember(pickle_builder *builder)
{
    if (builder->protocol >= 4) {
        put_op(builder, 0x94);
    } else if (builder->memo_count < 256) {
        put_op(builder, 'q');
        put_number(builder, builder->memo_count, 1);
    } else {
        put_op(builder, 'r');
        put_number(builder, builder->memo_count, 4);
    }
    return builder->memo_count++;
}

/* A value is about to be written: is it the first of a batch? */
static void before_value(pickle_builder *builder)
{
    pickle_level *level;

    if (builder->depth == 0)
        return;
    level = &builder->levels[builder->depth - 1];
    if (level->batch != 0 || level->half != 0 || builder->is_jit)
        return;
    level->has_mark = level->total - level->done != 1;
    if (level->has_mark)
        put_op(builder, '(');
}

static void end_batch(pickle_builder *builder, pickle_level *level)
{
    if (level->is_dict)
        put_op(builder, level->has_mark ? 'u' : 's');
    else
        put_op(builder, level->has_mark ? 'e' : 'a');
    level->batch = 0;
}

static void after_value(pickle_builder *builder)
{
    pickle_level *level;

    if (builder->depth == 0)
        return;
    level = &builder->levels[builder->depth - 1];
    if (level->is_dict && level->half == 0) {
        level->half = 1;
        return;
    }
    level->half = 0;
    level->done++;
    level->batch++;
    if (level->done > level->total)
        abort();
    if (!builder->is_jit && (level->batch == BATCH || level->done == level->total))
        end_batch(builder, level);
}

static uint64_t begin_container(pickle_builder *builder, bool is_dict, uint64_t count)
{
    uint64_t index = PICKLE_NO_INDEX;

    before_value(builder);
    put_op(builder, is_dict ? '}' : ']');
    if (builder->depth == PICKLE_DEPTH)
        abort();
    if (!builder->is_jit)
        index = remember(builder);
    else
        put_op(builder, '(');
    builder->levels[builder->depth++] = (pickle_level){.is_dict = is_dict, .total = count, .has_mark = builder->is_jit};
    return index;
}

uint64_t pickle_list(pickle_builder *builder, uint64_t item_count)
{
    return begin_container(builder, false, item_count);
}

uint64_t pickle_dict(pickle_builder *builder, uint64_t pair_count)
{
    return begin_container(builder, true, pair_count);
}

static void close_container(pickle_builder *builder)
{
    pickle_level *level = &builder->levels[builder->depth - 1];

    if (level->done != level->total)
        abort();
    if (builder->is_jit)
        end_batch(builder, level);
    builder->depth--;
}

void pickle_end(pickle_builder *builder)
{
    close_container(builder);
    after_value(builder);
}

uint64_t pickle_end_shared(pickle_builder *builder)
{
    uint64_t index;

    close_container(builder);
    index = remember(builder);
    after_value(builder);
    return index;
}

static void put_text(pickle_builder *builder, const char *text)
{
    size_t len = strlen(text);
    bool is_short = builder->protocol >= 4 && len < 256;

    put_op(builder, is_short ? 0x8c : 'X');
    put_number(builder, len, is_short ? 1 : 4);
    pickle_raw(builder, text, len);
}

void pickle_fresh_text(pickle_builder *builder, const char *text)
{
    before_value(builder);
    put_text(builder, text);
    remember(builder);
    after_value(builder);
}

static void put_get(pickle_builder *builder, uint64_t index)
{
    put_op(builder, index < 256 ? 'h' : 'j');
    put_number(builder, index, index < 256 ? 1 : 4);
}

void pickle_text(pickle_builder *builder, const char *text)
{
    before_value(builder);
    for (size_t i = 0; i < builder->text_count; i++) {
        if (strcmp(builder->texts[i].text, text) == 0) {
            put_get(builder, builder->texts[i].index);
            after_value(builder);
            return;
        }
    }
    put_text(builder, text);
    if (builder->text_count < PICKLE_TEXTS) {
        builder->texts[builder->text_count].text = text;
        builder->texts[builder->text_count++].index = builder->memo_count;
    }
    remember(builder);
    after_value(builder);
}

/* How Python writes a long: as few bytes as hold it with its sign. */
static size_t long_bytes(int64_t value)
{
    size_t bytes = 1;

    while (bytes < 8 && (value < -(INT64_C(1) << (8 * bytes - 1)) || value >= INT64_C(1) << (8 * bytes - 1)))
        bytes++;
    return bytes;
}

static void put_int(pickle_builder *builder, int64_t value)
{
    if (value >= 0 && value < 256) {
        put_op(builder, 'K');
        put_number(builder, (uint64_t)value, 1);
    } else if (value >= 0 && value < 65536) {
        put_op(builder, 'M');
        put_number(builder, (uint64_t)value, 2);
    } else if (value == (int32_t)value) {
        put_op(builder, 'J');
        put_number(builder, (uint64_t)value, 4);
    } else {
        size_t bytes = builder->is_jit ? 8 : long_bytes(value);
        put_op(builder, 0x8a);
        put_number(builder, bytes, 1);
        put_number(builder, (uint64_t)value, bytes);
    }
}

void pickle_int(pickle_builder *builder, int64_t value)
{
    before_value(builder);
    put_int(builder, value);
    after_value(builder);
}

void pickle_float(pickle_builder *builder, double value)
{
    uint64_t bits;

    before_value(builder);
    memcpy(&bits, &value, sizeof bits);
    put_op(builder, 'G');
    for (int shift = 56; shift >= 0; shift -= 8)
        put_op(builder, (int)(bits >> shift & 0xff));
    after_value(builder);
}

void pickle_bool(pickle_builder *builder, bool value)
{
    before_value(builder);
    put_op(builder, value ? 0x88 : 0x89);
    after_value(builder);
}

void pickle_none(pickle_builder *builder)
{
    before_value(builder);
    put_op(builder, 'N');
    after_value(builder);
}

void pickle_pair(pickle_builder *builder, int64_t first, int64_t second)
{
    before_value(builder);
    put_int(builder, first);
    put_int(builder, second);
    put_op(builder, 0x86);
    if (!builder->is_jit)
        remember(builder);
    after_value(builder);
}

void pickle_get(pickle_builder *builder, uint64_t index)
{
    before_value(builder);
    put_get(builder, index);
    after_value(builder);
}

void pickle_stop(pickle_builder *builder)
{
    if (builder->depth != 0)
        abort();
    put_op(builder, '.');
}
