/* SPDX-License-Identifier: Apache-2.0
 *
 * What a recorded process runs on: versions of CANN, the driver, torch, torch_npu and Python, read from files beside the
 * libraries that it has loaded. Looks on as the drain writes, and tells between two passes.
 */
#ifndef NM_TOOL_COMMON_VERSIONS_H
#define NM_TOOL_COMMON_VERSIONS_H

#include "drain/drain.h"

#define RECORD_VERSION_BYTES 128

typedef struct record_versions record_versions;

/* What a library tells the version of ("CANN", "driver", "torch", ...), and that; NULL: nothing, or there is no such file. */
const char *record_versions_of(const char *path, char version[RECORD_VERSION_BYTES]);

nm_status record_versions_new(record_versions **out, nm_error *err);
void record_versions_free(record_versions *versions); /* NULL is fine */

/* A nm_trace_observer: notes libraries that tell a version. */
void record_versions_take(void *versions, const nm_record *record);

/* Says what was found since the last call. */
nm_status record_versions_tell(record_versions *versions, nm_drain *drain, nm_error *err);

#endif
