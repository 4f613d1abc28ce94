/* SPDX-License-Identifier: Apache-2.0
 *
 * The source for what the Ascend PyTorch Profiler and msprof write: a database, or the CSV tables of one run, some or all of
 * them. All is read when it is opened. No table of these tells which calls were wrong, or which failed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/io.h"
#include "source/ascend_profiler.h"
#include "source/input.h"
#include "source/source.h"

typedef struct profiler_source {
    nm_source base;
    nm_ascend_profiler *profiler;
    nm_checksum_run sum; /* of all files */
    uint64_t bytes, position;
} profiler_source;

static void source_close(nm_source *base)
{
    profiler_source *source = (profiler_source *)base;

    nm_ascend_profiler_free(source->profiler);
    free(source);
}

static nm_status source_new(profiler_source **out, nm_error *err)
{
    profiler_source *source = calloc(1, sizeof *source);

    *out = source;
    if (source == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    source->base.type = &nm_ascend_profiler_source_type;
    nm_checksum_begin(&source->sum);
    return nm_ascend_profiler_new(&source->profiler, err);
}

/* By what is in its files the recording is known again. */
static nm_status sum_up(profiler_source *source, nm_input *input, nm_error *err)
{
    uint8_t part[16384];
    size_t got = sizeof part;
    nm_status status = nm_input_rewind(input, err);

    while (status == NM_OK && got == sizeof part) {
        status = nm_input_read(input, part, sizeof part, &got, err);
        nm_checksum_add(&source->sum, part, status == NM_OK ? got : 0);
        source->bytes += status == NM_OK ? got : 0;
    }
    source->position += nm_input_size(input);
    return status == NM_OK ? nm_input_rewind(input, err) : status;
}

static nm_status finish(profiler_source *source, nm_status status, nm_source **out, nm_error *err)
{
    if (status == NM_OK)
        status = nm_ascend_profiler_finish(source->profiler, err);
    if (status != NM_OK && source != NULL)
        source_close(&source->base);
    *out = status == NM_OK ? &source->base : NULL;
    return status;
}

/* ---- Tables of text ---- */

static nm_status read_table(profiler_source *source, int fd, nm_bytes head, nm_error *err)
{
    uint8_t inner[NM_SOURCE_HEAD_BYTES];
    nm_bytes seen =
        nm_input_is_gzip(head) ? (nm_bytes){inner, nm_input_look_into_gzip(head, inner, sizeof inner)} : head;
    nm_input *input = NULL;
    nm_status status = nm_input_open(fd, head, &input, err);

    if (status == NM_OK &&
        nm_ascend_csv_table(seen) != NM_ASCEND_PART_TRACE) /* it may be much longer than all others */
        status = sum_up(source, input, err);
    if (status == NM_OK)
        status = nm_ascend_csv_read(source->profiler, input, seen, err);
    if (status == NM_OK)
        source->profiler->is_cut |= nm_input_is_cut(input);
    nm_input_close(input);
    return status;
}

static nm_status source_open(int fd, nm_bytes head, nm_source **out, nm_error *err)
{
    profiler_source *source = NULL;
    nm_status status = source_new(&source, err);

    if (status == NM_OK)
        status = read_table(source, fd, head, err);
    return finish(source, status, out, err);
}

static nm_status source_open_parts(const int *fds, size_t fd_count, nm_source **out, nm_error *err)
{
    profiler_source *source = NULL;
    nm_status status = source_new(&source, err);

    for (size_t i = 0; i < fd_count && status == NM_OK; i++) {
        uint8_t begin[NM_SOURCE_HEAD_BYTES];
        nm_bytes head = {begin, 0};

        status = nm_io_read(fds[i], begin, sizeof begin, &head.len, err);
        if (status == NM_OK)
            status = read_table(source, fds[i], head, err);
    }
    return finish(source, status, out, err);
}

static bool source_matches(nm_bytes head)
{
    unsigned table = nm_ascend_csv_table(head);

    return table != 0 && table != NM_ASCEND_PART_TRACE;
}

/* ---- A database ---- */

static nm_status source_open_database(nm_input *input, nm_foreign_tables *tables, nm_source **out, nm_error *err)
{
    profiler_source *source = NULL;
    nm_status status = source_new(&source, err);

    if (status == NM_OK)
        status = sum_up(source, input, err);
    if (status == NM_OK)
        status = nm_ascend_db_read(source->profiler, tables, err);
    nm_foreign_tables_close(tables);
    nm_input_close(input);
    return finish(source, status, out, err);
}

/* ---- What is delivered ---- */

static nm_status source_next(nm_source *base, nm_record *out, nm_error *err)
{
    return nm_gathered_next(((profiler_source *)base)->profiler->gathered, out, err);
}

static nm_status source_rewind(nm_source *base, nm_error *err)
{
    (void)err;
    nm_gathered_rewind(((profiler_source *)base)->profiler->gathered);
    return NM_OK;
}

static uint64_t source_position(const nm_source *base)
{
    return ((const profiler_source *)base)->position;
}

static void source_summary(const nm_source *base, nm_source_summary_data *out)
{
    const profiler_source *source = (const profiler_source *)base;
    const nm_ascend_profiler *profiler = source->profiler;

    *out = (nm_source_summary_data){
        .kind = profiler->is_msprof ? "msprof" : "Ascend PyTorch Profiler",
        .order_kind = NM_ORDER_CLOCK,
        .carries = nm_ascend_profiler_carries(profiler),
        .start_realtime_ns = profiler->first_ns,
        .events_ingested = nm_gathered_event_count(profiler->gathered),
        .events_damaged = profiler->damaged_count,
        .events_late = profiler->uncertain_count,
        .detail_begin_ns = NM_NO_TIME,
        .is_loss_exact = true,
        .is_finished = !profiler->is_cut,
        .is_complete = profiler->damaged_count == 0 && !profiler->is_cut,
    };
    out->events_seen = out->events_ingested + out->events_damaged;
    snprintf(out->recording_id, sizeof out->recording_id, "%016" PRIx64 "%016" PRIx64, nm_checksum_end(&source->sum),
             source->bytes);
}

const nm_source_type nm_ascend_profiler_source_type = {
    .name = "Ascend PyTorch Profiler",
    .is_unpacking = true,
    .matches = source_matches,
    .part = nm_ascend_csv_table,
    .open = source_open,
    .open_parts = source_open_parts,
    .tables = nm_ascend_db_tables,
    .open_database = source_open_database,
    .next = source_next,
    .summary = source_summary,
    .position = source_position,
    .close = source_close,
    .rewind = source_rewind,
};
