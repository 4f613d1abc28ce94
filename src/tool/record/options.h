/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of npumem-record.
 */
#ifndef NM_TOOL_RECORD_OPTIONS_H
#define NM_TOOL_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "drain/folder.h"
#include "tool/common/options.h"
#include "tool/record/alerts.h"

typedef enum record_action {
    RECORD_RUN,
    RECORD_FINISH,
    RECORD_ATTACH,
    RECORD_SERVE,
    RECORD_PRINT_ENVIRONMENT,
    RECORD_CONTROL,
    RECORD_SELFCHECK,
    RECORD_SELFCHECK_PROGRAM,
    RECORD_COST
} record_action;

typedef struct record_options {
    record_action action;
    const char *output; /* pattern, or "-" */
    const char *target; /* of --finish, --attach, --serve and --ctl */
    bool is_forced, is_required, is_quiet, is_json, is_watched;
    bool is_best_effort;  /* what cannot be recorded runs all the same */
    bool is_off;          /* NPUMEM=off: run the program unrecorded */
    bool has_pool_events; /* torch_npu is to tell them */
    const char *ring_dir; /* or NULL */
    nm_folder_options folder;
    int64_t linger_ns;
    bool has_duration;
    int64_t duration_ns; /* 0: until the end */
    record_alert_list alerts;
    const char *report;              /* file for the answers, or NULL */
    uint64_t keep_bytes, keep_steps; /* the newest that stay; both 0: all */
    int64_t sample_ns;               /* between two looks at host memory; 0: never */
    int64_t sync_ns;                 /* between two syncs of the trace; 0: never */
    nm_buffer words; /* of --print-env and --selfcheck: the other options as NM_HOST_OPTIONS has them, zero-terminated;
                        or empty */
    char **program;  /* its arguments, NULL at the end; of --ctl: the request */
} record_options;

/* Points into argv. */
options_outcome record_options_read(int argc, char **argv, record_options *options);

/* Cuts a text of NM_HOST_OPTIONS into its words, in place: at most one for two bytes. How many. */
int record_cut_words(char *text, char **words);

#endif
