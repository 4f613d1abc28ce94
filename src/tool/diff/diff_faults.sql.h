/* SPDX-License-Identifier: Apache-2.0. Made of diff_faults.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_DIFF_DIFF_FAULTS_SQL_H
#define NM_TOOL_DIFF_DIFF_FAULTS_SQL_H

#include "store/question.h"

#define NM_DIFF_FAULTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(fault_number)
#define NM_DIFF_FAULTS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) FLAG(is_kept) TEXT(moment)
NM_QUESTION(diff_faults, NM_DIFF_FAULTS_COLUMNS, NM_DIFF_FAULTS_PARAMETERS)

#endif
