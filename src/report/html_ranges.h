/* SPDX-License-Identifier: Apache-2.0
 *
 * What the ranges around an operation, and itself, say of what is made in it: the part of a model whose forward it is in, and the
 * word of the program for what it makes. Of each the innermost counts.
 */
#ifndef NM_REPORT_HTML_RANGES_H
#define NM_REPORT_HTML_RANGES_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/strings.h"

typedef struct nm_html_range {
    int64_t operation_id;
    int64_t module, category; /* numbers among the strings of the page; 0: none */
} nm_html_range;

typedef struct nm_html_ranges {
    nm_html_range *items; /* owned; by operation_id, rising. Empty where no range says either */
    size_t count, capacity;
} nm_html_ranges;

/* `ranges` is empty before, and to be freed on failure too. */
nm_status nm_html_ranges_read(nm_html_ranges *ranges, sqlite3 *db, nm_strings *strings, nm_error *err);

/* Both 0: there is no such operation, or nothing is said around it. */
nm_html_range nm_html_ranges_find(const nm_html_ranges *ranges, int64_t operation_id);

void nm_html_ranges_free(nm_html_ranges *ranges);

#endif
