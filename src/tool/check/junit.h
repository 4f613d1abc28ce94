/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-check --junit FILE: the results as CI systems read those of tests, a test case a rule. What is not judged is skipped.
 */
#ifndef NM_TOOL_CHECK_JUNIT_H
#define NM_TOOL_CHECK_JUNIT_H

#include <stdbool.h>

#include "tool/check/rules.h"

/* `path` is there whole or not at all. */
nm_status check_write_junit(const char *path, bool is_forced, const char *database, const check_result *results,
                            size_t count, nm_error *err);

#endif
