/* SPDX-License-Identifier: Apache-2.0
 *
 * The files of queries/ that npumem-diff runs, embedded.
 */
#ifndef NM_TOOL_DIFF_QUERIES_H
#define NM_TOOL_DIFF_QUERIES_H

#include "store/schema.h"

enum { DIFF_FIGURES, DIFF_ENVIRONMENT, DIFF_SITES, DIFF_LEAKS, DIFF_MOMENTS }; /* their places */

extern const nm_embedded_text diff_queries[];

#endif
