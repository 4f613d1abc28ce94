/* SPDX-License-Identifier: Apache-2.0
 *
 * Table "whatif" of a page: what other settings of the allocator would have made of the recorded requests.
 */
#ifndef NM_PAGE_TRIED_H
#define NM_PAGE_TRIED_H

#include "page/page.h"
#include "page/write.h"

nm_status nm_page_tried_write(nm_page *page, const nm_page_whatif *whatif, nm_error *err);

#endif
