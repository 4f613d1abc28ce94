/* SPDX-License-Identifier: Apache-2.0. Made of unseen_kinds.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_UNSEEN_KINDS_SQL_H
#define NM_SCREEN_UNSEEN_KINDS_SQL_H

#include "store/question.h"

#define NM_UNSEEN_KINDS_SQL \
    "SELECT k.kind AS kind_code, (SELECT f.text FROM z_unseen AS f WHERE f.kind = u.kind ORDER BY f.first_seq " \
    "LIMIT 1) AS text, sum(u.unseen_count) AS unseen_count FROM ( SELECT kind, text, max(unseen_count) AS " \
    "unseen_count, min(first_seq) AS first_seq FROM z_unseen GROUP BY kind, text ) AS u JOIN z_note_kind AS k ON " \
    "k.name = u.kind GROUP BY u.kind ORDER BY min(u.first_seq);"
#define NM_UNSEEN_KINDS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(kind_code) TEXT(text) INTEGER(unseen_count)
NM_QUESTION_OF_TEXTS(unseen_kinds, NM_UNSEEN_KINDS_SQL, NM_UNSEEN_KINDS_COLUMNS, NM_QUESTION_NONE)

#endif
