/* SPDX-License-Identifier: Apache-2.0. Made of budget.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_BUDGET_SQL_H
#define NM_SCREEN_BUDGET_SQL_H

#include "store/question.h"

#define NM_BUDGET_SQL \
    "WITH b AS (SELECT host, pid, device, part, bytes FROM serving_budget), worst AS ( SELECT host, pid, device " \
    "FROM b WHERE part = 'largest KV cache' ORDER BY bytes IS NULL, bytes LIMIT 1 ), whole AS ( SELECT " \
    "sum(b.bytes) AS bytes FROM b JOIN worst AS w ON w.host IS b.host AND w.pid IS b.pid AND w.device = b.device " \
    "WHERE b.part NOT IN ('free', 'largest KV cache', 'said KV cache') ) SELECT b.device AS device, (SELECT " \
    "upper(max(kind)) FROM device) AS device_kind, b.part = 'largest KV cache' AS is_largest, b.part = " \
    "'said KV cache' AS is_said, CASE b.part WHEN 'rest' THEN 'screen.part.rest' ELSE 'screen.budget.' || " \
    "replace(lower(b.part), ' ', '_') END AS name, b.bytes AS bytes FROM b JOIN worst AS w ON w.host IS b.host AND " \
    "w.pid IS b.pid AND w.device = b.device JOIN whole WHERE b.part <> 'free' AND b.bytes > 0 AND (b.bytes * 100 " \
    ">= whole.bytes OR b.part IN ('largest KV cache', 'said KV cache')) ORDER BY b.part = 'said KV cache', b.part " \
    "= 'largest KV cache', b.bytes DESC, b.part;"
#define NM_BUDGET_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(device) TEXT(device_kind) FLAG(is_largest) \
    FLAG(is_said) TEXT(name) INTEGER(bytes)
NM_QUESTION_OF_TEXTS(budget, NM_BUDGET_SQL, NM_BUDGET_COLUMNS, NM_QUESTION_NONE)

#endif
