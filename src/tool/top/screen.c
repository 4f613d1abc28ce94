/* SPDX-License-Identifier: Apache-2.0
 *
 * Signals only leave a note: what has to be done about them is done between two looks, where nothing is half written.
 */
#include "tool/top/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/io.h"
#include "drain/clock.h"

#define ENTER        "\033[?1049h\033[?25l" /* the other screen; no cursor */
#define LEAVE        "\033[?25h\033[?1049l"
#define HOME         "\033[H"
#define CLEAR_LINE   "\033[K"
#define CLEAR_REST   "\033[J"
#define NO_WRAP      "\033[?7l"
#define WRAP         "\033[?7h"
#define COLUMNS_ELSE 80
#define ROWS_ELSE    24

static volatile sig_atomic_t end_signal, is_stop_asked;
static bool is_drawn, is_entered, has_typing, is_quit;
static struct termios typing;

static void note_end(int signal_number)
{
    end_signal = signal_number;
}

static void note_stop(int signal_number)
{
    (void)signal_number;
    is_stop_asked = 1;
}

static void note_nothing(int signal_number)
{
    (void)signal_number;
}

bool screen_is_terminal(void)
{
    const char *kind = getenv("TERM");

    return isatty(STDOUT_FILENO) && kind != NULL && kind[0] != 0 && strcmp(kind, "dumb") != 0;
}

static void write_all(const char *text)
{
    nm_io_write(STDOUT_FILENO, text, strlen(text), NULL);
}

/* Keys are taken as they are typed, but only from a terminal that this program is in front of. */
static void enter(void)
{
    struct termios raw;

    if (!is_drawn || is_entered)
        return;
    has_typing = isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp() && tcgetattr(STDIN_FILENO, &typing) == 0;
    if (has_typing) {
        raw = typing;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    write_all(ENTER NO_WRAP);
    is_entered = true;
}

void screen_end(void)
{
    if (!is_entered)
        return;
    write_all(WRAP LEAVE);
    if (has_typing)
        tcsetattr(STDIN_FILENO, TCSANOW, &typing);
    is_entered = false;
}

static void handle(int signal_number, void (*handler)(int))
{
    struct sigaction now, action = {.sa_handler = handler}; /* no SA_RESTART: a wait ends */

    sigemptyset(&action.sa_mask);
    if (sigaction(signal_number, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
        sigaction(signal_number, &action, NULL);
}

void screen_begin(bool draws)
{
    is_drawn = draws;
    handle(SIGINT, note_end);
    handle(SIGTERM, note_end);
    handle(SIGHUP, note_end);
    handle(SIGQUIT, note_end);
    if (!draws)
        return;
    handle(SIGTSTP, note_stop);
    handle(SIGWINCH, note_nothing);
    handle(SIGCONT, note_nothing);
    enter();
}

void screen_size(size_t *columns, size_t *rows)
{
    struct winsize size = {0};

    *columns = COLUMNS_ELSE;
    *rows = ROWS_ELSE;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
        return;
    *columns = size.ws_col > 0 ? size.ws_col : COLUMNS_ELSE;
    *rows = size.ws_row > 0 ? size.ws_row : ROWS_ELSE;
}

nm_status screen_draw(const nm_buffer *lines, nm_error *err)
{
    size_t columns, rows, row = 0;
    nm_buffer out = {0};
    nm_status status = nm_buffer_append(&out, HOME, strlen(HOME), err);

    screen_size(&columns, &rows);
    for (size_t at = 0; at < lines->len && row < rows && status == NM_OK; row++) {
        const char *line = (const char *)lines->data + at;
        size_t len = strcspn(line, "\n");

        if (row > 0)
            status = nm_buffer_append(&out, "\r\n", 2, err);
        if (status == NM_OK)
            status = nm_buffer_append(&out, line, len, err);
        if (status == NM_OK)
            status = nm_buffer_append(&out, CLEAR_LINE, strlen(CLEAR_LINE), err);
        at += len + 1;
    }
    if (status == NM_OK)
        status = nm_buffer_append(&out, CLEAR_REST, strlen(CLEAR_REST), err);
    if (status == NM_OK)
        status = nm_io_write(STDOUT_FILENO, out.data, out.len, err);
    nm_buffer_free(&out);
    return status;
}

static void stop(void)
{
    is_stop_asked = 0;
    screen_end();
    raise(SIGSTOP);
    enter();
}

static void take_keys(void)
{
    char keys[64];
    ssize_t got = read(STDIN_FILENO, keys, sizeof keys);

    if (got > 0 && (memchr(keys, 'q', (size_t)got) != NULL || memchr(keys, 'Q', (size_t)got) != NULL))
        is_quit = true;
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
        has_typing = false;
}

void screen_wait(int64_t ns)
{
    int64_t now_ns = nm_clock_monotonic_ns(), end_ns = now_ns + ns;

    while (now_ns < end_ns && end_signal == 0 && !is_quit) {
        struct pollfd typed = {.fd = is_entered && has_typing ? STDIN_FILENO : -1, .events = POLLIN};
        struct timespec left = {(end_ns - now_ns) / 1000000000, (end_ns - now_ns) % 1000000000};
        int ready = ppoll(&typed, 1, &left, NULL);

        if (is_stop_asked != 0)
            stop();
        if (ready > 0)
            take_keys();
        if (ready <= 0)
            return;
        now_ns = nm_clock_monotonic_ns();
    }
}

bool screen_is_over(int *signal_number)
{
    *signal_number = end_signal;
    return end_signal != 0 || is_quit;
}
