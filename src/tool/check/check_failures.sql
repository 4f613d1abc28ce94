-- check_failures.sql: requests that failed for good. Rows as: check_peaks.sql
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
FROM out_of_memory
WHERE outcome IS NOT 'recovered'
    AND (:rank IS NULL OR rank IS :rank)
    AND (:heap IS NULL OR heap IS :heap OR level IS :heap);
