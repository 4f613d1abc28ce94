/* SPDX-License-Identifier: Apache-2.0. Made of moment_faults.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_REPORT_MOMENT_FAULTS_SQL_H
#define NM_REPORT_MOMENT_FAULTS_SQL_H

#include "store/question.h"

#define NM_MOMENT_FAULTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(fault_number)
#define NM_MOMENT_FAULTS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(moment)
NM_QUESTION(moment_faults, NM_MOMENT_FAULTS_COLUMNS, NM_MOMENT_FAULTS_PARAMETERS)

#endif
