/* SPDX-License-Identifier: Apache-2.0
 *
 * The lines of a log of any size, without colours, zero bytes and what JSON puts around them, and what stands in front of a line:
 * whose it is, and when.
 */
#ifndef NM_SOURCE_LOG_LINES_H
#define NM_SOURCE_LOG_LINES_H

#include "base/checksum.h"
#include "source/input.h"

#define NM_LOG_LINE_BYTES_MAX ((size_t)64 << 10)
#define NM_LOG_OVERLAP_BYTES  ((size_t)8 << 10)

typedef struct nm_log_lines nm_log_lines;

nm_status nm_log_lines_new(nm_input *input, nm_log_lines **out, nm_error *err); /* `input` is borrowed */
void nm_log_lines_free(nm_log_lines *lines);                                    /* NULL is fine */

/*
 * The next line, borrowed until the next call; a carriage return ends one, too. One that is longer than NM_LOG_LINE_BYTES_MAX comes in
 * pieces: *is_cut says that the next piece begins with this one's last NM_LOG_OVERLAP_BYTES. NM_END: there is none.
 */
nm_status nm_log_lines_next(nm_log_lines *lines, nm_bytes *line, bool *is_cut, nm_error *err);

uint64_t nm_log_lines_count(const nm_log_lines *lines); /* as wc counts them, with a last one that has no end */

/* Of all that was read: its checksum, and how many bytes it was. */
void nm_log_lines_sum(const nm_log_lines *lines, nm_checksum_run *sum, uint64_t *bytes);

/* What a line says of itself in front; NM_UNKNOWN_NUMBER: nothing. */
typedef struct nm_log_origin {
    int64_t rank, local_rank, pid;
    nm_bytes host;  /* borrowed from the line; empty: not said */
    bool is_parent; /* a server's own process, which says again what its workers said */
} nm_log_origin;

void nm_log_origin_read(nm_bytes line, nm_log_origin *out);

typedef struct nm_log_time {
    int64_t
        ns; /* since 1970 by the line's own digits, or NM_NO_TIME; of a year that is not known where has_year is false */
    bool has_year; /* and a day */
} nm_log_time;

#define NM_LOG_TIME_BYTES 96 /* from the line's beginning on, in which a time is looked for */

/* Where "12:34:56" stands in the line's beginning; its length: nowhere. */
size_t nm_log_clock_find(nm_bytes line);

nm_log_time nm_log_time_read(nm_bytes line);

#endif
