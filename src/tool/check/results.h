/* SPDX-License-Identifier: Apache-2.0
 *
 * What npumem-check prints: a line a rule, or a member of one JSON object.
 */
#ifndef NM_TOOL_CHECK_RESULTS_H
#define NM_TOOL_CHECK_RESULTS_H

#include <stdio.h>

#include "base/json.h"
#include "tool/check/rules.h"

/* "3 of 192 heaps were looked at (--rank, --heap)" */
void check_write_chosen(int64_t chosen_count, int64_t all_count, FILE *out);

/* "FAIL  max-peak  61.2 GiB  limit 60.0 GiB  device 0 driver" */
void check_write_line(const check_result *result, FILE *out);

/* Into the object that is open: "is_ok":false,"rules":[{"rule":"max-peak","is_ok":false,"state":"broken","value":N,"unit":"bytes",...}] */
void check_write_rules(const check_result *results, size_t count, nm_json *json);

#endif
