-- check_failures.sql: requests that failed for good.
-- Rows as: check_peaks.sql
SELECT
    host,
    rank,
    pid,
    device,
    heap,
    level,
    1 AS measured_value,
    NULL AS limit_value,
    verdict || ', ' || site AS note
FROM finding
WHERE kind = 'out of memory'
    AND severity = 'fault'
    AND (:rank IS NULL OR rank IS :rank)
    AND (:heap IS NULL OR heap IS :heap OR level IS :heap);
