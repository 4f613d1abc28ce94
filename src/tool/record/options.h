/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of npumem-record, and the name of its output.
 */
#ifndef NM_TOOL_RECORD_OPTIONS_H
#define NM_TOOL_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "drain/folder.h"
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
    RECORD_COST,
    RECORD_HELP,
    RECORD_VERSION
} record_action;

typedef struct record_options {
    record_action action;
    const char *output; /* pattern, or "-" */
    const char *target; /* of --finish, --attach, --serve and --ctl */
    bool is_forced, is_required, is_quiet, is_watched;
    bool is_best_effort;  /* what cannot be recorded runs all the same */
    bool is_off;          /* NPUMEM=off: run the program unrecorded */
    bool has_pool_events; /* torch_npu is to tell them */
    const char *ring_dir; /* or NULL */
    nm_folder_options folder;
    int64_t linger_ns;
    int64_t duration_ns; /* 0: until the end */
    record_alert_list alerts;
    const char *report;              /* file for the answers, or NULL */
    uint64_t keep_bytes, keep_steps; /* the newest that stay; both 0: all */
    int64_t sample_ns;               /* between two looks at host memory; 0: never */
    int64_t sync_ns;                 /* between two syncs of the trace; 0: never */
    bool is_out_of_memory;           /* that, and not wrong usage, is why they were refused */
    nm_buffer words; /* of --print-env and --selfcheck: the other options as NM_HOST_OPTIONS has them, zero-terminated;
                        or empty */
    char **program;  /* its arguments, NULL at the end; of --ctl: the request */
} record_options;

/* Points into argv. A wrong command line is said on standard error; then false. */
bool record_options_read(int argc, char **argv, record_options *options);
void record_options_help(void);

/* Cuts a text of NM_HOST_OPTIONS into its words, in place: at most one for two bytes. How many. */
int record_cut_words(char *text, char **words);

/* %h host, %p `pid`, %t start time, %{NAME} environment, %% a percent sign; zero-terminated in *out. */
nm_status record_expand_name(const char *pattern, pid_t pid, nm_buffer *out, nm_error *err);

#endif
