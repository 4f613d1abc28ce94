/* SPDX-License-Identifier: Apache-2.0
 *
 * Table "whatif" of a page: what other settings of the allocator would have made of the recorded requests.
 */
#ifndef NM_REPORT_HTML_TRIED_H
#define NM_REPORT_HTML_TRIED_H

#include "report/html.h"
#include "report/html_page.h"

nm_status nm_html_tried_write(nm_html_page *page, const nm_html_whatif *whatif, nm_error *err);

#endif
