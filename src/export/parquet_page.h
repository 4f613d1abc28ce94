/* SPDX-License-Identifier: Apache-2.0
 *
 * Encodings of Parquet, appended to a buffer, and its footer's encoding of structs: what export/parquet.c is made with.
 */
#ifndef NM_EXPORT_PARQUET_PAGE_H
#define NM_EXPORT_PARQUET_PAGE_H

#include "base/buffer.h"

/* Values of `width` bits (1 to 32) as runs of equal ones and as bits in a row, whichever is shorter. */
nm_status nm_parquet_put_runs(const uint32_t *values, size_t count, unsigned width, nm_buffer *out, nm_error *err);

nm_status nm_parquet_put_u32(uint32_t value, nm_buffer *out, nm_error *err); /* little end first */
nm_status nm_parquet_put_u64(uint64_t value, nm_buffer *out, nm_error *err);

/* DELTA_BINARY_PACKED of any values: differences wrap around. */
nm_status nm_parquet_put_delta(const int64_t *values, size_t count, nm_buffer *out, nm_error *err);

/* The text with U+FFFD in place of each byte that is no UTF-8. */
nm_status nm_parquet_put_utf8(nm_bytes text, nm_buffer *out, nm_error *err);

/* ---- Thrift's compact protocol ---- */

typedef enum nm_thrift_type {
    NM_THRIFT_I32 = 5,
    NM_THRIFT_I64 = 6,
    NM_THRIFT_BINARY = 8,
    NM_THRIFT_LIST = 9,
    NM_THRIFT_STRUCT = 12,
} nm_thrift_type;

typedef struct nm_thrift {
    nm_buffer *out;   /* borrowed */
    int last;         /* number of the field before, in the struct at hand */
    nm_status status; /* of all that was put: the rest is left out after a failure */
    nm_error *err;
} nm_thrift;

/* Fields of a struct, by rising numbers. */
void nm_thrift_integer(nm_thrift *to, int field, nm_thrift_type type, int64_t value);
void nm_thrift_bytes(nm_thrift *to, int field, nm_bytes value);
void nm_thrift_text(nm_thrift *to, int field, const char *value);
int nm_thrift_begin(nm_thrift *to, int field); /* of a struct; 0: an element of a list, or the outermost */
void nm_thrift_end(nm_thrift *to, int begun);  /* takes what nm_thrift_begin gave */

/* Its elements are put next. */
void nm_thrift_list(nm_thrift *to, int field, nm_thrift_type type, size_t count);
void nm_thrift_put_integer(nm_thrift *to, int64_t value);
void nm_thrift_put_bytes(nm_thrift *to, nm_bytes value);
void nm_thrift_put_raw(nm_thrift *to, const void *data, size_t len); /* elements that were encoded before */

#endif
