/* SPDX-License-Identifier: Apache-2.0
 *
 * What a source says of itself, as the row of its input.
 */
#ifndef NM_TOOL_INGEST_INPUT_ROW_H
#define NM_TOOL_INGEST_INPUT_ROW_H

#include <stdint.h>

#include "rows/rows.h"
#include "source/source.h"

/* But for `state`, `recording_id` and the rank. The row points to `summary` and `name`. `first_seq`, `last_seq`: of the events that
 * were replayed, or NM_NO_SEQ. */
nm_input_row ingest_input_row(const nm_source_summary_data *summary, const char *name, int64_t first_seq,
                              int64_t last_seq);

#endif
