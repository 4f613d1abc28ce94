/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a recording in memory, for a recovery: its last files, one behind the other. What has not been moved out of
 * the rings yet follows from the last part, or from the one before it while the last one is just being begun.
 */
#ifndef NM_TOOL_COMMON_TRACE_MAP_H
#define NM_TOOL_COMMON_TRACE_MAP_H

#include "base/bytes.h"
#include "trace/files.h"

typedef struct trace_map {
    nm_bytes bytes; /* with zeros between the files */
    size_t mapped_bytes;
    size_t last_at;     /* where the last file begins */
    size_t first_index; /* of the first file that is in it */
} trace_map;

nm_status trace_map_open(const nm_trace_files *files, trace_map *out, nm_error *err);
void trace_map_close(trace_map *map);

#endif
