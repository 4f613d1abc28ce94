/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-stack: whole call stacks of a database of npumem-ingest. The database may come from anybody: it is opened as such.
 * What is asked of it is in stack/answer.c, what a stack looks like in stack/print.c.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "store/foreign.h"
#include "tool/common/answer.h"
#include "tool/common/color.h"
#include "tool/stack/answer.h"

static int run_stack(const void *context)
{
    const stack_options *options = context;
    nm_error err = {.offset = NM_NO_OFFSET};
    nm_foreign *database = NULL;
    char name[PATH_MAX];
    bool is_found = false;
    nm_status status = nm_foreign_open(options->database, false, &database, &err);

    if (status == NM_OK)
        status = stack_answer(nm_foreign_db(database), options, tool_wants_color(options->color), &is_found, &err);
    nm_foreign_close(database);
    if (status != NM_OK) {
        fprintf(stderr, "npumem-stack: %s: %s\n",
                nm_shown_text(name, sizeof name, nm_error_subject(&err, options->database)), err.text);
        return EXIT_UNUSABLE;
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        nm_shown_print(stderr, "npumem-stack: %s: %s: %s\n", answer_name(), nm_spoken("cannot write"),
                       nm_spoken(strerror(errno)));
        return EXIT_UNUSABLE;
    }
    return is_found ? EXIT_DONE : EXIT_NO;
}

int main(int argc, char **argv)
{
    stack_options options = {0};
    options_outcome outcome = stack_options_read(argc, argv, &options);

    nm_io_hold_standard_streams();
    const answer_request request = {
        "npumem-stack", options.output_path, options.is_forced, options.is_quiet, &options.database, 1, EXIT_UNUSABLE};
    return outcome == OPTIONS_READ ? answer_run(&request, run_stack, &options) : options_end(outcome, EXIT_UNUSABLE);
}
