/* SPDX-License-Identifier: Apache-2.0. Made of allocation_streams.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_ALLOCATION_STREAMS_SQL_H
#define NM_STORE_ALLOCATION_STREAMS_SQL_H

#include "store/question.h"

#define NM_ALLOCATION_STREAMS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(stream_number) INTEGER(stream)
NM_QUESTION(allocation_streams, NM_ALLOCATION_STREAMS_COLUMNS, NM_QUESTION_NONE)

#endif
