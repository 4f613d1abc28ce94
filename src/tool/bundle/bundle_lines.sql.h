/* SPDX-License-Identifier: Apache-2.0. Made of bundle_lines.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_BUNDLE_BUNDLE_LINES_SQL_H
#define NM_TOOL_BUNDLE_BUNDLE_LINES_SQL_H

#include "store/question.h"

#define NM_BUNDLE_LINES_SQL \
    "SELECT text FROM ( SELECT 'schema ' || s.value || coalesce(', by ' || t.value || coalesce(' ' || v.value, " \
    "''), '') AS text, NULL AS first_key, NULL AS second_key, NULL AS third_key FROM meta AS s LEFT JOIN meta AS t " \
    "ON t.key = 'tool' LEFT JOIN meta AS v ON v.key = 'tool_version' WHERE :section_number = 0 AND s.key = " \
    "'schema_version' UNION ALL SELECT kind || ' ' || path, input_id, NULL, NULL FROM input WHERE :section_number " \
    "= 1 UNION ALL SELECT coalesce(name, '') || CASE source WHEN 'version' THEN ' ' ELSE '=' END || " \
    "coalesce(value, '') || CASE count(*) WHEN 1 THEN '' ELSE '  (' || count(*) || ' processes)' END, name, value, " \
    "NULL FROM z_process_environment WHERE (:section_number = 2 AND source = 'version') OR (:section_number = 5 " \
    "AND source = 'environment') GROUP BY name, value UNION ALL SELECT coalesce(kind, 'device') || coalesce(' ' || " \
    "name, '') || CASE count(*) WHEN 1 THEN '' ELSE '  (' || count(*) || ' as processes see them)' END, kind, " \
    "name, NULL FROM device WHERE :section_number = 3 GROUP BY kind, name UNION ALL SELECT coalesce(command, " \
    "'a process without a known command') || CASE count(*) WHEN 1 THEN '' ELSE '  (' || count(*) || ' processes)' " \
    "END, min(process_id), NULL, NULL FROM process WHERE :section_number = 4 GROUP BY command UNION ALL SELECT " \
    "measure || ' ' || floor || ' ' || unit || CASE WHEN capacity_ratio > 0 THEN ', or ' || (100 * capacity_ratio) " \
    "|| ' % of the device if that is more' ELSE '' END, measure, NULL, NULL FROM z_threshold WHERE :section_number " \
    "= 6 UNION ALL SELECT target || ' ' || pattern, plumbing_id, NULL, NULL FROM plumbing WHERE :section_number = " \
    "7 AND origin = 'site rules' UNION ALL SELECT source || CASE count(*) WHEN 1 THEN ', 1 step' ELSE ', ' || " \
    "count(*) || ' steps' END, source, NULL, NULL FROM step WHERE :section_number = 8 GROUP BY source UNION ALL " \
    "SELECT path || ': ' || verdict || ', ' || events_ingested || ' of ' || events_seen || ' events here' || CASE " \
    "WHEN events_dropped > 0 THEN ', ' || events_dropped || ' dropped' ELSE '' END || CASE WHEN events_damaged > 0 " \
    "THEN ', ' || events_damaged || ' damaged' ELSE '' END || CASE WHEN events_unrecovered > 0 THEN ', ' || " \
    "events_unrecovered || ' unrecovered' ELSE '' END || CASE WHEN events_unkept > 0 THEN ', ' || events_unkept || " \
    "' kept as sums' ELSE '' END || CASE WHEN events_without_stack > 0 THEN ', ' || events_without_stack || " \
    "' without their stack' ELSE '' END || CASE WHEN bytes_cut > 0 THEN ', ' || bytes_cut || ' bytes cut' ELSE '' " \
    "END || CASE WHEN processes_unjoined > 0 THEN ', ' || processes_unjoined || ' processes not joined' ELSE '' " \
    "END || CASE WHEN is_loss_exact = 0 THEN ', at least' ELSE '' END, row_number() OVER (), NULL, NULL FROM " \
    "completeness WHERE :section_number = 9 UNION ALL SELECT kind || coalesce(': ' || text, '') || ' (' || " \
    "unseen_count || ')', first_seq, kind, text FROM z_unseen WHERE :section_number = 10 UNION ALL SELECT k.name " \
    "|| ' (' || count(*) || ')', k.name, NULL, NULL FROM anomaly AS a JOIN anomaly_kind AS k ON k.kind = a.kind " \
    "WHERE :section_number = 11 GROUP BY k.name ) ORDER BY first_key, second_key, third_key;"
#define NM_BUNDLE_LINES_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(text)
#define NM_BUNDLE_LINES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(section_number)
NM_QUESTION_OF_TEXTS(bundle_lines, NM_BUNDLE_LINES_SQL, NM_BUNDLE_LINES_COLUMNS, NM_BUNDLE_LINES_PARAMETERS)

#endif
