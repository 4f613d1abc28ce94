/* SPDX-License-Identifier: Apache-2.0
 *
 * Curves of heaps over the run, as tables "usage" and "gap": each bucket as the database has it, or where there are very many heaps
 * neighbours as one, so that a heap is not left out for the sake of another.
 */
#ifndef NM_PAGE_CURVES_H
#define NM_PAGE_CURVES_H

#include "page/page.h"

/* Live and reserved bytes. A bucket's maximum is that of all it stands for, with its event. */
nm_status nm_page_usage_write(nm_page *page, sqlite3 *db, const char *name, nm_error *err);

/* What was free in pools at the ends of buckets. */
nm_status nm_page_gaps_write(nm_page *page, nm_error *err);

#endif
