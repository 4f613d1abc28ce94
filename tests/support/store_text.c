/* SPDX-License-Identifier: Apache-2.0 */
#include "support/store_text.h"

#include <string.h>

#include "analysis/passes.h"
#include "replay/replay.h"
#include "support/text_trace.h"

nm_input_row load_whole_input(uint64_t event_count)
{
    return (nm_input_row){
        .path = {(const uint8_t *)"run.zst", strlen("run.zst")},
        .kind = "trace",
        .order_kind = "clock",
        .start_realtime_ns = 0,
        .is_complete = true,
        .is_loss_exact = true,
        .state = "ended",
        .events_seen = event_count,
        .events_ingested = event_count,
        .first_seq = 0,
        .last_seq = (int64_t)event_count - 1,
        .leak_basis = "exact",
        .peak_basis = "exact",
        .fragmentation_basis = "exact",
        .hit_basis = "exact",
        .device_basis = "exact",
        .failure_basis = "exact",
        .misuse_basis = "exact",
    };
}

static nm_status replay_text(const char *text, nm_store *store, nm_error *err)
{
    nm_text_trace *trace = NULL;
    nm_replay *replay = NULL;
    nm_record record;
    nm_status status = nm_text_trace_open(text, &trace, err);

    if (status == NM_OK)
        status = nm_replay_new(nm_store_sink(store), nm_passes, &replay, err);
    while (status == NM_OK && (status = nm_text_trace_next(trace, &record, err)) == NM_OK)
        status = nm_replay_record(replay, &record, err);
    if (status == NM_END)
        status = nm_replay_finish(replay, err);
    nm_replay_free(replay);
    nm_text_trace_close(trace);
    return status;
}

nm_status store_text(const char *text, const nm_input_row *input, const nm_thresholds *thresholds, const char *path,
                     nm_error *err)
{
    nm_store_options options = {.is_forced = true, .input_fd = -1, .thresholds = thresholds};
    nm_store *store = NULL;
    nm_status status = nm_store_open(path, &options, &store, err);

    if (status == NM_OK)
        status = replay_text(text, store, err);
    if (status == NM_OK)
        status = nm_store_finish(store, input, err);
    if (status == NM_OK)
        status = nm_store_publish(store, err);
    nm_store_close(store);
    return status;
}
