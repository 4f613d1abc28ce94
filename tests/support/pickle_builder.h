/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes pickles by hand, byte by byte, in the forms that real writers use, for tests of what reads them. Nothing here
 * comes from the reader.
 *
 *     pickle_builder builder = pickle_new(4);
 *     pickle_dict(&builder, 1);
 *     pickle_text(&builder, "segments");
 *     pickle_list(&builder, 0);
 *     pickle_end(&builder);
 *     pickle_end(&builder);
 *     pickle_stop(&builder);          builder.bytes is the whole pickle now
 *     pickle_free(&builder);
 */
#ifndef TESTS_SUPPORT_PICKLE_BUILDER_H
#define TESTS_SUPPORT_PICKLE_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

#define PICKLE_JIT      1 /* as "protocol": protocol 2 as PyTorch's C++ writer has it */
#define PICKLE_DEPTH    16
#define PICKLE_TEXTS    64
#define PICKLE_NO_INDEX UINT64_MAX

typedef struct pickle_level { /* a container under way */
    bool is_dict;
    bool has_mark;
    uint64_t total, done, batch; /* items; of a dictionary: pairs. batch: how many share the mark */
    uint64_t half;               /* of a pair: 1 when its key is there */
} pickle_level;

typedef struct pickle_builder {
    nm_buffer bytes;
    int protocol; /* 2 to 5 */
    bool is_jit;
    uint64_t memo_count;
    struct {
        const char *text; /* borrowed: give literals, or what outlives the builder */
        uint64_t index;
    } texts[PICKLE_TEXTS]; /* in the memo: written once, referred to afterwards */
    size_t text_count;
    pickle_level levels[PICKLE_DEPTH];
    size_t depth;
} pickle_builder;

pickle_builder pickle_new(int protocol); /* 2 to 5, or PICKLE_JIT */
void pickle_free(pickle_builder *builder);

/* A container of that many items (a dictionary: pairs; key and value follow each other). Its memo entry is returned, or
 * PICKLE_NO_INDEX for the C++ writer, which remembers only what it has been told to share. */
uint64_t pickle_list(pickle_builder *builder, uint64_t item_count);
uint64_t pickle_dict(pickle_builder *builder, uint64_t pair_count);
void pickle_end(pickle_builder *builder);
uint64_t
pickle_end_shared(pickle_builder *builder); /* the C++ writer: ends it and puts it into the memo, which gives */

void pickle_text(pickle_builder *builder, const char *text);
void pickle_fresh_text(pickle_builder *builder, const char *text); /* never referred to again; any lifetime */
void pickle_int(pickle_builder *builder, int64_t value);
void pickle_float(pickle_builder *builder, double value);
void pickle_bool(pickle_builder *builder, bool value);
void pickle_none(pickle_builder *builder);
void pickle_pair(pickle_builder *builder, int64_t first, int64_t second);
void pickle_get(pickle_builder *builder, uint64_t index); /* refers to a memo entry */
void pickle_stop(pickle_builder *builder);

void pickle_raw(pickle_builder *builder, const void *bytes, size_t len);

#endif
