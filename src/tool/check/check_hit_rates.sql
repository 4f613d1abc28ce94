-- check_hit_rates.sql: shares of requests that pools served by themselves after the warm-up.
-- Rows as: check_peaks.sql
SELECT
    host,
    rank,
    pid,
    device,
    heap,
    level,
    CASE WHEN count < :floor_number THEN 1.0 ELSE value END AS measured_value,
    NULL AS limit_value,
    CASE WHEN count < :floor_number THEN 'only ' || count || ' requests came after the warm-up' ELSE 'after the warm-up' END AS note
FROM finding
WHERE kind = 'pool hit rate'
    AND value IS NOT NULL
    AND (:rank IS NULL OR rank IS :rank)
    AND (:heap IS NULL OR heap IS :heap OR level IS :heap);
