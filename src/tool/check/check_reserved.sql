-- check_reserved.sql: what pools held at most.
-- Rows as: check_peaks.sql
SELECT
    host,
    rank,
    pid,
    device,
    heap,
    level,
    peak_reserved_bytes AS measured_value,
    NULL AS limit_value,
    CASE reserved_source WHEN 'stated' THEN 'by the word of the pool' END AS note
FROM peak
WHERE peak_reserved_bytes > 0
    AND (:rank IS NULL OR rank IS :rank)
    AND (:heap IS NULL OR heap IS :heap OR level IS :heap);
