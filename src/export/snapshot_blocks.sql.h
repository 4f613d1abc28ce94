/* SPDX-License-Identifier: Apache-2.0. Made of snapshot_blocks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_SNAPSHOT_BLOCKS_SQL_H
#define NM_EXPORT_SNAPSHOT_BLOCKS_SQL_H

#include "store/question.h"

#define NM_SNAPSHOT_BLOCKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(device) INTEGER(address) INTEGER(size_bytes) \
    INTEGER(requested_bytes) FLAG(is_pending) INTEGER(stream) INTEGER(carrier_id) INTEGER(pool_id) INTEGER(stack_id) \
    FLAG(is_mapped) FLAG(is_rounded)
#define NM_SNAPSHOT_BLOCKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) FLAG(is_block) INTEGER(padding_bytes) \
    INTEGER(round_bytes)
NM_QUESTION(snapshot_blocks, NM_SNAPSHOT_BLOCKS_COLUMNS, NM_SNAPSHOT_BLOCKS_PARAMETERS)

#endif
