/* SPDX-License-Identifier: Apache-2.0
 *
 * What is set up first is torn down last, and each step can fail: recording_tear_down looks at what is there. While the
 * program runs only passes are made, and a pass that fails ends the recording and not the program. What is said at the end
 * goes out only where somebody can take it, since signals are blocked.
 */
#include "tool/record/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/door.h"
#include "base/io.h"
#include "base/own_path.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "drain/clock.h"
#include "drain/parts.h"
#include "drain/process.h"
#include "tool/record/child.h"
#include "tool/record/output.h"
#include "tool/record/output_name.h"
#include "tool/record/unseen.h"

#define NAMING_NS_MAX       10000000000
/* Sums of steps are written again into each part, at some 15 bytes a row: this leaves most of a part to events. */
#define KEEP_BYTES_PER_STEP 256
#define KEEP_STEP_ROWS_MIN  8192
#define KEEP_STEP_ROWS_MAX  (1u << 20)
#define FAILURE_NS          500000000 /* a pool tries again, or gives up: the answers are to know which */
#define FAILED_PAUSE_NS     100000000
#define ASKED_PATIENCE_NS   2000000000 /* with a reader that reads nothing, for who has been asked to end */
#define LAST_WORDS_MS       2000
#define LINE_BYTES          1024
#define ROOM_BYTES_MIN      (8u << 20)
#define ROOM_RINGS          4
#define UNSEEN_SHOWN_MAX    8

/* One library as two files: torch_npu tells its pool's events when the file's name ends as the second does. */
#define HOOK_LIBRARY        "libnpumem_hook.so"
#define POOL_LIBRARY        "libnpumem_libascend_kernel_hook.so"

/* Is there room for a line on standard error? Signals are blocked: nobody could end a write that waits for a reader. */
static bool can_say(int wait_ms)
{
    struct pollfd reader = {.fd = STDERR_FILENO, .events = POLLOUT};

    return poll(&reader, 1, wait_ms) > 0;
}

static void warn(void *context, const char *line)
{
    char shown[LINE_BYTES];

    (void)context;
    if (can_say(0))
        fprintf(stderr, "npumem-record: %s\n", nm_shown_text(shown, sizeof shown, line));
}

/* ---- Finding the library that is preloaded ------------------------------------------------------------------------- */

static const char *library_name(const record_options *options)
{
    return options->has_pool_events ? POOL_LIBRARY : HOOK_LIBRARY;
}

static bool is_library(const char *folder, const char *below, const char *name, char path[PATH_MAX])
{
    char joined[PATH_MAX];

    if (snprintf(joined, sizeof joined, "%s/%s/%s", folder, below, name) >= (int)sizeof joined)
        return false;
    return nm_door_allows(joined, R_OK) && nm_door_resolve(joined, path);
}

nm_status recording_find_library(const record_options *options, char path[PATH_MAX], nm_error *err)
{
    const char *name = library_name(options);
    /* Beside an installed program, and where the build puts it. */
    static const char *const below[] = {NPUMEM_LIBDIR_FROM_BINDIR, "../lib", "../lib64", ".", "../hook"};
    const char *asked = getenv("NPUMEM_LIBRARY_DIR");
    char folder[PATH_MAX];
    bool is_known = nm_own_folder(folder), is_found = asked != NULL && is_library(asked, ".", name, path);

    for (size_t i = 0; is_known && asked == NULL && !is_found && i < sizeof below / sizeof *below; i++)
        is_found = is_library(folder, below[i], name, path);
    if (!is_found && asked == NULL)
        is_found = is_library(NPUMEM_INSTALL_LIBDIR, ".", name, path);
    if (!is_found)
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET,
                       asked != NULL ? "%s is not in the folder that NPUMEM_LIBRARY_DIR names"
                       : !is_known   ? "/proc is not mounted: where npumem-record lies, and so %s, cannot be known: "
                                       "NPUMEM_LIBRARY_DIR=FOLDER says it"
                                     : "%s is not beside npumem-record, nor where it was installed: "
                                       "NPUMEM_LIBRARY_DIR=FOLDER says where it is",
                       name);
    if (strpbrk(path, " :") != NULL)
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "LD_PRELOAD cannot name a path with a space or colon in it");
    return NM_OK;
}

/* ---- Setting up ---------------------------------------------------------------------------------------------------- */

static bool is_kept(const recording *work)
{
    return work->options->keep_bytes > 0 || work->options->keep_steps > 0;
}

static nm_status open_output(recording *work, pid_t pid, nm_error *err)
{
    const char *pattern = work->options->output;

    if (strcmp(pattern, "-") == 0) {
        work->is_stdout = true;
        work->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
        if (work->fd < 0)
            return nm_fail_errno(err, errno, "cannot use standard output");

        const char *name = nm_spoken("standard output");
        return nm_buffer_append(&work->name, name, strlen(name) + 1, err);
    }
    nm_status status = record_expand_name(pattern, pid, &work->name, err);
    if (status == NM_OK && is_kept(work))
        return record_open_first_part(&work->name, work->options->is_forced, &work->fd, err);
    return status == NM_OK ? record_open_output(&work->name, work->options->is_forced, &work->fd, err) : status;
}

static void look_on(void *context, const nm_record *record)
{
    recording *work = context;

    record_versions_take(work->versions, record);
    record_devices_take(work->devices, record);
    if (work->alerts != NULL)
        record_alerts_take(work->alerts, record);
    if (work->cost != NULL)
        record_cost_take(work->cost, record);
    if (work->watch != NULL && (work->live == NULL || !record_live_is_putting(work->live)))
        nm_watch_take(work->watch, record);
    if (record->kind != NM_RECORD_EVENT)
        return;
    if (work->drain != NULL && record->event.kind == NM_EVENT_STEP)
        nm_drain_step(work->drain);
    if (record->event.kind == NM_EVENT_ALLOC_FAILED && !nm_event_is_repeat(&record->event))
        record_answers_want(&work->answers, nm_clock_monotonic_ns() + FAILURE_NS);
}

/* ---- Parts --------------------------------------------------------------------------------------------------------- */

static nm_status put_again(void *context, const nm_event *event, nm_error *err)
{
    return nm_drain_repeat(context, event, err);
}

static nm_status write_keyframe(void *context, nm_drain *drain, nm_error *err)
{
    recording *work = context;

    return nm_watch_has_failed(work->watch) ? NM_END : nm_watch_keyframe(work->watch, put_again, drain, err);
}

static uint64_t most_steps(void *context)
{
    const recording *work = context;

    return nm_watch_most_steps(work->watch);
}

static nm_drain_keep keep_options(recording *work)
{
    const record_options *options = work->options;
    uint64_t rows = options->keep_bytes / KEEP_BYTES_PER_STEP;

    if (!is_kept(work))
        return (nm_drain_keep){0};
    rows = options->keep_bytes == 0 || rows > KEEP_STEP_ROWS_MAX ? KEEP_STEP_ROWS_MAX : rows;
    nm_watch_limit_steps(work->watch, rows < KEEP_STEP_ROWS_MIN ? KEEP_STEP_ROWS_MIN : rows);
    return (nm_drain_keep){.name = (const char *)work->name.data,
                           .bytes_max = options->keep_bytes,
                           .steps_max = options->keep_steps,
                           .keyframe = write_keyframe,
                           .step_count = most_steps,
                           .context = work};
}

/* Who was asked to end waits a little for the output's reader, and not at all when asked once more. */
static int64_t patience_ns(void *context)
{
    const recording *work = context;
    unsigned requests = work->end_requests == NULL ? 0 : work->end_requests(work->end_requests_context);

    return requests == 0 ? INT64_MAX : requests == work->requests_before ? ASKED_PATIENCE_NS : 0;
}

static bool is_fifo(int fd)
{
    struct stat info;

    return fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode);
}

static nm_status start_drain(recording *work, nm_error *err)
{
    nm_status status = record_names_new(&work->names, err);

    if (status == NM_OK)
        status = record_versions_new(&work->versions, err);
    if (status == NM_OK)
        status = record_devices_new(work->options->sample_ns, &work->devices, err);
    if (status == NM_OK && work->options->is_watched)
        status = nm_watch_new(&work->watch, err);
    /* Parts may be dropped: what they said of memory must be all of it, so memory is told on while paused. */
    if (status == NM_OK && work->watch != NULL && !is_kept(work))
        status = record_live_new(work->watch, &work->live, err);
    if (status == NM_OK && work->watch != NULL)
        status = record_alerts_new(&work->options->alerts, work->watch, &work->alerts, err);
    if (status == NM_OK && work->options->action == RECORD_RUN && !work->options->is_quiet)
        status = record_cost_new(&work->cost, err);
    if (status != NM_OK)
        return status;
    nm_drain_options options = {.folder = &work->folder,
                                .fd = work->fd,
                                .namer = record_names_namer(work->names),
                                .warn = warn,
                                .observer = look_on,
                                .observer_context = work,
                                .pauser = work->live == NULL ? NULL : record_live_pauser(work->live),
                                .keep = keep_options(work),
                                .path = work->is_stdout ? NULL : (const char *)work->name.data,
                                .sync_ns = work->options->sync_ns,
                                .awaits_reader = !work->is_stdout && is_fifo(work->fd),
                                .reader_ns_max = work->options->linger_ns,
                                .patience_ns = patience_ns,
                                .patience_context = work,
                                .is_recoverable = !work->is_stdout,
                                .ends_when_said = work->options->action == RECORD_ATTACH,
                                .naming_ns_max = NAMING_NS_MAX,
                                .sample_ns = work->options->sample_ns};
    return nm_drain_new(&options, &work->drain, err);
}

static nm_status make_folder(recording *work, nm_error *err)
{
    char path[NM_FOLDER_PATH_BYTES];
    uint64_t room_bytes = ROOM_RINGS * work->options->folder.ring_bytes;
    nm_status status =
        nm_folder_choose(work->options->ring_dir, room_bytes < ROOM_BYTES_MIN ? ROOM_BYTES_MIN : room_bytes, path, err);

    return status == NM_OK ? nm_folder_create(path, &work->options->folder, &work->folder, err) : status;
}

/* Does the preload work here? A process that cannot load it would not start at all. It joins a session of its own, so that
 * nothing of it is left in the program's. */
static nm_status try_preload(recording *work, nm_error *err)
{
    nm_folder trial;
    nm_status status = nm_folder_create_trial(&work->folder, &trial, err);

    if (status != NM_OK)
        return status;
    if (!record_child_try(trial.path, work->library))
        status = nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "/bin/true does not run under %s", library_name(work->options));
    else if (!nm_process_has_joined(&trial, 1))
        status = nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "/bin/true runs under %s, but could not join a recording",
                         library_name(work->options));
    if (status == NM_OK && work->options->is_required)
        status = nm_folder_try_ring(&trial, err);
    if (status == NM_OK && work->cost != NULL)
        record_cost_measure(work->cost, trial.path, work->library);
    nm_folder_close(&trial);
    nm_folder_remove(trial.path);
    return status;
}

/* A recording that nobody can talk to is one all the same. */
static void open_control(recording *work)
{
    nm_error err = {0};

    if (record_control_open(work->folder.path, work->answer, work, &work->control, &err) != NM_OK)
        fprintf(stderr, nm_spoken("npumem-record: %s; --ctl will not reach this recording\n"), err.text);
}

nm_status recording_set_up(recording *work, pid_t pid, nm_error *err)
{
    nm_status status = open_output(work, pid, err);

    record_oom_begin(&work->oom);
    if (status == NM_OK)
        status = recording_find_library(work->options, work->library, err);
    if (status == NM_OK)
        status = make_folder(work, err);
    if (status == NM_OK)
        status = start_drain(work, err);
    if (status == NM_OK)
        status = try_preload(work, err);
    if (status == NM_OK)
        open_control(work);
    return status;
}

nm_status recording_set_up_attached(recording *work, nm_error *err)
{
    nm_status status = open_output(work, getpid(), err);

    if (status == NM_OK && work->options->action == RECORD_SERVE)
        status = make_folder(work, err);
    else if (status == NM_OK)
        status = nm_folder_create(work->options->target, &work->options->folder, &work->folder, err);
    if (status == NM_OK)
        open_control(work); /* before the drain: npumem_start returns when that is ready, and then one may ask */
    if (status == NM_OK)
        status = start_drain(work, err);
    return status;
}

void recording_tear_down(recording *work)
{
    nm_drain_free(work->drain);
    work->drain = NULL;
    record_names_free(work->names);
    work->names = NULL;
    record_versions_free(work->versions);
    work->versions = NULL;
    record_devices_free(work->devices);
    work->devices = NULL;
    record_alerts_free(work->alerts);
    work->alerts = NULL;
    record_cost_free(work->cost);
    work->cost = NULL;
    record_live_free(work->live);
    work->live = NULL;
    nm_watch_free(work->watch);
    work->watch = NULL;
    record_control_close(work->control);
    work->control = NULL;
    if (work->folder.session != NULL) {
        nm_folder_close(&work->folder);
        nm_folder_remove(work->folder.path);
    }
    nm_io_close(work->fd);
    work->fd = -1;
    nm_buffer_free(&work->name);
}

static void remove_output(const recording *work)
{
    char *path = is_kept(work) ? nm_part_path((const char *)work->name.data, 0) : NULL;

    nm_door_take_back(path != NULL ? path : (const char *)work->name.data, work->fd);
    free(path);
}

void recording_discard_output(recording *work)
{
    struct stat info;

    if (!work->is_stdout && work->fd >= 0 && fstat(work->fd, &info) == 0 && S_ISREG(info.st_mode))
        remove_output(work);
}

/* ---- Passes -------------------------------------------------------------------------------------------------------- */

static nm_status say_alert(void *context, const char *line, const char *spoken, nm_error *err)
{
    recording *work = context;

    warn(NULL, spoken);
    record_answers_want(&work->answers, nm_clock_monotonic_ns());
    return recording_mark(work, line, err);
}

static bool is_in_files(const recording *work)
{
    struct stat info;

    return is_kept(work) || (!work->is_stdout && fstat(work->fd, &info) == 0 && S_ISREG(info.st_mode));
}

static nm_status write_answers(recording *work, int64_t now_ns, nm_error *err)
{
    if (!record_answers_are_due(&work->answers, now_ns) || !is_in_files(work))
        return NM_OK;
    nm_status status = nm_drain_flush(work->drain, RECORDING_CATCH_UP_NS_MAX, err);
    if (status == NM_OK)
        record_answers_begin(&work->answers, (const char *)work->name.data, nm_clock_monotonic_ns());
    return status;
}

/* --duration counts from when something is first recorded in full. */
static void note_duration(recording *work, int64_t now_ns)
{
    nm_drain_report report;

    if (work->options->duration_ns == 0)
        return;
    if (work->began_ns == 0) {
        nm_drain_tell(work->drain, &report);
        if (report.process_count > 0 && nm_drain_is_recording_in_full(work->drain))
            work->began_ns = now_ns;
    }
    work->is_over = work->began_ns != 0 && now_ns - work->began_ns >= work->options->duration_ns;
}

static nm_status pass(recording *work, int64_t *pause_ns, nm_error *err)
{
    int64_t now_ns = nm_clock_monotonic_ns();
    nm_status status;

    if (work->control != NULL)
        record_control_pass(work->control);
    status = nm_drain_pass(work->drain, pause_ns, err);
    if (status == NM_OK)
        status = record_versions_tell(work->versions, work->drain, err);
    if (status == NM_OK)
        status = record_devices_tell(work->devices, work->drain, err);
    if (status == NM_OK && work->alerts != NULL)
        status = record_alerts_pass(work->alerts, now_ns, say_alert, work, err);
    if (status == NM_OK)
        status = write_answers(work, now_ns, err);
    note_duration(work, now_ns);
    return status;
}

nm_status recording_mark(recording *work, const char *text, nm_error *err)
{
    nm_event event = {.kind = NM_EVENT_MARK};
    nm_status status = nm_drain_text(work->drain, (nm_bytes){(const uint8_t *)text, strlen(text)}, &event.name_id, err);

    return status == NM_OK ? nm_drain_post(work->drain, &event, err) : status;
}

bool recording_take_answers(recording *work, pid_t pid, int wait_status)
{
    bool has_failed = work->answers.has_failed;
    char line[LINE_BYTES];

    if (!record_answers_take_end(&work->answers, pid, wait_status, nm_clock_monotonic_ns()))
        return false;
    if (wait_status != 0)
        record_oom_has_killed(&work->oom); /* that was none of the program's */
    if (work->answers.has_failed && !has_failed) {
        snprintf(line, sizeof line, nm_spoken("--report %s: could not be written while the program runs"),
                 work->answers.file);
        warn(NULL, line);
    }
    return true;
}

/* "16.0 GiB" */
static const char *size_text(char out[32], uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    double size = (double)bytes / 1024;
    size_t unit = 0;

    for (; size >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        size /= 1024;
    snprintf(out, 32, "%.1f %s", size, units[unit]);
    return out;
}

void recording_killed(recording *work, pid_t pid, uint64_t peak_bytes)
{
    static const char format[] = "%s%lld was killed by the kernel; limit of its cgroup %s, its peak RSS %s";
    char line[256], limit_room[32], peak_room[32];

    if (!record_oom_has_killed(&work->oom))
        return;
    const char *limit =
        work->oom.limit_bytes == RECORD_OOM_UNLIMITED ? "none" : size_text(limit_room, work->oom.limit_bytes);
    const char *peak = peak_bytes == 0 ? "not known" : size_text(peak_room, peak_bytes);
    snprintf(line, sizeof line, nm_spoken(format), nm_spoken(RECORD_OOM_MARK), (long long)pid, nm_spoken(limit),
             nm_spoken(peak));
    warn(NULL, line);
    snprintf(line, sizeof line, format, RECORD_OOM_MARK, (long long)pid, limit, peak);
    if (work->drain != NULL && !work->has_failed)
        recording_mark(work, line, NULL);
}

nm_status recording_pause(recording *work, bool is_stopped, nm_error *err)
{
    return nm_drain_pause(work->drain, is_stopped, err);
}

/* The drain can only fail for want of memory: then the program is left alone from here on. */
void recording_pass(recording *work, int64_t *pause_ns)
{
    nm_error err = {0};

    if (work->has_failed || pass(work, pause_ns, &err) == NM_OK)
        return;
    work->has_failed = true;
    *pause_ns = FAILED_PAUSE_NS;
    nm_drain_close(work->drain);
    if (can_say(0))
        nm_shown_print(stderr, nm_spoken("npumem-record: %s: %s; the recording ends here\n"),
                       (const char *)work->name.data, err.text);
}

/* ---- The last words ------------------------------------------------------------------------------------------------ */

void record_print_count(uint64_t count)
{
    char digits[32];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, count);

    for (int i = 0; i < len; i++) {
        fputc(digits[i], stderr);
        if ((len - i) % 3 == 1 && i + 1 < len)
            fputc(',', stderr);
    }
}

static bool is_unseen(const nm_drain_report *report)
{
    return report->process_count == 0 && report->unjoined_count == 0;
}

/* A line of its own, with what to do. */
static void say_why_unseen(const recording *work)
{
    char why[512];

    if (work->options->program == NULL || work->options->program[0] == NULL)
        return;
    record_unseen_explain(work->options->program[0], work->exit_status, why, sizeof why);
    fprintf(stderr, "npumem-record: %s\n", why);
}

/* What is known of processes that the recorder did not see: that is little, since they tell nothing. */
static void say_unseen(const nm_drain_report *report)
{
    static const char why[] = "(it is static or setuid, has another libc, or lost LD_PRELOAD), ";

    if (is_unseen(report)) {
        fputs(nm_spoken("no process loaded the recorder, "), stderr);
    } else if (report->left_count > 0) {
        record_print_count(report->left_count);
        fprintf(stderr, nm_spoken(" became a program that does not load the recorder %s"), nm_spoken(why));
    }
    if (report->unjoined_count > 0) {
        record_print_count(report->unjoined_count);
        fputs(nm_spoken(report->unjoined_count == 1 ? " process" : " processes"), stderr);
        fputs(nm_spoken(" could not write to the ring folder, "), stderr);
    }
    if (report->unseen_count > 0) {
        record_print_count(report->unseen_count);
        fputs(nm_spoken(report->unseen_count == 1 ? " process" : " processes"), stderr);
        fputs(nm_spoken(" used a device unrecorded, "), stderr);
    }
    if (report->is_folder_gone)
        fputs(nm_spoken("the ring folder was removed, so that nothing is known of what began then, "), stderr);
}

/* A line each, of the first ones: all stand in the trace. */
static void say_who(const recording *work, uint64_t count)
{
    for (uint64_t i = 0; i < count && i < UNSEEN_SHOWN_MAX; i++)
        nm_shown_print(stderr, nm_spoken("npumem-record: unrecorded: %s\n"), nm_drain_unseen(work->drain, i));
}

static void say_result(const recording *work)
{
    nm_drain_report report;

    nm_drain_tell(work->drain, &report);
    if (work->options->is_quiet && report.unwritten_count + report.unjoined_count + report.unseen_count == 0 &&
        !report.is_folder_gone)
        return;
    fputs("npumem-record: ", stderr);
    record_print_count(report.event_count);
    fputs(nm_spoken(report.event_count == 1 ? " event, " : " events, "), stderr);
    record_print_count(report.dropped_count);
    fputs(nm_spoken(" dropped, "), stderr);
    if (report.unwritten_count > 0) {
        record_print_count(report.unwritten_count);
        fputs(nm_spoken(" could not be written, "), stderr);
    }
    if (report.names_missing > 0) {
        record_print_count(report.names_missing);
        fputs(nm_spoken(" names not found in time, "), stderr);
    }
    say_unseen(&report);
    fputs((const char *)work->name.data, stderr);
    if (report.part_count > 0) {
        fputs(" (", stderr);
        record_print_count(report.part_count);
        fputs(nm_spoken(report.part_count == 1 ? " part)" : " parts)"), stderr);
    }
    fputc('\n', stderr);
    if (is_unseen(&report))
        say_why_unseen(work);
    say_who(work, report.unseen_count);
}

static void say_time(double ns)
{
    bool is_long = ns >= 1e9, is_short = ns < 1e6;

    fprintf(stderr, "%.*f %s", is_short ? 0 : 1,
            ns / (is_long    ? 1e9
                  : is_short ? 1e3
                             : 1e6),
            is_long    ? "s"
            : is_short ? "us"
                       : "ms");
}

static void say_cost(const record_cost_estimate *cost)
{
    fputs(nm_spoken("recording took about "), stderr);
    say_time(cost->cost_ns);
    if (cost->ratio >= 0)
        fprintf(stderr, nm_spoken(", %s%.1f %% of the threads' time"),
                nm_spoken(cost->ratio < 0.001 ? "less than " : ""), cost->ratio < 0.001 ? 0.1 : cost->ratio * 100);
}

/* What it took, as an estimate, and what to do next: where there is a file, and no answers are on the way. */
static void say_next(const recording *work)
{
    record_cost_estimate cost;
    char name[4 * PATH_MAX];
    bool has_cost = work->cost != NULL && record_cost_tell(work->cost, &cost);
    bool has_next = work->cost != NULL && is_in_files(work) && work->options->report == NULL;

    if (!has_cost && !has_next)
        return;
    fputs("npumem-record: ", stderr);
    if (has_cost)
        say_cost(&cost);
    if (has_next)
        fprintf(stderr, nm_spoken("%snext: npumem-ingest %s"), nm_spoken(has_cost ? "; " : ""),
                nm_shown_word(name, sizeof name, (const char *)work->name.data));
    fputc('\n', stderr);
}

void recording_finish(recording *work)
{
    nm_error err = {0};

    if (work->end_requests != NULL)
        work->requests_before = work->end_requests(work->end_requests_context);
    if (!work->has_failed && nm_drain_finish(work->drain, &err) != NM_OK) {
        work->has_failed = true;
        nm_shown_print(stderr, "npumem-record: %s: %s\n", (const char *)work->name.data, err.text);
    }
    if (!work->has_failed && can_say(LAST_WORDS_MS)) {
        say_result(work);
        say_next(work);
    }
}
