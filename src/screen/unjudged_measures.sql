-- unjudged_measures.sql: the measures of view health that cannot be judged, and why; what was not recorded first.
SELECT DISTINCT
    measure,
    reason
FROM health
WHERE verdict = 'unknown'
ORDER BY reason <> 'not all was recorded', reason, measure;
