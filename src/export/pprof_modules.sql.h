/* SPDX-License-Identifier: Apache-2.0. Made of pprof_modules.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_PPROF_MODULES_SQL_H
#define NM_EXPORT_PPROF_MODULES_SQL_H

#include "store/question.h"

#define NM_PPROF_MODULES_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(path) TEXT(build) INTEGER(address) \
    INTEGER(size_bytes)
#define NM_PPROF_MODULES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(module_id)
NM_QUESTION_OF_TEXTS(pprof_modules, NM_PPROF_MODULES_COLUMNS, NM_PPROF_MODULES_PARAMETERS)

#endif
