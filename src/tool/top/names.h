/* SPDX-License-Identifier: Apache-2.0
 *
 * The sites of a stream that goes on, by the rules and the words of npumem-ingest. What defines them comes bit by bit, and a
 * site follows from all of it: when there is more, all is worked out anew, from what was kept.
 */
#ifndef NM_TOOL_TOP_NAMES_H
#define NM_TOOL_TOP_NAMES_H

#include "base/bytes.h"
#include "base/error.h"
#include "replay/replay.h"

typedef struct top_names top_names;

nm_status top_names_new(top_names **out, nm_error *err);
void top_names_free(top_names *names); /* NULL is fine */

/* Copies what the definition borrows. */
nm_status top_names_take(top_names *names, const nm_definition *definition, nm_error *err);

/* Before what is asked for next. `native_depth`: as in nm_source_summary_data. */
nm_status top_names_resolve(top_names *names, uint64_t native_depth, nm_error *err);

/* The number of the site's words, which stays; of baselines and of what has no stack too. */
nm_status top_names_site(top_names *names, uint64_t stack_id, bool is_baseline, uint32_t *number, nm_error *err);
nm_bytes top_names_text(const top_names *names, uint32_t number); /* borrowed until the next call of _site */

#endif
