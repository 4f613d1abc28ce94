/* SPDX-License-Identifier: Apache-2.0
 *
 * A drain whose program is not its child: it leaves the session and closes what it inherited, so that nobody who waits for
 * the program's end or for its pipes waits for it. It learns that it is done by the processes that are gone, not by
 * SIGCHLD.
 */
#include "tool/record/detached.h"
#include "tool/record/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/door.h"
#include "base/io.h"
#include "drain/clock.h"
#include "tool/record/recording.h"

#define DOOR_FD         3           /* as record/helper.h has it */
#define JOIN_GRACE_NS   10000000000 /* the program that asked for the drain joins within */
#define FIRST_FREE_FD   3
#define ARGUMENTS_FIXED 8
#define REQUESTS_MAX    100

static volatile sig_atomic_t end_request_count;

static void ask_to_end(int number)
{
    (void)number;
    if (end_request_count < REQUESTS_MAX)
        end_request_count++;
}

static unsigned end_requests(void *context)
{
    (void)context;
    return (unsigned)end_request_count;
}

/* Nothing of the program's is held open: who waits for the end of its pipes must not wait for us. */
static void detach(int first_closed_fd)
{
    struct sigaction end = {.sa_handler = ask_to_end};
    int null_fd;

    setsid();
    closefrom(first_closed_fd);
    null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < FIRST_FREE_FD && null_fd >= 0; fd++)
        dup2(null_fd, fd);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGINT, &end, NULL);
}

/* Returns the exit status; 0: it is set up. */
static int set_up(recording *work)
{
    nm_error err = {0};
    nm_status status;

    work->end_requests = end_requests;
    status = recording_set_up_attached(work, &err);
    if (status == NM_OK)
        return 0;
    recording_discard_output(work);
    recording_tear_down(work);
    return status == NM_ERR_BUSY ? EXIT_USAGE : EXIT_NO;
}

static void finish(recording *work)
{
    recording_finish(work);
    recording_tear_down(work);
}

static uint64_t process_count(const recording *work)
{
    nm_drain_report report;

    nm_drain_tell(work->drain, &report);
    return report.process_count;
}

/* ---- For npumem_start ---------------------------------------------------------------------------------------------- */

int record_attach(const record_options *options)
{
    recording work = {.options = options, .fd = -1, .answer = record_commands_answer};
    int64_t pause_ns = 0, give_up_at_ns = nm_clock_monotonic_ns() + JOIN_GRACE_NS;

    detach(FIRST_FREE_FD);
    int failure = set_up(&work);
    if (failure != 0)
        return failure;
    while (end_request_count == 0) {
        recording_pass(&work, &pause_ns);
        bool is_joined = process_count(&work) > 0;
        if (is_joined ? nm_drain_live_count(work.drain) == 0 : nm_clock_monotonic_ns() > give_up_at_ns)
            break;
        nm_clock_pause(pause_ns);
    }
    finish(&work);
    return 0;
}

/* ---- For a host ---------------------------------------------------------------------------------------------------- */

/* The options that --print-env was given. They live as long as the process. */
static bool read_environment(const char *door, record_options *options)
{
    const char *output = getenv(NM_HOST_ENVIRONMENT), *more = getenv(NM_HOST_OPTIONS);
    char *text = strdup(more == NULL ? "" : more);
    static char **words;
    int count = 1;

    words = text == NULL ? NULL : calloc(strlen(text) / 2 + ARGUMENTS_FIXED, sizeof *words);
    if (words == NULL || output == NULL)
        return false;
    words[0] = (char *)(uintptr_t) "npumem-record";
    count += record_cut_words(text, words + count);
    words[count++] = (char *)(uintptr_t) "-o";
    words[count++] = (char *)(uintptr_t)output;
    words[count++] = (char *)(uintptr_t) "--serve";
    words[count++] = (char *)(uintptr_t)door;
    return record_options_read(count, words, options) == OPTIONS_READ && options->action == RECORD_SERVE;
}

/* The path first, then the lock that says it stands there. */
static bool open_door(const recording *work)
{
    char text[NM_FOLDER_PATH_BYTES + 1];
    struct flock ready = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = NM_HOST_READY_BYTE, .l_len = 1};
    size_t len = strlen(work->folder.path);

    memcpy(text, work->folder.path, len);
    text[len] = '\n';
    return ftruncate(DOOR_FD, 0) == 0 && pwrite(DOOR_FD, text, len + 1, 0) == (ssize_t)(len + 1) &&
           fcntl(DOOR_FD, F_OFD_SETLK, &ready) == 0;
}

/* Nobody finds us from here on; who holds the path already is told by the closed session. */
static void remove_door(const char *path)
{
    nm_door_remove(path);
    close(DOOR_FD);
}

/* Until nobody has recorded for so long as --linger says, and nobody has come. */
static void record_while_used(recording *work)
{
    int64_t pause_ns = 0, used_ns = nm_clock_monotonic_ns();
    uint64_t count = 0;

    while (end_request_count == 0 && !work->has_failed) {
        recording_pass(work, &pause_ns);
        int64_t now_ns = nm_clock_monotonic_ns();
        uint64_t count_now = process_count(work);

        if (nm_drain_live_count(work->drain) > 0 || count_now != count)
            used_ns = now_ns;
        count = count_now;
        if (now_ns - used_ns >= (count == 0 ? JOIN_GRACE_NS : work->options->linger_ns) &&
            nm_drain_close_idle(work->drain))
            return;
        nm_clock_pause(pause_ns);
    }
}

int record_serve(const record_options *asked)
{
    static record_options options;
    recording work = {.options = &options, .fd = -1, .answer = record_commands_answer};

    detach(DOOR_FD + 1);
    int failure = read_environment(asked->target, &options) ? set_up(&work) : EXIT_NO;
    if (failure != 0) {
        remove_door(asked->target);
        return failure;
    }
    bool is_open = open_door(&work);
    if (is_open)
        record_while_used(&work);
    remove_door(asked->target);
    if (!is_open)
        recording_discard_output(&work);
    finish(&work);
    return is_open ? 0 : EXIT_NO;
}
