/* SPDX-License-Identifier: Apache-2.0
 *
 * The files of queries/ that compare, embedded, in the order of nm_compare_question.
 */
#ifndef NM_REPORT_COMPARE_QUERIES_H
#define NM_REPORT_COMPARE_QUERIES_H

#include "store/schema.h"

extern const nm_embedded_text nm_compare_queries[];

#endif
