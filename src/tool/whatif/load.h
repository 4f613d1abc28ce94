/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-whatif: what it reads. A trace or a snapshot goes through a source and a replay, as in npumem-ingest; of a
 * database the rows that these have left in it are read.
 */
#ifndef NM_TOOL_WHATIF_LOAD_H
#define NM_TOOL_WHATIF_LOAD_H

#include "tool/common/progress.h"
#include "whatif/gather.h"

typedef struct whatif_input {
    nm_gather *gather; /* owned */
    char kind[64];     /* "torch_npu snapshot", "trace", "database" */
    bool is_complete;  /* nothing of it is lost */
    bool is_kept;      /* only its newest part was kept */
} whatif_input;

/* `paths` name one input. *subject is the file that an error is about. */
nm_status whatif_load(const char *const *paths, size_t path_count, nm_progress *progress, whatif_input *out,
                      const char **subject, nm_error *err);
void whatif_input_free(whatif_input *input);

#endif
