/* SPDX-License-Identifier: Apache-2.0
 *
 * One line, written over itself. Its owner calls every some ten thousand records and the clock decides, so that a load with
 * a progress line takes no longer than one without; whoever writes anything else to standard error ends the line first.
 */
#include "tool/common/progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/human.h"
#include "base/io.h"
#include "base/spoken.h"

#define FIRST_LINE_NS 1000000000
#define NEXT_LINE_NS  200000000
#define BAR_COLUMNS   24

static int64_t now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void nm_progress_begin(nm_progress *progress, nm_progress_form form, uint64_t total_bytes)
{
    *progress = (nm_progress){.form = form, .total_bytes = total_bytes};
    if (form == NM_PROGRESS_LINE && !isatty(STDERR_FILENO))
        progress->form = NM_PROGRESS_NONE;
    progress->begin_ns = now_ns();
    progress->next_ns = progress->begin_ns + (form == NM_PROGRESS_LINES ? 0 : FIRST_LINE_NS);
}

static bool is_time(nm_progress *progress)
{
    if (progress->form == NM_PROGRESS_NONE || progress->slot != NULL || now_ns() < progress->next_ns)
        return false;
    progress->next_ns = now_ns() + NEXT_LINE_NS;
    progress->has_line = progress->form == NM_PROGRESS_LINE;
    return true;
}

static double share(uint64_t done, uint64_t total)
{
    return total == 0 ? 0 : done >= total ? 1 : (double)done / (double)total;
}

static const char *draw_bar(char bar[BAR_COLUMNS + 1], double filled)
{
    memset(bar, '.', BAR_COLUMNS);
    memset(bar, '#', (size_t)(filled * BAR_COLUMNS));
    bar[BAR_COLUMNS] = 0;
    return bar;
}

static bool write_for_program(const nm_progress *progress, double done)
{
    if (progress->form == NM_PROGRESS_LINES)
        fprintf(stderr, "progress %d\n", (int)(done * 100));
    return progress->form == NM_PROGRESS_LINES;
}

void nm_progress_update(nm_progress *progress, uint64_t done_bytes, uint64_t event_count)
{
    char done[NM_HUMAN_BYTES], total[NM_HUMAN_BYTES], events[NM_HUMAN_BYTES];
    char bar[BAR_COLUMNS + 1];

    if (progress->slot != NULL) {
        atomic_store_explicit(&progress->slot->done_bytes, done_bytes, memory_order_relaxed);
        atomic_store_explicit(&progress->slot->event_count, event_count, memory_order_relaxed);
    }
    if (!is_time(progress))
        return;
    if (write_for_program(progress, share(done_bytes, progress->total_bytes)))
        return;
    nm_human_count(events, (int64_t)event_count);
    nm_human_bytes(done, (int64_t)done_bytes);
    if (progress->total_bytes == 0) {
        fprintf(stderr, nm_spoken("\r\033[K%s, %s events"), done, events);
        return;
    }
    fprintf(stderr, nm_spoken("\r\033[K[%s] %s of %s, %s events"),
            draw_bar(bar, share(done_bytes, progress->total_bytes)), done,
            nm_human_bytes(total, (int64_t)progress->total_bytes), events);
}

void nm_progress_part(nm_progress *progress, uint64_t done, uint64_t total, const char *what)
{
    char bar[BAR_COLUMNS + 1];

    if (is_time(progress) && !write_for_program(progress, share(done, total)))
        fprintf(stderr, "\r\033[K[%s] %s", draw_bar(bar, share(done, total)), what);
}

void nm_progress_say(nm_progress *progress, const char *what)
{
    if (is_time(progress))
        fprintf(stderr, progress->form == NM_PROGRESS_LINES ? "progress %s\n" : "\r\033[K%s", what);
}

void nm_progress_end(nm_progress *progress)
{
    if (progress->has_line)
        fprintf(stderr, "\r\033[K");
    progress->has_line = false;
}

nm_status nm_progress_follow(int lines, const char *what, bool passes_others, nm_error *err)
{
    FILE *file = fdopen(lines, "r");
    char line[512];
    unsigned percent;
    nm_progress progress;

    if (file == NULL) {
        nm_io_close(lines);
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    }
    nm_progress_begin(&progress, NM_PROGRESS_LINE, 0);
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "progress %u", &percent) == 1)
            nm_progress_part(&progress, percent, 100, what);
        if (!passes_others || strncmp(line, "progress ", strlen("progress ")) == 0)
            continue;
        nm_progress_end(&progress);
        fputs(line, stderr);
    }
    nm_progress_end(&progress);
    fclose(file);
    return NM_OK;
}
