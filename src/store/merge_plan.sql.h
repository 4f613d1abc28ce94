/* SPDX-License-Identifier: Apache-2.0. Made of merge_plan.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_MERGE_PLAN_SQL_H
#define NM_STORE_MERGE_PLAN_SQL_H

#include "store/question.h"

#define NM_MERGE_PLAN_SQL \
    "CREATE TEMP TABLE IF NOT EXISTS merge_column ( owner, place, name, target, is_key ); CREATE TEMP TABLE IF NOT " \
    "EXISTS merge_table ( name, last_id ); DELETE FROM merge_column; DELETE FROM merge_table; INSERT INTO " \
    "merge_column SELECT m.name, c.cid, c.name, (SELECT f.\"table\" FROM pragma_foreign_key_list(m.name) AS f " \
    "WHERE f.\"from\" = c.name), c.pk = 1 AND c.type = 'INTEGER' AND (SELECT count(*) FROM " \
    "pragma_table_info(m.name) AS k WHERE k.pk > 0) = 1 FROM main.sqlite_master AS m JOIN " \
    "pragma_table_info(m.name) AS c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name NOT IN " \
    "('finding', 'finding_group'); UPDATE merge_column SET is_key = 0 WHERE target IS NOT NULL; UPDATE " \
    "merge_column SET target = owner WHERE is_key; INSERT INTO merge_table WITH RECURSIVE run (name) AS ( SELECT " \
    "'input' UNION SELECT c.owner FROM merge_column AS c JOIN run ON c.target = run.name ) SELECT name, 0 FROM " \
    "run; UPDATE merge_column SET target = NULL WHERE target NOT IN (SELECT name FROM merge_table);"
NM_QUESTION_SCRIPT(merge_plan, NM_MERGE_PLAN_SQL)

#endif
