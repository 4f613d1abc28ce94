/* SPDX-License-Identifier: Apache-2.0
 *
 * What the ranges around an operation, and itself, say of what is made in it: the part of a model whose forward it is in, and the
 * word of the program for what it makes. Of each the innermost counts.
 */
#ifndef NM_PAGE_RANGES_H
#define NM_PAGE_RANGES_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/strings.h"

typedef struct nm_page_range {
    int64_t operation_id;
    int64_t module, category; /* numbers among the strings of the page; 0: none */
} nm_page_range;

typedef struct nm_page_ranges {
    nm_page_range *items; /* owned; by operation_id, rising. Empty where no range says either */
    size_t count, capacity;
} nm_page_ranges;

/* `ranges` is empty before, and to be freed on failure too. */
nm_status nm_page_ranges_read(nm_page_ranges *ranges, sqlite3 *db, nm_strings *strings, nm_error *err);

/* Both 0: there is no such operation, or nothing is said around it. */
nm_page_range nm_page_ranges_find(const nm_page_ranges *ranges, int64_t operation_id);

void nm_page_ranges_free(nm_page_ranges *ranges);

#endif
