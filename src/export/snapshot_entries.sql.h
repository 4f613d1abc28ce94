/* SPDX-License-Identifier: Apache-2.0. Made of snapshot_entries.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_SNAPSHOT_ENTRIES_SQL_H
#define NM_EXPORT_SNAPSHOT_ENTRIES_SQL_H

#include "store/question.h"

#define NM_SNAPSHOT_ENTRIES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(device) INTEGER(seq) INTEGER(action_code) \
    INTEGER(address) INTEGER(size_bytes) INTEGER(stream) INTEGER(stack_id) INTEGER(pool_id) INTEGER(ns)
#define NM_SNAPSHOT_ENTRIES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(device) INTEGER(from_seq)
NM_QUESTION(snapshot_entries, NM_SNAPSHOT_ENTRIES_COLUMNS, NM_SNAPSHOT_ENTRIES_PARAMETERS)

#endif
