/* SPDX-License-Identifier: Apache-2.0
 *
 * The kinds of member that rows.def speaks of: the C type of each, and what of it is in its column. How a value gets there and
 * back is in store/row_write.c and store/row_read.c.
 */
#ifndef NM_ROWS_KINDS_H
#define NM_ROWS_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* What a column is of a member: the contrary of each other in store/row_write.c and store/row_read.c. */
typedef enum nm_column_as {
    NM_AS_INTEGER, /* not negative, if it has fewer than 64 bits; */
    NM_AS_INDEX,   /* and this one may be */
    NM_AS_NOT,     /* the column says the contrary */
    NM_AS_RATIO,
    NM_AS_STREAM,
    NM_AS_PROCESS, /* the number of one that the input defines, or not */
    NM_AS_DEVICE,
    NM_AS_THREAD,
    NM_AS_HEAP,
    NM_AS_STACK,
    NM_AS_FRAME,
    NM_AS_MODULE,
    NM_AS_ALLOCATION, /* the number of a row */
    NM_AS_OPERATION,
    NM_AS_STRING,
    NM_AS_WORD,
    NM_AS_LITERAL,
    NM_AS_LINE,
    NM_AS_TEXT,
    NM_AS_NAME,
    NM_AS_BYTE_MS,
    NM_AS_POLICY,
    NM_AS_POOL_BYTES,
    NM_AS_DEVICE_COUNT,
    NM_AS_COMPUTED, /* of no member: the store knows it */
} nm_column_as;

/* Which number is NULL, besides what `as` says. */
typedef enum nm_column_null {
    NM_NULL_NEVER,
    NM_NULL_ZERO,
    NM_NULL_LEAST, /* INT64_MIN, which is NM_NO_SEQ, NM_NO_TIME and NM_UNKNOWN_NUMBER */
} nm_column_null;

/*
 * NM_KIND_x: the type of the member, and an nm_column_kind. NM_KIND_TYPE and NM_KIND_FACTS take them apart.
 */

/* Numbers. NULL: 0. One that the input does not define is NULL, too, and is counted. */
#define NM_KIND_PROCESS    uint64_t, .as = NM_AS_PROCESS, .null = NM_NULL_ZERO
#define NM_KIND_DEVICE     uint64_t, .as = NM_AS_DEVICE, .null = NM_NULL_ZERO
#define NM_KIND_THREAD     uint64_t, .as = NM_AS_THREAD, .null = NM_NULL_ZERO
#define NM_KIND_HEAP       uint64_t, .as = NM_AS_HEAP, .null = NM_NULL_ZERO
#define NM_KIND_STACK      uint64_t, .as = NM_AS_STACK, .null = NM_NULL_ZERO
#define NM_KIND_FRAME      uint64_t, .as = NM_AS_FRAME, .null = NM_NULL_ZERO
#define NM_KIND_MODULE     uint64_t, .as = NM_AS_MODULE, .null = NM_NULL_ZERO

/* The same of rows that must be written in the end, or the load fails. */
#define NM_KIND_ALLOCATION uint64_t, .as = NM_AS_ALLOCATION, .null = NM_NULL_ZERO
#define NM_KIND_OPERATION  uint64_t, .as = NM_AS_OPERATION, .null = NM_NULL_ZERO

#define NM_KIND_ID         uint64_t, .as = NM_AS_INTEGER /* the row's own */
#define NM_KIND_LINK                                                                                                   \
    uint64_t, .as = NM_AS_INTEGER, .null = NM_NULL_ZERO /* of a row that the replay has given or will give */

#define NM_KIND_COUNT      uint64_t, .as = NM_AS_INTEGER
#define NM_KIND_BYTES      uint64_t, .as = NM_AS_INTEGER
#define NM_KIND_NS         uint64_t, .as = NM_AS_INTEGER
#define NM_KIND_ADDRESS    uint64_t, .as = NM_AS_INTEGER
#define NM_KIND_HANDLE     uint64_t, .as = NM_AS_INTEGER
#define NM_KIND_INDEX      int, .as = NM_AS_INDEX
#define NM_KIND_FLAG       bool, .as = NM_AS_INTEGER
#define NM_KIND_NOT        bool, .as = NM_AS_NOT
#define NM_KIND_CODE(type) type, .as = NM_AS_INTEGER /* an enum; a table of the schema has the words */

#define NM_KIND_ZERO_IS_NULL(kind)                                                                                     \
    NM_KIND_INNER(NM_KIND_##kind, ), .as = NM_AS_INTEGER, .null = NM_NULL_ZERO /* one of the above */

#define NM_KIND_SEQ    int64_t, .as = NM_AS_INTEGER, .null = NM_NULL_LEAST /* place in the order of events */
#define NM_KIND_TIME   int64_t, .as = NM_AS_INTEGER, .null = NM_NULL_LEAST /* nanoseconds */
#define NM_KIND_NUMBER int64_t, .as = NM_AS_INTEGER, .null = NM_NULL_LEAST
#define NM_KIND_STATED int64_t, .as = NM_AS_INTEGER /* a number that is always there */
#define NM_KIND_RATIO  double, .as = NM_AS_RATIO    /* NULL: below 0 */

/* NULL: not of a stream (it may have the handle 0). The member is called stream. */
#define NM_KIND_STREAM                                                                                                 \
    bool has_stream;                                                                                                   \
    uint64_t, .as = NM_AS_STREAM, NM_BESIDE(has_stream)

/* Texts. Nothing is borrowed but a TEXT, so that a row without one can wait. */
#define NM_KIND_STRING       uint64_t, .as = NM_AS_STRING /* its number in the input. NULL: 0, or not defined */
#define NM_KIND_WORD(type)   type, .as = NM_AS_WORD, .words = &type##_words /* an enum. NULL: it has no word */
#define NM_KIND_LITERAL      const char *, .as = NM_AS_LITERAL              /* a constant of the program. NULL: NULL */
#define NM_KIND_LINE         nm_line, .as = NM_AS_LINE                      /* NULL: empty */
#define NM_KIND_TEXT         nm_bytes, .as = NM_AS_TEXT /* borrowed until the call returns. NULL: data is NULL */

/* Of sums. A number: that one is not defined was counted with the rows of the sum. */
#define NM_KIND_OF_SUM(kind) NM_KIND_##kind, .is_of_sum = true
#define NM_KIND_NAME         uint64_t, .as = NM_AS_NAME /* text by its number in nm_definitions.strings. NULL: 0 */
#define NM_KIND_BYTE_MS      unsigned __int128, .as = NM_AS_BYTE_MS /* bytes times ns; the column has whole milliseconds */
#define NM_KIND_STREAM_OF_SUM                                                                                          \
    uint64_t has_stream;                                                                                               \
    uint64_t, .as = NM_AS_STREAM, .is_of_sum = true, NM_BESIDE(has_stream)

/* What has a meaning for some heaps alone. NULL: NM_POLICY_UNKNOWN, and of what is no memory of a driver; 0 of a heap that is
 * not a pool; of a heap without a device. */
#define NM_OF_HEAP(as_what)  uint64_t, .as = (as_what), NM_BESIDE(heap_id)
#define NM_KIND_POLICY       NM_OF_HEAP(NM_AS_POLICY)
#define NM_KIND_POOL_BYTES   NM_OF_HEAP(NM_AS_POOL_BYTES)
#define NM_KIND_DEVICE_COUNT NM_OF_HEAP(NM_AS_DEVICE_COUNT)

#define NM_KIND_PART(type)   type, .as = NM_AS_INTEGER /* a struct whose members have columns each */

/* Another member of the row, where the whole is said of a row_type. */
#define NM_BESIDE(member)    .beside_offset = offsetof(row_type, member), .beside_bytes = sizeof(((row_type *)0)->member)

/* clang-format off */
#define NM_KIND_TYPE(kind)          NM_KIND_FIRST(NM_KIND_##kind, )
#define NM_KIND_FIRST(...)          NM_KIND_FIRST_OF(__VA_ARGS__)
#define NM_KIND_FIRST_OF(type, ...) type
#define NM_KIND_INNER(...)          NM_KIND_INNER_OF(__VA_ARGS__) /* the same within a kind */
#define NM_KIND_INNER_OF(type, ...) type
#define NM_KIND_FACTS(kind)         NM_KIND_REST(NM_KIND_##kind)
#define NM_KIND_REST(...)           NM_KIND_REST_OF(__VA_ARGS__)
#define NM_KIND_REST_OF(type, ...)  {__VA_ARGS__}
/* clang-format on */

typedef struct nm_column_kind {
    nm_column_as as;
    nm_column_null null;
    const struct nm_words *words; /* of a WORD */
    bool is_of_sum;
    uint16_t beside_offset, beside_bytes; /* of another member that it needs; 0, 0: none */
} nm_column_kind;

#define NM_LINE_BYTES 320

typedef struct nm_line { /* of text */
    char text[NM_LINE_BYTES];
} nm_line;

#endif
