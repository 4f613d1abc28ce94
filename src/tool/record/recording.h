/* SPDX-License-Identifier: Apache-2.0
 *
 * One recording of npumem-record: output, ring folder, drain and names, set up in that order and taken down again.
 */
#ifndef NM_TOOL_RECORD_RECORDING_H
#define NM_TOOL_RECORD_RECORDING_H

#include <limits.h>
#include <sys/types.h>

#include "drain/drain.h"
#include "tool/common/versions.h"
#include "tool/record/answers.h"
#include "tool/record/control.h"
#include "tool/record/cost.h"
#include "tool/record/devices.h"
#include "tool/record/live.h"
#include "tool/record/names.h"
#include "tool/record/oom.h"
#include "tool/record/options.h"
#include "watch/watch.h"

/* What was recorded before is to be in the trace when it is asked; no thread is waited for longer. */
#define RECORDING_CATCH_UP_NS_MAX 1000000000

typedef struct recording {
    const record_options *options; /* borrowed */
    nm_buffer name;                /* of the output, zero-terminated; empty before it is known */
    int fd;
    bool is_stdout;
    nm_folder folder;
    nm_drain *drain;
    record_names *names;
    record_versions *versions;
    record_devices *devices;
    nm_watch *watch;               /* NULL: nobody looks on */
    record_live *live;             /* made with the watch */
    record_alerts *alerts;         /* the same */
    record_cost *cost;             /* NULL: nobody is told */
    int64_t began_ns;              /* CLOCK_MONOTONIC: when a process first recorded in full; 0: not yet */
    bool is_over;                  /* --duration has passed */
    record_control_answer *answer; /* what --ctl gets, with the recording as its context; set by the owner */
    record_control *control;       /* NULL: nobody can ask */
    char library[PATH_MAX];        /* that is preloaded */
    record_oom oom;                /* of this process's cgroup */
    record_answers answers;        /* --report; set by the owner who writes the last ones */
    bool has_failed;               /* the drain has, while the program runs */
    /* Set by the owner: how often somebody has asked that it ends; or NULL. */
    unsigned (*end_requests)(void *context);
    void *end_requests_context;
    unsigned requests_before; /* of them, when recording_finish was called */
    int exit_status;          /* of the program, set by the owner; -1: it runs, or a signal ended it */
} recording;

/* Everything but the program, which has process id `pid`. After a failure recording_tear_down is still to be called.
 * NM_ERR_BUSY: another recording writes the output. */
nm_status recording_set_up(recording *work, pid_t pid, nm_error *err);

/* The library that is to be preloaded, as asked. Without ' ' or ':' in its path: LD_PRELOAD could not name it. */
nm_status recording_find_library(const record_options *options, char path[PATH_MAX], nm_error *err);

/* The same without a program: nothing is preloaded. For npumem_start the folder has the name that the program has chosen. */
nm_status recording_set_up_attached(recording *work, nm_error *err);

/* One pass of the drain; *pause_ns says how long to wait before the next. */
void recording_pass(recording *work, int64_t *pause_ns);

/* A mark of the recorder's own, at this moment. */
nm_status recording_mark(recording *work, const char *text, nm_error *err);

/* A process was killed by SIGKILL: says so, by a line and a mark, if that was for want of the host's memory, of which it had
 * `peak_bytes` at most. */
void recording_killed(recording *work, pid_t pid, uint64_t peak_bytes);

/* A process that is none of the program's has ended: true if it wrote answers. */
bool recording_take_answers(recording *work, pid_t pid, int wait_status);

/* Stops and starts to record in full, for all processes; docs/recorder.md says what goes on meanwhile. */
nm_status recording_pause(recording *work, bool is_stopped, nm_error *err);

/* Takes what is left, ends the trace, and says what became of it, what it cost and what comes next. A reader of the output that has stopped
 * reading is waited for until somebody asks that this ends. */
void recording_finish(recording *work);

void recording_tear_down(recording *work);

/* A recording that never began leaves no file. */
void recording_discard_output(recording *work);

/* "1,234,567" */
void record_print_count(uint64_t count);

#endif
