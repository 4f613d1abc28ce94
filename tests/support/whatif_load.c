/* SPDX-License-Identifier: Apache-2.0 */
#include "support/whatif_load.h"

#include <check.h>
#include <fcntl.h>

#include "analysis/passes.h"
#include "base/io.h"
#include "replay/replay.h"
#include "source/source.h"
#include "support/text_trace.h"

typedef nm_status next_record(void *source, nm_record *record, nm_error *err);

static nm_status next_of_text(void *source, nm_record *record, nm_error *err)
{
    return nm_text_trace_next(source, record, err);
}

static nm_status next_of_file(void *source, nm_record *record, nm_error *err)
{
    return nm_source_next(source, record, err);
}

static nm_workload *load(void *source, next_record *next, const nm_workload_options *options)
{
    nm_gather *gather = NULL;
    nm_replay *replay = NULL;
    nm_workload *workload = NULL;
    nm_record record;
    nm_error err;
    nm_status status;

    ck_assert_int_eq(nm_gather_new(&gather, &err), NM_OK);
    ck_assert_int_eq(nm_replay_new(nm_gather_sink(gather), nm_passes, &replay, &err), NM_OK);
    while ((status = next(source, &record, &err)) == NM_OK)
        ck_assert_int_eq(nm_replay_record(replay, &record, &err), NM_OK);
    ck_assert_msg(status == NM_END, "%s", err.text);
    ck_assert_int_eq(nm_replay_finish(replay, &err), NM_OK);
    size_t heap = nm_gather_largest_pool(gather);
    ck_assert_uint_ne(heap, SIZE_MAX);
    ck_assert_msg(nm_workload_new(gather, heap, options, &workload, &err) == NM_OK, "%s", err.text);
    nm_replay_free(replay);
    nm_gather_free(gather);
    return workload;
}

nm_workload *whatif_from_text(const char *text, const nm_workload_options *options)
{
    nm_text_trace *trace = NULL;
    nm_error err;

    ck_assert_msg(nm_text_trace_open(text, &trace, &err) == NM_OK, "line %lu: %s", err.offset, err.text);
    nm_workload *workload = load(trace, next_of_text, options);
    nm_text_trace_close(trace);
    return workload;
}

nm_workload *whatif_from_file(const char *path)
{
    nm_source *source = NULL;
    nm_error err;
    int fd;

    if (nm_io_open(path, O_RDONLY, 0, &fd, &err) != NM_OK)
        return NULL;
    ck_assert_msg(nm_source_open(fd, &source, &err) == NM_OK, "%s", err.text);
    nm_workload *workload = load(source, next_of_file, &(nm_workload_options){0});
    nm_source_close(source);
    nm_io_close(fd);
    return workload;
}
