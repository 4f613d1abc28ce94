/* SPDX-License-Identifier: Apache-2.0
 *
 * Told by the guard of what databases of others may cost, which looks every few thousand steps. How much there will be is not
 * known before it is there, so there is no share.
 */
#include "tool/common/busy.h"

#include "base/human.h"
#include "base/spoken.h"
#include "store/read_limit.h"

#define ANSWER_BYTES (1 << 20) /* more than anybody reads on a terminal */

static void show(void *context)
{
    nm_busy *busy = context;
    char line[256], size[NM_HUMAN_BYTES];
    long bytes = busy->out == NULL ? 0 : ftell(busy->out);

    if (busy->is_answer)
        snprintf(line, sizeof line, "%s", busy->what);
    else if (bytes <= 0) /* nothing yet, or into a pipe */
        snprintf(line, sizeof line, nm_spoken("writing %s"), busy->what);
    else
        snprintf(line, sizeof line, nm_spoken("writing %s: %s so far"), busy->what, nm_human_bytes(size, bytes));
    nm_progress_say(&busy->progress, line);
}

static void begin(nm_busy *busy, const nm_busy *form)
{
    *busy = *form;
    nm_progress_begin(&busy->progress, NM_PROGRESS_LINE, 0);
    if (busy->progress.form != NM_PROGRESS_NONE)
        nm_read_limit_tell(show, busy);
}

void nm_busy_begin(nm_busy *busy, const char *what, FILE *out)
{
    begin(busy, &(nm_busy){.what = what, .out = out});
}

void nm_busy_begin_answer(nm_busy *busy, const char *line)
{
    begin(busy, &(nm_busy){.what = line, .is_answer = true});
    if (busy->progress.form != NM_PROGRESS_NONE)
        setvbuf(stdout, NULL, _IOFBF, ANSWER_BYTES);
}

void nm_busy_end(nm_busy *busy)
{
    nm_read_limit_tell(NULL, NULL);
    nm_progress_end(&busy->progress);
}
