/* SPDX-License-Identifier: Apache-2.0
 *
 * The kinds of member that rows.def speaks of: the C type of each, and what of it is NULL in its column. How a value gets
 * there and back is in store/row_write.c and store/row_read.c, by the same names.
 */
#ifndef NM_ROWS_KINDS_H
#define NM_ROWS_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

/* Numbers. NULL: 0. One that the input does not define is NULL, too, and is counted. */
#define NM_TYPE_PROCESS            uint64_t
#define NM_TYPE_DEVICE             uint64_t
#define NM_TYPE_THREAD             uint64_t
#define NM_TYPE_HEAP               uint64_t
#define NM_TYPE_STACK              uint64_t
#define NM_TYPE_FRAME              uint64_t
#define NM_TYPE_MODULE             uint64_t

/* The same of rows that must be written in the end, or the load fails. */
#define NM_TYPE_ALLOCATION         uint64_t
#define NM_TYPE_OPERATION          uint64_t

#define NM_TYPE_ID                 uint64_t /* the row's own; never NULL */
#define NM_TYPE_LINK               uint64_t /* of another row that the replay has given or will give. NULL: 0 */

/* Never NULL. */
#define NM_TYPE_COUNT              uint64_t
#define NM_TYPE_BYTES              uint64_t
#define NM_TYPE_NS                 uint64_t
#define NM_TYPE_ADDRESS            uint64_t
#define NM_TYPE_HANDLE             uint64_t
#define NM_TYPE_INDEX              int
#define NM_TYPE_FLAG               bool
#define NM_TYPE_NOT                bool /* the column says the contrary */
#define NM_TYPE_CODE(type)         type /* an enum; the number is in the table, and a table of the schema has its word */

#define NM_TYPE_ZERO_IS_NULL(kind) NM_TYPE_##kind /* one of the above, of which 0 is not known, or none */

#define NM_TYPE_SEQ                int64_t /* place in the order of events. NULL: NM_NO_SEQ */
#define NM_TYPE_TIME               int64_t /* nanoseconds. NULL: NM_NO_TIME */
#define NM_TYPE_NUMBER             int64_t /* NULL: NM_UNKNOWN_NUMBER */
#define NM_TYPE_RATIO              double  /* NULL: below 0 */

/* NULL: not of a stream (it may have the handle 0). The member is called stream. */
#define NM_TYPE_STREAM                                                                                                 \
    bool has_stream;                                                                                                   \
    uint64_t

/* Texts. Nothing is borrowed but a TEXT, so that a row without one can wait. */
#define NM_TYPE_STRING       uint64_t     /* number of a string of the input. NULL: 0, or not defined */
#define NM_TYPE_WORD(type)   type         /* an enum, in the table by its word: type_words. NULL: no word */
#define NM_TYPE_LITERAL      const char * /* a constant of the program. NULL: NULL */
#define NM_TYPE_LINE         nm_line      /* NULL: empty */
#define NM_TYPE_TEXT         nm_bytes     /* borrowed until the call that gives the row returns. NULL: data is NULL */

/* Of sums. */
#define NM_TYPE_OF_SUM(kind) NM_TYPE_##kind /* a number: that one is not defined was counted with the rows of the sum */
#define NM_TYPE_NAME         uint64_t       /* text by its number in nm_definitions.strings. NULL: 0 */
#define NM_TYPE_BYTE_S       unsigned __int128 /* bytes times nanoseconds; the column has seconds, as a REAL */
#define NM_TYPE_BYTE_MS      unsigned __int128 /* the same in whole milliseconds */
#define NM_TYPE_STREAM_OF_SUM                                                                                          \
    uint64_t has_stream;                                                                                               \
    uint64_t

/* What has a meaning for some heaps alone. */
#define NM_TYPE_POLICY       uint64_t /* NULL: NM_POLICY_UNKNOWN, and of heaps that are not memory of the driver */
#define NM_TYPE_POOL_BYTES   uint64_t /* NULL: 0 of a heap that is not a pool */
#define NM_TYPE_DEVICE_COUNT uint64_t /* NULL: of a heap without a device */

#define NM_TYPE_PART(type)   type /* a struct whose members have columns each */

#define NM_LINE_BYTES        320

typedef struct nm_line { /* of text */
    char text[NM_LINE_BYTES];
} nm_line;

#endif
