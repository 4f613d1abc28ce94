/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-top: what a recording that goes on is at. Reads the trace as it grows, and nothing of the recorder; at a lower
 * priority than what is recorded. Its command line is in top/options.c.
 */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/io.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "drain/clock.h"
#include "tool/common/answer.h"
#include "tool/top/options.h"
#include "tool/top/prometheus.h"
#include "tool/top/screen.h"
#include "tool/top/show.h"

#define NICENESS       10
#define EMPTY_NS_MAX   10000000000 /* until a file that is empty is taken for no recording */
#define ONCE_NS_MAX    300000000   /* the same with --once, for parts that come and go */
#define PAUSE_NS       100000000   /* between looks at such a one, and while a short silence may be an end */
#define RECORDS_A_LOOK 1024        /* between two looks at the clock */
#define PIPE_COLUMNS   4000

typedef struct top_run {
    const top_options *options;
    char *name;          /* owned; NULL: not known yet */
    const char *subject; /* that an error is about; NULL: the trace */
    top_follow *follow;
    top_model *model;
    bool is_drawn, has_printed;
    uint64_t native_depth;
} top_run;

static bool is_over(void)
{
    int signal_number;

    return screen_is_over(&signal_number);
}

/* ---- Reading ------------------------------------------------------------------------------------------------------- */

static nm_status open_trace(top_run *top, nm_error *err)
{
    int64_t until_ns = nm_clock_monotonic_ns() + (top->options->is_once ? ONCE_NS_MAX : EMPTY_NS_MAX);
    nm_status status;

    for (;;) {
        status = top_follow_open(top->options->path, top->options->pid, &top->name, &top->follow, err);
        if (status != NM_END)
            return status;
        if (nm_clock_monotonic_ns() > until_ns || is_over())
            return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "the file is empty");
        screen_wait(PAUSE_NS);
    }
}

/* Reads what is there, up to `until_ns`: NM_OK then, and NM_END at its end. */
static nm_status read_on(top_run *top, int64_t until_ns, nm_error *err)
{
    nm_source_summary_data summary;
    nm_record record;

    top_follow_summary(top->follow, &summary);
    top->native_depth = summary.native_depth;
    for (unsigned count = 1;; count++) {
        nm_status status = top_follow_next(top->follow, &record, err);

        if (status == NM_OK)
            status = top_model_take(top->model, &record, top->native_depth, err);
        if (status != NM_OK)
            return status;
        if (count % RECORDS_A_LOOK == 0 && (nm_clock_monotonic_ns() >= until_ns || is_over()))
            return NM_OK;
    }
}

/* Begins again with the newest part: what was before it is stated there, but for how much things have grown. */
static nm_status restart(top_run *top, nm_error *err)
{
    top_follow *follow = NULL;
    top_model *model = NULL;
    nm_status status = top_follow_restart(top->follow, &follow, err);

    if (status == NM_END) {
        screen_wait(PAUSE_NS);
        return NM_OK;
    }
    if (status == NM_OK)
        status = top_model_new(&model, err);
    if (status != NM_OK) {
        top_follow_close(follow);
        return status;
    }
    top_follow_close(top->follow);
    top_model_free(top->model);
    top->follow = follow;
    top->model = model;
    return NM_OK;
}

/* Reads to the end of what is there, and of what is found there when the recording has ended meanwhile. */
static nm_status catch_up(top_run *top, int64_t until_ns, nm_error *err)
{
    bool has_more = true;
    nm_status status = NM_END;

    while (has_more && status == NM_END) {
        status = read_on(top, until_ns, err);
        has_more = false;
        if (status == NM_END && top_follow_look(top->follow, &has_more, err) != NM_OK)
            return err->status;
        if (status == NM_END && top_follow_is_outrun(top->follow) && !is_over()) {
            has_more = true;
            if (restart(top, err) != NM_OK)
                return err->status;
        }
    }
    return status;
}

/* ---- Showing ------------------------------------------------------------------------------------------------------- */

static nm_status show(top_run *top, bool is_behind, bool is_last, nm_error *err)
{
    nm_source_summary_data summary;
    nm_buffer text = {0};
    top_look look;
    nm_status status;

    top_follow_summary(top->follow, &summary);
    top->native_depth = summary.native_depth;
    status = top_model_look(top->model, top->native_depth, &look, err);
    show_frame frame = {.name = top->name,
                        .look = &look,
                        .summary = &summary,
                        .state = top_follow_state(top->follow),
                        .is_behind = is_behind,
                        .progress = is_behind ? top_follow_progress(top->follow) : 1,
                        .columns = PIPE_COLUMNS,
                        .site_count = top->options->site_count,
                        .has_next = is_last && !top->options->is_once};
    if (screen_is_terminal() && !top->options->is_json)
        screen_size(&frame.columns, &frame.rows);
    frame.rows = is_last ? 0 : frame.rows;
    if (status == NM_OK && top->has_printed && !top->is_drawn && !top->options->is_json)
        status = nm_buffer_append(&text, "\n", 1, err);
    if (status == NM_OK)
        status = top->options->is_json ? show_json(&frame, &text, err) : show_text(&frame, &text, err);
    if (status == NM_OK)
        status = top->is_drawn && !is_last ? nm_buffer_append(&text, "", 1, err) : NM_OK;
    if (status == NM_OK && top->is_drawn && !is_last) {
        text.len--;
        status = screen_draw(&text, err);
    } else if (status == NM_OK) {
        status = nm_io_write(STDOUT_FILENO, text.data, text.len, err);
    }
    top->has_printed = true;
    nm_buffer_free(&text);
    status = nm_name_written(status, answer_name(), err);
    if (status != NM_OK || top->options->prometheus_path == NULL || is_behind)
        return status;
    status = top_write_prometheus(top->options->prometheus_path, &frame, err);
    top->subject = status == NM_OK ? NULL : top->options->prometheus_path;
    return status;
}

/* ---- All of it ----------------------------------------------------------------------------------------------------- */

/* A terminal is shown how far the reading is; what reads on gets whole looks alone. */
static nm_status watch(top_run *top, nm_error *err)
{
    int64_t next_ns = nm_clock_monotonic_ns();
    nm_status status = NM_OK;

    while (status == NM_OK && !is_over()) {
        next_ns += top->options->interval_ns;
        status = catch_up(top, top->is_drawn ? next_ns : INT64_MAX, err);
        if (status != NM_OK && status != NM_END)
            return status;
        bool is_behind = status == NM_OK;

        status = NM_OK;
        if (!is_behind && (top_follow_is_over(top->follow) || top->options->is_once))
            break;
        if (!is_over())
            status = show(top, is_behind, false, err);
        int64_t now_ns = nm_clock_monotonic_ns();
        if (!is_behind && status == NM_OK)
            screen_wait(next_ns - now_ns);
        next_ns = next_ns < now_ns || is_behind ? nm_clock_monotonic_ns() : next_ns;
    }
    return status;
}

/* Was there anything at all? */
static nm_status check_trace(const top_run *top, nm_error *err)
{
    nm_source_summary_data summary;

    top_follow_summary(top->follow, &summary);
    if (summary.start_realtime_ns != NM_NO_TIME)
        return NM_OK;
    if (top_follow_is_over(top->follow))
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "begins like a trace, but holds no block that can be read");
    return is_over() ? NM_OK : nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "holds no whole block yet");
}

static nm_status run(top_run *top, nm_error *err)
{
    nm_status status = open_trace(top, err);
    bool is_terminal = screen_is_terminal();

    if (status == NM_OK)
        status = top_model_new(&top->model, err);
    if (status != NM_OK)
        return status;
    top->is_drawn = is_terminal && !top->options->is_once && !top->options->is_json;
    if (top->options->output_path == NULL) /* a file beside the output is removed by a signal at once */
        screen_begin(top->is_drawn);
    status = watch(top, err);
    screen_end();
    if (status == NM_OK)
        status = check_trace(top, err);
    if (status == NM_OK && (top_follow_is_over(top->follow) || top->options->is_once || top->is_drawn))
        status = show(top, false, true, err);
    return status;
}

static int end_of(const top_run *top, nm_status status, const nm_error *err)
{
    char name[PATH_MAX];
    nm_source_summary_data summary;

    nm_shown_text(name, sizeof name,
                  top->subject != NULL         ? top->subject
                  : top->name != NULL          ? top->name
                  : top->options->path != NULL ? top->options->path
                                               : top->options->pid);
    if (status != NM_OK) {
        nm_shown_print(stderr, "npumem-top: %s: %s\n", nm_error_subject(err, name), err->text);
        return EXIT_NO;
    }
    top_follow_summary(top->follow, &summary);
    if (top_follow_state(top->follow) == NM_STATE_KILLED) {
        fprintf(stderr,
                nm_spoken("npumem-top: %s: its recorder was killed: npumem-record --finish saves what is left\n"),
                name);
        return EXIT_PARTIAL;
    }
    if (top_follow_is_over(top->follow) && !summary.is_finished) {
        fprintf(stderr, "npumem-top: %s: %s\n", name, nm_state_reason(top_follow_state(top->follow)));
        return EXIT_PARTIAL;
    }
    if (summary.bytes_damaged > 0 || summary.blocks_damaged > 0) {
        fprintf(stderr, nm_spoken("npumem-top: %s: part of it cannot be read\n"), name);
        return EXIT_PARTIAL;
    }
    return EXIT_DONE;
}

static int run_top(const void *context)
{
    const top_options *options = context;
    top_run top = {.options = options};
    nm_error err = {.offset = NM_NO_OFFSET};
    int signal_number = 0;

    if (getpriority(PRIO_PROCESS, 0) < NICENESS)
        setpriority(PRIO_PROCESS, 0, NICENESS);
    nm_status status = run(&top, &err);
    int exit_status = end_of(&top, status, &err);

    top_follow_close(top.follow);
    top_model_free(top.model);
    free(top.name);
    if (screen_is_over(&signal_number) && signal_number != 0) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
    return exit_status;
}

int main(int argc, char **argv)
{
    top_options options = {0};
    options_outcome outcome = top_options_read(argc, argv, &options);

    nm_io_hold_standard_streams();
    const answer_request request = {"npumem-top",     options.output_path, options.is_forced,
                                    options.is_quiet, &options.path,       options.path != NULL,
                                    EXIT_NO};
    if (outcome != OPTIONS_READ)
        return options_end(outcome, EXIT_NO);
    return answer_run(&request, run_top, &options);
}
