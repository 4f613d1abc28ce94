/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of npumem-check: the rules and which places of the database they are about.
 */
#ifndef NM_TOOL_CHECK_OPTIONS_H
#define NM_TOOL_CHECK_OPTIONS_H

#include "tool/check/rules.h"
#include "tool/common/options.h"

typedef struct check_options {
    const char *database;    /* borrowed */
    const char *output_path; /* NULL: standard output */
    const char *junit_path;  /* NULL: none */
    struct {
        check_rule *items; /* owned */
        size_t count, capacity;
    } rules; /* the first is CHECK_COMPLETE */
    check_filter filter;
    const char *rules_path; /* NULL: not given */
    char *rules_text;       /* owned; what rules of a file borrow from; NULL: none */
    bool is_json, is_forced, is_quiet;
    bool has_rule; /* beside the first */
} check_options;

/* Into zeroed options, which borrow from argv. Rules may also come from a file: check/team_rules.h. */
options_outcome check_options_read(int argc, char **argv, check_options *options);
void check_options_free(check_options *options);

#endif
