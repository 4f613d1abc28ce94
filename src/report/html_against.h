/* SPDX-License-Identifier: Apache-2.0
 *
 * What a page says of another run beside its own: the figures and sites of npumem diff, by its questions, and the other's curves.
 */
#ifndef NM_REPORT_HTML_AGAINST_H
#define NM_REPORT_HTML_AGAINST_H

#include "report/html.h"
#include "report/html_page.h"

nm_status nm_html_against_write(nm_html_page *page, const nm_html_against *against, const char *own_name,
                                nm_error *err);

#endif
