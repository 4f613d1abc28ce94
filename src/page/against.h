/* SPDX-License-Identifier: Apache-2.0
 *
 * What a page says of another run beside its own: the figures and sites of npumem diff, by its questions, and the other's curves.
 */
#ifndef NM_PAGE_AGAINST_H
#define NM_PAGE_AGAINST_H

#include "page/page.h"
#include "page/write.h"

nm_status nm_page_against_write(nm_page *page, const nm_page_against *against, const char *own_name, nm_error *err);

#endif
