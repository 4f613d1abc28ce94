/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorded program as a child process: it is forked first, while npumem-record has one thread and untouched signals,
 * and waits until it is told whether it will be recorded. Signals that were meant for it are passed on, and how it ended
 * is how npumem-record ends.
 */
#ifndef NM_TOOL_RECORD_CHILD_H
#define NM_TOOL_RECORD_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

typedef struct record_start_order record_start_order;

typedef struct record_child {
    pid_t pid;
    record_start_order *order; /* shared with the child until it runs */
    int go_fd;                 /* the child waits for it to be closed */
    int exec_fd;               /* closed by the child when it has become the program, or cannot */
    int signal_fd;             /* signals to npumem-record */
    unsigned end_requests;     /* signals that ask npumem-record to end, so far: SIGINT, SIGQUIT, SIGTERM and SIGHUP */
    bool has_ended;
    int wait_status; /* then */
    int exec_errno;  /* 0: the program runs or ran */
} record_child;

/* Forks the child, blocks the signals that are passed on. On failure nothing is left behind. */
nm_status record_child_fork(char **program, record_child *out, nm_error *err);

/*
 * Lets it run: with `library` preloaded and `folder` as its session, or unrecorded when these are NULL. Standard output
 * goes to standard error when `is_output_taken`. Returns when the program runs, or with exec_errno set.
 */
void record_child_start(record_child *child, const char *folder, const char *library, bool is_output_taken);

/* What hears of a process that was reaped: its wait status, and what it had of host memory at most. */
typedef void record_child_end(void *context, pid_t pid, int status, uint64_t peak_bytes);

/* Waits up to `timeout_ns` for signals and passes them on. */
void record_child_wait(record_child *child, int64_t timeout_ns, record_child_end *on_end, void *context);

/* The program has ended: what asks npumem-record to end does so from here on. What has come so far is taken as heard. */
void record_child_release_signals(record_child *child);

/* Are there descendants left that became ours? */
bool record_child_has_others(void);

/* Ends npumem-record as the program ended. */
void record_child_end_alike(const record_child *child) __attribute__((noreturn));

/* Runs the program in place of npumem-record: nothing is recorded. */
void record_child_replace(char **program) __attribute__((noreturn));

/* Runs a small program under the preload, quietly, at most some seconds. */
bool record_child_try(const char *folder, const char *library);

/* The same with npumem-record itself as the program and what it prints, zero-terminated and cut at `answer_bytes`, which is
 * less than a pipe holds. */
bool record_child_ask(const char *folder, const char *library, const char *option, char *answer, size_t answer_bytes);

#endif
