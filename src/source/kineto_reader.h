/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON of torch.profiler (Kineto), one entry of its traceEvents after another, and what else is in it about where it ran.
 *
 *     nm_kineto_reader_begin(&reader, true, err);
 *     while ((status = nm_kineto_next(&reader, &entry, err)) == NM_OK)
 *         ...
 */
#ifndef NM_SOURCE_KINETO_READER_H
#define NM_SOURCE_KINETO_READER_H

#include "base/buffer.h"
#include "base/checksum.h"
#include "base/json.h"
#include "source/gathered.h"
#include "source/input.h"

#define NM_KINETO_SIZE_MAX (INT64_C(1) << 50) /* bytes: what is larger is no size */

typedef enum nm_kineto_category {
    NM_KINETO_OTHER,
    NM_KINETO_OPERATOR,
    NM_KINETO_PYTHON,
} nm_kineto_category;

/* Numbers that are not there, or are none, are NM_UNKNOWN_NUMBER. */
typedef struct nm_kineto_entry {
    char phase; /* 'X': a span, 'i': an instant; 0: not known */
    nm_kineto_category category;
    nm_bytes name; /* borrowed until the next call */
    int64_t pid, tid;
    int64_t time_ns, duration_ns; /* time as in the file: since nm_kineto_reader.base_ns, or since 1970 */
    int64_t address, bytes, allocated_bytes, reserved_bytes, device_type,
        device_id; /* of arguments, if they are read */
} nm_kineto_entry;

typedef struct nm_kineto_device {
    int64_t id;
    uint64_t name; /* string */
    uint64_t capacity_bytes;
} nm_kineto_device;

typedef struct nm_kineto_reader {
    nm_input *input;       /* borrowed */
    nm_gathered *gathered; /* borrowed: names of devices go there */
    nm_json_reader json;
    nm_buffer name;
    bool has_arguments, is_listing; /* arguments are read; within traceEvents */
    nm_checksum_run sum;            /* of all that was read */

    /* What was found so far. */
    int64_t base_ns; /* 0: none */
    int64_t rank, world_size;
    struct {
        nm_kineto_device *items;
        size_t count, capacity;
    } devices;
    bool is_torch;         /* something in it is torch.profiler's own */
    bool is_cut;           /* it ended within its JSON */
    uint64_t whole_offset; /* behind the last entry that is whole */
} nm_kineto_reader;

/* A zeroed reader with `input` and `gathered`. Reads from the start, again if wanted. */
nm_status nm_kineto_reader_begin(nm_kineto_reader *reader, bool has_arguments, nm_error *err);
void nm_kineto_reader_free(nm_kineto_reader *reader);

/* NM_END: that was all, or all that is there (is_cut). NM_ERR_FORMAT: no JSON. */
nm_status nm_kineto_next(nm_kineto_reader *reader, nm_kineto_entry *entry, nm_error *err);

#endif
