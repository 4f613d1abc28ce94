/* SPDX-License-Identifier: Apache-2.0
 *
 * In which part of a model each operation ran: its own path where it is the forward of a part, else that of the innermost
 * part around it.
 */
#ifndef NM_REPORT_HTML_MODULES_H
#define NM_REPORT_HTML_MODULES_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/strings.h"

typedef struct nm_html_module {
    int64_t operation_id;
    int64_t path; /* its number among the strings of the page; 0: in no part */
} nm_html_module;

typedef struct nm_html_modules {
    nm_html_module *items; /* owned; by operation_id, rising. Empty where no part of a model was told of */
    size_t count, capacity;
} nm_html_modules;

/* `modules` is empty before, and to be freed on failure too. */
nm_status nm_html_modules_read(nm_html_modules *modules, sqlite3 *db, nm_strings *strings, nm_error *err);

/* The path of an operation; 0: in no part, or there is no such operation. */
int64_t nm_html_modules_find(const nm_html_modules *modules, int64_t operation_id);

void nm_html_modules_free(nm_html_modules *modules);

#endif
