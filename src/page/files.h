/* SPDX-License-Identifier: Apache-2.0
 *
 * What web/ has, built into the program: page.css, body.html, and page.js, its modules one behind the other; and of third_party/ what
 * draws charts: uPlot.min.css, and uplot.js behind its licence.
 */
#ifndef NM_PAGE_FILES_H
#define NM_PAGE_FILES_H

#include "base/embedded.h"

extern const nm_embedded_text nm_page_files[];

#endif
