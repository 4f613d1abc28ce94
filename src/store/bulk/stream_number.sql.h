/* SPDX-License-Identifier: Apache-2.0. Made of stream_number.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_BULK_STREAM_NUMBER_SQL_H
#define NM_STORE_BULK_STREAM_NUMBER_SQL_H

#include "store/question.h"

#define NM_STREAM_NUMBER_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(stream_number) INTEGER(heap_id) \
    INTEGER(stream)
NM_QUESTION_RUN(stream_number, NM_STREAM_NUMBER_PARAMETERS)

#endif
