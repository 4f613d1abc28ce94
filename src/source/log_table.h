/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of the tables of processes that npu-smi and nvidia-smi print, which people put beside the message of a failure.
 */
#ifndef NM_SOURCE_LOG_TABLE_H
#define NM_SOURCE_LOG_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

typedef struct nm_log_holder {
    int64_t card, chip; /* as the table counts; of nvidia-smi the chip is 0 */
    int64_t pid;
    nm_bytes name; /* borrowed from the line */
    uint64_t used_bytes;
} nm_log_holder;

/* False: it is no such row. */
bool nm_log_holder_read(nm_bytes line, nm_log_holder *out);

#endif
