/* SPDX-License-Identifier: Apache-2.0
 *
 * What a page needs to be asked in SQL, built into the program: sql-wasm.js and sql-wasm.wasm (third_party/sqljs/), worker.js
 * (web/), and the queries. Empty where the build leaves them out (-DNPUMEM_REPORT_SQL=OFF).
 */
#ifndef NM_PAGE_SQL_FILES_H
#define NM_PAGE_SQL_FILES_H

#include "base/embedded.h"

extern const nm_embedded_text nm_page_sql_files[];

#endif
