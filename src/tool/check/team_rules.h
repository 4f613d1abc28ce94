/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules from a file: one a line, named as the options are but without their dashes, as in
 *
 *     # what every nightly run is held to
 *     max-peak=60GiB
 *     no-leak not-judged=pass
 *
 * What follows a '#' at the beginning of a line or behind a blank is left out.
 */
#ifndef NM_TOOL_CHECK_TEAM_RULES_H
#define NM_TOOL_CHECK_TEAM_RULES_H

#include "base/error.h"

/* Is looked for in the working folder where the command line has no rule. Obeyed is a regular file of at most 64 KiB and 1,000
 * rules, no link, of the user's, root's or the folder's owner, that not everybody may write to. */
#define CHECK_TEAM_FILE ".npumem-check"

/* Takes one rule; `argument` "" when the line has none, `not_judged` NULL when nothing is said of it. All lie in the text of the file, and no error may repeat them. */
typedef nm_status check_take_rule(const char *name, char *argument, const char *not_judged, void *context,
                                  nm_error *err);

/*
 * Gives each line's rule to `take`: of a file that the user named, whoever's it is, or with NULL of CHECK_TEAM_FILE. NM_END: there is no such file. Otherwise *text is what was read, NULL or owned by the
 * caller, who keeps it as long as rules borrow from it. NM_ERR_USAGE: *err says which line is wrong, and why.
 */
nm_status check_team_rules_read(const char *path, check_take_rule *take, void *context, char **text, nm_error *err);

#endif
