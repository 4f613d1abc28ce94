/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of npumem-stack.
 */
#ifndef NM_TOOL_STACK_OPTIONS_H
#define NM_TOOL_STACK_OPTIONS_H

#include "tool/common/options.h"

typedef enum stack_choice {
    STACK_DEFAULT,
    STACK_LEAK,
    STACK_PEAK,
    STACK_RESERVE,
    STACK_OOM,
    STACK_BY_ID,
    STACK_BY_SITE
} stack_choice;

typedef struct stack_options {
    const char *database;    /* borrowed */
    const char *output_path; /* NULL: standard output */
    stack_choice choice;
    uint64_t stack_id; /* of STACK_BY_ID */
    const char *site;  /* borrowed; of STACK_BY_SITE */
    int64_t top;       /* INT64_MAX: all */
    bool has_rank, is_json, is_forced, is_quiet;
    int64_t rank;
    uint32_t color; /* a tool_color */
} stack_options;

/* Into zeroed options, which borrow from argv. */
options_outcome stack_options_read(int argc, char **argv, stack_options *options);

#endif
