/* SPDX-License-Identifier: Apache-2.0. Made of asked_stacks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_STACK_ASKED_STACKS_SQL_H
#define NM_TOOL_STACK_ASKED_STACKS_SQL_H

#include "store/question.h"

#define NM_ASKED_STACKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(stack_id) INTEGER(bytes) \
    INTEGER(allocation_count) TEXT(words) TEXT(host) INTEGER(rank) INTEGER(pid) INTEGER(device) TEXT(device_kind) \
    TEXT(heap) TEXT(heap_name) TEXT(level) TEXT(what) TEXT(verdict) INTEGER(out_of_memory_id) INTEGER(heap_id) \
    TEXT(source)
#define NM_ASKED_STACKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) FLAG(has_allocated) FLAG(has_live) FLAG(has_leaked) \
    FLAG(has_reserve) INTEGER(stack_id) INTEGER(rank) TEXT(site)
NM_QUESTION_OF_TEXTS(asked_stacks, NM_ASKED_STACKS_COLUMNS, NM_ASKED_STACKS_PARAMETERS)

#endif
