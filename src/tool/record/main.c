/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-record: records a program and all it starts into one trace. It forks the program, sets up a session, runs the
 * drain until the last recorded process has ended, and ends as the program did. Where nothing can be recorded from the
 * start, the program is not begun, with one line that says why; what goes wrong later never touches it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/door.h"
#include "base/io.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "drain/clock.h"
#include "drain/output.h"
#include "drain/recover.h"
#include "drain/state.h"
#include "tool/common/trace_map.h"
#include "tool/record/answers.h"
#include "tool/record/child.h"
#include "tool/record/commands.h"
#include "tool/record/detached.h"
#include "tool/record/environment.h"
#include "tool/record/recording.h"
#include "tool/record/selfcheck.h"
#include "tool/selfcheck/selfcheck_program.h"

#define UNRECORDED "; the program runs unrecorded"
#define NOT_BEGUN  "; the program was not begun"
#define ORPHAN_GRACE_NS                                                                                                \
    200000000 /* who was started, or took another's place, may not have said yet that it is recorded */
#define ENDING_PAUSE_NS 1000000

/* ---- Running a program --------------------------------------------------------------------------------------------- */

static void on_end(void *context, pid_t pid, int status, uint64_t peak_bytes)
{
    recording *work = context;

    if (recording_take_answers(work, pid, status))
        return;
    if (work->drain != NULL)
        nm_drain_reaped(work->drain, pid, status, peak_bytes);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        recording_killed(work, pid, peak_bytes);
}

/* The program has ended at `ended_at_ns`, and the drain has looked since: is anything left to wait for? *used_ns is when
 * something was recorded last, from that time on. */
static bool is_over(const recording *work, const record_child *child, int64_t ended_at_ns, int64_t *used_ns)
{
    int64_t now_ns = nm_clock_monotonic_ns();
    bool is_waiting_in_vain = child->end_requests > 0 && nm_drain_is_waiting(work->drain);

    if (now_ns - ended_at_ns >= work->options->linger_ns || is_waiting_in_vain)
        return true;
    if (!work->has_failed && nm_drain_live_count(work->drain) > 0) {
        *used_ns = now_ns;
        return false;
    }
    return now_ns - *used_ns >= ORPHAN_GRACE_NS || !record_child_has_others();
}

static void record_until_all_ended(recording *work, record_child *child)
{
    int64_t pause_ns = 0, ended_at_ns = 0, used_ns = 0;

    for (;;) {
        recording_pass(work, &pause_ns);
        if (work->is_over)
            return;
        if (child->has_ended && ended_at_ns != 0 && is_over(work, child, ended_at_ns, &used_ns))
            return;
        if (child->has_ended && ended_at_ns == 0) {
            ended_at_ns = used_ns = nm_clock_monotonic_ns();
            nm_drain_linger(work->drain);
        }
        if (child->has_ended && pause_ns > ENDING_PAUSE_NS)
            pause_ns = ENDING_PAUSE_NS;
        record_child_wait(child, pause_ns, on_end, work);
    }
}

static void wait_unrecorded(recording *work, record_child *child)
{
    while (!child->has_ended)
        record_child_wait(child, INT64_C(1000000000), on_end, work);
}

/* What becomes of the program without a recording: it runs only where that was asked for, and never where the recording
 * would have taken another one's file. */
static bool is_to_run(const record_options *options, nm_status status)
{
    return status != NM_ERR_BUSY && options->is_best_effort;
}

/* An output, a ring folder or a library that cannot be had was asked for in vain: wrong usage. */
static int refusal(const record_options *options, nm_status status)
{
    bool is_usage = status == NM_ERR_BUSY || (status != NM_ERR_MEMORY && !options->is_required);

    return is_usage ? EXIT_USAGE : EXIT_NO;
}

static nm_status set_up(recording *work, pid_t pid)
{
    nm_error err = {0};
    nm_status status = recording_set_up(work, pid, &err);

    if (status == NM_OK)
        return NM_OK;
    nm_shown_print(stderr, "npumem-record: %s: %s%s\n",
                   work->name.len == 0 ? work->options->output : (const char *)work->name.data, err.text,
                   nm_spoken(is_to_run(work->options, status) ? UNRECORDED
                             : status == NM_ERR_BUSY          ? ""
                                                              : NOT_BEGUN));
    recording_discard_output(work);
    recording_tear_down(work);
    return status;
}

typedef struct watched_child {
    record_child child;
    recording *work;
} watched_child;

static unsigned end_requests(void *context)
{
    watched_child *watched = context;

    record_child_wait(&watched->child, 0, on_end, watched->work);
    return watched->child.end_requests;
}

static void end_recording(recording *work, record_child *child)
{
    const char *report = work->answers.file;

    work->exit_status = child->has_ended && WIFEXITED(child->wait_status) ? WEXITSTATUS(child->wait_status) : -1;
    recording_finish(work);
    char *trace = report == NULL || work->has_failed ? NULL : strdup((const char *)work->name.data);
    recording_tear_down(work);
    record_answers_stop(&work->answers);
    if (trace == NULL)
        return;
    if (child->has_ended)
        record_child_release_signals(child);
    record_report(trace, report);
    free(trace);
}

static int run_program(const record_options *options)
{
    watched_child watched;
    recording work = {.options = options,
                      .fd = -1,
                      .answer = record_commands_answer,
                      .answers.file = options->report,
                      .end_requests = end_requests,
                      .end_requests_context = &watched};
    nm_error err = {0};
    record_child *child = &watched.child;

    watched.work = &work;
    if (record_child_fork(options->program, child, &err) != NM_OK) {
        fprintf(stderr, "npumem-record: %s%s\n", err.text, nm_spoken(options->is_best_effort ? UNRECORDED : NOT_BEGUN));
        if (!options->is_best_effort)
            return EXIT_NO;
        record_child_replace(options->program);
    }
    nm_status status = set_up(&work, child->pid);
    bool is_recorded = status == NM_OK;
    if (!is_recorded && !is_to_run(options, status))
        return refusal(options, status); /* the child sees its pipe closed, and ends */

    record_child_start(child, is_recorded ? work.folder.path : NULL, work.library, strcmp(options->output, "-") == 0);
    if (child->exec_errno != 0) {
        nm_shown_print(stderr, "npumem-record: %s: %s\n", options->program[0], nm_spoken(strerror(child->exec_errno)));
        recording_discard_output(&work);
    } else if (is_recorded) {
        record_until_all_ended(&work, child);
        end_recording(&work, child);
        wait_unrecorded(&work, child); /* --duration is over before the program is */
    } else {
        wait_unrecorded(&work, child);
    }
    recording_tear_down(&work);
    record_child_end_alike(child);
}

/* ---- --finish ------------------------------------------------------------------------------------------------------ */

/* All parts of the recording that `path` is (a part of). */
static nm_status open_files(const char *path, nm_trace_files *files, nm_error *err)
{
    char *name = strndup(path, nm_trace_files_stem(path));
    const char *named = name;
    nm_status status;

    if (name == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (strcmp(name, path) != 0 && nm_trace_files_is_single(name))
        named = path; /* "run.zst.003" beside "run.zst": no part of it */
    status = nm_trace_files_open(&named, 1, O_RDWR, files, err);
    free(name);
    return status;
}

/* Until the files are closed. A recording has claimed the part that it writes; it may have written until then. */
static nm_status claim_files(nm_trace_files *files, nm_error *err)
{
    struct stat info;
    nm_status status = NM_OK;

    for (size_t i = 0; i < files->count && status == NM_OK; i++) {
        nm_trace_file *file = &files->items[i];

        status = nm_output_claim(file->fd, err);
        if (status == NM_OK && fstat(file->fd, &info) == 0)
            file->bytes = (uint64_t)info.st_size;
    }
    return status;
}

/* The cut block is replaced by whole ones, on the disk before the rings go. */
static nm_status append_recovered(const nm_trace_files *files, const trace_map *map, const nm_recovery *recovery,
                                  nm_error *err)
{
    const nm_trace_file *last = &files->items[files->count - 1];
    bool is_torn = recovery->trace_bytes <= map->last_at && files->count > 1; /* a part of which nothing is whole */
    uint64_t at = is_torn ? recovery->trace_bytes : recovery->trace_bytes - map->last_at;
    int fd = is_torn ? (last - 1)->fd : last->fd;

    if (ftruncate(fd, (off_t)at) != 0 || lseek(fd, 0, SEEK_END) < 0)
        return nm_fail_errno(err, errno, "cannot cut");
    nm_status status = nm_io_write(fd, recovery->blocks.data, recovery->blocks.len, err);
    if (status == NM_OK && nm_io.fsync(fd) != 0)
        status = nm_fail_errno(err, errno, "cannot sync");
    if (status == NM_OK && is_torn)
        nm_door_take_back(last->path, last->fd);
    return status;
}

/* May what the rings hold be moved? Nobody else has claimed the files. */
static nm_status check_rings(nm_state state, const nm_recovery *recovery, nm_error *err)
{
    if (state == NM_STATE_RUNNING)
        return nm_fail(err, NM_ERR_BUSY, NM_NO_OFFSET, "is being recorded");
    if (state == NM_STATE_UNREADABLE)
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "%s", nm_state_reason(state));
    if (!recovery->has_rings)
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "is cut, and its rings are not on this machine any more");
    return recovery->is_running
               ? nm_fail(err, NM_ERR_BUSY, NM_NO_OFFSET,
                         "its recorder was killed, and a recorded process still runs: wait for its end")
               : NM_OK;
}

static nm_status finish_files(nm_trace_files *files, nm_recovery *recovery, nm_error *err)
{
    nm_session session;
    trace_map map;
    nm_state state = NM_STATE_UNSEEN;
    nm_status status = claim_files(files, err);

    if (status == NM_OK && nm_state_find_session(files->items[0].fd, &session))
        state = nm_state_look(&session, files->items[files->count - 1].fd);
    if (status == NM_OK)
        status = trace_map_open(files, &map, err);
    if (status != NM_OK)
        return status;
    status = nm_recover_rings(map.bytes, recovery, err);
    if (status == NM_OK && recovery->is_needed)
        status = check_rings(state, recovery, err);
    if (status == NM_OK && recovery->is_needed)
        status = append_recovered(files, &map, recovery, err);
    trace_map_close(&map);
    if (status == NM_OK && recovery->is_needed)
        nm_folder_remove(recovery->ring_folder);
    return status;
}

/* Is something missing of what the rings held? As npumem-ingest would say of the trace. */
static bool has_loss(const nm_recovery *recovery)
{
    return recovery->events_unrecovered + recovery->events_dropped + recovery->processes_unjoined > 0 ||
           recovery->is_at_least;
}

static void say_recovered(const nm_recovery *recovery, const char *path)
{
    fputs("npumem-record: ", stderr);
    record_print_count(recovery->events_recovered);
    fputs(nm_spoken(recovery->events_recovered == 1 ? " event recovered, " : " events recovered, "), stderr);
    fputs(nm_spoken(recovery->is_at_least ? "at least " : ""), stderr);
    record_print_count(recovery->events_unrecovered);
    fputs(nm_spoken(" unreadable, "), stderr);
    if (recovery->events_dropped > 0) {
        record_print_count(recovery->events_dropped);
        fputs(nm_spoken(" dropped, "), stderr);
    }
    if (recovery->processes_unjoined > 0) {
        record_print_count(recovery->processes_unjoined);
        fprintf(stderr, nm_spoken(" process%s without a file in the ring folder, "),
                nm_spoken(recovery->processes_unjoined == 1 ? "" : "es"));
    }
    nm_shown_print(stderr, "%s\n", path);
}

static int finish_trace(const record_options *options)
{
    nm_recovery recovery = {0};
    nm_error err = {0};
    nm_trace_files files;
    nm_status status = open_files(options->target, &files, &err);
    char name[PATH_MAX];

    nm_shown_text(name, sizeof name, options->target);

    if (status == NM_OK) {
        status = finish_files(&files, &recovery, &err);
        nm_trace_files_close(&files);
    }
    if (status != NM_OK) {
        fprintf(stderr, "npumem-record: %s: %s\n", name, err.text);
    } else if (!recovery.is_needed) {
        fprintf(stderr, nm_spoken("npumem-record: %s: is whole already\n"), name);
    } else if (!options->is_quiet || has_loss(&recovery)) {
        say_recovered(&recovery, name);
    }
    nm_recovery_free(&recovery);
    return status != NM_OK ? EXIT_NO : has_loss(&recovery) ? EXIT_PARTIAL : 0;
}

/* ---- --ctl --------------------------------------------------------------------------------------------------------- */

static int control(const record_options *options)
{
    nm_buffer request = {0}, reply = {0};
    nm_error err = {0};
    nm_status status = NM_OK;

    for (char **word = options->program; *word != NULL && status == NM_OK; word++) {
        if (word != options->program)
            status = nm_buffer_append(&request, " ", 1, &err);
        if (status == NM_OK)
            status = nm_buffer_append(&request, *word, strcspn(*word, "\n"), &err);
    }
    if (status == NM_OK)
        status = nm_buffer_append(&request, "", 1, &err);
    if (status == NM_OK)
        status = record_control_ask(options->target, (const char *)request.data, &reply, &err);
    if (status == NM_OK)
        fwrite(reply.data, 1, reply.len, stdout);
    else
        nm_shown_print(stderr, "npumem-record: %s: %s\n", options->target, err.text);
    nm_buffer_free(&request);
    nm_buffer_free(&reply);
    return status == NM_OK ? 0 : EXIT_NO;
}

int main(int argc, char **argv)
{
    static record_options options; /* to the end: what it owns is not given back */

    nm_io_hold_standard_streams();
    options_outcome outcome = record_options_read(argc, argv, &options);
    if (outcome != OPTIONS_READ)
        return options_end(outcome, EXIT_NO);
    switch (options.action) {
    case RECORD_FINISH:
        return finish_trace(&options);
    case RECORD_ATTACH:
        return record_attach(&options);
    case RECORD_SERVE:
        return record_serve(&options);
    case RECORD_PRINT_ENVIRONMENT:
        return record_print_environment(&options);
    case RECORD_CONTROL:
        return control(&options);
    case RECORD_SELFCHECK:
        return record_selfcheck(&options);
    case RECORD_SELFCHECK_PROGRAM:
        return selfcheck_program();
    case RECORD_COST:
        return record_cost_program();
    default:
        break;
    }
    if (options.is_off)
        record_child_replace(options.program);
    return run_program(&options);
}
