-- check_anomalies.sql: calls that are wrong: one by one, for findings count them by process, and :heap asks for those of a heap.
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
    kind || ', ' || site AS note
FROM misuse
WHERE kind <> 'stream never destroyed'
    AND (:rank IS NULL OR rank IS :rank)
    AND (:heap IS NULL OR heap IS :heap OR level IS :heap);
